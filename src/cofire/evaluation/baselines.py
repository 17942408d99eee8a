"""The configurations (arms) that are measured side by side: baselines, personalised PageRank, ablations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.errors import InvalidInput
from cofire.settings import table
from cofire.settings.presets import PRESETS
from cofire.settings.ranking import DirectWeights, RankingConstants, current_constants
from cofire.stores.base import ScopeGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# As in HippoRAG: the walk restarts with probability ½ at each step.
PAGERANK_DAMPING = 0.5
PAGERANK_TOLERANCE = 1e-6
PAGERANK_ROUNDS = 50


def personalised_pagerank(
    source: Ints, target: Ints, weight: Floats, restart: Floats, *, damping: float, tolerance: float, rounds: int
) -> Floats:
    """Personalised PageRank: a random walk that restarts at the seeds. The ranks sum to 1.

    Haveliwala 2002; over passages and names, HippoRAG 2024.

    rank(v) = (1 − d)·r(v) + d·(Σ_{u→v} rank(u)·w(u, v)/Σ_x w(u, x) + r(v)·Σ_{u without edges} rank(u))

    In A–B from the seed A with d = ½, rank(A) = ½ + ½·rank(B) and rank(B) = ½·rank(A):

    >>> there, back = np.array([0, 1]), np.array([1, 0])
    >>> restart = np.array([1.0, 0.0])
    >>> personalised_pagerank(there, back, np.ones(2), restart, damping=0.5, tolerance=1e-9, rounds=100).round(
    ...     4
    ... ).tolist()
    [0.6667, 0.3333]
    """
    out_weight = np.bincount(source, weights=weight, minlength=len(restart))
    share = np.divide(weight, out_weight[source], out=np.zeros(len(source)), where=out_weight[source] > 0)
    is_dangling = out_weight <= 0
    ranks = restart
    for _ in range(rounds):
        arriving = np.bincount(target, weights=ranks[source] * share, minlength=len(restart))
        restart_mass = 1 - damping + damping * float(ranks[is_dangling].sum())
        previous, ranks = ranks, restart_mass * restart + damping * arriving
        if np.abs(ranks - previous).sum() < tolerance:
            break
    return ranks


def rank_by_pagerank(network: ScopeGraph, seeds: Mapping[str, float], most: int) -> list[str]:
    """The facts with the highest rank from weighted seeds. Only the seeds if no edge leaves them."""
    row = {id: at for at, id in enumerate(network.ids)}
    restart = np.zeros(len(network.ids))
    for id, seed_weight in seeds.items():
        if id in row:
            restart[row[id]] = seed_weight
    if restart.sum() <= 0:
        return list(seeds)[:most]
    ranks = personalised_pagerank(
        network.source,
        network.target,
        network.weight.astype(np.float64),
        restart / restart.sum(),
        damping=PAGERANK_DAMPING,
        tolerance=PAGERANK_TOLERANCE,
        rounds=PAGERANK_ROUNDS,
    )
    best = np.argsort(-ranks, kind="stable")[:most]
    return [network.ids[at] for at in best if ranks[at] > 0]


def join_networks(networks: Sequence[ScopeGraph]) -> ScopeGraph:
    """Networks of several scopes as one, without edges between them."""
    if len(networks) == 1:
        return networks[0]
    offsets = np.cumsum([0, *(len(network.ids) for network in networks)])[:-1]
    return ScopeGraph(
        tuple(id for network in networks for id in network.ids),
        np.concatenate([network.source + offset for network, offset in zip(networks, offsets, strict=True)]),
        np.concatenate([network.target + offset for network, offset in zip(networks, offsets, strict=True)]),
        np.concatenate([network.weight for network in networks]),
    )


SettingChanges = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """A configuration: settings, ranking constants, and whether PageRank follows the recall (`wanders`)."""

    help: str
    settings: SettingChanges = field(default_factory=dict)
    constants: RankingConstants | None = None
    wanders: bool = False


_NO_ABSTENTION: SettingChanges = {"abstention.rule": "off"}
WITHOUT_GRAPH: SettingChanges = {
    "spreading_activation.enabled": False,
    "graph_recall.enabled": False,
    "graph_assist.enabled": False,
}
_NO_EXTRAS: SettingChanges = {
    **WITHOUT_GRAPH,
    **_NO_ABSTENTION,
    "entity.enabled": False,
    "temporal.enabled": False,
    "context.enabled": False,
    "fusion.coverage": 0.0,
}
# For a single channel only ranks matter, so that nothing but its own score decides.
_RANK_FUSION: SettingChanges = {**_NO_EXTRAS, "fusion.method": "rrf"}
_EQUAL_WEIGHTS: SettingChanges = {**_RANK_FUSION, "fusion.rrf_k": 60, "semantic.weight": 1.0, "keyword.weight": 1.0}

DEFAULT_ARM, GRAPH_OFF_ARM = "default", "graph-off"
SINGLE_CHANNEL_ARMS = ("bm25", "dense")


def remove_priors(constants: RankingConstants) -> RankingConstants:
    """The constants without weights for speaker, kind of turn and length."""
    return replace(constants, direct=DirectWeights(*[0.0] * len(fields(DirectWeights))))


def remove_feature(constants: RankingConstants, name: str) -> RankingConstants:
    return replace(constants, features={**constants.features, name: 0.0})


def remove_edges(constants: RankingConstants, kind: str) -> RankingConstants:
    return replace(constants, edges=replace(constants.edges, kinds={**constants.edges.kinds, kind: 0.0}))


def make_arms() -> Mapping[str, Arm]:
    """All arms by name."""
    plain = remove_priors(current_constants())
    return MappingProxyType(
        {
            "bm25": Arm("keyword channel only, facts without context", {**_RANK_FUSION, "semantic.enabled": False}),
            "dense": Arm("semantic channel only, facts without context", {**_RANK_FUSION, "keyword.enabled": False}),
            "rrf": Arm("keyword and semantic channels by reciprocal ranks, k = 60", _EQUAL_WEIGHTS),
            "linear": Arm("keyword and semantic channels by calibrated scores", _NO_EXTRAS, plain),
            "pagerank": Arm("personalised PageRank from the best facts of linear", _NO_EXTRAS, plain, wanders=True),
            "synapse": Arm("the preset documented-slm", {**PRESETS["documented-slm"].settings, **_NO_ABSTENTION}),
            "diffusion": Arm(
                "the preset documented-engram", {**PRESETS["documented-engram"].settings, **_NO_ABSTENTION}
            ),
            "energy": Arm(
                "the preset documented-memoria", {**PRESETS["documented-memoria"].settings, **_NO_ABSTENTION}
            ),
            GRAPH_OFF_ARM: Arm("the default without the graph", WITHOUT_GRAPH),
            DEFAULT_ARM: Arm("the default settings"),
        }
    )


def select_arms(names: list[str] | None) -> dict[str, Arm]:
    """The arms with these names, or all."""
    all_arms = make_arms()
    for name in names or ():
        if name not in all_arms:
            raise InvalidInput(f"There is no arm {name!r}.", way_out=f"Choose among {', '.join(all_arms)}.")
    return {name: arm for name, arm in all_arms.items() if not names or name in names}


def make_ablations() -> dict[str, Arm]:
    """The default without one part at a time, or with other dynamics."""
    constants = current_constants()
    channels = ("semantic", "keyword", "entity", "temporal")
    others = [name for name in table.ACTIVATION_DYNAMICS.choices if name != table.ACTIVATION_DYNAMICS.default]
    kinds = [kind for kind, strength in constants.edges.kinds.items() if strength]
    return {
        **{f"channel {name}": Arm("", {f"{name}.enabled": False}) for name in channels},
        **{f"feature {name}": Arm("", {}, remove_feature(constants, name)) for name in constants.features},
        "priors": Arm("", {}, remove_priors(constants)),
        "context": Arm("", {"context.enabled": False}),
        "coverage": Arm("", {"fusion.coverage": 0.0}),
        "second pass": Arm("", {"graph_recall.steps": 1}),
        **{f"edges {kind}": Arm("", {}, remove_edges(constants, kind)) for kind in kinds},
        "graph": Arm("", WITHOUT_GRAPH),
        "abstention": Arm("", _NO_ABSTENTION),
        **{f"dynamics {name}": Arm("", {"activation.dynamics": name}) for name in others},
    }
