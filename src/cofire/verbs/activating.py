"""Activating: what follows from the best candidates by way of the graph, under the dynamics that the settings choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cofire.asks import Asking
from cofire.dynamics import diffusion, energy, fusion, synapse
from cofire.energy_settings import BRANCHES, MAX_DEPTH, MIN_ACTIVATION, TAG_FLOOR
from cofire.errors import StoreError
from cofire.graph_asks import KnownTags
from cofire.reading.failures import attempt
from cofire.reading.ngrams import ngrams
from cofire.recall_settings import (
    ACTIVATION_WEIGHT,
    ALPHA,
    CONFIDENCE_FLOOR,
    DAMPING,
    DECAY,
    DELTA,
    DYNAMICS,
    EXPANDED,
    INHIBITION,
    ITERATIONS,
    LEAST_SEED,
    MOST_LINKS,
    REFINEMENT,
    SEEDS,
    SLOPE,
    SPREADING_FACTOR,
    TAU_GATE,
    THETA,
    TOP_M,
)
from cofire.recollection import ChannelReport
from cofire.settings import Settings
from cofire.spreads import Hop, Round, Spread
from cofire.stores.base import Conducting
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue
from cofire.verbs.energising import energise
from cofire.verbs.planning import Plan
from cofire.verbs.slates import Numbers, Slate
from cofire.verbs.spreading import diffuse
from cofire.verbs.spreading import synapse as spread_synapse
from cofire.verbs.walk import first_pass, next_pass, widened
from cofire.verbs.ways import Bounds


@dataclass(frozen=True)
class Activation:
    """What activation did: the slate with the facts it brought, how active each is and what that gives, part by part; the hops
    pass by pass, the rounds for a replay, and how it fared."""

    slate: Slate
    scores: Numbers
    gives: Mapping[str, Numbers]
    report: ChannelReport
    hops: tuple[Mapping[str, Hop], ...] = ()
    seeds: tuple[Mapping[str, float], ...] = ()
    rounds: tuple[Round, ...] = ()


def activate(known: Slate, cue: Cue, asked: Question, plan: Plan) -> Asking[Activation]:
    """Let activation spread, if the plan says so and there is something to start from."""
    if not plan.activates:
        return resting(known, ChannelReport("activation", "disabled"))
    if not known.ids:
        return resting(known, ChannelReport("activation", "empty", note="nothing to start from"))
    try:
        return (yield from DYNAMICS_BY_NAME[asked.settings[DYNAMICS]](known, cue, asked, plan))
    except StoreError as error:
        return resting(known, ChannelReport("activation", "failed", note=str(error)))


def resting(known: Slate, report: ChannelReport) -> Activation:
    return Activation(known, np.zeros(len(known.ids)), {}, report)


def _walk(known: Slate, cue: Cue, asked: Question, plan: Plan) -> Asking[Activation]:
    """The default: passes over names, each from the best of the one before."""
    settings = asked.settings
    bounds = Bounds(settings[SEEDS], settings[LEAST_SEED], settings[EXPANDED], settings[CONFIDENCE_FLOOR])
    walked = yield from first_pass(known, cue, asked, bounds)
    passes = [walked]
    for _ in range(plan.passes - 1):
        if not walked.carried.any():
            break  # Nothing was reached, so that the best are the same and lead nowhere again.
        walked = yield from next_pass(walked, cue, asked, bounds)
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


def _synapse(known: Slate, cue: Cue, asked: Question, plan: Plan) -> Asking[Activation]:
    settings = asked.settings
    paper = settings[DYNAMICS] == "synapse.paper"
    likeness = settings[ALPHA] * np.maximum(0.0, known.cosine)
    seeds = _seeds(known, likeness, settings, by_words=paper or cue.vector is None)
    rule = synapse.Rule(
        settings[DELTA],
        settings[SPREADING_FACTOR],
        settings[THETA],
        settings[SLOPE] if paper else 1.0,
        settings[TOP_M],
        settings[INHIBITION] if paper else None,
    )
    rounds = min(settings[ITERATIONS], plan.steps)
    spread = yield from spread_synapse(seeds, _conducting(asked, 0.0), rule, rounds, tau=settings[TAU_GATE])
    if not synapse.gate(np.array(list(spread.activation.values())), tau=settings[TAU_GATE]):
        gated = resting(known, ChannelReport("activation", "empty", note="below the feeling of knowing"))
        return replace(gated, rounds=spread.rounds)
    return (yield from _settled(known, cue, asked, spread, seeds))


def _diffusion(known: Slate, cue: Cue, asked: Question, plan: Plan) -> Asking[Activation]:
    settings = asked.settings
    seeds = _seeds(known, _share_of_best(known.direct), settings, by_words=True)
    rule = diffusion.Rule(settings[DECAY], plan.steps, settings[EXPANDED], settings[DAMPING], settings[REFINEMENT])
    spread = yield from diffuse(seeds, _conducting(asked, settings[CONFIDENCE_FLOOR]), rule)
    return (yield from _settled(known, cue, asked, spread, seeds))


def _energy(known: Slate, cue: Cue, asked: Question, plan: Plan) -> Asking[Activation]:
    settings = asked.settings
    spellings: list[str] = [] if asked.cue_tags else attempt("ngrams", lambda: ngrams(asked.text), [])
    tags: frozenset[str] = asked.cue_tags or (yield KnownTags(asked.scopes, spellings))
    seeds = _seeds(known, _share_of_best(known.direct), settings, by_words=True)
    rule = energy.Rule(min(settings[MAX_DEPTH], plan.steps), settings[MIN_ACTIVATION], settings[BRANCHES])
    spread = yield from energise(seeds, _conducting(asked, 0.0), rule, tags=tags, tag_floor=settings[TAG_FLOOR])
    return (yield from _settled(known, cue, asked, spread, seeds))


def _seeds(known: Slate, scores: Numbers, settings: Settings, *, by_words: bool) -> dict[str, float]:
    """The best candidates as seeds; a fact heard by its words alone counts by them where the dynamics says so."""
    if by_words:
        scores = np.maximum(scores, np.where(known.cosine > 0, 0.0, known.scores["keyword"]))
    rows = fusion.best(np.where(scores > 0, scores, -np.inf), known.ids, settings[SEEDS])
    return {known.ids[row]: float(scores[row]) for row in rows if scores[row] >= settings[LEAST_SEED]}


def _share_of_best(scores: Numbers) -> Numbers:
    """Scores as shares of the best one, from 0 to 1."""
    return np.maximum(0.0, scores) / max(float(scores.max(initial=0.0)), 1e-12)


def _conducting(asked: Question, floor: float) -> Conducting:
    return Conducting(asked.where, None, floor, asked.settings[MOST_LINKS])


def _settled(known: Slate, cue: Cue, asked: Question, spread: Spread, seeds: Mapping[str, float]) -> Asking[Activation]:
    """A spread as a channel: facts it brought are weighed like all others."""
    known = yield from widened(known, [spread.activation], cue, asked)
    scores = np.array([spread.activation.get(id, 0.0) for id in known.ids])
    gives = asked.settings[ACTIVATION_WEIGHT] * _share_of_best(scores)
    report = ChannelReport("activation", "ok" if spread.activation else "empty", heard=len(spread.activation))
    return Activation(known, scores, {"activation": gives}, report, (spread.hops,), (seeds,), spread.rounds)


DYNAMICS_BY_NAME: Mapping[str, Callable[[Slate, Cue, Question, Plan], Asking[Activation]]] = {
    "cofire": _walk,
    "synapse.documented": _synapse,
    "synapse.paper": _synapse,
    "diffusion": _diffusion,
    "energy": _energy,
}
