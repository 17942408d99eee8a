"""Kinship: which facts may belong together, by their vectors and by rare tags they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.likeness import centred
from cofire.dynamics.neighbours import Pairs, nearest_pairs
from cofire.embedders.base import StoredModel, Vectors
from cofire.stores.base import Kin
from cofire.stores.sqlite.rows import keys_of_scope

EXACT_UP_TO = 4_096
BLOCK = 4_096
RARE_TAG = 50

_SCOPE = """
SELECT f.id, f.key, v.vector FROM carray(?) c CROSS JOIN facts f ON f.key = c.value CROSS JOIN vectors v ON v.fact = f.key
WHERE NOT f.archived
"""
# Which tags are rare is settled before anything is joined: a common one would bring in half the store.
_SHARING = """
WITH mine AS MATERIALIZED (SELECT t.fact, t.tag FROM carray(?1) c CROSS JOIN tags t ON t.fact = c.value),
  rare AS MATERIALIZED (SELECT d.tag FROM (SELECT DISTINCT tag FROM mine) d
    WHERE (SELECT count(*) FROM (SELECT 1 FROM tags WHERE tag = d.tag LIMIT ?3)) < ?3)
SELECT mine.fact, theirs.fact FROM rare CROSS JOIN mine ON mine.tag = rare.tag
CROSS JOIN tags theirs ON theirs.tag = mine.tag AND theirs.fact <> mine.fact
CROSS JOIN facts f ON f.key = theirs.fact AND f.scope = ?2 AND NOT f.archived
CROSS JOIN vectors v ON v.fact = f.key
GROUP BY mine.fact, theirs.fact ORDER BY mine.fact, count(*) DESC, theirs.fact DESC
"""


def kin(connection: apsw.Connection, model: StoredModel | None, ids: Sequence[str], k: int, sharing: int) -> Kin:
    """Pairs over all scopes that the ids are of."""
    if model is None or not ids:
        return _joined([])
    sql = "SELECT f.scope, f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value ORDER BY f.scope"
    wanted = np.array(connection.execute(sql, (apsw.carray(tuple(ids)),)).fetchall(), np.int64).reshape(-1, 2)
    parts = [
        _scope_kin(connection, model, wanted[wanted[:, 0] == scope], k, sharing) for scope in np.unique(wanted[:, 0])
    ]
    return _joined(parts)


def _scope_kin(connection: apsw.Connection, model: StoredModel, asked: Any, k: int, sharing: int) -> Kin:
    """Kin within one scope; `asked` has its key and a fact's in every row."""
    scope, keys = int(asked[0, 0]), asked[:, 1]
    rows: list[Any] = sorted(connection.execute(_SCOPE, (apsw.carray(keys_of_scope(connection, scope)),)))
    held = np.array([row[1] for row in rows], np.int64)
    seen = _seen([row[2] for row in rows], model)
    wanted = np.flatnonzero(np.isin(held, keys))
    near = nearest_pairs(seen, wanted, k, exact_up_to=EXACT_UP_TO)
    shared = _alike(held, seen, _sharing(connection, scope, keys, sharing))
    return Kin(
        tuple(row[0] for row in rows),
        np.concatenate([near.left, shared.left]),
        np.concatenate([near.right, shared.right]),
        np.concatenate([near.cosines, shared.cosines]),
    )


def _seen(vectors: list[bytes], model: StoredModel) -> Vectors:
    """Block by block, so that what lies between the bytes and the vectors stays small."""
    seen = np.empty((len(vectors), model.model.dimension), np.float32)
    for first in range(0, len(vectors), BLOCK):
        some = vectors[first : first + BLOCK]
        stored = np.frombuffer(b"".join(some), np.float16).reshape(len(some), -1)
        seen[first : first + BLOCK] = centred(stored, model.mean)
    return seen


def _sharing(connection: apsw.Connection, scope: int, keys: Any, most: int) -> list[tuple[int, int]]:
    """Pairs of facts with a rare tag in common: those that share the most tags, then the newest."""
    listed = apsw.carray(np.ascontiguousarray(keys))
    found: Any = connection.execute(_SHARING, (listed, scope, RARE_TAG + 1))
    pairs, taken = [], dict[int, int]()
    for mine, theirs in found:
        taken[mine] = taken.get(mine, 0) + 1
        if taken[mine] <= most:
            pairs.append((mine, theirs))
    return pairs


def _alike(held: NDArray[np.int64], seen: Vectors, pairs: list[tuple[int, int]]) -> Pairs:
    """Pairs of keys as pairs of rows with their cosines; those without a vector are left out."""
    table = np.array(pairs, np.int64).reshape(-1, 2)
    table = table[np.isin(table, held).all(axis=1)]
    order = np.argsort(held)
    left, right = (order[np.searchsorted(held[order], table[:, side])] for side in (0, 1))
    return Pairs(left, right, np.einsum("ij,ij->i", seen[left], seen[right]).astype(np.float32))


def _joined(parts: list[Kin]) -> Kin:
    if not parts:
        return Kin((), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
    return Kin(
        tuple(id for part in parts for id in part.ids),
        np.concatenate([part.left + shift for part, shift in zip(parts, shifts, strict=False)]),
        np.concatenate([part.right + shift for part, shift in zip(parts, shifts, strict=False)]),
        np.concatenate([part.cosines for part in parts]),
    )
