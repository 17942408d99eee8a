"""Wires: how the default walk goes along stored edges: what users connected, what causes what, what was recalled together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from cofire.dynamics.conductance import MISSING_WEIGHT
from cofire.graph_asks import Expand
from cofire.ranking import ranking
from cofire.spreads import Hop
from cofire.stores.base import Conducting, Expansion
from cofire.verbs.asking import Question
from cofire.verbs.slates import Numbers


def wires(seeds: Mapping[str, float], asked: Question, floor: float, most: int) -> Expand:
    """Ask for the stored edges of seeds."""
    return Expand(tuple(seeds), Conducting(asked.where, None, floor, most, names=False, without=silent()))


def hops_along(found: Expansion, seeds: Mapping[str, float]) -> dict[str, Hop]:
    """The best hop along a stored edge to each fact that one leads to. A seed is not paid for what comes from a weaker one."""
    if not found.kind:
        return {}
    energies = carried(found, seeds)
    hops: dict[str, Hop] = {}
    for row in np.argsort(-energies, kind="stable").tolist():
        source, target = found.ids[found.source[row]], found.ids[found.target[row]]
        if energies[row] > 0 and target not in hops and seeds.get(target, 0.0) < seeds[source]:
            weight, confidence = (_said(values[row]) for values in (found.weight, found.confidence))
            hops[target] = Hop(
                source, target, found.kind[row], weight, confidence, found.via[row], float(energies[row])
            )
    return hops


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
    started = np.array([seeds.get(id, 0.0) for id in found.ids], np.float64)
    weight = np.where(np.isnan(found.weight), MISSING_WEIGHT, found.weight)
    sure = np.where(np.isnan(found.confidence), 1.0, found.confidence)
    fan = np.maximum(1, found.degree)[found.source] ** ranking().edges.fan if len(found.source) else 1.0
    return np.asarray(started[found.source] * worth * weight * sure / fan)


def _said(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
