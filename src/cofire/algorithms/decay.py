"""Decay of unused edges, days and hours of use, and the retention score of facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import ceil, exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

Days = NDArray[np.int64]
Shares = NDArray[np.float64]

WEIGHT_DECIMALS = 6
_EPOCH_DAY = date(1970, 1, 1)


def decay_weights(anchor: ArrayLike, days: ArrayLike, *, grace: float, rate: float) -> Shares:
    """Weights after days without strengthening: w = w₀ · e^(−rate · days) after the grace, w₀ before (000, ruling 7).

    After the grace all inactive days count, also those of the grace. w₀ is the weight at the last
    strengthening, not the last decayed one, so that repeated decay at one time changes nothing.

    >>> decay_weights([0.8, 0.8, 0.8], [29, 30, 100], grace=30, rate=0.01).tolist()
    [0.8, 0.592655, 0.294304]
    """
    initial = np.asarray(anchor, np.float64)
    unused = np.asarray(days, np.float64)
    decayed = initial * np.exp(-rate * unused)
    return _clip_and_round(np.where(unused < grace, initial, decayed))


def lower_confidences(
    anchor: ArrayLike, days: ArrayLike, *, grace: float, period: float, step: float, floor: float
) -> Shares:
    """Confidences after days without use: c = max(floor, c₀ − step · ⌊days / period⌋) after the grace (001, ruling 14).

    A confidence below the floor does not rise to it.

    >>> lower_confidences([1.0, 1.0, 1.0, 0.3], [89, 90, 200, 900], grace=90, period=90, step=0.1, floor=0.1).tolist()
    [1.0, 0.9, 0.8, 0.1]
    """
    initial = np.asarray(anchor, np.float64)
    unused = np.asarray(days, np.float64)
    lowered = initial - step * np.floor(unused / period)
    bounded = np.maximum(np.minimum(floor, initial), lowered)
    return _clip_and_round(np.where(unused < grace, initial, bounded))


def _clip_and_round(shares: Shares) -> Shares:
    return np.asarray(np.round(np.clip(shares, 0.0, 1.0), WEIGHT_DECIMALS), np.float64)


def day_number(moment: datetime) -> int:
    """The day of a moment in UTC, counted from 1970.

    >>> day_number(datetime(1970, 1, 2, 23, tzinfo=UTC))
    1
    """
    return (moment.astimezone(UTC).date() - _EPOCH_DAY).days


def list_usage_days(spans: Iterable[tuple[datetime, datetime]]) -> list[int]:
    """The days on which periods of use lie, sorted.

    >>> evening, morning = datetime(1970, 1, 3, 23, tzinfo=UTC), datetime(1970, 1, 4, 1, tzinfo=UTC)
    >>> list_usage_days([(evening, evening), (evening, morning)])
    [2, 3]
    """
    return sorted({day for start, end in spans for day in range(day_number(start), day_number(end) + 1)})


def days_between(since: ArrayLike, today: int, *, in_use: Sequence[int] | None) -> Days:
    """Whole days from each day to today; with `in_use` only the days on which the memory was used (ruling 39).

    A memory that is not opened for a year then does not decay.

    >>> (
    ...     days_between([0, 10, 360], 365, in_use=None).tolist(),
    ...     days_between([0, 10, 360], 365, in_use=[5, 10, 364]).tolist(),
    ... )
    ([365, 355, 5], [3, 1, 1])
    """
    first = np.asarray(since, np.int64)
    if in_use is None:
        return np.asarray(np.maximum(today - first, 0), np.int64)
    used = np.asarray(in_use, np.int64)
    # Days of use after each day, up to today.
    passed = np.searchsorted(used, today, side="right") - np.searchsorted(used, first, side="right")
    return np.asarray(np.maximum(passed, 0), np.int64)


def last_day_before_grace(today: int, grace: float, *, in_use: Sequence[int] | None) -> int:
    """The last day from which the grace has passed by today. Later days are still within the grace.

    >>> (
    ...     last_day_before_grace(365, 30, in_use=None),
    ...     last_day_before_grace(365, 2, in_use=[5, 10, 364]),
    ...     last_day_before_grace(365, 4, in_use=[5, 10, 364]),
    ... )
    (335, 9, -1)
    """
    whole = ceil(grace)
    if in_use is None or whole <= 0:
        return today - max(whole, 0)
    used = [day for day in in_use if day <= today]
    return used[-whole] - 1 if len(used) >= whole else -1


HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class UsagePeriod:
    """A period of use, from its first use to its last. A single use has the length 0."""

    begun: datetime
    ended: datetime

    @property
    def hours(self) -> float:
        return (self.ended - self.begun) / HOUR


def extend_usage_period(last: UsagePeriod | None, moment: datetime, *, idle: timedelta) -> UsagePeriod:
    """The period that a use belongs to: the last one extended, or a new one after more than `idle` (002 §5).

    A moment before the end of the last period (another process, a clock set back) does not extend it.

    >>> from datetime import UTC
    >>> noon, half = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(minutes=30)
    >>> span = extend_usage_period(UsagePeriod(noon, noon), noon + half, idle=half)
    >>> span.hours, extend_usage_period(span, noon + 3 * half, idle=half).begun.hour
    (0.5, 13)
    """
    if last is None or moment - last.ended > idle:
        return UsagePeriod(moment, moment)
    return UsagePeriod(last.begun, max(last.ended, moment))


# Weights of the parts. Use counts most, and no part decides alone.
RECENCY_WEIGHT, IMPORTANCE_WEIGHT, SUCCESS_WEIGHT, YOUTH_WEIGHT = 0.4, 0.3, 0.2, 0.1
RECENCY_DECAY_DAYS, YOUTH_DECAY_DAYS = 90.0, 365.0


@dataclass(frozen=True, slots=True)
class RetentionScore:
    """The parts, each from 0 to 1, and their weighted sum."""

    recency: float
    importance: float
    success: float
    youth: float

    @property
    def total(self) -> float:
        return (
            RECENCY_WEIGHT * self.recency
            + IMPORTANCE_WEIGHT * self.importance
            + SUCCESS_WEIGHT * self.success
            + YOUTH_WEIGHT * self.youth
        )

    def in_words(self) -> str:
        parts = {"recency": self.recency, "importance": self.importance, "success": self.success, "youth": self.youth}
        return ", ".join(f"{name} {part:.2f}" for name, part in parts.items())


def score_retention(*, unused_days: float, old_days: float, importance: float, success: float) -> RetentionScore:
    """The retention score of a fact: .4·e^(−unused/90) + .3·importance + .2·success + .1·e^(−age/365).

    `importance` is the PageRank as a share of the highest, `success` the share of feedback that was
    positive (.5 without feedback).

    >>> round(score_retention(unused_days=90, old_days=365, importance=0.5, success=0.5).total, 3)
    0.434
    """
    recency = exp(-max(0.0, unused_days) / RECENCY_DECAY_DAYS)
    youth = exp(-max(0.0, old_days) / YOUTH_DECAY_DAYS)
    return RetentionScore(recency, _clip_share(importance), _clip_share(success), youth)


def _clip_share(value: float) -> float:
    return min(1.0, max(0.0, value))
