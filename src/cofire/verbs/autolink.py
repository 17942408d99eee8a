"""Auto-linking: a new fact is linked at once to the facts most like it, and those are described anew by the connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cofire.asks import Alike, Asking, at_one_moment
from cofire.dynamics import likeness
from cofire.embedders.base import StoredModel, Vectors
from cofire.graph_settings import (
    AUTO_LINK,
    AUTO_LINK_BATCH,
    AUTO_LINK_MOST,
    AUTO_LINK_THRESHOLD,
    EVOLUTION,
    MULTI_GRAPH,
)
from cofire.model import Description, Edge, Fact, NewEdge, Where
from cofire.reading.descriptions import extended, gist, said_by
from cofire.settings import Settings
from cofire.stores.base import Near

DEVIATIONS, HIGHEST = 5.0, 0.9
# Facts near enough to be linked are near by their signs too, so that few need be looked at closely.
CANDIDATES = 128
# How far a store's cosine may be from the one that is written down.
SLACK = 0.001


@dataclass(frozen=True, slots=True)
class Links:
    """What linking adds to a change: edges, and old facts described anew."""

    edges: tuple[NewEdge, ...] = ()
    descriptions: tuple[Description, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """A new fact, an old one, how alike they are, and the description that holds of the old one so far."""

    new: Fact
    old: Fact
    cosine: float
    description: str


def threshold(model: StoredModel, settings: Settings) -> float:
    """From which centred cosine facts are linked: as set, else five deviations beyond what two chance texts of the model have."""
    mean, deviation = model.resting
    return settings[AUTO_LINK_THRESHOLD] or min(HIGHEST, mean + DEVIATIONS * deviation)


def links_now(count: int, settings: Settings) -> bool:
    """Whether this many facts are linked at once, or wait for a dream."""
    return settings[MULTI_GRAPH] and settings[AUTO_LINK] and 0 < count <= settings[AUTO_LINK_BATCH]


def auto_links(
    fresh: Sequence[Fact], vectors: Mapping[str, bytes], model: StoredModel, now: datetime, settings: Settings
) -> Asking[Links]:
    """The links of facts that are about to be stored, and how they describe the old ones, all to be written with the facts.

    What others store in the meantime is not seen; the next dream links it.
    """
    new = [Near(fact, _row(vectors[fact.id]), "") for fact in fresh if fact.id in vectors]
    least = threshold(model, settings)
    near = yield from _near(new, least, now, settings)
    linked = [
        one
        for fact, others in zip(new, near, strict=True)
        for one in _linked(fact, others, model, least=least, most=settings[AUTO_LINK_MOST])
    ]
    return Links(link_edges(linked), describe(linked, settings))


def link_edges(linked: Sequence[Linked]) -> tuple[NewEdge, ...]:
    """One edge a pair, from the smaller id to the larger, as its ends are alike."""
    made: dict[tuple[str, str], Edge] = {}
    for one in linked:
        new, old = one.new, one.old
        ends = (old.id, new.id) if old.id < new.id else (new.id, old.id)
        tags = tuple(sorted(set(new.tags).intersection(old.tags))) if new.tags and old.tags else ()
        made[ends] = Edge(*ends, "auto_link", round(min(1.0, one.cosine), 6), 1.0, tags, "auto_link")
    return tuple(NewEdge(edge, "skip", own=True) for edge in made.values())


def describe(linked: Sequence[Linked], settings: Settings) -> tuple[Description, ...]:
    """What each old fact is now known to belong with. The text of the fact stays as it is."""
    if not settings[EVOLUTION]:
        return ()
    gists = {new.id: gist(new) for new in {one.new.id: one.new for one in linked}.values()}
    newer: dict[str, dict[str, str]] = {}
    for one in linked:
        newer.setdefault(one.old.id, {})[one.new.id] = gists[one.new.id]
    made = []
    for id, one in {one.old.id: one for one in linked}.items():
        text = extended(one.description, list(newer[id].values()))
        made.append(Description(id, text, said_by(text), newer[id]))
    return tuple(made)


def _near(new: Sequence[Near], least: float, now: datetime, settings: Settings) -> Asking[list[list[Near]]]:
    """For each new fact those that it may be linked with: the few most like it of those stored, and all others that are new."""
    wheres, most = [Where(now, (one.fact.scope,)) for one in new], settings[AUTO_LINK_MOST]
    asks = [Alike(one.vector, most, where, CANDIDATES, least - SLACK) for one, where in zip(new, wheres, strict=True)]
    stored: list[list[Near]] = yield from at_one_moment(asks)
    return [[*old, *_beside(one, new, where)] for one, where, old in zip(new, wheres, stored, strict=True)]


def _beside(one: Near, new: Sequence[Near], where: Where) -> list[Near]:
    return [other for other in new if other is not one and where.admits(other.fact)]


def _linked(new: Near, others: Sequence[Near], model: StoredModel, *, least: float, most: int) -> list[Linked]:
    """The links of a new fact with the few of these that are most like it; none with itself as it was, or told twice."""
    if not others:
        return []
    seen = likeness.centred(np.array([new.vector, *(one.vector for one in others)]), model.mean)
    cosines = likeness.along(seen[1:], seen[:1])[0].tolist()
    closest = sorted(zip(cosines, (one.fact.id for one in others), others, strict=True), reverse=True)[:most]
    return [
        Linked(new.fact, one.fact, cosine, one.description)
        for cosine, id, one in closest
        if cosine >= least and id != new.fact.id and not _same(one.fact, new.fact)
    ]


def _same(one: Fact, other: Fact) -> bool:
    """Whether both are one fact told twice; most differ in their texts already, which is seen sooner than by their hashes."""
    return one.text == other.text and one.hash == other.hash


def _row(vector: bytes) -> Vectors:
    return np.frombuffer(vector, np.float16).astype(np.float32)
