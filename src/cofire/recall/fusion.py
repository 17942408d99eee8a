"""Fusion of all channel scores, priors and past feedback into one ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import coverage, name_walk, rank_fusion, reinforcement, synapse
from cofire.model import FactImportance
from cofire.recall import scoring
from cofire.recall.activation import Activation
from cofire.recall.channels import ChannelProposals
from cofire.recall.plan import RecallPlan
from cofire.recall.query import AnalysedQuery
from cofire.recall.request import RecallRequest
from cofire.recall.scoring import FloatArray
from cofire.results import CandidateRanking
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.knobs import Knob
from cofire.settings.table import (
    ACTIVATION_WEIGHT,
    FUSION_COVERAGE,
    FUSION_METHOD,
    FUSION_RRF_K,
    PRIOR_COMMUNITY,
    PRIOR_OCCASION,
    PRIOR_PAGERANK,
    PRIOR_SUCCESS,
    Settings,
)
from cofire.stores.learning_rows import FeedbackCounts

# The facts whose communities count, and how much score makes one of them count e times less.
COMMUNITY_LEADERS, COMMUNITY_SOFTNESS = 10, 0.5


def compute_priors(
    ids: Sequence[str], so_far: Mapping[str, FloatArray], settings: Settings
) -> Steps[dict[str, FloatArray]]:
    """What importance, company and success give each candidate, beside what all else gives so far."""
    gives: dict[str, FloatArray] = {}
    if settings[PRIOR_PAGERANK] or settings[PRIOR_COMMUNITY]:
        rated = yield from store.fetch_importance(ids)
        if settings[PRIOR_PAGERANK]:
            gives["importance"] = settings[PRIOR_PAGERANK] * scale_to_highest(collect_pagerank(ids, rated))
        if settings[PRIOR_COMMUNITY]:
            groups = np.array([rated[id].community if id in rated else -1 for id in ids], np.int64)
            gives["community"] = settings[PRIOR_COMMUNITY] * compute_community_shares(
                groups, _weigh_leaders(ids, so_far)
            )
    if settings[PRIOR_SUCCESS]:
        fared = yield from store.fetch_feedback_counts(ids)
        success = np.array([fared.get(id, FeedbackCounts()).success for id in ids], np.float64)
        gives["success"] = settings[PRIOR_SUCCESS] * (2 * success - 1)
    return gives


def collect_pagerank(ids: Sequence[str], rated: Mapping[str, FactImportance]) -> FloatArray:
    """The PageRank of facts, 0 where none is known."""
    return np.array([rated[id].pagerank if id in rated else 0.0 for id in ids], np.float64)


def _weigh_leaders(ids: Sequence[str], so_far: Mapping[str, FloatArray]) -> FloatArray:
    """How much the best facts count beside the very best; all others nothing."""
    scores = np.asarray(sum(so_far.values(), np.zeros(len(ids))))
    best = rank_fusion.top_rows(scores, ids, COMMUNITY_LEADERS)
    warm = np.zeros(len(ids))
    warm[best] = name_walk.weigh_seeds(scores[best], softness=COMMUNITY_SOFTNESS)
    return warm


def scale_to_highest(values: FloatArray) -> FloatArray:
    """Values as shares of the highest.

    >>> scale_to_highest(np.array([0.1, 0.4])).tolist()
    [0.25, 1.0]
    """
    return np.asarray(values / max(float(values.max(initial=0.0)), 1e-12))


def compute_community_shares(groups: NDArray[np.int64], warm: FloatArray) -> FloatArray:
    """How much of the warmth of all others is in the group of each fact; below 0 is no group.

    >>> compute_community_shares(np.array([1, 1, 2, -1]), np.array([0.5, 0.0, 0.25, 0.25])).tolist()
    [0.0, 0.5, 0.0, 0.0]
    """
    _, group = np.unique(groups, return_inverse=True)
    others = np.bincount(group, warm)[group] - warm
    return np.where(groups < 0, 0.0, others / np.maximum(warm.sum() - warm, 1e-12))


# Judged recalls that are looked at, the likest first.
MAX_JUDGED_RECALLS = 100


def score_past_feedback(ids: Sequence[str], scores: FloatArray, settings: Settings) -> Steps[dict[str, FloatArray]]:
    """What it gives each candidate to have helped on occasions like this one; nothing at all where there was none. `scores` is what
    all else gives."""
    if not settings[PRIOR_OCCASION] or not ids:
        return {}
    best = rank_fusion.top_rows(scores, ids, reinforcement.COUNTED_RANKS)
    first = frozenset(ids[row] for row in best)
    judged = yield from store.find_judged_recalls(sorted(first), MAX_JUDGED_RECALLS)
    worth = reinforcement.score_past_feedback(first, judged, floor=reinforcement.MIN_RECALL_OVERLAP)
    if worth.keys().isdisjoint(ids):
        return {}
    return {"occasions": settings[PRIOR_OCCASION] * np.array([worth.get(id, 0.0) for id in ids], np.float64)}


FUSION_WEIGHTS: Mapping[str, Knob[float]] = {**scoring.CHANNEL_WEIGHTS, "activation": ACTIVATION_WEIGHT}
HYBRID_WEIGHTS = (0.5, 0.3, 0.2)

# Facts that the last pick looks at, however many are wanted, so that places do not depend on k.
COVERAGE_POOL = 20


def fuse_channels(
    active: Activation, heard: ChannelProposals, cue: AnalysedQuery, asked: RecallRequest, plan: RecallPlan
) -> Steps[CandidateRanking]:
    """One score a fact, by the method that the settings name."""
    known = active.slate
    own = {name: np.array([scores.get(id, 0.0) for id in known.ids]) for name, scores in heard.own.items()}
    scores = {**{name: values for name, values in known.scores.items() if name not in cue.reports}, **own}
    if plan.activates:
        scores["activation"] = active.scores
    places = ChannelRanks(scores, known.meant, known.ids)
    method = asked.settings[FUSION_METHOD]
    parts = _split_activation(active, plan) if method == "calibrated" else {}
    if method == "rrf":
        gives = _fuse_reciprocal(places, heard, asked, plan)
    elif method == "hybrid":
        gives = (yield from _fuse_hybrid(active)) | _weigh_own_channels(own, heard)
    else:
        gives = yield from _add_priors(
            _fuse_calibrated(active, parts, plan) | _weigh_own_channels(own, heard), active, cue, asked
        )
    total = np.asarray(sum(gives.values(), np.zeros(len(known.ids))))
    return CandidateRanking(
        known.ids,
        rank_fusion.order_rows(total, known.ids),
        total,
        scores,
        places,
        gives,
        parts,
        active.hops,
        active.seeds,
        active.rounds,
    )


class ChannelRanks(Mapping[str, NDArray[np.int64]]):
    """The place of each fact in each channel; counted when somebody looks. `meant` are those that are heard by their meaning."""

    def __init__(self, scores: Mapping[str, FloatArray], meant: NDArray[np.bool_], ids: Sequence[str]) -> None:
        self._scores, self._meant, self._ids = scores, meant, ids
        self._known: dict[str, NDArray[np.int64]] = {}

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        if name not in self._known:
            scores = self._scores[name]
            self._known[name] = rank_fusion.rank_in_channel(
                scores, self._meant if name == "semantic" else scores > 0, self._ids
            )
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)


def _fuse_calibrated(active: Activation, parts: Mapping[str, FloatArray], plan: RecallPlan) -> dict[str, FloatArray]:
    """Scores on known scales are simply added."""
    gives = {
        name: rank_fusion.scale_values(values, plan.weights.get(name, 1.0))
        for name, values in active.slate.gives.items()
    }
    if plan.activates:
        gives["activation"] = np.asarray(sum(parts.values(), np.zeros(len(active.slate.ids))))
    return gives


def _add_priors(
    gives: dict[str, FloatArray], active: Activation, cue: AnalysedQuery, asked: RecallRequest
) -> Steps[dict[str, FloatArray]]:
    """What channels give, with what the graph's shape, covering the question and earlier occasions add to it, in this order."""
    ids = active.slate.ids
    gives |= yield from compute_priors(ids, gives, asked.settings)
    so_far = np.asarray(sum(gives.values(), np.zeros(len(ids))))
    if asked.settings[FUSION_COVERAGE]:
        gives["coverage"] = _reward_coverage(so_far, active, cue, asked)
        so_far = so_far + gives["coverage"]
    gives |= yield from score_past_feedback(ids, so_far, asked.settings)
    return gives


