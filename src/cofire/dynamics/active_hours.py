"""Active hours: a clock that runs only while the memory is in use, by whatever process. Moments are given; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Span:
    """A time of use: from its first use to its last. A single use has no length."""

    begun: datetime
    ended: datetime

    @property
    def hours(self) -> float:
        return (self.ended - self.begun) / HOUR


def extended(last: Span | None, moment: datetime, *, idle: timedelta) -> Span:
    """The span that a use belongs to: the last one, grown to this moment, or a new one after a silence longer than `idle` (002 §5).

    A moment before the last end (another process, a clock set back) belongs to the last span and adds nothing to it.

    >>> from datetime import UTC
    >>> noon, half = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(minutes=30)
    >>> span = extended(Span(noon, noon), noon + half, idle=half)
    >>> span.hours, extended(span, noon + 3 * half, idle=half).begun.hour
    (0.5, 13)
    """
    if last is None or moment - last.ended > idle:
        return Span(moment, moment)
    return Span(last.begun, max(last.ended, moment))
