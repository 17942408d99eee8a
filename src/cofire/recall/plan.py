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

# From the best to what they lead to, and once more from the best of those. A third pass lost on every set.
MAX_PASSES = 2


@dataclass(frozen=True, slots=True)
class RecallPlan:
    """How a question will be answered. `weights` are what the strategy makes of each channel's weight, 1 where it says nothing.

    `passes` is how often activation goes out from the best: never, once, or once more from what it then finds.
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
    """Choose strategy and mode: those asked for, else by the question. A question of many hops is answered by the graph."""
    settings = request.settings
    strategy = request.strategy or run_reading_rule("strategies", lambda: classify_strategy(request.text), "general")
    mode, reason = _choose_mode(request, strategy)
    steps = settings[GRAPH_RECALL_STEPS]
    weighed = request.strategy is not None or settings[STRATEGY_ENABLED]
    return RecallPlan(
        mode=mode,
        strategy=strategy,
        passes=_count_passes(mode, settings, assists=False),
        steps=steps,
        weights=STRATEGY_WEIGHTS[strategy] if weighed else {},
        reason=reason,
    )


def _choose_mode(request: RecallRequest, strategy: str) -> tuple[str, str]:
    if request.mode is not None:
        return request.mode, "asked for"
    if strategy == "multi_hop" and request.settings[GRAPH_RECALL_ENABLED]:
        return "graph", "a question of several hops"
    return "full", "the usual"


def describe_plan(plan: RecallPlan, request: RecallRequest) -> PlanSummary:
    """The plan for whoever wants to know why."""
    return PlanSummary(
        plan.mode,
        plan.reason,
        plan.strategy,
        "asked for" if request.strategy else "by the words of the question",
        request.settings[ACTIVATION_DYNAMICS] if plan.activates else None,
        request.settings[FUSION_METHOD],
    )


def adapt_plan(plan: RecallPlan, request: RecallRequest, results: int) -> RecallPlan:
    """The plan, now that it is known how much the channels found to go on from."""
    assists = request.settings[GRAPH_ASSIST_ENABLED] and results >= request.settings[GRAPH_ASSIST_MIN_SEED_RESULTS]
    passes = _count_passes(plan.mode, request.settings, assists=assists)
    return plan if passes == plan.passes else replace(plan, passes=passes)


def _count_passes(mode: str, settings: Settings, *, assists: bool) -> int:
    """In full mode a pass as a channel of its own, and one that assists; in graph mode all there are."""
    wanted = {"graph": MAX_PASSES, "full": settings[SPREADING_ACTIVATION_ENABLED] + assists}.get(mode, 0)
    return min(wanted, settings[GRAPH_RECALL_STEPS], MAX_PASSES)
