"""Diffusion: what arrives, what is kept, how it settles; and the array version against the plain one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.diffusion import DiffusionRule, refine_activation
from tests.algorithms.references import diffuse_activation, diffuse_activation_reference
from tests.algorithms.wiring import HALVES, Graph, placed, rows, seeded, wired

RAW = DiffusionRule(decay=0.7, hops=3, expanded=30, damping=0.85, iterations=0)
ENGRAM = replace(RAW, iterations=8)


def both_ways(graph: Graph) -> Graph:
    found: dict[str, dict[str, float]] = {}
    for source, targets in graph.items():
        for target, conductance in targets.items():
            found.setdefault(source, {})[target] = conductance
            found.setdefault(target, {})[source] = conductance
    return found


def diffuse_fast(graph: Graph, seeds: dict[str, float], rule: DiffusionRule) -> dict[str, float]:
    names = rows(graph)
    found = diffuse_activation(placed(seeds, names), wired(graph, names), rule)
    return {name: a for name, a in zip(names, found.tolist(), strict=True) if a > 0}


WAYS = [diffuse_fast, diffuse_activation_reference]
LINE = both_ways({"S": {"A": 1.0}, "A": {"B": 1.0}, "B": {"C": 1.0}})
DIAMOND = both_ways({"S": {"A": 1.0, "B": 0.5}, "A": {"T": 1.0}, "B": {"T": 1.0}})


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest):
    return request.param


@pytest.mark.parametrize(
    ("source", "graph", "expected"),
    [
        ("rulings 11: decay .7 a hop", LINE, {"S": 1.0, "A": 0.7, "B": 0.49, "C": 0.343}),
        ("rulings 11: a half-trusted edge gives half", {"S": {"A": 1.0, "B": 0.5}}, {"S": 1.0, "A": 0.7, "B": 0.35}),
        ("rulings 11: summed over parents", DIAMOND, {"S": 1.0, "A": 0.7, "B": 0.35, "T": 0.49 + 0.245}),
    ],
)
def test_activation_fades_with_weight_confidence_and_hops(way, source: str, graph: Graph, expected: dict) -> None:
    assert way(graph, {"S": 1.0}, RAW) == pytest.approx(expected), source


def test_seeds_are_summed(way) -> None:
    found = way({"S": {"T": 1.0}, "R": {"T": 1.0}}, {"S": 1.0, "R": 0.5}, RAW)
    assert found == pytest.approx({"S": 1.0, "R": 0.5, "T": 1.05})


def test_hops_are_bounded(way) -> None:
    assert way(LINE, {"S": 1.0}, replace(RAW, hops=1)).keys() == {"S", "A"}
    assert way(LINE, {"S": 1.0}, replace(RAW, hops=0)).keys() == {"S"}


def test_the_best_are_kept_and_of_equals_the_first(way) -> None:
    star = {"S": {"A": 0.5, "B": 0.9, "C": 0.5, "D": 0.1}}
    assert way(star, {"S": 1.0}, replace(RAW, expanded=2)).keys() == {"S", "A", "B"}


def test_a_crowd_nearby_does_not_keep_a_good_one_further_out(way) -> None:
    graph = {"S": {"A": 1.0, "B": 0.1, "C": 0.1}, "A": {"Z": 1.0}}
    assert way(graph, {"S": 1.0}, replace(RAW, expanded=2)).keys() == {"S", "A", "Z"}


@pytest.mark.parametrize("iterations", range(12))
@pytest.mark.parametrize("trust", [0.2, 0.5, 1.0])
def test_a_chain_keeps_its_order(way, iterations: int, trust: float) -> None:
    """Rulings 12: on a chain S–A–B–C the order stays S ≥ A ≥ B ≥ C."""
    chain = {one: dict.fromkeys(others, trust) for one, others in LINE.items()}
    found = way(chain, {"S": 1.0}, replace(RAW, iterations=iterations))
    assert found["S"] >= found["A"] >= found["B"] >= found["C"]


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), st.integers(0, 12))
def test_any_chain_keeps_its_order(trust: list[float], iterations: int) -> None:
    chain = both_ways({"S": {"A": trust[0]}, "A": {"B": trust[1]}, "B": {"C": trust[2]}})
    found = diffuse_activation_reference(chain, {"S": 1.0}, replace(RAW, iterations=iterations))
    assert found["S"] >= found["A"] >= found["B"] >= found["C"]


def test_refinement_without_wires_returns_what_was_found() -> None:
    nothing = wired({"A": {}}, ["A"])
    assert refine_activation(np.array([0.4]), nothing, damping=0.85, iterations=8) == pytest.approx([0.4])


def test_refinement_draws_a_fact_towards_those_that_point_at_it() -> None:
    """One iteration: .15·a₀ + .85·(a₀ + ½·1)/(1 + ½)."""
    found = diffuse_activation_reference({"S": {"A": 0.5}}, {"S": 1.0}, replace(RAW, iterations=1))
    assert found["A"] == pytest.approx(0.15 * 0.35 + 0.85 * (0.35 + 0.5) / 1.5)


@given(seeded(HALVES), st.sampled_from([RAW, ENGRAM, replace(ENGRAM, expanded=3), replace(ENGRAM, expanded=1, hops=5)]))
def test_both_ways_of_diffusing_agree(given_: tuple[Graph, dict[str, float]], rule: DiffusionRule) -> None:
    """Halves of halves add up exactly in any order, so that ties are ties for both."""
    fast, plain = (way(*given_, replace(rule, decay=0.5)) for way in WAYS)
    assert fast == pytest.approx(plain, abs=1e-9)


@given(seeded())
def test_refinement_stays_between_the_weakest_and_the_strongest(given_: tuple[Graph, dict[str, float]]) -> None:
    before, after = (diffuse_activation_reference(*given_, rule) for rule in (RAW, ENGRAM))
    assert before.keys() == after.keys()
    assert min(before.values()) - 1e-9 <= min(after.values())
    assert max(after.values()) <= max(before.values()) + 1e-9


@given(seeded(), st.floats(1, 3))
def test_activation_grows_with_the_seeds_in_proportion(given_: tuple[Graph, dict[str, float]], times: float) -> None:
    graph, seeds = given_
    one = diffuse_activation_reference(graph, seeds, ENGRAM)
    more = diffuse_activation_reference(graph, {id: a * times for id, a in seeds.items()}, ENGRAM)
    assert more == pytest.approx({id: a * times for id, a in one.items()})


@given(seeded(), st.floats(0, 1))
def test_more_decay_never_finds_more(given_: tuple[Graph, dict[str, float]], decay: float) -> None:
    less, more = (diffuse_activation_reference(*given_, replace(RAW, decay=d)) for d in sorted((decay, 0.7)))
    assert all(more.get(id, 0.0) >= a - 1e-12 for id, a in less.items())
