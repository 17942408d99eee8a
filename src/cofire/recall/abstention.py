"""Abstention: decide whether the candidates are enough evidence to answer."""

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

# Deviations above chance that count as evidence with any number of facts; more are needed with many.
MIN_STANDING_DEVIATIONS = 2.0

# A word that at most this many facts hold counts as a name.
RARE_WORD_FACTS = 3

ALWAYS_ANSWER = AbstentionVerdict(True, math.inf, -math.inf, "")


def decide_abstention(activation: Activation, query: Query, request: RecallRequest) -> AbstentionVerdict:
    """The verdict by the rule of the settings. Without candidates it is always to abstain."""
    settings = request.settings
    if settings[ABSTENTION_RULE] == "off":
        return ALWAYS_ANSWER
    if not activation.candidates.ids:
        return AbstentionVerdict(False, 0.0, settings[ABSTENTION_LEXICAL_THRESHOLD], "")
    if settings[ABSTENTION_RULE] == "gate":
        return _judge_by_gate(activation, settings)
    if not query.words.words and not query.speakers:
        # A model embeds every text, also punctuation, so the vector alone is no evidence.
        return AbstentionVerdict(
            False, 0.0, settings[ABSTENTION_LEXICAL_THRESHOLD], "The question has no words to go by."
        )
    verdict = _judge_by_evidence(activation, query, settings)
    if not verdict.known and not settings[ABSTENTION_THRESHOLD] and has_exact_match(activation, query):
        return replace(verdict, known=True, reason="")
    return verdict


def has_exact_match(activation: Activation, query: Query) -> bool:
    """Whether one fact holds every word of the question, one of them rare, such as a number or a name."""
    holds = activation.candidates.holds_words
    if not holds.shape[1]:
        return False
    has_rare_word = min(query.word_fact_counts) <= RARE_WORD_FACTS
    return bool(has_rare_word and holds.all(axis=1).any())


def compute_unknown_share(activation: Activation, query: Query) -> float:
    """The share of the question's words and speakers that occur in no fact.

    The candidates are checked too, because they can be newer than the word counts.
    """
    uncounted = [column for column, fact_count in enumerate(query.word_fact_counts) if not fact_count]
    if not uncounted:
        return 0.0
    holds = activation.candidates.holds_words
    unknown_count = sum(not holds[:, column].any() for column in uncounted)
    return unknown_count / max(1, len(query.word_fact_counts) + len(query.speakers))


def has_known_name(query: Query) -> bool:
    """Whether the question names a speaker, or a subject of facts in two words or more.

    One word is ambiguous: two people can have the name Adam.
    """
    return bool(query.speakers) or any(" " in known_name.name for known_name in query.subject_names)


def _judge_by_evidence(activation: Activation, query: Query, settings: Settings) -> AbstentionVerdict:
    """The verdict by evidence.

    Without an embedder, words alone decide. With an embedder that is not calibrated, either words or
    a cosine far above chance is enough.
    """
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
        candidates = activation.candidates
        highest = float(np.max(candidates.scores["semantic"], initial=0.0, where=candidates.has_vector))
        least = max(MIN_STANDING_DEVIATIONS, expected_chance_maximum(query.fact_count))
        if highest >= least:
            return AbstentionVerdict(True, highest, least, "")
    return AbstentionVerdict(verdict.known, verdict.evidence, verdict.threshold, verdict.reason)


def _collect_evidence(activation: Activation, query: Query, *, by_meaning: bool) -> CandidateEvidence:
    """The evidence of each candidate."""
    candidates = activation.candidates
    # Not the weights of the words: a word that the question repeats is no rarer.
    rarities = [inverse_document_frequency(query.fact_count, count) for count in query.word_fact_counts]
    return CandidateEvidence(
        candidates.raw_cosine if by_meaning else None,
        candidates.scores["keyword"],
        sum_rarity(candidates.holds_words, rarities),
    )


def _judge_by_gate(activation: Activation, settings: Settings) -> AbstentionVerdict:
    """The documented gate: the strongest activation must reach tau (000)."""
    strongest = float(np.max(activation.strengths, initial=0.0))
    tau = settings[SPREADING_ACTIVATION_TAU_GATE]
    if is_activation_sufficient(strongest, tau=tau):
        return AbstentionVerdict(True, strongest, tau, "")
    reason = f"The strongest activation is {strongest:.3f}, below the gate at {tau:g}."
    return AbstentionVerdict(False, strongest, tau, reason)
