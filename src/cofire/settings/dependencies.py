"""Settings that have no effect, or are limited by another setting, under the current values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cofire.settings.knobs import Knob
from cofire.settings.table import (
    ABSTENTION_RULE,
    ACTIVATION_DYNAMICS,
    ACTIVATION_WEIGHT,
    BRIDGES_DECAY,
    BRIDGES_ENABLED,
    BRIDGES_MOST,
    DIFFUSION_DAMPING,
    DIFFUSION_DECAY,
    DIFFUSION_ITERATIONS,
    ENERGY_MAX_DEPTH,
    ENTITY_ENABLED,
    ENTITY_WEIGHT,
    FUSION_COVERAGE,
    FUSION_METHOD,
    FUSION_RRF_K,
    GRAPH_RECALL_CONFIDENCE_FLOOR,
    GRAPH_RECALL_EXPANDED,
    GRAPH_RECALL_STEPS,
    KEYWORD_ENABLED,
    KEYWORD_WEIGHT,
    SEMANTIC_ENABLED,
    SEMANTIC_WEIGHT,
    SPREADING_ACTIVATION_ALPHA,
    SPREADING_ACTIVATION_DELTA,
    SPREADING_ACTIVATION_MAX_ITERATIONS,
    SPREADING_ACTIVATION_SPREADING_FACTOR,
    SPREADING_ACTIVATION_TAU_GATE,
    SPREADING_ACTIVATION_THETA,
    SPREADING_ACTIVATION_TOP_M,
    SYNAPSE_INHIBITION,
    SYNAPSE_SLOPE,
    TEMPORAL_ENABLED,
    TEMPORAL_WEIGHT,
    Settings,
    find_knob,
)

_SYNAPSE_DYNAMICS = ("synapse.documented", "synapse.paper")
_DOCUMENTED_DYNAMICS = (*_SYNAPSE_DYNAMICS, "diffusion", "energy")

# The values of other settings under which a setting acts. One of several conditions is enough.
_CONDITIONS: dict[str, list[tuple[Knob[Any], tuple[object, ...]]]] = {
    **{
        setting.name: [(ACTIVATION_DYNAMICS, _SYNAPSE_DYNAMICS)]
        for setting in (
            SPREADING_ACTIVATION_ALPHA,
            SPREADING_ACTIVATION_DELTA,
            SPREADING_ACTIVATION_SPREADING_FACTOR,
            SPREADING_ACTIVATION_THETA,
            SPREADING_ACTIVATION_TOP_M,
            SPREADING_ACTIVATION_MAX_ITERATIONS,
        )
    },
    **{setting.name: [(ACTIVATION_DYNAMICS, ("synapse.paper",))] for setting in (SYNAPSE_SLOPE, SYNAPSE_INHIBITION)},
    **{
        setting.name: [(ACTIVATION_DYNAMICS, ("diffusion",))]
        for setting in (DIFFUSION_DECAY, DIFFUSION_ITERATIONS, DIFFUSION_DAMPING)
    },
    **{
        setting.name: [(ACTIVATION_DYNAMICS, ("cofire", "diffusion"))]
        for setting in (GRAPH_RECALL_EXPANDED, GRAPH_RECALL_CONFIDENCE_FLOOR)
    },
    **{setting.name: [(BRIDGES_ENABLED, (True,))] for setting in (BRIDGES_MOST, BRIDGES_DECAY)},
    SPREADING_ACTIVATION_TAU_GATE.name: [(ACTIVATION_DYNAMICS, _SYNAPSE_DYNAMICS), (ABSTENTION_RULE, ("gate",))],
    ACTIVATION_WEIGHT.name: [(ACTIVATION_DYNAMICS, _DOCUMENTED_DYNAMICS), (FUSION_METHOD, ("rrf",))],
    FUSION_RRF_K.name: [(FUSION_METHOD, ("rrf",))],
    FUSION_COVERAGE.name: [(FUSION_METHOD, ("calibrated",))],
    SEMANTIC_WEIGHT.name: [(SEMANTIC_ENABLED, (True,))],
    KEYWORD_WEIGHT.name: [(KEYWORD_ENABLED, (True,))],
    ENTITY_WEIGHT.name: [(ENTITY_ENABLED, (True,))],
    TEMPORAL_WEIGHT.name: [(TEMPORAL_ENABLED, (True,))],
}

# Settings that another one limits under some dynamics.
_LIMITS: dict[str, tuple[Knob[int], tuple[str, ...]]] = {
    SPREADING_ACTIVATION_MAX_ITERATIONS.name: (GRAPH_RECALL_STEPS, _SYNAPSE_DYNAMICS),
    ENERGY_MAX_DEPTH.name: (GRAPH_RECALL_STEPS, ("energy",)),
}


def describe_effect(setting: Knob[Any], settings: Settings) -> str:
    """Why a setting has no effect, or how another one limits it. Empty if neither is the case.

    >>> describe_effect(SPREADING_ACTIVATION_DELTA, Settings())
    'No effect while activation.dynamics is cofire; it needs synapse.documented or synapse.paper.'
    >>> synapse = Settings.layered(call={"activation.dynamics": "synapse.paper"})
    >>> describe_effect(SPREADING_ACTIVATION_DELTA, synapse)
    ''
    """
    conditions = _CONDITIONS.get(setting.name, [])
    if conditions and not any(settings[other] in values for other, values in conditions):
        return f"No effect while {_describe_conditions(conditions, settings)}."
    limit, dynamics = _LIMITS.get(setting.name, (None, ()))
    if limit is not None and settings[ACTIVATION_DYNAMICS] in dynamics and settings[setting] > settings[limit]:
        return f"Limited to {settings[limit]} by {limit.name}; raise that as well."
    return ""


def describe_effects(names: Mapping[str, object], settings: Settings) -> dict[str, str]:
    """The settings among `names` that have no effect or are limited, with the reason."""
    effects = {}
    for name in names:
        knob = find_knob(name)
        effect = describe_effect(knob, settings)
        if effect:
            effects[knob.name] = effect
    return effects


def _describe_conditions(conditions: list[tuple[Knob[Any], tuple[object, ...]]], settings: Settings) -> str:
    parts = []
    for other, values in conditions:
        needed = " or ".join(_format_setting(value) for value in values)
        parts.append(f"{other.name} is {_format_setting(settings[other])}; it needs {needed}")
    return " and ".join(parts)


def _format_setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
