"""Planning: what kind of question it is, which mode answers it, and how far activation may go. Asks for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cofire.presets import STRATEGY_WEIGHTS
from cofire.reading.strategies import strategy_of
from cofire.recall_settings import ACTIVATION, ASSIST, GRAPH_MODE, LEAST_RESULTS, STEPS, STRATEGY
from cofire.verbs.asking import Question


# From the best to what they lead to, and once more from the best of those. A third pass lost on every set.
MOST_PASSES = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question will be answered. `weights` are what the strategy makes of each channel's weight, 1 where it says nothing."""

    mode: str
    strategy: str
    activates: bool
    passes: int
    steps: int
    weights: Mapping[str, float]
    reason: str


def plan(asked: Question) -> Plan:
    """Choose strategy and mode: those asked for, else by the question. A question of many hops is answered by the graph."""
    settings = asked.settings
    strategy = asked.strategy or strategy_of(asked.text)
    mode, reason = _mode(asked, strategy)
    steps = settings[STEPS]
    weighed = asked.strategy is not None or settings[STRATEGY]
    return Plan(
        mode=mode,
        strategy=strategy,
        activates=mode in ("full", "graph") and settings[ACTIVATION],
        passes=min(steps, MOST_PASSES) if mode == "graph" else 1,
        steps=steps,
        weights=STRATEGY_WEIGHTS[strategy] if weighed else {},
        reason=reason,
    )


def _mode(asked: Question, strategy: str) -> tuple[str, str]:
    if asked.mode is not None:
        return asked.mode, "asked for"
    if strategy == "multi_hop" and asked.settings[GRAPH_MODE]:
        return "graph", "a question of several hops"
    return "full", "the usual"


def assisted(plan: Plan, asked: Question, results: int) -> int:
    """How many passes activation makes, now that it is known how much the channels found."""
    settings = asked.settings
    if plan.mode == "full" and settings[ASSIST] and results >= settings[LEAST_RESULTS]:
        return min(plan.steps, MOST_PASSES)
    return plan.passes
