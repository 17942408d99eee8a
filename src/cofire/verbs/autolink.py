"""Auto-linking: a new fact is linked at once to the facts most like it, and those are described anew by the connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

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
from cofire.reading.descriptions import all_said_by, extended, gist
from cofire.settings import Settings
from cofire.sheaves import shared_tags
from cofire.stores.base import Near

KIND, MODE = "auto_link", "skip"
DECIMALS = 6
DEVIATIONS, HIGHEST = 5.0, 0.9
# Facts near enough to be linked are near by their signs too, so that few need be looked at closely.
CANDIDATES = 128
# How far a store's cosine may be from the one that is written down.
SLACK = 0.001

# A new fact and its vector.
Told = tuple[Fact, Vectors]


@dataclass(frozen=True, slots=True)
class Links:
    """What linking adds to a change: edges, and old facts described anew."""

    edges: tuple[NewEdge, ...] = ()
    descriptions: tuple[Description, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """A new fact, the id of an old one and the tags of that, and how alike they are."""

    new: Fact
    old: str
    tags: tuple[str, ...]
    cosine: float


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
    new = {fact.id: (fact, _row(vectors[fact.id])) for fact in fresh if fact.id in vectors}
    least = threshold(model, settings)
    near = yield from _near(list(new.values()), least, now, settings)
    linked = [
        one
        for told, others in zip(new.values(), near, strict=True)
        for one in _linked(told, others, model, least=least, most=settings[AUTO_LINK_MOST])
    ]
    return Links(link_edges(linked), _described(linked, settings))


def link_edges(linked: Sequence[Linked]) -> tuple[NewEdge, ...]:
    """One edge a pair, from the smaller id to the larger, as its ends are alike."""
    made: dict[tuple[str, str], Edge] = {}
    for one in linked:
        ends = (one.old, one.new.id) if one.old < one.new.id else (one.new.id, one.old)
        made[ends] = Edge(*ends, KIND, link_weight(one.cosine), 1.0, shared_tags(one.new.tags, one.tags), KIND)
    return tuple(NewEdge(edge, MODE, own=True) for edge in made.values())


def link_weight(cosine: float) -> float:
    return round(min(1.0, cosine), DECIMALS)


def link_weights(cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    """The same of many. A cosine has so few bits that a million times it is exact, and so it is rounded to the same.

    >>> link_weights(np.array([0.1234565, 1.5], np.float32)).tolist() == [
    ...     link_weight(float(np.float32(0.1234565))),
    ...     1.0,
    ... ]
    True
    """
    return np.asarray(np.round(np.minimum(1.0, cosines.astype(np.float64)), DECIMALS))


def describe(cites: Mapping[str, Mapping[str, str]]) -> tuple[Description, ...]:
    """What each old fact is now known to belong with: with what it cites, the gists of new facts by their ids. The store goes on from
    the description that holds so far. The text of the fact stays as it is."""
    texts = {id: extended("", list(gists.values())) for id, gists in cites.items()}
    said = all_said_by(set(texts.values()))
    return tuple(Description(id, text, said[text], cites[id]) for id, text in texts.items())


def _described(linked: Sequence[Linked], settings: Settings) -> tuple[Description, ...]:
    if not settings[EVOLUTION]:
        return ()
    gists = {id: gist(new) for id, new in {one.new.id: one.new for one in linked}.items()}
    cites: dict[str, dict[str, str]] = {}
    for one in linked:
        cites.setdefault(one.old, {})[one.new.id] = gists[one.new.id]
    return describe(cites)


def _near(new: Sequence[Told], least: float, now: datetime, settings: Settings) -> Asking[list[list[Near]]]:
    """For each new fact those that it may be linked with: the few most like it of those stored, and all others that are new."""
    wheres, most = [Where(now, (fact.scope,)) for fact, _ in new], settings[AUTO_LINK_MOST]
    asks = [Alike(row, most, where, CANDIDATES, least - SLACK) for (_, row), where in zip(new, wheres, strict=True)]
    stored: list[list[Near]] = yield from at_one_moment(asks)
    return [[*old, *_beside(fact, new, where)] for (fact, _), where, old in zip(new, wheres, stored, strict=True)]


def _beside(one: Fact, new: Sequence[Told], where: Where) -> list[Near]:
    return [Near(other.id, other.tags, row) for other, row in new if other is not one and where.admits(other)]


def _linked(told: Told, others: Sequence[Near], model: StoredModel, *, least: float, most: int) -> list[Linked]:
    """The links of a new fact with the few of these that are most like it; none with itself as it was."""
    if not others:
        return []
    new, row = told
    seen = likeness.centred(np.array([row, *(one.vector for one in others)]), model.mean)
    cosines = likeness.along(seen[1:], seen[:1])[0].tolist()
    closest = sorted(zip(cosines, others, strict=True), key=lambda pair: (pair[0], pair[1].id), reverse=True)[:most]
    return [Linked(new, one.id, one.tags, cosine) for cosine, one in closest if cosine >= least and one.id != new.id]


def _row(vector: bytes) -> Vectors:
    return np.frombuffer(vector, np.float16).astype(np.float32)
