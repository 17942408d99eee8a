"""The configurations measured side by side: baselines, personalised PageRank and ablations."""

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

# As in HippoRAG: half of the walk begins anew at each step.
PAGERANK_DAMPING = 0.5
PAGERANK_TOLERANCE = 1e-6
PAGERANK_ROUNDS = 50


def personalised_pagerank(
    source: Ints, target: Ints, weight: Floats, restart: Floats, *, damping: float, tolerance: float, rounds: int
) -> Floats:
    """Where a walk is that begins anew at the seeds (Haveliwala 2002; over passages and names, HippoRAG 2024); all together 1.

    rank(v) = (1 − d)·r(v) + d·(Σ_{u→v} rank(u)·w(u, v)/Σ_x w(u, x) + r(v)·Σ_{u without edges} rank(u))

    In A–B from the seed A with d = ½, rank(A) = ½ + ½·rank(B) and rank(B) = ½·rank(A):

    >>> there, back = np.array([0, 1]), np.array([1, 0])
    >>> restart = np.array([1.0, 0.0])
    >>> personalised_pagerank(there, back, np.ones(2), restart, damping=0.5, tolerance=1e-9, rounds=100).round(
    ...     4
    ... ).tolist()
    [0.6667, 0.3333]
    """
    given = np.bincount(source, weights=weight, minlength=len(restart))
    share = np.divide(weight, given[source], out=np.zeros(len(source)), where=given[source] > 0)
    at_an_end = given <= 0
    ranks = restart
    for _ in range(rounds):
        followed = np.bincount(target, weights=ranks[source] * share, minlength=len(restart))
        anew = 1 - damping + damping * float(ranks[at_an_end].sum())
        before, ranks = ranks, anew * restart + damping * followed
        if np.abs(ranks - before).sum() < tolerance:
            break
    return ranks


def rank_by_pagerank(network: ScopeGraph, seeds: Mapping[str, float], most: int) -> list[str]:
    """The facts at which a walk from weighted seeds is most often, best first; the seeds alone where nothing connects them."""
    row = {id: at for at, id in enumerate(network.ids)}
    restart = np.zeros(len(network.ids))
    for id, worth in seeds.items():
        if id in row:
            restart[row[id]] = worth
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
    """Networks of several scopes as one, with no edge between them."""
    if len(networks) == 1:
        return networks[0]
    begins = np.cumsum([0, *(len(one.ids) for one in networks)])[:-1]
    return ScopeGraph(
        tuple(id for one in networks for id in one.ids),
        np.concatenate([one.source + begin for one, begin in zip(networks, begins, strict=True)]),
        np.concatenate([one.target + begin for one, begin in zip(networks, begins, strict=True)]),
        np.concatenate([one.weight for one in networks]),
    )


SettingChanges = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """A way of recalling: settings laid over all others, other constants of the ranking, and whether a walk ends it."""

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
# Of one channel only the places count, so that nothing but its own score decides.
_RANK_FUSION: SettingChanges = {**_NO_EXTRAS, "fusion.method": "rrf"}
_EQUAL_WEIGHTS: SettingChanges = {**_RANK_FUSION, "fusion.rrf_k": 60, "semantic.weight": 1.0, "keyword.weight": 1.0}

DEFAULT_ARM, GRAPH_OFF_ARM = "default", "graph-off"
SINGLE_CHANNEL_ARMS = ("bm25", "dense")


def remove_priors(constants: RankingConstants) -> RankingConstants:
    """The constants, with nothing for who speaks, what kind of turn it is or how long."""
    return replace(constants, direct=DirectWeights(*[0.0] * len(fields(DirectWeights))))


def remove_feature(constants: RankingConstants, name: str) -> RankingConstants:
    return replace(constants, features={**constants.features, name: 0.0})


def remove_edges(constants: RankingConstants, kind: str) -> RankingConstants:
    return replace(constants, edges=replace(constants.edges, kinds={**constants.edges.kinds, kind: 0.0}))


def make_arms() -> Mapping[str, Arm]:
    """Every arm that can be asked for, by name."""
    plain = remove_priors(current_constants())
    return MappingProxyType(
        {
            "bm25": Arm("words alone, each fact for itself", {**_RANK_FUSION, "semantic.enabled": False}),
            "dense": Arm("meaning alone, each fact for itself", {**_RANK_FUSION, "keyword.enabled": False}),
            "rrf": Arm("words and meaning by reciprocal ranks, k = 60", _EQUAL_WEIGHTS),
            "linear": Arm("words and meaning by calibrated scores", _NO_EXTRAS, plain),
            "pagerank": Arm("personalised PageRank from the best of linear", _NO_EXTRAS, plain, wanders=True),
            "synapse": Arm("the preset documented-slm", {**PRESETS["documented-slm"].settings, **_NO_ABSTENTION}),
            "diffusion": Arm(
                "the preset documented-engram", {**PRESETS["documented-engram"].settings, **_NO_ABSTENTION}
            ),
            "energy": Arm(
                "the preset documented-memoria", {**PRESETS["documented-memoria"].settings, **_NO_ABSTENTION}
            ),
            GRAPH_OFF_ARM: Arm("the default without the graph", WITHOUT_GRAPH),
            DEFAULT_ARM: Arm("as cofire recalls when nobody says anything"),
        }
    )


def select_arms(names: list[str] | None) -> dict[str, Arm]:
    """The arms of these names, or all."""
    known = make_arms()
    for name in names or ():
        if name not in known:
            raise InvalidInput(f"There is no arm {name!r}.", way_out=f"Choose among {', '.join(known)}.")
    return {name: arm for name, arm in known.items() if not names or name in names}


def make_ablations() -> dict[str, Arm]:
    """The default with one thing taken away at a time, or with other dynamics in place of its own."""
    constants = current_constants()
    channels = ("semantic", "keyword", "entity", "temporal")
    others = [name for name in table.ACTIVATION_DYNAMICS.choices if name != table.ACTIVATION_DYNAMICS.default]
    kinds = [kind for kind, worth in constants.edges.kinds.items() if worth]
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
