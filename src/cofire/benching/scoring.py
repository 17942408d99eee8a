"""Scoring: from what came back to shares of the gold, overall, by half and by category, each with its interval. No I/O.

R@k of a question is the share of its gold among the first k; all@k is 1 if all of it is there. A figure of a set is the mean over
its questions, in percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofire.benching.evaluation_sets import Asked
from cofire.benching.intervals import Shares, interval

CUTS = (5, 10)
METRICS = ("R@2", "R@5", "R@10", "all@5", "all@10", "nDCG@10", "MRR")
HALVES = ("all", "tuning", "other")
DEPTH = 10

# Points of R@k by which the graph may cost a set, before that counts as harm.
HARM = 0.5


@dataclass(frozen=True, slots=True)
class Answer:
    """What one arm answered to a question: ids of facts, best first, and the CPU time it took without embedding."""

    question: Asked
    ids: tuple[str, ...]
    milliseconds: float


def share_found(gold: Sequence[str], answered: Sequence[str], k: int) -> float:
    """The share of the gold among the first k. A gold fact that stands for two rows counts for both.

    >>> share_found(["a", "a", "b", "c"], ["x", "a", "b"], 2)
    0.5
    """
    return sum(id in answered[:k] for id in gold) / len(gold)


def gain(gold: Sequence[str], answered: Sequence[str], k: int) -> float:
    """nDCG@k with gold or not: Σ 1/log₂(place + 1) of the gold among the first k, over what it could be (Järvelin 2002).

    >>> round(gain(["a", "b"], ["x", "a", "b"], 10), 4)  # (1/log₂3 + 1/log₂4) / (1 + 1/log₂3)
    0.6934
    """
    wanted = set(gold)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(wanted)) + 1))
    return sum(1 / math.log2(place + 1) for place, id in enumerate(answered[:k], 1) if id in wanted) / best


def reciprocal_place(gold: Sequence[str], answered: Sequence[str]) -> float:
    """1 / the place of the first gold; 0 without one.

    >>> reciprocal_place(["b"], ["a", "b"])
    0.5
    """
    return next((1 / place for place, id in enumerate(answered, 1) if id in gold), 0.0)


def shares_of(answer: Answer, fact_of: Mapping[str, str]) -> list[float]:
    """What one answer reaches, by `METRICS`."""
    gold, ids = [fact_of[row] for row in answer.question.gold], answer.ids[:DEPTH]
    found = {k: share_found(gold, ids, k) for k in (2, *CUTS)}
    whole = [float(found[k] == 1.0) for k in CUTS]
    return [*found.values(), *whole, gain(gold, ids, DEPTH), reciprocal_place(gold, ids)]


def shares(answers: Sequence[Answer], fact_of: Mapping[str, str]) -> Shares:
    """What each answer reaches: a row a question, a column a metric."""
    return np.array([shares_of(one, fact_of) for one in answers], np.float64).reshape(-1, len(METRICS))


def figures(answers: Sequence[Answer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """All figures of one arm: over all questions, either half and each category, its times, and what each question reached."""
    reached = shares(answers, fact_of)
    categories = [one.question.category for one in answers]
    times = [one.milliseconds for one in answers] or [0.0]
    return {
        **{half: summary(reached[[_is_in(one, half) for one in answers]]) for half in HALVES},
        "categories": {
            name: summary(reached[[one == name for one in categories]]) for name in sorted(set(categories) - {""})
        },
        "recall_ms": round(float(np.median(times)), 3),
        "recall_ms_p95": round(float(np.percentile(times, 95)), 3),
        "shares": {metric: np.round(reached[:, at], 4).tolist() for at, metric in enumerate(METRICS)},
    }


def recalls(answers: Sequence[Answer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """Every metric in percent, with the number of questions; None where there are none."""
    return summary(shares(answers, fact_of))


def summary(reached: Shares) -> dict[str, Any]:
    """The mean of every metric in percent, and between what it lies with 95 %."""
    if not len(reached):
        return {"questions": 0, **dict.fromkeys(METRICS), "intervals": dict.fromkeys(METRICS)}
    means, (low, high) = 100 * reached.mean(axis=0), 100 * interval(reached)
    return {
        "questions": len(reached),
        **{metric: round(float(means[at]), 2) for at, metric in enumerate(METRICS)},
        "intervals": {metric: _rounded(low[at], high[at]) for at, metric in enumerate(METRICS)},
    }


def shortfalls(arms: Mapping[str, Any], *, arm: str, singles: Iterable[str]) -> list[str]:
    """Where an arm, over all questions, is worse than the better of the single channels that were asked."""
    asked = [name for name in singles if name in arms]
    found = []
    for cut in (f"R@{k}" for k in CUTS):
        if arm in arms and asked:
            best = max(asked, key=lambda name: _over_all(arms, name, cut))
            if _over_all(arms, arm, cut) < _over_all(arms, best, cut):
                found.append(f"{cut} {arms[arm]['all'][cut]} < {arms[best]['all'][cut]} of {best}")
    return found


def harm(arms: Mapping[str, Any], *, arm: str, without: str) -> list[str]:
    """Where an arm is worse by more than `HARM` than the same without something."""
    if arm not in arms or without not in arms:
        return []
    lost = {f"R@{k}": _over_all(arms, without, f"R@{k}") - _over_all(arms, arm, f"R@{k}") for k in CUTS}
    return [f"{cut} is {points:.2f} lower than {without}" for cut, points in lost.items() if points > HARM]


def _over_all(arms: Mapping[str, Any], name: str, cut: str) -> float:
    return float(arms[name]["all"][cut] or 0.0)


def _rounded(low: float, high: float) -> list[float]:
    return [round(float(low), 2), round(float(high), 2)]


def _is_in(answer: Answer, half: str) -> bool:
    return half == "all" or answer.question.tuning == (half == "tuning")
