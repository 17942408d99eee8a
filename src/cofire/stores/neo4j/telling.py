"""Telling: facts come into the store or are told again, many at a time, inside a transaction of somebody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from cofire.dynamics.likeness import centred
from cofire.embedders.base import StoredModel
from cofire.model import Fact, NewFact, Stored
from cofire.stores.index.terms import Held, joined, marks, packed, packed_places
from cofire.stores.neo4j import facts
from cofire.stores.neo4j.querying import Query, Querying, Row, both
from cofire.stores.neo4j.recounting import COUNTED_OTHERWISE
from cofire.stores.neo4j.rows import FACT, fact, properties
from cofire.stores.neo4j.schema import category_label
from cofire.stores.refusing import refuse_forgotten

R = TypeVar("R")

# What the index is told of a vector: as many steps to either side of nothing as a byte has.
STEPS = 127
# Such a vector in Cypher, as numbers again.
SEEN = "[step IN r.vector | toFloat(step)]"
# Nodes that are made or changed by one statement.
PORTION = 500


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as a change leaves it: with the words it is found by, and the telling that brought it, None if it was there."""

    fact: Fact
    held: Held
    length: int
    words: tuple[str, ...]
    new: NewFact | None

    def again(self, new: NewFact, now: datetime) -> Told:
        """The same told once more."""
        after = self.fact.observed_again(new.fact, now)
        held, added = joined(self.held, new.counts, marks(after))
        words = tuple(dict.fromkeys([*self.words, *new.counts]))
        return Told(after, held, self.length + added, words, self.new)

    def parts(self, hours: float) -> dict[str, Any]:
        """All of it as properties of its node."""
        search = {"terms": self.held.terms, "counts": self.held.counts, "length": self.length}
        return {**properties(self.fact), **search, "tokens": " ".join(self.words), "hours": hours, "locked": None}


@dataclass(frozen=True, slots=True)
class Telling:
    """What became of the facts of a change, and those that are new, each with its place in its session."""

    stored: tuple[Stored, ...] = ()
    fresh: tuple[NewFact, ...] = ()
    scopes: frozenset[str] = frozenset()


def tell(told_now: Sequence[NewFact], now: datetime, hours: float) -> Querying[Telling]:
    """Keep facts, or reinforce those that say the same."""
    if not told_now:
        return Telling()
    hashes = [new.fact.hash.hex() for new in told_now]
    known, model = yield from both(_known(hashes), facts.model())
    told: dict[str, Told] = dict(known)
    stored = []
    for hash, new in zip(hashes, told_now, strict=True):
        fresh = hash not in told
        if fresh:
            refuse_forgotten(new)
        told[hash] = _begun(new) if fresh else told[hash].again(new, now)
        stored.append(Stored(told[hash].fact.id, fresh))
    placed = yield from _placed([one for one in told.values() if one.new])
    yield from _create(placed, hours, model)
    yield from _update({hash: one for hash, one in told.items() if not one.new}, known, hours)
    fresh_ones = tuple(replace(one.new, fact=one.fact) for one in placed if one.new)
    return Telling(tuple(stored), fresh_ones, frozenset(new.fact.scope for new in told_now))


def _known(hashes: Sequence[str]) -> Querying[dict[str, Told]]:
    found = yield Query(_KNOWN, {"hashes": list(hashes)})
    return {row[0]: _told(row) for row in found}


# Locked by a mark and read afterwards, so that none of two tellings at once is lost; the mark goes when the fact is written.
_KNOWN = f"""
CALL () {{ MATCH (f:Fact) WHERE f.hash IN $hashes SET f.locked = true RETURN collect(f.hash) AS locked }}
MATCH (f:Fact) WHERE f.hash IN locked
RETURN [f.hash, f.terms, f.counts, f.length, f.tokens, {FACT}] AS row
"""


def search_parts(new: NewFact) -> dict[str, Any]:
    """What search looks at in a fact that is told: its words and where they stand."""
    held = packed(new.counts, marks(new.fact))
    return {
        "terms": held.terms,
        "counts": held.counts,
        "length": sum(new.counts.values()),
        "tokens": " ".join(new.counts),
        "places": packed_places(new.places),
    }


