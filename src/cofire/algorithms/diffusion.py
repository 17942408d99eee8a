"""Diffusion: activation that decays per hop, refined by a PageRank-like mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import pad_last_axis, strongest_rows
from cofire.algorithms.conductance import ConductanceEdges, Floats

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DiffusionRule:
    """The constants: `decay` per hop, the number of `hops`, and how many facts are `expanded` a hop and kept in all.

    Then come `iterations` of refinement at `damping`.
    """

    decay: float
    hops: int
    expanded: int
    damping: float
    iterations: int


@dataclass(frozen=True, slots=True)
class DiffusionHop:
    """The state after a hop. `frontier` is what arrived and is kept, `trails` the sum so far: a row a seed, a column a fact.

    `passed` is the activation along each edge, `reached` the kept activation of each fact; `dropped` marks facts below
    the strongest ones.
    """

    frontier: Floats
    trails: Floats
    passed: Floats
    reached: Floats
    dropped: Mask


def diffuse_hop(
    frontier: Floats, trails: Floats, edges: ConductanceEdges, rule: DiffusionRule, ties: Sequence[str]
) -> DiffusionHop:
    """One hop for all seeds. There may be more facts now, as many as `ties`, than columns in the arrays."""
    frontier, trails = pad_last_axis(frontier, len(ties)), pad_last_axis(trails, len(ties))
    visited = trails > 0
    arrived = compute_arrivals(frontier, visited, edges, decay=rule.decay)
    total: Floats = arrived.sum(axis=0)
    kept = keep_strongest(total, ties, most=rule.expanded)
    passing = (frontier[:, edges.source] * ~visited[:, edges.target]).sum(axis=0)
    passed = passing * edges.conductance * rule.decay
    return DiffusionHop(arrived * kept, trails + arrived * kept, passed, total * kept, (total > 0) & ~kept)


def compute_arrivals(activation: Floats, visited: Mask, edges: ConductanceEdges, *, decay: float) -> Floats:
    """The activation that arrives after a hop: aⱼ = Σᵢ aᵢ·wᵢⱼ·cᵢⱼ·decay over the parents i (001). A row a seed, a column a fact.

    A fact that a seed has visited gets no more activation from it. An edge of confidence ½ passes half:

    >>> edges = ConductanceEdges(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 0.5]), np.arange(2))
    >>> compute_arrivals(np.array([[1.0, 0.0, 0.0]]), np.array([[True, False, False]]), edges, decay=0.7).tolist()
    [[0.0, 0.7, 0.35]]
    """
    seeds, facts = activation.shape
    passed = activation[:, edges.source] * edges.conductance * decay
    cells = np.arange(seeds)[:, None] * facts + edges.target
    arrived = np.bincount(cells.ravel(), weights=passed.ravel(), minlength=seeds * facts).reshape(seeds, facts)
    return np.where(visited, 0.0, arrived)


def keep_strongest(activation: Floats, ties: Sequence[str], *, most: int) -> Mask:
    """Marks the `most` strongest facts that have any activation; of equals the smaller of `ties`.

    >>> keep_strongest(np.array([0.2, 0.5, 0.0, 0.2]), "dcba", most=2).tolist()
    [False, True, False, True]
    """
    kept = np.zeros(len(activation), np.bool_)
    kept[strongest_rows(activation, ties, most)] = True
    return kept & (activation > 0)


def choose_refined_facts(total: Floats, is_seed: Mask, ties: Sequence[str], *, most: int) -> Mask:
    """The facts that are refined: the seeds, and the best of what was reached."""
    return is_seed | keep_strongest(np.where(is_seed, 0.0, total), ties, most=most)


def refine_kept_facts(total: Floats, kept: Mask, edges: ConductanceEdges, rule: DiffusionRule) -> Floats:
    """The activation of the kept facts, refined along the edges between them; all others are at 0."""
    is_inner = kept[edges.source] & kept[edges.target] & (edges.source != edges.target)
    inner = edges.at(np.flatnonzero(is_inner))
    refined = refine_activation(np.where(kept, total, 0.0), inner, damping=rule.damping, iterations=rule.iterations)
    return np.where(kept, refined, 0.0)


def refine_activation(activation: Floats, edges: ConductanceEdges, *, damping: float, iterations: int) -> Floats:
    """PageRank among the reached facts, restarted at their activations (001; the rulings' reading).

    next = (1 − d)·a₀ + d·inflow. The inflow is the mean of a fact and of all that have an edge to it, each weighted by its
    edge, itself by 1. Shares of a sum would lift facts with many edges: in the chain S–A–B–C they put A above S.
    A mean keeps the order S ≥ A ≥ B ≥ C at any number of iterations:

    >>> source, target = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 2, 1, 3, 2])
    >>> chain = ConductanceEdges(source, target, np.ones(6), np.arange(6))
    >>> refine_activation(np.array([1.0, 0.7, 0.49, 0.343]), chain, damping=0.85, iterations=8).round(3).tolist()
    [0.761, 0.673, 0.568, 0.506]
    """
    facts, current = len(activation), activation
    total_weight = 1 + np.bincount(edges.target, weights=edges.conductance, minlength=facts)
    for _ in range(iterations):
        received = np.bincount(edges.target, weights=current[edges.source] * edges.conductance, minlength=facts)
        current = (1 - damping) * activation + damping * (current + received) / total_weight
    return current
