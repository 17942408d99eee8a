"""Aging: what is left by now of edges that nobody strengthened, as arrays. Knows nothing of where they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.curating import Fade
from cofire.dynamics import fading
from cofire.dynamics.fading import Shares

DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Aged:
    """Edges that change: what the store calls them, what they were and are by now, their anchors and since when these hold."""

    keys: NDArray[Any]
    before: Shares
    after: Shares
    anchors: Shares
    since: NDArray[np.int64]
    ends: NDArray[np.bool_]

    def left(self, at: int) -> float | None:
        """What one of them is by now; None where it ends."""
        return None if self.ends[at] else float(self.after[at])


@dataclass(frozen=True, slots=True)
class Standing:
    """Edges as they are written: a weight or confidence each, the anchor that it fades from, and since when."""

    keys: NDArray[Any]
    shares: Shares
    anchors: Shares
    since: NDArray[np.int64]


def age(written: Standing, fade: Fade, now: datetime, days: list[int] | None) -> Aged:
    """Those that are less by now than what is written. `days` are those in which the memory was used, None for all."""
    before, anchors = written.shares, written.anchors
    passed = fading.days_between(written.since // DAY, fading.day_of(now), in_use=days)
    if fade.by == "weight":
        after = np.minimum(before, fading.faded(anchors, passed, grace=fade.grace, rate=fade.rate))
        ends = (after < fade.floor) & (passed >= fade.grace)
    else:
        rule = {"grace": fade.grace, "period": fade.period, "step": fade.rate, "floor": fade.floor}
        after = np.minimum(before, fading.lowered(anchors, passed, **rule))
        ends = np.zeros(len(before), np.bool_)
    moved = (after < before) | ends
    return Aged(written.keys[moved], before[moved], after[moved], anchors[moved], written.since[moved], ends[moved])
