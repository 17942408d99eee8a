"""Activation from the best candidates, by the dynamics that the settings choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cofire.activation_paths import ActivationHop, ActivationRound, SpreadResult
from cofire.algorithms import diffusion, energy, rank_fusion, synapse
from cofire.errors import StoreError
from cofire.recall.plan import RecallPlan
from cofire.recall.query import AnalysedQuery
from cofire.recall.request import RecallRequest
from cofire.recall.scoring import CandidateTable, FloatArray
from cofire.recall.spreading import spread_diffusion, spread_energy, spread_synapse
from cofire.recall.walk import WalkBounds, score_missing, walk_first_pass, walk_next_pass
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
    """What activation did: the slate with the facts it brought, how active each is and what that gives, part by part; the hops
    pass by pass, the rounds for a replay, and how it fared."""

    slate: CandidateTable
    scores: FloatArray
    gives: Mapping[str, FloatArray]
    report: ChannelReport
    hops: tuple[Mapping[str, ActivationHop], ...] = ()
    seeds: tuple[Mapping[str, float], ...] = ()
    rounds: tuple[ActivationRound, ...] = ()


def spread_activation(
    known: CandidateTable, cue: AnalysedQuery, asked: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    """Let activation spread, if the plan says so and there is something to start from."""
    if not plan.activates:
        return skip_activation(known, ChannelReport("activation", "disabled"))
    if not known.ids:
        return skip_activation(known, ChannelReport("activation", "empty", note="nothing to start from"))
    try:
        return (yield from DYNAMICS_BY_NAME[asked.settings[ACTIVATION_DYNAMICS]](known, cue, asked, plan))
    except StoreError as error:
        return skip_activation(known, ChannelReport("activation", "failed", note=str(error)))


def skip_activation(known: CandidateTable, report: ChannelReport) -> Activation:
    return Activation(known, np.zeros(len(known.ids)), {}, report)


def _activate_by_walk(
    known: CandidateTable, cue: AnalysedQuery, asked: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    """The default: passes over names, each from the best of the one before."""
    settings = asked.settings
    bounds = WalkBounds(
        settings[GRAPH_RECALL_SEEDS],
        settings[GRAPH_RECALL_MIN_SEED_SCORE],
        settings[GRAPH_RECALL_EXPANDED],
        settings[GRAPH_RECALL_CONFIDENCE_FLOOR],
    )
    walked = yield from walk_first_pass(known, cue, asked, bounds)
    passes = [walked]
    for _ in range(plan.passes - 1):
        if not walked.carried.any():
            break  # Nothing was reached, so that the best are the same and lead nowhere again.
        walked = yield from walk_next_pass(walked, cue, asked, bounds)
        passes.append(walked)
    reached = int(np.count_nonzero(walked.carried))
    return Activation(
        walked.slate,
        walked.carried,
        walked.gives,
        ChannelReport("activation", "ok" if reached else "empty", heard=reached),
        tuple(one.hops for one in passes),
        tuple(one.seeds for one in passes),
    )


def _activate_by_synapse(
    known: CandidateTable, cue: AnalysedQuery, asked: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    settings = asked.settings
    paper = settings[ACTIVATION_DYNAMICS] == "synapse.paper"
    likeness = settings[SPREADING_ACTIVATION_ALPHA] * np.maximum(0.0, known.cosine)
    seeds = _select_seeds(known, likeness, settings, by_words=paper or cue.vector is None)
    rule = synapse.SynapseRule(
        settings[SPREADING_ACTIVATION_DELTA],
        settings[SPREADING_ACTIVATION_SPREADING_FACTOR],
        settings[SPREADING_ACTIVATION_THETA],
        settings[SYNAPSE_SLOPE] if paper else 1.0,
        settings[SPREADING_ACTIVATION_TOP_M],
        settings[SYNAPSE_INHIBITION] if paper else None,
    )
    rounds = min(settings[SPREADING_ACTIVATION_MAX_ITERATIONS], plan.steps)
    spread = yield from spread_synapse(
        seeds, _make_link_filter(asked, 0.0), rule, rounds, tau=settings[SPREADING_ACTIVATION_TAU_GATE]
    )
    if not synapse.has_sufficient_activation(
        np.array(list(spread.activation.values())), tau=settings[SPREADING_ACTIVATION_TAU_GATE]
    ):
        gated = skip_activation(known, ChannelReport("activation", "empty", note="below the feeling of knowing"))
        return replace(gated, rounds=spread.rounds)
    return (yield from _score_spread(known, cue, asked, spread, seeds))


def _activate_by_diffusion(
    known: CandidateTable, cue: AnalysedQuery, asked: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    settings = asked.settings
    seeds = _select_seeds(known, _scale_to_best(known.direct), settings, by_words=True)
    rule = diffusion.DiffusionRule(
        settings[DIFFUSION_DECAY],
        plan.steps,
        settings[GRAPH_RECALL_EXPANDED],
        settings[DIFFUSION_DAMPING],
        settings[DIFFUSION_ITERATIONS],
    )
    spread = yield from spread_diffusion(seeds, _make_link_filter(asked, settings[GRAPH_RECALL_CONFIDENCE_FLOOR]), rule)
    return (yield from _score_spread(known, cue, asked, spread, seeds))


def _activate_by_energy(
    known: CandidateTable, cue: AnalysedQuery, asked: RecallRequest, plan: RecallPlan
) -> Steps[Activation]:
    settings = asked.settings
    spellings: list[str] = [] if asked.cue_tags else run_reading_rule("ngrams", lambda: extract_ngrams(asked.text), [])
    tags: frozenset[str] = asked.cue_tags or (yield from store.match_tags(asked.scopes, spellings))
    seeds = _select_seeds(known, _scale_to_best(known.direct), settings, by_words=True)
    rule = energy.EnergyRule(
        min(settings[ENERGY_MAX_DEPTH], plan.steps), settings[ENERGY_MIN_ACTIVATION], settings[ENERGY_BRANCHES]
    )
    spread = yield from spread_energy(
        seeds, _make_link_filter(asked, 0.0), rule, tags=tags, tag_floor=settings[ENERGY_TAG_FLOOR]
    )
    return (yield from _score_spread(known, cue, asked, spread, seeds))


def _select_seeds(known: CandidateTable, scores: FloatArray, settings: Settings, *, by_words: bool) -> dict[str, float]:
    """The best candidates as seeds; a fact heard by its words alone counts by them where the dynamics says so."""
    if by_words:
        scores = np.maximum(scores, np.where(known.cosine > 0, 0.0, known.scores["keyword"]))
    rows = rank_fusion.top_rows(np.where(scores > 0, scores, -np.inf), known.ids, settings[GRAPH_RECALL_SEEDS])
    return {known.ids[row]: float(scores[row]) for row in rows if scores[row] >= settings[GRAPH_RECALL_MIN_SEED_SCORE]}


def _scale_to_best(scores: FloatArray) -> FloatArray:
    """Scores as shares of the best one, from 0 to 1."""
    return np.maximum(0.0, scores) / max(float(scores.max(initial=0.0)), 1e-12)


def _make_link_filter(asked: RecallRequest, floor: float) -> ExpansionOptions:
    return ExpansionOptions(asked.where, None, floor, asked.settings[ACTIVATION_MOST_LINKS])


def _score_spread(
    known: CandidateTable, cue: AnalysedQuery, asked: RecallRequest, spread: SpreadResult, seeds: Mapping[str, float]
) -> Steps[Activation]:
    """A spread as a channel: facts it brought are weighed like all others."""
    known = yield from score_missing(known, [spread.activation], cue, asked)
    scores = np.array([spread.activation.get(id, 0.0) for id in known.ids])
    gives = asked.settings[ACTIVATION_WEIGHT] * _scale_to_best(scores)
    report = ChannelReport("activation", "ok" if spread.activation else "empty", heard=len(spread.activation))
    return Activation(known, scores, {"activation": gives}, report, (spread.hops,), (seeds,), spread.rounds)


DYNAMICS_BY_NAME: Mapping[
    str, Callable[[CandidateTable, AnalysedQuery, RecallRequest, RecallPlan], Steps[Activation]]
] = {
    "cofire": _activate_by_walk,
    "synapse.documented": _activate_by_synapse,
    "synapse.paper": _activate_by_synapse,
    "diffusion": _activate_by_diffusion,
    "energy": _activate_by_energy,
}
