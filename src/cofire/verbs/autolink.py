"""Auto-linking: a new fact is linked at once to the facts most like it, and those are described anew by the connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from cofire.asks import Asking, Nearest, Read, Together, Weigh, Write
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
from cofire.model import Change, Description, Edge, Fact, NewEdge, Where
from cofire.reading import words
from cofire.reading.phrases import phrases
from cofire.reading.sentences import sentences
from cofire.reading.shapes import pieces
from cofire.settings import CANDIDATES, Settings
from cofire.stores.base import Evidence
from cofire.verbs.connect import oriented
from cofire.verbs.reading_facts import word_counts

DEVIATIONS, HIGHEST = 5.0, 0.9
LONGEST_DESCRIPTION = 400


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


def auto_link(
    fresh: Mapping[str, Fact], vectors: Mapping[str, bytes], model: StoredModel, now: datetime, settings: Settings
) -> Asking[None]:
    """Link new facts to those most like them, and let the old ones' descriptions follow."""
    held = [(fact, _row(vectors[id])) for id, fact in fresh.items() if id in vectors]
    asks = [
        Nearest(row, settings[AUTO_LINK_MOST] + 1, Where(now, (fact.scope,)), settings[CANDIDATES])
        for fact, row in held
    ]
    answers: Sequence[Any] = yield Together(asks)
    linked: list[Linked] = []
    for (fact, row), ids in zip(held, answers, strict=True):
        linked += yield from _like(fact, row, [id for id in ids if id != fact.id], model, settings)
    if linked:
        descriptions = yield from describe(linked, settings)
        edges = link_edges(linked)
        yield Write(Change(now=now, edges=edges, descriptions=descriptions))


def link_edges(linked: Sequence[Linked]) -> tuple[NewEdge, ...]:
    """One edge a pair, told apart by its ends."""
    made = {
        frozenset((one.new.id, one.old.id)): oriented(
            Edge(
                one.new.id,
                one.old.id,
                "auto_link",
                round(min(1.0, one.cosine), 6),
                1.0,
                tuple(sorted(set(one.new.tags) & set(one.old.tags))),
                "auto_link",
            )
        )
        for one in linked
    }
    return tuple(NewEdge(edge, "skip", own=True) for edge in made.values())


def describe(linked: Sequence[Linked], settings: Settings) -> Asking[tuple[Description, ...]]:
    """What each old fact is now known to belong with. The text of the fact stays as it is."""
    if not settings[EVOLUTION]:
        return ()
    newer: dict[str, list[Fact]] = {}
    for one in linked:
        newer.setdefault(one.old.id, []).append(one.new)
    made = []
    for id, old in {one.old.id: one.old for one in linked}.items():
        before: list[str] = yield Described(id)
        text = extended(before[-1] if before else "", newer[id])
        if not before or text != before[-1]:
            made.append(Description(id, text, hints(text, old)))
    return tuple(made)


def hints(description: str, fact: Fact) -> dict[str, int]:
    """The words of a description that the fact does not say itself; those it says lead to it anyway."""
    own = word_counts(fact)
    return {word: count for word, count in words.counts(description).items() if word not in own}


def extended(before: str, newer: Sequence[Fact]) -> str:
    """A description with the gist of new connections added, each once, the latest kept when it grows too long.

    >>> extended("Goes with: transaction mode", [Fact("The pool is PgBouncer.", subject="PgBouncer")])
    'Goes with: transaction mode; PgBouncer'
    """
    known = [part for part in before.removeprefix("Goes with: ").split("; ") if part]
    gists = list(dict.fromkeys([*known, *(gist(fact) for fact in newer)]))
    while len(gists) > 1 and sum(map(len, gists)) > LONGEST_DESCRIPTION:
        gists.pop(0)
    return "Goes with: " + "; ".join(gists)


def gist(fact: Fact) -> str:
    """What a fact is about in a few words: its subject, else its key phrases."""
    if fact.subject:
        return fact.subject
    found = phrases([pieces(sentence) for sentence in sentences(fact.text)])
    return ", ".join(found[:3]) if found else " ".join(fact.text.split()[:6])


def _like(fact: Fact, row: Vectors, ids: list[str], model: StoredModel, settings: Settings) -> Asking[list[Linked]]:
    if not ids:
        return []
    evidence: Evidence = yield Weigh(ids, ())
    cosines = likeness.centred_cosines(evidence.vectors, likeness.centred(row, model.mean), model.mean)
    near = [
        (float(cosine), id)
        for cosine, id in zip(cosines, evidence.ids, strict=True)
        if cosine >= threshold(model, settings)
    ]
    chosen = sorted(near, reverse=True)[: settings[AUTO_LINK_MOST]]
    facts: list[Fact | None] = yield Read([id for _, id in chosen])
    return [Linked(fact, old, cosine) for (cosine, _), old in zip(chosen, facts, strict=True) if old is not None]


def _row(vector: bytes) -> Vectors:
    return np.frombuffer(vector, np.float16).astype(np.float32)
