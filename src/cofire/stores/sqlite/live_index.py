"""The live index: the in-memory index of a file, kept in step with what any process writes, and its snapshot in the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import StoredModel
from cofire.model import Where
from cofire.stores.base import MODEL_RECORD
from cofire.stores.index import snapshot
from cofire.stores.index.columns import Mask
from cofire.stores.index.index import Index, is_whole
from cofire.stores.sqlite import rows

SMALLEST_SNAPSHOT = 2_000
SNAPSHOT_GROWTH = 1.25


class LiveIndex:
    """Follows the store: facts changed since the last look are taken in, removed ones let go."""

    def __init__(self, *, graph: bool) -> None:
        self._graph = graph
        self._lock = RLock()
        self._index = Index(None)
        self._scopes: dict[str, int] = {}
        self._epoch = ""
        self._version = -1

    @contextmanager
    def at(self, connection: apsw.Connection) -> Iterator[Index]:
        """The index as of the moment that the connection reads."""
        with self._lock:
            self._follow(connection)
            yield self._index

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others away while the index runs ahead of what is kept; should it not be kept after all, it is read anew."""
        with self._lock:
            try:
                yield
            except BaseException:
                self._epoch = ""
                raise

    def admitted(self, where: Where) -> Mask:
        """Which positions pass a filter."""
        scopes = None if where.scopes is None else [self._scopes[name] for name in where.scopes if name in self._scopes]
        if scopes == []:
            scopes = [-1]
        return self._index.admitted(where, scopes)

    def _follow(self, connection: apsw.Connection) -> None:
        epoch, version = connection.execute("SELECT epoch, version FROM state").get
        if epoch == self._epoch and version == self._version:
            return
        if epoch != self._epoch or version < self._version:
            self._index, self._version = loaded(connection, epoch, graph=self._graph)
        changed = [rows.index_row(row) for row in connection.execute(rows.SELECT_FOR_INDEX, (self._version,))]
        gone = [key for (key,) in connection.execute("SELECT fact FROM removed WHERE version > ?", (self._version,))]
        self._index.change(changed, gone)
        self._scopes = {str(name): int(key) for name, key in connection.execute("SELECT name, key FROM scopes")}
        self._epoch, self._version = epoch, version


def loaded(connection: apsw.Connection, epoch: str, *, graph: bool) -> tuple[Index, int]:
    """The index of the snapshot if it is of this epoch, else an empty one; and the version up to which it knows the store."""
    value = connection.execute("SELECT value FROM records WHERE name = ?", (MODEL_RECORD,)).get
    model = StoredModel.decode(value) if value else None
    known = connection.execute("SELECT version FROM snapshots WHERE epoch = ?", (epoch,)).get
    if known is None:
        return Index(model, graph=graph), 0
    parts = (part for (part,) in connection.execute("SELECT bytes FROM snapshot_parts ORDER BY part"))
    arrays = snapshot.arrays(parts)
    if not is_whole(arrays) or (graph and _graph_is_of_no_use(arrays)):
        return Index(model, graph=graph), 0
    return Index.from_arrays(model, arrays, graph=graph), known


def _graph_is_of_no_use(arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether a snapshot was made without a graph, or with one in which too many are dead."""
    return not len(arrays["graph"]) or bool(np.count_nonzero(arrays["alive"]) < 0.75 * len(arrays["alive"]))


def snapshot_is_due(connection: apsw.Connection) -> bool:
    """Whether enough has been learned since the last snapshot to make a new one worth its bytes."""
    epoch, _ = connection.execute("SELECT epoch, version FROM state").get
    facts = connection.execute("SELECT coalesce(sum(facts), 0) FROM scopes").get
    covered = connection.execute("SELECT facts FROM snapshots WHERE epoch = ?", (epoch,)).get or 0
    return bool(facts >= SMALLEST_SNAPSHOT and facts > SNAPSHOT_GROWTH * covered)


def save_snapshot(connection: apsw.Connection, index: Index) -> None:
    """Keep the index, which must be of this very transaction's moment, in place of the older snapshot."""
    epoch, version = connection.execute("SELECT epoch, version FROM state").get
    connection.execute("DELETE FROM snapshot_parts; DELETE FROM snapshots")
    parts = 0
    for part in snapshot.parts(index.arrays()):
        connection.execute("INSERT INTO snapshot_parts(part, bytes) VALUES (?, ?)", (parts, part))
        parts += 1
    connection.execute(
        "INSERT INTO snapshots(only, epoch, version, facts, parts) VALUES (1, ?, ?, ?, ?)",
        (epoch, version, index.columns.size, parts),
    )
