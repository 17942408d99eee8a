"""Abstention: whether the candidates are evidence enough to answer at all."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from cofire.algorithms.abstention import (
    AbstentionWeights,
    CandidateEvidence,
    QuestionFamiliarity,
    expected_chance_maximum,
    is_activation_sufficient,
    make_verdict,
    sum_rarity,
)
from cofire.algorithms.bm25 import inverse_document_frequency
from cofire.recall.activation import Activation
from cofire.recall.query import Query
from cofire.recall.request import RecallRequest
from cofire.results import AbstentionVerdict
from cofire.settings.table import (
    ABSTENTION_LEXICAL_THRESHOLD,
    ABSTENTION_RARITY,
    ABSTENTION_RULE,
    ABSTENTION_SIZE,
    ABSTENTION_THRESHOLD,
    ABSTENTION_UNKNOWN,
    ABSTENTION_WORDS,
    SPREADING_ACTIVATION_TAU_GATE,
    Settings,
)

# Deviations above chance that are never chance, however few facts there are.
MIN_STANDING_DEVIATIONS = 2.0

# A word that no more facts hold than these names something.
RARE_WORD_FACTS = 3

ALWAYS_ANSWER = AbstentionVerdict(True, math.inf, -math.inf, "")


def decide_abstention(activation: Activation, query: Query, request: RecallRequest) -> AbstentionVerdict:
    """Known or not, by the rule of the settings. Where there is no candidate, there is nothing to weigh."""
    settings = request.settings
    if settings[ABSTENTION_RULE] == "off":
        return ALWAYS_ANSWER
    if not activation.candidates.ids:
        return AbstentionVerdict(False, 0.0, settings[ABSTENTION_LEXICAL_THRESHOLD], "")
    if settings[ABSTENTION_RULE] == "gate":
        return _judge_by_gate(activation, settings)
    if not query.words.words and not query.speakers:
        # A model puts every text somewhere, also signs that say nothing.
        return AbstentionVerdict(
            False, 0.0, settings[ABSTENTION_LEXICAL_THRESHOLD], "The question has no words to go by."
        )
    weighed = _judge_by_evidence(activation, query, settings)
    if not weighed.known and not settings[ABSTENTION_THRESHOLD] and has_exact_match(activation, query):
        return replace(weighed, known=True, reason="")
    return weighed


def has_exact_match(activation: Activation, query: Query) -> bool:
    """Whether one fact holds every word of the question, a rare one among them: who asks for a number or a name finds it."""
    holds = activation.candidates.holds_words
    return bool(holds.shape[1] and min(query.word_fact_counts) <= RARE_WORD_FACTS and holds.all(axis=1).any())


def compute_unknown_share(activation: Activation, query: Query) -> float:
    """The share of the question's words, speakers among them, that memory never met. What was told since words were last counted
    is met in the candidates."""
    uncounted = [word for word, holding in enumerate(query.word_fact_counts) if not holding]
    if not uncounted:
        return 0.0
    holds = activation.candidates.holds_words
    never = sum(not holds[:, word].any() for word in uncounted)
    return never / max(1, len(query.word_fact_counts) + len(query.speakers))


def has_known_name(query: Query) -> bool:
    """Whether the question names one who speaks in memory, or something that facts are about. One word is too little to be sure of
    the thing: an Adam is not the Adam."""
    return bool(query.speakers) or any(" " in one.name for one in query.subject_names)


def _judge_by_evidence(activation: Activation, query: Query, settings: Settings) -> AbstentionVerdict:
    """By evidence. Without an embedder words alone decide; with one that nobody calibrated, words or what stands out."""
    threshold = settings[ABSTENTION_THRESHOLD] or (query.model.silent_below if query.model else None)
    by_meaning = query.vector is not None and threshold is not None
    verdict = make_verdict(
        _collect_evidence(activation, query, by_meaning=by_meaning),
        facts=max(1, query.fact_count),
        met=QuestionFamiliarity(compute_unknown_share(activation, query), named=has_known_name(query)),
        weighing=AbstentionWeights(
            lexical_weight=settings[ABSTENTION_WORDS],
            rarity_weight=settings[ABSTENTION_RARITY],
            size_penalty=settings[ABSTENTION_SIZE],
            unknown_penalty=settings[ABSTENTION_UNKNOWN],
            threshold=threshold or 0.0,
            lexical_threshold=settings[ABSTENTION_LEXICAL_THRESHOLD],
        ),
    )
    if threshold is None and not verdict.known:
        standing = float(
            np.max(activation.candidates.scores["semantic"], initial=0.0, where=activation.candidates.has_vector)
        )
        least = max(MIN_STANDING_DEVIATIONS, expected_chance_maximum(query.fact_count))
        if standing >= least:
            return AbstentionVerdict(True, standing, least, "")
    return AbstentionVerdict(verdict.known, verdict.evidence, verdict.threshold, verdict.reason)


def _collect_evidence(activation: Activation, query: Query, *, by_meaning: bool) -> CandidateEvidence:
    """What there is to weigh. A word said twice is no rarer for it, so that the words' weights will not do."""
    candidates = activation.candidates
    rarities = [inverse_document_frequency(query.fact_count, count) for count in query.word_fact_counts]
    return CandidateEvidence(
        candidates.raw_cosine if by_meaning else None,
        candidates.scores["keyword"],
        sum_rarity(candidates.holds_words, rarities),
    )


def _judge_by_gate(activation: Activation, settings: Settings) -> AbstentionVerdict:
    """The documented gate: the strongest activation must reach tau (000)."""
    strongest, tau = float(np.max(activation.strengths, initial=0.0)), settings[SPREADING_ACTIVATION_TAU_GATE]
    if is_activation_sufficient(strongest, tau=tau):
        return AbstentionVerdict(True, strongest, tau, "")
    return AbstentionVerdict(
        False, strongest, tau, f"The strongest activation is {strongest:.3f}, below the gate at {tau:g}."
    )
