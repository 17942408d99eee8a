"""Records: small named values with versions, and what changes with the model that one of them names. Inside a transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cofire.embedders.base import StoredModel
from cofire.errors import Conflict
from cofire.model import Record
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.neo4j import facts
from cofire.stores.neo4j.querying import Query, Querying
from cofire.stores.neo4j.telling import SEEN, seen_from_rest

# Vectors that are read and written again together.
PORTION = 2_000


def check_expectations(expects: Mapping[str, int]) -> Querying[None]:
    """Refuse when a record has another version. Each is locked before it is looked at, so that of two who expect the same one wins."""
    if not expects:
        return
    found = yield Query(_LOCKED, {"names": sorted(expects)})
    for name, version in found:
        if version != expects[name]:
            raise Conflict(
                f"The record {name} is at version {version}, not {expects[name]}: somebody else wrote in between.",
                way_out="Read it again and try once more.",
            )


# A record that nobody wrote is there for the lock only; `settle` takes it away again.
_LOCKED = """
CALL () {
  UNWIND $names AS name MERGE (r:Record {name: name}) ON CREATE SET r.version = 0 SET r.locked = true
  RETURN collect(name) AS locked
}
MATCH (r:Record) WHERE r.name IN locked RETURN [r.name, r.version] AS row
"""


def settle(expects: Mapping[str, int]) -> Querying[None]:
    """Unlock, and take records away that were expected not to be there, and still are not."""
    if expects:
        yield Query(_SETTLE, {"names": sorted(expects)})


_SETTLE = """
MATCH (r:Record) WHERE r.name IN $names REMOVE r.locked WITH r WHERE r.version = 0 DELETE r
"""


def write_records(records: Sequence[Record]) -> Querying[None]:
    """Each writing raises a record's version. What was moving in is dropped when another model begins to."""
    if not records:
        return
    moving = yield from facts.model(INCOMING_RECORD)
    before = yield from facts.model(MODEL_RECORD)
    yield Query(_WRITE, {"records": [_written(record) for record in records]})
    after = {record.name: record.value for record in records}
    if INCOMING_RECORD in after and moving and moving.model != StoredModel.decode(after[INCOMING_RECORD]).model:
        yield Query("MATCH (f:Fact) WHERE f.incoming IS NOT NULL REMOVE f.incoming")
    if MODEL_RECORD in after and _moves(before, StoredModel.decode(after[MODEL_RECORD])):
        yield from see_anew(StoredModel.decode(after[MODEL_RECORD]))


_WRITE = """
UNWIND $records AS r MERGE (n:Record {name: r.name}) ON CREATE SET n.version = 0
SET n.version = n.version + 1, n.value = r.value, n.mean = r.mean
"""


def _written(record: Record) -> dict[str, Any]:
    mean = StoredModel.decode(record.value).mean.tolist() if record.name == MODEL_RECORD else None
    return {"name": record.name, "value": record.value, "mean": mean}


def _moves(before: StoredModel | None, after: StoredModel) -> bool:
    return before is None or before.mean.tobytes() != after.mean.tobytes()


def see_anew(model: StoredModel) -> Querying[None]:
    """Every vector as seen from the resting point of a model, for the index."""
    last = ""
    while rows := (yield Query(_VECTORS, {"after": last, "limit": PORTION})):
        last = rows[-1][0]
        seen = [{"id": id, "vector": seen_from_rest(stored, model)} for id, stored in rows]
        yield Query("UNWIND $ids AS id MATCH (f:Fact {id: id}) REMOVE f.vector", {"ids": [row["id"] for row in seen]})
        yield Query(_SEEN, {"seen": [row for row in seen if row["vector"] is not None]})


_VECTORS = """
MATCH (f:Fact) WHERE f.id > $after AND f.stored IS NOT NULL RETURN [f.id, f.stored] AS row ORDER BY f.id LIMIT $limit
"""
_SEEN = f"""
UNWIND $seen AS r MATCH (f:Fact {{id: r.id}}) CALL db.create.setNodeVectorProperty(f, 'vector', {SEEN})
"""


def write_incoming(vectors: Mapping[str, bytes]) -> Querying[None]:
    """Vectors of the model that is moving in."""
    rows = [{"id": id, "vector": vector} for id, vector in vectors.items()]
    yield Query("UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.incoming = r.vector", {"rows": rows})


def adopt(before: StoredModel | None) -> Querying[None]:
    """The vectors that moved in become the store's own; those of another model go, and the samples of them.

    A fact with a vector where there was none can be compared anew, so it waits for a dream again.
    """
    after = yield from facts.model(MODEL_RECORD)
    incoming = yield from facts.model(INCOMING_RECORD)
    if (after and after.model) != (before and before.model):
        yield Query("MATCH (f:Fact) WHERE f.stored IS NOT NULL REMOVE f.stored, f.vector")
        yield Query("MATCH (c:WordCount) SET c.sample = $nothing, c.version = randomUUID()", {"nothing": b""})
    if after and incoming and incoming.model == after.model:
        yield Query(_MOVE_IN)
        yield from see_anew(after)
    yield Query("MATCH (f:Fact) WHERE f.incoming IS NOT NULL REMOVE f.incoming")
    yield Query("MATCH (r:Record {name: $name}) DELETE r", {"name": INCOMING_RECORD})


_MOVE_IN = """
MATCH (f:Fact) WHERE f.incoming IS NOT NULL
SET f.inbox = CASE WHEN f.stored IS NULL THEN true ELSE f.inbox END, f.stored = f.incoming
"""
