"""Presets: named sets of settings; recall modes and strategies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args


@dataclass(frozen=True, slots=True)
class Preset:
    """A help text and the settings that the preset changes."""

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
        "default": Preset("The settings with the best results on the public test sets.", {}),
        "conservative": Preset(
            "No graph, few tokens.",
            {**_NO_EXPANSION, "multi_graph.enabled": False, "recall.budget": 1_500},
        ),
        "balanced": Preset(
            "Write the graph, but do not use it in recall. Eight results.",
            {**_NO_EXPANSION, "multi_graph.enabled": True, "recall.budget": 2_000, "recall.k": 8},
        ),
        "research-max": Preset(
            "All graph features, many tokens, twelve results.",
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
            "Keyword and semantic channels combined by reciprocal ranks with equal weights.",
            {**_EQUAL_CHANNELS, **_NO_EXPANSION},
        ),
        "documented-slm": Preset(
            "SuperLocalMemory: five channels combined by reciprocal ranks, with SYNAPSE as documented.",
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
            "Engram: confidence-aware diffusion with refinement, with Engram's limits.",
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
            "SYNAPSE as in its paper: soft inhibition; similarity, activation and PageRank weighted .5, .3 and .2.",
            {"fusion.method": "hybrid", "activation.dynamics": "synapse.paper", "abstention.rule": "off"},
        ),
        "words-only": Preset(
            "Search by words only. Texts are never embedded.", {"embedder.name": "none", "semantic.enabled": False}
        ),
    }
)

RecallMode = Literal["no_recall", "minimal", "full", "graph"]
RECALL_MODES: tuple[str, ...] = get_args(RecallMode)

# Factor on the weight of activation by kind of question (SuperLocalMemory, 5th retrieval channel).
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