def _weigh_own_channels(own: Mapping[str, FloatArray], heard: ChannelProposals) -> dict[str, FloatArray]:
    """What channels of a user's own give."""
    return {name: heard.weights[name] * values for name, values in own.items()}


def _split_activation(active: Activation, plan: RecallPlan) -> dict[str, FloatArray]:
    """What activation gives by feature; where only places or a fixed mix count, no feature gives anything by itself."""
    weight = plan.weights.get("activation", 1.0)
    return {name: rank_fusion.scale_values(values, weight) for name, values in active.gives.items()}


def _fuse_reciprocal(
    places: Mapping[str, NDArray[np.int64]], heard: ChannelProposals, asked: RecallRequest, plan: RecallPlan
) -> dict[str, FloatArray]:
    """Only the places count (000)."""
    weights = {
        name: asked.settings[FUSION_WEIGHTS[name]] if name in FUSION_WEIGHTS else heard.weights[name] for name in places
    }
    return {
        name: rank_fusion.reciprocal_rank_scores(
            place, weight=weights[name] * plan.weights.get(name, 1.0), k=asked.settings[FUSION_RRF_K]
        )
        for name, place in places.items()
    }


def _fuse_hybrid(active: Activation) -> Steps[dict[str, FloatArray]]:
    """The SYNAPSE paper's rank: .5 · similarity + .3 · activation + .2 · PageRank."""
    ids = active.slate.ids
    rated = yield from store.fetch_importance(ids)
    parts = {
        "semantic": np.maximum(0.0, active.slate.cosine),
        "activation": active.scores,
        "importance": scale_to_highest(collect_pagerank(ids, rated)),
    }
    nothing = np.zeros(len(ids))
    return {
        name: synapse.hybrid_score(*(values if one == name else nothing for one in parts), weights=HYBRID_WEIGHTS)
        for name, values in parts.items()
    }


def _reward_coverage(scores: FloatArray, active: Activation, cue: AnalysedQuery, asked: RecallRequest) -> FloatArray:
    """What it counts to be the first to hold words of the question, among the best."""
    best = rank_fusion.top_rows(scores, active.slate.ids, COVERAGE_POOL)
    bonus: NDArray[np.float64] = np.zeros(len(scores))
    bonus[best] = coverage.coverage_bonuses(
        scores[best],
        active.slate.holds[best],
        cue.word_shares,
        [active.slate.ids[row] for row in best],
        count=len(best),
        reward=asked.settings[FUSION_COVERAGE],
    )
    return bonus
