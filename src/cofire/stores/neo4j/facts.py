"""Read and write facts: by id, hash and page, upserts, sizes and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from cofire.algorithms.vector_similarity import centre_vectors
from cofire.embedders.base import StoredModel
from cofire.index.terms import PackedTerms, hash_marks, merge_terms, pack_sentence_bits, pack_terms
from cofire.model import Fact, FactWrite, StoredFact, StoreRecord
from cofire.stores.base import (
    INCOMING_RECORD,
    MODEL_RECORD,
    FactSelection,
    InboxSelection,
    StoreSize,
    UnembeddedSelection,
)
from cofire.stores.neo4j import schema
from cofire.stores.neo4j.cypher import (
    FACT_COLUMNS,
    CypherQuery,
    QuerySteps,
    Row,
    compile_filter,
    decode_fact,
    fact_properties,
    join_queries,
    metadata_query,
    run_together,
)
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.neo4j.schema import category_label
from cofire.stores.neo4j.word_statistics import MARK_STATISTICS_STALE
from cofire.stores.rules import reject_forgotten_fact


def fetch_facts(brought: Prefetch, ids: Sequence[str]) -> QuerySteps[list[Fact | None]]:
    """Facts by id, in the order of the ids."""
    facts = brought.facts(ids)
    missing = [id for id in ids if id not in facts]
    if missing:
        rows = yield CypherQuery(f"MATCH (f:Fact) WHERE f.id IN $ids RETURN {FACT_COLUMNS} AS row", {"ids": missing})
        facts |= {fact.id: fact for fact in map(decode_fact, rows)}
    return [facts.get(id) for id in ids]


def find_ids_by_hash(hashes: Sequence[bytes]) -> QuerySteps[dict[bytes, str]]:
    """The ids of the facts that have these content hashes."""
    encoded = [hash.hex() for hash in hashes]
    text = "MATCH (f:Fact) WHERE f.hash IN $hashes RETURN [f.hash, f.id] AS row"
    rows = yield CypherQuery(text, {"hashes": encoded})
    return {bytes.fromhex(hash): id for hash, id in rows}


def list_facts(selection: FactSelection, limit: int, before: str | None) -> QuerySteps[list[Fact]]:
    """A page of the selected facts."""
    source, order = "MATCH (f:Fact)", "f.id"
    parameters: dict[str, Any] = {"before": before, "limit": limit}
    match selection:
        case InboxSelection(scopes):
            clause = "f.inbox = true AND ($scopes IS NULL OR f.scope IN $scopes)"
            parameters["scopes"] = None if scopes is None else list(scopes)
        case UnembeddedSelection(model):
            clause = yield from _build_unembedded_clause(model)
        case where:
            passing = compile_filter(where)
            clause, order = passing.clause, "f.id DESC"
            parameters |= passing.parameters
            if marked := metadata_query(where):
                source = _MATCH_MARKED_FACTS
                parameters |= {"index": schema.FULLTEXT_INDEX_NAME, "marked": marked}
    if before is not None:
        clause += " AND f.id < $before"
    rows = yield CypherQuery(
        f"{source} WHERE {clause} WITH f ORDER BY {order} LIMIT $limit RETURN {FACT_COLUMNS} AS row", parameters
    )
    return [decode_fact(row) for row in rows]


def _build_unembedded_clause(model: bytes) -> QuerySteps[str]:
    wanted = StoredModel.decode(model).model
    clauses = ["true"]
    for name, clause in ((MODEL_RECORD, "f.stored IS NULL"), (INCOMING_RECORD, "f.incoming IS NULL")):
        stored = yield from fetch_model(name)
        if stored is not None and stored.model == wanted:
            clauses.append(clause)
    return " AND ".join(clauses)


_MATCH_MARKED_FACTS = "CALL db.index.fulltext.queryNodes($index, $marked) YIELD node AS f WITH f"


def fetch_record(name: str) -> QuerySteps[StoreRecord | None]:
    """A named record."""
    rows = yield CypherQuery(_FETCH_RECORD, {"name": name})
    return StoreRecord(name, bytes(rows[0][0]), rows[0][1]) if rows else None


# A record without a value is only a lock.
_FETCH_RECORD = "MATCH (r:Record {name: $name}) WHERE r.value IS NOT NULL RETURN [r.value, r.version] AS row"


def fetch_model(name: str = MODEL_RECORD) -> QuerySteps[StoredModel | None]:
    """The model that a record names."""
    record = yield from fetch_record(name)
    return StoredModel.decode(record.value) if record else None


def fetch_store_size(place: str) -> QuerySteps[StoreSize]:
    """Counts of everything stored. Bytes are 0: the server does not tell them."""
    [[counts, scopes, server]] = yield join_queries(
        [CypherQuery(_COUNT_ALL), CypherQuery(_COUNT_BY_SCOPE), CypherQuery(_FETCH_SERVER_VERSION)]
    )
    facts, archived, embedded, waiting, edges, mentions = counts[0]
    details = {"neo4j": str(server[0][0]), "schema": str(schema.SCHEMA_VERSION)}
    by_scope = {str(scope): int(count) for scope, count in scopes}
    return StoreSize(facts, archived, embedded, edges, mentions, waiting, by_scope, 0, place, details)


_COUNT_ALL = """
CALL () {
  MATCH (f:Fact)
  RETURN count(f) AS facts, sum(CASE WHEN f.archived THEN 1 ELSE 0 END) AS archived, count(f.stored) AS embedded,
    count(f.inbox) AS waiting
}
CALL () { MATCH ()-[e:LINKS]->() WHERE e.ended IS NULL RETURN count(e) AS edges }
CALL () { MATCH ()-[m:MENTIONS]->() RETURN count(m) AS mentions }
RETURN [facts, archived, embedded, waiting, edges, mentions] AS row
"""
_COUNT_BY_SCOPE = "MATCH (s:Scope) WHERE s.facts > 0 RETURN [s.scope, s.facts] AS row ORDER BY s.scope"
_FETCH_SERVER_VERSION = (
    "CALL dbms.components() YIELD versions, edition RETURN [versions[0] + ' ' + edition] AS row LIMIT 1"
)


def check_store() -> QuerySteps[list[str]]:
    """Everything that is wrong with the store, in words."""
    scopes = yield from _fetch_confirmed(_FIND_MISCOUNTED_SCOPES)
    names = yield from _fetch_confirmed(_FIND_MISCOUNTED_NAMES)
    across_scopes = yield CypherQuery(
        "MATCH (a:Fact)-[:LINKS]->(b:Fact) WHERE a.scope <> b.scope RETURN [a.id, b.id] AS row LIMIT 10"
    )
    offline = yield CypherQuery(_FIND_OFFLINE_INDEXES)
    return [
        *(f"scope {scope} counts {counted} facts and holds {stored}" for scope, counted, stored in scopes),
        *(f"name {name} of scope {scope} counts its holders wrongly" for scope, name in names),
        *(f"{a} and {b} are connected across scopes" for a, b in across_scopes),
        *(f"the index {name} is {state}" for name, state in offline),
    ]


def _fetch_confirmed(cypher: str) -> QuerySteps[list[Row]]:
    """The rows that two runs return. A statement reads a count and what it counts at two moments, and others write in between."""
    rows = yield CypherQuery(cypher)
    if not rows:
        return []
    repeated = yield CypherQuery(cypher)
    return [row for row in repeated if row in rows]


_FIND_MISCOUNTED_SCOPES = """
MATCH (s:Scope) WITH s, COUNT { MATCH (f:Fact {scope: s.scope}) } AS held WHERE s.facts <> held
RETURN [s.scope, s.facts, held] AS row LIMIT 10
"""
_FIND_MISCOUNTED_NAMES = """
MATCH (n:Name) WHERE n.mentioned <> COUNT { (n)<-[:MENTIONS]-() } OR n.about <> COUNT { (n)<-[:ABOUT]-() }
  OR n.held <> COUNT { MATCH (n)<-[:MENTIONS|ABOUT]-(f) RETURN DISTINCT f }
