"""Links through names: how strongly two facts are linked by a name that one mentions and the other is about. Shared by stores."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from cofire.model import Edge, Link, Mentioned, NewFact
from cofire.reading.spoken import words_of

# A name that more facts hold is too common to link those that merely mention it.
MOST_NAMED = 100
# Of those that hold one name, so many are linked at most: the surest first, then by content, so that no age is favoured.
MOST_LINKED = 30
# Where a recall walks over names, those who hold one in the same way lead nowhere if they are more.
MOST_LEADING = 1_000
BACKWARD = 0.5
SHARED = 0.3


def content_order(hash: bytes) -> int:
    """Where a fact stands among equals: by its content, read as a number."""
    return int.from_bytes(hash[:8], "little", signed=True)


def supposed(new: NewFact, known: Collection[str]) -> tuple[Mentioned, ...]:
    """What a new fact mentions because somebody is about these names. It must hold the words by which it would be found, were it
    stored before the name is known."""
    return tuple(
        Mentioned(name, at, 1.0)
        for name, at in new.perhaps.items()
        if name in known and all(word in new.counts for word in words_of(name))
    )


@dataclass(frozen=True, slots=True)
class Held:
    """A name that a fact holds: how strongly it is about it or how surely it mentions it, and how many facts hold it so.

    `about` and `mentioning` are other facts of the scope that hold it, with their strength and confidence.
    """

    name: str
    by: float
    count: int
    about: tuple[tuple[str, float], ...]
    mentioning: tuple[tuple[str, float], ...]

    @property
    def spread(self) -> float:
        """What is specific conducts more than what everybody mentions: 1/√n."""
        return 1 / math.sqrt(max(1, self.count))


def linked(edge: Edge) -> Link:
    """A stored edge as a link, which goes through nothing."""
    said = (edge.source, edge.target, edge.kind, edge.weight, edge.confidence, edge.tags, edge.origin)
    return Link(*said, co_access_count=edge.co_access_count, strengthened=edge.strengthened)


def through_names(id: str, mentioned: Iterable[Held], subjects: Iterable[Held]) -> list[Link]:
    """Links of a fact through the names it mentions and the names it is about; the best one to each other fact.

    From a fact that mentions X to a fact about X the link is full; back it is half; between two that merely mention X, or are
    both about it, it is weaker.
    """
    best: dict[tuple[str, str], Link] = {}
    for held in mentioned:
        for other, strength in held.about:
            _keep(best, Link(id, other, "about", held.spread * strength, held.by, (), "names", held.name))
        for other, sure in held.mentioning:
            _keep(best, Link(id, other, "entity", SHARED * held.spread, min(held.by, sure), (), "names", held.name))
    for held in subjects:
        for other, sure in held.mentioning:
            _keep(best, Link(other, id, "about", BACKWARD * held.spread * held.by, sure, (), "names", held.name))
        for other, strength in held.about:
            _keep(
                best, Link(id, other, "entity", SHARED * held.spread * held.by * strength, 1.0, (), "names", held.name)
            )
    return list(best.values())


def _keep(best: dict[tuple[str, str], Link], link: Link) -> None:
    pair = (min(link.source, link.target), max(link.source, link.target))
    known = best.get(pair)
    if known is None or _carries(link) > _carries(known):
        best[pair] = link


def _carries(link: Link) -> float:
    return (link.weight or 0.0) * (link.confidence or 0.0)
