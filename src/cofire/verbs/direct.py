"""Direct scoring: what a fact is worth for itself, by its words, its meaning, its names, its speaker and its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count
from math import ceil

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import bm25, likeness
from cofire.dynamics.context import Context, borrowed, mixed_cosines, nearest_turns, openness
from cofire.kernels import vectors as compiled_vectors
from cofire.kernels import words as compiled_words
from cofire.kernels.library import LIBRARY
from cofire.kernels.words import Weights, asked_words
from cofire.ranking import ranking
from cofire.reading.addressing import ASSISTANTS
from cofire.reading.asked_times import closeness
from cofire.settings import (
    ENTITY_WEIGHT,
    KEYWORD_WEIGHT,
    METRIC,
    SEMANTIC_WEIGHT,
    TEMPORAL_WEIGHT,
    Knob,
    Settings,
)
from cofire.stores.base import Evidence
from cofire.verbs.cueing import LEAST_SAMPLE, Cue

Numbers = NDArray[np.float64]

WEIGHTS: Mapping[str, Knob[float]] = {
    "semantic": SEMANTIC_WEIGHT,
    "keyword": KEYWORD_WEIGHT,
    "entity": ENTITY_WEIGHT,
    "temporal": TEMPORAL_WEIGHT,
}


@dataclass(frozen=True)
class Slate:
    """Facts that were weighed, a row each: what every channel scores, what that gives, and which words of the question each holds.

    `cosine` is of the fact with the turns around it, `raw` of the fact alone and not centred; `lengths` are in words. `first_rows` has
    the rows of those that are known already. No fact stands there twice.
    """

    ids: tuple[str, ...]
    scores: Mapping[str, Numbers]
    gives: Mapping[str, Numbers]
    heard: Mapping[str, NDArray[np.bool_]]
    holds: NDArray[np.bool_]
    cosine: Numbers
    raw: Numbers
    lengths: Numbers
    first_rows: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def direct(self) -> Numbers:
        """All that the channels and priors give."""
        return np.asarray(sum(self.gives.values(), np.zeros(len(self.ids))))

    @cached_property
    def standing(self) -> Numbers:
        """How far each likeness to the question stands out from chance; 0 where there is no vector."""
        return np.where(self.heard["semantic"], self.scores["semantic"], 0.0)

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each fact."""
        return {
            **self.first_rows,
            **dict(zip(self.ids[len(self.first_rows) :], count(len(self.first_rows)), strict=False)),
        }


def slate(evidence: Evidence, cue: Cue, settings: Settings) -> Slate:
    """Score facts by every channel that hears."""
    asked = len(evidence.ids)
    in_session = cue.words.context is not None and bool((evidence.around >= 0).any())
    cosine, raw = cosines(evidence, cue, in_session=in_session)
    scores = {
        "semantic": standing(cosine, cue, settings),
        "keyword": word_shares(evidence, cue, in_session=in_session),
        "entity": named(evidence, cue),
        "temporal": timely(evidence, cue),
    }
    heard = {name: values > 0 for name, values in scores.items()}
    heard["semantic"] = evidence.embedded[:asked] & (cue.vector is not None)
    # What is not heard scores 0, but for likeness, which may be less than by chance.
    gives = {name: settings[WEIGHTS[name]] * values for name, values in scores.items() if name not in cue.reports}
    if "semantic" in gives:
        gives["semantic"] *= heard["semantic"]
    gives["prior"] = prior(evidence, cue)
    holds, lengths = evidence.counts[:asked] > 0, evidence.lengths[:asked].astype(np.float64)
    return Slate(evidence.ids, scores, gives, heard, holds, cosine, raw, lengths)


def joined(one: Slate, more: Slate) -> Slate:
    """Two slates as one."""
    return Slate(
        (*one.ids, *more.ids),
        {name: np.concatenate([one.scores[name], more.scores[name]]) for name in one.scores},
        {name: np.concatenate([one.gives[name], more.gives[name]]) for name in one.gives},
        {name: np.concatenate([one.heard[name], more.heard[name]]) for name in one.heard},
        np.concatenate([one.holds, more.holds]),
        np.concatenate([one.cosine, more.cosine]),
        np.concatenate([one.raw, more.raw]),
        np.concatenate([one.lengths, more.lengths]),
        one.rows,
    )


