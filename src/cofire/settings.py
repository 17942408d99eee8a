"""Every knob of search and storage, declared once, and `Settings`, their values together. The graph's are in `graph_settings`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from cofire import (
    abstention_settings,
    curate_settings,
    energy_settings,
    forget_settings,
    graph_settings,
    learning_settings,
    recall_settings,
    shadow_settings,
)
from cofire.errors import InvalidSetting, UnknownSetting
from cofire.knobs import KNOBS, Knob, T, declare
from cofire.presets import PRESETS

__all__ = [
    "KNOBS",
    "Knob",
    "Settings",
    "abstention_settings",
    "curate_settings",
    "energy_settings",
    "forget_settings",
    "graph_settings",
    "knob",
    "learning_settings",
    "recall_settings",
    "shadow_settings",
]

RECORD = "settings"
LAYERS = ("default", "preset", "file", "store", "environment", "call")


PRESET = declare(
    Knob(
        "preset",
        "default",
        "A named set of settings that the others are laid upon.",
        "001",
        choices=tuple(PRESETS),
        alias="memoryOsPreset",
    )
)
EMBEDDER = declare(
    Knob(
        "embedder.name",
        "bundled",
        "What turns texts into vectors: bundled, none, openai:MODEL[@URL], ollama:MODEL[@URL], "
        "sentence-transformers:MODEL or fastembed:MODEL.",
        "cofire",
    )
)
MAX_CHARACTERS = declare(
    Knob("remember.max_characters", 100_000, "The longest text of one fact.", "cofire", low=1, high=10_000_000)
)
BATCH = declare(
    Knob(
        "remember.batch", 256, "Facts embedded and written together when many are given.", "cofire", low=1, high=10_000
    )
)
K = declare(Knob("recall.k", 10, "How many facts a recall returns at most.", "cofire", low=1, high=1_000))
BUDGET = declare(
    Knob(
        "recall.budget", 0, "Tokens that recalled texts may fill together; 0 is no limit.", "001", low=0, high=1_000_000
    )
)
HEADROOM = declare(
    Knob(
        "recall.headroom",
        50,
        "Candidates each channel proposes, beyond k, for ranking.",
        "001; measured: with 20 a chat memory loses half a point, with 110 none wins one",
        low=1,
        high=5_000,
    )
)
SEMANTIC = declare(Knob("semantic.enabled", True, "Whether search by meaning takes part.", "000"))
SEMANTIC_WEIGHT = declare(
    Knob(
        "semantic.weight",
        0.17,
        "Weight of the meaning channel in fusion.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
METRIC = declare(
    Knob(
        "semantic.metric",
        "cosine",
        "How close two vectors are: their cosine, or the geodesic on the unit sphere.",
        "000",
        choices=("cosine", "fisher_rao"),
    )
)
CANDIDATES = declare(
    Knob(
        "semantic.candidates",
        1_000,
        "Facts that the compressed vector index hands to exact scoring.",
        "measured: of 100,000 facts, .99 of the first ten are those of a full scan",
        low=1,
        high=100_000,
    )
)
INDEX = declare(
    Knob(
        "semantic.index",
        "signs",
        "The vector index: signs (compressed scan), exact (full scan) or usearch (graph index, an extra, for very large stores).",
        "measured",
        choices=("signs", "exact", "usearch"),
        opens=True,
    )
)
KEYWORD = declare(Knob("keyword.enabled", True, "Whether search by words takes part.", "000"))
KEYWORD_WEIGHT = declare(
    Knob(
        "keyword.weight", 2.0, "Weight of the word channel in fusion.", "measured on the tuning halves", low=0, high=100
    )
)
KEYWORD_K1 = declare(
    Knob(
        "keyword.k1",
        0.8,
        "BM25: how soon repeating a word stops helping.",
        "measured on the tuning halves",
        low=0,
        high=10,
    )
)
KEYWORD_B = declare(
    Knob("keyword.b", 0.6, "BM25: how much long texts are held back.", "measured on the tuning halves", low=0, high=1)
)
HINT_WEIGHT = declare(
    Knob(
        "keyword.hint_weight",
        0.05,
        "What a word of a description counts beside a word of the text.",
        "measured on the tuning halves",
        low=0,
        high=1,
    )
)
ENTITY = declare(Knob("entity.enabled", True, "Whether names in the question lead to the facts about them.", "000"))
ENTITY_WEIGHT = declare(
    Knob(
        "entity.weight",
        0.635,
        "Weight of the entity channel in fusion.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
TEMPORAL = declare(Knob("temporal.enabled", True, "Whether times in the question lead to facts of that time.", "000"))
TEMPORAL_WEIGHT = declare(
    Knob(
        "temporal.weight",
        0.9,
        "Weight of the time channel in fusion.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
NEIGHBOURS = declare(
    Knob(
        "context.enabled",
        True,
        "Whether a turn of a session borrows words and meaning from the turns around it.",
        "measured on the tuning halves",
    )
)
FUSION = declare(
    Knob(
        "fusion.method",
        "calibrated",
        "How channels are joined: calibrated scores, weighted reciprocal ranks as documented, or the hybrid of the SYNAPSE paper.",
        "000; measured",
        choices=("calibrated", "rrf", "hybrid"),
    )
)
RRF_K = declare(Knob("fusion.rrf_k", 60, "The constant of reciprocal rank fusion.", "000", low=1, high=1_000))
GROWTH = declare(
    Knob(
        "statistics.growth",
        0.1,
        "Share by which a scope may grow or shrink before its word statistics are counted anew.",
        "cofire",
        low=0,
        high=10,
        kept=True,
    )
)
SAMPLE = declare(
    Knob(
        "statistics.sample",
        256,
        "Vectors a scope keeps as a sample of what a chance similarity is.",
        "cofire",
        low=0,
        high=10_000,
        kept=True,
    )
)
BUSY_SECONDS = declare(
    Knob(
        "store.busy_seconds",
        30.0,
        "How long to wait while another process writes.",
        "cofire",
        low=0,
        high=3_600,
        opens=True,
    )
)
ANSWER_SECONDS = declare(
    Knob(
        "store.answer_seconds",
        30.0,
        "How long a server may take for one transaction, and for a connection.",
        "cofire",
        low=0.1,
        high=3_600,
        opens=True,
    )
)
SYNCHRONOUS = declare(
    Knob(
        "store.synchronous",
        "full",
        "Whether each commit waits for the disk (full) or may lose the last ones on a power cut (normal).",
        "SQLite",
        choices=("full", "normal"),
        opens=True,
    )
)

ALIASES = MappingProxyType({knob.alias: knob.name for knob in KNOBS.values() if knob.alias})


def knob(name: str) -> Knob[Any]:
    """The knob of this name or alias; a near miss is suggested when there is none."""
    if not isinstance(name, str):
        raise UnknownSetting(
            f"There is no setting {name!r}.", way_out="Give its name; see all with: cofire config list"
        )
    found = KNOBS.get(ALIASES.get(name, name))
    if found is not None:
        return found
    ending = [one for one in KNOBS if one.endswith(f".{name}")]
    near = ending if len(ending) == 1 else get_close_matches(name, [*KNOBS, *ALIASES], n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise UnknownSetting(f"There is no setting {name!r}.", way_out=f"{hint}See all with: cofire config list")


def by_name(given: object) -> dict[str, object]:
    """What somebody gives as settings, which must be values by name."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidSetting(f"Settings cannot be {given!r}.", way_out='Give them by name, as in {"recall.k": 5}.')
    return dict(given)


