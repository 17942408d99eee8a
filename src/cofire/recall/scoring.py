"""First-stage scoring: the table of candidates and their scores by channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25, vector_similarity
from cofire.algorithms.rank_fusion import scale_values
from cofire.algorithms.session_context import (
    SessionContext,
    borrow_from_context,
    borrowing_factors,
    context_cosines,
    length_penalties,
    select_nearest_turns,
)
from cofire.index import native_scoring as compiled
from cofire.index.native_scoring import FEATURE_ROW_COUNT
from cofire.recall.query import MIN_SAMPLE, AnalysedQuery
from cofire.settings.knobs import Knob
from cofire.settings.ranking import current_constants
from cofire.settings.table import (
    ENTITY_WEIGHT,
    KEYWORD_WEIGHT,
    SEMANTIC_METRIC,
    SEMANTIC_WEIGHT,
    TEMPORAL_WEIGHT,
    Settings,
)
from cofire.stores.base import FactFeatures
from cofire.stores.lazy_ids import lazy_property, mask_members
from cofire.text.questions import ASSISTANT_SPEAKERS, QuestionTimeSpan, score_time_closeness

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

CHANNEL_NAMES = ("semantic", "keyword", "entity", "temporal")
# The rows of a table: what each channel scores, what is known before, all of these as they count together, the cosine with what the
# turns around mean and as the model says, the length in words, and 1 where there is a vector to compare.
(
    SEMANTIC_ROW,
    KEYWORD_ROW,
    ENTITY_ROW,
    TEMPORAL_ROW,
    PRIOR_ROW,
    DIRECT_ROW,
    COSINE_ROW,
    RAW_COSINE_ROW,
    LENGTH_ROW,
    HAS_VECTOR_ROW,
) = range(FEATURE_ROW_COUNT)


@dataclass(frozen=True)
class CandidateTable:
    """Facts that were weighed, a column of the table each, and which words of the question each holds. No fact stands there twice.

    `weights` is what each channel counts that is heard at all; `first_rows` has the rows of those that are known already.
    """

    ids: tuple[str, ...]
    table: FloatArray
    holds: BoolArray
    weights: Mapping[str, float]
    first_rows: Mapping[str, int] = field(default_factory=dict)

    @lazy_property
    def scores(self) -> dict[str, FloatArray]:
        """What every channel scores."""
        return dict(zip(CHANNEL_NAMES, self.table, strict=False))

    @lazy_property
    def gives(self) -> dict[str, FloatArray]:
        """What that gives."""
        return {
            **{name: scale_values(self.scores[name], weight) for name, weight in self.weights.items()},
            "prior": self._row(PRIOR_ROW),
        }

    @property
    def meant(self) -> BoolArray:
        """Who has a vector to compare. These are heard by their meaning, however little they are like the question; any other channel
        hears those whom it gives something."""
        return self._row(HAS_VECTOR_ROW) > 0

    @property
    def direct(self) -> FloatArray:
        """All that the channels and priors give."""
        return self._row(DIRECT_ROW)

    @property
    def cosine(self) -> FloatArray:
        """How alike question and fact are, with what the turns around the fact mean."""
        return self._row(COSINE_ROW)

    @property
    def raw(self) -> FloatArray:
        """The same of the fact alone, and not centred."""
        return self._row(RAW_COSINE_ROW)

    @property
    def lengths(self) -> FloatArray:
        return self._row(LENGTH_ROW)

    @property
    def standing(self) -> FloatArray:
        """How far each likeness to the question stands out from chance; 0 where there is no vector."""
        return self._row(SEMANTIC_ROW)

    @lazy_property
    def rows(self) -> dict[str, int]:
        """The row of each fact."""
        known = len(self.first_rows)
        return {**self.first_rows, **dict(zip(self.ids[known:], count(known), strict=False))}

    def _row(self, number: int) -> FloatArray:
        row: FloatArray = self.table[number]
        return row


def append_candidates(one: CandidateTable, more: CandidateTable) -> CandidateTable:
    """Two slates as one."""
    table, holds = np.concatenate([one.table, more.table], axis=1), np.concatenate([one.holds, more.holds])
    return CandidateTable(one.ids + more.ids, table, holds, one.weights, one.rows)


CHANNEL_WEIGHTS: Mapping[str, Knob[float]] = {
    "semantic": SEMANTIC_WEIGHT,
    "keyword": KEYWORD_WEIGHT,
    "entity": ENTITY_WEIGHT,
    "temporal": TEMPORAL_WEIGHT,
}


def score_candidates(evidence: FactFeatures, cue: AnalysedQuery, settings: Settings) -> CandidateTable:
    """Score facts by every channel that hears."""
    asked = len(evidence.ids)
    table = np.zeros((FEATURE_ROW_COUNT, asked))
    if evidence.stored.is_for_c:
        _fill_table_native(evidence, cue, table)
    else:
        _fill_table(evidence, cue, table)
    add_speaker_prior(evidence, cue, table[PRIOR_ROW])
    # What is not heard scores 0, but for likeness, which may be less than by chance.
    table[SEMANTIC_ROW] = standardise_cosines(table[COSINE_ROW], cue, settings) * table[HAS_VECTOR_ROW]
    fill_name_strengths(evidence, cue, table[ENTITY_ROW])
    if cue.times:
        table[TEMPORAL_ROW] = score_times(evidence, cue)
    weights = {name: settings[CHANNEL_WEIGHTS[name]] for name in CHANNEL_NAMES if name not in cue.reports}
    counts = np.array([*(weights.get(name, 0.0) for name in CHANNEL_NAMES), 1.0])
    # The channels, and after them what is known before. Not by a product of matrices: that may wake the threads of BLAS.
    np.add.reduce(counts[:, None] * table[:DIRECT_ROW], axis=0, out=table[DIRECT_ROW])
    return CandidateTable(evidence.ids, table, evidence.counts[:asked] > 0, weights)


def _fill_table(evidence: FactFeatures, cue: AnalysedQuery, table: FloatArray) -> None:
    """What facts hold of the words, what is known before, how alike they are, their lengths, and who has a vector to compare."""
    asked = len(evidence.ids)
    in_session = cue.words.context is not None and bool((evidence.around >= 0).any())
    table[COSINE_ROW], table[RAW_COSINE_ROW] = compute_cosines(evidence, cue, in_session=in_session)
    table[KEYWORD_ROW] = bm25.bm25_share(compute_saturation(evidence, cue, in_session=in_session), cue.words.weights)
    table[PRIOR_ROW] = compute_prior(evidence)
    table[LENGTH_ROW] = evidence.lengths[:asked]
    table[HAS_VECTOR_ROW] = evidence.embedded[:asked] & (cue.vector is not None)


def _fill_table_native(evidence: FactFeatures, cue: AnalysedQuery, table: FloatArray) -> None:
    """The same by compiled code, which copies no vector."""
    told, stored = evidence, evidence.stored
    held = (told.embedded, told.counts, told.hints, told.lengths, told.around, told.asks, told.timed)
    compiled.score_features((stored.table, stored.at, stored.known), held, cue.scales, table)


def compute_saturation(evidence: FactFeatures, cue: AnalysedQuery, *, in_session: bool) -> FloatArray:
    """How well each fact, with what the turns around it lend, answers each word, from 0 to 1."""
    asked, words = len(evidence.ids), cue.words
    counts = evidence.counts[:asked] + words.hint_weight * evidence.hints
    lengths = evidence.lengths[:asked].astype(np.float64)
    if in_session and words.context is not None:
        opened = borrowing_factors(lengths, short=words.context.short)
        held = np.column_stack([evidence.counts, evidence.lengths])
        lent = borrow_from_context(held, evidence.around, opened, words.context)
        counts = counts + lent[:, :-1] * np.asarray(words.lent)
        lengths = compute_context_lengths(lengths, lent[:, -1], words.mean_length, words.context)
    resisting = bm25.length_normalisation(lengths, k1=words.k1, b=words.b, mean_length=words.mean_length)
    return bm25.term_saturation(counts.astype(np.float64), resisting[:, None])


def compute_context_lengths(
    lengths: FloatArray, lent: FloatArray, mean_length: float, context: SessionContext
) -> FloatArray:
    """The length of facts with what they borrow, brought back to the scale of facts alone: a turn of mean length among turns of
    mean length stays as long as it is."""
    return np.where(lent > 0, (lengths + lent) / context.usual(mean_length), lengths)


def compute_cosines(evidence: FactFeatures, cue: AnalysedQuery, *, in_session: bool) -> tuple[FloatArray, FloatArray]:
    """How alike question and fact are, with what the turns around it mean; and by themselves, as the model says."""
    asked = len(evidence.ids)
    if cue.question is None or cue.model is None:
        return np.zeros(asked), np.zeros(asked)
    mean, near = cue.model.mean, current_constants().vectors
    vectors = evidence.vectors
    towards, on_mean, raw = vector_similarity.dot_products(vectors, cue.axes)
    away = vector_similarity.distances_from_mean(vectors, on_mean, mean) * evidence.embedded
    cosine = vector_similarity.divide_by_length((towards - float(mean @ cue.question)).astype(np.float64), away)
    if in_session:
        turns = select_nearest_turns(evidence.around, near)
        opened = borrowing_factors(evidence.lengths[:asked], short=near.short)
        lent = opened[:, None] * near.nearest(turns.shape[1] // 2) * (turns >= 0)
        own = np.arange(asked, dtype=np.int32)[:, None]
        weights = np.hstack([np.ones((asked, 1)), lent])
        cosine = context_cosines(vectors, mean, np.hstack([own, turns]), weights, cosines=cosine, distances=away)
    return cosine[:asked], raw[:asked].astype(np.float64)


def standardise_cosines(cosine: FloatArray, cue: AnalysedQuery, settings: Settings) -> FloatArray:
    """How far each likeness stands out from chance."""
    if cue.model is None:
        return np.zeros(len(cosine))
    if settings[SEMANTIC_METRIC] != "fisher_rao":
        mean, deviation = cue.usual
        return (cosine - mean) / deviation
    mean, deviation = cue.model.resting
    resting = (float(vector_similarity.geodesic_similarity(np.array(mean))), deviation / np.pi)
    by_chance = vector_similarity.geodesic_similarity(cue.chance)
    return vector_similarity.standardise_cosines(
        vector_similarity.geodesic_similarity(cosine), by_chance, resting=resting, least=MIN_SAMPLE
    )


def fill_name_strengths(evidence: FactFeatures, cue: AnalysedQuery, found: FloatArray) -> None:
    """Fill in how strongly the question names what each fact is about."""
    if cue.about and not cue.about.keys().isdisjoint(evidence.ids):
        found[:] = [cue.about.get(id, 0.0) for id in evidence.ids]


def score_times(evidence: FactFeatures, cue: AnalysedQuery) -> FloatArray:
    """How close each fact is in time to what the question asks of.

    "This week" may be seen from now, or from when one said it who is told of. So where more is asked than a time, one that is seen
    from now counts as far as the fact says the rest: min(1, (1 + said) / (1 + besides · rest)), in rare words.
    """
    told, seen = ([span for span in cue.times if span.from_now == from_now] for from_now in (False, True))
    near = _measure_closeness(seen, evidence)
    if seen:
        said = (evidence.counts[: len(near)] > 0) @ cue.besides
        near *= np.minimum(1.0, (1.0 + said) / (1.0 + current_constants().direct.besides * cue.besides.sum()))
    return np.maximum(_measure_closeness(told, evidence), near)


def _measure_closeness(spans: Sequence[QuestionTimeSpan], evidence: FactFeatures) -> FloatArray:
    constants = current_constants().times
    return score_time_closeness(
        spans,
        evidence.times,
        later_days=constants.later_days,
        earlier_days=constants.earlier_days,
        earlier_share=constants.earlier_share,
        beyond_days=constants.beyond_days,
    )


def compute_prior(evidence: FactFeatures) -> FloatArray:
    """What is known before looking at the question's content: whether a turn merely asks, speaks of a time or says little."""
    constants, short = current_constants().direct, current_constants().words.short
    lengths = evidence.lengths[: len(evidence.ids)].astype(np.float64)
    says = length_penalties(constants.length, short)
    says = says[np.minimum(lengths, len(says) - 1).astype(np.int64)]
    shape = constants.asks * evidence.asks + constants.timed * evidence.timed
    return np.asarray(says + shape * borrowing_factors(lengths, short=short))


def add_speaker_prior(evidence: FactFeatures, cue: AnalysedQuery, prior: FloatArray) -> None:
    """Add what it counts who speaks."""
    constants, speakers = current_constants().direct, evidence.speakers
    # Of two whom it names together, neither is the one who said it.
    if len(cue.speakers) == 1 or (len(cue.speakers) == 2 and not cue.together):
        worth = constants.speaker if len(cue.speakers) == 1 else constants.first_speaker
        if (said := mask_members(speakers, cue.speakers[:1])) is not None:
            prior += worth * said
    # A person tells, an assistant answers at length in the person's words: what it said counts more only if the question asks for that.
    if (answered := mask_members(speakers, ASSISTANT_SPEAKERS)) is not None:
        prior += (constants.assistant_asked if cue.of_assistant else constants.assistant) * answered
