"""Decide from absolute evidence whether memory can answer a question.

Ranks and z-scores cannot tell: among strangers one is always the best. Two questions stay hard, and the rule does not pretend
otherwise: small talk, which a memory of chats really holds, and those about a thing that memory knows for an attribute that it
was never told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Nonsense asked of a handful of facts must not be known for their number.
MIN_FACT_COUNT = 50


@dataclass(frozen=True, slots=True)
class EvidenceVerdict:
    """Whether memory has something to say, by which evidence against which threshold, and the reason in words."""

    known: bool
    evidence: float
    threshold: float
    reason: str


@dataclass(frozen=True, slots=True)
class AbstentionWeights:
    """What counts how much. Without vectors a lexical share stands alone, on another scale: it has its own threshold."""

    lexical_weight: float
    rarity_weight: float
    size_penalty: float
    unknown_penalty: float
    threshold: float
    lexical_threshold: float


@dataclass(frozen=True, slots=True)
class QuestionFamiliarity:
    """What memory has met of a question: the share of its words that it never saw, and whether it names an acquaintance, one who
    speaks in memory or something that facts are about."""

    unknown_share: float
    named: bool

    @property
    def strangeness(self) -> float:
        """The unknown share, less 1 where an acquaintance is named: of whom memory heard, it was told something.

        >>> QuestionFamiliarity(0.25, named=False).strangeness, QuestionFamiliarity(0.25, named=True).strangeness
        (0.25, -0.75)
        """
        return self.unknown_share - self.named


@dataclass(frozen=True, slots=True)
class CandidateEvidence:
    """What came into question, a row each: raw cosines, None without an embedder; BM25 as a share of the question's content
    words; and how surprising it is that the fact holds those words that it holds."""

    cosines: Floats | None
    lexical_shares: Floats
    surprises: Floats


def sum_rarity(holds: NDArray[np.bool_], rarities: Sequence[float]) -> Floats:
    """How hardly chance brings the words of the question that a fact holds together: Σ rarity, a row a fact, a column a word.

    The rarity of a word is about ln(n / h) where h of n facts hold it, so that Σ is −ln of the share of facts that hold all of
    them if each falls where it likes: above ln n not even one fact is to be expected. A share of the question's words
    cannot tell this: two of twelve may be two names.

    >>> sum_rarity(np.array([[True, False], [True, True]]), [2.0, 6.0]).tolist()
    [2.0, 8.0]
    """
    return np.asarray(holds @ np.asarray(rarities, np.float64), np.float64)


def make_verdict(
    candidates: CandidateEvidence, *, facts: int, met: QuestionFamiliarity, weighing: AbstentionWeights
) -> EvidenceVerdict:
    """Whether the best candidate is evidence enough among so many facts that were searched; at the threshold it is.

    The first below has .6 + .1 · .5 + .003 · 10 − .018 · ln 1000, the second .6 − .03 · ln 1000, the third, by words alone,
    .5 − .012 · ½ · ln 50.

    >>> weighing = AbstentionWeights(
    ...     lexical_weight=0.1,
    ...     rarity_weight=0.003,
    ...     size_penalty=0.018,
    ...     unknown_penalty=0.012,
    ...     threshold=0.55,
    ...     lexical_threshold=0.1,
    ... )
    >>> known, strange = QuestionFamiliarity(0.0, named=False), QuestionFamiliarity(1.0, named=False)
    >>> two = CandidateEvidence(np.array([0.6, 0.65]), np.array([0.5, 0.1]), np.array([10.0, 2.0]))
    >>> heard = make_verdict(two, facts=1000, met=known, weighing=weighing)
    >>> heard.known, round(heard.evidence, 4), heard.reason
    (True, 0.5557, '')
    >>> one = CandidateEvidence(np.array([0.6]), np.array([0.0]), np.array([0.0]))
    >>> print(make_verdict(one, facts=1000, met=strange, weighing=weighing).reason)
    The best evidence among 1000 facts is 0.393, below 0.550. Memory has never met the words of the question.
    >>> wordy, half = CandidateEvidence(None, np.array([0.5]), np.array([4.0])), QuestionFamiliarity(0.5, named=False)
    >>> round(make_verdict(wordy, facts=9, met=half, weighing=weighing).evidence, 4)
    0.4765
    """
    threshold = weighing.lexical_threshold if candidates.cosines is None else weighing.threshold
    if not facts or not len(candidates.lexical_shares):
        return EvidenceVerdict(False, -math.inf, threshold, "No fact comes into question.")
    found = compute_evidence(candidates, facts=facts, met=met, weighing=weighing)
    known = found >= threshold
    return EvidenceVerdict(
        known, found, threshold, "" if known else _explain_verdict(found, threshold, facts, met.unknown_share)
    )


def compute_evidence(
    candidates: CandidateEvidence, *, facts: int, met: QuestionFamiliarity, weighing: AbstentionWeights
) -> float:
    """max(cosine + lexical_weight · share + rarity_weight · surprise) − (size_penalty + unknown_penalty · strangeness) · ln max(n, 50).

    The best of many strangers is closer than the best of few: without ln n the threshold would drift with size. Below 50 facts
    it does not get easier: nonsense asked of a handful of short facts is otherwise known. A large memory has met most words, so
    that an unknown one says more there than in a small one. By words alone it is max share − unknown_penalty · strangeness · ln
    max(n, 50).
    .6 + .1 · .5 + .003 · 10 − (.018 + .012 · ½) · ln 100, and the same with an acquaintance named, are

    >>> weighing = AbstentionWeights(
    ...     lexical_weight=0.1,
    ...     rarity_weight=0.003,
    ...     size_penalty=0.018,
    ...     unknown_penalty=0.012,
    ...     threshold=0.55,
    ...     lexical_threshold=0.1,
    ... )
    >>> one = CandidateEvidence(np.array([0.6]), np.array([0.5]), np.array([10.0]))
    >>> round(compute_evidence(one, facts=100, met=QuestionFamiliarity(0.5, named=False), weighing=weighing), 4)
    0.5695
    >>> round(compute_evidence(one, facts=100, met=QuestionFamiliarity(0.5, named=True), weighing=weighing), 4)
    0.6247
    """
    strange, shares = weighing.unknown_penalty * met.strangeness, candidates.lexical_shares
    if candidates.cosines is None:
        return float(shares.max()) - strange * _log_fact_count(facts)
    told = candidates.cosines + weighing.lexical_weight * shares + weighing.rarity_weight * candidates.surprises
    return float(told.max()) - (weighing.size_penalty + strange) * _log_fact_count(facts)


def quantile_threshold(evidences: Sequence[float], *, false_silence: float) -> float:
    """The highest threshold under which at most that share of answerable questions falls silent.

    One of fifty may be lost at 2 %, so the second lowest decides:

    >>> quantile_threshold([0.01 * number for number in range(1, 51)], false_silence=0.02)
    0.02
    """
    if not evidences:
        raise ValueError("A threshold needs evidence: measure some questions that memory can answer, 200 or more.")
    lost = math.floor(false_silence * len(evidences) + 1e-9)
    return float(sorted(evidences)[min(lost, len(evidences) - 1)])


def expected_chance_maximum(facts: int) -> float:
    """How many deviations above chance the nearest of so many unrelated facts lies: about √(2 ln n).

    >>> round(expected_chance_maximum(1000), 2), expected_chance_maximum(0)
    (3.72, 0.0)
    """
    return math.sqrt(2 * math.log(max(1, facts)))


def is_activation_sufficient(strongest: float, *, tau: float) -> bool:
    """The documented gate: results are kept unless the strongest activation is below τ (SYNAPSE step 5, τ = .12).

    After the documented sigmoid nothing that was reached is below σ(−.5) = .3775, so there this gate refuses only where
    nothing was reached; `make_verdict` is the rule that abstains.

    >>> (
    ...     is_activation_sufficient(0.12, tau=0.12),
    ...     is_activation_sufficient(0.1199, tau=0.12),
    ...     is_activation_sufficient(0.3775, tau=0.12),
    ... )
    (True, False, True)
    """
    return strongest >= tau


def _log_fact_count(facts: int) -> float:
    return math.log(max(facts, MIN_FACT_COUNT))


def _explain_verdict(found: float, threshold: float, facts: int, unknown: float) -> str:
    decimals = 3 if f"{found:.3f}" != f"{threshold:.3f}" else 6
    among = "1 fact" if facts == 1 else f"{facts} facts"
    weak = f"The best evidence among {among} is {found:.{decimals}f}, below {threshold:.{decimals}f}."
    if not unknown:
        return weak
    return f"{weak} Memory has never met {'the' if unknown >= 1 else 'some of the'} words of the question."
