"""Read facts by id, hash or filter; read records, the inbox, store size and store checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cofire.embedders.base import Model, StoredModel
from cofire.model import Fact, StoreRecord
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
    join_queries,
    metadata_query,
)
from cofire.stores.neo4j.prefetch import Prefetch


def fetch_facts(brought: Prefetch, ids: Sequence[str]) -> QuerySteps[list[Fact | None]]:
    """Facts by id, in the order asked for."""
    facts = brought.facts(ids)
    lacking = [id for id in ids if id not in facts]
    if lacking:
        found = yield CypherQuery(f"MATCH (f:Fact) WHERE f.id IN $ids RETURN {FACT_COLUMNS} AS row", {"ids": lacking})
        facts |= {one.id: one for one in map(decode_fact, found)}
    return [facts.get(id) for id in ids]


def find_ids_by_hash(hashes: Sequence[bytes]) -> QuerySteps[dict[bytes, str]]:
    """The ids of the facts that have these content hashes."""
    wanted = [hash.hex() for hash in hashes]
    found = yield CypherQuery("MATCH (f:Fact) WHERE f.hash IN $hashes RETURN [f.hash, f.id] AS row", {"hashes": wanted})
    return {bytes.fromhex(hash): id for hash, id in found}


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
        known = yield from fetch_model(name)
        if _get_model(known) == wanted:
            clauses.append(clause)
    return " AND ".join(clauses)


_MATCH_MARKED_FACTS = "CALL db.index.fulltext.queryNodes($index, $marked) YIELD node AS f WITH f"


def fetch_record(name: str) -> QuerySteps[StoreRecord | None]:
    """A named record."""
    found = yield CypherQuery(_FETCH_RECORD, {"name": name})
    return StoreRecord(name, bytes(found[0][0]), found[0][1]) if found else None


# One without a value is there for a lock only.
_FETCH_RECORD = "MATCH (r:Record {name: $name}) WHERE r.value IS NOT NULL RETURN [r.value, r.version] AS row"


def fetch_model(name: str = MODEL_RECORD) -> QuerySteps[StoredModel | None]:
    """The model that a record names."""
    held = yield from fetch_record(name)
    return StoredModel.decode(held.value) if held else None


def fetch_store_size(place: str) -> QuerySteps[StoreSize]:
    """Counts. Bytes are the server's own affair: 0."""
    [[counts, scopes, server]] = yield join_queries(
        [CypherQuery(_COUNT_ALL), CypherQuery(_COUNT_BY_SCOPE), CypherQuery(_FETCH_SERVER_VERSION)]
    )
    facts, archived, embedded, waiting, edges, mentions = counts[0]
    details = {"neo4j": str(server[0][0]), "schema": str(schema.SCHEMA_VERSION)}
    held = {str(scope): int(count) for scope, count in scopes}
    return StoreSize(facts, archived, embedded, edges, mentions, waiting, held, 0, place, details)


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
    """What is wrong with the store, in words."""
    scopes = yield from _fetch_confirmed(_FIND_MISCOUNTED_SCOPES)
    names = yield from _fetch_confirmed(_FIND_MISCOUNTED_NAMES)
    torn = yield CypherQuery(
        "MATCH (a:Fact)-[:LINKS]->(b:Fact) WHERE a.scope <> b.scope RETURN [a.id, b.id] AS row LIMIT 10"
    )
    online = yield CypherQuery(_FIND_OFFLINE_INDEXES)
    return [
        *(f"scope {scope} counts {told} facts and holds {held}" for scope, told, held in scopes),
        *(f"name {name} of scope {scope} counts its holders wrongly" for scope, name in names),
        *(f"{a} and {b} are connected across scopes" for a, b in torn),
        *(f"the index {name} is {state}" for name, state in online),
    ]


def _fetch_confirmed(cypher: str) -> QuerySteps[list[Row]]:
    """What is found and found again. One statement reads a count and what is counted at two moments, between which others write."""
    found = yield CypherQuery(cypher)
    if not found:
        return []
    again = yield CypherQuery(cypher)
    return [row for row in again if row in found]


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


def _get_model(known: StoredModel | None) -> Model | None:
    return known.model if known else None
