"""Insert, merge, update and end edges, singly or in batches. The caller owns the transaction."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import first_unique_rows, sort_order
from cofire.errors import InvalidInput, NotFound
from cofire.index.timestamps import to_microseconds, to_microseconds_or_none
from cofire.model import Edge, EdgeCounts, EdgeWrite
from cofire.stores.edge_batch import EdgeBatch, EdgeColumns, Ints
from cofire.stores.edge_kinds import get_edge_kind
from cofire.stores.sqlite.bulk import BULK_THRESHOLD, build_placeholders, disable_foreign_keys, write_rows

EdgeKey = tuple[int, int, str]
KeyedEdge = tuple[EdgeKey, EdgeWrite]
# Facts by id: their keys and scopes.
FactKeysAndScopes = Mapping[str, tuple[int, int]]
MISSING_FACT = (-1, -1)

LAST_SEEN_COLUMNS = {"graph_edges": "observed", "association_edges": "strengthened"}
INSERT_EDGES = {
    table: f"""
INSERT INTO {table}(source, target, kind, weight, confidence, tags, origin, co_access_count, {seen}, created, version)
VALUES {{}}
ON CONFLICT(source, target, kind) DO NOTHING
"""
    for table, seen in LAST_SEEN_COLUMNS.items()
}
_SELECT_EDGE_KEYS = """
SELECT source, target, kind FROM {} WHERE source IN (SELECT value FROM carray(?)) AND kind IN (SELECT value FROM carray(?))
"""


@dataclass(frozen=True, slots=True)
class OrderedEdgeRows:
    """Edges of some sheaves in the order in which the file keeps them: which sheaf and row each is of, and the keys of its ends."""

    sheaves: Sequence[EdgeColumns]
    sheaf: Ints
    row: Ints
    source: Ints
    target: Ints

    def at(self, which: Any) -> OrderedEdgeRows:
        return OrderedEdgeRows(self.sheaves, self.sheaf[which], self.row[which], self.source[which], self.target[which])

    def places(self) -> Iterator[EdgeKey]:
        return zip(self.source.tolist(), self.target.tolist(), self.kinds(), strict=True)

    def kinds(self) -> list[str]:
        return [self.sheaves[number].kind for number in self.sheaf.tolist()]


def insert_edge_batches(
    connection: apsw.Connection, sheaves: Sequence[EdgeColumns], version: int, now: datetime, *, ends: FactKeysAndScopes
) -> tuple[int, list[KeyedEdge]]:
    """Write those edges that are new. Returns how many these are, and those that are there already. Edges of facts that are gone are
    left out."""
    written, met = 0, list[KeyedEdge]()
    for table in sorted({get_edge_kind(sheaf.kind).table for sheaf in sheaves}):
        swath = _order_batches([sheaf for sheaf in sheaves if get_edge_kind(sheaf.kind).table == table], ends)
        known = _mask_existing(connection, table, swath)
        new, old, before = swath.at(~known), swath.at(known), connection.total_changes()
        with disable_foreign_keys(connection):
            write_rows(connection, INSERT_EDGES[table], _build_insert_rows(new, to_microseconds(now), version))
        written += connection.total_changes() - before
        at = zip(old.places(), old.sheaf.tolist(), old.row.tolist(), strict=True)
        met += [(place, old.sheaves[number].edge(row)) for place, number, row in at]
    return written, met


def _order_batches(sheaves: Sequence[EdgeColumns], ends: FactKeysAndScopes) -> OrderedEdgeRows:
    """So that the pages of the file are filled one after the other."""
    sheaves = sorted(sheaves, key=lambda sheaf: sheaf.kind)
    laid = [_resolve_batch(sheaf, ends) for sheaf in sheaves]
    sheaf = np.repeat(np.arange(len(sheaves)), [len(rows) for rows, _, _ in laid])
    row, source, target = (np.concatenate(column) for column in zip(*laid, strict=True))
    return OrderedEdgeRows(sheaves, sheaf, row, source, target).at(sort_order(source, target, sheaf))


def _resolve_batch(sheaf: EdgeColumns, ends: FactKeysAndScopes) -> tuple[Ints, Ints, Ints]:
    """The rows of a sheaf whose facts are there, and the keys of these."""
    keys, scopes = np.array([ends.get(id, MISSING_FACT) for id in sheaf.ids], np.int64).reshape(-1, 2).T
    rows = np.flatnonzero((keys[sheaf.source] >= 0) & (keys[sheaf.target] >= 0))
    source, target = sheaf.source[rows], sheaf.target[rows]
    if (scopes[source] != scopes[target]).any():
        raise InvalidInput("The two facts are of different scopes.", way_out="Connect facts of one scope.")
    return rows, keys[source], keys[target]


def _mask_existing(connection: apsw.Connection, table: str, swath: OrderedEdgeRows) -> NDArray[np.bool_]:
    kinds = {sheaf.kind for sheaf in swath.sheaves}
    known = fetch_existing_keys(connection, table, swath.source[first_unique_rows(swath.source)].tolist(), kinds)
    if not known:
        return np.zeros(len(swath.row), np.bool_)
    return np.array([place in known for place in swath.places()], np.bool_)


def fetch_existing_keys(
    connection: apsw.Connection, table: str, sources: Iterable[int], kinds: Collection[str]
) -> set[EdgeKey]:
    """The places of edges that are there already, from these facts and of these kinds."""
    keys = array("q", sorted(sources))
    if not keys:
        return set()
    found: Any = connection.execute(_SELECT_EDGE_KEYS.format(table), (apsw.carray(keys), apsw.carray(tuple(kinds))))
    return set(found)


def _build_insert_rows(swath: OrderedEdgeRows, made: int, version: int) -> Iterator[tuple[Any, ...]]:
    """As INSERT takes them, made one by one as they are written."""
    begins = np.cumsum([0, *map(len, swath.sheaves)])
    at = begins[swath.sheaf] + swath.row
    weight, confidence = (
        np.concatenate([getattr(sheaf, name) for sheaf in swath.sheaves])[at].tolist()
        for name in ("weight", "confidence")
    )
    tags = {
        first + row: tags
        for first, sheaf in zip(begins.tolist(), swath.sheaves, strict=False)
        for row, tags in sheaf.tags.items()
    }
    told = (encode_tags(tags[one]) if one in tags else None for one in at.tolist())
    origins = (swath.sheaves[number].origin for number in swath.sheaf.tolist())
    constant = (repeat(0), repeat(None), repeat(made), repeat(version))
    return zip(
        swath.source.tolist(),
        swath.target.tolist(),
        swath.kinds(),
        weight,
        confidence,
        told,
        origins,
        *constant,
        strict=False,
    )


def encode_tags(tags: Collection[str]) -> str | None:
    """Tags as the file keeps them."""
    return json.dumps(sorted(tags)) if tags else None


CONFIDENCE_STEP = 0.05
EDGE_COLUMN_COUNT = 11
_INSERT_ONE_EDGE = {table: sql.format(build_placeholders(EDGE_COLUMN_COUNT, 1)) for table, sql in INSERT_EDGES.items()}


def write_follows_edges(
    connection: apsw.Connection, keys: Sequence[int], reach: int, version: int, now: datetime
) -> int:
    """Link new facts with the last few of their session, the nearer the stronger."""
    connection.execute(_INSERT_FOLLOWS_EDGES, (apsw.carray(array("q", keys)), reach, to_microseconds(now), version))
    return int(connection.changes())


_INSERT_FOLLOWS_EDGES = """
INSERT OR IGNORE INTO graph_edges(source, target, kind, weight, confidence, tags, origin, created, observed, version)
SELECT before.key, new.key, 'follows', 1.0 / (new.position - before.position), 1.0,
  (SELECT nullif(json_group_array(tag), '[]') FROM
    (SELECT tag FROM tags WHERE fact = new.key INTERSECT SELECT tag FROM tags WHERE fact = before.key)),
  'session', ?3, ?3, ?4
