"""The in-memory index kept in step with the file, its adjacency, and the stored snapshot."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import datetime
from itertools import chain
from threading import RLock
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import StoredModel
from cofire.index import adjacency, snapshot
from cofire.index.adjacency import Adjacency, IndexedEdge
from cofire.index.columns import Columns, Mask
from cofire.index.fact_index import FactIndex, IndexRow, is_complete_index_snapshot
from cofire.index.names import NameEntries
from cofire.index.timestamps import from_microseconds
from cofire.model import FactFilter
from cofire.stores.base import MODEL_RECORD
from cofire.stores.sqlite import fact_sql, graph_writes, learning
from cofire.stores.sqlite.bulk import limit_page_cache
from cofire.stores.sqlite.connections import LockedConnection, read_state
from cofire.stores.sqlite.fact_sql import MetadataMatchCache
from cofire.stores.sqlite.fact_writes import MAX_REMOVAL_VERSIONS
from cofire.stores.sqlite.graph_writes import FIRST_VERSION, fetch_fact_keys
from cofire.stores.sqlite.index_changes import IndexChanges, build_name_columns

# The parts of the adjacency stand behind those of the index, so that they can be read when they are asked for.
FIRST_ADJACENCY_PART = 1_000_000

_SELECT_ALL_EDGES = """
SELECT source, target, kind, weight, confidence, tags, 0 FROM graph_edges WHERE ended IS NULL UNION ALL
SELECT source, target, kind, weight, confidence, tags, 0 FROM association_edges WHERE ended IS NULL
"""
_SELECT_EDGES_SINCE = """
SELECT source, target, kind, weight, confidence, tags, ended IS NOT NULL FROM graph_edges WHERE version > ?1 UNION ALL
SELECT source, target, kind, weight, confidence, tags, ended IS NOT NULL FROM association_edges WHERE version > ?1
"""
_COUNT_CHANGED_EDGES = """
SELECT (SELECT count(*) FROM graph_edges WHERE version > ?1) + (SELECT count(*) FROM association_edges WHERE version > ?1)
"""


def read_edges_since(connection: apsw.Connection, version: int) -> AbstractContextManager[Iterator[IndexedEdge]]:
    """Edges that came, changed or ended after a version, read as they are asked for."""
    return _stream_edges(connection, _SELECT_EDGES_SINCE, version)


@contextmanager
def _stream_edges(connection: apsw.Connection, sql: str, *bound: int) -> Iterator[Iterator[IndexedEdge]]:
    """Edges as they are asked for. A statement that is not read to its end would hold the reader at its moment for as long as somebody
    keeps the error that broke it off."""
    with closing(connection.execute(sql, bound)) as found:
        yield map(IndexedEdge._make, found)


def load_adjacency(connection: apsw.Connection, epoch: str, columns: Columns) -> Adjacency:
    """The adjacency as of now: the snapshot's with what changed since, or else made of all edges."""
    known = connection.execute("SELECT version FROM snapshots WHERE epoch = ?", (epoch,)).get
    found = None if known is None else _load_adjacency_snapshot(connection, columns)
    if found is None:
        with _stream_edges(connection, _SELECT_ALL_EDGES) as edges:
            return Adjacency(columns, edges)
    gone = [key for (key,) in connection.execute("SELECT fact FROM removed WHERE version > ?", (known,))]
    with read_edges_since(connection, known) as edges:
        found.change(edges, gone, columns)
    return found


def build_adjacency_parts(found: Adjacency, columns: Columns) -> Iterator[tuple[int, bytes]]:
    """The parts of a snapshot, numbered."""
    return enumerate(snapshot.split_arrays(found.arrays(columns)), FIRST_ADJACENCY_PART)


def has_adjacency_grown(connection: apsw.Connection, version: int, share: float, least: int) -> bool:
    """Whether more edges changed since the snapshot of this version than a share of those it knows, and than a few."""
    changed = connection.execute(_COUNT_CHANGED_EDGES, (version,)).get
    first = connection.execute("SELECT bytes FROM snapshot_parts WHERE part = ?", (FIRST_ADJACENCY_PART,)).get
    known = (
        next((one["shape"][0] for one in snapshot.parse_header(first) if one["name"] == "neighbours"), 0)
        if first
        else 0
    )
    return bool(changed >= least and changed > share * known / 2)


def _load_adjacency_snapshot(connection: apsw.Connection, columns: Columns) -> Adjacency | None:
    sql = "SELECT bytes FROM snapshot_parts WHERE part >= ? ORDER BY part"
    stored = [part for (part,) in connection.execute(sql, (FIRST_ADJACENCY_PART,))]
    arrays = snapshot.join_arrays(iter(stored)) if stored else {}
    return Adjacency.from_arrays(columns, arrays) if adjacency.is_complete_adjacency_snapshot(arrays) else None


