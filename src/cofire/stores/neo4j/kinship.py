"""Kin: facts that may belong together, by nearness and by rare tags. Vectors come as bytes, thousands a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cofire.dynamics.likeness import centred
from cofire.dynamics.neighbours import nearest_pairs
from cofire.embedders.base import StoredModel, Vectors
from cofire.stores.base import Kin
from cofire.stores.neo4j import facts
from cofire.stores.neo4j.querying import Query, Querying
from cofire.stores.neo4j.schema import FACT_WORDS

EXACT_UP_TO = 4_096
RARE_TAG = 50
PORTION = 5_000


@dataclass(frozen=True)
class _Scope:
    """The facts of a scope that can be compared, in the order of ids, as seen from the model's resting point."""

    ids: tuple[str, ...]
    seen: Vectors


def kin(ids: Sequence[str], k: int, sharing: int) -> Querying[Kin]:
    """For these facts the k nearest of their scope, and up to `sharing` more that share a rare tag."""
    model = yield from facts.model()
    if model is None or not ids:
        return _joined([])
    asked = list(dict.fromkeys(ids))
    scopes = yield from _scopes(asked, model)
    bearing = yield from _bearing(asked)
    return _joined([_scope_kin(scope, asked, bearing, k, sharing) for scope in scopes])


def _scopes(ids: Sequence[str], model: StoredModel) -> Querying[list[_Scope]]:
    found = yield Query(_VECTORS, {"ids": ids, "portion": PORTION})
    held: dict[str, dict[str, bytes]] = {}
    for scope, some, vectors in found:
        held.setdefault(scope, {}).update(zip(some, vectors, strict=True))
    return [_scope(dict(sorted(one.items())), model) for one in held.values()]


_VECTORS = """
UNWIND $ids AS id MATCH (one:Fact {id: id}) WITH DISTINCT one.scope AS scope
MATCH (z:Scope {scope: scope}) UNWIND range(0, z.told / $portion) AS lot
CALL (scope, lot) {
  MATCH (f:Fact) WHERE f.scope = scope AND f.number > lot * $portion AND f.number <= (lot + 1) * $portion
    AND f.stored IS NOT NULL AND NOT f.archived
  RETURN collect(f.id) AS ids, collect(f.stored) AS vectors
}
RETURN [scope, ids, vectors] AS row
"""


def _scope(held: Mapping[str, bytes], model: StoredModel) -> _Scope:
    stored = np.frombuffer(b"".join(held.values()), np.float16).reshape(len(held), model.model.dimension)
    return _Scope(tuple(held), centred(stored, model.mean))


def _bearing(ids: Sequence[str]) -> Querying[list[list[str]]]:
    """The facts that bear each rare tag of these facts."""
    found = yield Query(_BEARING, {"ids": ids, "index": FACT_WORDS, "rare": RARE_TAG})
    return [list(bearing) for (bearing,) in found]


# The marks of a fact end in those of its tags. A tag is rare if the word index knows no more facts with its mark.
_BEARING = """
UNWIND $ids AS id MATCH (f:Fact {id: id})
WITH f.tags AS tags, split(f.marks, ' ') AS marks UNWIND marks[size(marks) - size(tags)..] AS tag
WITH DISTINCT tag
CALL (tag) {
  CALL db.index.fulltext.queryNodes($index, 'marks:' + tag, {limit: $rare + 1}) YIELD node
  RETURN collect(node.id) AS bearing
}
WITH bearing WHERE size(bearing) <= $rare
RETURN [bearing] AS row
"""


def _scope_kin(scope: _Scope, asked: Sequence[str], bearing: Sequence[Sequence[str]], k: int, most: int) -> Kin:
    place = {id: row for row, id in enumerate(scope.ids)}
    wanted = np.array([place[id] for id in asked if id in place], np.int64)
    near = nearest_pairs(scope.seen, wanted, k, exact_up_to=EXACT_UP_TO)
    shared = _sharing(wanted.tolist(), [[place[id] for id in one if id in place] for one in bearing])
    pairs = [pair for mine, others in shared for pair in _foremost(mine, others, most)]
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T
    cosines = np.einsum("ij,ij->i", scope.seen[left], scope.seen[right]).astype(np.float32)
    return Kin(
        scope.ids,
        np.concatenate([near.left, left]),
        np.concatenate([near.right, right]),
        np.concatenate([near.cosines, cosines]),
    )


def _sharing(wanted: Sequence[int], bearing: Sequence[Sequence[int]]) -> Iterator[tuple[int, Counter[int]]]:
    """How many rare tags each wanted row shares with others."""
    worn: dict[int, list[Sequence[int]]] = {mine: [] for mine in wanted}
    for rows in bearing:
        for row in rows:
            if row in worn:
                worn[row].append(rows)
    for mine, tags in worn.items():
        yield mine, Counter(row for rows in tags for row in rows if row != mine)


def _foremost(mine: int, others: Mapping[int, int], most: int) -> list[tuple[int, int]]:
    """Those that share the most, then the newest."""
    order = sorted(others, key=lambda row: (others[row], row), reverse=True)
    return [(mine, row) for row in order[:most]]


def _joined(parts: Sequence[Kin]) -> Kin:
    shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
    placed = list(zip(parts, shifts.tolist(), strict=False))
    return Kin(
        tuple(id for part in parts for id in part.ids),
        np.concatenate([np.zeros(0, np.int64), *(part.left + shift for part, shift in placed)]),
        np.concatenate([np.zeros(0, np.int64), *(part.right + shift for part, shift in placed)]),
        np.concatenate([np.zeros(0, np.float32), *(part.cosines for part in parts)]),
    )
