"""Insert, merge, learn and end edges. The caller owns the transaction."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import sort_order
from cofire.index.timestamps import from_microseconds, to_microseconds, to_microseconds_or_none
from cofire.model import Edge, EdgeCounts, EdgeWrite
from cofire.stores.edge_batch import NO_USE, EdgeBatch, EdgeLabel, Ints
from cofire.stores.edge_kinds import BEHAVIOURAL_TABLE, STRUCTURAL_TABLE, get_edge_kind
from cofire.stores.learning_rows import EdgeAdjustment
from cofire.stores.rules import (
    EdgeChanges,
    EdgeKey,
    StoredEdge,
    different_scopes_error,
    edge_key,
    make_follows_edge,
    missing_fact_error,
)
from cofire.stores.sqlite import fact_sql
from cofire.stores.sqlite.bulk import BULK_THRESHOLD, disable_foreign_keys, write_rows

# Keys and scopes of facts by id.
FactKeysAndScopes = Mapping[str, tuple[int, int]]
MISSING_FACT = (-1, -1)

# The column that tells when an edge of a table was last observed or strengthened.
LAST_SEEN_COLUMNS = {STRUCTURAL_TABLE: "observed", BEHAVIOURAL_TABLE: "strengthened"}

# An edge that is written again keeps its moment of creation.
_UPSERT_EDGES = {
    table: f"""
INSERT INTO {table}(source, target, kind, weight, confidence, tags, origin, co_access_count, {seen}, created, version)
VALUES {{}}
ON CONFLICT(source, target, kind) DO UPDATE SET weight = excluded.weight, confidence = excluded.confidence,
  tags = excluded.tags, origin = excluded.origin, co_access_count = excluded.co_access_count, {seen} = excluded.{seen},
  version = excluded.version, ended = NULL
"""
    for table, seen in LAST_SEEN_COLUMNS.items()
}
_SELECT_EDGE_KEYS = """
SELECT source, target, kind FROM {} WHERE source IN (SELECT value FROM carray(?)) AND kind IN (SELECT value FROM carray(?))
"""
# The plus keeps from looking up each source with each target.
_SELECT_STORED_EDGES = """
SELECT s.id, t.id, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.{seen}, e.ended
FROM {table} e JOIN facts s ON s.key = e.source JOIN facts t ON t.key = e.target
WHERE e.source IN (SELECT value FROM carray(?1)) AND +e.target IN (SELECT value FROM carray(?2))
  AND e.kind IN (SELECT value FROM carray(?3))
