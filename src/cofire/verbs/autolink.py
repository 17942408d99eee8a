"""Auto-linking: a new fact is linked at once to the facts most like it, and those are described anew by the connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cofire.asks import Asking, Nearest, Read, Weigh, at_one_moment
from cofire.dynamics import likeness
from cofire.embedders.base import StoredModel, Vectors
from cofire.graph_asks import Described
from cofire.graph_settings import (
    AUTO_LINK,
    AUTO_LINK_BATCH,
    AUTO_LINK_MOST,
    AUTO_LINK_THRESHOLD,
    EVOLUTION,
    MULTI_GRAPH,
)
from cofire.model import Description, Edge, Fact, NewEdge, Where
from cofire.reading import words
from cofire.reading.descriptions import extended, gist, said_by
from cofire.settings import Settings
from cofire.stores.base import LEAST_COSINE, Evidence
from cofire.verbs.reading_facts import tag_words

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
    """A new fact, an old one, and how alike they are."""

    new: Fact
    old: Fact
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
    told = {fact.id: fact for fact in fresh if fact.id in vectors}
    alike = yield from _alike(list(told.values()), vectors, model, now, settings)
    read: list[Fact | None] = (yield Read(sorted({id for _, id, _ in alike} - told.keys()))) if alike else []
    told |= {fact.id: fact for fact in read if fact is not None}
    linked = [Linked(new, told[id], cosine) for new, id, cosine in alike if id in told and not _same(told[id], new)]
    descriptions = yield from describe(linked, settings)
    return Links(link_edges(linked), descriptions)


def link_edges(linked: Sequence[Linked]) -> tuple[NewEdge, ...]:
    """One edge a pair, from the smaller id to the larger, as its ends are alike."""
    made: dict[tuple[str, str], Edge] = {}
    for one in linked:
        new, old = one.new, one.old
        ends = (old.id, new.id) if old.id < new.id else (new.id, old.id)
        tags = tuple(sorted(set(new.tags).intersection(old.tags))) if new.tags and old.tags else ()
        made[ends] = Edge(*ends, "auto_link", round(min(1.0, one.cosine), 6), 1.0, tags, "auto_link")
    return tuple(NewEdge(edge, "skip", own=True) for edge in made.values())


def describe(linked: Sequence[Linked], settings: Settings) -> Asking[tuple[Description, ...]]:
    """What each old fact is now known to belong with. The text of the fact stays as it is."""
    if not settings[EVOLUTION]:
        return ()
    gists = {new.id: gist(new) for new in {one.new.id: one.new for one in linked}.values()}
    newer: dict[str, dict[str, str]] = {}
    for one in linked:
        newer.setdefault(one.old.id, {})[one.new.id] = gists[one.new.id]
    olds = {one.old.id: one.old for one in linked}
    told: list[list[str]] = yield from at_one_moment([Described(id) for id in olds])
    made = []
    for (id, old), before in zip(olds.items(), told, strict=True):
        text = extended(before[-1] if before else "", list(newer[id].values()))
        made.append(Description(id, text, hints(text, old), newer[id]))
    return tuple(made)


def hints(description: str, fact: Fact) -> dict[str, int]:
    """The words of a description that the fact does not say itself; those it says lead to it anyway."""
    own = {*words.words(fact.reading), *(word for tag in fact.tags for word in tag_words(tag))}
    return {word: count for word, count in said_by(description).items() if word not in own}


def _alike(
    fresh: Sequence[Fact], vectors: Mapping[str, bytes], model: StoredModel, now: datetime, settings: Settings
) -> Asking[list[tuple[Fact, str, float]]]:
    """For each new fact the few most like it, of those stored and of the other new ones: who, whom, and how much."""
    rows, least = [_row(vectors[fact.id]) for fact in fresh], threshold(model, settings)
    wheres, most = [Where(now, (fact.scope,)) for fact in fresh], settings[AUTO_LINK_MOST]
    # One that is alone and like nobody need not be weighed; those of a batch may be like each other.
    closest = least - SLACK if len(fresh) == 1 else LEAST_COSINE
    asks = [Nearest(row, most, where, CANDIDATES, closest) for row, where in zip(rows, wheres, strict=True)]
    near: list[list[str]] = yield from at_one_moment(asks)
    if len(fresh) == 1 and not near[0]:
        return []
    evidence: Evidence = yield Weigh(sorted({id for ids in near for id in ids}), ())
    column = {id: at for at, id in enumerate((*evidence.ids, *(fact.id for fact in fresh)))}
    cosines = _cosines(evidence.vectors, rows, model)
    return [
        (fact, id, cosine)
        for fact, where, ids, row in zip(fresh, wheres, near, cosines, strict=True)
        for cosine, id in _best([*ids, *_beside(fact, fresh, where)], column, row, most)
        if cosine >= least
    ]


def _cosines(stored: Vectors, rows: Sequence[Vectors], model: StoredModel) -> Vectors:
    """Of each new vector with all that are stored, then with all that are new."""
    seen = likeness.centred(np.concatenate([stored, np.array(rows).reshape(len(rows), -1)]), model.mean)
    return likeness.along(seen, seen[len(stored) :])


def _beside(fact: Fact, fresh: Sequence[Fact], where: Where) -> list[str]:
    return [other.id for other in fresh if other is not fact and where.admits(other)]


def _best(ids: Sequence[str], column: Mapping[str, int], cosines: Vectors, most: int) -> list[tuple[float, str]]:
    return sorted(((float(cosines[column[id]]), id) for id in ids if id in column), reverse=True)[:most]


def _same(one: Fact, other: Fact) -> bool:
    """Whether both are one fact told twice; most differ in their texts already, which is seen sooner than by their hashes."""
    return one.text == other.text and one.hash == other.hash


def _row(vector: bytes) -> Vectors:
    return np.frombuffer(vector, np.float16).astype(np.float32)
