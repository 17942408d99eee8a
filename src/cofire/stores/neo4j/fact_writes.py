"""Insert facts or reinforce existing ones, in batches. The caller owns the transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from cofire.algorithms.vector_similarity import centre_vectors
from cofire.embedders.base import StoredModel
from cofire.index.terms import PackedTerms, hash_marks, merge_terms, pack_sentence_bits, pack_terms
from cofire.model import Fact, FactWrite, StoredFact
from cofire.stores.neo4j import fact_reads
from cofire.stores.neo4j.cypher import (
    FACT_COLUMNS,
    CypherQuery,
    QuerySteps,
    Row,
    decode_fact,
    fact_properties,
    run_together,
)
from cofire.stores.neo4j.schema import category_label
from cofire.stores.neo4j.word_statistics import MARK_STATISTICS_STALE
from cofire.stores.rules import reject_forgotten_fact

R = TypeVar("R")

# What the index is told of a vector: as many steps to either side of nothing as a byte has.
QUANTISATION_STEPS = 127
# Such a vector in Cypher, as numbers again.
DECODED_VECTOR = "[step IN r.vector | toFloat(step)]"
# Nodes that are made or changed by one statement.
WRITE_BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class FactUpsert:
    """A fact as a change leaves it: with the words it is found by, and the telling that brought it, None if it was there."""

    fact: Fact
    held: PackedTerms
    length: int
    words: tuple[str, ...]
    new: FactWrite | None

    def again(self, new: FactWrite, now: datetime) -> FactUpsert:
        """The same told once more."""
        after = self.fact.observed_again(new.fact, now)
        held, added = merge_terms(self.held, new.counts, hash_marks(after))
        words = tuple(dict.fromkeys([*self.words, *new.counts]))
        return FactUpsert(after, held, self.length + added, words, self.new)

    def parts(self, hours: float) -> dict[str, Any]:
        """All of it as properties of its node."""
        search = {"terms": self.held.terms, "counts": self.held.counts, "length": self.length}
        return {**fact_properties(self.fact), **search, "tokens": " ".join(self.words), "hours": hours, "locked": None}


@dataclass(frozen=True, slots=True)
class FactUpsertResult:
    """What became of the facts of a change, and those that are new, each with its place in its session."""

    stored: tuple[StoredFact, ...] = ()
    fresh: tuple[FactWrite, ...] = ()
    scopes: frozenset[str] = frozenset()


def upsert_facts(told_now: Sequence[FactWrite], now: datetime, hours: float) -> QuerySteps[FactUpsertResult]:
    """Keep facts, or reinforce those that say the same."""
    if not told_now:
        return FactUpsertResult()
    hashes = [new.fact.hash.hex() for new in told_now]
    known, model = yield from run_together(_lock_known_facts(hashes), fact_reads.fetch_model())
    told: dict[str, FactUpsert] = dict(known)
    stored = []
    for hash, new in zip(hashes, told_now, strict=True):
        fresh = hash not in told
        if fresh:
            reject_forgotten_fact(new)
        told[hash] = _start_upsert(new) if fresh else told[hash].again(new, now)
        stored.append(StoredFact(told[hash].fact.id, fresh))
    placed = yield from _assign_positions([one for one in told.values() if one.new])
    yield from _create_facts(placed, hours, model)
    yield from _update_facts({hash: one for hash, one in told.items() if not one.new}, known, hours)
    fresh_ones = tuple(replace(one.new, fact=one.fact) for one in placed if one.new)
    return FactUpsertResult(tuple(stored), fresh_ones, frozenset(new.fact.scope for new in told_now))


def _lock_known_facts(hashes: Sequence[str]) -> QuerySteps[dict[str, FactUpsert]]:
    found = yield CypherQuery(_LOCK_KNOWN_FACTS, {"hashes": list(hashes)})
    return {row[0]: _decode_known_fact(row) for row in found}


# Locked by a mark and read afterwards, so that none of two tellings at once is lost; the mark goes when the fact is written.
_LOCK_KNOWN_FACTS = f"""
CALL () {{ MATCH (f:Fact) WHERE f.hash IN $hashes SET f.locked = true RETURN collect(f.hash) AS locked }}
MATCH (f:Fact) WHERE f.hash IN locked
RETURN [f.hash, f.terms, f.counts, f.length, f.tokens, {FACT_COLUMNS}] AS row
"""


def build_search_properties(new: FactWrite) -> dict[str, Any]:
    """What search looks at in a fact that is told: its words and where they stand."""
    held = pack_terms(new.counts, hash_marks(new.fact))
    return {
        "terms": held.terms,
        "counts": held.counts,
        "length": sum(new.counts.values()),
        "tokens": " ".join(new.counts),
        "places": pack_sentence_bits(new.places),
    }


def quantise_vector(stored: bytes | None, model: StoredModel | None) -> bytes | None:
    """A stored vector as the index sees it: from the model's resting point. None where it is nowhere, or of another size.

    In 255 steps, a byte each: the index proposes and needs no more, and a list of numbers takes the driver forty times as long.
    """
    if stored is None or model is None or len(stored) != 2 * len(model.mean):
        return None
    seen = centre_vectors(np.frombuffer(stored, np.float16), model.mean)
    longest = float(np.abs(seen).max(initial=0.0))
    return np.round(seen * (QUANTISATION_STEPS / longest)).astype(np.int8).tobytes() if longest else None


def _decode_known_fact(row: Row) -> FactUpsert:
    _, terms, counts, length, tokens, known = row
    return FactUpsert(
        decode_fact(known), PackedTerms(bytes(terms), bytes(counts)), length, tuple(tokens.split(" ")), None
    )


def _start_upsert(new: FactWrite) -> FactUpsert:
    return FactUpsert(
        new.fact, pack_terms(new.counts, hash_marks(new.fact)), sum(new.counts.values()), tuple(new.counts), new
    )


def _assign_positions(fresh: Sequence[FactUpsert]) -> QuerySteps[list[FactUpsert]]:
    """New facts with their places in their sessions. Who writes into a session locks its scope, so that no place is given twice."""
    sessions = sorted({(one.fact.scope, one.fact.session) for one in fresh if one.fact.session is not None})
    if not sessions:
        return list(fresh)
    found = yield CypherQuery(
        _FETCH_LAST_POSITIONS, {"sessions": [{"scope": scope, "session": name} for scope, name in sessions]}
    )
    last = {(scope, name): -1 if place is None else int(place) for scope, name, place in found}
    placed = []
    for one in fresh:
        turn = (one.fact.scope, one.fact.session)
        if turn in last:
            last[turn] += 1
        placed.append(replace(one, fact=replace(one.fact, position=last.get(turn))))
    return placed


_FETCH_LAST_POSITIONS = """
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