"""
_END_EDGE = """
UPDATE {} SET ended = ?, version = ? WHERE ended IS NULL AND kind = ?
AND source = (SELECT key FROM facts WHERE id = ?) AND target = (SELECT key FROM facts WHERE id = ?)
"""


@dataclass(frozen=True, slots=True)
class KeyedEdges:
    """Edges of a batch by row, with the keys of their facts, in the order in which the file keeps them."""

    batch: EdgeBatch
    row: Ints
    source: Ints
    target: Ints
    # Numbers among the kinds of the batch, in their order.
    kind: Ints
    kinds: Sequence[str]

    def at(self, which: Any) -> KeyedEdges:
        return KeyedEdges(
            self.batch, self.row[which], self.source[which], self.target[which], self.kind[which], self.kinds
        )

    def edge_keys(self) -> Iterator[tuple[int, int, str]]:
        kinds = [self.kinds[number] for number in self.kind.tolist()]
        return zip(self.source.tolist(), self.target.tolist(), kinds, strict=True)

    def repeats(self) -> NDArray[np.bool_]:
        """Which edges have the key of the edge before them."""
        is_repeat = np.zeros(len(self.row), np.bool_)
        is_repeat[1:] = (
            (self.source[1:] == self.source[:-1])
            & (self.target[1:] == self.target[:-1])
            & (self.kind[1:] == self.kind[:-1])
        )
        return is_repeat


def write_edges(
    connection: apsw.Connection,
    batch: EdgeBatch,
    version: int,
    now: datetime,
    *,
    facts: FactKeysAndScopes,
) -> EdgeCounts:
    """Insert new edges and merge those that exist. `facts` are those that the edges connect, as far as they are stored."""
    counts = EdgeCounts()
    if not len(batch):
        return counts
    keyed = _resolve_facts(batch, facts)
    tables = np.array([get_edge_kind(kind).table == STRUCTURAL_TABLE for kind in keyed.kinds])
    is_structural = tables[keyed.kind]
    for table, is_of_table in ((STRUCTURAL_TABLE, is_structural), (BEHAVIOURAL_TABLE, ~is_structural)):
        if is_of_table.any():
            counts += _write_table(connection, table, keyed.at(is_of_table), version, now, facts=facts)
    return counts


def _write_table(
    connection: apsw.Connection,
    table: str,
    keyed: KeyedEdges,
    version: int,
    now: datetime,
    *,
    facts: FactKeysAndScopes,
) -> EdgeCounts:
    is_new = ~(keyed.repeats() | _mask_existing(connection, table, keyed))
    inserted, met = keyed.at(is_new), keyed.at(~is_new)
    _upsert_edges(connection, table, _build_batch_rows(inserted, to_microseconds(now), version), len(inserted.row))
    if not len(met.row):
        return EdgeCounts(new=len(inserted.row))
    stored = _fetch_stored_edges(connection, table, met.source.tolist(), met.target.tolist(), keyed.kinds)
    changes = EdgeChanges({id: scope for id, (_, scope) in facts.items()}, stored, now)
    for row in met.row.tolist():
        changes.write(keyed.batch.write_at(row))
    _write_changes(connection, changes, version, now, facts=facts)
    return changes.counts + EdgeCounts(new=len(inserted.row))


def _resolve_facts(batch: EdgeBatch, facts: FactKeysAndScopes) -> KeyedEdges:
    """The edges whose facts are stored. Memory's own edges of a missing fact are left out, others are refused."""
    keys, scopes = np.array([facts.get(id, MISSING_FACT) for id in batch.ids], np.int64).reshape(-1, 2).T
    is_stored = (keys[batch.source] >= 0) & (keys[batch.target] >= 0)
    is_own = np.array([label.own for label in batch.labels], np.bool_)[batch.label]
    refused = np.flatnonzero(~is_stored & ~is_own)
    if len(refused):
        ends = (batch.source[refused[0]], batch.target[refused[0]])
        raise missing_fact_error(next(batch.ids[end] for end in ends if keys[end] < 0))
    row = np.flatnonzero(is_stored)
    source, target = batch.source[row], batch.target[row]
    if (scopes[source] != scopes[target]).any():
        raise different_scopes_error()
    kinds = sorted({label.kind for label in batch.labels})
    kind = np.array([kinds.index(label.kind) for label in batch.labels], np.int64)[batch.label[row]]
    keyed = KeyedEdges(batch, row, keys[source], keys[target], kind, kinds)
    # In the order of the unique index its pages are filled one after the other.
    return keyed.at(sort_order(keyed.source, keyed.target, kind))


def _mask_existing(connection: apsw.Connection, table: str, keyed: KeyedEdges) -> NDArray[np.bool_]:
    """Which edges the table has, ended ones included."""
    sources = array("q", sorted(set(keyed.source.tolist())))
    kinds = tuple(keyed.kinds[number] for number in set(keyed.kind.tolist()))
    rows: Any = connection.execute(_SELECT_EDGE_KEYS.format(table), (apsw.carray(sources), apsw.carray(kinds)))
    existing = set(rows)
    if not existing:
        return np.zeros(len(keyed.row), np.bool_)
    return np.array([key in existing for key in keyed.edge_keys()], np.bool_)


def _build_batch_rows(keyed: KeyedEdges, created: int, version: int) -> Iterator[tuple[Any, ...]]:
    """Edges as rows of the table, made one by one as they are written. SQLite stores NaN as NULL."""
    batch = keyed.batch
    labels: list[EdgeLabel] = [batch.labels[number] for number in batch.label[keyed.row].tolist()]
    weight, confidence = batch.weight[keyed.row].tolist(), batch.confidence[keyed.row].tolist()
    for at, (row, source, target) in enumerate(
        zip(keyed.row.tolist(), keyed.source.tolist(), keyed.target.tolist(), strict=True)
    ):
        label = labels[at]
        tags = encode_tags(batch.tags[row]) if row in batch.tags else None
        count, strengthened = batch.use.get(row, NO_USE)
        seen = None if strengthened is None else to_microseconds(strengthened)
        yield (
            source,
            target,
            label.kind,
            weight[at],
            confidence[at],
            tags,
            label.origin,
            count,
            seen,
            created,
            version,
        )


def _upsert_edges(connection: apsw.Connection, table: str, rows: Iterable[tuple[Any, ...]], count: int) -> None:
    # The facts at the ends were looked up in the same transaction; SQLite would look up each of them once more.
    with disable_foreign_keys(connection) if count >= BULK_THRESHOLD else nullcontext():
        write_rows(connection, _UPSERT_EDGES[table], rows)


