"""Spreading by asks: one a round for the whole frontier, the same numbers as the plain references, and paths without circles."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.activation_paths import MAX_RECORDED_FACTS, SpreadResult
from cofire.algorithms import diffusion, energy
from cofire.algorithms.synapse import SynapseRule
from cofire.recall.spreading import follow_paths, spread_diffusion, spread_energy, spread_synapse
from tests.algorithms.references import (
    diffuse_activation_reference,
    explore_energy_paths_reference,
    run_synapse_rounds_reference,
)
from tests.algorithms.wiring import CHAIN, HALVES, Graph, seeded
from tests.verbs.wandering import EVERYWHERE, knowing, path_to, shared, spread_json

DOCUMENTED = SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
PAPER = replace(DOCUMENTED, slope=5.0, inhibition=0.15)
ENGRAM = diffusion.DiffusionRule(decay=0.5, hops=3, expanded=30, damping=0.85, iterations=8)
MEMORIA = energy.EnergyRule(max_depth=5, threshold=0.005, branches=3)
UNTAGGED = {"tags": frozenset[str](), "tag_floor": 0.15}

WAYS = {
    "synapse": lambda seeds: spread_synapse(seeds, EVERYWHERE, DOCUMENTED, 3, tau=0.12),
    "diffusion": lambda seeds: spread_diffusion(seeds, EVERYWHERE, ENGRAM),
    "energy": lambda seeds: spread_energy(seeds, EVERYWHERE, MEMORIA, **UNTAGGED),
}
LONG = {"A": {"B": 1.0}, "B": {"A": 1.0, "C": 1.0}, "C": {"B": 1.0, "D": 1.0}, "D": {"C": 1.0}}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest):
    return WAYS[request.param]


def test_the_documented_chain_comes_out() -> None:
    """000 steps 1-5; rulings 1."""
    found: SpreadResult = knowing(CHAIN).run(spread_synapse({"A": 0.8}, EVERYWHERE, DOCUMENTED, 3, tau=0.12))
    assert found.activation == pytest.approx({"B": 0.6229, "A": 0.4897, "C": 0.4823}, abs=5e-5)
    assert list(found.activation) == ["B", "A", "C"]


@given(seeded(), st.sampled_from([DOCUMENTED, PAPER, replace(DOCUMENTED, top_m=2)]))
def test_synapse_agrees_with_its_plain_reference(given_: tuple[Graph, dict[str, float]], rule: SynapseRule) -> None:
    graph, seeds = given_
    found = knowing(graph).run(spread_synapse(seeds, EVERYWHERE, rule, 3, tau=0.12))
    assert found.activation == pytest.approx(run_synapse_rounds_reference(graph, seeds, rule, rounds=3), abs=1e-9)


@given(seeded(HALVES), st.sampled_from([ENGRAM, replace(ENGRAM, expanded=2), replace(ENGRAM, iterations=0)]))
def test_diffusion_agrees_with_its_plain_reference(
    given_: tuple[Graph, dict[str, float]], rule: diffusion.DiffusionRule
) -> None:
    graph, seeds = given_
    found = knowing(graph).run(spread_diffusion(seeds, EVERYWHERE, rule))
    assert found.activation == pytest.approx(diffuse_activation_reference(graph, seeds, rule), abs=1e-9)


@given(seeded(), st.integers(1, 3), st.integers(1, 5))
def test_energy_agrees_with_its_plain_reference(
    given_: tuple[Graph, dict[str, float]], branches: int, depth: int
) -> None:
    graph, seeds = given_
    rule = replace(MEMORIA, branches=branches, max_depth=depth)
    trails = knowing(graph).run(follow_paths(seeds, EVERYWHERE, rule, **UNTAGGED))
    for trail in trails:
        plain = explore_energy_paths_reference(shared(graph, 0.5), trail.seed, seeds[trail.seed], rule)
        assert sorted(trail.paths, key=lambda path: path.ids) == sorted(plain, key=lambda path: path.ids)


@given(seeded(), st.sampled_from(sorted(WAYS)))
def test_every_path_leads_from_a_seed_without_a_circle(given_: tuple[Graph, dict[str, float]], name: str) -> None:
    graph, seeds = given_
    found: SpreadResult = knowing(graph).run(WAYS[name](seeds))
    for id in found.activation:
        path = path_to(found, id)
        facts = [*(hop.source for hop in path), id]
        assert len(set(facts)) == len(facts)
        assert facts[0] in seeds
        assert [hop.target for hop in path] == facts[1:]
        assert all(graph[hop.source][hop.target] == hop.weight for hop in path)


def test_the_frontier_is_asked_for_together_and_once(way) -> None:
    answers = knowing({"S": {"A": 1.0, "B": 1.0}, "R": {"B": 0.5}, "A": {"C": 1.0}, "B": {"C": 1.0}})
    answers.run(way({"S": 1.0, "R": 0.5}))
    asked = [sorted(ask.ids) for ask in answers.of("expand_links")]
    assert asked[:3] == [["R", "S"], ["A", "B"], ["C"]]
    assert len(asked) == 3


def test_a_path_tells_its_links_and_what_they_passed() -> None:
    found: SpreadResult = knowing(LONG).run(spread_diffusion({"A": 1.0}, EVERYWHERE, replace(ENGRAM, iterations=0)))
    assert [(hop.source, hop.target, hop.energy) for hop in path_to(found, "D")] == [
        ("A", "B", 0.5),
        ("B", "C", 0.25),
        ("C", "D", 0.125),
    ]
    assert path_to(found, "A") == ()
    assert path_to(found, "nobody") == ()


def test_of_two_ways_to_a_fact_the_better_is_told(way) -> None:
    graph = {"S": {"A": 1.0, "B": 0.3}, "A": {"T": 1.0}, "B": {"T": 0.3}}
    found: SpreadResult = knowing(graph).run(way({"S": 1.0}))
    assert [hop.source for hop in path_to(found, "T")] == ["S", "A"]


@pytest.mark.parametrize("name", ["synapse", "diffusion"])
def test_of_two_equal_ways_that_over_the_smaller_id_is_told(name: str) -> None:
    """Whichever of them is met first."""
    graph = {"S": {"B": 0.5, "A": 0.5}, "A": {"T": 0.5}, "B": {"T": 0.5}}
    found: SpreadResult = knowing(graph).run(WAYS[name]({"S": 1.0}))
    assert [hop.source for hop in path_to(found, "T")] == ["S", "A"]


def test_rounds_are_recorded_from_the_seeds_on(way) -> None:
    found: SpreadResult = knowing(CHAIN).run(way({"A": 0.8}))
    assert [one.number for one in found.rounds] == list(range(len(found.rounds)))
    assert [(step.id, step.activation) for step in found.rounds[0].steps] == [("A", 0.8)]
    assert "B" in {step.id for step in found.rounds[1].steps}
    assert "C" not in {step.id for step in found.rounds[1].steps}


def test_a_round_records_the_strongest_only(way) -> None:
    star = {"S": {f"{place:03}": 1.0 for place in range(200)}}
    found: SpreadResult = knowing(star).run(way({"S": 1.0}))
    assert max(len(one.steps) for one in found.rounds) <= MAX_RECORDED_FACTS


def test_of_many_who_were_silenced_the_smaller_ids_are_recorded() -> None:
    star = {"S": {f"{place:03}": 1.0 for place in reversed(range(200))}}
    found: SpreadResult = knowing(star).run(
        spread_synapse({"S": 1.0}, EVERYWHERE, replace(DOCUMENTED, top_m=2), 1, tau=0.0)
    )
    silenced = [step.id for step in found.rounds[1].steps if step.inhibited]
    assert silenced == [f"{place:03}" for place in range(1, MAX_RECORDED_FACTS - 1)]


def test_who_was_silenced_is_recorded() -> None:
    """S is at σ(.5 − .5), A at σ(.4 − .5)."""
    star = {"S": {"A": 1.0, "B": 1.0}}
    found: SpreadResult = knowing(star).run(
        spread_synapse({"S": 1.0}, EVERYWHERE, replace(DOCUMENTED, top_m=2), 1, tau=0.5)
    )
    assert [(step.id, step.inhibited, step.gated) for step in found.rounds[1].steps] == [
        ("S", False, False),
        ("A", False, True),
        ("B", True, False),
    ]


def test_a_spread_is_plain_values_in_json(way) -> None:
    found: SpreadResult = knowing(CHAIN).run(way({"A": 0.8}))
    told = json.loads(json.dumps(spread_json(found)))
    assert told["activation"] == dict(found.activation)
    assert told["hops"]["B"]["confidence"] is None
    assert told["rounds"][0] == {
        "round": 0,
        "facts": [{"id": "A", "activation": 0.8, "inhibited": False, "gated": False}],
    }


def test_energies_of_several_seeds_are_summed() -> None:
    """Rulings 27."""
    graph = {"S": {"T": 0.5}, "R": {"T": 0.25}}
    found: SpreadResult = knowing(graph).run(spread_energy({"S": 1.0, "R": 1.0}, EVERYWHERE, MEMORIA, **UNTAGGED))
    assert found.activation == {"R": 1.0, "S": 1.0, "T": 0.75}
    assert found.hops["T"].source == "S"


def test_without_seeds_nothing_is_asked(way) -> None:
    answers = knowing(CHAIN)
    found: SpreadResult = answers.run(way({}))
    assert found.activation == {}
    assert answers.of("expand_links") == []
