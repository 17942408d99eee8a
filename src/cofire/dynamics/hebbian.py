"""Hebbian learning: what use does to the weight and the confidence of an edge. No I/O.

Documented (000): new_weight = min(1.0, current_weight + 0.05), co_access_count + 1, for facts that are recalled together;
reinforcement of confidence (001): + 0.05 capped at 1. Here both are earned, by feedback or by recall in three distinct sessions,
and taken back by the same step when a fact did harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cofire.dynamics.conductance import MISSING_WEIGHT

STEP = 0.05
LEAST_CONFIDENCE = 0.1

# Distinct sessions in which a pair must have been shown together to earn a step, and how many of the first places count.
SESSIONS_EARN = 3
PLACES_COUNT = 5


def weight_after(weight: float | None, *, step: float) -> float | None:
    """w′ = min(1, w + step), or max(0, w + step) where the step is negative. A weight that nobody said grows from where it conducts.

    >>> round(weight_after(0.3, step=STEP), 2), weight_after(0.98, step=STEP), weight_after(0.02, step=-STEP)
    (0.35, 1.0, 0.0)
    >>> round(weight_after(None, step=STEP), 2), weight_after(None, step=-STEP)
    (0.06, None)
    """
    if weight is None:
        return MISSING_WEIGHT + step if step > 0 else None
    return min(1.0, max(0.0, weight + step))


def confidence_after(confidence: float | None, *, step: float) -> float | None:
    """c′ = min(1, c + step), or max(.1, c + step) where the step is negative; one that nobody said stays unsaid, and trusted.

    >>> confidence_after(0.98, step=STEP), confidence_after(0.12, step=-STEP), confidence_after(None, step=-STEP)
    (1.0, 0.1, None)
    """
    if confidence is None:
        return None
    return min(1.0, max(min(confidence, LEAST_CONFIDENCE), confidence + step))


def learns(origin: str, *, step: float) -> bool:
    """Whether an edge changes: what a user made never becomes weaker than the user made it, so it is left alone then.

    >>> learns("user", step=STEP), learns("user", step=-STEP), learns("", step=-STEP)
    (True, False, True)
    """
    return step > 0 or origin != "user"


def pairs(ids: Sequence[str]) -> list[tuple[str, str]]:
    """All pairs of facts that were shown together, from the smaller id to the larger.

    >>> pairs(["c", "a", "b"])
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return list(combinations(sorted(set(ids)), 2))