def word_shares(evidence: Evidence, cue: Cue, *, in_session: bool) -> Numbers:
    """BM25 as a share of all that the words of the question could give."""
    if LIBRARY is None:
        return bm25.share(saturation(evidence, cue, in_session=in_session), cue.words.weights)
    words, context = cue.words, cue.words.context if in_session else None
    around = nearest_turns(evidence.around, context) if context else evidence.around[:, :0]
    lends = context.nearest(around.shape[1] // 2) if context else np.zeros(0)
    short, usual = (context.short, usual_length(words.mean_length, context)) if context else (1.0, 1.0)
    weights = Weights(words.hint_weight, words.k1, words.b, words.mean_length, short, usual, sum(words.weights))
    held = (evidence.counts, evidence.hints, evidence.lengths, around)
    asked = asked_words((), (), words.weights, words.lent if context else ())
    return compiled_words.shares(held, lends, asked, weights)


def saturation(evidence: Evidence, cue: Cue, *, in_session: bool) -> Numbers:
    """How well each fact, with what the turns around it lend, answers each word, from 0 to 1."""
    asked, words = len(evidence.ids), cue.words
    counts = evidence.counts[:asked] + words.hint_weight * evidence.hints
    lengths = evidence.lengths[:asked].astype(np.float64)
    if in_session and words.context is not None:
        opened = openness(lengths, short=words.context.short)
        held = np.column_stack([evidence.counts, evidence.lengths])
        lent = borrowed(held, evidence.around, opened, words.context)
        counts = counts + lent[:, :-1] * np.asarray(words.lent)
        lengths = in_context(lengths, lent[:, -1], words.mean_length, words.context)
    resisting = bm25.resistance(lengths, k1=words.k1, b=words.b, mean_length=words.mean_length)
    return bm25.saturation(counts.astype(np.float64), resisting[:, None])


def in_context(lengths: Numbers, lent: Numbers, mean_length: float, context: Context) -> Numbers:
    """The length of facts with what they borrow, brought back to the scale of facts alone: a turn of mean length among turns of
    mean length stays as long as it is."""
    return np.where(lent > 0, (lengths + lent) / usual_length(mean_length, context), lengths)


@lru_cache(maxsize=64)
def usual_length(mean_length: float, context: Context) -> float:
    """How many times as long a turn of mean length is, with what it borrows from others of mean length."""
    return 1.0 + float(context.weights().sum() * openness(np.array([mean_length]), short=context.short)[0])


def cosines(evidence: Evidence, cue: Cue, *, in_session: bool) -> tuple[Numbers, Numbers]:
    """How alike question and fact are, with what the turns around it mean; and by themselves, as the model says."""
    asked = len(evidence.ids)
    if cue.question is None or cue.model is None:
        return np.zeros(asked), np.zeros(asked)
    mean, near = cue.model.mean, ranking().vectors
    if evidence.stored.is_for_c:
        return _compiled_cosines(evidence, cue, in_session=in_session)
    vectors = evidence.vectors
    towards, on_mean, raw = likeness.along(vectors, cue.axes)
    away = likeness.distances(vectors, on_mean, mean) * evidence.embedded
    cosine = likeness.shares_of((towards - float(mean @ cue.question)).astype(np.float64), away)
    if in_session:
        turns = nearest_turns(evidence.around, near)
        opened = openness(evidence.lengths[:asked], short=near.short)
        lent = opened[:, None] * near.nearest(turns.shape[1] // 2) * (turns >= 0)
        own = np.arange(asked, dtype=np.int32)[:, None]
        weights = np.hstack([np.ones((asked, 1)), lent])
        cosine = mixed_cosines(vectors, mean, np.hstack([own, turns]), weights, cosines=cosine, distances=away)
    return cosine[:asked], raw[:asked].astype(np.float64)


def _compiled_cosines(evidence: Evidence, cue: Cue, *, in_session: bool) -> tuple[Numbers, Numbers]:
    """The same by compiled code, which copies no vector."""
    near, stored = ranking().vectors, evidence.stored
    turns = nearest_turns(evidence.around, near) if in_session else evidence.around[:, :0]
    weights = near.nearest(turns.shape[1] // 2)
    return compiled_vectors.cosines_in_context(
        stored.table,
        stored.at,
        evidence.embedded,
        cue.axes,
        turns=turns,
        weights=weights,
        lengths=evidence.lengths,
        short=near.short,
        known=stored.known,
    )


def standing(cosine: Numbers, cue: Cue, settings: Settings) -> Numbers:
    """How far each likeness stands out from chance."""
    if cue.model is None:
        return np.zeros(len(cosine))
    if settings[METRIC] != "fisher_rao":
        mean, deviation = cue.usual
        return (cosine - mean) / deviation
    mean, deviation = cue.model.resting
    resting = (float(likeness.geodesic(np.array(mean))), deviation / np.pi)
    by_chance = likeness.geodesic(cue.chance)
    return likeness.standing_out(likeness.geodesic(cosine), by_chance, resting=resting, least=LEAST_SAMPLE)


def named(evidence: Evidence, cue: Cue) -> Numbers:
    """How strongly the question names what a fact is about."""
    found = np.zeros(len(evidence.ids))
    if cue.about and not cue.about.keys().isdisjoint(evidence.ids):
        found[:] = [cue.about.get(id, 0.0) for id in evidence.ids]
    return found


def timely(evidence: Evidence, cue: Cue) -> Numbers:
    """How close each fact is in time to what the question asks of."""
    if not cue.times:
        return np.zeros(len(evidence.ids))
    return closeness(cue.times, evidence.times, later_days=6.0, earlier_days=3.0, earlier_share=0.7, beyond_days=30.0)


def prior(evidence: Evidence, cue: Cue) -> Numbers:
    """What is known before looking at the question's content: who speaks, whether a turn merely asks or says little."""
    constants, short = ranking().direct, ranking().words.short
    lengths = evidence.lengths[: len(evidence.ids)].astype(np.float64)
    says = saying(constants.length, short)
    says = says[np.minimum(lengths, len(says) - 1).astype(np.int64)]
    shape = constants.asks * evidence.asks + constants.timed * evidence.timed
    return np.asarray(says + shape * openness(lengths, short=short) + said_by(evidence, cue) + by_role(evidence, cue))


@lru_cache(maxsize=16)
def saying(worth: float, short: float) -> Numbers:
    """What it counts that a fact has few words, by their number; the last holds for all beyond: worth · (ln(1 + words) / ln(1 + short)
    − 1), of up to `short` words.

    >>> saying(0.3, 3).round(2).tolist()
    [-0.3, -0.15, -0.06, 0.0]
    """
    words = np.minimum(np.arange(ceil(short) + 1), short)
    return np.asarray(worth * (np.log1p(words) / np.log1p(short) - 1.0))


def said_by(evidence: Evidence, cue: Cue) -> Numbers:
    """What it counts that a fact was said by the one whom the question names, or by the first of two."""
    constants = ranking().direct
    if not cue.speakers or len(cue.speakers) > 2 or (len(cue.speakers) == 2 and cue.together):
        return np.zeros(len(evidence.ids))
    worth = constants.speaker if len(cue.speakers) == 1 else constants.first_speaker
    return np.array([worth * (one == cue.speakers[0]) for one in evidence.speakers], np.float64)


def by_role(evidence: Evidence, cue: Cue) -> Numbers:
    """What it counts that an assistant said it: the person tells, the assistant answers at length in the person's words. What it
    said counts more only if the question asks for that."""
    constants = ranking().direct
    worth = constants.assistant_asked if cue.of_assistant else constants.assistant
    if ASSISTANTS.isdisjoint(evidence.speakers):
        return np.zeros(len(evidence.ids))
    return np.array([worth * (one in ASSISTANTS) for one in evidence.speakers], np.float64)