_log = logging.getLogger("cofire")

MIN_SNAPSHOT_FACTS = 2_000
SNAPSHOT_GROWTH = 1.25
# Who has nothing more to do can make one sooner: the next process has the less to read.
SNAPSHOT_GROWTH_AT_CLOSE = 1.02


class LiveIndex:
    """Follows the store: facts changed since the last look are taken in, removed ones let go."""

    def __init__(self, *, graph: bool) -> None:
        self._graph = graph
        self._lock = RLock()
        self._index = FactIndex(None)
        self._scopes: dict[str, int] = {}
        self._epoch = ""
        self._version = -1
        # The last filter that was asked for, and which positions pass it.
        self._masked: tuple[FactFilter, Mask] | None = None
        self._metadata = MetadataMatchCache()
        self._times: dict[tuple[int, ...], tuple[datetime | None, datetime | None]] = {}
        self._adjacency: Adjacency | None = None
        # Up to where the adjacency has followed, and the facts that were removed since.
        self._adjacent = -1
        self._left: list[int] = []
        self._own: IndexChanges | None = None
        # The reading whose moment the index is at, as connections number them.
        self._moment = 0

    @property
    def is_loaded(self) -> bool:
        """Whether it was ever looked at."""
        return self._epoch != ""

    @property
    def state(self) -> tuple[str, int]:
        """The epoch and the version of the store that it has followed up to: every change of the store is another version."""
        return self._epoch, self._version

    def expect(self, news: IndexChanges) -> None:
        """What this process has just written itself need not be read once more, unless others wrote as well."""
        self._own = news

    def at(self, connection: apsw.Connection, *, wired: bool = True) -> LiveIndexRead:
        """The index as of the moment that the connection reads, in a `with`; for one who looks at vectors alone, not `wired`."""
        return LiveIndexRead(self, connection, wired=wired)

    def begin_looking(self, connection: apsw.Connection, *, wired: bool) -> FactIndex:
        """Keep others away, and follow up to the moment that the connection reads."""
        self._lock.acquire()
        try:
            self._follow(connection)
            if wired:
                self._index.wire()
        except BaseException:
            # What was taken in by half would be wrong from then on; so all is read anew.
            self._epoch = ""
            self._lock.release()
            raise
        return self._index

    def end_looking(self) -> None:
        self._lock.release()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others away while the index runs ahead of what is kept; should it not be kept after all, it is read anew."""
        with self._lock:
            try:
                yield
            except BaseException:
                self._epoch = ""
                raise

    def admitted(self, connection: apsw.Connection, where: FactFilter) -> Mask:
        """Which positions pass a filter; a recall asks several times for the same."""
        if self._masked is None or self._masked[0] is not where:
            members = None if where.community is None else learning.fetch_community_members(connection, where.community)
            mask = self._index.admitted(where, self.scope_keys(where.scopes), members)
            for condition in where.metadata:
                keys = self._metadata.keys(connection, condition, self._version)
                matching = self._index.columns.mask_of(keys)
                mask = mask & (~matching if condition.negated else matching)
            self._masked = where, mask
        return self._masked[1]

    def scope_keys(self, scopes: Sequence[str] | None) -> list[int] | None:
        """The keys of scopes; one that nobody has is there for those that are unknown."""
        if scopes is None:
            return None
        return [self._scopes[name] for name in scopes if name in self._scopes] or [-1]

    def adjacency(self, connection: apsw.Connection) -> Adjacency:
        """The stored edges as of the moment of the index; read when first asked for."""
        columns = self._index.columns
        if self._adjacency is None:
            self._adjacency = load_adjacency(connection, self._epoch, columns)
        elif self._adjacent != self._version:
            # Kept again only when all is taken in: an interrupt would leave it wrong for good.
            known, self._adjacency = self._adjacency, None
            with read_edges_since(connection, self._adjacent) as edges:
                known.change(edges, self._left, columns)
            self._adjacency = known
        self._adjacency.make_room(columns)
        self._adjacent = self._version
        self._left.clear()
        return self._adjacency

    def keys_of(self, ids: Sequence[str]) -> NDArray[np.int64] | None:
        """The keys of facts that were proposed or led to; None if others are among them. A key is never given to another fact of the
        file, so that it is right whatever has changed since."""
        columns = self._index.columns
        found = columns.all_at(ids)
        return None if found is None else columns["key"][found]

    def positions(self, connection: apsw.Connection, ids: Sequence[str]) -> NDArray[np.int64]:
        """Where these facts stand in the index, in their order; unknown ones are left out."""
        columns = self._index.columns
        if columns.stand(ids):
            return ids.places
        found = columns.all_at(ids)
        if found is not None:
            return found
        return np.array([at for at in self.places(connection, ids) if at is not None], np.int64)

    def places(self, connection: apsw.Connection, ids: Sequence[str]) -> list[int | None]:
        """The same, with None for those that are unknown."""
        columns = self._index.columns
        found = columns.at(ids)
        if None not in found:
            return found
        unknown = [id for id, place in zip(ids, found, strict=True) if place is None]
        located = self._located(fetch_fact_keys(connection, unknown))
        newly = dict(zip(columns.ids(located), located.tolist(), strict=True))
        return [newly.get(id) if place is None else place for id, place in zip(ids, found, strict=True)]

    def times(self, scopes: Sequence[str]) -> tuple[datetime | None, datetime | None]:
        """The earliest and the latest time that facts of these scopes speak of."""
        wanted = tuple(self.scope_keys(scopes) or ())
        if wanted not in self._times:
            columns = self._index.columns
            told = columns["time"][columns["alive"] & np.isin(columns["scope"], wanted)]
            self._times[wanted] = (
                (from_microseconds(int(told.min())), from_microseconds(int(told.max()))) if len(told) else (None, None)
            )
        return self._times[wanted]

    def _located(self, keys: dict[str, int]) -> NDArray[np.int32]:
        found = self._index.columns.places()[np.array(list(keys.values()), np.int64)]
        return found[found >= 0]

    def _follow(self, connection: apsw.Connection) -> None:
        moment = getattr(connection, "moment", 0)
        if moment and moment == self._moment and self._epoch:
            return
        # Kept again only when all is taken in.
        self._moment = 0
        epoch, version = read_state(connection)
        if epoch == self._epoch and version == self._version:
            self._moment = moment
            return
        if epoch != self._epoch or not 0 <= version - self._version <= MAX_REMOVAL_VERSIONS:
            with limit_page_cache(connection):
                self._index, self._version = load_index(connection, epoch, graph=self._graph)
            self._adjacency = None
            self._metadata = MetadataMatchCache()
        news = self._own
        if news is None or (news.epoch, news.since, news.version) != (epoch, self._version, version):
            news = read_index_changes(connection, self._version, epoch, version)
        self._index.change(news.changed, news.gone, news.mentions, news.subjects, news.hints, wired=False)
        # A fact that was removed may be back by now.
        back = {row.key for row in news.changed}
        self._left = [key for key in (*self._left, *news.gone) if key not in back]
        self._masked = None
        self._times.clear()
        if epoch != self._epoch or not {row.scope for row in news.changed} <= set(self._scopes.values()):
            self._scopes = {str(name): int(key) for name, key in connection.execute("SELECT name, key FROM scopes")}
        self._epoch, self._version = epoch, version
        self._moment = moment


def read_index_changes(connection: apsw.Connection, since: int, epoch: str, version: int) -> IndexChanges:
    """The news as of the moment that the connection reads, which is at this version."""
    gone: Any = [key for (key,) in connection.execute("SELECT fact FROM removed WHERE version > ?", (since,))]
    return _fetch_index_changes(connection, since, epoch, version, gone)


def read_own_changes(connection: apsw.Connection) -> IndexChanges:
    """What the transaction has written that is about to be kept, and that removes nothing; its pages are still at hand, those of
    other connections are not."""
    epoch, version = read_state(connection)
    return _fetch_index_changes(connection, version - 1, epoch, version, ())


def _fetch_index_changes(
    connection: apsw.Connection, since: int, epoch: str, version: int, gone: Sequence[int]
) -> IndexChanges:
    with limit_page_cache(connection) if since < FIRST_VERSION else nullcontext():
        changed = [fact_sql.decode_index_row(row) for row in connection.execute(fact_sql.SELECT_INDEX_ROWS, (since,))]
    hints = graph_writes.read_changed_terms(connection, since, [row.key for row in changed])
    return IndexChanges(epoch, since, version, changed, gone, *_fetch_name_columns(connection, since, changed), hints)


def _fetch_name_columns(
    connection: apsw.Connection, since: int, changed: Sequence[IndexRow]
) -> tuple[NameEntries, NameEntries]:
    """What facts that changed mention, and what they are about."""
    place = {row.key: at for at, row in enumerate(changed)}
    mentions, subjects = (
        build_name_columns(connection.execute(sql, (since,)), place)
        for sql in (_SELECT_CHANGED_MENTIONS, _SELECT_CHANGED_SUBJECTS)
    )
    return mentions, subjects


class LiveIndexRead:
    """A look at the live index, in a `with`."""

    __slots__ = ("_connection", "_live", "_wired")

    def __init__(self, live: LiveIndex, connection: apsw.Connection, *, wired: bool) -> None:
        self._live, self._connection, self._wired = live, connection, wired

    def __enter__(self) -> FactIndex:
        return self._live.begin_looking(self._connection, wired=self._wired)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._live.end_looking()


_SELECT_CHANGED_MENTIONS = """
SELECT m.fact, m.name, m.confidence, m.sentences FROM facts f JOIN mentions m ON m.fact = f.key WHERE f.version > ?
"""
_SELECT_CHANGED_SUBJECTS = (
    "SELECT s.fact, s.name, s.strength, 0 FROM facts f JOIN subjects s ON s.fact = f.key WHERE f.version > ?"
)


def load_index(connection: apsw.Connection, epoch: str, *, graph: bool) -> tuple[FactIndex, int]:
    """The index of the snapshot if it is of this epoch, else an empty one; and the version up to which it knows the store."""
    value = connection.execute("SELECT value FROM records WHERE name = ?", (MODEL_RECORD,)).get
    model = StoredModel.decode(value) if value else None
    known = connection.execute("SELECT version FROM snapshots WHERE epoch = ?", (epoch,)).get
    if known is None:
        return FactIndex(model, graph=graph), 0
    sql = "SELECT bytes FROM snapshot_parts WHERE part < ? ORDER BY part"
    parts = (part for (part,) in connection.execute(sql, (FIRST_ADJACENCY_PART,)))
    arrays = snapshot.join_arrays(parts)
    if not is_complete_index_snapshot(arrays) or (graph and _is_graph_unusable(arrays)):
        return FactIndex(model, graph=graph), 0
    return FactIndex.from_arrays(model, arrays, graph=graph), known


def _is_graph_unusable(arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether a snapshot was made without a graph, or with one in which too many are dead."""
    return not len(arrays["graph"]) or bool(np.count_nonzero(arrays["alive"]) < 0.75 * len(arrays["alive"]))


