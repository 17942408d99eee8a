"""Energy paths: from a seed outward, each fact passing energy to the few neighbours that get most of it (003). No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.conductance import Floats, Ints, Wires
from cofire.dynamics.runs import falling, stretched, widened
from cofire.kernels import spreading as compiled
from cofire.kernels.library import LIBRARY
from cofire.spreads import End, Path

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rule:
    """How far energy goes: `max_depth` hops, above `threshold` (MIN_ACTIVATION of 003), to `branches` neighbours of each fact."""

    max_depth: int
    threshold: float
    branches: int


@dataclass(frozen=True, slots=True)
class Frontier:
    """Where energy is, a row each: whose seed it comes from, on which fact it is, and how much."""

    seed: Ints
    fact: Ints
    energy: Floats


@dataclass(frozen=True, slots=True)
class Depth:
    """What one depth did: where energy is then, the most first, with parents, which are rows of the frontier before, wires and their
    links; for each row of that what became of it: a place among `_ENDS`, or beyond them if it has children; and who is visited now."""

    frontier: Frontier
    parent: Ints
    wire: Ints
    link: Ints
    reason: NDArray[Any]
    visited: Mask

    @property
    def ended(self) -> dict[int, End]:
        """Why rows of the frontier ended, those that did."""
        return {row: _ENDS[why] for row, why in enumerate(self.reason.tolist()) if why < len(_ENDS)}


def branched(frontier: Frontier, visited: Mask, wires: Wires, rule: Rule, ties: Sequence[str] | Sequence[int]) -> Depth:
    """One depth for the frontiers of all seeds, which go side by side; `visited` has a row a seed and a column a fact (003 §5,
    steps 2a to 2c). It may have fewer columns than there are facts now, which are as many as `ties`.

    T(i→j) = R(i)·wᵢⱼ/√d(i)·tag_sim, and only T > threshold is followed. A neighbour wanted by two goes to the higher energy,
    of equals to the smaller of `ties`; the loser takes its next best. With two branches each, 0 and 1 both want 2:

    >>> wires = Wires(np.array([0, 1, 1]), np.array([2, 2, 3]), np.array([0.5, 0.6, 0.1]), np.arange(3))
    >>> rule = Rule(max_depth=5, threshold=0.005, branches=2)
    >>> frontier = Frontier(np.array([0, 0]), np.array([0, 1]), np.array([1.0, 1.0]))
    >>> depth = branched(frontier, np.array([[True, True, False, False]]), wires, rule, range(4))
    >>> list(zip(depth.parent.tolist(), depth.frontier.fact.tolist(), depth.frontier.energy.tolist())), depth.ended
    ([(1, 2, 0.6), (1, 3, 0.1)], {0: 'claimed'})
    """
    if LIBRARY is None:
        return branched_in_numpy(frontier, visited, wires, rule, ties)
    rows = frontier.seed, frontier.fact, frontier.energy
    (parent, wire, child, seed, link), energy, reason, after = compiled.branched(
        wires.in_c, rows, visited, ties, threshold=rule.threshold, branches=rule.branches
    )
    return Depth(Frontier(seed, child, energy), parent, wire, link, reason, after)


def branched_in_numpy(
    frontier: Frontier, visited: Mask, wires: Wires, rule: Rule, ties: Sequence[str] | Sequence[int]
) -> Depth:
    """The same where there is no compiled code."""
    visited, order = widened(visited, len(ties)), np.argsort(wires.source, kind="stable")
    first, last = (np.searchsorted(wires.source[order], frontier.fact, side=side) for side in ("left", "right"))
    giver, at = stretched(first, last - first)
    wire = order[at]
    passed = frontier.energy[giver] * wires.conductance[wire]
    fresh = ~visited[frontier.seed[giver], wires.target[wire]]
    offers = np.flatnonzero(fresh & (passed > rule.threshold))
    offered = _Offers(giver[offers], wires.target[wire[offers]], passed[offers], wire[offers])
    claims = _claims(frontier, offered, _order(frontier, offered, ties), rule.branches)
    parent = offered.parent[claims]
    reason = _reasons(len(frontier.fact), fresh=giver[fresh], wanted=offered.parent, parent=parent)
    claimed = Frontier(frontier.seed[parent], offered.child[claims], offered.energy[claims])
    visited[claimed.seed, claimed.fact] = True
    wire = offered.wire[claims]
    return Depth(claimed, parent, wire, wires.strongest[wire], reason, visited)


def explore(wires: Wires, nodes: int, seed: int, energy: float, rule: Rule) -> list[tuple[tuple[int, ...], End]]:
    """All paths of a seed along wires that are all known, as rows."""
    frontier = Frontier(np.array([0]), np.array([seed]), np.array([energy]))
    visited = np.zeros((1, nodes), np.bool_)
    visited[0, seed] = True
    trails: list[tuple[int, ...]] = [(seed,)]
    done: list[tuple[tuple[int, ...], End]] = []
    for depth in range(rule.max_depth):
        step = branched(frontier, visited, wires, rule, range(nodes))
        alone = depth == 0 and not np.any(wires.source == seed)
        done += [(trails[row], "seed_alone" if alone else end) for row, end in step.ended.items()]
        children = zip(step.parent.tolist(), step.frontier.fact.tolist(), strict=True)
        trails = [(*trails[parent], child) for parent, child in children]
        frontier, visited = step.frontier, step.visited
    return [*done, *((trail, "max_depth") for trail in trails)]


def summed(trails: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Energies that arrive at one fact from several seeds, together; the most first, of equals the smaller id.

    >>> summed([{"a": 1.0, "b": 0.5}, {"c": 1.0, "b": 0.75}])
    {'b': 1.25, 'a': 1.0, 'c': 1.0}
    """
    total: dict[str, float] = {}
    for trail in trails:
        for id, energy in trail.items():
            total[id] = total.get(id, 0.0) + energy
    return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))