FROM carray(?1) c CROSS JOIN facts new ON new.key = c.value
CROSS JOIN facts before ON before.scope = new.scope AND before.session = new.session
  AND before.position BETWEEN new.position - ?2 AND new.position - 1
"""


def write_edges(
    connection: apsw.Connection,
    edges: Sequence[EdgeWrite],
    ended: Sequence[Edge],
    version: int,
    now: datetime,
    *,
    ends: FactKeysAndScopes,
    fresh: Container[str],
) -> EdgeCounts:
    """Edges come, change and go; the counts are of rows really touched. `ends` are the facts that the new ones connect, and `fresh`
    are facts that the same transaction has written."""
    if not edges and not ended:
        return EdgeCounts()
    gone = sum(_end_edge(connection, edge, version, now) for edge in ended)
    bound, single = (
        (edges.sheaves, edges.single) if isinstance(edges, EdgeBatch) and len(edges) >= BULK_THRESHOLD else ((), edges)
    )
    sown, known = insert_edge_batches(connection, bound, version, now, ends=ends)
    placed = [(place, new) for new in single if (place := _resolve_edge_key(new, ends)) is not None]
    if not bound and len(placed) < BULK_THRESHOLD and all(_is_certainly_new(new, fresh) for _, new in placed):
        return EdgeCounts(_insert_new_edges(connection, placed, version, now), 0, gone)
    met = placed if len(placed) < BULK_THRESHOLD else _insert_missing_edges(connection, placed, version, now)
    outcomes = [_write_edge(connection, new, place, version, now) for place, new in (*known, *met)]
    return EdgeCounts(sown + len(placed) - len(met) + outcomes.count("new"), outcomes.count("changed"), gone)


def _is_certainly_new(new: EdgeWrite, fresh: Container[str]) -> bool:
    """Whether an edge can meet none but one that has just come, before which it stands back: then there is nothing to look at."""
    return new.mode == "skip" and (new.edge.source in fresh or new.edge.target in fresh)


def _insert_new_edges(connection: apsw.Connection, placed: Sequence[KeyedEdge], version: int, now: datetime) -> int:
    """Write edges that are first between their facts; how many were new."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for place, new in placed:
        rows.setdefault(get_edge_kind(place[2]).table, []).append(
            _build_edge_row(new, place, version, to_microseconds(now))
        )
    before = connection.total_changes()
    for table, some in rows.items():
        connection.executemany(_INSERT_ONE_EDGE[table], some)
    return connection.total_changes() - before


