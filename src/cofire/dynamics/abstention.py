"""Abstention: whether memory knows anything about a question, from absolute evidence. No I/O; what to measure is given.

Ranks and z-scores cannot tell: among strangers one is always the best. Two questions stay hard, and the rule does not pretend
otherwise: those of a single word, and those about a thing that memory knows for an attribute that it was never told.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEWEST = 50


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether memory has something to say, by which evidence against which threshold, and the reason in words."""

    known: bool
    evidence: float
    threshold: float
    reason: str


@dataclass(frozen=True, slots=True)
class Weighing:
    """What counts how much. Without vectors a lexical share stands alone, on another scale: it has its own threshold."""

    lexical_weight: float
    size_penalty: float
    unknown_penalty: float
    threshold: float
    lexical_threshold: float


def judged(
    *, cosines: Floats | None, lexical_shares: Floats, facts: int, unknown_share: float, weighing: Weighing
) -> Verdict:
    """Whether the best candidate is evidence enough among so many facts; at the threshold it is.

    `cosines` are raw, one a candidate, None without an embedder; `lexical_shares` are BM25 as a share of the question's
    content words; `facts` counts what was searched, `unknown_share` is that of the question's names never seen. The first
    below has .8 − .02 · ln 1000, the second .6 − .02 · ln 1000 − .1.

    >>> weighing = Weighing(
    ...     lexical_weight=0.4, size_penalty=0.02, unknown_penalty=0.1, threshold=0.54, lexical_threshold=0.25
    ... )
    >>> cosines, shares = np.array([0.6, 0.7]), np.array([0.5, 0.1])
    >>> heard = judged(cosines=cosines, lexical_shares=shares, facts=1000, unknown_share=0.0, weighing=weighing)
    >>> heard.known, round(heard.evidence, 4), heard.reason
    (True, 0.6618, '')
    >>> cosines, shares = np.array([0.6]), np.array([0.0])
    >>> print(judged(cosines=cosines, lexical_shares=shares, facts=1000, unknown_share=1.0, weighing=weighing).reason)
    The best evidence among 1000 facts is 0.362, below 0.540. Memory has never met the names in the question.
    >>> judged(cosines=None, lexical_shares=np.array([0.5]), facts=9, unknown_share=0.0, weighing=weighing)
    Verdict(known=True, evidence=0.5, threshold=0.25, reason='')
    """
    threshold = weighing.lexical_threshold if cosines is None else weighing.threshold
    if not facts or not len(lexical_shares):
        return Verdict(False, -math.inf, threshold, "No fact comes into question.")
    found = (
        float(np.max(lexical_shares))
        if cosines is None
        else evidence(cosines, lexical_shares, facts=facts, unknown_share=unknown_share, weighing=weighing)
    )
    known = found >= threshold
    return Verdict(known, found, threshold, "" if known else _reason(found, threshold, facts, unknown_share))


def evidence(cosines: Floats, lexical_shares: Floats, *, facts: int, unknown_share: float, weighing: Weighing) -> float:
    """max(cosine + lexical_weight · share) − size_penalty · ln max(n, 50) − unknown_penalty · unknown_share.

    The best of many strangers is closer than the best of few: without ln n the threshold would drift with size. Below 50 facts
    it does not get easier: nonsense asked of a handful of short facts is otherwise known.
    .8 − .02 · ln 100 − .1 · .5 is

    >>> weighing = Weighing(
    ...     lexical_weight=0.4, size_penalty=0.02, unknown_penalty=0.1, threshold=0.54, lexical_threshold=0.25
    ... )
    >>> round(evidence(np.array([0.6]), np.array([0.5]), facts=100, unknown_share=0.5, weighing=weighing), 4)
    0.6579
    """
    best = float(np.max(cosines + weighing.lexical_weight * lexical_shares))
    return best - weighing.size_penalty * math.log(max(facts, FEWEST)) - weighing.unknown_penalty * unknown_share


def unknown_share(names: Collection[str], *, seen: Container[str]) -> float:
    """The share of a question's names that memory never saw; 0 where it has none.

    >>> unknown_share(["Ana", "Xyzzy"], seen={"Ana", "Tom"}), unknown_share([], seen=())
    (0.5, 0.0)
    """
    return sum(name not in seen for name in names) / len(names) if names else 0.0


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


def best_of_strangers(facts: int) -> float:
    """How many deviations above chance the nearest of so many unrelated facts lies: about √(2 ln n).

    >>> round(best_of_strangers(1000), 2), best_of_strangers(0)
    (3.72, 0.0)
    """
    return math.sqrt(2 * math.log(max(1, facts)))


def feeling_of_knowing(strongest: float, *, tau: float) -> bool:
    """The documented gate: results are kept unless the strongest activation is below τ (SYNAPSE step 5, τ = .12).

    After the documented sigmoid nothing that was reached is below σ(−.5) = .3775, so there this gate refuses only where
    nothing was reached; `judged` is the rule that abstains.

    >>> feeling_of_knowing(0.12, tau=0.12), feeling_of_knowing(0.1199, tau=0.12), feeling_of_knowing(0.3775, tau=0.12)
    (True, False, True)
    """
    return strongest >= tau


def _reason(found: float, threshold: float, facts: int, unknown: float) -> str:
    weak = f"The best evidence among {facts} facts is {found:.3f}, below {threshold:.3f}."
    if not unknown:
        return weak
    return f"{weak} Memory has never met {'the' if unknown >= 1 else 'some of the'} names in the question."
