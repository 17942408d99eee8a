"""Diffusion: activation that decays per hop, refined by a PageRank-like mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import TIE_DECIMALS, pad_last_axis, strongest_rows
from cofire.algorithms.conductance import ConductanceEdges, Floats
from cofire.index import native_activation as compiled
from cofire.index.native import LIBRARY

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DiffusionRule:
    """How far it goes: `decay` a hop, so many `hops`, so many facts `expanded` a hop and kept in all; then `iterations` of
    refinement at `damping`."""

    decay: float
    hops: int
    expanded: int
    damping: float
    iterations: int


@dataclass(frozen=True, slots=True)
class DiffusionHop:
    """Diffusion one hop on: what arrived and is kept and what has come about in all, both with a row a seed and a column a node; what
    `passed` along each wire, what was `reached` and is kept, and who was `kept_out` by stronger ones."""

    frontier: Floats
    trails: Floats
    passed: Floats
    reached: Floats
    kept_out: Mask


def diffuse_hop(
    frontier: Floats, trails: Floats, wires: ConductanceEdges, rule: DiffusionRule, ties: Sequence[str] | Sequence[int]
) -> DiffusionHop:
    """One hop for all seeds. What came before may have fewer columns than there are nodes now, which are as many as `ties`."""
    if LIBRARY is None:
        return diffuse_hop_numpy(frontier, trails, wires, rule, ties)
    return DiffusionHop(
        *compiled.run_diffusion_hop(wires.in_c, frontier, trails, len(ties), ties, decay=rule.decay, most=rule.expanded)
    )


def diffuse_hop_numpy(
    frontier: Floats, trails: Floats, wires: ConductanceEdges, rule: DiffusionRule, ties: Sequence[str] | Sequence[int]
) -> DiffusionHop:
    """The same where there is no compiled code."""
    frontier, trails = pad_last_axis(frontier, len(ties)), pad_last_axis(trails, len(ties))
    seen = trails > 0
    arrived = compute_arrivals(frontier, seen, wires, decay=rule.decay)
    total: Floats = arrived.sum(axis=0)
    kept = keep_strongest(total, ties, most=rule.expanded)
    passed = (frontier[:, wires.source] * ~seen[:, wires.target]).sum(axis=0) * wires.conductance * rule.decay
    return DiffusionHop(arrived * kept, trails + arrived * kept, passed, total * kept, (total > 0) & ~kept)


def compute_arrivals(activation: Floats, seen: Mask, wires: ConductanceEdges, *, decay: float) -> Floats:
    """What arrives one hop on: aⱼ = Σᵢ aᵢ·wᵢⱼ·cᵢⱼ·decay over the distinct parents i (001; a row a seed, a column a node).

    What a seed has seen at an earlier hop gets nothing again, so that no activation comes back. A half-trusted edge gives half:

    >>> wires = ConductanceEdges(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 0.5]), np.arange(2))
    >>> compute_arrivals(np.array([[1.0, 0.0, 0.0]]), np.array([[True, False, False]]), wires, decay=0.7).tolist()
    [[0.0, 0.7, 0.35]]
    """
    seeds, nodes = activation.shape
    passed = activation[:, wires.source] * wires.conductance * decay
    places = np.arange(seeds)[:, None] * nodes + wires.target
    arrived = np.bincount(places.ravel(), weights=passed.ravel(), minlength=seeds * nodes).reshape(seeds, nodes)
    return np.where(seen, 0.0, arrived)


def keep_strongest(activation: Floats, ties: Sequence[str] | Sequence[int], *, most: int) -> Mask:
    """Which nodes are kept: so many of the strongest that have any activation; of equals the smaller of `ties`.

    >>> keep_strongest(np.array([0.2, 0.5, 0.0, 0.2]), "dcba", most=2).tolist()
    [False, True, False, True]
    """
    if LIBRARY is not None:
        return compiled.select_highest(activation, ties, most=most)
    kept = np.zeros(len(activation), np.bool_)
    kept[strongest_rows(activation, ties, most)] = True
    return kept & (activation > 0)


def refine_activation(activation: Floats, wires: ConductanceEdges, *, damping: float, iterations: int) -> Floats:
    """PageRank among what was found, begun anew at what was found (001; the rulings' reading).

    next = (1 − d)·a₀ + d·inflow, with inflow the mean of a node and all that have an edge to it, each weighed by its edge,
    itself by 1. Passing on shares of a sum instead would lift whoever has many edges: in the chain S–A–B–C it puts A above
    S. A mean keeps their order, S ≥ A ≥ B ≥ C, at any number of iterations:

    >>> source, target = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 2, 1, 3, 2])
    >>> chain = ConductanceEdges(source, target, np.ones(6), np.arange(6))
    >>> refine_activation(np.array([1.0, 0.7, 0.49, 0.343]), chain, damping=0.85, iterations=8).round(3).tolist()
    [0.761, 0.673, 0.568, 0.506]
    """
    nodes, found = len(activation), activation
    heard = 1 + np.bincount(wires.target, weights=wires.conductance, minlength=nodes)
    for _ in range(iterations):
        told = np.bincount(wires.target, weights=found[wires.source] * wires.conductance, minlength=nodes)
        found = (1 - damping) * activation + damping * (found + told) / heard
    return found


def edges_between(kept: Mask, wires: ConductanceEdges) -> ConductanceEdges:
    """The wires between nodes that are kept."""
    return wires.at(np.flatnonzero(kept[wires.source] & kept[wires.target] & (wires.source != wires.target)))


def diffuse_activation(seeds: Floats, wires: ConductanceEdges, rule: DiffusionRule) -> Floats:
    """Along wires that are all known; `seeds` is the activation of each node at the start. The sum over seeds."""
    starts = np.flatnonzero(seeds > 0)
    activation = np.zeros((len(starts), len(seeds)))
    activation[np.arange(len(starts)), starts] = seeds[starts]
    seen, total = activation > 0, activation.copy()
    for _ in range(rule.hops):
        arrived = compute_arrivals(activation, seen, wires, decay=rule.decay)
        activation = np.where(keep_strongest(arrived.sum(axis=0), range(len(seeds)), most=rule.expanded), arrived, 0.0)
        seen, total = seen | (activation > 0), total + activation
    summed = total.sum(axis=0)
    return refine_kept_nodes(
        summed, choose_refined_nodes(summed, seeds > 0, range(len(seeds)), most=rule.expanded), wires, rule
    )


def choose_refined_nodes(total: Floats, started: Mask, ties: Sequence[str] | Sequence[int], *, most: int) -> Mask:
    """What refinement is among: the seeds, and the best of what was found."""
    return started | keep_strongest(np.where(started, 0.0, total), ties, most=most)


def refine_kept_nodes(total: Floats, kept: Mask, wires: ConductanceEdges, rule: DiffusionRule) -> Floats:
    """What is kept, refined; all else at 0."""
    found = np.where(kept, total, 0.0)
    if LIBRARY is not None:
        return compiled.refine_by_pagerank(wires.in_c, kept, found, damping=rule.damping, iterations=rule.iterations)
    return np.where(
        kept,
        refine_activation(found, edges_between(kept, wires), damping=rule.damping, iterations=rule.iterations),
        0.0,
    )


def diffuse_activation_reference(
    graph: Mapping[str, Mapping[str, float]], seeds: Mapping[str, float], rule: DiffusionRule
) -> dict[str, float]:
    """The same, fact by fact, on the conductances of a graph: the definition that `diffuse_activation` must agree with.

    >>> rule = DiffusionRule(decay=0.7, hops=3, expanded=30, damping=0.85, iterations=0)
    >>> found = diffuse_activation_reference(
    ...     {"S": {"A": 1.0}, "A": {"S": 1.0, "B": 0.5}, "B": {"A": 0.5}}, {"S": 1.0}, rule
    ... )
    >>> {id: round(a, 4) for id, a in found.items()}
    {'S': 1.0, 'A': 0.7, 'B': 0.245}
    """
    trails = {seed: {seed: a} for seed, a in sorted(seeds.items()) if a > 0}
    frontiers = {seed: dict(trail) for seed, trail in trails.items()}
    for _ in range(rule.hops):
        arrived = {
            seed: _compute_arrivals_reference(graph, frontiers[seed], trails[seed], rule.decay) for seed in trails
        }
        kept = _keep_strongest_reference(_sum_trails(arrived), rule.expanded)
        frontiers = {seed: {id: a for id, a in found.items() if id in kept} for seed, found in arrived.items()}
        for seed, found in frontiers.items():
            trails[seed].update(found)
    total = _sum_trails(trails)
    chosen = {
        *trails,
        *_keep_strongest_reference({id: a for id, a in total.items() if id not in trails}, rule.expanded),
    }
    return _refine_activation_reference(graph, {id: a for id, a in total.items() if id in chosen}, rule)


def _compute_arrivals_reference(
    graph: Mapping[str, Mapping[str, float]], frontier: Mapping[str, float], seen: Mapping[str, float], decay: float
) -> dict[str, float]:
    arrived: dict[str, float] = {}
    for parent, a in frontier.items():
        for child, conductance in graph.get(parent, {}).items():
            if child not in seen and conductance > 0:
                arrived[child] = arrived.get(child, 0.0) + a * conductance * decay
    return arrived


def _refine_activation_reference(
    graph: Mapping[str, Mapping[str, float]], found: Mapping[str, float], rule: DiffusionRule
) -> dict[str, float]:
    now = dict(found)
    for _ in range(rule.iterations):
        following = {}
        for id in found:
            to = {other: graph.get(other, {}).get(id, 0.0) for other in found if other != id}
            mean = (now[id] + sum(now[other] * c for other, c in to.items())) / (1 + sum(to.values()))
            following[id] = (1 - rule.damping) * found[id] + rule.damping * mean
        now = following
    return now


def _keep_strongest_reference(activation: Mapping[str, float], most: int) -> set[str]:
    return set(sorted(activation, key=lambda id: (-round(activation[id], TIE_DECIMALS), id))[:most])


def _sum_trails(trails: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for trail in trails.values():
        for id, a in trail.items():
            total[id] = total.get(id, 0.0) + a
    return total
