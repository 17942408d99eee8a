"""Late linking: the auto-links that remember left for a dream, those of all waiting facts at once and so as columns. Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.ordering import downwards, first_of_each, in_order, nth_of_each, occurring
from cofire.sheaves import Ints, Sheaf, tags_of_edges
from cofire.stores.base import Kin
from cofire.verbs.autolink import KIND, MODE, link_weights


@dataclass(frozen=True, slots=True)
class LatePairs:
    """New facts with the older ones that they are linked with, and how alike they are. Both are rows of `ids`, which are in order."""

    ids: Sequence[str]
    new: Ints
    old: Ints
    cosines: NDArray[np.float32]

    def at(self, which: Any) -> LatePairs:
        return LatePairs(self.ids, self.new[which], self.old[which], self.cosines[which])

    def newer(self) -> list[str]:
        return [self.ids[row] for row in occurring(len(self.ids), self.new).tolist()]

    def older(self) -> list[str]:
        return [self.ids[row] for row in occurring(len(self.ids), self.old).tolist()]

    def of_new(self, some: Container[str]) -> LatePairs:
        return self.at(self._are(some)[self.new])

    def of_old(self, some: Container[str]) -> LatePairs:
        return self.at(self._are(some)[self.old])

    def _are(self, some: Container[str]) -> NDArray[np.bool_]:
        return np.array([id in some for id in self.ids], np.bool_)


def late_pairs(kin: Kin, least: float, most: int) -> LatePairs:
    """The best older facts for each newer one, at most so many."""
    order = sorted(range(len(kin.ids)), key=kin.ids.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    near = np.flatnonzero(kin.cosines >= least)
    one, other, cosines = rank[kin.left[near]], rank[kin.right[near]], kin.cosines[near]
    new, old = np.maximum(one, other), np.minimum(one, other)
    # Who is kin by nearness and by a tag stands there twice, and their cosines may differ in the last bit.
    once = first_of_each(new, old)
    came = np.empty(len(order), np.int64)
    came[new[::-1]] = np.arange(len(new))[::-1]
    # Turned around, as of equals the younger comes first.
    turn, once = came[new[once]][::-1], once[::-1]
    best = in_order(turn, downwards(cosines[once]))
    kept = once[best[nth_of_each(turn[best]) < most]]
    return LatePairs([kin.ids[row] for row in order], new[kept], old[kept], cosines[kept])


def late_edges(pairs: LatePairs, tags: Mapping[str, tuple[str, ...]]) -> Sheaf:
    """The links, each from the older fact, which has the smaller id. `tags` are those of facts that have any."""
    weight = link_weights(pairs.cosines)
    shared = tags_of_edges(pairs.old, pairs.new, [tags.get(id, ()) for id in pairs.ids])
    return Sheaf(pairs.ids, pairs.old, pairs.new, KIND, weight, np.ones(len(weight)), shared, KIND, MODE)


def late_cites(pairs: LatePairs, gists: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """For each old fact the gists of the new ones by their ids, in the order in which they came.

    >>> pairs = LatePairs(["a", "b", "c"], np.array([2, 1, 2]), np.array([1, 0, 0]), np.zeros(3, np.float32))
    >>> late_cites(pairs, {"b": "tea", "c": "pot"})
    {'b': {'c': 'pot'}, 'a': {'b': 'tea', 'c': 'pot'}}
    """
    by_old = in_order(pairs.old)
    olds, begins, many = np.unique(pairs.old[by_old], return_index=True, return_counts=True)
    new, came = pairs.new[by_old].tolist(), np.argsort(by_old[begins])
    told = [gists.get(id, "") for id in pairs.ids]
    runs = zip(olds[came].tolist(), begins[came].tolist(), (begins + many)[came].tolist(), strict=True)
    return {pairs.ids[old]: {pairs.ids[row]: told[row] for row in new[begin:end]} for old, begin, end in runs}