def _fetch_stored_edges(
    connection: apsw.Connection, table: str, sources: Iterable[int], targets: Iterable[int], kinds: Collection[str]
) -> dict[EdgeKey, StoredEdge]:
    """The edges of these kinds from one of the sources to one of the targets."""
    sql = _SELECT_STORED_EDGES.format(table=table, seen=LAST_SEEN_COLUMNS[table])
    bound = [apsw.carray(array("q", sorted(set(keys)))) for keys in (sources, targets)]
    stored: dict[EdgeKey, StoredEdge] = {}
    for *columns, ended in connection.execute(sql, (*bound, apsw.carray(tuple(kinds)))):
        edge = decode_edge(columns)
        stored[edge_key(edge)] = StoredEdge(edge, ended is not None)
    return stored


def decode_edge(row: Sequence[Any]) -> Edge:
    """An edge from its ids, kind, weight, confidence, tags, origin, use count and last observation."""
    source, target, kind, weight, confidence, tags, origin, count, seen = row
    return Edge(
        source,
        target,
        kind,
        weight,
        confidence,
        fact_sql.decode_tags(tags) if tags else (),
        origin,
        co_access_count=count,
        strengthened=from_microseconds(seen),
    )


def encode_tags(tags: Collection[str]) -> str | None:
    """Tags as the file keeps them."""
    return json.dumps(sorted(tags)) if tags else None


def _write_changes(
    connection: apsw.Connection, changes: EdgeChanges, version: int, now: datetime, *, facts: FactKeysAndScopes
) -> None:
    """Write edges that rules have changed."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for stored in changes.written.values():
        edge = stored.edge
        row = (
            facts[edge.source][0],
            facts[edge.target][0],
            edge.kind,
            edge.weight,
            edge.confidence,
            encode_tags(edge.tags),
            edge.origin,
            edge.co_access_count,
            to_microseconds_or_none(edge.strengthened),
            to_microseconds(now),
            version,
        )
        rows.setdefault(get_edge_kind(edge.kind).table, []).append(row)
    for table, table_rows in rows.items():
        _upsert_edges(connection, table, table_rows, len(table_rows))


def end_edges(connection: apsw.Connection, edges: Iterable[Edge], version: int, now: datetime) -> int:
    """End edges, and return how many there were. Their rows stay: an edge may be written again."""
    before = connection.total_changes()
    for edge in edges:
        sql = _END_EDGE.format(get_edge_kind(edge.kind).table)
        connection.execute(sql, (to_microseconds(now), version, edge.kind, edge.source, edge.target))
    return connection.total_changes() - before


def apply_lessons(
    connection: apsw.Connection, lessons: Sequence[EdgeAdjustment], version: int, now: datetime
) -> EdgeCounts:
    """Strengthen and weaken edges; `EdgeChanges.learn` is the rule."""
    if not lessons:
        return EdgeCounts()
    facts = fetch_keys_and_scopes(connection, {id for lesson in lessons for id in (lesson.source, lesson.target)})
    keys = [key for key, _ in facts.values()]
    kinds = {lesson.kind for lesson in lessons}
    stored: dict[EdgeKey, StoredEdge] = {}
    for table in {get_edge_kind(kind).table for kind in kinds}:
        stored |= _fetch_stored_edges(connection, table, keys, keys, kinds)
    tags = fact_sql.fetch_tags(connection, np.array(keys, np.int64))
    changes = EdgeChanges(
        {id: scope for id, (_, scope) in facts.items()},
        stored,
        now,
        tags={id: tags.get(key, ()) for id, (key, _) in facts.items()},
    )
    for lesson in lessons:
        changes.learn(lesson)
    _write_changes(connection, changes, version, now, facts=facts)
    return changes.counts


_SELECT_PRECEDING_TURNS = """
SELECT before.id, new.id, new.position - before.position,
  (SELECT nullif(json_group_array(tag), '[]') FROM
    (SELECT tag FROM tags WHERE fact = new.key INTERSECT SELECT tag FROM tags WHERE fact = before.key))
FROM carray(?1) c CROSS JOIN facts new ON new.key = c.value
CROSS JOIN facts before ON before.scope = new.scope AND before.session = new.session
  AND before.position BETWEEN new.position - ?2 AND new.position - 1
"""


def find_follows_edges(connection: apsw.Connection, keys: Sequence[int], reach: int, now: datetime) -> list[EdgeWrite]:
    """Edges from the last few turns of a session to new ones."""
    rows: Any = connection.execute(_SELECT_PRECEDING_TURNS, (apsw.carray(array("q", keys)), reach))
    return [
        make_follows_edge(before, new, distance, fact_sql.decode_tags(tags) if tags else (), now)
        for before, new, distance, tags in rows
    ]


def fetch_keys_and_scopes(connection: apsw.Connection, ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Keys and scopes of facts by id; unknown ids are left out."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key, f.scope FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    rows: Any = connection.execute(sql, (apsw.carray(tuple(sorted(ids))),))
    return {id: (key, scope) for id, key, scope in rows}
