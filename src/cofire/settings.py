"""Every knob, declared once: name, default, range, help, source. Where values come from lives in `configuration`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from cofire.errors import InvalidSetting, UnknownSetting
from cofire.presets import PRESETS

T = TypeVar("T", bool, int, float, str)

RECORD = "settings"
LAYERS = ("default", "preset", "file", "store", "environment", "call")


@dataclass(frozen=True, slots=True)
class Knob(Generic[T]):
    """One setting. `kept` ones decide how memory is written and live in the store, so that all its users agree."""

    name: str
    default: T
    help: str
    source: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    alias: str | None = None
    kept: bool = False

    @property
    def kind(self) -> str:
        return {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}[type(self.default)]

    @property
    def allowed(self) -> str:
        """The range in words, for messages and the reference."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.low is None or self.high is None:
            return self.kind
        return f"{self.kind} from {self.low:g} to {self.high:g}"

    @property
    def variable(self) -> str:
        """The environment variable that sets it: keyword.k1 is COFIRE_KEYWORD_K1."""
        return "COFIRE_" + self.name.upper().replace(".", "_")

    def read(self, value: object) -> T:
        """The value as this knob's kind, from a value or its text; refused with the allowed range if it does not fit."""
        made = _READERS[type(self.default)](value)
        if made is None or not self._admits(made):
            raise InvalidSetting(
                f"{self.name} cannot be {value!r}.",
                way_out=f"It must be {self.allowed} (default {_shown(self.default)}).",
            )
        return cast(T, made)

    def _admits(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        return self.low is None or self.high is None or self.low <= value <= self.high


KNOBS: dict[str, Knob[Any]] = {}


def _declare(knob: Knob[T]) -> Knob[T]:
    KNOBS[knob.name] = knob
    return knob


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    known = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    return known.get(value.strip().lower()) if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
        return int(number) if number.is_integer() else None
    except (ValueError, OverflowError):
        return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


_READERS: dict[type, Any] = {bool: _truth, int: _whole, float: _number, str: _word}

PRESET = _declare(
    Knob(
        "preset", "default", "A named set of settings that the others are laid upon.", "cofire", choices=tuple(PRESETS)
    )
)
EMBEDDER = _declare(
    Knob(
        "embedder.name",
        "bundled",
        "What turns texts into vectors: bundled, none, openai:MODEL[@URL], ollama:MODEL[@URL], "
        "sentence-transformers:MODEL or fastembed:MODEL.",
        "cofire",
    )
)
MAX_CHARACTERS = _declare(
    Knob("remember.max_characters", 100_000, "The longest text of one fact.", "cofire", low=1, high=10_000_000)
)
BATCH = _declare(
    Knob(
        "remember.batch", 256, "Facts embedded and written together when many are given.", "cofire", low=1, high=10_000
    )
)
K = _declare(Knob("recall.k", 10, "How many facts a recall returns at most.", "cofire", low=1, high=1_000))
BUDGET = _declare(
    Knob(
        "recall.budget", 0, "Tokens that recalled texts may fill together; 0 is no limit.", "001", low=0, high=1_000_000
    )
)
HEADROOM = _declare(
    Knob("recall.headroom", 50, "Candidates each channel proposes, beyond k, for ranking.", "001", low=1, high=5_000)
)
SEMANTIC = _declare(Knob("semantic.enabled", True, "Whether search by meaning takes part.", "000"))
SEMANTIC_WEIGHT = _declare(
    Knob(
        "semantic.weight",
        0.17,
        "Weight of the meaning channel in fusion.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
METRIC = _declare(
    Knob(
        "semantic.metric",
        "cosine",
        "How close two vectors are: their cosine, or the geodesic on the unit sphere.",
        "000",
        choices=("cosine", "fisher_rao"),
    )
)
CANDIDATES = _declare(
    Knob(
        "semantic.candidates",
        256,
        "Facts that the compressed vector index hands to exact scoring.",
        "measured: recall@10 at least .98",
        low=1,
        high=100_000,
    )
)
INDEX = _declare(
    Knob(
        "semantic.index",
        "signs",
        "The vector index: signs (compressed scan), exact (full scan) or usearch (graph index, an extra, for very large stores).",
        "measured",
        choices=("signs", "exact", "usearch"),
    )
)
KEYWORD = _declare(Knob("keyword.enabled", True, "Whether search by words takes part.", "000"))
KEYWORD_WEIGHT = _declare(
    Knob(
        "keyword.weight", 2.0, "Weight of the word channel in fusion.", "measured on the tuning halves", low=0, high=100
    )
)
KEYWORD_K1 = _declare(
    Knob(
        "keyword.k1",
        0.8,
        "BM25: how soon repeating a word stops helping.",
        "measured on the tuning halves",
        low=0,
        high=10,
    )
)
KEYWORD_B = _declare(
    Knob("keyword.b", 0.6, "BM25: how much long texts are held back.", "measured on the tuning halves", low=0, high=1)
)
FUSION = _declare(
    Knob(
        "fusion.method",
        "calibrated",
        "How channels are joined: calibrated scores, or weighted reciprocal ranks as documented.",
        "000; measured",
        choices=("calibrated", "rrf"),
    )
)
RRF_K = _declare(Knob("fusion.rrf_k", 60, "The constant of reciprocal rank fusion.", "000", low=1, high=1_000))
GROWTH = _declare(
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
SAMPLE = _declare(
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
BUSY_SECONDS = _declare(
    Knob("store.busy_seconds", 30.0, "How long to wait while another process writes.", "cofire", low=0, high=3_600)
)
SYNCHRONOUS = _declare(
    Knob(
        "store.synchronous",
        "full",
        "Whether each commit waits for the disk (full) or may lose the last ones on a power cut (normal).",
        "SQLite",
        choices=("full", "normal"),
    )
)

ALIASES = MappingProxyType({knob.alias: knob.name for knob in KNOBS.values() if knob.alias})


def knob(name: str) -> Knob[Any]:
    """The knob of this name or alias; a near miss is suggested when there is none."""
    found = KNOBS.get(ALIASES.get(name, name))
    if found is not None:
        return found
    near = get_close_matches(name, [*KNOBS, *ALIASES], n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise UnknownSetting(f"There is no setting {name!r}.", way_out=f"{hint}See all with: cofire config list")


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
        return cast(T, self.values.get(knob.name, knob.default))

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
