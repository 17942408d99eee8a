"""Writing edges: they come, are met, change and end, inside somebody else's transaction."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Container, Sequence
from datetime import datetime
from typing import Any

import apsw
import numpy as np

from cofire.dynamics.ordering import in_order
from cofire.errors import InvalidInput, NotFound
from cofire.kinds import kind_of
from cofire.model import Edge, EdgeCounts, NewEdge
from cofire.sheaves import Sheaves
from cofire.stores.index.moments import stamp, stamp_or_none
from cofire.stores.sqlite.in_bulk import MANY, trusted, values, write_rows
from cofire.stores.sqlite.sheaf_writing import INSERT, SEEN, Ends, Place, Placed, known_places, told_tags, write_sheaves

CONFIDENCE_STEP = 0.05
COLUMNS = 11
_INSERT_ONE = {table: sql.format(values(COLUMNS, 1)) for table, sql in INSERT.items()}


def write_follows(connection: apsw.Connection, keys: Sequence[int], reach: int, version: int, now: datetime) -> int:
    """Link new facts with the last few of their session, the nearer the stronger."""
    connection.execute(_FOLLOWS, (apsw.carray(array("q", keys)), reach, stamp(now), version))
    return int(connection.changes())


_FOLLOWS = """
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
    edges: Sequence[NewEdge],
    ended: Sequence[Edge],
    version: int,
    now: datetime,
    *,
    ends: Ends,
    fresh: Container[str],
) -> EdgeCounts:
    """Edges come, change and go; the counts are of rows really touched. `ends` are the facts that the new ones connect, and `fresh`
    are facts that the same transaction has written."""
    if not edges and not ended:
        return EdgeCounts()
    gone = sum(_end_edge(connection, edge, version, now) for edge in ended)
    bound, single = (edges.sheaves, edges.single) if isinstance(edges, Sheaves) and len(edges) >= MANY else ((), edges)
    sown, known = write_sheaves(connection, bound, version, now, ends=ends)
    placed = [(place, new) for new in single if (place := _place(new, ends)) is not None]
    if not bound and len(placed) < MANY and all(_is_first(new, fresh) for _, new in placed):
        return EdgeCounts(_write_first(connection, placed, version, now), 0, gone)
    met = placed if len(placed) < MANY else _met(connection, placed, version, now)
    outcomes = [_write_edge(connection, new, place, version, now) for place, new in (*known, *met)]
    return EdgeCounts(sown + len(placed) - len(met) + outcomes.count("new"), outcomes.count("changed"), gone)


def _is_first(new: NewEdge, fresh: Container[str]) -> bool:
    """Whether an edge can meet none but one that has just come, before which it stands back: then there is nothing to look at."""
    return new.mode == "skip" and (new.edge.source in fresh or new.edge.target in fresh)


