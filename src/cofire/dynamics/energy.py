"""Energy paths: from a seed outward, each fact passing energy to the few neighbours that get most of it (003). No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.conductance import Floats, Ints, Wires
from cofire.spreads import End, Path

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rule:
    """How far energy goes: `max_depth` hops, above `threshold` (MIN_ACTIVATION of 003), to `branches` neighbours of each fact."""

    max_depth: int
    threshold: float
    branches: int


@dataclass(frozen=True, slots=True)
class Depth:
    """What one depth did: children with their parents, energies and wires, the most energy first; and why others ended."""

    parent: Ints
    child: Ints
    energy: Floats
    wire: Ints
    ended: Mapping[int, End]


def branched(energy: Floats, visited: Mask, wires: Wires, rule: Rule) -> Depth:
    """One depth for the whole frontier of a seed, which is every row with energy (003 §5, steps 2a to 2c).

    T(i→j) = R(i)·wᵢⱼ/√d(i)·tag_sim, and only T > threshold is followed. A neighbour wanted by two goes to the higher energy,
    of equals to the first row; the loser takes its next best. With two branches each, 0 and 1 both want 2:

    >>> wires = Wires(np.array([0, 1, 1]), np.array([2, 2, 3]), np.array([0.5, 0.6, 0.1]), np.arange(3))
    >>> rule = Rule(max_depth=5, threshold=0.005, branches=2)
    >>> depth = branched(np.array([1.0, 1.0, 0.0, 0.0]), np.array([True, True, False, False]), wires, rule)
    >>> list(zip(depth.parent.tolist(), depth.child.tolist(), depth.energy.tolist())), depth.ended
    ([(1, 2, 0.6), (1, 3, 0.1)], {0: 'claimed'})
    """
    passed = energy[wires.source] * wires.conductance
    fresh = (energy[wires.source] > 0) & ~visited[wires.target]
    wanted = np.flatnonzero(fresh & (passed > rule.threshold))
    chosen = _claims(wanted[_order(wanted, passed, wires)], wires, rule.branches)
    parents = set(wires.source[chosen].tolist())
    ended = {
        row: _end(row, wires.source[fresh], wires.source[wanted])
        for row in np.flatnonzero(energy > 0).tolist()
        if row not in parents
    }
    return Depth(wires.source[chosen], wires.target[chosen], passed[chosen], chosen, ended)


def explore(wires: Wires, nodes: int, seed: int, energy: float, rule: Rule) -> list[tuple[tuple[int, ...], End]]:
    """All paths of a seed along wires that are all known, as rows."""
    frontier, visited = np.zeros(nodes), np.zeros(nodes, np.bool_)
    frontier[seed], visited[seed] = energy, True
    trails: dict[int, tuple[int, ...]] = {seed: (seed,)}
    done: list[tuple[tuple[int, ...], End]] = []
    for depth in range(rule.max_depth):
        step = branched(frontier, visited, wires, rule)
        alone = depth == 0 and not np.any(wires.source == seed)
        done += [(trails[row], "seed_alone" if alone else end) for row, end in step.ended.items()]
        children = zip(step.parent.tolist(), step.child.tolist(), strict=True)
        trails = {child: (*trails[parent], child) for parent, child in children}
        frontier = np.zeros(nodes)
        frontier[step.child], visited[step.child] = step.energy, True
    return [*done, *((trail, "max_depth") for trail in trails.values() if frontier[trail[-1]] > 0)]


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


def _order(wanted: Ints, passed: Floats, wires: Wires) -> Ints:
    """The highest energy first; of equals by parent, child and wire."""
    return np.lexsort((wanted, wires.target[wanted], wires.source[wanted], -passed[wanted]))


def _claims(ordered: Ints, wires: Wires, branches: int) -> Ints:
    """Of wires in the order of their energies those that claim their target: each target once, so many from each source."""
    taken: set[int] = set()
    room: dict[int, int] = {}
    chosen: list[int] = []
    parents, children = wires.source[ordered].tolist(), wires.target[ordered].tolist()
    for wire, parent, child in zip(ordered.tolist(), parents, children, strict=True):
        left = room.get(parent, branches)
        if left and child not in taken:
            taken.add(child)
            room[parent] = left - 1
            chosen.append(wire)
    return np.array(chosen, np.int64)


def _end(row: int, fresh: Ints, wanted: Ints) -> End:
    """Why a fact passes nothing on: it has nobody new, nobody it gives enough, or others gave more."""
    if not np.any(fresh == row):
        return "dead_end"
    return "claimed" if np.any(wanted == row) else "below_threshold"