@dataclass(frozen=True)
class Settings:
    """All values at once, each with the layer it came from. `settings[KNOB]` is typed as the knob's default.

    >>> settings = Settings.layered(call={"keyword.k1": 1.2})
    >>> settings[KEYWORD_K1], settings.layer_of(KEYWORD_K1), settings.layer_of(KEYWORD_B)
    (1.2, 'call', 'default')
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def layered(cls, **layers: Mapping[str, object]) -> Settings:
        """Lay the named layers over the defaults, in the order of `LAYERS` whatever the order given."""
        read = {
            layer: {knob(name).name: knob(name).read(value) for name, value in layers.get(layer, {}).items()}
            for layer in LAYERS
        }
        chosen = _last(read, PRESET.name) or PRESET.default
        read["preset"] = {
            **{name: knob(name).read(value) for name, value in PRESETS[chosen].settings.items()},
            **read["preset"],
        }
        values = {name: value for layer in LAYERS for name, value in read[layer].items()}
        return cls(values, {name: layer for layer in LAYERS for name in read[layer]})

    def __getitem__(self, knob: Knob[T]) -> T:
        found: T = self.values.get(knob.name, knob.default)
        return found

    def layer_of(self, knob: Knob[Any]) -> str:
        return self.origins.get(knob.name, "default")

    def over(self, changes: Mapping[str, object]) -> Settings:
        """These settings with a call's own laid on top."""
        if not changes:
            return self
        layers: dict[str, dict[str, object]] = {layer: {} for layer in LAYERS if layer != "preset"}
        for name, layer in self.origins.items():
            if layer != "preset":
                layers[layer][name] = self.values[name]
        return Settings.layered(**{**layers, "call": {**layers["call"], **changes}})

    def __iter__(self) -> Iterator[tuple[Knob[Any], Any]]:
        return ((one, self[one]) for one in KNOBS.values())


def from_record(value: bytes | None) -> dict[str, object]:
    """The store's own settings."""
    return dict(json.loads(value)) if value else {}


def to_record(values: Mapping[str, object]) -> bytes:
    return json.dumps(dict(sorted(values.items()))).encode("utf-8")


def _last(read: Mapping[str, Mapping[str, Any]], name: str) -> Any:
    return next((read[layer][name] for layer in reversed(LAYERS) if name in read[layer]), None)
