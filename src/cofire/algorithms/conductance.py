"""How much activation an edge passes on, by the factors of each spreading algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.index import native_activation as compiled
from cofire.index.native import LIBRARY
from cofire.index.native_activation import NativeConductingLinks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# What a link without a weight counts (003 §6.2), and one without a confidence (001: legacy edges pass as fully trusted).
MISSING_WEIGHT = 0.01
MISSING_CONFIDENCE = 1.0
# A little less than all, however it is rounded.
ALMOST_ONE = 1 - 1e-9


@dataclass(frozen=True)
class ConductanceEdges:
    """What conducts from row to row, and how well: from 0, not at all, to 1, all of it.

    `strongest` is for each wire the one of the given links that carries most of it.
    """

    source: Ints
    target: Ints
    conductance: Floats
    strongest: Ints

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.source, self.target, self.conductance, self.strongest

    @cached_property
    def in_c(self) -> NativeConductingLinks:
        """As compiled code reads them."""
        return NativeConductingLinks(self.source, self.target, self.conductance, self.strongest)

    @classmethod
    def read_by_c(cls, columns: tuple[Ints, Ints, Floats, Ints], in_c: NativeConductingLinks) -> ConductanceEdges:
        """Those that compiled code has made, and reads as they are."""
        made = cls(*columns)
        made.__dict__["in_c"] = in_c
        return made

    def at(self, rows: Ints) -> ConductanceEdges:
        """Some of the wires."""
        return ConductanceEdges(*(column[rows] for column in self.columns))

    def and_those(self, more: ConductanceEdges, links: int) -> ConductanceEdges:
        """With more wires, whose links are numbered after so many."""
        if not len(self.source):
            return (
                more
                if not links
                else ConductanceEdges(more.source, more.target, more.conductance, more.strongest + links)
            )
        later = more.source, more.target, more.conductance, more.strongest + links
        return ConductanceEdges(*map(np.concatenate, zip(self.columns, later, strict=True)))


NO_CONDUCTANCE_EDGES = ConductanceEdges(
    np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
)


def tag_similarity(edge_tags: AbstractSet[str], query_tags: AbstractSet[str], *, floor: float) -> float:
    """Jaccard overlap lifted to a floor, so that an untagged edge still conducts (003 §3).

    floor + (1 − floor)·|E ∩ Q|/|E ∪ Q|; 1 where the question has no tags. Upper and lower case are one.
    The page's example has one tag of six in common:

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
    """The same for many links at once; links with the same tags are compared once."""
    if not query_tags:
        return np.ones(len(tags))
    distinct = {kept: tag_similarity(kept, query_tags, floor=floor) for kept in set(tags)}
    return np.array([distinct[kept] for kept in tags], np.float64)


def build_synapse_edges(source: Ints, target: Ints, *, weight: Floats, degree: Ints) -> ConductanceEdges:
    """w/d: a fact shares what it passes on among its neighbours (000 step 2). `degree` is by row.

    >>> build_synapse_edges(
    ...     np.array([0]), np.array([1]), weight=np.array([0.8]), degree=np.array([4, 1])
    ... ).conductance.tolist()
    [0.2]
    """
    if LIBRARY is not None:
        return ConductanceEdges(*compiled.merge_parallel_links(source, target, weight, None, degree))
    return _divide_by_degree(merge_parallel_edges(source, target, _fill_weights(weight)), degree, power=1.0)


def build_diffusion_edges(source: Ints, target: Ints, *, weight: Floats, confidence: Floats) -> ConductanceEdges:
    """w·c: a half-trusted link passes half (001).

    >>> zero, one = np.array([0]), np.array([1])
    >>> build_diffusion_edges(zero, one, weight=np.array([0.8]), confidence=np.array([0.5])).conductance.tolist()
    [0.4]
    """
    if LIBRARY is not None:
        return ConductanceEdges(*compiled.merge_parallel_links(source, target, weight, confidence, None))
    return merge_parallel_edges(source, target, _fill_weights(weight) * _fill_confidences(confidence))


def build_energy_edges(
    source: Ints, target: Ints, *, weight: Floats, similarity: Floats | None, degree: Ints
) -> ConductanceEdges:
    """w/√d·s with the similarity s of tags (003 §4), which is 1 where none is given. Links are not merged: energy takes one of them,
    the best.

    >>> zero, one = np.array([0]), np.array([1])
    >>> build_energy_edges(
    ...     zero, one, weight=np.array([0.8]), similarity=np.array([0.5]), degree=np.array([4])
    ... ).conductance
    array([0.2])
    """
    links = np.arange(len(source))
    if LIBRARY is not None:
        return ConductanceEdges(
            source, target, compiled.compute_fan_conductance(source, weight, similarity, degree), links
        )
    lets = _fill_weights(weight) if similarity is None else _fill_weights(weight) * similarity
    return _divide_by_degree(ConductanceEdges(source, target, lets, links), degree, power=0.5)


def merge_parallel_edges(source: Ints, target: Ints, conductance: Floats) -> ConductanceEdges:
    """Parallel links as one wire that conducts unless none of them does: noisy-or, 1 − Π(1 − c), at most 1.

    Wires are ordered by source, then by target.

    >>> wires = merge_parallel_edges(np.array([0, 0, 2]), np.array([1, 1, 0]), np.array([0.5, 0.6, 0.3]))
    >>> wires.source.tolist(), wires.target.tolist(), wires.conductance.round(4).tolist(), wires.strongest.tolist()
    ([0, 2], [1, 0], [0.8, 0.3], [1, 2])
    """
    clipped = np.clip(conductance, 0.0, 1.0)
    order = np.lexsort((np.arange(len(source)), -clipped, target, source))
    first = _pair_run_starts(source[order], target[order])
    if not len(first):
        return ConductanceEdges(source, target, clipped, order)
    strongest = order[first]
    single = np.diff(first, append=len(order)) == 1
    together = 1 - np.multiply.reduceat(1 - clipped[order], first)
    return ConductanceEdges(
        source[strongest], target[strongest], np.where(single, clipped[strongest], together), strongest
    )


def merge_parallel_edges_reference(links: Sequence[tuple[int, int, float]]) -> dict[tuple[int, int], float]:
    """The same, link by link: the definition that `merge_parallel_edges` must agree with."""
    found: dict[tuple[int, int], float] = {}
    for source, target, conductance in links:
        known = found.get((source, target), 0.0)
        found[source, target] = 1 - (1 - known) * (1 - min(1.0, max(0.0, conductance)))
    return found


def _divide_by_degree(wires: ConductanceEdges, degree: Ints, *, power: float) -> ConductanceEdges:
    """The more neighbours a fact has, the less each gets: c/dᵖ."""
    among = np.maximum(degree[wires.source], 1).astype(np.float64) ** power
    return ConductanceEdges(wires.source, wires.target, wires.conductance / among, wires.strongest)


def _fill_weights(weight: Floats) -> Floats:
    return np.clip(np.where(np.isnan(weight), MISSING_WEIGHT, weight), 0.0, 1.0)


def _fill_confidences(confidence: Floats) -> Floats:
    return np.clip(np.where(np.isnan(confidence), MISSING_CONFIDENCE, confidence), 0.0, 1.0)


def _pair_run_starts(source: Ints, target: Ints) -> Ints:
    """Where each run of equal pairs begins."""
    return np.flatnonzero(np.diff(source, prepend=-1).astype(bool) | np.diff(target, prepend=-1).astype(bool))


def _casefold_tags(tags: AbstractSet[str]) -> frozenset[str]:
    return frozenset(tag.casefold() for tag in tags)
