"""How much activation an edge passes on, by the factors of each spreading algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A link without a weight counts this much (003 §6.2). One without a confidence is fully trusted (001).
MISSING_WEIGHT = 0.01
MISSING_CONFIDENCE = 1.0


@dataclass(frozen=True)
class ConductanceEdges:
    """Directed edges between rows, and how well each conducts: from 0, nothing, to 1, everything.

    `strongest` is for each edge the number of the link that carries most of it.
    """

    source: Ints
    target: Ints
    conductance: Floats
    strongest: Ints

    def at(self, rows: Ints) -> ConductanceEdges:
        """Some of the edges."""
        return ConductanceEdges(self.source[rows], self.target[rows], self.conductance[rows], self.strongest[rows])

    def append(self, more: ConductanceEdges, links: int) -> ConductanceEdges:
        """These and more edges, whose links are numbered from `links` on."""
        return ConductanceEdges(
            np.concatenate([self.source, more.source]),
            np.concatenate([self.target, more.target]),
            np.concatenate([self.conductance, more.conductance]),
            np.concatenate([self.strongest, more.strongest + links]),
        )


NO_CONDUCTANCE_EDGES = ConductanceEdges(
    np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
)


def tag_similarity(edge_tags: AbstractSet[str], query_tags: AbstractSet[str], *, floor: float) -> float:
    """Jaccard overlap lifted to a floor, so that an untagged edge still conducts (003 §3).

    floor + (1 − floor)·|E ∩ Q|/|E ∪ Q|; 1 where the question has no tags. Case does not count.
    The example of the page has one tag of six in common:

    >>> edge = {"inventory_policy", "recommendation", "analysis_dependency"}
    >>> query = {"demand_forecasting", "stockout", "safety_stock", "Inventory_Policy"}
    >>> round(tag_similarity(edge, query, floor=0.15), 4)
    0.2917
    """
    ours, theirs = _casefold_tags(edge_tags), _casefold_tags(query_tags)
    if not theirs:
        return 1.0
    return floor + (1 - floor) * len(ours & theirs) / len(ours | theirs)


def tag_similarities(tags: Sequence[frozenset[str]], query_tags: AbstractSet[str], *, floor: float) -> Floats:
    """The same for many links. Equal sets of tags are compared once."""
    if not query_tags:
        return np.ones(len(tags))
    similarities = {distinct: tag_similarity(distinct, query_tags, floor=floor) for distinct in set(tags)}
    return np.array([similarities[link_tags] for link_tags in tags], np.float64)


def build_synapse_edges(source: Ints, target: Ints, *, weight: Floats, degree: Ints) -> ConductanceEdges:
    """w/d: a fact divides its activation among its neighbours (000 step 2). `degree` is that of each link's source.

    >>> build_synapse_edges(
    ...     np.array([0]), np.array([1]), weight=np.array([0.8]), degree=np.array([4])
    ... ).conductance.tolist()
    [0.2]
    """
    edges = merge_parallel_edges(source, target, _fill_weights(weight))
    shares = edges.conductance / np.maximum(degree, 1)[edges.strongest]
    return ConductanceEdges(edges.source, edges.target, shares, edges.strongest)


def build_diffusion_edges(source: Ints, target: Ints, *, weight: Floats, confidence: Floats) -> ConductanceEdges:
    """w·c: a link of confidence ½ passes half (001).

    >>> zero, one = np.array([0]), np.array([1])
    >>> build_diffusion_edges(zero, one, weight=np.array([0.8]), confidence=np.array([0.5])).conductance.tolist()
    [0.4]
    """
    trust = np.clip(np.where(np.isnan(confidence), MISSING_CONFIDENCE, confidence), 0.0, 1.0)
    return merge_parallel_edges(source, target, _fill_weights(weight) * trust)


def build_energy_edges(
    source: Ints, target: Ints, *, weight: Floats, similarity: Floats, degree: Ints
) -> ConductanceEdges:
    """w/√d·s with the similarity s of tags (003 §4). `degree` is that of each link's source.

    Links are not merged: energy takes one of them, the best.

    >>> zero, one = np.array([0]), np.array([1])
    >>> build_energy_edges(
    ...     zero, one, weight=np.array([0.8]), similarity=np.array([0.5]), degree=np.array([4])
    ... ).conductance
    array([0.2])
    """
    conductance = _fill_weights(weight) * similarity / np.sqrt(np.maximum(degree, 1))
    return ConductanceEdges(source, target, conductance, np.arange(len(source)))


def merge_parallel_edges(source: Ints, target: Ints, conductance: Floats) -> ConductanceEdges:
    """Merge parallel links into one edge by noisy-or: 1 − Π(1 − c), at most 1.

    Edges are ordered by source, then by target.

    >>> edges = merge_parallel_edges(np.array([0, 0, 2]), np.array([1, 1, 0]), np.array([0.5, 0.6, 0.3]))
    >>> edges.source.tolist(), edges.target.tolist(), edges.conductance.round(4).tolist(), edges.strongest.tolist()
    ([0, 2], [1, 0], [0.8, 0.3], [1, 2])
    """
    clipped = np.clip(conductance, 0.0, 1.0)
    order = np.lexsort((np.arange(len(source)), -clipped, target, source))
    ordered_source, ordered_target = source[order], target[order]
    is_new_source = np.diff(ordered_source, prepend=-1) != 0
    is_new_target = np.diff(ordered_target, prepend=-1) != 0
    first = np.flatnonzero(is_new_source | is_new_target)
    if not len(first):
        return NO_CONDUCTANCE_EDGES
    strongest = order[first]
    is_single = np.diff(first, append=len(order)) == 1
    noisy_or = 1 - np.multiply.reduceat(1 - clipped[order], first)
    # 1 − (1 − c) is not exactly c: a single link keeps its number.
    merged = np.where(is_single, clipped[strongest], noisy_or)
    return ConductanceEdges(source[strongest], target[strongest], merged, strongest)


def _fill_weights(weight: Floats) -> Floats:
    return np.clip(np.where(np.isnan(weight), MISSING_WEIGHT, weight), 0.0, 1.0)


def _casefold_tags(tags: AbstractSet[str]) -> frozenset[str]:
    return frozenset(tag.casefold() for tag in tags)
