"""Facts built from parsed text, records of opened files and skipped input, and parsed times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Any

from cofire.errors import InvalidInput
from cofire.model import Fact


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that could be read. Its facts follow."""

    name: str


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """Input that was skipped: where, why, and how many of the kind."""

    where: str
    reason: str
    count: int = 1


IngestItem = Fact | SkippedInput | OpenedFile


def build_fact(
    about: Fact,
    text: str,
    *,
    subject: str | None,
    speaker: str | None,
    session: str | None,
    at: datetime | None,
    tags: tuple[str, ...],
    metadata: Mapping[str, Any],
) -> Fact:
    """A fact with its own values; `about` supplies missing ones. Tags and metadata are joined.

    >>> about = Fact("", speaker="Ana", tags=("work",))
    >>> fact = build_fact(
    ...     about, "Tea at four.", subject="Tea", speaker=None, session=None, at=None, tags=("habit",), metadata={}
    ... )
    >>> fact.subject, fact.speaker, fact.tags
    ('Tea', 'Ana', ('work', 'habit'))
    """
    return replace(
        about,
        text=text,
        subject=subject or about.subject,
        speaker=speaker or about.speaker,
        session=session or about.session,
        at=at or about.at,
        tags=(*about.tags, *tags),
        metadata={**about.metadata, **metadata},
    )


_MIN_TIMESTAMP = 1e8  # smaller numbers (before March 1973) are no timestamps
_TIMESTAMP_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # (from this number on, units per second)


def parse_time(value: object) -> datetime | None:
    """A time, or None if none is given. UTC is the default time zone.

    >>> parse_time(1700000000) == parse_time("1700000000.0") == parse_time(1_700_000_000_000) == parse_time(
    ...     "2023-11-14T22:13:20Z"
    ... )
    True
    """
    if value is None or value in ("", 0):
        return None
    try:
        return _ensure_utc(_convert_time(value))
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"{value!r} is not a time.", way_out="Give ISO text as in 2026-05-08T13:56:00+02:00, or seconds since 1970."
        ) from error


def parse_iso_time(text: str) -> datetime | None:
    """The time of an ISO text, or None if it is none.

    >>> parse_iso_time("2024-05-01").date().isoformat(), parse_iso_time("last spring")
    ('2024-05-01', None)
    """
    try:
        return _ensure_utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return None


def _ensure_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _convert_time(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, str):
        return _parse_text_time(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _parse_timestamp(float(value))
    raise TypeError(type(value).__name__)


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
