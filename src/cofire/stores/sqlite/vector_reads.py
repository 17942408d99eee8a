"""Read stored vectors, and find neighbour candidates by vector and by rare tag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.nearest_neighbours import NeighbourPairs, find_nearest_pairs
from cofire.algorithms.vector_similarity import VectorRows, centre_vectors
from cofire.embedders.base import StoredModel, Vectors
from cofire.index.fact_index import FactIndex
from cofire.index.quantised import MAX_CACHED_VECTORS, READS_BEFORE_CACHING, VectorCache
from cofire.stores.base import NearbyFact, NeighbourCandidates
from cofire.stores.lazy_ids import DecodedIds
from cofire.stores.link_rules import MAX_EXACT_NEIGHBOURS, MAX_RARE_TAG_FACTS
from cofire.stores.sqlite import fact_sql
from cofire.stores.sqlite.bulk import limit_page_cache
from cofire.stores.sqlite.fact_sql import fetch_scope_fact_keys


def fetch_vector_rows(connection: apsw.Connection, index: FactIndex, positions: Any) -> VectorRows:
    """The vectors at these positions: from memory in a process that asks again and again, else from the file."""
    if index.model is None:
        return VectorRows.of(np.zeros((len(positions), 0), np.float32))
    index.asked += 1
    if index.warm is None and index.asked > READS_BEFORE_CACHING and index.columns.size <= MAX_CACHED_VECTORS:
        with limit_page_cache(connection):
            index.warm = VectorCache(_fetch_all_vectors(connection, index))
    if index.warm is not None:
        return index.warm.at(positions)
    return VectorRows.of(_fetch_vectors(connection, index.columns["key"][positions], index.dimension))


def fetch_nearby_facts(connection: apsw.Connection, index: FactIndex, ids: DecodedIds) -> list[NearbyFact]:
    """These facts in their order, with what linking looks at."""
    keys = index.columns["key"][ids.places]
    told, vectors = fact_sql.fetch_tags(connection, keys), fetch_vector_rows(connection, index, ids.places).gathered
    found = zip(ids, keys.tolist(), vectors, strict=True)
    return [NearbyFact(id, told.get(key, ()), vector) for id, key, vector in found]


def _fetch_all_vectors(connection: apsw.Connection, index: FactIndex) -> NDArray[np.float16]:
    table = np.zeros((index.columns.size, index.dimension), np.float16)
    there = np.flatnonzero(index.columns["alive"] & index.columns["embedded"])
    if len(there):
        table[there] = _fetch_vectors(connection, index.columns["key"][there], index.dimension)
    return table


def _fetch_vectors(connection: apsw.Connection, keys: Any, dimension: int) -> NDArray[np.float16]:
    """The stored vectors of these keys, in their order; zeros where there is none."""
    sql = "SELECT v.vector FROM carray(?) c LEFT JOIN vectors v ON v.fact = c.value"
    found = connection.execute(sql, (apsw.carray(np.ascontiguousarray(keys)),)) if len(keys) else ()
    nothing = bytes(2 * dimension)
    stored = np.frombuffer(b"".join([vector or nothing for (vector,) in found]), np.float16)
    return stored.reshape(-1, dimension)


VECTORS_PER_BLOCK = 4_096

_SELECT_SCOPE_VECTORS = """
SELECT f.id, f.key, v.vector FROM carray(?) c CROSS JOIN facts f ON f.key = c.value CROSS JOIN vectors v ON v.fact = f.key
WHERE NOT f.archived
"""
# Which tags are rare is settled before anything is joined: a common one would bring in half the store.
_SELECT_TAG_PAIRS = """
WITH mine AS MATERIALIZED (SELECT t.fact, t.tag FROM carray(?1) c CROSS JOIN tags t ON t.fact = c.value),
  rare AS MATERIALIZED (SELECT d.tag FROM (SELECT DISTINCT tag FROM mine) d
    WHERE (SELECT count(*) FROM (SELECT 1 FROM tags WHERE tag = d.tag LIMIT ?3)) < ?3)
