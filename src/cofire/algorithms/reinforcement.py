"""Learning from use: Hebbian edge steps, and the score of facts that helped before.

Documented (000): new_weight = min(1.0, current_weight + 0.05), co_access_count + 1, for facts that are
recalled together; reinforcement of confidence (001): + 0.05 capped at 1. Here a step needs feedback or
recall in three distinct sessions, and negative feedback takes the same step back.

Two questions are similar if the same facts rank first, whatever their words (Jaccard overlap):

    score(fact) = max(0, max over recalls where it helped − max over recalls where it hurt),
    each counting (J − floor) / (1 − floor) with J = |first ∩ first′| / |first ∪ first′|
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import combinations

from cofire.algorithms.conductance import MISSING_WEIGHT
from cofire.stores.learning_rows import JudgedRecall

HEBBIAN_STEP = 0.05
MIN_CONFIDENCE = 0.1

# Distinct sessions that must return a pair together before a step, and the number of first ranks that count.
MIN_DISTINCT_SESSIONS = 3
COUNTED_RANKS = 5


def adjust_weight(weight: float | None, *, step: float) -> float | None:
    """w′ = w + step, from 0 to 1. A missing weight starts at `MISSING_WEIGHT` and stays missing on a negative step.

    >>> (
    ...     round(adjust_weight(0.3, step=HEBBIAN_STEP), 2),
    ...     adjust_weight(0.98, step=HEBBIAN_STEP),
    ...     adjust_weight(0.02, step=-HEBBIAN_STEP),
    ... )
    (0.35, 1.0, 0.0)
    >>> round(adjust_weight(None, step=HEBBIAN_STEP), 2), adjust_weight(None, step=-HEBBIAN_STEP)
    (0.06, None)
    """
    if weight is None:
        return MISSING_WEIGHT + step if step > 0 else None
    return min(1.0, max(0.0, weight + step))


def adjust_confidence(confidence: float | None, *, step: float) -> float | None:
    """c′ = min(1, c + step), at least .1 on a negative step. A missing confidence stays missing: it means full trust.

    >>> (
    ...     adjust_confidence(0.98, step=HEBBIAN_STEP),
    ...     adjust_confidence(0.12, step=-HEBBIAN_STEP),
    ...     adjust_confidence(None, step=-HEBBIAN_STEP),
    ... )
    (1.0, 0.1, None)
    """
    if confidence is None:
        return None
    return min(1.0, max(min(confidence, MIN_CONFIDENCE), confidence + step))


def is_adjustable(origin: str, *, step: float) -> bool:
    """Whether feedback may change an edge. It never weakens an edge that a user made.

    >>> (
    ...     is_adjustable("user", step=HEBBIAN_STEP),
    ...     is_adjustable("user", step=-HEBBIAN_STEP),
    ...     is_adjustable("", step=-HEBBIAN_STEP),
    ... )
    (True, False, True)
    """
    return step > 0 or origin != "user"


def list_id_pairs(ids: Sequence[str]) -> list[tuple[str, str]]:
    """All pairs of facts that one recall returned, the smaller id first.

    >>> list_id_pairs(["c", "a", "b"])
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return list(combinations(sorted(set(ids)), 2))


# Two common facts of five are no evidence (J = .25): popular facts rank first for many questions.
MIN_RECALL_OVERLAP = 0.25


def recall_similarity(first: Set[str], second: Set[str], *, floor: float) -> float:
    """The similarity of two recalls by the facts that rank first: 1 for the same facts, 0 up to the floor.

    >>> (
    ...     round(recall_similarity({"a", "b", "c"}, {"b", "c", "d"}, floor=0.1), 3),
    ...     recall_similarity({"a"}, {"b"}, floor=0.1),
    ... )
    (0.444, 0.0)
    """
    jaccard = len(first & second) / max(1, len(first | second))
    return max(0.0, (jaccard - floor) / (1.0 - floor))


def score_past_feedback(first: Set[str], judged: Iterable[JudgedRecall], *, floor: float) -> dict[str, float]:
    """The score of facts by feedback on similar recalls.

    Negative feedback only takes back positive feedback: a penalty for all facts that ranked first
    without helping lowered the results.

    >>> judged = [
    ...     JudgedRecall("1", frozenset("ab"), frozenset("a")),
    ...     JudgedRecall("2", frozenset("ax"), frozenset(), frozenset("ax")),
    ... ]
    >>> {id: round(value, 2) for id, value in score_past_feedback({"a", "b"}, judged, floor=0.1).items()}
    {'a': 0.74}
    """
    helped: dict[str, float] = {}
    hurt: dict[str, float] = {}
    for judged_recall in judged:
        similarity = recall_similarity(first, judged_recall.first, floor=floor)
        for id in judged_recall.helped:
            helped[id] = max(similarity, helped.get(id, 0.0))
        for id in judged_recall.hurt:
            hurt[id] = max(similarity, hurt.get(id, 0.0))
    scores = {id: value - hurt.get(id, 0.0) for id, value in helped.items()}
    return {id: score for id, score in scores.items() if score > 0}
