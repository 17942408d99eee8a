"""Fusion of all channel scores, priors and past feedback into one ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import coverage, name_walk, rank_fusion, reinforcement, synapse
from cofire.model import FactImportance
from cofire.recall.activation import Activation
from cofire.recall.channels import ChannelProposals
from cofire.recall.plan import RecallPlan
from cofire.recall.query import Query
from cofire.recall.request import RecallRequest
from cofire.recall.score import CHANNEL_WEIGHTS, Candidates, FloatArray
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

# The best candidates, whose communities count, and the score difference at which one of them counts e times less.
COMMUNITY_LEADERS, COMMUNITY_SOFTNESS = 10, 0.5

# Judged recalls that are compared with this one, the most similar first.
MAX_JUDGED_RECALLS = 100

FUSION_WEIGHTS: Mapping[str, Knob[float]] = {**CHANNEL_WEIGHTS, "activation": ACTIVATION_WEIGHT}
HYBRID_WEIGHTS = (0.5, 0.3, 0.2)

# Candidates that coverage compares, whatever k is, so that ranks do not depend on k.
COVERAGE_POOL = 20


def compute_priors(
    ids: Sequence[str], contributions: Mapping[str, FloatArray], settings: Settings
) -> Steps[dict[str, FloatArray]]:
    """What PageRank, the community and past success contribute to each candidate."""
    priors: dict[str, FloatArray] = {}
    if settings[PRIOR_PAGERANK] or settings[PRIOR_COMMUNITY]:
        importance = yield from store.fetch_importance(ids)
        if settings[PRIOR_PAGERANK]:
            priors["importance"] = settings[PRIOR_PAGERANK] * scale_to_highest(collect_pagerank(ids, importance))
        if settings[PRIOR_COMMUNITY]:
            communities = np.array([importance[id].community if id in importance else -1 for id in ids], np.int64)
            shares = compute_community_shares(communities, _weigh_leaders(ids, contributions))
            priors["community"] = settings[PRIOR_COMMUNITY] * shares
    if settings[PRIOR_SUCCESS]:
        counts = yield from store.fetch_feedback_counts(ids)
        success = np.array([counts.get(id, FeedbackCounts()).success for id in ids], np.float64)
        priors["success"] = settings[PRIOR_SUCCESS] * (2 * success - 1)
    return priors


def collect_pagerank(ids: Sequence[str], importance: Mapping[str, FactImportance]) -> FloatArray:
    """The PageRank of each fact, 0 where none was computed."""
    return np.array([importance[id].pagerank if id in importance else 0.0 for id in ids], np.float64)


def _weigh_leaders(ids: Sequence[str], contributions: Mapping[str, FloatArray]) -> FloatArray:
    """The weight of the best candidates relative to the best one; 0 for all others."""
    scores = _sum_contributions(contributions, len(ids))
    best_rows = rank_fusion.top_rows(scores, ids, COMMUNITY_LEADERS)
    weights = np.zeros(len(ids))
    weights[best_rows] = name_walk.weigh_seeds(scores[best_rows], softness=COMMUNITY_SOFTNESS)
    return weights


def scale_to_highest(values: FloatArray) -> FloatArray:
    """Values as shares of the highest.

    >>> scale_to_highest(np.array([0.1, 0.4])).tolist()
    [0.25, 1.0]
    """
    return np.asarray(values / max(float(values.max(initial=0.0)), 1e-12))


def compute_community_shares(communities: NDArray[np.int64], weights: FloatArray) -> FloatArray:
    """The share of the weight of all other candidates that is in the community of each; below 0 is no community.

    >>> compute_community_shares(np.array([1, 1, 2, -1]), np.array([0.5, 0.0, 0.25, 0.25])).tolist()
    [0.0, 0.5, 0.0, 0.0]
    """
    _, group = np.unique(communities, return_inverse=True)
    others = np.bincount(group, weights)[group] - weights
    return np.where(communities < 0, 0.0, others / np.maximum(weights.sum() - weights, 1e-12))


def score_past_feedback(ids: Sequence[str], scores: FloatArray, settings: Settings) -> Steps[dict[str, FloatArray]]:
    """What feedback on similar recalls contributes to each candidate; empty if there is none."""
    if not settings[PRIOR_OCCASION] or not ids:
        return {}
    best_rows = rank_fusion.top_rows(scores, ids, reinforcement.COUNTED_RANKS)
    best_ids = frozenset(ids[row] for row in best_rows)
    judged = yield from store.find_judged_recalls(sorted(best_ids), MAX_JUDGED_RECALLS)
    values = reinforcement.score_past_feedback(best_ids, judged, floor=reinforcement.MIN_RECALL_OVERLAP)
    if values.keys().isdisjoint(ids):
        return {}
    return {"occasions": settings[PRIOR_OCCASION] * np.array([values.get(id, 0.0) for id in ids], np.float64)}


def fuse_channels(
    activation: Activation, proposals: ChannelProposals, query: Query, request: RecallRequest, plan: RecallPlan
) -> Steps[CandidateRanking]:
    """Combine what all channels give each candidate into one score, by the method of the settings."""
    candidates = activation.candidates
    custom_scores = {
        name: np.array([scores.get(id, 0.0) for id in candidates.ids])
        for name, scores in proposals.custom_scores.items()
    }
    scores = {name: values for name, values in candidates.scores.items() if name not in query.reports}
    scores |= custom_scores
    if plan.activates:
        scores["activation"] = activation.strengths
    ranks = ChannelRanks(scores, candidates.has_vector, candidates.ids)
    custom = {name: proposals.custom_weights[name] * values for name, values in custom_scores.items()}

    method = request.settings[FUSION_METHOD]
    parts: dict[str, FloatArray] = {}
    if method == "rrf":
        contributions = _fuse_reciprocal(ranks, proposals, request, plan)
    elif method == "hybrid":
        contributions = (yield from _fuse_hybrid(activation)) | custom
    else:
        parts = _split_activation(activation, plan)
        contributions = _add_channels(activation, parts, plan) | custom
        contributions = yield from _add_priors(contributions, candidates, query, request)

    total = _sum_contributions(contributions, len(candidates.ids))
    return CandidateRanking(
        ids=candidates.ids,
        order=rank_fusion.order_rows(total, candidates.ids),
        total=total,
        scores=scores,
        places=ranks,
        gives=contributions,
        parts=parts,
        hops=activation.hops,
        seeds=activation.seeds,
        recorded=activation.rounds,
    )


def _sum_contributions(contributions: Mapping[str, FloatArray], count: int) -> FloatArray:
    return np.asarray(sum(contributions.values(), np.zeros(count)))


class ChannelRanks(Mapping[str, NDArray[np.int64]]):
    """The rank of each candidate in each channel, computed when a channel is looked up.

    The semantic channel ranks every fact with a vector, any other one the facts it scores above 0.
    """

    def __init__(self, scores: Mapping[str, FloatArray], has_vector: NDArray[np.bool_], ids: Sequence[str]) -> None:
        self._scores, self._has_vector, self._ids = scores, has_vector, ids
        self._ranks: dict[str, NDArray[np.int64]] = {}

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        if name not in self._ranks:
            scores = self._scores[name]
            is_ranked = self._has_vector if name == "semantic" else scores > 0
            self._ranks[name] = rank_fusion.rank_in_channel(scores, is_ranked, self._ids)
        return self._ranks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)


def _add_channels(activation: Activation, parts: Mapping[str, FloatArray], plan: RecallPlan) -> dict[str, FloatArray]:
    """Scores on known scales are added, times the weight that the strategy gives the channel."""
    candidates = activation.candidates
    contributions = {name: plan.weights.get(name, 1.0) * values for name, values in candidates.contributions.items()}
    if plan.activates:
        contributions["activation"] = _sum_contributions(parts, len(candidates.ids))
    return contributions


def _split_activation(activation: Activation, plan: RecallPlan) -> dict[str, FloatArray]:
    """What activation contributes by feature. With fusion by ranks or a fixed mix, features contribute nothing."""
    weight = plan.weights.get("activation", 1.0)
    return {name: weight * values for name, values in activation.contributions.items()}


def _add_priors(
    contributions: dict[str, FloatArray], candidates: Candidates, query: Query, request: RecallRequest
) -> Steps[dict[str, FloatArray]]:
    """The contributions with those of the graph's shape, of coverage and of past feedback, in this order."""
    count = len(candidates.ids)
    contributions = contributions | (yield from compute_priors(candidates.ids, contributions, request.settings))
    if request.settings[FUSION_COVERAGE]:
        total = _sum_contributions(contributions, count)
        contributions["coverage"] = _reward_coverage(total, candidates, query, request)
    total = _sum_contributions(contributions, count)
    return contributions | (yield from score_past_feedback(candidates.ids, total, request.settings))


