"""Facts as they are stored: by id, by content, by filter; records, counts, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from cofire.embedders.base import Model, StoredModel
from cofire.model import Fact, Record, Where
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, StoreSize
from cofire.stores.neo4j import schema
from cofire.stores.neo4j.bringing import Brought
from cofire.stores.neo4j.querying import Query, Querying, Row, joined
from cofire.stores.neo4j.rows import FACT, condition, fact, metadata_query


def read(brought: Brought, ids: Sequence[str]) -> Querying[list[Fact | None]]:
    """Facts by id, in the order asked for."""
    facts = brought.facts(ids)
    lacking = [id for id in ids if id not in facts]
    if lacking:
        found = yield Query(f"MATCH (f:Fact) WHERE f.id IN $ids RETURN {FACT} AS row", {"ids": lacking})
        facts |= {one.id: one for one in map(fact, found)}
    return [facts.get(id) for id in ids]


def recognise(hashes: Sequence[bytes]) -> Querying[dict[bytes, str]]:
    """The ids of the facts that have these content hashes."""
    wanted = [hash.hex() for hash in hashes]
    found = yield Query("MATCH (f:Fact) WHERE f.hash IN $hashes RETURN [f.hash, f.id] AS row", {"hashes": wanted})
    return {bytes.fromhex(hash): id for hash, id in found}


def scan(where: Where, limit: int, before: str | None) -> Querying[list[Fact]]:
    """A page of the facts that pass a filter, newest first."""
    passing = condition(where)
    below = " AND f.id < $before" if before is not None else ""
    marked = metadata_query(where)
    source = _MARKED if marked else "MATCH (f:Fact)"
    found = yield Query(
        f"{source} WHERE {passing.clause}{below} WITH f ORDER BY f.id DESC LIMIT $limit RETURN {FACT} AS row",
        {**passing.parameters, "before": before, "limit": limit, "index": schema.FACT_WORDS, "marked": marked},
    )
    return [fact(row) for row in found]


_MARKED = "CALL db.index.fulltext.queryNodes($index, $marked) YIELD node AS f WITH f"


def record(name: str) -> Querying[Record | None]:
    """A named record."""
    found = yield Query(_RECORD, {"name": name})
    return Record(name, bytes(found[0][0]), found[0][1]) if found else None


# One without a value is there for a lock only.
_RECORD = "MATCH (r:Record {name: $name}) WHERE r.value IS NOT NULL RETURN [r.value, r.version] AS row"


def model(name: str = MODEL_RECORD) -> Querying[StoredModel | None]:
    """The model that a record names."""
    held = yield from record(name)
    return StoredModel.decode(held.value) if held else None


def unembedded(wanted: bytes, limit: int) -> Querying[list[Fact]]:
    """Facts without a vector of this model, current or moving in, oldest first."""
    asked = StoredModel.decode(wanted).model
    lacking = []
    for name, held in ((MODEL_RECORD, "f.stored IS NULL"), (INCOMING_RECORD, "f.incoming IS NULL")):
        known = yield from model(name)
        lacking += [held] if _named(known) == asked else []
    clause = " AND ".join(lacking) or "true"
    found = yield Query(
        f"MATCH (f:Fact) WHERE {clause} WITH f ORDER BY f.id LIMIT $limit RETURN {FACT} AS row", {"limit": limit}
    )
    return [fact(row) for row in found]


def waiting(scopes: Sequence[str] | None, limit: int) -> Querying[list[Fact]]:
    """Facts in the inbox, the oldest first."""
    found = yield Query(
        "MATCH (f:Fact) WHERE f.inbox = true AND ($scopes IS NULL OR f.scope IN $scopes) "
        f"WITH f ORDER BY f.id LIMIT $limit RETURN {FACT} AS row",
        {"scopes": None if scopes is None else list(scopes), "limit": limit},
    )
    return [fact(row) for row in found]


def size(place: str) -> Querying[StoreSize]:
    """Counts. Bytes are the server's own affair: 0."""
    [[counts, scopes, server]] = yield joined([Query(_COUNTS), Query(_SCOPES), Query(_SERVER)])
    facts, archived, embedded, waiting, edges, mentions = counts[0]
    details = {"neo4j": str(server[0][0]), "schema": str(schema.VERSION)}
    held = {str(scope): int(count) for scope, count in scopes}
    return StoreSize(facts, archived, embedded, edges, mentions, waiting, held, 0, place, details)


_COUNTS = """
CALL () {
  MATCH (f:Fact)
  RETURN count(f) AS facts, sum(CASE WHEN f.archived THEN 1 ELSE 0 END) AS archived, count(f.stored) AS embedded,
    count(f.inbox) AS waiting
}
CALL () { MATCH ()-[e:LINKS]->() WHERE e.ended IS NULL RETURN count(e) AS edges }
CALL () { MATCH ()-[m:MENTIONS]->() RETURN count(m) AS mentions }
RETURN [facts, archived, embedded, waiting, edges, mentions] AS row
"""
_SCOPES = "MATCH (s:Scope) WHERE s.facts > 0 RETURN [s.scope, s.facts] AS row ORDER BY s.scope"
_SERVER = "CALL dbms.components() YIELD versions, edition RETURN [versions[0] + ' ' + edition] AS row LIMIT 1"


def check() -> Querying[list[str]]:
    """What is wrong with the store, in words."""
    scopes = yield from _twice(_MISCOUNTED_SCOPES)
    names = yield from _twice(_MISCOUNTED_NAMES)
    torn = yield Query("MATCH (a:Fact)-[:LINKS]->(b:Fact) WHERE a.scope <> b.scope RETURN [a.id, b.id] AS row LIMIT 10")
    online = yield Query(_OFFLINE)
    return [
        *(f"scope {scope} counts {told} facts and holds {held}" for scope, told, held in scopes),
        *(f"name {name} of scope {scope} counts its holders wrongly" for scope, name in names),
        *(f"{a} and {b} are connected across scopes" for a, b in torn),
        *(f"the index {name} is {state}" for name, state in online),
    ]


def _twice(cypher: str) -> Querying[list[Row]]:
    """What is found and found again. One statement reads a count and what is counted at two moments, between which others write."""
    found = yield Query(cypher)
    if not found:
        return []
    again = yield Query(cypher)
    return [row for row in again if row in found]


_MISCOUNTED_SCOPES = """
MATCH (s:Scope) WITH s, COUNT { MATCH (f:Fact {scope: s.scope}) } AS held WHERE s.facts <> held
RETURN [s.scope, s.facts, held] AS row LIMIT 10
"""
_MISCOUNTED_NAMES = """
MATCH (n:Name) WHERE n.mentioned <> COUNT { (n)<-[:MENTIONS]-() } OR n.about <> COUNT { (n)<-[:ABOUT]-() }
  OR n.held <> COUNT { MATCH (n)<-[:MENTIONS|ABOUT]-(f) RETURN DISTINCT f }
RETURN [n.scope, n.name] AS row LIMIT 10
"""
_OFFLINE = (
    "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'cofire' AND state <> 'ONLINE' RETURN [name, state] AS row"
)


def _named(known: StoredModel | None) -> Model | None:
    return known.model if known else None