def explore_plainly(graph: Mapping[str, Mapping[str, float]], seed: str, energy: float, rule: Rule) -> list[Path]:
    """All paths of a seed, fact by fact, on the conductances of a graph: the definition the arrays must agree with.

    >>> graph = {"A": {"B": 0.5, "C": 0.001}, "B": {"A": 0.5, "D": 0.5}}
    >>> explore_plainly(graph, "A", 1.0, Rule(max_depth=5, threshold=0.005, branches=3))
    [Path(ids=('A', 'B', 'D'), energies=(1.0, 0.5, 0.25), end='dead_end')]
    """
    if not graph.get(seed):
        return [Path((seed,), (energy,), "seed_alone")]
    visited, done = {seed}, list[Path]()
    frontier = {seed: Path((seed,), (energy,), "max_depth")}
    for _ in range(rule.max_depth):
        claims = _claims_plainly(graph, frontier, visited, rule)
        done += [
            Path(path.ids, path.energies, _end_plainly(graph, path, visited, rule))
            for id, path in frontier.items()
            if id not in {parent for parent, _ in claims}
        ]
        frontier = {child: _longer(frontier[parent], child, passed) for (parent, child), passed in claims.items()}
        visited |= set(frontier)
    return [*done, *frontier.values()]


def _claims_plainly(
    graph: Mapping[str, Mapping[str, float]], frontier: Mapping[str, Path], visited: AbstractSet[str], rule: Rule
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


def _end_plainly(graph: Mapping[str, Mapping[str, float]], path: Path, visited: AbstractSet[str], rule: Rule) -> End:
    fresh = [c for child, c in graph.get(path.ids[-1], {}).items() if child not in visited]
    if not fresh:
        return "dead_end"
    return "claimed" if any(path.energies[-1] * c > rule.threshold for c in fresh) else "below_threshold"


def _longer(path: Path, child: str, energy: float) -> Path:
    return Path((*path.ids, child), (*path.energies, energy), path.end)


@dataclass(frozen=True, slots=True)
class _Offers:
    """What rows of a frontier would pass on, to whom and along which wire."""

    parent: Ints
    child: Ints
    energy: Floats
    wire: Ints


def _order(frontier: Frontier, offered: _Offers, ties: Sequence[str] | Sequence[int]) -> list[int]:
    """The highest energy first; of equals by parent, child and wire."""
    givers, takers, wires = frontier.fact[offered.parent].tolist(), offered.child.tolist(), offered.wire.tolist()
    return falling(offered.energy, lambda at: (ties[givers[at]], ties[takers[at]], wires[at]))


def _claims(frontier: Frontier, offered: _Offers, order: Sequence[int], branches: int) -> list[int]:
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


def _reasons(size: int, *, fresh: Ints, wanted: Ints, parent: Ints) -> Ints:
    """Why rows of the frontier pass nothing on: they have nobody new, nobody they give enough, or others gave more."""
    reason = np.zeros(size, np.int64)
    reason[fresh], reason[wanted], reason[parent] = 1, 2, 3
    return reason


_ENDS: tuple[End, ...] = ("dead_end", "below_threshold", "claimed")
