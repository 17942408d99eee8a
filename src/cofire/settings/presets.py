"""Presets: named sets of settings; recall modes and strategies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args


@dataclass(frozen=True, slots=True)
class Preset:
    """What it is for, and what it sets."""

    help: str
    settings: Mapping[str, bool | int | float | str]


_NO_EXPANSION: Mapping[str, bool | int | float | str] = {
    "spreading_activation.enabled": False,
    "graph_recall.enabled": False,
    "graph_assist.enabled": False,
    "bridges.enabled": False,
}
_EQUAL_CHANNELS: Mapping[str, bool | int | float | str] = {
    "fusion.method": "rrf",
    "fusion.rrf_k": 60,
    "semantic.weight": 1.0,
    "keyword.weight": 1.0,
    "entity.weight": 1.0,
    "temporal.weight": 1.0,
    "activation.weight": 1.0,
    "context.enabled": False,
}

PresetName = Literal[
    "default",
    "conservative",
    "balanced",
    "research-max",
    "documented-rrf",
    "documented-slm",
    "documented-engram",
    "documented-memoria",
    "synapse-paper",
    "words-only",
]
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "default": Preset("What measured best on the public sets.", {}),
        "conservative": Preset(
            "No graph at all, few tokens.",
            {**_NO_EXPANSION, "multi_graph.enabled": False, "recall.budget": 1_500},
        ),
        "balanced": Preset(
            "The graph is written, but recall does not follow it; eight results.",
            {**_NO_EXPANSION, "multi_graph.enabled": True, "recall.budget": 2_000, "recall.k": 8},
        ),
        "research-max": Preset(
            "Everything on, many tokens, twelve results.",
            {
                "multi_graph.enabled": True,
                "spreading_activation.enabled": True,
                "graph_recall.enabled": True,
                "graph_assist.enabled": True,
                "bridges.enabled": True,
                "recall.budget": 3_200,
                "recall.k": 12,
            },
        ),
        "documented-rrf": Preset(
            "Words and meaning joined by reciprocal ranks with equal weights.",
            {**_EQUAL_CHANNELS, **_NO_EXPANSION},
        ),
        "documented-slm": Preset(
            "SuperLocalMemory: five channels joined by reciprocal ranks, SYNAPSE as on its page.",
            {
                **_EQUAL_CHANNELS,
                "activation.dynamics": "synapse.documented",
                "spreading_activation.enabled": True,
                "graph_recall.enabled": False,
                "graph_assist.enabled": False,
                "graph_recall.seeds": 10,
                "strategy.enabled": True,
                "abstention.rule": "gate",
                "auto_link.threshold": 0.7,
            },
        ),
        "documented-engram": Preset(
            "Engram: confidence-aware diffusion with refinement, within its bounds.",
            {
                **_EQUAL_CHANNELS,
                "activation.dynamics": "diffusion",
                "spreading_activation.enabled": True,
                "graph_recall.enabled": True,
                "graph_assist.enabled": True,
                "graph_recall.seeds": 10,
                "graph_recall.expanded": 30,
                "graph_recall.min_seed_score": 0.3,
                "graph_assist.min_seed_results": 3,
                "graph_recall.steps": 3,
                "graph_recall.confidence_floor": 0.2,
                "diffusion.decay": 0.7,
                "diffusion.iterations": 8,
                "abstention.rule": "off",
            },
        ),
        "documented-memoria": Preset(
            "Memoria: energy paths from the five best seeds.",
            {
                **_EQUAL_CHANNELS,
                "activation.dynamics": "energy",
                "spreading_activation.enabled": True,
                "graph_recall.seeds": 5,
                "graph_recall.steps": 5,
                "energy.max_depth": 5,
                "energy.min_activation": 0.005,
                "energy.tag_floor": 0.15,
                "energy.branches": 3,
                "abstention.rule": "off",
            },
        ),
        "synapse-paper": Preset(
            "SYNAPSE as in its paper: soft inhibition, and similarity, activation and PageRank at .5, .3 and .2.",
            {"fusion.method": "hybrid", "activation.dynamics": "synapse.paper", "abstention.rule": "off"},
        ),
        "words-only": Preset(
            "Search by words alone; texts are never embedded.", {"embedder.name": "none", "semantic.enabled": False}
        ),
    }
)

RecallMode = Literal["no_recall", "minimal", "full", "graph"]
RECALL_MODES: tuple[str, ...] = get_args(RecallMode)

# What the kind of question makes of the weight of activation (000, the 5th retrieval channel).
STRATEGY_WEIGHTS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "multi_hop": {"activation": 2.0},
        "general": {"activation": 1.0},
        "temporal": {"activation": 0.5},
        "opinion": {"activation": 0.5},
        "factual": {"activation": 0.8},
        "entity": {"activation": 1.0},
    }
)
Strategy = Literal["multi_hop", "general", "temporal", "opinion", "factual", "entity"]
STRATEGIES: tuple[str, ...] = get_args(Strategy)
