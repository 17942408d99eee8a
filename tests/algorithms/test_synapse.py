"""SYNAPSE: the documented numbers, both kinds of inhibition, and the array version against the plain one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.conductance import NO_CONDUCTANCE_EDGES, ConductanceEdges
from cofire.algorithms.synapse import (
    SynapseRule,
    has_sufficient_activation,
    hybrid_score,
    run_synapse_round,
)
from tests.algorithms.references import run_synapse_rounds, run_synapse_rounds_reference
from tests.algorithms.wiring import CHAIN, Graph, placed, rows, seeded, wired

DOCUMENTED = SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
PAPER = replace(DOCUMENTED, slope=5.0, inhibition=0.15)
RULES = [DOCUMENTED, replace(DOCUMENTED, top_m=2), PAPER, replace(PAPER, top_m=2, inhibition=0.9)]


def spread_fast(graph: Graph, seeds: dict[str, float], rule: SynapseRule, *, rounds: int) -> dict[str, float]:
    names = rows(graph)
    done = run_synapse_rounds(placed(seeds, names), wired(graph, names, shared=True), rule, rounds=rounds)
    return {name: a for name, a in zip(names, done[-1].activation.tolist(), strict=True) if a > 0}


WAYS = [spread_fast, run_synapse_rounds_reference]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("source", "seed", "expected"),
    [
        ("000 steps 1-5; rulings 1", 0.8, {"A": 0.4897, "B": 0.6229, "C": 0.4823}),
        ("000 steps 1-5; rulings 1", 0.01, {"A": 0.4824, "B": 0.6103, "C": 0.4766}),
    ],
)
def test_the_documented_chain_comes_out(way, source: str, seed: float, expected: dict[str, float]) -> None:
    assert way(CHAIN, {"A": seed}, DOCUMENTED, rounds=3) == pytest.approx(expected, abs=5e-5), source


def test_what_nothing_reached_stays_at_zero() -> None:
    graph = {**CHAIN, "Z": {"A": 1.0}}
    assert spread_fast(graph, {"A": 0.8}, DOCUMENTED, rounds=1).keys() == {"A", "B"}
    assert "Z" not in spread_fast(graph, {"A": 0.8}, DOCUMENTED, rounds=5)


def test_without_wires_a_seed_keeps_itself_alive() -> None:
    assert run_synapse_round(np.array([0.8]), NO_CONDUCTANCE_EDGES, DOCUMENTED, "A").activation.round(4).tolist() == [
        0.475
    ]


def test_the_cut_leaves_the_strongest_and_of_equals_the_first() -> None:
    star = {"A": {"B": 1.0, "C": 1.0, "D": 1.0}}
    names = rows(star)
    first = run_synapse_round(
        placed({"A": 1.0}, names), wired(star, names, shared=True), replace(DOCUMENTED, top_m=2), names
    )
    assert first.inhibited.tolist() == [False, False, True, True]
    assert (first.activation > 0).tolist() == [True, True, False, False]
    assert first.arriving == pytest.approx([0.5, 0.8 / 3, 0.8 / 3, 0.8 / 3])


def test_soft_inhibition_holds_back_by_what_others_have_more() -> None:
    """The paper: u = .5, .32, .08 with top 2; û = .5, .32 − .15·.18 = .293, .08 − .15·(.42 + .24) < 0."""
    graph = {"A": {"B": 0.8, "C": 0.2}}
    names = rows(graph)
    done = run_synapse_round(
        placed({"A": 1.0}, names), wired(graph, names, shared=True), replace(PAPER, top_m=2), names
    )
    assert done.arriving == pytest.approx([0.5, 0.32, 0.08])
    expected = [1 / (1 + np.exp(-5 * (u - 0.5))) for u in (0.5, 0.293)]
    assert done.activation == pytest.approx([*expected, 0.0])
    assert done.inhibited.tolist() == [False, False, True]


@given(seeded(), st.sampled_from(RULES), st.integers(1, 4))
def test_both_ways_of_spreading_agree(given_: tuple[Graph, dict[str, float]], rule: SynapseRule, rounds: int) -> None:
    graph, seeds = given_
    fast, plain = (way(graph, seeds, rule, rounds=rounds) for way in WAYS)
    assert fast == pytest.approx(plain, abs=1e-9)


@given(seeded(), st.sampled_from(RULES))
def test_activation_stays_between_zero_and_one(given_: tuple[Graph, dict[str, float]], rule: SynapseRule) -> None:
    graph, seeds = given_
    names = rows(graph)
    for done in run_synapse_rounds(placed(seeds, names), wired(graph, names, shared=True), rule, rounds=6):
        assert (done.activation >= 0).all()
        assert (done.activation < 1).all()
        assert not (done.inhibited & (done.activation > 0)).any()
        if rule.inhibition is None:
            assert (done.activation > 0).sum() <= rule.top_m


@given(seeded(), st.floats(1, 2))
def test_stronger_seeds_never_end_weaker(given_: tuple[Graph, dict[str, float]], times: float) -> None:
    graph, seeds = given_
    everybody = replace(DOCUMENTED, top_m=100)
    weaker = run_synapse_rounds_reference(graph, seeds, everybody, rounds=3)
    stronger = run_synapse_rounds_reference(graph, {id: a * times for id, a in seeds.items()}, everybody, rounds=3)
    assert all(stronger[id] >= a - 1e-12 for id, a in weaker.items())


@pytest.mark.parametrize("dimension", [384, 768])
@pytest.mark.parametrize("rule", [DOCUMENTED, PAPER], ids=["documented", "paper"])
def test_rounds_settle_whatever_the_dimension(dimension: int, rule: SynapseRule) -> None:
    """000, Parameters: tuned at 384 dimensions, verified at 768."""
    random = np.random.default_rng(dimension)
    vectors = random.standard_normal((201, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query, facts = vectors[0], vectors[1:]
    near = np.argsort(-(facts @ facts.T), axis=1)[:, 1:6]
    wires = ConductanceEdges(np.repeat(np.arange(200), 5), near.ravel(), np.full(1000, 0.7 / 5), np.arange(1000))
    similarity = facts @ query
    seeds = np.where(similarity >= np.sort(similarity)[-10], similarity, 0.0)
    states = [seeds, *(done.activation for done in run_synapse_rounds(seeds, wires, rule, rounds=40))]
    moved = [np.abs(later - sooner).max() for sooner, later in pairwise(states)]
    assert all(((state >= 0) & (state <= 1)).all() for state in states)
    assert moved[-1] < 1e-6 < moved[0]
    assert max(moved[-5:]) <= max(moved[5:10])


@pytest.mark.parametrize(
    ("activation", "known"), [([], False), ([0.1199], False), ([0.05, 0.12], True), ([0.3775], True)]
)
def test_the_gate_looks_at_the_strongest(activation: list[float], known: bool) -> None:
    """000 step 5, TAU_GATE .12. After the sigmoid of slope 1 nothing is below .3775: rulings 2."""
    assert has_sufficient_activation(activation, tau=0.12) is known


def test_the_hybrid_rank_weighs_three_signals() -> None:
    """The SYNAPSE paper: .5·similarity + .3·activation + .2·PageRank."""
    ranked = hybrid_score(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([0, 0, 1.0]), weights=(0.5, 0.3, 0.2))
    assert ranked.tolist() == [0.5, 0.3, 0.2]