def _fuse_reciprocal(
    ranks: Mapping[str, NDArray[np.int64]], proposals: ChannelProposals, request: RecallRequest, plan: RecallPlan
) -> dict[str, FloatArray]:
    """Weighted reciprocal rank fusion: only the ranks count (000)."""
    contributions = {}
    for name, channel_ranks in ranks.items():
        knob = FUSION_WEIGHTS.get(name)
        weight = proposals.custom_weights[name] if knob is None else request.settings[knob]
        contributions[name] = rank_fusion.reciprocal_rank_scores(
            channel_ranks, weight=weight * plan.weights.get(name, 1.0), k=request.settings[FUSION_RRF_K]
        )
    return contributions


def _fuse_hybrid(activation: Activation) -> Steps[dict[str, FloatArray]]:
    """The rank of the SYNAPSE paper: .5 · similarity + .3 · activation + .2 · PageRank."""
    candidates = activation.candidates
    importance = yield from store.fetch_importance(candidates.ids)
    parts = {
        "semantic": np.maximum(0.0, candidates.cosine),
        "activation": activation.strengths,
        "importance": scale_to_highest(collect_pagerank(candidates.ids, importance)),
    }
    zeros = np.zeros(len(candidates.ids))
    return {
        name: synapse.hybrid_score(*(values if part == name else zeros for part in parts), weights=HYBRID_WEIGHTS)
        for name, values in parts.items()
    }


def _reward_coverage(scores: FloatArray, candidates: Candidates, query: Query, request: RecallRequest) -> FloatArray:
    """A bonus for the first of the best candidates to hold a word of the question."""
    best_rows = rank_fusion.top_rows(scores, candidates.ids, COVERAGE_POOL)
    bonus = np.zeros(len(scores))
    bonus[best_rows] = coverage.coverage_bonuses(
        scores[best_rows],
        candidates.holds_words[best_rows],
        query.word_shares,
        [candidates.ids[row] for row in best_rows],
        count=len(best_rows),
        reward=request.settings[FUSION_COVERAGE],
    )
    return bonus
