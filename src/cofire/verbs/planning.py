"""Planning: what kind of question it is, which mode answers it, and how far activation may go. Asks for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cofire.presets import STRATEGY_WEIGHTS
from cofire.reading.failures import attempt
from cofire.reading.strategies import strategy_of
from cofire.recall_settings import ACTIVATION, ASSIST, DYNAMICS, GRAPH_MODE, LEAST_RESULTS, STEPS, STRATEGY
from cofire.recollection import Planned
from cofire.settings import FUSION, Settings
from cofire.verbs.asking import Question

# From the best to what they lead to, and once more from the best of those. A third pass lost on every set.
MOST_PASSES = 2


@dataclass(frozen=True, slots=True)
class Plan:
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


def plan(asked: Question) -> Plan:
    """Choose strategy and mode: those asked for, else by the question. A question of many hops is answered by the graph."""
    settings = asked.settings
    strategy = asked.strategy or attempt("strategies", lambda: strategy_of(asked.text), "general")
    mode, reason = _mode(asked, strategy)
    steps = settings[STEPS]
    weighed = asked.strategy is not None or settings[STRATEGY]
    return Plan(
        mode=mode,
        strategy=strategy,
        passes=_passes(mode, settings, assists=False),
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


def told(plan: Plan, asked: Question) -> Planned:
    """The plan for whoever wants to know why."""
    return Planned(
        plan.mode,
        plan.reason,
        plan.strategy,
        "asked for" if asked.strategy else "by the words of the question",
        asked.settings[DYNAMICS] if plan.activates else None,
        asked.settings[FUSION],
    )


def assisted(plan: Plan, asked: Question, results: int) -> Plan:
    """The plan, now that it is known how much the channels found to go on from."""
    assists = asked.settings[ASSIST] and results >= asked.settings[LEAST_RESULTS]
    passes = _passes(plan.mode, asked.settings, assists=assists)
    return plan if passes == plan.passes else replace(plan, passes=passes)


def _passes(mode: str, settings: Settings, *, assists: bool) -> int:
    """In full mode a pass as a channel of its own, and one that assists; in graph mode all there are."""
    wanted = {"graph": MOST_PASSES, "full": settings[ACTIVATION] + assists}.get(mode, 0)
    return min(wanted, settings[STEPS], MOST_PASSES)