def seen_from_rest(stored: bytes | None, model: StoredModel | None) -> bytes | None:
    """A stored vector as the index sees it: from the model's resting point. None where it is nowhere, or of another size.

    In 255 steps, a byte each: the index proposes and needs no more, and a list of numbers takes the driver forty times as long.
    """
    if stored is None or model is None or len(stored) != 2 * len(model.mean):
        return None
    seen = centred(np.frombuffer(stored, np.float16), model.mean)
    longest = float(np.abs(seen).max(initial=0.0))
    return np.round(seen * (STEPS / longest)).astype(np.int8).tobytes() if longest else None


def _told(row: Row) -> Told:
    _, terms, counts, length, tokens, known = row
    return Told(fact(known), Held(bytes(terms), bytes(counts)), length, tuple(tokens.split(" ")), None)


def _begun(new: NewFact) -> Told:
    return Told(new.fact, packed(new.counts, marks(new.fact)), sum(new.counts.values()), tuple(new.counts), new)


def _placed(fresh: Sequence[Told]) -> Querying[list[Told]]:
    """New facts with their places in their sessions. Who writes into a session locks its scope, so that no place is given twice."""
    sessions = sorted({(one.fact.scope, one.fact.session) for one in fresh if one.fact.session is not None})
    if not sessions:
        return list(fresh)
    found = yield Query(_LAST_TURNS, {"sessions": [{"scope": scope, "session": name} for scope, name in sessions]})
    last = {(scope, name): -1 if place is None else int(place) for scope, name, place in found}
    placed = []
    for one in fresh:
        turn = (one.fact.scope, one.fact.session)
        if turn in last:
            last[turn] += 1
        placed.append(replace(one, fact=replace(one.fact, position=last.get(turn))))
    return placed


_LAST_TURNS = """
UNWIND $sessions AS one MERGE (s:Scope {scope: one.scope}) ON CREATE SET s.facts = 0, s.told = 0
SET s.locked = true
WITH one
CALL (one) {
  CALL (one) {
    MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, session, position)
    WHERE f.scope = one.scope AND f.session = one.session AND f.position >= 0
    RETURN f.position AS last ORDER BY f.scope DESC, f.session DESC, f.position DESC LIMIT 1
  }
  RETURN max(last) AS place
}
RETURN [one.scope, one.session, place] AS row
"""


def _create(fresh: Sequence[Told], hours: float, model: StoredModel | None) -> Querying[None]:
    rows = [_creation(one, one.new, hours, model) for one in fresh if one.new]
    for portion in portions(rows):
        yield Query(CREATE, {"rows": portion})


def _creation(one: Told, new: NewFact, hours: float, model: StoredModel | None) -> dict[str, Any]:
    parts = {**one.parts(hours), "places": packed_places(new.places), "stored": new.vector, "inbox": True}
    labels = category_label(one.fact.category)
    return {"parts": parts, "labels": labels, "vector": seen_from_rest(new.vector, model)}


CREATE = f"""
UNWIND $rows AS r CREATE (f:Fact) SET f = r.parts SET f:$(r.labels)
WITH f, r WHERE r.vector IS NOT NULL CALL db.create.setNodeVectorProperty(f, 'vector', {SEEN})
"""


def _update(again: Mapping[str, Told], before: Mapping[str, Told], hours: float) -> Querying[None]:
    rows = [
        {
            "id": one.fact.id,
            "parts": one.parts(hours),
            "labels": category_label(one.fact.category),
            "more": one.held != before[hash].held,
        }
        for hash, one in again.items()
    ]
    for portion in portions(rows):
        yield Query(_UPDATE, {"rows": portion})


_UPDATE = f"""
UNWIND $rows AS r MATCH (f:Fact {{id: r.id}}) SET f += r.parts SET f:$(r.labels)
WITH f, r WHERE r.more {COUNTED_OTHERWISE}
"""


def portions(rows: Sequence[R], size: int = PORTION) -> Iterator[list[R]]:
    """Rows in lots that one statement can take."""
    for start in range(0, len(rows), size):
        yield list(rows[start : start + size])
