"""The spreading algorithms fact by fact, on plain mappings: the definitions that the arrays must agree with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from cofire.activation_paths import EnergyPath, PathEnd
from cofire.algorithms.array_ops import TIE_DECIMALS
from cofire.algorithms.conductance import ConductanceEdges, Floats
from cofire.algorithms.diffusion import (
    DiffusionRule,
    choose_refined_facts,
    compute_arrivals,
    keep_strongest,
    refine_kept_facts,
)
from cofire.algorithms.energy import EnergyFrontier, EnergyRule, expand_frontier
from cofire.algorithms.synapse import SynapseRound, SynapseRule, run_synapse_round


def row_names(rows: int) -> list[str]:
    """Names that sort as the rows do."""
    return [f"{row:06}" for row in range(rows)]


def merge_parallel_edges_reference(links: Sequence[tuple[int, int, float]]) -> dict[tuple[int, int], float]:
    """The same, link by link: the definition that `merge_parallel_edges` must agree with."""
    found: dict[tuple[int, int], float] = {}
    for source, target, conductance in links:
        known = found.get((source, target), 0.0)
        found[source, target] = 1 - (1 - known) * (1 - min(1.0, max(0.0, conductance)))
    return found


def run_synapse_rounds(
    activation: Floats, wires: ConductanceEdges, rule: SynapseRule, *, rounds: int
) -> list[SynapseRound]:
    """Round after round along wires that are all known."""
    done: list[SynapseRound] = []
    for _ in range(rounds):
        done.append(
            run_synapse_round(done[-1].activation if done else activation, wires, rule, row_names(len(activation)))
        )
    return done


def run_synapse_rounds_reference(
    graph: Mapping[str, Mapping[str, float]], seeds: Mapping[str, float], rule: SynapseRule, *, rounds: int
) -> dict[str, float]:
    """The same, fact by fact, on the weights of a graph: the definition that `run_synapse_round` must agree with.

    >>> chain = {"A": {"B": 1.0}, "B": {"A": 1.0, "C": 1.0}, "C": {"B": 1.0}}
    >>> page = SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
    >>> {id: round(a, 4) for id, a in run_synapse_rounds_reference(chain, {"A": 0.01}, page, rounds=3).items()}
    {'A': 0.4824, 'B': 0.6103, 'C': 0.4766}
    """
    active = dict(sorted(seeds.items()))
    for _ in range(rounds):
        passed: dict[str, float] = {}
        for giver, a in active.items():
            for taker, weight in graph.get(giver, {}).items():
                passed[taker] = passed.get(taker, 0.0) + a * (weight / len(graph[giver]))
        arriving = {
            id: rule.retention * active.get(id, 0.0) + rule.spread * passed.get(id, 0.0) for id in {*active, *passed}
        }
        left = _inhibit_reference(arriving, rule)
        active = {id: 1 / (1 + math.exp(-rule.slope * (u - rule.threshold))) for id, u in sorted(left.items()) if u > 0}
    return active


def _inhibit_reference(arriving: Mapping[str, float], rule: SynapseRule) -> dict[str, float]:
    top = sorted(arriving, key=lambda id: (-round(arriving[id], TIE_DECIMALS), id))[: rule.top_m]
    if rule.inhibition is None:
        return {id: arriving[id] for id in top}
    return {
        id: u - rule.inhibition * sum(arriving[other] - u for other in top if arriving[other] > u)
        for id, u in arriving.items()
    }


def diffuse_activation(seeds: Floats, wires: ConductanceEdges, rule: DiffusionRule) -> Floats:
    """Along wires that are all known; `seeds` is the activation of each node at the start. The sum over seeds."""
    starts = np.flatnonzero(seeds > 0)
    activation = np.zeros((len(starts), len(seeds)))
    activation[np.arange(len(starts)), starts] = seeds[starts]
    seen, total = activation > 0, activation.copy()
    for _ in range(rule.hops):
        arrived = compute_arrivals(activation, seen, wires, decay=rule.decay)
        activation = np.where(
            keep_strongest(arrived.sum(axis=0), row_names(len(seeds)), most=rule.expanded), arrived, 0.0
        )
        seen, total = seen | (activation > 0), total + activation
    summed = total.sum(axis=0)
    return refine_kept_facts(
        summed, choose_refined_facts(summed, seeds > 0, row_names(len(seeds)), most=rule.expanded), wires, rule
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


def explore_energy_paths(
    wires: ConductanceEdges, nodes: int, seed: int, energy: float, rule: EnergyRule
) -> list[tuple[tuple[int, ...], PathEnd]]:
    """All paths of a seed along wires that are all known, as rows."""
    frontier = EnergyFrontier(np.array([0]), np.array([seed]), np.array([energy]))
    visited = np.zeros((1, nodes), np.bool_)
    visited[0, seed] = True
    trails: list[tuple[int, ...]] = [(seed,)]
    done: list[tuple[tuple[int, ...], PathEnd]] = []
    for depth in range(rule.max_depth):
        step = expand_frontier(frontier, visited, wires, rule, row_names(nodes))
        alone = depth == 0 and not np.any(wires.source == seed)
        done += [(trails[row], "seed_alone" if alone else end) for row, end in step.ends.items()]
        children = zip(step.parent.tolist(), step.frontier.fact.tolist(), strict=True)
        trails = [(*trails[parent], child) for parent, child in children]
        frontier, visited = step.frontier, step.visited
    return [*done, *((trail, "max_depth") for trail in trails)]


def explore_energy_paths_reference(
    graph: Mapping[str, Mapping[str, float]], seed: str, energy: float, rule: EnergyRule
) -> list[EnergyPath]:
    """All paths of a seed, fact by fact, on the conductances of a graph: the definition the arrays must agree with.

    >>> graph = {"A": {"B": 0.5, "C": 0.001}, "B": {"A": 0.5, "D": 0.5}}
    >>> explore_energy_paths_reference(graph, "A", 1.0, EnergyRule(max_depth=5, threshold=0.005, branches=3))
    [EnergyPath(ids=('A', 'B', 'D'), energies=(1.0, 0.5, 0.25), end='dead_end')]
    """
    if not graph.get(seed):
        return [EnergyPath((seed,), (energy,), "seed_alone")]
    visited, done = {seed}, list[EnergyPath]()
    frontier = {seed: EnergyPath((seed,), (energy,), "max_depth")}
    for _ in range(rule.max_depth):
        claims = _choose_claims_reference(graph, frontier, visited, rule)
        done += [
            EnergyPath(path.ids, path.energies, _end_reason_reference(graph, path, visited, rule))
            for id, path in frontier.items()
            if id not in {parent for parent, _ in claims}
        ]
        frontier = {child: _extend_path(frontier[parent], child, passed) for (parent, child), passed in claims.items()}
        visited |= set(frontier)
    return [*done, *frontier.values()]


def _choose_claims_reference(
    graph: Mapping[str, Mapping[str, float]],
    frontier: Mapping[str, EnergyPath],
    visited: AbstractSet[str],
    rule: EnergyRule,
) -> dict[tuple[str, str], float]:
    """Who passes what to whom: the highest energies first, each fact to few, each neighbour by one."""
    offers = {
        (parent, child): path.energies[-1] * conductance
        for parent, path in frontier.items()
        for child, conductance in graph.get(parent, {}).items()
        if child not in visited
    }
    claims: dict[tuple[str, str], float] = {}
    for (parent, child), passed in sorted(offers.items(), key=lambda offer: (-offer[1], *offer[0])):
        full = sum(one == parent for one, _ in claims) >= rule.branches
        if passed > rule.threshold and not full and child not in {taken for _, taken in claims}:
            claims[parent, child] = passed
    return claims


def _end_reason_reference(
    graph: Mapping[str, Mapping[str, float]], path: EnergyPath, visited: AbstractSet[str], rule: EnergyRule
) -> PathEnd:
    fresh = [c for child, c in graph.get(path.ids[-1], {}).items() if child not in visited]
    if not fresh:
        return "dead_end"
    return "claimed" if any(path.energies[-1] * c > rule.threshold for c in fresh) else "below_threshold"


def _extend_path(path: EnergyPath, child: str, energy: float) -> EnergyPath:
    return EnergyPath((*path.ids, child), (*path.energies, energy), path.end)
