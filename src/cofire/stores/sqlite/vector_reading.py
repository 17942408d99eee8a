"""Reading vectors: those of a few facts from the file, or from memory in a process that asks again and again; alone or with
what linking looks at."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.likeness import VectorRows
from cofire.late import SpelledIds
from cofire.stores.base import Near
from cofire.stores.index.index import Index
from cofire.stores.index.warm_vectors import ASKED_BEFORE, MOST, WarmVectors
from cofire.stores.sqlite import rows
from cofire.stores.sqlite.in_bulk import read_once


def rows_at(connection: apsw.Connection, index: Index, positions: Any) -> VectorRows:
    """The vectors at these positions: from memory in a process that asks again and again, else from the file."""
    if index.model is None:
        return VectorRows.of(np.zeros((len(positions), 0), np.float32))
    index.asked += 1
    if index.warm is None and index.asked > ASKED_BEFORE and index.columns.size <= MOST:
        with read_once(connection):
            index.warm = WarmVectors(_all_vectors(connection, index), index.model.mean)
    if index.warm is not None:
        return index.warm.at(positions)
    return VectorRows.of(_vectors(connection, index.columns["key"][positions], index.dimension))


def near(connection: apsw.Connection, index: Index, ids: SpelledIds) -> list[Near]:
    """These facts in their order, with what linking looks at."""
    keys = index.columns["key"][ids.places]
    told, vectors = rows.tagged(connection, keys), rows_at(connection, index, ids.places).gathered
    found = zip(ids, keys.tolist(), vectors, strict=True)
    return [Near(id, told.get(key, ()), vector) for id, key, vector in found]


def _all_vectors(connection: apsw.Connection, index: Index) -> NDArray[np.float16]:
    table = np.zeros((index.columns.size, index.dimension), np.float16)
    there = np.flatnonzero(index.columns["alive"] & index.columns["embedded"])
    if len(there):
        table[there] = _vectors(connection, index.columns["key"][there], index.dimension)
    return table


def _vectors(connection: apsw.Connection, keys: Any, dimension: int) -> NDArray[np.float16]:
    """The stored vectors of these keys, in their order; zeros where there is none."""
    sql = "SELECT v.vector FROM carray(?) c LEFT JOIN vectors v ON v.fact = c.value"
    found = connection.execute(sql, (apsw.carray(np.ascontiguousarray(keys)),)) if len(keys) else ()
    nothing = bytes(2 * dimension)
    stored = np.frombuffer(b"".join([vector or nothing for (vector,) in found]), np.float16)
    return stored.reshape(-1, dimension)
