"""Moments as whole microseconds since 1970, the form in which stores and indexes keep and compare them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

LONG_AGO = -(2**62)
FAR = 2**62

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def stamp(moment: datetime) -> int:
    """A moment as a number.

    >>> stamp(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - _START) // _MICROSECOND


def stamp_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else stamp(moment)


def moment(number: int | None) -> datetime | None:
    """A number as a moment."""
    return None if number is None else _START + timedelta(microseconds=number)