def _write_first(connection: apsw.Connection, placed: Sequence[Placed], version: int, now: datetime) -> int:
    """Write edges that are first between their facts; how many were new."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for place, new in placed:
        rows.setdefault(kind_of(place[2]).table, []).append(_row(new, place, version, stamp(now)))
    before = connection.total_changes()
    for table, some in rows.items():
        connection.executemany(_INSERT_ONE[table], some)
    return connection.total_changes() - before


def _met(connection: apsw.Connection, placed: Sequence[Placed], version: int, now: datetime) -> list[Placed]:
    """Write those of many edges that are new; what is left was there already, or came twice."""
    left, made = list[Placed](), stamp(now)
    kinds = {place[2] for place, _ in placed}
    for table in {kind_of(kind).table for kind in kinds}:
        some = _in_order(placed, sorted(kind for kind in kinds if kind_of(kind).table == table))
        sources, rows, last = {place[0] for place, _ in some}, list[tuple[Any, ...]](), None
        known = known_places(connection, table, sources, kinds)
        for one in some:
            place, new = one
            if place == last or place in known:
                left.append(one)
            else:
                last = place
                rows.append(_row(new, place, version, made))
        with trusted(connection):
            write_rows(connection, INSERT[table], rows)
    return left


def _in_order(placed: Sequence[Placed], kinds: Sequence[str]) -> list[Placed]:
    """Those of these kinds in the order in which the file keeps them, so that its pages are filled one after the other. Numbers are
    sorted many times as fast as tuples of them."""
    number = {kind: at for at, kind in enumerate(kinds)}
    some = [one for one in placed if one[0][2] in number]
    source, target = (np.array([one[0][end] for one in some], np.int64) for end in (0, 1))
    kind = np.array([number[one[0][2]] for one in some], np.int64)
    return [some[at] for at in in_order(source, target, kind).tolist()]


def _place(new: NewEdge, ends: Ends) -> Place | None:
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


def _row(new: NewEdge, place: Place, version: int, made: int) -> tuple[Any, ...]:
    edge, seen = new.edge, new.edge.strengthened
    strengthened = None if seen is None else stamp(seen)
    return (*place, *_values(edge), edge.co_access_count, strengthened, made, version)


def ends_of(connection: apsw.Connection, ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Key and scope of facts; unknown ones are left out."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key, f.scope FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    found: Any = connection.execute(sql, (apsw.carray(tuple(sorted(ids))),))
    return {id: (key, scope) for id, key, scope in found}


def _write_edge(connection: apsw.Connection, new: NewEdge, place: Place, version: int, now: datetime) -> str:
    table, row = kind_of(new.edge.kind).table, _row(new, place, version, stamp(now))
    connection.execute(_INSERT_ONE[table], row)
    if connection.changes():
        return "new"
    known = connection.execute(_KNOWN.format(table, SEEN[table]), place).get
    if known[0] is not None:
        _update(connection, new, known[1], _values(new.edge), version=version, now=now)
        return "new"
    return _meet(connection, known[1:], new, version, now)


def _meet(connection: apsw.Connection, known: Any, new: NewEdge, version: int, now: datetime) -> str:
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
        values = _values(new.edge)
    more = new.edge.co_access_count > count
    timed = stamp_or_none(new.edge.strengthened) not in (None, seen)
    if values == (weight, confidence, tags, origin) and new.mode != "reinforce" and not more and not timed:
        return "same"
    _update(connection, new, key, values, version=version, now=now)
    return "changed"


def _update(connection: apsw.Connection, new: NewEdge, key: int, values: Any, *, version: int, now: datetime) -> None:
    """Let other values hold. What use counted of an edge stays, or comes with one that was counted elsewhere."""
    table = kind_of(new.edge.kind).table
    seen = stamp(new.edge.strengthened or now)
    bound = (*values, new.edge.co_access_count, seen, version, key)
    connection.execute(_UPDATE.format(table, SEEN[table]), bound)


def _values(edge: Edge) -> tuple[float | None, float | None, str | None, str]:
    return edge.weight, edge.confidence, told_tags(edge.tags), edge.origin


_KNOWN = """
SELECT ended, key, weight, confidence, tags, origin, co_access_count, {1} FROM {0} WHERE source = ? AND target = ? AND kind = ?
"""
_UPDATE = """
UPDATE {} SET weight = ?, confidence = ?, tags = ?, origin = ?, co_access_count = max(co_access_count, ?), {} = ?, version = ?,
  ended = NULL WHERE key = ?
"""


def _end_edge(connection: apsw.Connection, edge: Edge, version: int, now: datetime) -> int:
    """An edge that ends is seen no more, but its row stays: it may be written again."""
    connection.execute(
        f"UPDATE {kind_of(edge.kind).table} SET ended = ?, version = ? WHERE ended IS NULL AND kind = ? "
        "AND source = (SELECT key FROM facts WHERE id = ?) AND target = (SELECT key FROM facts WHERE id = ?)",
        (stamp(now), version, edge.kind, edge.source, edge.target),
    )
    return int(connection.changes())
