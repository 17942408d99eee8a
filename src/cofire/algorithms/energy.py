"""Energy paths: each fact passes energy to its strongest unvisited neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.activation_paths import PathEnd
from cofire.algorithms.array_ops import expand_runs, order_descending, pad_last_axis
from cofire.algorithms.conductance import ConductanceEdges, Floats, Ints

Mask = NDArray[np.bool_]

# Why a path ends, by the codes of `EnergyDepth.end_codes`; the last code is that of a path that goes on.
END_REASONS: tuple[PathEnd, ...] = ("dead_end", "below_threshold", "claimed")
_BELOW_THRESHOLD, _CLAIMED, _GOES_ON = 1, 2, 3


@dataclass(frozen=True, slots=True)
class EnergyRule:
    """The constants: `max_depth` hops, above `threshold` (MIN_ACTIVATION of 003), to `branches` neighbours of each fact."""

    max_depth: int
    threshold: float
    branches: int


@dataclass(frozen=True, slots=True)
class EnergyFrontier:
    """Where energy is, a row each: the seed that it comes from, the fact, and how much."""

    seed: Ints
    fact: Ints
    energy: Floats


@dataclass(frozen=True, slots=True)
class EnergyDepth:
    """One depth: the next frontier, the most energy first, and how it was reached.

    `parent` is for each of its rows a row of the frontier before, `edge` and `link` what led there. `end_codes` has a code
    for each row of the frontier before, a place in END_REASONS or beyond it. `visited` includes the new facts.
    """

    frontier: EnergyFrontier
    parent: Ints
    edge: Ints
    link: Ints
    end_codes: Ints
    visited: Mask

    @property
    def ends(self) -> dict[int, PathEnd]:
        """The rows of the frontier before that passed nothing on, and why."""
        return {row: END_REASONS[code] for row, code in enumerate(self.end_codes.tolist()) if code < _GOES_ON}


def expand_frontier(
    frontier: EnergyFrontier, visited: Mask, edges: ConductanceEdges, rule: EnergyRule, ties: Sequence[str]
) -> EnergyDepth:
    """One depth for the frontiers of all seeds, side by side (003 §5, steps 2a to 2c).

    `visited` has a row a seed and a column a fact. There may be more facts now, as many as `ties`, than columns.

    T(i→j) = R(i)·wᵢⱼ/√d(i)·tag_sim, and only T > threshold is followed. A neighbour wanted by two goes to the higher energy,
    of equals to the smaller of `ties`; the loser takes its next best. With two branches each, 0 and 1 both want 2:

    >>> edges = ConductanceEdges(np.array([0, 1, 1]), np.array([2, 2, 3]), np.array([0.5, 0.6, 0.1]), np.arange(3))
    >>> rule = EnergyRule(max_depth=5, threshold=0.005, branches=2)
    >>> frontier = EnergyFrontier(np.array([0, 0]), np.array([0, 1]), np.array([1.0, 1.0]))
    >>> depth = expand_frontier(frontier, np.array([[True, True, False, False]]), edges, rule, "abcd")
    >>> list(zip(depth.parent.tolist(), depth.frontier.fact.tolist(), depth.frontier.energy.tolist())), depth.ends
    ([(1, 2, 0.6), (1, 3, 0.1)], {0: 'claimed'})
    """
    visited = pad_last_axis(visited, len(ties))
    by_source = np.argsort(edges.source, kind="stable")
    first = np.searchsorted(edges.source[by_source], frontier.fact, side="left")
    last = np.searchsorted(edges.source[by_source], frontier.fact, side="right")
    parent, at = expand_runs(first, last - first)
    edge = by_source[at]
    energy = frontier.energy[parent] * edges.conductance[edge]
    is_fresh = ~visited[frontier.seed[parent], edges.target[edge]]
    is_offer = is_fresh & (energy > rule.threshold)

    end_codes = np.zeros(len(frontier.fact), np.int64)
    end_codes[parent[is_fresh]] = _BELOW_THRESHOLD
    end_codes[parent[is_offer]] = _CLAIMED

    parent, edge, energy = parent[is_offer], edge[is_offer], energy[is_offer]
    seed, child = frontier.seed[parent], edges.target[edge]
    facts, children, edge_numbers = frontier.fact[parent].tolist(), child.tolist(), edge.tolist()
    order = order_descending(energy, lambda at: (ties[facts[at]], ties[children[at]], edge_numbers[at]))
    claims = _choose_claims(order, parent, seed, child, rule.branches)
    parent, edge, energy = parent[claims], edge[claims], energy[claims]
    end_codes[parent] = _GOES_ON
    reached = EnergyFrontier(frontier.seed[parent], edges.target[edge], energy)
    visited[reached.seed, reached.fact] = True
    return EnergyDepth(reached, parent, edge, edges.strongest[edge], end_codes, visited)


def _choose_claims(order: Sequence[int], parent: Ints, seed: Ints, child: Ints, branches: int) -> list[int]:
    """The offers that are taken, in this order: each child once a seed, so many from each parent."""
    parents, wanted = parent.tolist(), list(zip(seed.tolist(), child.tolist(), strict=True))
    taken: set[tuple[int, int]] = set()
    passed_on: dict[int, int] = {}
    claims: list[int] = []
    for at in order:
        count = passed_on.get(parents[at], 0)
        if count < branches and wanted[at] not in taken:
            taken.add(wanted[at])
            passed_on[parents[at]] = count + 1
            claims.append(at)
    return claims


def sum_energies(trails: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The energies that arrive at each fact from several seeds, summed; the most first, of equals the smaller id.

    >>> sum_energies([{"a": 1.0, "b": 0.5}, {"c": 1.0, "b": 0.75}])
    {'b': 1.25, 'a': 1.0, 'c': 1.0}
    """
    total: dict[str, float] = {}
    for trail in trails:
        for id, energy in trail.items():
            total[id] = total.get(id, 0.0) + energy
    return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))
