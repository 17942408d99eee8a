"""Activation from the best candidates, by the dynamics that the settings choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cofire.activation_paths import ActivationHop, ActivationRound, SpreadResult
from cofire.algorithms import diffusion, energy, rank_fusion, synapse
from cofire.errors import StoreError
from cofire.recall.plan import RecallPlan
from cofire.recall.query import Query
from cofire.recall.request import RecallRequest
from cofire.recall.score import Candidates, FloatArray, score_missing
from cofire.recall.spreading import spread_diffusion, spread_energy, spread_synapse
from cofire.recall.walk import walk_graph
from cofire.results import ChannelReport
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import (
    ACTIVATION_DYNAMICS,
    ACTIVATION_MOST_LINKS,
    ACTIVATION_WEIGHT,
    DIFFUSION_DAMPING,
    DIFFUSION_DECAY,
    DIFFUSION_ITERATIONS,
    ENERGY_BRANCHES,
    ENERGY_MAX_DEPTH,
    ENERGY_MIN_ACTIVATION,
    ENERGY_TAG_FLOOR,
    GRAPH_RECALL_CONFIDENCE_FLOOR,
    GRAPH_RECALL_EXPANDED,
    GRAPH_RECALL_MIN_SEED_SCORE,
    GRAPH_RECALL_SEEDS,
    SPREADING_ACTIVATION_ALPHA,
    SPREADING_ACTIVATION_DELTA,
    SPREADING_ACTIVATION_MAX_ITERATIONS,
    SPREADING_ACTIVATION_SPREADING_FACTOR,
    SPREADING_ACTIVATION_TAU_GATE,
    SPREADING_ACTIVATION_THETA,
    SPREADING_ACTIVATION_TOP_M,
    SYNAPSE_INHIBITION,
    SYNAPSE_SLOPE,
    Settings,
)
from cofire.stores.base import ExpansionOptions
from cofire.text.base import run_reading_rule
from cofire.text.subjects import extract_ngrams


@dataclass(frozen=True)
class Activation:
    """The result of activation.

    `candidates` include the facts that it reached. `strengths` are their activations, `contributions`
    the additions to the fused score by feature. `hops` and `seeds` have an entry per pass, `rounds` are
    the recorded rounds of dynamics that record them.
    """

    candidates: Candidates
    strengths: FloatArray
    contributions: Mapping[str, FloatArray]
    report: ChannelReport
    hops: tuple[Mapping[str, ActivationHop], ...] = ()
    seeds: tuple[Mapping[str, float], ...] = ()
    rounds: tuple[ActivationRound, ...] = ()


def spread_activation(
    candidates: Candidates, query: Query, request: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    """Follow links from the best candidates by the dynamics of the settings, if the plan has a pass."""
    if not plan.activates:
        return skip_activation(candidates, ChannelReport("activation", "disabled"))
    if not candidates.ids:
        return skip_activation(candidates, ChannelReport("activation", "empty", note="nothing to start from"))
    activate = DYNAMICS_BY_NAME[request.settings[ACTIVATION_DYNAMICS]]
    try:
        return (yield from activate(candidates, query, request, plan))
    except StoreError as error:
        return skip_activation(candidates, ChannelReport("activation", "failed", note=str(error)))


def skip_activation(candidates: Candidates, report: ChannelReport) -> Activation:
    return Activation(candidates, np.zeros(len(candidates.ids)), {}, report)


def _activate_by_walk(
    candidates: Candidates, query: Query, request: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    """The default dynamics: a walk over names and stored edges."""
    candidates, passes = yield from walk_graph(candidates, query, request, plan)
    last = passes[-1]
    reached = int(np.count_nonzero(last.strength))
    return Activation(
        candidates,
        last.strength,
        last.contributions,
        ChannelReport("activation", "ok" if reached else "empty", heard=reached),
        tuple(walk_pass.hops for walk_pass in passes),
        tuple(walk_pass.seeds for walk_pass in passes),
    )


def _activate_by_synapse(
    candidates: Candidates, query: Query, request: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    settings = request.settings
    is_paper = settings[ACTIVATION_DYNAMICS] == "synapse.paper"
    similarity = settings[SPREADING_ACTIVATION_ALPHA] * np.maximum(0.0, candidates.cosine)
    seeds = _select_seeds(candidates, similarity, settings, by_words=is_paper or query.vector is None)
    rule = synapse.SynapseRule(
        settings[SPREADING_ACTIVATION_DELTA],
        settings[SPREADING_ACTIVATION_SPREADING_FACTOR],
        settings[SPREADING_ACTIVATION_THETA],
        settings[SYNAPSE_SLOPE] if is_paper else 1.0,
        settings[SPREADING_ACTIVATION_TOP_M],
        settings[SYNAPSE_INHIBITION] if is_paper else None,
    )
    rounds = min(settings[SPREADING_ACTIVATION_MAX_ITERATIONS], plan.steps)
    tau = settings[SPREADING_ACTIVATION_TAU_GATE]
    spread = yield from spread_synapse(seeds, _make_link_filter(request, 0.0), rule, rounds, tau=tau)
    if not synapse.has_sufficient_activation(list(spread.activation.values()), tau=tau):
        gated = skip_activation(candidates, ChannelReport("activation", "empty", note="below the feeling of knowing"))
        return replace(gated, rounds=spread.rounds)
    return (yield from _score_spread(candidates, query, request, spread, seeds))


def _activate_by_diffusion(
    candidates: Candidates, query: Query, request: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    settings = request.settings
    seeds = _select_seeds(candidates, _scale_to_best(candidates.direct), settings, by_words=True)
    rule = diffusion.DiffusionRule(
        settings[DIFFUSION_DECAY],
        plan.steps,
        settings[GRAPH_RECALL_EXPANDED],
        settings[DIFFUSION_DAMPING],
        settings[DIFFUSION_ITERATIONS],
    )
    links = _make_link_filter(request, settings[GRAPH_RECALL_CONFIDENCE_FLOOR])
    spread = yield from spread_diffusion(seeds, links, rule)
    return (yield from _score_spread(candidates, query, request, spread, seeds))


def _activate_by_energy(
    candidates: Candidates, query: Query, request: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    settings = request.settings
    tags = request.cue_tags
    if not tags:
        spellings: list[str] = run_reading_rule("ngrams", lambda: extract_ngrams(request.text), [])
        tags = yield from store.match_tags(request.scopes, spellings)
    seeds = _select_seeds(candidates, _scale_to_best(candidates.direct), settings, by_words=True)
    rule = energy.EnergyRule(
        min(settings[ENERGY_MAX_DEPTH], plan.steps), settings[ENERGY_MIN_ACTIVATION], settings[ENERGY_BRANCHES]
    )
    spread = yield from spread_energy(
        seeds, _make_link_filter(request, 0.0), rule, tags=tags, tag_floor=settings[ENERGY_TAG_FLOOR]
    )
    return (yield from _score_spread(candidates, query, request, spread, seeds))


def _select_seeds(
    candidates: Candidates, scores: FloatArray, settings: Settings, *, by_words: bool
) -> dict[str, float]:
    """The best candidates with their scores. With `by_words`, a fact without a positive cosine has its keyword score."""
    if by_words:
        scores = np.maximum(scores, np.where(candidates.cosine > 0, 0.0, candidates.scores["keyword"]))
    rows = rank_fusion.top_rows(np.where(scores > 0, scores, -np.inf), candidates.ids, settings[GRAPH_RECALL_SEEDS])
    min_score = settings[GRAPH_RECALL_MIN_SEED_SCORE]
    return {candidates.ids[row]: float(scores[row]) for row in rows if scores[row] >= min_score}


def _scale_to_best(scores: FloatArray) -> FloatArray:
    """Scores as shares of the best one, from 0 to 1."""
    return np.maximum(0.0, scores) / max(float(scores.max(initial=0.0)), 1e-12)


def _make_link_filter(request: RecallRequest, floor: float) -> ExpansionOptions:
    return ExpansionOptions(request.where, None, floor, request.settings[ACTIVATION_MOST_LINKS])


def _score_spread(
    candidates: Candidates, query: Query, request: RecallRequest, spread: SpreadResult, seeds: Mapping[str, float]
) -> Steps[Activation]:
    """Activation as a channel. Facts that only it reached are scored like all other candidates."""
    candidates = yield from score_missing(candidates, [spread.activation], query, request.settings)
    scores = np.array([spread.activation.get(id, 0.0) for id in candidates.ids])
    contribution = request.settings[ACTIVATION_WEIGHT] * _scale_to_best(scores)
    report = ChannelReport("activation", "ok" if spread.activation else "empty", heard=len(spread.activation))
    return Activation(candidates, scores, {"activation": contribution}, report, (spread.hops,), (seeds,), spread.rounds)


DYNAMICS_BY_NAME: Mapping[str, Callable[[Candidates, Query, RecallRequest, RecallPlan], Steps[Activation]]] = {
    "cofire": _activate_by_walk,
    "synapse.documented": _activate_by_synapse,
    "synapse.paper": _activate_by_synapse,
    "diffusion": _activate_by_diffusion,
    "energy": _activate_by_energy,
}