def _insert_missing_edges(
    connection: apsw.Connection, placed: Sequence[KeyedEdge], version: int, now: datetime
) -> list[KeyedEdge]:
    """Write those of many edges that are new; what is left was there already, or came twice."""
    left, made = list[KeyedEdge](), to_microseconds(now)
    kinds = {place[2] for place, _ in placed}
    for table in {get_edge_kind(kind).table for kind in kinds}:
        some = _sort_edges(placed, sorted(kind for kind in kinds if get_edge_kind(kind).table == table))
        sources, rows, last = {place[0] for place, _ in some}, list[tuple[Any, ...]](), None
        known = fetch_existing_keys(connection, table, sources, kinds)
        for one in some:
            place, new = one
            if place == last or place in known:
                left.append(one)
            else:
                last = place
                rows.append(_build_edge_row(new, place, version, made))
        with disable_foreign_keys(connection):
            write_rows(connection, INSERT_EDGES[table], rows)
    return left


def _sort_edges(placed: Sequence[KeyedEdge], kinds: Sequence[str]) -> list[KeyedEdge]:
    """Those of these kinds in the order in which the file keeps them, so that its pages are filled one after the other. Numbers are
    sorted many times as fast as tuples of them."""
    number = {kind: at for at, kind in enumerate(kinds)}
    some = [one for one in placed if one[0][2] in number]
    source, target = (np.array([one[0][end] for one in some], np.int64) for end in (0, 1))
    kind = np.array([number[one[0][2]] for one in some], np.int64)
    return [some[at] for at in sort_order(source, target, kind).tolist()]


def _resolve_edge_key(new: EdgeWrite, ends: FactKeysAndScopes) -> EdgeKey | None:
    """The keys of its ends, and its kind; None for one that memory made for itself, and that goes with its fact."""
    source, target = ends.get(new.edge.source), ends.get(new.edge.target)
    if source is None or target is None:
        if new.own:
            return None
        missing = new.edge.source if source is None else new.edge.target
        raise NotFound(f"No fact has the id {missing}.", way_out="List the ids with: cofire list")
    if source[1] != target[1]:
        raise InvalidInput("The two facts are of different scopes.", way_out="Connect facts of one scope.")
    return source[0], target[0], new.edge.kind


