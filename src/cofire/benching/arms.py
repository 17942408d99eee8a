"""Arms: the ways of recalling that are measured beside each other on one store, as data. Baselines never abstain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from cofire.errors import InvalidInput
from cofire.presets import PRESETS
from cofire.ranking import Direct, Ranking, ranking
from cofire.settings import recall_settings

Changes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """A way of recalling: settings laid over all others, other constants of the ranking, and whether a walk ends it."""

    help: str
    settings: Changes = field(default_factory=dict)
    constants: Ranking | None = None
    wanders: bool = False


_UNJUDGED: Changes = {"abstention.rule": "off"}
WITHOUT_GRAPH: Changes = {
    "spreading_activation.enabled": False,
    "graph_recall.enabled": False,
    "graph_assist.enabled": False,
}
_PLAIN: Changes = {
    **WITHOUT_GRAPH,
    **_UNJUDGED,
    "entity.enabled": False,
    "temporal.enabled": False,
    "context.enabled": False,
    "fusion.coverage": 0.0,
}
# Of one channel only the places count, so that nothing but its own score decides.
_BY_PLACE: Changes = {**_PLAIN, "fusion.method": "rrf"}
_EQUAL: Changes = {**_BY_PLACE, "fusion.rrf_k": 60, "semantic.weight": 1.0, "keyword.weight": 1.0}

DEFAULT, GRAPH_OFF = "default", "graph-off"
SINGLES = ("bm25", "dense")


def without_priors(constants: Ranking) -> Ranking:
    """The constants, with nothing for who speaks, what kind of turn it is or how long."""
    return replace(constants, direct=Direct(*[0.0] * len(fields(Direct))))


def without_feature(constants: Ranking, name: str) -> Ranking:
    return replace(constants, features={**constants.features, name: 0.0})


def without_edges(constants: Ranking, kind: str) -> Ranking:
    return replace(constants, edges=replace(constants.edges, kinds={**constants.edges.kinds, kind: 0.0}))


def arms() -> Mapping[str, Arm]:
    """Every arm that can be asked for, by name."""
    plain = without_priors(ranking())
    return MappingProxyType(
        {
            "bm25": Arm("words alone, each fact for itself", {**_BY_PLACE, "semantic.enabled": False}),
            "dense": Arm("meaning alone, each fact for itself", {**_BY_PLACE, "keyword.enabled": False}),
            "rrf": Arm("words and meaning by reciprocal ranks, k = 60", _EQUAL),
            "linear": Arm("words and meaning by calibrated scores", _PLAIN, plain),
            "pagerank": Arm("personalised PageRank from the best of linear", _PLAIN, plain, wanders=True),
            "synapse": Arm("the preset documented-slm", {**PRESETS["documented-slm"].settings, **_UNJUDGED}),
            "diffusion": Arm("the preset documented-engram", {**PRESETS["documented-engram"].settings, **_UNJUDGED}),
            "energy": Arm("the preset documented-memoria", {**PRESETS["documented-memoria"].settings, **_UNJUDGED}),
            GRAPH_OFF: Arm("the default without the graph", WITHOUT_GRAPH),
            DEFAULT: Arm("as cofire recalls when nobody says anything"),
        }
    )


def chosen(names: list[str] | None) -> dict[str, Arm]:
    """The arms of these names, or all."""
    known = arms()
    for name in names or ():
        if name not in known:
            raise InvalidInput(f"There is no arm {name!r}.", way_out=f"Choose among {', '.join(known)}.")
    return {name: arm for name, arm in known.items() if not names or name in names}


def ablations() -> dict[str, Arm]:
    """The default with one thing taken away at a time, or with other dynamics in place of its own."""
    constants = ranking()
    channels = ("semantic", "keyword", "entity", "temporal")
    others = [name for name in recall_settings.DYNAMICS.choices if name != recall_settings.DYNAMICS.default]
    kinds = [kind for kind, worth in constants.edges.kinds.items() if worth]
    return {
        **{f"channel {name}": Arm("", {f"{name}.enabled": False}) for name in channels},
        **{f"feature {name}": Arm("", {}, without_feature(constants, name)) for name in constants.features},
        "priors": Arm("", {}, without_priors(constants)),
        "context": Arm("", {"context.enabled": False}),
        "coverage": Arm("", {"fusion.coverage": 0.0}),
        "second pass": Arm("", {"graph_recall.steps": 1}),
        **{f"edges {kind}": Arm("", {}, without_edges(constants, kind)) for kind in kinds},
        "graph": Arm("", WITHOUT_GRAPH),
        "abstention": Arm("", _UNJUDGED),
        **{f"dynamics {name}": Arm("", {"activation.dynamics": name}) for name in others},
    }
