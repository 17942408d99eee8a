"""First-stage scoring: a table of candidates with a score in every channel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25, vector_similarity
from cofire.algorithms.session_context import (
    SessionContext,
    borrow_from_context,
    borrowing_factors,
    length_penalties,
    select_nearest_turns,
)
from cofire.recall.query import MIN_SAMPLE, Query
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
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
from cofire.stores.lazy_ids import mask_members, merge_ids
from cofire.text.questions import ASSISTANT_SPEAKERS, QuestionTimeSpan, score_time_closeness

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

CHANNEL_WEIGHTS: Mapping[str, Knob[float]] = {
    "semantic": SEMANTIC_WEIGHT,
    "keyword": KEYWORD_WEIGHT,
    "entity": ENTITY_WEIGHT,
    "temporal": TEMPORAL_WEIGHT,
}


@dataclass(frozen=True)
class Candidates:
    """Facts with what is known of them without the graph, one row each. No fact has two rows.

    `scores` are by channel. `contributions` are the scores times the weight of their channel, for
    channels that are in use, and the prior. `direct` is their sum. `cosine` counts the turns around
    a fact, `raw_cosine` is of the fact alone and not centred. `holds_words` has a column per word of
    the question.
    """

    ids: tuple[str, ...]
    row_of: Mapping[str, int]
    scores: Mapping[str, FloatArray]
    contributions: Mapping[str, FloatArray]
    direct: FloatArray
    cosine: FloatArray
    raw_cosine: FloatArray
    lengths: FloatArray
    has_vector: BoolArray
    holds_words: BoolArray

    def append(self, other: Candidates) -> Candidates:
        """These candidates and others that are not among them."""
        ids = self.ids + other.ids
        return Candidates(
            ids=ids,
            row_of={id: row for row, id in enumerate(ids)},
            scores=_concatenate_columns(self.scores, other.scores),
            contributions=_concatenate_columns(self.contributions, other.contributions),
            direct=np.concatenate([self.direct, other.direct]),
            cosine=np.concatenate([self.cosine, other.cosine]),
            raw_cosine=np.concatenate([self.raw_cosine, other.raw_cosine]),
            lengths=np.concatenate([self.lengths, other.lengths]),
            has_vector=np.concatenate([self.has_vector, other.has_vector]),
            holds_words=np.concatenate([self.holds_words, other.holds_words]),
        )


def _concatenate_columns(columns: Mapping[str, FloatArray], others: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    return {name: np.concatenate([values, others[name]]) for name, values in columns.items()}


def fetch_features(ids: Sequence[str], query: Query) -> Steps[FactFeatures]:
    """Read what scoring needs of facts, and of the turns around them if these count."""
    if query.words.context is None:
        return store.fetch_features(ids, query.words.words)
    constants = current_constants()
    return store.fetch_features(ids, query.words.words, constants.words.reach, constants.vectors.reach)


def score_missing(
    candidates: Candidates, found: Iterable[Collection[str]], query: Query, settings: Settings
) -> Steps[Candidates]:
    """The candidates and those of the facts found that have no row yet."""
    new_ids = merge_ids(found, but=candidates.row_of)
    if not new_ids:
        return candidates
    features = yield from fetch_features(new_ids, query)
    return candidates.append(score_candidates(features, query, settings))


def score_candidates(features: FactFeatures, query: Query, settings: Settings) -> Candidates:
    """Score facts in every channel that is in use."""
    count = len(features.ids)
    in_session = query.words.context is not None and bool((features.around >= 0).any())
    has_vector = features.embedded[:count] & (query.vector is not None)
    cosine, raw_cosine = compute_cosines(features, query, in_session=in_session)
    saturation = compute_saturation(features, query, in_session=in_session)
    scores = {
        # A fact without a vector scores 0. One that is less similar than by chance scores below 0.
        "semantic": standardise_cosines(cosine, query, settings) * has_vector,
        "keyword": bm25.bm25_share(saturation, query.words.weights),
        "entity": score_names(features.ids, query),
        "temporal": score_times(features, query) if query.times else np.zeros(count),
    }
    contributions = {
        name: settings[weight] * scores[name] for name, weight in CHANNEL_WEIGHTS.items() if name not in query.reports
    }
    contributions["prior"] = compute_prior(features) + compute_speaker_prior(features, query)
    return Candidates(
        ids=features.ids,
        row_of={id: row for row, id in enumerate(features.ids)},
        scores=scores,
        contributions=contributions,
        direct=np.asarray(sum(contributions.values(), np.zeros(count))),
        cosine=cosine,
        raw_cosine=raw_cosine,
        lengths=features.lengths[:count].astype(np.float64),
        has_vector=has_vector,
        holds_words=features.counts[:count] > 0,
    )


def compute_saturation(features: FactFeatures, query: Query, *, in_session: bool) -> FloatArray:
    """How well each fact answers each word, from 0 to 1, with what it borrows from the turns around it."""
    count, words = len(features.ids), query.words
    counts = features.counts[:count] + words.hint_weight * features.hints
    lengths = features.lengths[:count].astype(np.float64)
    if in_session and words.context is not None:
        factors = borrowing_factors(lengths, short=words.context.short)
        counts_and_lengths = np.column_stack([features.counts, features.lengths])
        borrowed = borrow_from_context(counts_and_lengths, features.around, factors, words.context)
        counts = counts + borrowed[:, :-1] * np.asarray(words.lent)
        lengths = compute_context_lengths(lengths, borrowed[:, -1], words.mean_length, words.context)
    normalisation = bm25.length_normalisation(lengths, k1=words.k1, b=words.b, mean_length=words.mean_length)
    return bm25.term_saturation(counts.astype(np.float64), normalisation[:, None])


def compute_context_lengths(
    lengths: FloatArray, borrowed: FloatArray, mean_length: float, context: SessionContext
) -> FloatArray:
    """The lengths of facts with what they borrow, on the scale of facts alone.

    A turn of mean length among turns of mean length keeps its length.
    """
    return np.where(borrowed > 0, (lengths + borrowed) / context.usual(mean_length), lengths)


def compute_cosines(features: FactFeatures, query: Query, *, in_session: bool) -> tuple[FloatArray, FloatArray]:
    """The cosine of each fact and the question with the turns around the fact, and of the fact alone."""
    count = len(features.ids)
    if query.centred_vector is None:
        return np.zeros(count), np.zeros(count)
    context = current_constants().vectors
    turns, weights = np.zeros((count, 0), np.int32), np.zeros((count, 0))
    if in_session:
        turns = select_nearest_turns(features.around, context)
        factors = borrowing_factors(features.lengths[:count], short=context.short)
        weights = factors[:, None] * context.nearest(turns.shape[1] // 2)
    return vector_similarity.context_cosines(features.stored, features.embedded, query.axes, turns, weights)


def standardise_cosines(cosine: FloatArray, query: Query, settings: Settings) -> FloatArray:
    """How many deviations each cosine lies above that of a chance fact."""
    if query.model is None:
        return np.zeros(len(cosine))
    if settings[SEMANTIC_METRIC] != "fisher_rao":
        mean, deviation = query.cosine_baseline
        return (cosine - mean) / deviation
    mean, deviation = query.model.resting
    resting = (float(vector_similarity.geodesic_similarity(np.array(mean))), deviation / np.pi)
    return vector_similarity.standardise_cosines(
        vector_similarity.geodesic_similarity(cosine),
        vector_similarity.geodesic_similarity(query.chance_cosines),
        resting=resting,
        least=MIN_SAMPLE,
    )


def score_names(ids: Sequence[str], query: Query) -> FloatArray:
    """How strongly the question names what each fact is about."""
    strengths = query.subject_strengths
    if not strengths or strengths.keys().isdisjoint(ids):
        return np.zeros(len(ids))
    return np.array([strengths.get(id, 0.0) for id in ids], np.float64)


def score_times(features: FactFeatures, query: Query) -> FloatArray:
    """How close each fact is in time to the times of the question.

    "This week" is a period seen from now, or from the time at which the fact was stated. So if the
    question asks for more than a time, a period seen from now counts as far as the fact holds the
    other words: min(1, (1 + held) / (1 + besides · all)), weighted by rarity.
    """
    from_now = [span for span in query.times if span.from_now]
    fixed = [span for span in query.times if not span.from_now]
    closeness = _measure_closeness(from_now, features)
    if from_now:
        weights = query.non_time_weights
        held = (features.counts[: len(closeness)] > 0) @ weights
        closeness *= np.minimum(1.0, (1.0 + held) / (1.0 + current_constants().direct.besides * weights.sum()))
    return np.maximum(_measure_closeness(fixed, features), closeness)


def _measure_closeness(spans: Sequence[QuestionTimeSpan], features: FactFeatures) -> FloatArray:
    constants = current_constants().times
    return score_time_closeness(
        spans,
        features.times,
        later_days=constants.later_days,
        earlier_days=constants.earlier_days,
        earlier_share=constants.earlier_share,
        beyond_days=constants.beyond_days,
    )


def compute_prior(features: FactFeatures) -> FloatArray:
    """What a fact counts whatever the question is: by its length, if it is a question, if it states a time."""
    constants, short = current_constants().direct, current_constants().words.short
    lengths = features.lengths[: len(features.ids)].astype(np.float64)
    penalties = length_penalties(constants.length, short)
    by_length = penalties[np.minimum(lengths, len(penalties) - 1).astype(np.int64)]
    by_form = constants.asks * features.asks + constants.timed * features.timed
    return np.asarray(by_length + by_form * borrowing_factors(lengths, short=short))


def compute_speaker_prior(features: FactFeatures, query: Query) -> FloatArray:
    """What the speaker of a fact counts."""
    prior = np.zeros(len(features.ids))
    constants, speakers = current_constants().direct, features.speakers
    # Of two speakers that are named together, neither is the one who said it.
    names_one = len(query.speakers) == 1
    if names_one or (len(query.speakers) == 2 and not query.names_together):
        is_first_speaker = mask_members(speakers, query.speakers[:1])
        if is_first_speaker is not None:
            prior += (constants.speaker if names_one else constants.first_speaker) * is_first_speaker
    # A person states facts, an assistant repeats them at length. Its turns count more only if asked for.
    is_assistant = mask_members(speakers, ASSISTANT_SPEAKERS)
    if is_assistant is not None:
        prior += (constants.assistant_asked if query.asks_assistant else constants.assistant) * is_assistant
    return prior
