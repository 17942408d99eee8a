"""Energy paths: each fact passes energy to its strongest unvisited neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.activation_paths import EnergyPath, PathEnd
from cofire.algorithms.array_ops import expand_runs, order_descending, pad_last_axis
from cofire.algorithms.conductance import ConductanceEdges, Floats, Ints
from cofire.index import native_activation as compiled
from cofire.index.native import LIBRARY

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EnergyRule:
    """How far energy goes: `max_depth` hops, above `threshold` (MIN_ACTIVATION of 003), to `branches` neighbours of each fact."""

    max_depth: int
    threshold: float
    branches: int


@dataclass(frozen=True, slots=True)
class EnergyFrontier:
    """Where energy is, a row each: whose seed it comes from, on which fact it is, and how much."""

    seed: Ints
    fact: Ints
    energy: Floats


@dataclass(frozen=True, slots=True)
class EnergyDepth:
    """What one depth did: where energy is then, the most first, with parents, which are rows of the frontier before, wires and their
    links; for each row of that what became of it: a place among `_END_REASONS`, or beyond them if it has children; and who is visited now."""

    frontier: EnergyFrontier
    parent: Ints
    wire: Ints
    link: Ints
    reason: NDArray[Any]
    visited: Mask

    @property
    def ended(self) -> dict[int, PathEnd]:
        """Why rows of the frontier ended, those that did."""
        return {row: _END_REASONS[why] for row, why in enumerate(self.reason.tolist()) if why < len(_END_REASONS)}


def expand_frontier(
    frontier: EnergyFrontier,
    visited: Mask,
    wires: ConductanceEdges,
    rule: EnergyRule,
    ties: Sequence[str] | Sequence[int],
) -> EnergyDepth:
    """One depth for the frontiers of all seeds, which go side by side; `visited` has a row a seed and a column a fact (003 §5,
    steps 2a to 2c). It may have fewer columns than there are facts now, which are as many as `ties`.

    T(i→j) = R(i)·wᵢⱼ/√d(i)·tag_sim, and only T > threshold is followed. A neighbour wanted by two goes to the higher energy,
    of equals to the smaller of `ties`; the loser takes its next best. With two branches each, 0 and 1 both want 2:

    >>> wires = ConductanceEdges(np.array([0, 1, 1]), np.array([2, 2, 3]), np.array([0.5, 0.6, 0.1]), np.arange(3))
    >>> rule = EnergyRule(max_depth=5, threshold=0.005, branches=2)
    >>> frontier = EnergyFrontier(np.array([0, 0]), np.array([0, 1]), np.array([1.0, 1.0]))
    >>> depth = expand_frontier(frontier, np.array([[True, True, False, False]]), wires, rule, range(4))
    >>> list(zip(depth.parent.tolist(), depth.frontier.fact.tolist(), depth.frontier.energy.tolist())), depth.ended
    ([(1, 2, 0.6), (1, 3, 0.1)], {0: 'claimed'})
    """
    if LIBRARY is None:
        return expand_frontier_numpy(frontier, visited, wires, rule, ties)
    rows = frontier.seed, frontier.fact, frontier.energy
    (parent, wire, child, seed, link), energy, reason, after = compiled.branch_energy(
        wires.in_c, rows, visited, ties, threshold=rule.threshold, branches=rule.branches
    )
    return EnergyDepth(EnergyFrontier(seed, child, energy), parent, wire, link, reason, after)


def expand_frontier_numpy(
    frontier: EnergyFrontier,
    visited: Mask,
    wires: ConductanceEdges,
    rule: EnergyRule,
    ties: Sequence[str] | Sequence[int],
) -> EnergyDepth:
    """The same where there is no compiled code."""
    visited, order = pad_last_axis(visited, len(ties)), np.argsort(wires.source, kind="stable")
    first, last = (np.searchsorted(wires.source[order], frontier.fact, side=side) for side in ("left", "right"))
    giver, at = expand_runs(first, last - first)
    wire = order[at]
    passed = frontier.energy[giver] * wires.conductance[wire]
    fresh = ~visited[frontier.seed[giver], wires.target[wire]]
    offers = np.flatnonzero(fresh & (passed > rule.threshold))
    offered = _EnergyOffers(giver[offers], wires.target[wire[offers]], passed[offers], wire[offers])
    claims = _choose_claims(frontier, offered, _order_offers(frontier, offered, ties), rule.branches)
    parent = offered.parent[claims]
    reason = _end_reason_codes(len(frontier.fact), fresh=giver[fresh], wanted=offered.parent, parent=parent)
    claimed = EnergyFrontier(frontier.seed[parent], offered.child[claims], offered.energy[claims])
    visited[claimed.seed, claimed.fact] = True
    wire = offered.wire[claims]
    return EnergyDepth(claimed, parent, wire, wires.strongest[wire], reason, visited)


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
        step = expand_frontier(frontier, visited, wires, rule, range(nodes))
        alone = depth == 0 and not np.any(wires.source == seed)
        done += [(trails[row], "seed_alone" if alone else end) for row, end in step.ended.items()]
        children = zip(step.parent.tolist(), step.frontier.fact.tolist(), strict=True)
        trails = [(*trails[parent], child) for parent, child in children]
        frontier, visited = step.frontier, step.visited
    return [*done, *((trail, "max_depth") for trail in trails)]


def sum_energies(trails: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Energies that arrive at one fact from several seeds, together; the most first, of equals the smaller id.

    >>> sum_energies([{"a": 1.0, "b": 0.5}, {"c": 1.0, "b": 0.75}])
    {'b': 1.25, 'a': 1.0, 'c': 1.0}
    """
    total: dict[str, float] = {}
    for trail in trails:
        for id, energy in trail.items():
            total[id] = total.get(id, 0.0) + energy
    return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))


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


@dataclass(frozen=True, slots=True)
class _EnergyOffers:
    """What rows of a frontier would pass on, to whom and along which wire."""

    parent: Ints
    child: Ints
    energy: Floats
    wire: Ints


def _order_offers(frontier: EnergyFrontier, offered: _EnergyOffers, ties: Sequence[str] | Sequence[int]) -> list[int]:
    """The highest energy first; of equals by parent, child and wire."""
    givers, takers, wires = frontier.fact[offered.parent].tolist(), offered.child.tolist(), offered.wire.tolist()
    return order_descending(offered.energy, lambda at: (ties[givers[at]], ties[takers[at]], wires[at]))


def _choose_claims(frontier: EnergyFrontier, offered: _EnergyOffers, order: Sequence[int], branches: int) -> list[int]:
    """Of offers in the order of their energies those that claim their target: each target once a seed, so many from each parent."""
    seeds = frontier.seed[offered.parent].tolist()
    parents, children = offered.parent.tolist(), offered.child.tolist()
    taken: set[tuple[int, int]] = set()
    room: dict[int, int] = {}
    chosen: list[int] = []
    for at in order:
        parent, claim = parents[at], (seeds[at], children[at])
        left = room.get(parent, branches)
        if left and claim not in taken:
            taken.add(claim)
            room[parent] = left - 1
            chosen.append(at)
    return chosen


def _end_reason_codes(size: int, *, fresh: Ints, wanted: Ints, parent: Ints) -> Ints:
    """Why rows of the frontier pass nothing on: they have nobody new, nobody they give enough, or others gave more."""
    reason = np.zeros(size, np.int64)
    reason[fresh], reason[wanted], reason[parent] = 1, 2, 3
    return reason


_END_REASONS: tuple[PathEnd, ...] = ("dead_end", "below_threshold", "claimed")
