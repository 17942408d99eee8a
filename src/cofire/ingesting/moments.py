"""Moments: times as chat logs write them, seconds or milliseconds since 1970 or ISO text. No I/O."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from cofire.errors import InvalidInput

_EARLIEST = 1e8  # a smaller number, from before March 1973, counts something else
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # from this number on it counts this many in a second


def moment(given: object) -> datetime | None:
    """A time, or None where none was given. Without a time zone it is taken as UTC.

    >>> moment(1700000000) == moment("1700000000.0") == moment(1_700_000_000_000) == moment("2023-11-14T22:13:20Z")
    True
    """
    if given is None or given in ("", 0):
        return None
    try:
        return _zoned(_moment(given))
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"{given!r} is no time.", way_out="Give ISO text as in 2026-05-08T13:56:00+02:00, or seconds since 1970."
        ) from error


def plain_moment(text: str) -> datetime | None:
    """The time an ISO text says, or None where it says something else.

    >>> plain_moment("2024-05-01").date().isoformat(), plain_moment("last spring")
    ('2024-05-01', None)
    """
    try:
        return _zoned(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return None


def _zoned(found: datetime) -> datetime:
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _moment(given: object) -> datetime:
    if isinstance(given, datetime):
        return given
    if isinstance(given, date):
        return datetime.combine(given, time())
    if isinstance(given, str):
        return _from_text(given.strip())
    if isinstance(given, int | float) and not isinstance(given, bool):
        return _from_number(float(given))
    raise TypeError(type(given).__name__)


def _from_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _from_number(float(text))


def _from_number(number: float) -> datetime:
    if not abs(number) >= _EARLIEST:
        raise ValueError(number)
    per_second = next((unit for least, unit in _UNITS if abs(number) >= least), 1.0)
    return datetime.fromtimestamp(number / per_second, UTC)
