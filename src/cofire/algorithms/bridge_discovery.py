"""Bridges: weak edges between communities, and facts that connect two results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.conductance import MISSING_CONFIDENCE, MISSING_WEIGHT

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CommunityBridge:
    """A link between two communities. `a` is the smaller node."""

    a: int
    b: int
    weight: float


def bridge_weight(cosine: float, *, share: float, ceiling: float) -> float:
    """The weight of a bridge, which is uncertain: min(ceiling, share · cosine).

    >>> bridge_weight(0.5, share=0.5, ceiling=0.3), bridge_weight(0.9, share=0.5, ceiling=0.3)
    (0.25, 0.3)
    """
    return min(ceiling, share * cosine)


def find_community_bridges(
    community: Ints,
    pairs: tuple[Ints, Ints],
    cosine: Floats,
    *,
    standing: tuple[Ints, Ints],
    floor: float,
    smallest: int,
    share: float,
    ceiling: float,
    most: int,
) -> tuple[CommunityBridge, ...]:
    """Consolidation bridges (000, Auto-Linking), the closest first: at most one per two communities, their closest pair.

    `pairs` are candidates with their cosines. Communities that the links `standing` join already get no
    other bridge. Communities under the `smallest` size and pairs under the `floor` are left out. Of equally
    close pairs the smaller nodes win. Here nodes 0 and 1 make community 0, nodes 2 and 3 community 1:

    >>> community, no_nodes = np.array([0, 0, 1, 1]), np.zeros(0, dtype=int)
    >>> pairs, cosine = (np.array([0, 3, 0]), np.array([2, 1, 1])), np.array([0.4, 0.5, 0.9])
    >>> limits = dict(floor=0.3, smallest=2, share=0.5, ceiling=0.3, most=10)
    >>> find_community_bridges(community, pairs, cosine, standing=(no_nodes, no_nodes), **limits)
    (CommunityBridge(a=1, b=3, weight=0.25),)
    """
    a, b = np.minimum(*pairs), np.maximum(*pairs)
    large = (np.bincount(community) >= smallest)[community] if len(community) else np.zeros(0, dtype=np.bool_)
    rows = np.flatnonzero((community[a] != community[b]) & large[a] & large[b] & (cosine >= floor))
    joined_keys = _community_pair_keys(community, *standing)
    rows = rows[~np.isin(_community_pair_keys(community, a[rows], b[rows]), joined_keys)]
    closest_first = rows[np.lexsort((b[rows], a[rows], -cosine[rows]))]
    _, first = np.unique(_community_pair_keys(community, a[closest_first], b[closest_first]), return_index=True)
    return tuple(
        CommunityBridge(int(a[pair]), int(b[pair]), bridge_weight(float(cosine[pair]), share=share, ceiling=ceiling))
        for pair in closest_first[np.sort(first)[:most]]
    )


def _community_pair_keys(community: Ints, a: Ints, b: Ints) -> Ints:
    """A key for the two communities of each pair, in either order."""
    first, second = community[a], community[b]
    community_count = int(community.max(initial=0)) + 1
    return np.minimum(first, second) * community_count + np.maximum(first, second)


# The factor of each kind of structural link (000, BridgeDiscovery). Other kinds make no bridges.
EDGE_KIND_MULTIPLIERS: Mapping[str, float] = MappingProxyType(
    {"entity": 1.2, "about": 1.2, "causes": 1.3, "semantic": 0.8, "similar": 0.8, "follows": 0.9}
)


@dataclass(frozen=True, slots=True)
class BridgeRow:
    """A fact between two results: its row, its score, and its two links, that of the stronger result first."""

    row: int
    score: float
    links: tuple[int, int]


def bridge_conductances(kinds: Sequence[str], weight: Floats, confidence: Floats, *, decay: float) -> Floats:
    """min(1, decay · multiplier · weight · confidence) per link, so that no bridge scores above what it joins.

    >>> bridge_conductances(["causes", "similar"], np.array([0.5, np.nan]), np.array([np.nan, 0.5]), decay=0.8).round(
    ...     4
    ... ).tolist()
    [0.52, 0.0032]
    """
    multipliers = np.array([EDGE_KIND_MULTIPLIERS.get(kind, 0.0) for kind in kinds], np.float64)
    weights = np.where(np.isnan(weight), MISSING_WEIGHT, weight)
    confidences = np.where(np.isnan(confidence), MISSING_CONFIDENCE, confidence)
    return np.clip(decay * multipliers * weights * confidences, 0.0, 1.0)


def find_bridge_rows(
    scores: Floats, source: Ints, target: Ints, conductance: Floats, *, facts: int, most: int
) -> tuple[BridgeRow, ...]:
    """The best bridges: facts with links from two results that no link joins.

    The first rows are the results with their scores, best first. Every link leads from a result to one of
    `facts` rows. A bridge between a and b scores min(sₐ, s_b) · cₐ · c_b, the maximum over all such pairs,
    so never above the weaker result. Results with a score of 0 or less are not bridged. Of equal bridges
    the earlier row is first. Here row 2 lies between results 0 and 1:

    >>> find_bridge_rows(
    ...     np.array([2.0, 1.0]), np.array([0, 1]), np.array([2, 2]), np.array([0.9, 0.5]), facts=3, most=5
    ... )
    (BridgeRow(row=2, score=0.45, links=(0, 1)),)
    """
    results = len(scores)
    strength, link = _find_strongest_links(source, target, conductance, shape=(results, facts))
    joined = strength[:, :results] > 0
    best, pair = np.zeros(facts), np.zeros((facts, 2), np.int64)
    for a, b in combinations(range(results), 2):
        if joined[a, b] or joined[b, a] or min(scores[a], scores[b]) <= 0:
            continue
        pair_scores = min(scores[a], scores[b]) * strength[a] * strength[b]
        better = pair_scores > best
        best[better] = pair_scores[better]
        pair[better] = (a, b)
    best[:results] = 0.0
    order = np.argsort(-best, kind="stable")[:most]
    return tuple(
        BridgeRow(row, float(best[row]), (int(link[pair[row, 0], row]), int(link[pair[row, 1], row])))
        for row in order.tolist()
        if best[row] > 0
    )


def _find_strongest_links(
    source: Ints, target: Ints, conductance: Floats, *, shape: tuple[int, int]
) -> tuple[Floats, Ints]:
    """The conductance and the row of the strongest link from each result to each fact."""
    strength, link = np.zeros(shape), np.full(shape, -1, np.int64)
    weakest_first = np.lexsort((-np.arange(len(source)), conductance))
    at = (source[weakest_first], target[weakest_first])
    strength[at], link[at] = conductance[weakest_first], weakest_first
    return strength, link


def find_bridge_rows_reference(
    scores: Sequence[float], links: Sequence[tuple[int, int, float]], *, most: int
) -> list[tuple[int, float]]:
    """The same, fact by fact: the definition that `find_bridge_rows` must agree with."""
    strength: dict[tuple[int, int], float] = {}
    for source, target, conductance in links:
        strength[source, target] = max(conductance, strength.get((source, target), 0.0))
    joined = {pair for pair, conductance in strength.items() if conductance > 0}
    best: dict[int, float] = {}
    for fact in {target for _, target, _ in links} - set(range(len(scores))):
        for a, b in combinations(range(len(scores)), 2):
            if (a, b) not in joined and (b, a) not in joined:
                score = min(scores[a], scores[b]) * strength.get((a, fact), 0.0) * strength.get((b, fact), 0.0)
                best[fact] = max(score, best.get(fact, 0.0))
    bridges = [(row, score) for row, score in best.items() if score > 0]
    return sorted(bridges, key=lambda bridge: (-bridge[1], bridge[0]))[:most]
