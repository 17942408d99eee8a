"""Worth: what a fact is worth keeping in recall, part by part, so that it can be said why another was kept. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

# What the parts count. All that is asked of them: that use counts most, and that no part alone decides.
RECENCY, IMPORTANCE, SUCCESS, YOUTH = 0.4, 0.3, 0.2, 0.1
RECENT_DAYS, YOUNG_DAYS = 90.0, 365.0


@dataclass(frozen=True, slots=True)
class Worth:
    """The parts, each from 0 to 1, and their weighted sum."""

    recency: float
    importance: float
    success: float
    youth: float

    @property
    def total(self) -> float:
        return RECENCY * self.recency + IMPORTANCE * self.importance + SUCCESS * self.success + YOUTH * self.youth

    def in_words(self) -> str:
        parts = {"recency": self.recency, "importance": self.importance, "success": self.success, "youth": self.youth}
        return ", ".join(f"{name} {part:.2f}" for name, part in parts.items())


def worth(*, unused_days: float, old_days: float, importance: float, success: float) -> Worth:
    """What a fact is worth: w = .4·e^(−unused/90) + .3·importance + .2·success + .1·e^(−age/365).

    `importance` is the PageRank as a share of the highest, `success` how often it helped of the times that somebody said (.5 where
    nobody did).

    >>> round(worth(unused_days=90, old_days=365, importance=0.5, success=0.5).total, 3)
    0.434
    """
    recency, youth = exp(-max(0.0, unused_days) / RECENT_DAYS), exp(-max(0.0, old_days) / YOUNG_DAYS)
    return Worth(recency, _share(importance), _share(success), youth)


def _share(given: float) -> float:
    return min(1.0, max(0.0, given))