SELECT mine.fact, theirs.fact FROM rare CROSS JOIN mine ON mine.tag = rare.tag
CROSS JOIN tags theirs ON theirs.tag = mine.tag AND theirs.fact <> mine.fact
CROSS JOIN facts f ON f.key = theirs.fact AND f.scope = ?2 AND NOT f.archived
CROSS JOIN vectors v ON v.fact = f.key
GROUP BY mine.fact, theirs.fact ORDER BY mine.fact, count(*) DESC, theirs.fact DESC
"""


def find_neighbour_candidates(
    connection: apsw.Connection, model: StoredModel | None, ids: Sequence[str], k: int, sharing: int
) -> NeighbourCandidates:
    """Pairs over all scopes that the ids are of."""
    if model is None or not ids:
        return _join_candidates([])
    sql = "SELECT f.scope, f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value ORDER BY f.scope"
    wanted = np.array(connection.execute(sql, (apsw.carray(tuple(ids)),)).fetchall(), np.int64).reshape(-1, 2)
    parts = [
        _find_scope_candidates(connection, model, wanted[wanted[:, 0] == scope], k, sharing)
        for scope in np.unique(wanted[:, 0])
    ]
    return _join_candidates(parts)


def _find_scope_candidates(
    connection: apsw.Connection, model: StoredModel, asked: Any, k: int, sharing: int
) -> NeighbourCandidates:
    """Kin within one scope; `asked` has its key and a fact's in every row."""
    scope, keys = int(asked[0, 0]), asked[:, 1]
    rows: list[Any] = sorted(
        connection.execute(_SELECT_SCOPE_VECTORS, (apsw.carray(fetch_scope_fact_keys(connection, scope)),))
    )
    held = np.array([row[1] for row in rows], np.int64)
    seen = _centre_vectors([row[2] for row in rows], model)
    wanted = np.flatnonzero(np.isin(held, keys))
    near = find_nearest_pairs(seen, wanted, k, exact_up_to=MAX_EXACT_NEIGHBOURS)
    shared = _convert_pairs_to_rows(held, seen, _pair_by_rare_tags(connection, scope, keys, sharing))
    return NeighbourCandidates(
        tuple(row[0] for row in rows),
        np.concatenate([near.left, shared.left]),
        np.concatenate([near.right, shared.right]),
        np.concatenate([near.cosines, shared.cosines]),
    )


def _centre_vectors(vectors: list[bytes], model: StoredModel) -> Vectors:
    """Block by block, so that what lies between the bytes and the vectors stays small."""
    seen = np.empty((len(vectors), model.model.dimension), np.float32)
    for first in range(0, len(vectors), VECTORS_PER_BLOCK):
        some = vectors[first : first + VECTORS_PER_BLOCK]
        stored = np.frombuffer(b"".join(some), np.float16).reshape(len(some), -1)
        seen[first : first + VECTORS_PER_BLOCK] = centre_vectors(stored, model.mean)
    return seen


def _pair_by_rare_tags(connection: apsw.Connection, scope: int, keys: Any, most: int) -> list[tuple[int, int]]:
    """Pairs of facts with a rare tag in common: those that share the most tags, then the newest."""
    listed = apsw.carray(np.ascontiguousarray(keys))
    found: Any = connection.execute(_SELECT_TAG_PAIRS, (listed, scope, MAX_RARE_TAG_FACTS + 1))
    pairs, taken = [], dict[int, int]()
    for mine, theirs in found:
        taken[mine] = taken.get(mine, 0) + 1
        if taken[mine] <= most:
            pairs.append((mine, theirs))
    return pairs


def _convert_pairs_to_rows(held: NDArray[np.int64], seen: Vectors, pairs: list[tuple[int, int]]) -> NeighbourPairs:
    """Pairs of keys as pairs of rows with their cosines; those without a vector are left out."""
    table = np.array(pairs, np.int64).reshape(-1, 2)
    table = table[np.isin(table, held).all(axis=1)]
    order = np.argsort(held)
    left, right = (order[np.searchsorted(held[order], table[:, side])] for side in (0, 1))
    return NeighbourPairs(left, right, np.einsum("ij,ij->i", seen[left], seen[right]).astype(np.float32))


def _join_candidates(parts: list[NeighbourCandidates]) -> NeighbourCandidates:
    if not parts:
        return NeighbourCandidates((), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
    return NeighbourCandidates(
        tuple(id for part in parts for id in part.ids),
        np.concatenate([part.left + shift for part, shift in zip(parts, shifts, strict=False)]),
        np.concatenate([part.right + shift for part, shift in zip(parts, shifts, strict=False)]),
        np.concatenate([part.cosines for part in parts]),
    )
