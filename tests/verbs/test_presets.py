"""Presets: each reproduces the numbers of the source it is named after, and those without a graph do no graph work."""

from __future__ import annotations

from typing import Any

import pytest

from cofire import Memory
from cofire.settings.knobs import KNOBS
from cofire.settings.presets import PRESETS
from cofire.settings.table import Settings, find_knob
from cofire.stores.base import Store
from tests.conftest import Clock, HashedWords
from tests.verbs.watching import GRAPH_WORK, Watched

SWITCHES = ("spreading_activation.enabled", "graphRecallEnabled", "graphAssistInFullModeEnabled", "bridges.enabled")
OFF, ON = dict.fromkeys(SWITCHES, False), dict.fromkeys(SWITCHES, True)

# The numbers of the sources, under their own names where they have one (rulings 1, 31 to 34).
DOCUMENTED: dict[str, dict[str, object]] = {
    "conservative": {**OFF, "multiGraphMemoryEnabled": False, "recall.budget": 1_500},
    "balanced": {**OFF, "multiGraphMemoryEnabled": True, "recall.budget": 2_000, "recall.k": 8},
    "research-max": {**ON, "multiGraphMemoryEnabled": True, "recall.budget": 3_200, "recall.k": 12},
    "documented-rrf": {**OFF, "fusion.method": "rrf", "fusion.rrf_k": 60, "semantic.weight": 1, "keyword.weight": 1},
    "documented-slm": {
        "activation.dynamics": "synapse.documented",
        "fusion.method": "rrf",
        "fusion.rrf_k": 60,
        "spreading_activation.enabled": True,
        "spreading_activation.alpha": 1.0,
        "spreading_activation.delta": 0.5,
        "spreading_activation.spreading_factor": 0.8,
        "spreading_activation.theta": 0.5,
        "spreading_activation.top_m": 7,
        "spreading_activation.max_iterations": 3,
        "spreading_activation.tau_gate": 0.12,
        "abstention.rule": "gate",
        "auto_link.threshold": 0.7,
        "strategy.enabled": True,
    },
    "documented-engram": {
        "activation.dynamics": "diffusion",
        "graphRecallMaxSeedNodes": 10,
        "graphRecallMaxExpandedNodes": 30,
        "graphRecallMinSeedScore": 0.3,
        "graphAssistMinSeedResults": 3,
        "maxGraphTraversalSteps": 3,
        "graphTraversalConfidenceFloor": 0.2,
        "graphTraversalPageRankIterations": 8,
        "diffusion.decay": 0.7,
        "diffusion.damping": 0.85,
    },
    "documented-memoria": {
        "activation.dynamics": "energy",
        "graph_recall.seeds": 5,
        "MAX_DEPTH": 5,
        "MIN_ACTIVATION": 0.005,
        "TAG_SIM_FLOOR": 0.15,
        "MAX_BRANCHES": 3,
    },
    "synapse-paper": {
        "activation.dynamics": "synapse.paper",
        "fusion.method": "hybrid",
        "synapse.slope": 5.0,
        "synapse.inhibition": 0.15,
    },
    "words-only": {"embedder.name": "none", "semantic.enabled": False},
    "default": {},
}


def test_every_preset_is_written_down_here() -> None:
    assert set(DOCUMENTED) == set(PRESETS)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_the_numbers_of_its_source(preset: str) -> None:
    settings = Settings.layered(call={"memoryOsPreset": preset})
    wanted = DOCUMENTED[preset]
    assert {name: settings[find_knob(name)] for name in wanted} == wanted


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_sets_only_what_there_is_and_says_what_it_is_for(preset: str) -> None:
    assert set(PRESETS[preset].settings) <= set(KNOBS)
    assert PRESETS[preset].help.endswith(".")


def watched_memory(store: Store, clock: Clock, **settings: Any) -> tuple[Memory, Watched]:
    watched = Watched(store)
    memory = Memory(watched, embedder=HashedWords(), clock=clock, settings=settings)
    memory.remember(["The kettle was bought by Ana Lopez.", "Ana Lopez repaired a clock.", "Trains leave at noon."])
    memory.dream()
    watched.calls.clear()
    return memory, watched


@pytest.mark.parametrize("preset", ["conservative", "balanced", "documented-rrf"])
@pytest.mark.parametrize("question", ["Who bought the kettle?", "What relates to the kettle?"])
def test_presets_without_expansion_do_no_graph_work_at_recall(
    store: Store, clock: Clock, preset: str, question: str
) -> None:
    memory, watched = watched_memory(store, clock, preset=preset)
    found = memory.recall(question)
    assert found.known
    assert (found.mode, found.channels[-1].status) == ("full", "disabled")
    assert {name: watched.calls[name] for name in GRAPH_WORK} == dict.fromkeys(GRAPH_WORK, 0)


@pytest.mark.parametrize(
    "preset", [name for name in PRESETS if name not in {"conservative", "balanced", "documented-rrf"}]
)
def test_all_others_do(store: Store, clock: Clock, preset: str) -> None:
    memory, watched = watched_memory(store, clock, preset=preset)
    assert memory.recall("Who bought the kettle?", mode="full").known
    assert sum(watched.calls[name] for name in GRAPH_WORK) > 0


def test_conservative_writes_no_graph_and_balanced_does(store: Store, clock: Clock) -> None:
    turns = [{"text": f"Turn {number}.", "session": "s"} for number in range(3)]
    quiet = Memory(":memory:", embedder=None, settings={"preset": "conservative"}, clock=clock)
    quiet.remember(turns)
    wired = Memory(":memory:", embedder=None, settings={"preset": "balanced"}, clock=clock)
    wired.remember(turns)
    assert (quiet.edges(), len(wired.edges())) == ([], 3)


@pytest.mark.parametrize(("preset", "most"), [("balanced", 8), ("research-max", 12), ("default", 10)])
def test_a_preset_says_how_many_come_back(wordy: Memory, preset: str, most: int) -> None:
    wordy.remember([f"Tea number {number}." for number in range(20)])
    assert len(wordy.recall("tea", preset=preset)) == most


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_answers_on_every_store(memory: Memory, preset: str) -> None:
    memory.remember(["The kettle was bought by Ana Lopez.", "Ana Lopez repaired a clock.", "Trains leave at noon."])
    found = memory.recall("Who bought the kettle?", preset=preset)
    assert found[0].text == "The kettle was bought by Ana Lopez."
    for hit in found:
        assert hit.score == pytest.approx(sum(heard.gives for heard in hit.channels.values()))


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_answers_without_an_embedder(wordy: Memory, preset: str) -> None:
    wordy.remember(["The kettle was bought by Ana Lopez.", "Ana Lopez repaired a clock.", "Trains leave at noon."])
    assert wordy.recall("Who bought the kettle?", preset=preset)[0].text == "The kettle was bought by Ana Lopez."
