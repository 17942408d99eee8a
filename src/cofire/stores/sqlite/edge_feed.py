"""The feed of edges: what the tables tell an adjacency, all of it or what changed since a version, and its snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import apsw

from cofire.stores.index import adjacency, snapshot
from cofire.stores.index.adjacency import Adjacency
from cofire.stores.index.columns import Columns
from cofire.stores.index.halves import StoredEdge

# The parts of the adjacency stand behind those of the index, so that they can be read when they are asked for.
FIRST_PART = 1_000_000

_ALL = """
SELECT source, target, kind, weight, confidence, tags, 0 FROM graph_edges WHERE ended IS NULL UNION ALL
SELECT source, target, kind, weight, confidence, tags, 0 FROM association_edges WHERE ended IS NULL
"""
_SINCE = """
SELECT source, target, kind, weight, confidence, tags, ended IS NOT NULL FROM graph_edges WHERE version > ?1 UNION ALL
SELECT source, target, kind, weight, confidence, tags, ended IS NOT NULL FROM association_edges WHERE version > ?1
"""
_CHANGED = """
SELECT (SELECT count(*) FROM graph_edges WHERE version > ?1) + (SELECT count(*) FROM association_edges WHERE version > ?1)
"""


def since(connection: apsw.Connection, version: int) -> AbstractContextManager[Iterator[StoredEdge]]:
    """Edges that came, changed or ended after a version, read as they are asked for."""
    return _reading(connection, _SINCE, version)


@contextmanager
def _reading(connection: apsw.Connection, sql: str, *bound: int) -> Iterator[Iterator[StoredEdge]]:
    """Edges as they are asked for. A statement that is not read to its end would hold the reader at its moment for as long as somebody
    keeps the error that broke it off."""
    with closing(connection.execute(sql, bound)) as found:
        yield map(StoredEdge._make, found)


def load(connection: apsw.Connection, epoch: str, columns: Columns) -> Adjacency:
    """The adjacency as of now: the snapshot's with what changed since, or else made of all edges."""
    known = connection.execute("SELECT version FROM snapshots WHERE epoch = ?", (epoch,)).get
    found = None if known is None else _kept(connection, columns)
    if found is None:
        with _reading(connection, _ALL) as edges:
            return Adjacency(columns, edges)
    gone = [key for (key,) in connection.execute("SELECT fact FROM removed WHERE version > ?", (known,))]
    with since(connection, known) as edges:
        found.change(edges, gone, columns)
    return found


def parts(found: Adjacency, columns: Columns) -> Iterator[tuple[int, bytes]]:
    """The parts of a snapshot, numbered."""
    return enumerate(snapshot.parts(found.arrays(columns)), FIRST_PART)


def has_grown(connection: apsw.Connection, version: int, share: float, least: int) -> bool:
    """Whether more edges changed since the snapshot of this version than a share of those it knows, and than a few."""
    changed = connection.execute(_CHANGED, (version,)).get
    first = connection.execute("SELECT bytes FROM snapshot_parts WHERE part = ?", (FIRST_PART,)).get
    known = next((one["shape"][0] for one in snapshot.header(first) if one["name"] == "neighbours"), 0) if first else 0
    return bool(changed >= least and changed > share * known / 2)


def _kept(connection: apsw.Connection, columns: Columns) -> Adjacency | None:
    sql = "SELECT bytes FROM snapshot_parts WHERE part >= ? ORDER BY part"
    stored = [part for (part,) in connection.execute(sql, (FIRST_PART,))]
    arrays = snapshot.arrays(iter(stored)) if stored else {}
    return Adjacency.from_arrays(columns, arrays) if adjacency.is_whole(arrays) else None