def _create_facts(fresh: Sequence[FactUpsert], hours: float, model: StoredModel | None) -> QuerySteps[None]:
    rows = [_build_creation_row(one, one.new, hours, model) for one in fresh if one.new]
    for portion in split_batches(rows):
        yield CypherQuery(CREATE_FACTS, {"rows": portion})


def _build_creation_row(one: FactUpsert, new: FactWrite, hours: float, model: StoredModel | None) -> dict[str, Any]:
    parts = {**one.parts(hours), "places": pack_sentence_bits(new.places), "stored": new.vector, "inbox": True}
    labels = category_label(one.fact.category)
    return {"parts": parts, "labels": labels, "vector": quantise_vector(new.vector, model)}


CREATE_FACTS = f"""
UNWIND $rows AS r CREATE (f:Fact) SET f = r.parts SET f:$(r.labels)
WITH f, r WHERE r.vector IS NOT NULL CALL db.create.setNodeVectorProperty(f, 'vector', {DECODED_VECTOR})
"""


def _update_facts(again: Mapping[str, FactUpsert], before: Mapping[str, FactUpsert], hours: float) -> QuerySteps[None]:
    rows = [
        {
            "id": one.fact.id,
            "parts": one.parts(hours),
            "labels": category_label(one.fact.category),
            "more": one.held != before[hash].held,
        }
        for hash, one in again.items()
    ]
    for portion in split_batches(rows):
        yield CypherQuery(_UPDATE_FACTS, {"rows": portion})


_UPDATE_FACTS = f"""
UNWIND $rows AS r MATCH (f:Fact {{id: r.id}}) SET f += r.parts SET f:$(r.labels)
WITH f, r WHERE r.more {MARK_STATISTICS_STALE}
"""


def split_batches(rows: Sequence[R], size: int = WRITE_BATCH_SIZE) -> Iterator[list[R]]:
    """Rows in lots that one statement can take."""
    for start in range(0, len(rows), size):
        yield list(rows[start : start + size])
