"""Fusing: what all channels give, added up to one score a fact, and the order that follows. The parts always add up to the score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking
from cofire.dynamics import covering, fusion, synapse
from cofire.graph_asks import Rated
from cofire.model import Importance
from cofire.recall_settings import ACTIVATION_WEIGHT, COVERAGE
from cofire.recollection import Ranking
from cofire.settings import FUSION, RRF_K, Knob
from cofire.verbs import direct
from cofire.verbs.activating import Activation
from cofire.verbs.asking import Question
from cofire.verbs.channels import Heard
from cofire.verbs.cueing import Cue
from cofire.verbs.occasions import helped_before
from cofire.verbs.planning import Plan
from cofire.verbs.priors import beside_the_highest, central, priors
from cofire.verbs.slates import Numbers

WEIGHTS: Mapping[str, Knob[float]] = {**direct.WEIGHTS, "activation": ACTIVATION_WEIGHT}
HYBRID = (0.5, 0.3, 0.2)

# Facts that the last pick looks at, however many are wanted, so that places do not depend on k.
PICKED_FROM = 20


def fuse(active: Activation, heard: Heard, cue: Cue, asked: Question, plan: Plan) -> Asking[Ranking]:
    """One score a fact, by the method that the settings name."""
    known = active.slate
    own = {name: np.array([scores.get(id, 0.0) for id in known.ids]) for name, scores in heard.own.items()}
    scores = {**{name: values for name, values in known.scores.items() if name not in cue.reports}, **own}
    if plan.activates:
        scores["activation"] = active.scores
    places = Places(scores, known.meant, known.ids)
    method = asked.settings[FUSION]
    parts = _parts(active, plan) if method == "calibrated" else {}
    if method == "rrf":
        gives = _reciprocal(places, heard, asked, plan)
    elif method == "hybrid":
        gives = (yield from _hybrid(active)) | _own(own, heard)
    else:
        gives = yield from _with_the_past(_calibrated(active, parts, plan) | _own(own, heard), active, cue, asked)
    total = np.asarray(sum(gives.values(), np.zeros(len(known.ids))))
    return Ranking(
        known.ids,
        fusion.order(total, known.ids),
        total,
        scores,
        places,
        gives,
        parts,
        active.hops,
        active.seeds,
        active.rounds,
    )


class Places(Mapping[str, NDArray[np.int64]]):
    """The place of each fact in each channel; counted when somebody looks. `meant` are those that are heard by their meaning."""

    def __init__(self, scores: Mapping[str, Numbers], meant: NDArray[np.bool_], ids: Sequence[str]) -> None:
        self._scores, self._meant, self._ids = scores, meant, ids
        self._known: dict[str, NDArray[np.int64]] = {}

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        if name not in self._known:
            scores = self._scores[name]
            self._known[name] = fusion.ranks(scores, self._meant if name == "semantic" else scores > 0, self._ids)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)


def _calibrated(active: Activation, parts: Mapping[str, Numbers], plan: Plan) -> dict[str, Numbers]:
    """Scores on known scales are simply added."""
    gives = {name: fusion.scaled(values, plan.weights.get(name, 1.0)) for name, values in active.slate.gives.items()}
    if plan.activates:
        gives["activation"] = np.asarray(sum(parts.values(), np.zeros(len(active.slate.ids))))
    return gives


def _with_the_past(
    gives: dict[str, Numbers], active: Activation, cue: Cue, asked: Question
) -> Asking[dict[str, Numbers]]:
    """What channels give, with what the graph's shape, covering the question and earlier occasions add to it, in this order."""
    ids = active.slate.ids
    gives |= yield from priors(ids, gives, asked.settings)
    so_far = np.asarray(sum(gives.values(), np.zeros(len(ids))))
    if asked.settings[COVERAGE]:
        gives["coverage"] = _coverage(so_far, active, cue, asked)
        so_far = so_far + gives["coverage"]
    gives |= yield from helped_before(ids, so_far, asked.settings)
    return gives


def _own(own: Mapping[str, Numbers], heard: Heard) -> dict[str, Numbers]:
    """What channels of a user's own give."""
    return {name: heard.weights[name] * values for name, values in own.items()}


def _parts(active: Activation, plan: Plan) -> dict[str, Numbers]:
    """What activation gives by feature; where only places or a fixed mix count, no feature gives anything by itself."""
    weight = plan.weights.get("activation", 1.0)
    return {name: fusion.scaled(values, weight) for name, values in active.gives.items()}


def _reciprocal(
    places: Mapping[str, NDArray[np.int64]], heard: Heard, asked: Question, plan: Plan
) -> dict[str, Numbers]:
    """Only the places count (000)."""
    weights = {name: asked.settings[WEIGHTS[name]] if name in WEIGHTS else heard.weights[name] for name in places}
    return {
        name: fusion.reciprocal(place, weight=weights[name] * plan.weights.get(name, 1.0), k=asked.settings[RRF_K])
        for name, place in places.items()
    }


def _hybrid(active: Activation) -> Asking[dict[str, Numbers]]:
    """The SYNAPSE paper's rank: .5 · similarity + .3 · activation + .2 · PageRank."""
    ids = active.slate.ids
    rated: dict[str, Importance] = yield Rated(ids)
    parts = {
        "semantic": np.maximum(0.0, active.slate.cosine),
        "activation": active.scores,
        "importance": beside_the_highest(central(ids, rated)),
    }
    nothing = np.zeros(len(ids))
    return {
        name: synapse.hybrid(*(values if one == name else nothing for one in parts), weights=HYBRID)
        for name, values in parts.items()
    }


def _coverage(scores: Numbers, active: Activation, cue: Cue, asked: Question) -> Numbers:
    """What it counts to be the first to hold words of the question, among the best."""
    best = fusion.best(scores, active.slate.ids, PICKED_FROM)
    bonus: NDArray[np.float64] = np.zeros(len(scores))
    bonus[best] = covering.picked(
        scores[best],
        active.slate.holds[best],
        cue.word_shares,
        [active.slate.ids[row] for row in best],
        count=len(best),
        reward=asked.settings[COVERAGE],
    )
    return bonus
