"""Versioned records: optimistic reads, version checks, and vectors of a changed model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cofire.embedders.base import StoredModel
from cofire.errors import Conflict
from cofire.model import StoreRecord
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, StaleRecord
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, QueryStepsFactory, Rows, T, join_queries
from cofire.stores.neo4j.facts import DECODED_VECTOR, fetch_model, fetch_record, quantise_vector
from cofire.stores.neo4j.prefetch import Prefetch

# Vectors that are read and written again together.
REBUILD_BATCH_SIZE = 2_000


def check_record_versions(expects: Mapping[str, int]) -> QuerySteps[None]:
    """Raise Conflict when a record has another version than expected. Each record is locked before it
    is read, so that one of two concurrent writers wins."""
    if not expects:
        return
    found = yield CypherQuery(_LOCK_RECORDS, {"names": sorted(expects)})
    for name, version in found:
        if version != expects[name]:
            raise Conflict(
                f"The record {name} is at version {version}, not {expects[name]}: somebody else wrote in between.",
                way_out="Read it again and try once more.",
            )


# A record without a value exists for the lock only; `unlock_records` deletes it.
_LOCK_RECORDS = """
CALL () {
  UNWIND $names AS name MERGE (r:Record {name: name}) ON CREATE SET r.version = 0 SET r.locked = true
  RETURN collect(name) AS locked
}
MATCH (r:Record) WHERE r.name IN locked RETURN [r.name, r.version] AS row
"""


def unlock_records(expects: Mapping[str, int]) -> QuerySteps[None]:
    """Unlock, and delete records that exist for the lock only."""
    if expects:
        yield CypherQuery(_UNLOCK_RECORDS, {"names": sorted(expects)})


_UNLOCK_RECORDS = """
MATCH (r:Record) WHERE r.name IN $names REMOVE r.locked WITH r WHERE r.version = 0 DELETE r
"""


def write_records(records: Sequence[StoreRecord]) -> QuerySteps[None]:
    """Write records and raise their versions. A new incoming model drops the vectors of the last one."""
    if not records:
        return
    moving = yield from fetch_model(INCOMING_RECORD)
    before = yield from fetch_model(MODEL_RECORD)
    yield CypherQuery(_WRITE_RECORDS, {"records": [_build_record_row(record) for record in records]})
    after = {record.name: record.value for record in records}
    if INCOMING_RECORD in after and moving and moving.model != StoredModel.decode(after[INCOMING_RECORD]).model:
        yield CypherQuery("MATCH (f:Fact) WHERE f.incoming IS NOT NULL REMOVE f.incoming")
    if MODEL_RECORD in after and _has_new_mean(before, StoredModel.decode(after[MODEL_RECORD])):
        yield from rebuild_index_vectors(StoredModel.decode(after[MODEL_RECORD]))


_WRITE_RECORDS = """
UNWIND $records AS r MERGE (n:Record {name: r.name}) ON CREATE SET n.version = 0
SET n.version = n.version + 1, n.value = r.value, n.mean = r.mean
"""


def _build_record_row(record: StoreRecord) -> dict[str, Any]:
    mean = StoredModel.decode(record.value).mean.tolist() if record.name == MODEL_RECORD else None
    return {"name": record.name, "value": record.value, "mean": mean}


def _has_new_mean(before: StoredModel | None, after: StoredModel) -> bool:
    return before is None or before.mean.tobytes() != after.mean.tobytes()


def rebuild_index_vectors(model: StoredModel) -> QuerySteps[None]:
    """Every vector as seen from the resting point of a model, for the index."""
    last = ""
    while rows := (yield CypherQuery(_FETCH_STORED_VECTORS, {"after": last, "limit": REBUILD_BATCH_SIZE})):
        last = rows[-1][0]
        seen = [{"id": id, "vector": quantise_vector(stored, model)} for id, stored in rows]
        yield CypherQuery(
            "UNWIND $ids AS id MATCH (f:Fact {id: id}) REMOVE f.vector", {"ids": [row["id"] for row in seen]}
        )
        yield CypherQuery(_SET_INDEX_VECTORS, {"seen": [row for row in seen if row["vector"] is not None]})


_FETCH_STORED_VECTORS = """
MATCH (f:Fact) WHERE f.id > $after AND f.stored IS NOT NULL RETURN [f.id, f.stored] AS row ORDER BY f.id LIMIT $limit
"""
_SET_INDEX_VECTORS = f"""
UNWIND $seen AS r MATCH (f:Fact {{id: r.id}}) CALL db.create.setNodeVectorProperty(f, 'vector', {DECODED_VECTOR})
"""


def write_incoming_vectors(vectors: Mapping[str, bytes]) -> QuerySteps[None]:
    """Vectors of the model that is moving in."""
    rows = [{"id": id, "vector": vector} for id, vector in vectors.items()]
    yield CypherQuery("UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.incoming = r.vector", {"rows": rows})


def adopt_incoming_vectors(before: StoredModel | None) -> QuerySteps[None]:
    """The vectors that moved in become the store's own; those of another model go, and the samples of them.

    A fact with a vector where there was none can be compared anew, so it waits for a dream again.
    """
    after = yield from fetch_model(MODEL_RECORD)
    incoming = yield from fetch_model(INCOMING_RECORD)
    if (after and after.model) != (before and before.model):
        yield CypherQuery("MATCH (f:Fact) WHERE f.stored IS NOT NULL REMOVE f.stored, f.vector")
        yield CypherQuery("MATCH (c:WordCount) SET c.sample = $nothing, c.version = randomUUID()", {"nothing": b""})
    if after and incoming and incoming.model == after.model:
        yield CypherQuery(_PROMOTE_INCOMING_VECTORS)
        yield from rebuild_index_vectors(after)
    yield CypherQuery("MATCH (f:Fact) WHERE f.incoming IS NOT NULL REMOVE f.incoming")
    yield CypherQuery("MATCH (r:Record {name: $name}) DELETE r", {"name": INCOMING_RECORD})


_PROMOTE_INCOMING_VECTORS = """
MATCH (f:Fact) WHERE f.incoming IS NOT NULL
SET f.inbox = CASE WHEN f.stored IS NULL THEN true ELSE f.inbox END, f.stored = f.incoming
"""


SeenRecords = dict[str, StoreRecord | None]


def fetch_and_remember_record(seen: SeenRecords, name: str) -> QuerySteps[StoreRecord | None]:
    """A record as it is, remembered for later optimistic reads."""
    seen[name] = yield from fetch_record(name)
    return seen[name]


def confirm_records(seen: SeenRecords, brought: Prefetch) -> QuerySteps[None]:
    """Check whether the records read optimistically are current."""
    _check_assumed_records(seen, brought, (yield _build_records_query(brought)))


def _build_records_query(brought: Prefetch) -> CypherQuery:
    return CypherQuery(_FETCH_RECORDS, {"names": sorted(brought.assumed)})


_FETCH_RECORDS = """
UNWIND $names AS name MATCH (r:Record {name: name}) WHERE r.value IS NOT NULL RETURN [r.name, r.value, r.version] AS row
"""


def _check_assumed_records(seen: SeenRecords, brought: Prefetch, found: Rows) -> None:
    """Raise StaleRecord for records that changed, and forget them, so that the next read is exact."""
    now = {name: StoreRecord(name, bytes(value), version) for name, value, version in found}
    others = [name for name, record in brought.assumed.items() if now.get(name) != record]
    brought.assumed.clear()
    for name in others:
        seen.pop(name, None)
    if others:
        raise StaleRecord(*others)


def confirm_with_read(seen: SeenRecords, brought: Prefetch, start: QueryStepsFactory[T]) -> QuerySteps[T]:
    """Run a query generator, and check optimistic records in the round trip of its first query."""
    steps = start()
    try:
        query = next(steps)
        [[rows, found]] = yield join_queries([query, _build_records_query(brought)])
        _check_assumed_records(seen, brought, found)
        while True:
            rows = yield steps.send(rows)
    except StopIteration as done:
        answer: T = done.value
        return answer


def confirm_before_write(seen: SeenRecords, brought: Prefetch, start: QueryStepsFactory[T]) -> QuerySteps[T]:
    """Check optimistic records, then run a write. When the driver retries it, they are checked already."""
    if brought.assumed:
        yield from confirm_records(seen, brought)
    return (yield from start())
