"""Direct scoring: what a fact is worth for itself, by its words, its meaning, its names, its speaker and its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cofire.dynamics import bm25, likeness
from cofire.dynamics.context import Context, borrowed, mixed_cosines, nearest_turns, openness, saying
from cofire.kernels import weighing as compiled
from cofire.kernels.weighing import ROWS
from cofire.late import among
from cofire.ranking import ranking
from cofire.reading.addressing import ASSISTANTS
from cofire.reading.asked_times import AskedSpan, closeness
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
from cofire.verbs import slates
from cofire.verbs.cueing import LEAST_SAMPLE, Cue
from cofire.verbs.slates import (
    COSINE,
    DIRECT,
    ENTITY,
    KEYWORD,
    LENGTH,
    MEANT,
    PRIOR,
    RAW,
    SEMANTIC,
    TEMPORAL,
    Numbers,
    Slate,
)

WEIGHTS: Mapping[str, Knob[float]] = {
    "semantic": SEMANTIC_WEIGHT,
    "keyword": KEYWORD_WEIGHT,
    "entity": ENTITY_WEIGHT,
    "temporal": TEMPORAL_WEIGHT,
}


def slate(evidence: Evidence, cue: Cue, settings: Settings) -> Slate:
    """Score facts by every channel that hears."""
    asked = len(evidence.ids)
    table = np.zeros((ROWS, asked))
    if evidence.stored.is_for_c:
        _weigh_in_c(evidence, cue, table)
    else:
        _weigh(evidence, cue, table)
    add_speakers(evidence, cue, table[PRIOR])
    # What is not heard scores 0, but for likeness, which may be less than by chance.
    table[SEMANTIC] = standing(table[COSINE], cue, settings) * table[MEANT]
    name_strengths(evidence, cue, table[ENTITY])
    if cue.times:
        table[TEMPORAL] = timely(evidence, cue)
    weights = {name: settings[WEIGHTS[name]] for name in slates.CHANNELS if name not in cue.reports}
    counts = np.array([*(weights.get(name, 0.0) for name in slates.CHANNELS), 1.0])
    # The channels, and after them what is known before. Not by a product of matrices: that may wake the threads of BLAS.
    np.add.reduce(counts[:, None] * table[:DIRECT], axis=0, out=table[DIRECT])
    return Slate(evidence.ids, table, evidence.counts[:asked] > 0, weights)


def _weigh(evidence: Evidence, cue: Cue, table: Numbers) -> None:
    """What facts hold of the words, what is known before, how alike they are, their lengths, and who has a vector to compare."""
    asked = len(evidence.ids)
    in_session = cue.words.context is not None and bool((evidence.around >= 0).any())
    table[COSINE], table[RAW] = cosines(evidence, cue, in_session=in_session)
    table[KEYWORD] = bm25.share(saturation(evidence, cue, in_session=in_session), cue.words.weights)
    table[PRIOR] = prior(evidence)
    table[LENGTH] = evidence.lengths[:asked]
    table[MEANT] = evidence.embedded[:asked] & (cue.vector is not None)


def _weigh_in_c(evidence: Evidence, cue: Cue, table: Numbers) -> None:
    """The same by compiled code, which copies no vector."""
    told, stored = evidence, evidence.stored
    held = (told.embedded, told.counts, told.hints, told.lengths, told.around, told.asks, told.timed)
    compiled.weigh((stored.table, stored.at, stored.known), held, cue.scales, table)


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
    return np.where(lent > 0, (lengths + lent) / context.usual(mean_length), lengths)


def cosines(evidence: Evidence, cue: Cue, *, in_session: bool) -> tuple[Numbers, Numbers]:
    """How alike question and fact are, with what the turns around it mean; and by themselves, as the model says."""
    asked = len(evidence.ids)
    if cue.question is None or cue.model is None:
        return np.zeros(asked), np.zeros(asked)
    mean, near = cue.model.mean, ranking().vectors
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


def name_strengths(evidence: Evidence, cue: Cue, found: Numbers) -> None:
    """Fill in how strongly the question names what each fact is about."""
    if cue.about and not cue.about.keys().isdisjoint(evidence.ids):
        found[:] = [cue.about.get(id, 0.0) for id in evidence.ids]


def timely(evidence: Evidence, cue: Cue) -> Numbers:
    """How close each fact is in time to what the question asks of.

    "This week" may be seen from now, or from when one said it who is told of. So where more is asked than a time, one that is seen
    from now counts as far as the fact says the rest: min(1, (1 + said) / (1 + besides · rest)), in rare words.
    """
    told, seen = ([span for span in cue.times if span.from_now == from_now] for from_now in (False, True))
    near = _close(seen, evidence)
    if seen:
        said = (evidence.counts[: len(near)] > 0) @ cue.besides
        near *= np.minimum(1.0, (1.0 + said) / (1.0 + ranking().direct.besides * cue.besides.sum()))
    return np.maximum(_close(told, evidence), near)


def _close(spans: Sequence[AskedSpan], evidence: Evidence) -> Numbers:
    return closeness(spans, evidence.times, later_days=6.0, earlier_days=3.0, earlier_share=0.7, beyond_days=30.0)


def prior(evidence: Evidence) -> Numbers:
    """What is known before looking at the question's content: whether a turn merely asks, speaks of a time or says little."""
    constants, short = ranking().direct, ranking().words.short
    lengths = evidence.lengths[: len(evidence.ids)].astype(np.float64)
    says = saying(constants.length, short)
    says = says[np.minimum(lengths, len(says) - 1).astype(np.int64)]
    shape = constants.asks * evidence.asks + constants.timed * evidence.timed
    return np.asarray(says + shape * openness(lengths, short=short))


def add_speakers(evidence: Evidence, cue: Cue, prior: Numbers) -> None:
    """Add what it counts who speaks."""
    constants, speakers = ranking().direct, evidence.speakers
    # Of two whom it names together, neither is the one who said it.
    if len(cue.speakers) == 1 or (len(cue.speakers) == 2 and not cue.together):
        worth = constants.speaker if len(cue.speakers) == 1 else constants.first_speaker
        if (said := among(speakers, cue.speakers[:1])) is not None:
            prior += worth * said
    # A person tells, an assistant answers at length in the person's words: what it said counts more only if the question asks for that.
    if (answered := among(speakers, ASSISTANTS)) is not None:
        prior += (constants.assistant_asked if cue.of_assistant else constants.assistant) * answered
