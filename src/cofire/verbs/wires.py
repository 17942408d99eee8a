"""Wires: how the default walk goes along stored edges: what users connected, what causes what, what was recalled together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from cofire.dynamics.conductance import MISSING_WEIGHT
from cofire.graph_asks import Expand
from cofire.ranking import ranking
from cofire.spreads import Hop
from cofire.stores.base import Conducting, Expansion
from cofire.verbs.asking import Question
from cofire.verbs.slates import Numbers
from cofire.verbs.terrain import said


class Wired(Mapping[str, Hop]):
    """The best hop along a stored edge to each fact that one leads to, and its energy. Hops are spelled out when somebody asks how
    the walk came there."""

    def __init__(self) -> None:
        self.energies: dict[str, float] = {}
        self._links: dict[str, tuple[str, Expansion, int]] = {}

    def add(self, found: Expansion, seeds: Mapping[str, float]) -> None:
        """Take in what links carry; of equals the first stays. A seed is not paid for what comes from a weaker one."""
        ids, energies = tuple(found.ids), carried(found, seeds)
        for row in np.argsort(-energies, kind="stable").tolist():
            source, target, energy = ids[found.source[row]], ids[found.target[row]], float(energies[row])
            if energy > self.energies.get(target, 0.0) and seeds.get(target, 0.0) < seeds[source]:
                self.energies[target], self._links[target] = energy, (source, found, row)

    def __getitem__(self, id: str) -> Hop:
        source, found, row = self._links[id]
        weight, confidence = (said(values.item(row)) for values in (found.weight, found.confidence))
        return Hop(source, id, found.kind[row], weight, confidence, found.via[row], self.energies[id])

    def __contains__(self, id: object) -> bool:
        return id in self.energies

    def __iter__(self) -> Iterator[str]:
        return iter(self.energies)

    def __len__(self) -> int:
        return len(self.energies)


def wires(seeds: Sequence[str], asked: Question, floor: float, most: int) -> Expand:
    """Ask for the stored edges of seeds."""
    return Expand(tuple(seeds), Conducting(asked.where, None, floor, most, names=False, without=silent()))


def hops_along(edges: Iterable[Expansion], seeds: Mapping[str, float]) -> Wired:
    """Where stored edges lead from seeds."""
    wired = Wired()
    for found in edges:
        if found.kind:
            wired.add(found, seeds)
    return wired


def silent() -> frozenset[str]:
    """Kinds of edge that carry nothing in the walk."""
    return _worthless(tuple(ranking().edges.kinds.items()))


@lru_cache(maxsize=16)
def _worthless(kinds: tuple[tuple[str, float], ...]) -> frozenset[str]:
    return frozenset(kind for kind, worth in kinds if not worth)


def carried(found: Expansion, seeds: Mapping[str, float]) -> Numbers:
    """What each link carries: seed · kind · weight · confidence / degree^p (ruling 31)."""
    kinds = ranking().edges.kinds
    worth = np.array([kinds.get(kind, kinds["other"]) for kind in found.kind], np.float64)
    # Links leave those who were asked for, which stand first.
    started = np.array([seeds.get(id, 0.0) for id in found.ids[: len(found.degree)]], np.float64)
    weight = np.where(np.isnan(found.weight), MISSING_WEIGHT, found.weight)
    sure = np.where(np.isnan(found.confidence), 1.0, found.confidence)
    fan = np.maximum(1, found.degree)[found.source] ** ranking().edges.fan if len(found.source) else 1.0
    return np.asarray(started[found.source] * worth * weight * sure / fan)
