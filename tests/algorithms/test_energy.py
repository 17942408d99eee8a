"""Energy paths: who claims whom, why paths end, and the array version against the plain one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.activation_paths import EnergyPath
from cofire.algorithms.conductance import build_energy_edges
from cofire.algorithms.energy import (
    EnergyFrontier,
    EnergyRule,
    expand_frontier,
    sum_energies,
)
from tests.algorithms.references import explore_energy_paths, explore_energy_paths_reference
from tests.algorithms.wiring import Graph, graphs, rows, wired

MEMORIA = EnergyRule(max_depth=5, threshold=0.005, branches=3)


def explore_fast(graph: Graph, seed: str, start: float, rule: EnergyRule) -> list[EnergyPath]:
    names = rows({**graph, seed: graph.get(seed, {})})
    wires = wired(graph, names)
    pairs = zip(wires.source.tolist(), wires.target.tolist(), wires.conductance.tolist(), strict=True)
    passes = {(source, target): conductance for source, target, conductance in pairs}
    found = []
    for trail, end in explore_energy_paths(wires, len(names), names.index(seed), start, rule):
        energies = [start]
        for step in pairwise(trail):
            energies.append(energies[-1] * passes[step])
        found.append(EnergyPath(tuple(names[row] for row in trail), tuple(energies), end))
    return found


WAYS = [explore_fast, explore_energy_paths_reference]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest):
    return request.param


def one_fact(energy: float) -> EnergyFrontier:
    return EnergyFrontier(np.array([0]), np.array([0]), np.array([energy]))


def ends(paths: list[EnergyPath]) -> dict[str, str]:
    return {"".join(path.ids): path.end for path in paths}


def test_energy_multiplies_along_a_path(way) -> None:
    (path,) = way({"A": {"B": 0.5}, "B": {"C": 0.4}}, "A", 0.8, MEMORIA)
    assert path.ids == ("A", "B", "C")
    assert path.energies == pytest.approx((0.8, 0.4, 0.16))


@pytest.mark.parametrize(
    ("source", "graph", "rule", "expected"),
    [
        ("003 §7, max depth", {"A": {"B": 1.0}, "B": {"C": 1.0}}, replace(MEMORIA, max_depth=1), {"AB": "max_depth"}),
        ("003 §7, below threshold", {"A": {"B": 0.5}, "B": {"C": 0.001}}, MEMORIA, {"AB": "below_threshold"}),
        ("rulings 25, strict threshold", {"A": {"B": 0.005}}, MEMORIA, {"A": "below_threshold"}),
        ("003 §7, dead end", {"A": {"B": 1.0}, "B": {"A": 1.0}}, MEMORIA, {"AB": "dead_end"}),
        ("rulings 26, seed alone", {"A": {}}, MEMORIA, {"A": "seed_alone"}),
        (
            "rulings 25, claimed by the highest energy",
            {"A": {"B": 0.9, "C": 0.8}, "B": {"D": 0.5}, "C": {"D": 0.9}},
            MEMORIA,
            {"AB": "claimed", "ACD": "dead_end"},
        ),
        (
            "rulings 25, equal energies to the smaller id",
            {"A": {"B": 0.5, "C": 0.5}, "B": {"D": 0.5}, "C": {"D": 0.5}},
            MEMORIA,
            {"ABD": "dead_end", "AC": "claimed"},
        ),
        (
            "rulings 25, the loser takes its next best",
            {"A": {"B": 0.9, "C": 0.8}, "B": {"D": 0.5, "E": 0.3}, "C": {"D": 0.9}},
            replace(MEMORIA, branches=2),
            {"ABE": "dead_end", "ACD": "dead_end"},
        ),
        (
            "003 §5, so many branches",
            {"A": {"B": 0.9, "C": 0.8, "D": 0.7, "E": 0.6}},
            replace(MEMORIA, branches=2),
            {"AB": "dead_end", "AC": "dead_end"},
        ),
    ],
)
def test_every_path_says_why_it_ended(
    way, source: str, graph: Graph, rule: EnergyRule, expected: dict[str, str]
) -> None:
    assert ends(way(graph, "A", 1.0, rule)) == expected, source


def test_who_is_full_leaves_a_neighbour_to_another(way) -> None:
    graph = {"A": {"B": 0.9, "C": 0.8}, "B": {"D": 0.9, "E": 0.8}, "C": {"E": 0.1}}
    two = replace(MEMORIA, branches=2, max_depth=2)
    assert ends(way(graph, "A", 1.0, two)) == {"AC": "claimed", "ABD": "max_depth", "ABE": "max_depth"}
    one = {"S": {"A": 1.0}, **graph}
    assert "SAB" in {"".join(path.ids)[:3] for path in way(one, "S", 1.0, replace(MEMORIA, branches=1))}


def test_the_transfer_is_as_documented() -> None:
    """003 §4: R·w/√d·tag_sim = .9·.8/√4·.2917."""
    wires = build_energy_edges(
        np.array([0]),
        np.array([1]),
        weight=np.array([0.8]),
        similarity=np.array([0.15 + 0.85 / 6]),
        degree=np.array([4]),
    )
    depth = expand_frontier(one_fact(0.9), np.array([[True, False]]), wires, MEMORIA, "AB")
    assert depth.frontier.energy == pytest.approx([0.105], abs=1e-9)


def test_the_best_of_parallel_links_carries() -> None:
    wires = build_energy_edges(
        np.array([0, 0]), np.array([1, 1]), weight=np.array([0.2, 0.6]), similarity=np.ones(2), degree=np.array([1, 1])
    )
    depth = expand_frontier(one_fact(1.0), np.array([[True, False]]), wires, MEMORIA, "AB")
    assert depth.edge.tolist() == [1]
    assert depth.frontier.fact.tolist() == [1]


def test_energies_of_several_seeds_are_summed() -> None:
    """Rulings 27."""
    assert sum_energies([{"a": 0.5, "b": 0.25}, {"b": 0.5}]) == {"b": 0.75, "a": 0.5}
    assert list(sum_energies([{"z": 0.5, "a": 0.5}])) == ["a", "z"]


@given(graphs(), st.integers(0, 5), st.integers(1, 3), st.sampled_from([0.005, 0.1, 0.3]))
def test_both_ways_of_exploring_agree(graph: Graph, depth: int, branches: int, threshold: float) -> None:
    rule = EnergyRule(max_depth=max(depth, 1), threshold=threshold, branches=branches)
    seed = min(graph)
    fast, plain = (sorted(way(graph, seed, 1.0, rule), key=lambda path: path.ids) for way in WAYS)
    assert fast == plain


@given(graphs(), st.integers(1, 3))
def test_no_fact_is_on_two_branches_and_energy_never_grows(graph: Graph, branches: int) -> None:
    rule = replace(MEMORIA, branches=branches)
    parents: dict[str, str] = {}
    for path in explore_energy_paths_reference(graph, min(graph), 1.0, rule):
        assert len(set(path.ids)) == len(path.ids) <= rule.max_depth + 1
        assert list(path.energies) == sorted(path.energies, reverse=True)
        assert all(passed > rule.threshold for passed in path.energies[1:])
        for parent, child in pairwise(path.ids):
            assert parents.setdefault(child, parent) == parent
    assert all(list(parents.values()).count(parent) <= branches for parent in parents.values())
