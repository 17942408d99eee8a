"""Points in time as whole microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

DISTANT_PAST = -(2**62)
DISTANT_FUTURE = 2**62

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_microseconds(moment: datetime) -> int:
    """A moment as a number.

    >>> to_microseconds(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - _EPOCH) // _MICROSECOND


def to_microseconds_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else to_microseconds(moment)


def from_microseconds(number: int | None) -> datetime | None:
    """A number as a moment."""
    return None if number is None else _EPOCH + timedelta(microseconds=number)
