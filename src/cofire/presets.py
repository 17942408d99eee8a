"""Presets: named sets of settings, as data. A preset lies under everything a user says and over the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Preset:
    """What it is for, and what it sets."""

    help: str
    settings: Mapping[str, bool | int | float | str]


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "default": Preset("What measured best on the public sets.", {}),
        "documented-rrf": Preset(
            "Channels joined by reciprocal ranks with equal weights, as SuperLocalMemory documents it.",
            {"fusion.method": "rrf", "fusion.rrf_k": 60, "semantic.weight": 1.0, "keyword.weight": 1.0},
        ),
        "words-only": Preset(
            "Search by words alone; texts are never embedded.", {"embedder.name": "none", "semantic.enabled": False}
        ),
    }
)

MODES: tuple[str, ...] = ("no_recall", "minimal", "full")
STRATEGIES: tuple[str, ...] = ("multi_hop", "general", "temporal", "opinion", "factual", "entity")
