"""Kin in the reference store: every fact of a scope compared with every other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from cofire.dynamics.likeness import centred
from cofire.embedders.base import StoredModel
from cofire.model import Fact, Record
from cofire.stores.base import MODEL_RECORD, Floats, Kin

RARE_TAG = 50


class Shelf(Protocol):
    """What is looked at."""

    facts: dict[str, Fact]
    vectors: dict[str, bytes]
    records: dict[str, Record]

    def rows(self, vectors: Sequence[bytes]) -> Floats: ...


def kin(shelf: Shelf, ids: Sequence[str], k: int, sharing: int) -> Kin:
    """For each fact the k nearest of its scope, and some more with which it shares a rare tag."""
    if MODEL_RECORD not in shelf.records:
        return Kin((), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    held = sorted(id for id, fact in shelf.facts.items() if id in shelf.vectors and not fact.archived)
    seen = centred(
        shelf.rows([shelf.vectors[id] for id in held]), StoredModel.decode(shelf.records[MODEL_RECORD].value).mean
    )
    row = {id: at for at, id in enumerate(held)}
    pairs = []
    for id in ids:
        if id in row:
            others = [other for other in held if other != id and shelf.facts[other].scope == shelf.facts[id].scope]
            near = sorted(others, key=lambda other: -float(seen[row[id]] @ seen[row[other]]))[:k]
            pairs += [(row[id], row[other]) for other in [*near, *_sharing(shelf.facts, id, others, sharing)]]
    table: Any = np.array(pairs, np.int64).reshape(-1, 2)
    cosines = np.einsum("ij,ij->i", seen[table[:, 0]], seen[table[:, 1]]).astype(np.float32)
    return Kin(tuple(held), table[:, 0], table[:, 1], cosines)


def _sharing(facts: Mapping[str, Fact], id: str, others: Sequence[str], most: int) -> list[str]:
    """Those with a rare tag in common: first who shares the most, then the newest."""
    often = Counter(tag for fact in facts.values() for tag in fact.tags)
    rare = {tag for tag in facts[id].tags if often[tag] <= RARE_TAG}
    shared = {other: len(rare & set(facts[other].tags)) for other in others}
    found = [other for other in others if shared[other]]
    return sorted(sorted(found, reverse=True), key=lambda other: -shared[other])[:most]
