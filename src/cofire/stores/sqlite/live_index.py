"""The live index: the in-memory index of a file, kept in step with what any process writes, and its snapshot in the file."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from itertools import chain
from threading import RLock
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import StoredModel
from cofire.model import Where
from cofire.stores.base import MODEL_RECORD
from cofire.stores.index import snapshot
from cofire.stores.index.adjacency import Adjacency
from cofire.stores.index.columns import Mask
from cofire.stores.index.index import Index, Row, is_whole
from cofire.stores.index.moments import moment
from cofire.stores.index.names import Held
from cofire.stores.sqlite import edge_feed, hinting, learning, rows
from cofire.stores.sqlite.connecting import Line, state_of
from cofire.stores.sqlite.graph_writing import fact_keys
from cofire.stores.sqlite.hinting import FIRST_VERSION
from cofire.stores.sqlite.in_bulk import read_once
from cofire.stores.sqlite.metadata_values import MetadataMatches
from cofire.stores.sqlite.noting import News, held
from cofire.stores.sqlite.writing import KEPT_REMOVALS

_log = logging.getLogger("cofire")

SMALLEST_SNAPSHOT = 2_000
SNAPSHOT_GROWTH = 1.25
# Who has nothing more to do can make one sooner: the next process has the less to read.
GROWTH_AT_CLOSE = 1.02


class LiveIndex:
    """Follows the store: facts changed since the last look are taken in, removed ones let go."""

    def __init__(self, *, graph: bool) -> None:
        self._graph = graph
        self._lock = RLock()
        self._index = Index(None)
        self._scopes: dict[str, int] = {}
        self._epoch = ""
        self._version = -1
        # The last filter that was asked for, and which positions pass it.
        self._masked: tuple[Where, Mask] | None = None
        self._metadata = MetadataMatches()
        self._times: dict[tuple[int, ...], tuple[datetime | None, datetime | None]] = {}
        self._adjacency: Adjacency | None = None
        # Up to where the adjacency has followed, and the facts that were removed since.
        self._adjacent = -1
        self._left: list[int] = []
        self._own: News | None = None
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

    def expect(self, news: News) -> None:
        """What this process has just written itself need not be read once more, unless others wrote as well."""
        self._own = news

    def at(self, connection: apsw.Connection, *, wired: bool = True) -> Looking:
        """The index as of the moment that the connection reads, in a `with`; for one who looks at vectors alone, not `wired`."""
        return Looking(self, connection, wired=wired)

    def begin_looking(self, connection: apsw.Connection, *, wired: bool) -> Index:
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

    def admitted(self, connection: apsw.Connection, where: Where) -> Mask:
        """Which positions pass a filter; a recall asks several times for the same."""
        if self._masked is None or self._masked[0] is not where:
            members = None if where.community is None else learning.members(connection, where.community)
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
            self._adjacency = edge_feed.load(connection, self._epoch, columns)
        elif self._adjacent != self._version:
            # Kept again only when all is taken in: an interrupt would leave it wrong for good.
            known, self._adjacency = self._adjacency, None
            with edge_feed.since(connection, self._adjacent) as edges:
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
        located = self._located(fact_keys(connection, unknown))
        newly = dict(zip(columns.ids(located), located.tolist(), strict=True))
        return [newly.get(id) if place is None else place for id, place in zip(ids, found, strict=True)]

    def times(self, scopes: Sequence[str]) -> tuple[datetime | None, datetime | None]:
        """The earliest and the latest time that facts of these scopes speak of."""
        wanted = tuple(self.scope_keys(scopes) or ())
        if wanted not in self._times:
            columns = self._index.columns
            told = columns["time"][columns["alive"] & np.isin(columns["scope"], wanted)]
            self._times[wanted] = (moment(int(told.min())), moment(int(told.max()))) if len(told) else (None, None)
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
        epoch, version = state_of(connection)
        if epoch == self._epoch and version == self._version:
            self._moment = moment
            return
        if epoch != self._epoch or not 0 <= version - self._version <= KEPT_REMOVALS:
            with read_once(connection):
                self._index, self._version = loaded(connection, epoch, graph=self._graph)
            self._adjacency = None
            self._metadata = MetadataMatches()
        news = self._own
        if news is None or (news.epoch, news.since, news.version) != (epoch, self._version, version):
            news = news_since(connection, self._version, epoch, version)
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


def news_since(connection: apsw.Connection, since: int, epoch: str, version: int) -> News:
    """The news as of the moment that the connection reads, which is at this version."""
    gone: Any = [key for (key,) in connection.execute("SELECT fact FROM removed WHERE version > ?", (since,))]
    return _news(connection, since, epoch, version, gone)


def news_of_one_write(connection: apsw.Connection) -> News:
    """What the transaction has written that is about to be kept, and that removes nothing; its pages are still at hand, those of
    other connections are not."""
    epoch, version = state_of(connection)
    return _news(connection, version - 1, epoch, version, ())


def _news(connection: apsw.Connection, since: int, epoch: str, version: int, gone: Sequence[int]) -> News:
    with read_once(connection) if since < FIRST_VERSION else nullcontext():
        changed = [rows.index_row(row) for row in connection.execute(rows.SELECT_FOR_INDEX, (since,))]
    hints = hinting.since(connection, since, [row.key for row in changed])
    return News(epoch, since, version, changed, gone, *_names(connection, since, changed), hints)


def _names(connection: apsw.Connection, since: int, changed: Sequence[Row]) -> tuple[Held, Held]:
    """What facts that changed mention, and what they are about."""
    place = {row.key: at for at, row in enumerate(changed)}
    mentions, subjects = (held(connection.execute(sql, (since,)), place) for sql in (_MENTIONS, _SUBJECTS))
    return mentions, subjects


class Looking:
    """A look at the live index, in a `with`."""

    __slots__ = ("_connection", "_live", "_wired")

    def __init__(self, live: LiveIndex, connection: apsw.Connection, *, wired: bool) -> None:
        self._live, self._connection, self._wired = live, connection, wired

    def __enter__(self) -> Index:
        return self._live.begin_looking(self._connection, wired=self._wired)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._live.end_looking()


_MENTIONS = """
SELECT m.fact, m.name, m.confidence, m.sentences FROM facts f JOIN mentions m ON m.fact = f.key WHERE f.version > ?
"""
_SUBJECTS = "SELECT s.fact, s.name, s.strength, 0 FROM facts f JOIN subjects s ON s.fact = f.key WHERE f.version > ?"


def loaded(connection: apsw.Connection, epoch: str, *, graph: bool) -> tuple[Index, int]:
    """The index of the snapshot if it is of this epoch, else an empty one; and the version up to which it knows the store."""
    value = connection.execute("SELECT value FROM records WHERE name = ?", (MODEL_RECORD,)).get
    model = StoredModel.decode(value) if value else None
    known = connection.execute("SELECT version FROM snapshots WHERE epoch = ?", (epoch,)).get
    if known is None:
        return Index(model, graph=graph), 0
    sql = "SELECT bytes FROM snapshot_parts WHERE part < ? ORDER BY part"
    parts = (part for (part,) in connection.execute(sql, (edge_feed.FIRST_PART,)))
    arrays = snapshot.arrays(parts)
    if not is_whole(arrays) or (graph and _graph_is_of_no_use(arrays)):
        return Index(model, graph=graph), 0
    return Index.from_arrays(model, arrays, graph=graph), known


def _graph_is_of_no_use(arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether a snapshot was made without a graph, or with one in which too many are dead."""
    return not len(arrays["graph"]) or bool(np.count_nonzero(arrays["alive"]) < 0.75 * len(arrays["alive"]))


