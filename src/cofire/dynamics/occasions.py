"""Occasions: what a fact is worth because it helped before, when much the same facts came to mind. No I/O.

Two questions are alike when they bring the same facts to the first places, whatever their words (the overlap of Jaccard):

    worth(fact) = max(0, max over occasions where it helped − max over occasions where it hurt),
    each counting (J − floor) / (1 − floor) with J = |first ∩ first′| / |first ∪ first′|
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from cofire.learned import Occasion

# Two facts in common of five say nothing yet (J = .25): popular ones come to mind on many occasions.
FLOOR = 0.25


def likeness(one: Set[str], other: Set[str], *, floor: float) -> float:
    """How alike two occasions are, by the facts that came to mind first: 1 for the same, 0 up to the floor.

    >>> round(likeness({"a", "b", "c"}, {"b", "c", "d"}, floor=0.1), 3), likeness({"a"}, {"b"}, floor=0.1)
    (0.444, 0.0)
    """
    shared = len(one & other) / max(1, len(one | other))
    return max(0.0, (shared - floor) / (1.0 - floor))


def worth(first: Set[str], judged: Iterable[Occasion], *, floor: float) -> dict[str, float]:
    """What facts are worth by occasions like this one. Harm takes back what help gave and no more: where all that stood among the
    first places without helping was blamed, questions lost by it.

    >>> judged = [
    ...     Occasion("1", frozenset("ab"), frozenset("a")),
    ...     Occasion("2", frozenset("ax"), frozenset(), frozenset("ax")),
    ... ]
    >>> {id: round(value, 2) for id, value in worth({"a", "b"}, judged, floor=0.1).items()}
    {'a': 0.74}
    """
    helped, hurt = dict[str, float](), dict[str, float]()
    for one in judged:
        alike = likeness(first, one.first, floor=floor)
        for counts, ids in ((helped, one.helped), (hurt, one.hurt)):
            counts.update({id: max(alike, counts.get(id, 0.0)) for id in ids})
    left = {id: value - hurt.get(id, 0.0) for id, value in helped.items()}
    return {id: value for id, value in left.items() if value > 0}
