"""Bridges at recall: facts that connect two results come back, on their own account and within the filters."""

from __future__ import annotations

from typing import Any

import pytest

from cofire import Memory, Recollection
from cofire.errors import StoreError
from cofire.stores.base import Store
from tests.conftest import Clock, HashedWords, Opening
from tests.verbs.watching import Watched

ALONE = {
    "spreading_activation.enabled": False,
    "graph_assist.enabled": False,
    "multi_graph.enabled": False,
    "auto_link.enabled": False,
    "fusion.coverage": 0.0,
}
BRIDGED = {**ALONE, "bridges.enabled": True}
QUESTION = "kettle or train?"
ENDS = ["The kettle boiled over.", "The train stood still."]
BETWEEN = "Nobody had paid for electricity."


def connected(memory: Memory, between: str = BETWEEN, **fact: Any) -> tuple[str, str, str]:
    """Two facts that a question finds, and one it does not, which both lead to."""
    one, other = memory.remember(ENDS)
    bridge = memory.remember(between, **fact)
    for end in (one, other):
        memory.connect(end, bridge, kind="causes", weight=0.9, confidence=1.0)
    return one, bridge, other


def asked(memory: Memory, **others: Any) -> Recollection:
    return memory.recall(QUESTION, mode="full", **others)


def test_a_fact_between_two_results_comes_back(open_memory: Opening) -> None:
    memory = open_memory(None, settings=ALONE)
    one, bridge, other = connected(memory)
    assert set(asked(memory).ids) == {one, other}
    found = asked(memory, settings={"bridges.enabled": True})
    assert found[2].id == bridge
    assert {hop.source for hop in found[2].bridge} == {one, other}


def test_its_score_is_the_weaker_one_times_both_links(open_memory: Opening) -> None:
    memory = open_memory(None, settings=BRIDGED)
    connected(memory)
    first, second, bridge = asked(memory)
    assert bridge.score == pytest.approx(min(first.score, second.score) * (0.7 * 1.3 * 0.9) ** 2)
    assert bridge.channels["bridges"].rank == 1


def test_what_all_channels_give_adds_up(open_memory: Opening) -> None:
    memory = open_memory(settings={"bridges.enabled": True})
    connected(memory)
    for hit in asked(memory, settings={"abstention.rule": "off"}):
        assert sum(heard.gives for heard in hit.channels.values()) == pytest.approx(hit.score)


def test_a_fact_that_counts_more_by_itself_is_not_lifted(open_memory: Opening) -> None:
    memory = open_memory(None, settings=ALONE)
    _, bridge, _ = connected(memory, "A kettle and a train: kettle, train.")
    plain, bridged = (asked(memory, settings={"bridges.enabled": on}) for on in (False, True))
    score = {hit.id: hit.score for hit in plain}
    assert {hit.id: hit.score for hit in bridged} == pytest.approx(score)
    assert bridge in score


def test_the_x_ray_shows_the_two_facts_it_connects(open_memory: Opening) -> None:
    memory = open_memory(None, settings=BRIDGED)
    connected(memory)
    found = asked(memory)
    lines = found.xray().split("bridge between", 1)[1]
    assert all(text in lines for text in ENDS)
    assert "causes, weight 0.90" in lines
    assert [hop["kind"] for hop in found.to_dict()["hits"][2]["bridge"]] == ["causes", "causes"]


def test_a_recall_that_is_not_explained_does_not_tell_of_bridges(open_memory: Opening) -> None:
    memory = open_memory(None, settings={**BRIDGED, "graph_recall.explain": False})
    connected(memory)
    assert [hit.bridge for hit in asked(memory)] == [(), (), ()]


@pytest.mark.parametrize("filters", [{"tags": ["kept"]}, {"until": "2026-01-02"}])
def test_nothing_that_is_filtered_out_returns_as_a_bridge(open_memory: Opening, filters: Any) -> None:
    memory = open_memory(None, settings=BRIDGED)
    one, other = memory.remember(ENDS, tags=["kept"], at="2026-01-01")
    bridge = memory.remember(BETWEEN, at="2026-02-01")
    for end in (one, other):
        memory.connect(end, bridge, kind="causes", weight=0.9)
    assert bridge in asked(memory).ids
    assert set(asked(memory, **filters).ids) == {one, other}


def test_a_fact_that_has_run_out_is_no_bridge(open_memory: Opening, clock: Clock) -> None:
    memory = open_memory(None, settings=BRIDGED)
    one, bridge, other = connected(memory, expires="2026-03-02")
    assert bridge in asked(memory).ids
    clock.now = clock.now.replace(month=4)
    assert set(asked(memory).ids) == {one, other}


@pytest.mark.parametrize("mode", ["minimal", "no_recall"])
def test_modes_without_the_graph_look_for_no_bridge(store: Store, mode: str) -> None:
    watched = Watched(store)
    memory = Memory(watched, embedder=None, settings=BRIDGED, clock=Clock())
    connected(memory)
    watched.calls.clear()
    memory.recall(QUESTION, mode=mode)
    assert not watched.calls["expand_links"]


def test_bridges_cost_one_question_to_the_graph(store: Store) -> None:
    watched = Watched(store)
    memory = Memory(watched, embedder=None, settings=BRIDGED, clock=Clock())
    connected(memory)
    watched.calls.clear()
    asked(memory)
    assert watched.calls["expand_links"] == 1


def test_a_graph_that_fails_is_named_and_the_rest_comes_back(store: Store) -> None:
    watched = Watched(store)
    memory = Memory(watched, embedder=None, settings=BRIDGED, clock=Clock())
    one, _, other = connected(memory)
    watched.failing["expand_links"] = StoreError("The graph is away.", way_out="Wait.")
    found = asked(memory)
    assert set(found.ids) == {one, other}
    assert [(report.status, report.note) for report in found.channels if report.name == "bridges"] == [
        ("failed", "The graph is away. Wait.")
    ]


def test_bridges_go_with_reciprocal_ranks(open_memory: Opening) -> None:
    memory = open_memory(None, settings={**BRIDGED, "fusion.method": "rrf"})
    connected(memory)
    first, second, bridge = asked(memory)
    assert bridge.score == pytest.approx(min(first.score, second.score) * (0.7 * 1.3 * 0.9) ** 2)


@pytest.mark.parametrize("preset", ["documented-slm", "documented-engram", "documented-memoria", "synapse-paper"])
def test_bridges_go_beside_every_dynamics(open_memory: Opening, preset: str) -> None:
    memory = open_memory(HashedWords(), settings={"bridges.enabled": True, "abstention.rule": "off"})
    connected(memory)
    found = asked(memory, preset=preset)
    assert "bridges" in [report.name for report in found.channels]
    for hit in found:
        assert sum(heard.gives for heard in hit.channels.values()) == pytest.approx(hit.score)
