"""Scoring: from what came back to R@k, by half and by category. No I/O.

R@k of a question is the share of its gold among the first k; of a set, the mean over its questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from benchmarks.evaluation_sets import Asked

CUTS = (5, 10)
HALVES = ("all", "tuning", "other")


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


def figures(answers: Sequence[Answer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """R@k of one arm over all questions, either half and each category, and its median time."""
    categories = sorted({answer.question.category for answer in answers} - {""})
    return {
        **{half: recalls([one for one in answers if _is_in(one, half)], fact_of) for half in HALVES},
        "categories": {
            name: recalls([one for one in answers if one.question.category == name], fact_of) for name in categories
        },
        "recall_ms": round(median(answer.milliseconds for answer in answers), 3),
    }


def recalls(answers: Sequence[Answer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """R@5 and R@10 in percent, with the number of questions; None where there are none."""
    found = {f"R@{k}": _mean_percent(_shares(answers, fact_of, k)) for k in CUTS}
    return {"questions": len(answers), **found}


def shortfalls(arms: Mapping[str, Any], *, arm: str, singles: Iterable[str]) -> list[str]:
    """Where an arm, over all questions, is worse than the better of the single channels."""
    found = []
    for cut in (f"R@{k}" for k in CUTS):
        best = max(singles, key=lambda name: arms[name]["all"][cut])
        if arms[arm]["all"][cut] < arms[best]["all"][cut]:
            found.append(f"{cut} {arms[arm]['all'][cut]} < {arms[best]['all'][cut]} of {best}")
    return found


def _shares(answers: Sequence[Answer], fact_of: Mapping[str, str], k: int) -> list[float]:
    return [share_found([fact_of[row] for row in one.question.gold], one.ids, k) for one in answers]


def _mean_percent(shares: Sequence[float]) -> float | None:
    return round(100 * mean(shares), 2) if shares else None


def _is_in(answer: Answer, half: str) -> bool:
    return half == "all" or answer.question.tuning == (half == "tuning")
