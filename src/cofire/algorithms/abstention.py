"""Decide from absolute evidence whether memory can answer a question.

Ranks and z-scores cannot tell: among unrelated facts one is always the best. Two kinds of questions
stay hard: small talk, which a memory of chats does hold, and questions about a known thing for an
attribute that is not stored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The size penalty is at least that of this many facts: otherwise a small memory would answer nonsense.
MIN_FACT_COUNT = 50


@dataclass(frozen=True, slots=True)
class EvidenceVerdict:
    """Whether memory can answer, the evidence, the threshold, and the reason in words."""

    known: bool
    evidence: float
    threshold: float
    reason: str


@dataclass(frozen=True, slots=True)
class AbstentionWeights:
    """Weights and thresholds. Without vectors the evidence is a lexical share on another scale, with its own threshold."""

    lexical_weight: float
    rarity_weight: float
    size_penalty: float
    unknown_penalty: float
    threshold: float
    lexical_threshold: float


@dataclass(frozen=True, slots=True)
class QuestionFamiliarity:
    """The share of the question's words that memory does not hold, and whether it names a speaker or a subject of facts."""

    unknown_share: float
    named: bool

    @property
    def strangeness(self) -> float:
        """The unknown share, less 1 if a speaker or subject is named: facts about it are stored.

        >>> QuestionFamiliarity(0.25, named=False).strangeness, QuestionFamiliarity(0.25, named=True).strangeness
        (0.25, -0.75)
        """
        return self.unknown_share - self.named


@dataclass(frozen=True, slots=True)
class CandidateEvidence:
    """Evidence of the candidates, a row each.

    `cosines` are raw, None without an embedder. `lexical_shares` are BM25 as a share of the question's
    words. `surprises` are how improbable the shared words are by chance (`sum_rarity`).
    """

    cosines: Floats | None
    lexical_shares: Floats
    surprises: Floats


def sum_rarity(holds: NDArray[np.bool_], rarities: Sequence[float]) -> Floats:
    """How improbable it is that a fact shares these words with the question by chance: Σ rarity.

    `holds` has a row per fact and a column per word. The rarity of a word is about ln(n / h) if h of n
    facts hold it. If words were independent, Σ would be −ln of the share of facts that hold all of them:
    above ln n, chance gives less than one such fact. The share of the question's words does not show
    this: two words of twelve may be two names.

    >>> sum_rarity(np.array([[True, False], [True, True]]), [2.0, 6.0]).tolist()
    [2.0, 8.0]
    """
    return np.asarray(holds @ np.asarray(rarities, np.float64), np.float64)


def make_verdict(
    candidates: CandidateEvidence, *, facts: int, met: QuestionFamiliarity, weighing: AbstentionWeights
) -> EvidenceVerdict:
    """Whether the evidence of the best candidate among this many facts reaches the threshold.

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
    >>> verdict = make_verdict(two, facts=1000, met=known, weighing=weighing)
    >>> verdict.known, round(verdict.evidence, 4), verdict.reason
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
        return EvidenceVerdict(False, -math.inf, threshold, "There are no candidates.")
    evidence = compute_evidence(candidates, facts=facts, met=met, weighing=weighing)
    known = evidence >= threshold
    reason = "" if known else _explain_verdict(evidence, threshold, facts, met.unknown_share)
    return EvidenceVerdict(known, evidence, threshold, reason)


def compute_evidence(
    candidates: CandidateEvidence, *, facts: int, met: QuestionFamiliarity, weighing: AbstentionWeights
) -> float:
    """max(cosine + lexical_weight · share + rarity_weight · surprise) − (size_penalty + unknown_penalty · strangeness) · ln max(n, 50).

    The best of many unrelated facts is closer than the best of few, so the penalty grows with ln n. Below
    50 facts it stays the same: otherwise a few short facts would answer nonsense. A large memory holds
    most words, so that an unknown word says more there. Without vectors the evidence is
    max share − unknown_penalty · strangeness · ln max(n, 50).
    .6 + .1 · .5 + .003 · 10 − (.018 + .012 · ½) · ln 100, and the same with a named subject, are

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
    log_facts = math.log(max(facts, MIN_FACT_COUNT))
    unknown_penalty = weighing.unknown_penalty * met.strangeness
    if candidates.cosines is None:
        return float(candidates.lexical_shares.max()) - unknown_penalty * log_facts
    lexical = weighing.lexical_weight * candidates.lexical_shares
    rarity = weighing.rarity_weight * candidates.surprises
    best = float((candidates.cosines + lexical + rarity).max())
    return best - (weighing.size_penalty + unknown_penalty) * log_facts


def quantile_threshold(evidences: Sequence[float], *, false_silence: float) -> float:
    """The highest threshold at which at most the share `false_silence` of answerable questions gets no answer.

    At 2 %, one of fifty questions may be lost, so the second lowest evidence is the threshold:

    >>> quantile_threshold([0.01 * number for number in range(1, 51)], false_silence=0.02)
    0.02
    """
    if not evidences:
        raise ValueError("A threshold needs evidence: measure some questions that memory can answer, 200 or more.")
    lost_count = math.floor(false_silence * len(evidences) + 1e-9)
    return float(sorted(evidences)[min(lost_count, len(evidences) - 1)])


def expected_chance_maximum(facts: int) -> float:
    """The expected maximum of n unrelated cosines, in deviations above chance: about √(2 ln n).

    >>> round(expected_chance_maximum(1000), 2), expected_chance_maximum(0)
    (3.72, 0.0)
    """
    return math.sqrt(2 * math.log(max(1, facts)))


def is_activation_sufficient(strongest: float, *, tau: float) -> bool:
    """The documented gate: results are kept unless the strongest activation is below τ (SYNAPSE step 5, τ = .12).

    After the documented sigmoid every reached fact is at σ(−.5) = .3775 or above, so this gate abstains
    only if nothing was reached. `make_verdict` is the rule that abstains on weak evidence.

    >>> (
    ...     is_activation_sufficient(0.12, tau=0.12),
    ...     is_activation_sufficient(0.1199, tau=0.12),
    ...     is_activation_sufficient(0.3775, tau=0.12),
    ... )
    (True, False, True)
    """
    return strongest >= tau


def _explain_verdict(evidence: float, threshold: float, facts: int, unknown_share: float) -> str:
    decimals = 3 if f"{evidence:.3f}" != f"{threshold:.3f}" else 6
    count = "1 fact" if facts == 1 else f"{facts} facts"
    reason = f"The best evidence among {count} is {evidence:.{decimals}f}, below {threshold:.{decimals}f}."
    if not unknown_share:
        return reason
    return f"{reason} Memory has never met {'the' if unknown_share >= 1 else 'some of the'} words of the question."
