"""Abstention: the rule in numbers, and what more evidence or a larger memory may never do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cofire.algorithms.abstention import (
    AbstentionWeights,
    CandidateEvidence,
    EvidenceVerdict,
    QuestionFamiliarity,
    compute_evidence,
    is_activation_sufficient,
    make_verdict,
    quantile_threshold,
    sum_rarity,
)

GRANITE = AbstentionWeights(
    lexical_weight=0.1,
    rarity_weight=0.003,
    size_penalty=0.018,
    unknown_penalty=0.012,
    threshold=0.55,
    lexical_threshold=0.1,
)

shares = st.floats(0, 1)
cosines = st.floats(-1, 1)
sizes = st.integers(1, 10_000_000)
surprises = st.floats(0, 60)
one_more = st.tuples(cosines, shares, surprises)
candidates = st.lists(one_more, min_size=1, max_size=10)

# Cosine, share of words, and surprise.
Found = tuple[float, float, float]


def verdict(found: list[Found], *, facts: int, unknown: float, named: bool = False) -> EvidenceVerdict:
    met = QuestionFamiliarity(unknown, named=named)
    return make_verdict(weighed(found), facts=facts, met=met, weighing=GRANITE)


def weighed(found: list[Found]) -> CandidateEvidence:
    return CandidateEvidence(*np.array(found, dtype=float).reshape(-1, 3).T)


def by_words(found: list[float], *, facts: int, unknown: float = 0.0, named: bool = False) -> EvidenceVerdict:
    met = QuestionFamiliarity(unknown, named=named)
    candidates = CandidateEvidence(None, np.array(found), np.zeros(len(found)))
    return make_verdict(candidates, facts=facts, met=met, weighing=GRANITE)


def test_evidence_is_that_of_the_best_fact_by_all() -> None:
    """.6 + .1 · .5 + .003 · 10 = .68 beats .65 + .1 · .1 + .003 · 2 = .666; less .018 · ln 1000 = .1243."""
    assert verdict([(0.6, 0.5, 10.0), (0.65, 0.1, 2.0)], facts=1000, unknown=0.0).evidence == pytest.approx(
        0.68 - 0.12434, abs=1e-5
    )


def test_two_names_of_twelve_words_are_evidence() -> None:
    """Of 5,000 facts one holds either name: together they surprise by 2 · ln 5000 = 17, which .003 of makes .051."""
    common, names = (verdict([(0.68, 0.15, told)], facts=5000, unknown=0.0) for told in (2.0, 2 * math.log(5000)))
    assert (common.known, names.known) == (False, True)
    assert names.evidence - common.evidence == pytest.approx(0.0451, abs=1e-4)


def test_surprise_adds_up_the_words_of_one_fact() -> None:
    held = np.array([[True, True, False], [False, False, True], [False, False, False]])
    assert sum_rarity(held, [3.0, 4.0, 5.0]).tolist() == [7.0, 5.0, 0.0]


def test_a_question_without_words_surprises_nobody() -> None:
    assert sum_rarity(np.zeros((2, 0), np.bool_), []).tolist() == [0.0, 0.0]


def test_a_handful_of_facts_costs_as_much_as_fifty() -> None:
    """.6 less .018 · ln 50 = .0704."""
    found = [verdict([(0.6, 0.0, 0.0)], facts=facts, unknown=0.0).evidence for facts in (1, 5, 50)]
    assert found == pytest.approx([0.6 - 0.07042] * 3, abs=1e-5)


@pytest.mark.parametrize(("facts", "cost"), [(1, 0.0469), (1000, 0.0829)])
def test_unknown_words_cost_more_in_a_large_memory(facts: int, cost: float) -> None:
    """.012 · ln 50 and .012 · ln 1000."""
    known, unknown = (verdict([(0.6, 0.0, 0.0)], facts=facts, unknown=share).evidence for share in (0.0, 1.0))
    assert known - unknown == pytest.approx(cost, abs=1e-4)


def test_naming_an_acquaintance_gives_what_unknown_words_cost() -> None:
    somebody, nobody = (
        verdict([(0.6, 0.0, 0.0)], facts=1000, unknown=unknown, named=named).evidence
        for unknown, named in ((1.0, True), (0.0, False))
    )
    assert somebody == pytest.approx(nobody)


def test_by_words_alone_strangeness_counts_too() -> None:
    """.3 less .012 · ½ · ln 1000 = .0414; with an acquaintance that much more."""
    assert by_words([0.3], facts=1000, unknown=0.5).evidence == pytest.approx(0.2586, abs=1e-4)
    assert by_words([0.3], facts=1000, unknown=0.5, named=True).evidence == pytest.approx(0.3414, abs=1e-4)


def test_evidence_at_the_threshold_is_enough() -> None:
    assert verdict([(0.55 + 0.018 * math.log(50) + 1e-12, 0.0, 0.0)], facts=1, unknown=0.0).known


def test_silence_has_its_reason() -> None:
    silent = verdict([(0.4, 0.0, 0.0)], facts=1, unknown=0.0)
    assert not silent.known
    assert silent.reason == "The best evidence among 1 fact is 0.330, below 0.550."
    assert "some of the words" in verdict([(0.4, 0.0, 0.0)], facts=1, unknown=0.5).reason


def test_what_is_known_needs_no_reason() -> None:
    assert verdict([(0.9, 0.9, 0.0)], facts=10, unknown=0.0).reason == ""


def test_without_vectors_words_decide_by_their_own_threshold() -> None:
    assert by_words([0.1, 0.05], facts=10**6) == EvidenceVerdict(True, 0.1, 0.1, "")
    assert not by_words([0.0999], facts=1).known


@pytest.mark.parametrize("facts", [0, 7])
def test_nothing_to_look_at_is_silence(facts: int) -> None:
    silent = verdict([], facts=facts, unknown=0.0)
    assert (silent.known, silent.evidence, silent.threshold) == (False, -math.inf, 0.55)
    assert by_words([], facts=facts).reason


@given(candidates, one_more, sizes, shares)
def test_one_more_candidate_never_silences(found: list[Found], another: Found, facts: int, unknown: float) -> None:
    before = verdict(found, facts=facts, unknown=unknown)
    after = verdict([*found, another], facts=facts, unknown=unknown)
    assert after.evidence >= before.evidence
    assert after.known >= before.known


@given(candidates, st.tuples(shares, shares, surprises), sizes, shares)
def test_more_evidence_never_silences(found: list[Found], more: Found, facts: int, unknown: float) -> None:
    better = [(one[0] + more[0], one[1] + more[1], one[2] + more[2]) for one in found]
    assert verdict(better, facts=facts, unknown=unknown).known >= verdict(found, facts=facts, unknown=unknown).known


@given(candidates, sizes, sizes, shares)
def test_a_larger_memory_never_makes_it_known(found: list[Found], facts: int, more: int, unknown: float) -> None:
    assert (
        verdict(found, facts=facts + more, unknown=unknown).known <= verdict(found, facts=facts, unknown=unknown).known
    )


@given(candidates, sizes, shares, shares)
def test_more_unknown_words_never_make_it_known(found: list[Found], facts: int, some: float, other: float) -> None:
    fewer, more = sorted((some, other))
    assert verdict(found, facts=facts, unknown=more).known <= verdict(found, facts=facts, unknown=fewer).known


@given(candidates, sizes, shares)
def test_verdict_follows_its_own_numbers(found: list[Found], facts: int, unknown: float) -> None:
    said = verdict(found, facts=facts, unknown=unknown)
    assert said.known == (said.evidence >= said.threshold) == (said.reason == "")


@given(candidates, sizes, shares)
def test_verdict_weighs_the_evidence_alone(found: list[Found], facts: int, unknown: float) -> None:
    alone = compute_evidence(
        weighed(found), facts=facts, met=QuestionFamiliarity(unknown, named=False), weighing=GRANITE
    )
    assert alone == verdict(found, facts=facts, unknown=unknown).evidence


@given(st.lists(st.floats(-1, 2), min_size=1, max_size=300), st.floats(0, 1))
def test_threshold_silences_no_more_than_asked(evidences: list[float], false_silence: float) -> None:
    threshold = quantile_threshold(evidences, false_silence=false_silence)
    assert sum(found < threshold for found in evidences) <= false_silence * len(evidences) + 1e-6


@given(st.lists(st.floats(-1, 2), min_size=1, max_size=100, unique=True), st.floats(0, 0.99))
def test_no_higher_threshold_would_do(evidences: list[float], false_silence: float) -> None:
    threshold = quantile_threshold(evidences, false_silence=false_silence)
    assume(threshold < max(evidences))
    above = min(found for found in evidences if found > threshold)
    assert sum(found < above for found in evidences) > false_silence * len(evidences)


def test_no_evidence_gives_no_threshold() -> None:
    with pytest.raises(ValueError, match="measure some questions"):
        quantile_threshold([], false_silence=0.02)


@given(st.floats(0, 1), st.floats(0, 1))
def test_gate_rejects_what_is_below_it(strongest: float, tau: float) -> None:
    assert is_activation_sufficient(strongest, tau=tau) == (not strongest < tau)


def test_documented_gate_never_rejects_what_passed_the_documented_sigmoid() -> None:
    """Ruling on 000: σ(0 − θ) at θ = .5 is .3775, above τ = .12."""
    lowest = 1 / (1 + math.exp(0.5))
    assert lowest == pytest.approx(0.3775, abs=5e-5)
    assert is_activation_sufficient(lowest, tau=0.12)
