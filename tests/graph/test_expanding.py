"""What may be followed: on every store, contradictions and successions carry nothing, causes only forward."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cofire import Memory
from cofire.algorithms import diffusion, energy, synapse
from cofire.model import FactFilter
from cofire.recall.spreading import spread_diffusion, spread_energy, spread_synapse
from cofire.stores.base import ExpansionOptions, Store
from tests.algorithms.references import (
    diffuse_activation_reference,
    explore_energy_paths_reference,
    run_synapse_rounds_reference,
)
from tests.conftest import START
from tests.verbs.answering import answers_from
from tests.verbs.wandering import shared

EVERYWHERE = ExpansionOptions(FactFilter(now=START), kinds=None, floor=0.0, most=100)


def leads(store: Store, id: str, conducting: ExpansionOptions = EVERYWHERE) -> set[str]:
    found = store.expand_links([id], conducting)
    return {found.ids[row] for row in found.target.tolist()}


@pytest.mark.parametrize("kind", ["contradicts", "supersedes"])
def test_a_contradiction_is_never_followed(wordy: Memory, store: Store, kind: str) -> None:
    """Rulings 5."""
    a, b = wordy.remember(["one", "two"])
    wordy.connect(a, b, kind=kind, weight=1.0)
    assert leads(store, a) == leads(store, b) == set()
    assert store.expand_links([a], EVERYWHERE).degree.tolist() == [0]
    assert wordy.explore([a]).ids == (a,)


def test_a_cause_is_followed_forward_only(wordy: Memory, store: Store) -> None:
    """Rulings 16."""
    a, b = wordy.remember(["one", "two"])
    wordy.connect(a, b, kind="causes", weight=1.0)
    assert leads(store, a) == {b}
    assert leads(store, b) == set()


def test_a_link_below_the_floor_is_not_followed(wordy: Memory, store: Store) -> None:
    """001, graphTraversalConfidenceFloor."""
    a, b, c = wordy.remember(["one", "two", "three"])
    wordy.connect(a, b, kind="supports", confidence=0.19)
    wordy.connect(a, c, kind="supports")
    floor = ExpansionOptions(EVERYWHERE.where, kinds=None, floor=0.2, most=100)
    assert leads(store, a, floor) == {c}


def test_activation_spreads_over_stored_edges_as_the_references_say(wordy: Memory, store: Store) -> None:
    a, b, c, d = wordy.remember(["one", "two", "three", "four"])
    weights = {(a, b): 0.9, (a, c): 0.5, (b, d): 0.8, (c, d): 0.25}
    for (source, target), weight in weights.items():
        wordy.connect(source, target, kind="causes", weight=weight, confidence=0.5)
    graph: dict[str, dict[str, float]] = {}
    for (source, target), weight in weights.items():
        graph.setdefault(source, {})[target] = weight
    trusted = {source: {target: weight / 2 for target, weight in led.items()} for source, led in graph.items()}
    answers = answers_from({"expand_links": lambda ask: store.expand_links(ask.ids, ask.conducting)})
    stored = replace(EVERYWHERE, names=False)
    page = synapse.SynapseRule(0.5, 0.8, 0.5, 1.0, 7, None)
    flow, paths = diffusion.DiffusionRule(0.7, 2, 40, 0.85, 8), energy.EnergyRule(5, 0.005, 3)
    active = answers.run(spread_synapse({a: 1.0}, stored, page, 3, tau=0.12)).activation
    assert active == pytest.approx(run_synapse_rounds_reference(graph, {a: 1.0}, page, rounds=3))
    active = answers.run(spread_diffusion({a: 1.0}, stored, flow)).activation
    assert active == pytest.approx(diffuse_activation_reference(trusted, {a: 1.0}, flow))
    active = answers.run(spread_energy({a: 1.0}, stored, paths, tags=frozenset(), tag_floor=0.15)).activation
    plain = explore_energy_paths_reference(shared(graph, 0.5), a, 1.0, paths)
    assert active == pytest.approx({id: e for path in plain for id, e in zip(path.ids, path.energies, strict=True)})
