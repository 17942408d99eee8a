"""Fading: what is left of an edge after days in which nobody strengthened or saw it, always from its anchor. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

Days = NDArray[np.int64]
Shares = NDArray[np.float64]

DECIMALS = 6
_FIRST = date(1970, 1, 1)


def faded(anchor: ArrayLike, days: ArrayLike, *, grace: float, rate: float) -> Shares:
    """Weights after days without strengthening: w = w₀ · e^(−rate · days) once the grace is over, w₀ before (000, ruling 7).

    All inactive days count then, those of the grace too. w₀ is the weight at the last strengthening, not the last faded one:
    fading twice at one moment is fading once.

    >>> faded([0.8, 0.8, 0.8], [29, 30, 100], grace=30, rate=0.01).tolist()
    [0.8, 0.592655, 0.294304]
    """
    at, unused = np.asarray(anchor, np.float64), np.asarray(days, np.float64)
    return _within_one(np.where(unused < grace, at, at * np.exp(-rate * unused)))


def lowered(anchor: ArrayLike, days: ArrayLike, *, grace: float, period: float, step: float, floor: float) -> Shares:
    """Confidences after days without being seen: c = max(floor, c₀ − step · ⌊days / period⌋) once the grace is over (001, ruling 14).

    What is below the floor already stays as it is.

    >>> lowered([1.0, 1.0, 1.0, 0.3], [89, 90, 200, 900], grace=90, period=90, step=0.1, floor=0.1).tolist()
    [1.0, 0.9, 0.8, 0.1]
    """
    at, unseen = np.asarray(anchor, np.float64), np.asarray(days, np.float64)
    less = np.maximum(np.minimum(floor, at), at - step * np.floor(unseen / period))
    return _within_one(np.where(unseen < grace, at, less))


def _within_one(shares: Shares) -> Shares:
    return np.asarray(np.round(np.clip(shares, 0.0, 1.0), DECIMALS), np.float64)


def day_of(moment: datetime) -> int:
    """The day of a moment in UTC, counted from 1970.

    >>> day_of(datetime(1970, 1, 2, 23, tzinfo=UTC))
    1
    """
    return (moment.astimezone(UTC).date() - _FIRST).days


def days_of_use(spans: Iterable[tuple[datetime, datetime]]) -> list[int]:
    """The days that times of use lie on, in order.

    >>> evening, morning = datetime(1970, 1, 3, 23, tzinfo=UTC), datetime(1970, 1, 4, 1, tzinfo=UTC)
    >>> days_of_use([(evening, evening), (evening, morning)])
    [2, 3]
    """
    return sorted({day for begun, ended in spans for day in range(day_of(begun), day_of(ended) + 1)})


def days_between(since: ArrayLike, today: int, *, in_use: Sequence[int] | None) -> Days:
    """Whole days from some days to today; with `in_use` only those on which the memory was used (ruling 39).

    A memory that nobody opened for a year has lost nothing.

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
    passed = np.searchsorted(used, today, side="right") - np.searchsorted(used, first, side="right")
    return np.asarray(np.maximum(passed, 0), np.int64)


def last_day(today: int, grace: float, *, in_use: Sequence[int] | None) -> int:
    """The last day from which so many days have passed by today: whatever came later is still within its grace.

    >>> last_day(365, 30, in_use=None), last_day(365, 2, in_use=[5, 10, 364]), last_day(365, 4, in_use=[5, 10, 364])
    (335, 9, -1)
    """
    whole = ceil(grace)
    if in_use is None or whole <= 0:
        return today - max(whole, 0)
    used = [day for day in in_use if day <= today]
    return used[-whole] - 1 if len(used) >= whole else -1
