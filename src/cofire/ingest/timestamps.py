"""Parse the times of chat logs and front matter."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from cofire.errors import InvalidInput

_MIN_TIMESTAMP = 1e8  # a smaller number, from before March 1973, counts something else
_TIMESTAMP_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # from this number on it counts this many in a second


def parse_time(given: object) -> datetime | None:
    """A time, or None where none was given. Without a time zone it is taken as UTC.

    >>> parse_time(1700000000) == parse_time("1700000000.0") == parse_time(1_700_000_000_000) == parse_time(
    ...     "2023-11-14T22:13:20Z"
    ... )
    True
    """
    if given is None or given in ("", 0):
        return None
    try:
        return _ensure_utc(_convert_time(given))
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"{given!r} is no time.", way_out="Give ISO text as in 2026-05-08T13:56:00+02:00, or seconds since 1970."
        ) from error


def parse_iso_time(text: str) -> datetime | None:
    """The time an ISO text says, or None where it says something else.

    >>> parse_iso_time("2024-05-01").date().isoformat(), parse_iso_time("last spring")
    ('2024-05-01', None)
    """
    try:
        return _ensure_utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return None


def _ensure_utc(found: datetime) -> datetime:
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _convert_time(given: object) -> datetime:
    if isinstance(given, datetime):
        return given
    if isinstance(given, date):
        return datetime.combine(given, time())
    if isinstance(given, str):
        return _parse_text_time(given.strip())
    if isinstance(given, int | float) and not isinstance(given, bool):
        return _parse_timestamp(float(given))
    raise TypeError(type(given).__name__)


def _parse_text_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _parse_timestamp(float(text))


def _parse_timestamp(number: float) -> datetime:
    if not abs(number) >= _MIN_TIMESTAMP:
        raise ValueError(number)
    per_second = next((unit for least, unit in _TIMESTAMP_UNITS if abs(number) >= least), 1.0)
    return datetime.fromtimestamp(number / per_second, UTC)