RETURN [n.scope, n.name] AS row LIMIT 10
"""
_FIND_OFFLINE_INDEXES = (
    "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'cofire' AND state <> 'ONLINE' RETURN [name, state] AS row"
)


R = TypeVar("R")

# Steps of a quantised vector to either side of zero: as many as a byte has.
QUANTISATION_STEPS = 127
# A quantised vector in Cypher, as floats.
DECODED_VECTOR = "[step IN r.vector | toFloat(step)]"
# Nodes that one statement creates or changes.
WRITE_BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class FactUpsert:
    """A fact as a change leaves it, with its search terms. `new` is the write that created it, None for a stored fact."""

    fact: Fact
    terms: PackedTerms
    length: int
    words: tuple[str, ...]
    new: FactWrite | None

    def reinforced(self, new: FactWrite, now: datetime) -> FactUpsert:
        """The same fact, observed once more."""
        fact = self.fact.observed_again(new.fact, now)
        terms, added = merge_terms(self.terms, new.counts, hash_marks(fact))
        words = tuple(dict.fromkeys([*self.words, *new.counts]))
        return FactUpsert(fact, terms, self.length + added, words, self.new)

    def properties(self, hours: float) -> dict[str, Any]:
        """The properties of its node."""
        search = {"terms": self.terms.terms, "counts": self.terms.counts, "length": self.length}
        return {**fact_properties(self.fact), **search, "tokens": " ".join(self.words), "hours": hours, "locked": None}


@dataclass(frozen=True, slots=True)
class FactUpsertResult:
    """What became of the facts of a change. `fresh` are the new ones, with their positions in their sessions."""

    stored: tuple[StoredFact, ...] = ()
    fresh: tuple[FactWrite, ...] = ()
    scopes: frozenset[str] = frozenset()


def upsert_facts(facts: Sequence[FactWrite], now: datetime, hours: float) -> QuerySteps[FactUpsertResult]:
    """Insert facts, and reinforce those whose content is stored."""
    if not facts:
        return FactUpsertResult()
    hashes = [new.fact.hash.hex() for new in facts]
    before, model = yield from run_together(_lock_stored_facts(hashes), fetch_model())
    upserts: dict[str, FactUpsert] = dict(before)
    stored = []
    for hash, new in zip(hashes, facts, strict=True):
        is_fresh = hash not in upserts
        if is_fresh:
            reject_forgotten_fact(new)
            upserts[hash] = _start_upsert(new)
        else:
            upserts[hash] = upserts[hash].reinforced(new, now)
        stored.append(StoredFact(upserts[hash].fact.id, is_fresh))
    created = yield from _assign_positions([upsert for upsert in upserts.values() if upsert.new])
    yield from _create_facts(created, hours, model)
    yield from _update_facts({hash: upsert for hash, upsert in upserts.items() if not upsert.new}, before, hours)
    fresh = tuple(replace(upsert.new, fact=upsert.fact) for upsert in created if upsert.new)
    return FactUpsertResult(tuple(stored), fresh, frozenset(new.fact.scope for new in facts))


def _lock_stored_facts(hashes: Sequence[str]) -> QuerySteps[dict[str, FactUpsert]]:
    rows = yield CypherQuery(_LOCK_KNOWN_FACTS, {"hashes": list(hashes)})
    return {row[0]: _decode_stored_fact(row) for row in rows}


# Locked by a mark and read afterwards, so that neither of two concurrent observations is lost. Writing the fact removes the mark.
_LOCK_KNOWN_FACTS = f"""
CALL () {{ MATCH (f:Fact) WHERE f.hash IN $hashes SET f.locked = true RETURN collect(f.hash) AS locked }}
MATCH (f:Fact) WHERE f.hash IN locked
RETURN [f.hash, f.terms, f.counts, f.length, f.tokens, {FACT_COLUMNS}] AS row
"""


def build_search_properties(new: FactWrite) -> dict[str, Any]:
    """The properties that search reads: the words of a fact, and their sentences."""
    terms = pack_terms(new.counts, hash_marks(new.fact))
    return {
        "terms": terms.terms,
        "counts": terms.counts,
        "length": sum(new.counts.values()),
        "tokens": " ".join(new.counts),
        "places": pack_sentence_bits(new.places),
    }


def quantise_vector(stored: bytes | None, model: StoredModel | None) -> bytes | None:
    """A stored vector for the vector index: centred, and quantised to a byte a dimension. None for zero or another size.

    The index only proposes candidates, and the driver takes forty times as long for a list of floats.
    """
    if stored is None or model is None or len(stored) != 2 * len(model.mean):
        return None
    centred = centre_vectors(np.frombuffer(stored, np.float16), model.mean)
    largest = float(np.abs(centred).max(initial=0.0))
    return np.round(centred * (QUANTISATION_STEPS / largest)).astype(np.int8).tobytes() if largest else None


def _decode_stored_fact(row: Row) -> FactUpsert:
    _, terms, counts, length, tokens, columns = row
    packed = PackedTerms(bytes(terms), bytes(counts))
    return FactUpsert(decode_fact(columns), packed, length, tuple(tokens.split(" ")), None)


def _start_upsert(new: FactWrite) -> FactUpsert:
    terms = pack_terms(new.counts, hash_marks(new.fact))
    return FactUpsert(new.fact, terms, sum(new.counts.values()), tuple(new.counts), new)


def _assign_positions(fresh: Sequence[FactUpsert]) -> QuerySteps[list[FactUpsert]]:
    """New facts with their positions in their sessions. This locks the scope, so that no position is given twice."""
    sessions = sorted({(upsert.fact.scope, upsert.fact.session) for upsert in fresh if upsert.fact.session is not None})
    if not sessions:
        return list(fresh)
    asked = [{"scope": scope, "session": name} for scope, name in sessions]
    rows = yield CypherQuery(_FETCH_LAST_POSITIONS, {"sessions": asked})
    last = {(scope, name): -1 if position is None else int(position) for scope, name, position in rows}
    positioned = []
    for upsert in fresh:
        session = (upsert.fact.scope, upsert.fact.session)
        if session in last:
            last[session] += 1
        positioned.append(replace(upsert, fact=replace(upsert.fact, position=last.get(session))))
    return positioned


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
    rows = []
    for upsert in fresh:
        if upsert.new is None:
            continue
        vector, places = upsert.new.vector, pack_sentence_bits(upsert.new.places)
        parts = {**upsert.properties(hours), "places": places, "stored": vector, "inbox": True}
        labels = category_label(upsert.fact.category)
        rows.append({"parts": parts, "labels": labels, "vector": quantise_vector(vector, model)})
    for batch in split_batches(rows):
        yield CypherQuery(CREATE_FACTS, {"rows": batch})


CREATE_FACTS = f"""
UNWIND $rows AS r CREATE (f:Fact) SET f = r.parts SET f:$(r.labels)
WITH f, r WHERE r.vector IS NOT NULL CALL db.create.setNodeVectorProperty(f, 'vector', {DECODED_VECTOR})
"""


def _update_facts(
    upserts: Mapping[str, FactUpsert], before: Mapping[str, FactUpsert], hours: float
) -> QuerySteps[None]:
    rows = [
        {
            "id": upsert.fact.id,
            "parts": upsert.properties(hours),
            "labels": category_label(upsert.fact.category),
            "more": upsert.terms != before[hash].terms,
        }
        for hash, upsert in upserts.items()
    ]
    for batch in split_batches(rows):
        yield CypherQuery(_UPDATE_FACTS, {"rows": batch})


_UPDATE_FACTS = f"""
UNWIND $rows AS r MATCH (f:Fact {{id: r.id}}) SET f += r.parts SET f:$(r.labels)
WITH f, r WHERE r.more {MARK_STATISTICS_STALE}
"""


def split_batches(rows: Sequence[R], size: int = WRITE_BATCH_SIZE) -> Iterator[list[R]]:
    """Rows in batches of what one statement takes."""
    for start in range(0, len(rows), size):
        yield list(rows[start : start + size])