def snapshot_is_due(connection: apsw.Connection, growth: float) -> bool:
    """Whether enough has been learned since the last snapshot to make a new one worth its bytes."""
    epoch, _ = state_of(connection)
    facts = connection.execute("SELECT coalesce(sum(facts), 0) FROM scopes").get
    covered, version = connection.execute("SELECT facts, version FROM snapshots WHERE epoch = ?", (epoch,)).get or (
        0,
        0,
    )
    if facts < SMALLEST_SNAPSHOT:
        return False
    few = min(SMALLEST_SNAPSHOT, (SNAPSHOT_GROWTH - 1) * covered)
    return bool(facts > max(growth * covered, covered + few)) or edge_feed.has_grown(
        connection, version, growth - 1, SMALLEST_SNAPSHOT
    )


def keep_snapshot_where_due(live: LiveIndex, line: Line) -> None:
    """An index of which much had to be read from the tables, or came since, is kept for the next process; unless others are
    writing, for whom nobody waits."""
    if not live.is_loaded:
        return
    try:
        with line.trying() as connection:
            if connection is not None and snapshot_is_due(connection, GROWTH_AT_CLOSE):
                with live.alone():
                    keep_snapshot(live, connection)
    except apsw.Error as error:
        _log.warning("The index could not be kept for the next process: %s", error)


def keep_snapshot(live: LiveIndex, connection: apsw.Connection) -> None:
    """Keep the index as of this very transaction. What is gone must not be kept, so that one that cannot let go of it is not."""
    with live.at(connection) as index:
        if not index.keeps_the_dead:
            save_snapshot(connection, index, live.adjacency(connection))


def drop_snapshot(connection: apsw.Connection) -> None:
    """What was removed must not be left in it."""
    connection.execute("DELETE FROM snapshot_parts; DELETE FROM snapshots")


def save_snapshot(connection: apsw.Connection, index: Index, edges: Adjacency) -> None:
    """Keep the index, which must be of this very transaction's moment, in place of the older snapshot."""
    epoch, version = state_of(connection)
    drop_snapshot(connection)
    parts = 0
    for number, part in chain(enumerate(snapshot.parts(index.arrays())), edge_feed.parts(edges, index.columns)):
        connection.execute("INSERT INTO snapshot_parts(part, bytes) VALUES (?, ?)", (number, part))
        parts += 1
    connection.execute(
        "INSERT INTO snapshots(only, epoch, version, facts, parts) VALUES (1, ?, ?, ?, ?)",
        (epoch, version, index.columns.size, parts),
    )
