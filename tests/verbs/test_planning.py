"""Planning: which strategy and mode a question gets, and how many passes activation may make."""

from __future__ import annotations

from typing import Any

import pytest

from cofire.recall.plan import RecallPlan, adapt_plan, make_plan
from cofire.recall.request import make_request
from cofire.settings.presets import PRESETS, RECALL_MODES, STRATEGIES, STRATEGY_WEIGHTS
from cofire.settings.table import Settings
from tests.conftest import START

PLAIN = "How do we deploy?"
SEVERAL_HOPS = "What relates to PgBouncer?"


def planned(
    text: str = PLAIN, results: int = 10, settings: dict[str, object] | None = None, **asked: Any
) -> RecallPlan:
    """The plan for a question for which the channels found so many facts."""
    ready = make_request(text, asked, START, Settings.layered(call=settings or {}))
    return adapt_plan(make_plan(ready), ready, results)


def test_a_plain_question_is_answered_in_full_mode() -> None:
    assert (planned().mode, planned().strategy) == ("full", "general")


@pytest.mark.parametrize("text", [SEVERAL_HOPS, "Who is the wife of the director of Jaws?"])
def test_a_question_of_several_hops_is_answered_in_graph_mode(text: str) -> None:
    assert (planned(text).mode, planned(text).strategy) == ("graph", "multi_hop")


def test_graph_mode_is_not_chosen_where_it_is_switched_off() -> None:
    assert planned(SEVERAL_HOPS, settings={"graph_recall.enabled": False}).mode == "full"


def test_graph_mode_can_be_asked_for_though_it_is_switched_off() -> None:
    asked = planned(mode="graph", settings={"graph_recall.enabled": False})
    assert (asked.mode, asked.reason, asked.passes) == ("graph", "asked for", 2)


@pytest.mark.parametrize("mode", RECALL_MODES)
def test_the_mode_asked_for_holds(mode: str) -> None:
    assert planned(SEVERAL_HOPS, mode=mode).mode == mode


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_strategy_asked_for_holds_and_weighs(strategy: str) -> None:
    asked = planned(strategy=strategy)
    assert (asked.strategy, asked.weights) == (strategy, STRATEGY_WEIGHTS[strategy])


def test_a_strategy_found_by_rules_weighs_only_where_that_is_switched_on() -> None:
    assert planned(SEVERAL_HOPS).weights == {}
    assert planned(SEVERAL_HOPS, settings={"strategy.enabled": True}).weights == {"activation": 2.0}


def test_a_strategy_of_several_hops_leads_to_graph_mode() -> None:
    assert planned(strategy="multi_hop").mode == "graph"


@pytest.mark.parametrize("mode", ["minimal", "no_recall"])
def test_little_modes_do_not_activate(mode: str) -> None:
    assert not planned(mode=mode).activates


@pytest.mark.parametrize(
    ("activation", "assist", "passes"), [(True, True, 2), (True, False, 1), (False, True, 1), (False, False, 0)]
)
def test_in_full_mode_the_channel_is_a_pass_and_the_assist_is_one(activation: bool, assist: bool, passes: int) -> None:
    switches = {"spreading_activation.enabled": activation, "graph_assist.enabled": assist}
    assert planned(settings=switches).passes == passes


def test_the_assist_wants_enough_results_to_go_on_from() -> None:
    assert [planned(results=results).passes for results in (0, 2, 3, 50)] == [1, 1, 2, 2]
    assert planned(results=2, settings={"graphAssistMinSeedResults": 2}).passes == 2


def test_graph_mode_needs_no_other_switch() -> None:
    off = {"spreading_activation.enabled": False, "graph_assist.enabled": False}
    assert planned(SEVERAL_HOPS, settings=off).passes == 2


def test_steps_bound_the_passes() -> None:
    assert planned(settings={"maxGraphTraversalSteps": 1}).passes == 1
    assert planned(SEVERAL_HOPS, settings={"maxGraphTraversalSteps": 1}).passes == 1


@pytest.mark.parametrize("preset", PRESETS)
def test_all_three_switches_off_is_no_pass_at_all(preset: str) -> None:
    switches = ("spreading_activation.enabled", "graph_recall.enabled", "graph_assist.enabled")
    off = dict.fromkeys(switches, False)
    assert not planned(SEVERAL_HOPS, settings={"preset": preset, **off}).activates
