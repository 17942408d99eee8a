"""Learning from use: Hebbian edge steps, and the score of facts that helped before.

Documented (000): new_weight = min(1.0, current_weight + 0.05), co_access_count + 1, for facts that are recalled together;
reinforcement of confidence (001): + 0.05 capped at 1. Here both are earned, by feedback or by recall in three distinct sessions,
and taken back by the same step when a fact did harm.

Two questions are alike when they bring the same facts to the first places, whatever their words (the overlap of Jaccard):

    worth(fact) = max(0, max over occasions where it helped − max over occasions where it hurt),
    each counting (J − floor) / (1 − floor) with J = |first ∩ first′| / |first ∪ first′|
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import combinations

from cofire.algorithms.conductance import MISSING_WEIGHT
from cofire.stores.learning_rows import JudgedRecall

HEBBIAN_STEP = 0.05
MIN_CONFIDENCE = 0.1

# Distinct sessions in which a pair must have been shown together to earn a step, and how many of the first places count.
MIN_DISTINCT_SESSIONS = 3
COUNTED_RANKS = 5


def adjust_weight(weight: float | None, *, step: float) -> float | None:
    """w′ = min(1, w + step), or max(0, w + step) where the step is negative. A weight that nobody said grows from where it conducts.

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
    """c′ = min(1, c + step), or max(.1, c + step) where the step is negative; one that nobody said stays unsaid, and trusted.

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
    """Whether an edge changes: what a user made never becomes weaker than the user made it, so it is left alone then.

    >>> (
    ...     is_adjustable("user", step=HEBBIAN_STEP),
    ...     is_adjustable("user", step=-HEBBIAN_STEP),
    ...     is_adjustable("", step=-HEBBIAN_STEP),
    ... )
    (True, False, True)
    """
    return step > 0 or origin != "user"


def list_id_pairs(ids: Sequence[str]) -> list[tuple[str, str]]:
    """All pairs of facts that were shown together, from the smaller id to the larger.

    >>> list_id_pairs(["c", "a", "b"])
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return list(combinations(sorted(set(ids)), 2))


# Two facts in common of five say nothing yet (J = .25): popular ones come to mind on many occasions.
MIN_RECALL_OVERLAP = 0.25


def recall_similarity(one: Set[str], other: Set[str], *, floor: float) -> float:
    """How alike two occasions are, by the facts that came to mind first: 1 for the same, 0 up to the floor.

    >>> (
    ...     round(recall_similarity({"a", "b", "c"}, {"b", "c", "d"}, floor=0.1), 3),
    ...     recall_similarity({"a"}, {"b"}, floor=0.1),
    ... )
    (0.444, 0.0)
    """
    shared = len(one & other) / max(1, len(one | other))
    return max(0.0, (shared - floor) / (1.0 - floor))


def score_past_feedback(first: Set[str], judged: Iterable[JudgedRecall], *, floor: float) -> dict[str, float]:
    """What facts are worth by occasions like this one. Harm takes back what help gave and no more: where all that stood among the
    first places without helping was blamed, questions lost by it.

    >>> judged = [
    ...     JudgedRecall("1", frozenset("ab"), frozenset("a")),
    ...     JudgedRecall("2", frozenset("ax"), frozenset(), frozenset("ax")),
    ... ]
    >>> {id: round(value, 2) for id, value in score_past_feedback({"a", "b"}, judged, floor=0.1).items()}
    {'a': 0.74}
    """
    helped, hurt = dict[str, float](), dict[str, float]()
    for one in judged:
        alike = recall_similarity(first, one.first, floor=floor)
        for counts, ids in ((helped, one.helped), (hurt, one.hurt)):
            counts.update({id: max(alike, counts.get(id, 0.0)) for id in ids})
    left = {id: value - hurt.get(id, 0.0) for id, value in helped.items()}
    return {id: value for id, value in left.items() if value > 0}