def is_snapshot_due(connection: apsw.Connection, growth: float) -> bool:
    """Whether enough has been learned since the last snapshot to make a new one worth its bytes."""
    epoch, _ = read_state(connection)
    facts = connection.execute("SELECT coalesce(sum(facts), 0) FROM scopes").get
    covered, version = connection.execute("SELECT facts, version FROM snapshots WHERE epoch = ?", (epoch,)).get or (
        0,
        0,
    )
    if facts < MIN_SNAPSHOT_FACTS:
        return False
    few = min(MIN_SNAPSHOT_FACTS, (SNAPSHOT_GROWTH - 1) * covered)
    return bool(facts > max(growth * covered, covered + few)) or has_adjacency_grown(
        connection, version, growth - 1, MIN_SNAPSHOT_FACTS
    )


def save_snapshot_if_due(live: LiveIndex, line: LockedConnection) -> None:
    """An index of which much had to be read from the tables, or came since, is kept for the next process; unless others are
    writing, for whom nobody waits."""
    if not live.is_loaded:
        return
    try:
        with line.trying() as connection:
            if connection is not None and is_snapshot_due(connection, SNAPSHOT_GROWTH_AT_CLOSE):
                with live.alone():
                    save_live_index(live, connection)
    except apsw.Error as error:
        _log.warning("The index could not be kept for the next process: %s", error)


def save_live_index(live: LiveIndex, connection: apsw.Connection) -> None:
    """Keep the index as of this very transaction. What is gone must not be kept, so that one that cannot let go of it is not."""
    with live.at(connection) as index:
        if not index.keeps_the_dead:
            save_snapshot(connection, index, live.adjacency(connection))


def delete_snapshot(connection: apsw.Connection) -> None:
    """What was removed must not be left in it."""
    connection.execute("DELETE FROM snapshot_parts; DELETE FROM snapshots")


def save_snapshot(connection: apsw.Connection, index: FactIndex, edges: Adjacency) -> None:
    """Keep the index, which must be of this very transaction's moment, in place of the older snapshot."""
    epoch, version = read_state(connection)
    delete_snapshot(connection)
    parts = 0
    for number, part in chain(
        enumerate(snapshot.split_arrays(index.arrays())), build_adjacency_parts(edges, index.columns)
    ):
        connection.execute("INSERT INTO snapshot_parts(part, bytes) VALUES (?, ?)", (number, part))
        parts += 1
    connection.execute(
        "INSERT INTO snapshots(only, epoch, version, facts, parts) VALUES (1, ?, ?, ?, ?)",
        (epoch, version, index.columns.size, parts),
    )
