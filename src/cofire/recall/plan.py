"""The plan of a recall: the kind of question, the mode, and the number of activation passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cofire.recall.request import RecallRequest
from cofire.results import PlanSummary
from cofire.settings.presets import STRATEGY_WEIGHTS
from cofire.settings.table import (
    ACTIVATION_DYNAMICS,
    FUSION_METHOD,
    GRAPH_ASSIST_ENABLED,
    GRAPH_ASSIST_MIN_SEED_RESULTS,
    GRAPH_RECALL_ENABLED,
    GRAPH_RECALL_STEPS,
    SPREADING_ACTIVATION_ENABLED,
    STRATEGY_ENABLED,
    Settings,
)
from cofire.text.base import run_reading_rule
from cofire.text.questions import classify_strategy

# The first pass follows links from the best candidates, the second one from the best facts after the
# first. A third pass lowered the results on every evaluation set.
MAX_PASSES = 2


@dataclass(frozen=True, slots=True)
class RecallPlan:
    """How to answer a question.

    `weights` are factors of the strategy on channel weights; a channel without one has the factor 1.
    `passes` is the number of activation passes, from 0 to `MAX_PASSES`.
    """

    mode: str
    strategy: str
    passes: int
    steps: int
    weights: Mapping[str, float]
    reason: str

    @property
    def activates(self) -> bool:
        return self.passes > 0


def make_plan(request: RecallRequest) -> RecallPlan:
    """Choose strategy and mode: as requested, otherwise by the question. Multi-hop questions use mode graph."""
    settings = request.settings
    strategy = request.strategy or run_reading_rule("strategies", lambda: classify_strategy(request.text), "general")
    mode, reason = _choose_mode(request, strategy)
    uses_weights = request.strategy is not None or settings[STRATEGY_ENABLED]
    return RecallPlan(
        mode=mode,
        strategy=strategy,
        passes=_count_passes(mode, settings, assists=False),
        steps=settings[GRAPH_RECALL_STEPS],
        weights=STRATEGY_WEIGHTS[strategy] if uses_weights else {},
        reason=reason,
    )


def _choose_mode(request: RecallRequest, strategy: str) -> tuple[str, str]:
    if request.mode is not None:
        return request.mode, "asked for"
    if strategy == "multi_hop" and request.settings[GRAPH_RECALL_ENABLED]:
        return "graph", "a question of several hops"
    return "full", "the usual"


def describe_plan(plan: RecallPlan, request: RecallRequest) -> PlanSummary:
    """The plan as results show it."""
    strategy_reason = "asked for" if request.strategy else "by the words of the question"
    return PlanSummary(
        plan.mode,
        plan.reason,
        plan.strategy,
        strategy_reason,
        request.settings[ACTIVATION_DYNAMICS] if plan.activates else None,
        request.settings[FUSION_METHOD],
    )


def adapt_plan(plan: RecallPlan, request: RecallRequest, results: int) -> RecallPlan:
    """The plan with the number of passes that suits the number of candidates."""
    settings = request.settings
    assists = settings[GRAPH_ASSIST_ENABLED] and results >= settings[GRAPH_ASSIST_MIN_SEED_RESULTS]
    passes = _count_passes(plan.mode, settings, assists=assists)
    return plan if passes == plan.passes else replace(plan, passes=passes)


def _count_passes(mode: str, settings: Settings, *, assists: bool) -> int:
    """Mode graph uses all passes, mode full one for the activation channel and one for graph assist."""
    if mode == "graph":
        passes = MAX_PASSES
    elif mode == "full":
        passes = settings[SPREADING_ACTIVATION_ENABLED] + assists
    else:
        passes = 0
    return min(passes, settings[GRAPH_RECALL_STEPS], MAX_PASSES)