def _build_edge_row(new: EdgeWrite, place: EdgeKey, version: int, made: int) -> tuple[Any, ...]:
    edge, seen = new.edge, new.edge.strengthened
    strengthened = None if seen is None else to_microseconds(seen)
    return (*place, *_encode_edge_values(edge), edge.co_access_count, strengthened, made, version)


def fetch_keys_and_scopes(connection: apsw.Connection, ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Key and scope of facts; unknown ones are left out."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key, f.scope FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    found: Any = connection.execute(sql, (apsw.carray(tuple(sorted(ids))),))
    return {id: (key, scope) for id, key, scope in found}


def _write_edge(connection: apsw.Connection, new: EdgeWrite, place: EdgeKey, version: int, now: datetime) -> str:
    table, row = get_edge_kind(new.edge.kind).table, _build_edge_row(new, place, version, to_microseconds(now))
    connection.execute(_INSERT_ONE_EDGE[table], row)
    if connection.changes():
        return "new"
    known = connection.execute(_SELECT_EDGE.format(table, LAST_SEEN_COLUMNS[table]), place).get
    if known[0] is not None:
        _update_edge(connection, new, known[1], _encode_edge_values(new.edge), version=version, now=now)
        return "new"
    return _merge_existing(connection, known[1:], new, version, now)


def _merge_existing(connection: apsw.Connection, known: Any, new: EdgeWrite, version: int, now: datetime) -> str:
    """The edge is there already: do what its mode says."""
    key, weight, confidence, tags, origin, count, seen = known
    if new.mode == "error":
        raise InvalidInput(
            f"{new.edge.source} and {new.edge.target} are connected by {new.edge.kind} already.",
            way_out="Use mode reinforce, update or skip.",
        )
    if new.mode == "skip":
        return "same"
    if new.mode == "reinforce":
        values = (weight, None if confidence is None else min(1.0, confidence + CONFIDENCE_STEP), tags, origin)
    else:
        values = _encode_edge_values(new.edge)
    more = new.edge.co_access_count > count
    timed = to_microseconds_or_none(new.edge.strengthened) not in (None, seen)
    if values == (weight, confidence, tags, origin) and new.mode != "reinforce" and not more and not timed:
        return "same"
    _update_edge(connection, new, key, values, version=version, now=now)
    return "changed"


def _update_edge(
    connection: apsw.Connection, new: EdgeWrite, key: int, values: Any, *, version: int, now: datetime
) -> None:
    """Let other values hold. What use counted of an edge stays, or comes with one that was counted elsewhere."""
    table = get_edge_kind(new.edge.kind).table
    seen = to_microseconds(new.edge.strengthened or now)
    bound = (*values, new.edge.co_access_count, seen, version, key)
    connection.execute(_UPDATE_EDGE.format(table, LAST_SEEN_COLUMNS[table]), bound)


def _encode_edge_values(edge: Edge) -> tuple[float | None, float | None, str | None, str]:
    return edge.weight, edge.confidence, encode_tags(edge.tags), edge.origin


_SELECT_EDGE = """
SELECT ended, key, weight, confidence, tags, origin, co_access_count, {1} FROM {0} WHERE source = ? AND target = ? AND kind = ?
"""
_UPDATE_EDGE = """
UPDATE {} SET weight = ?, confidence = ?, tags = ?, origin = ?, co_access_count = max(co_access_count, ?), {} = ?, version = ?,
  ended = NULL WHERE key = ?
"""


def _end_edge(connection: apsw.Connection, edge: Edge, version: int, now: datetime) -> int:
    """An edge that ends is seen no more, but its row stays: it may be written again."""
    connection.execute(
        f"UPDATE {get_edge_kind(edge.kind).table} SET ended = ?, version = ? WHERE ended IS NULL AND kind = ? "
        "AND source = (SELECT key FROM facts WHERE id = ?) AND target = (SELECT key FROM facts WHERE id = ?)",
        (to_microseconds(now), version, edge.kind, edge.source, edge.target),
    )
    return int(connection.changes())
