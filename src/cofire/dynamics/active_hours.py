"""Active hours: a clock that runs only while the memory is in use, by whatever process. Moments are given; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOUR, TICK = timedelta(hours=1), timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A time of use: from its first use to its last. A single use has no length."""

    begun: datetime
    ended: datetime


def extended(last: Span | None, moment: datetime, *, idle: timedelta) -> Span:
    """The span that a use belongs to: the last one, grown to this moment, or a new one if it was idle for longer than `idle`.

    A moment before the last end (another process, a clock set back) is measured the same way from the span's beginning.

    >>> noon, half = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(minutes=30)
    >>> span = extended(Span(noon, noon), noon + half, idle=half)
    >>> (span.ended - span.begun) / HOUR, extended(span, noon + 3 * half, idle=half).begun.hour
    (0.5, 13)
    """
    if last is None or not last.begun - idle <= moment <= last.ended + idle:
        return Span(moment, moment)
    return Span(min(last.begun, moment), max(last.ended, moment))


def merged(spans: Iterable[Span], *, idle: timedelta) -> tuple[Span, ...]:
    """Sessions: the union of all spans in their order, joined where nobody was idle for longer than `idle` (002 §5, active hours).

    >>> noon, half = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(minutes=30)
    >>> one, other = Span(noon, noon + 2 * half), Span(noon + half, noon + 3 * half)
    >>> [(span.ended - span.begun) / HOUR for span in merged([other, one], idle=half)]
    [1.5]
    """
    sessions: list[Span] = []
    for span in sorted(spans):
        if sessions and span.begun - sessions[-1].ended <= idle:
            sessions[-1] = Span(sessions[-1].begun, max(sessions[-1].ended, span.ended))
        else:
            sessions.append(span)
    return tuple(sessions)


def active_hours(spans: Iterable[Span], moment: datetime, *, idle: timedelta) -> float:
    """Hours of use up to a moment: the length of all sessions, the one going on up to now. Silence adds nothing.

    >>> noon, half = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(minutes=30)
    >>> spans = [Span(noon, noon + 2 * half), Span(noon + half, noon + 3 * half)]
    >>> [active_hours(spans, moment, idle=half) for moment in (noon, noon + half, noon.replace(year=2027))]
    [0.0, 0.5, 1.5]
    """
    used = (min(span.ended, moment) - span.begun for span in merged(spans, idle=idle) if span.begun < moment)
    return sum(used, timedelta()) / HOUR


def active_hours_at(spans: Iterable[Span], moments: Sequence[datetime], *, idle: timedelta) -> Floats:
    """`active_hours` of many moments.

    >>> noon, half = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(minutes=30)
    >>> active_hours_at([Span(noon, noon + half)], [noon, noon + half, noon + 2 * half], idle=half).tolist()
    [0.0, 0.5, 0.5]
    """
    sessions = merged(spans, idle=idle)
    if not sessions:
        return np.zeros(len(moments))
    begun = _ticks([span.begun for span in sessions])
    length = _ticks([span.ended for span in sessions]) - begun
    asked = _ticks(moments)
    latest = np.maximum(np.searchsorted(begun, asked, side="right") - 1, 0)
    earlier = np.cumsum(length) - length
    used = np.clip(asked - begun[latest], 0, length[latest])
    return np.asarray((earlier[latest] + used) / (HOUR / TICK))


def _ticks(moments: Sequence[datetime]) -> Ints:
    """Moments as whole microseconds, so that sums are exact."""
    return np.array([(moment - EPOCH) // TICK for moment in moments], dtype=np.int64)
