"""Which settings have no effect, or are limited by another one, under the settings in force. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cofire.abstention_settings import RULE
from cofire.energy_settings import MAX_DEPTH
from cofire.knobs import Knob
from cofire.recall_settings import (
    ACTIVATION_WEIGHT,
    ALPHA,
    BRIDGE_DECAY,
    BRIDGES,
    BRIDGES_MOST,
    CONFIDENCE_FLOOR,
    COVERAGE,
    DAMPING,
    DECAY,
    DELTA,
    DYNAMICS,
    EXPANDED,
    INHIBITION,
    ITERATIONS,
    REFINEMENT,
    SLOPE,
    SPREADING_FACTOR,
    STEPS,
    TAU_GATE,
    THETA,
    TOP_M,
)
from cofire.settings import (
    ENTITY,
    ENTITY_WEIGHT,
    FUSION,
    KEYWORD,
    KEYWORD_WEIGHT,
    RRF_K,
    SEMANTIC,
    SEMANTIC_WEIGHT,
    TEMPORAL,
    TEMPORAL_WEIGHT,
    Settings,
    knob,
)

_SYNAPSE = ("synapse.documented", "synapse.paper")
_DOCUMENTED = (*_SYNAPSE, "diffusion", "energy")

# For each setting, the values of other settings under which it acts. One of several conditions is enough.
_CONDITIONS: dict[str, list[tuple[Knob[Any], tuple[object, ...]]]] = {
    **{setting.name: [(DYNAMICS, _SYNAPSE)] for setting in (ALPHA, DELTA, SPREADING_FACTOR, THETA, TOP_M, ITERATIONS)},
    **{setting.name: [(DYNAMICS, ("synapse.paper",))] for setting in (SLOPE, INHIBITION)},
    **{setting.name: [(DYNAMICS, ("diffusion",))] for setting in (DECAY, REFINEMENT, DAMPING)},
    **{setting.name: [(DYNAMICS, ("cofire", "diffusion"))] for setting in (EXPANDED, CONFIDENCE_FLOOR)},
    **{setting.name: [(BRIDGES, (True,))] for setting in (BRIDGES_MOST, BRIDGE_DECAY)},
    TAU_GATE.name: [(DYNAMICS, _SYNAPSE), (RULE, ("gate",))],
    ACTIVATION_WEIGHT.name: [(DYNAMICS, _DOCUMENTED), (FUSION, ("rrf",))],
    RRF_K.name: [(FUSION, ("rrf",))],
    COVERAGE.name: [(FUSION, ("calibrated",))],
    SEMANTIC_WEIGHT.name: [(SEMANTIC, (True,))],
    KEYWORD_WEIGHT.name: [(KEYWORD, (True,))],
    ENTITY_WEIGHT.name: [(ENTITY, (True,))],
    TEMPORAL_WEIGHT.name: [(TEMPORAL, (True,))],
}

# Settings that another one limits under some dynamics.
_LIMITS: dict[str, tuple[Knob[int], tuple[str, ...]]] = {
    ITERATIONS.name: (STEPS, _SYNAPSE),
    MAX_DEPTH.name: (STEPS, ("energy",)),
}


def describe_effect(setting: Knob[Any], settings: Settings) -> str:
    """Why a setting has no effect, or how far another one limits it; empty where it acts as it says.

    >>> describe_effect(DELTA, Settings())
    'No effect while activation.dynamics is cofire; it needs synapse.documented or synapse.paper.'
    >>> describe_effect(DELTA, Settings.layered(call={"activation.dynamics": "synapse.paper"}))
    ''
    """
    conditions = _CONDITIONS.get(setting.name, [])
    if conditions and not any(settings[other] in values for other, values in conditions):
        return f"No effect while {_state(conditions, settings)}."
    limit, dynamics = _LIMITS.get(setting.name, (None, ()))
    if limit is not None and settings[DYNAMICS] in dynamics and settings[setting] > settings[limit]:
        return f"Limited to {settings[limit]} by {limit.name}; raise that as well."
    return ""


def describe_effects(names: Mapping[str, object], settings: Settings) -> dict[str, str]:
    """The settings among `names` that have no effect or are limited, with the reason."""
    effects = {knob(name).name: describe_effect(knob(name), settings) for name in names}
    return {name: effect for name, effect in effects.items() if effect}


def _state(conditions: list[tuple[Knob[Any], tuple[object, ...]]], settings: Settings) -> str:
    parts = []
    for other, values in conditions:
        needed = " or ".join(_written(value) for value in values)
        parts.append(f"{other.name} is {_written(settings[other])}; it needs {needed}")
    return " and ".join(parts)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
