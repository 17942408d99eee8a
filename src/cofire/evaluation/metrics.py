"""Recall, nDCG and reciprocal rank with bootstrap intervals, and the comparison of two runs.

R@k of a question is the share of its gold among the first k; all@k is 1 if all gold is among them. A
figure of a set is the mean over its questions, in percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.errors import InvalidInput
from cofire.evaluation.datasets import EvaluationQuestion

ShareMatrix = NDArray[np.float64]

BOOTSTRAP_SEED = 20_260_301
BOOTSTRAP_DRAWS = 1_000
CONFIDENCE_PERCENT = 95


@lru_cache(maxsize=16)
def count_draws(questions: int) -> NDArray[np.float32]:
    """Bootstrap samples: how often each question is drawn, one row per sample. The same in every run."""
    random = np.random.default_rng(BOOTSTRAP_SEED)
    return random.multinomial(questions, np.full(questions, 1 / questions), size=BOOTSTRAP_DRAWS).astype(np.float32)


def confidence_interval(values: ShareMatrix) -> ShareMatrix:
    """The 95 % bootstrap interval of the mean of each column (percentile method, Efron 1979).

    For 100 questions of which half are answered, theory says .5 ± 1.96 · √(.25/100) = .402 to .598:

    >>> [round(float(end), 2) for end in confidence_interval(np.repeat([0.0, 1.0], 50)[:, None])[:, 0]]
    [0.4, 0.6]
    """
    means = count_draws(len(values)) @ values / len(values)
    return np.asarray(np.percentile(means, [(100 - CONFIDENCE_PERCENT) / 2, (100 + CONFIDENCE_PERCENT) / 2], axis=0))


def paired_difference(before: ShareMatrix, after: ShareMatrix) -> tuple[ShareMatrix, ShareMatrix]:
    """The difference of the means and its interval, with the same samples for both."""
    difference = after - before
    return difference.mean(axis=0), confidence_interval(difference)


def is_beyond_chance(low: float, high: float) -> bool:
    """Whether the interval of a difference excludes 0.

    >>> is_beyond_chance(0.1, 2.0), is_beyond_chance(-0.1, 2.0)
    (True, False)
    """
    return low > 0 or high < 0


CUTOFFS = (5, 10)
METRICS = ("R@2", "R@5", "R@10", "all@5", "all@10", "nDCG@10", "MRR")
HALVES = ("all", "tuning", "other")
RANK_DEPTH = 10

# Loss of R@k in points above which the graph counts as harmful.
HARM_POINTS = 0.5


@dataclass(frozen=True, slots=True)
class ArmAnswer:
    """The answer of an arm: ids of facts, best first, and the CPU time without embedding."""

    question: EvaluationQuestion
    ids: tuple[str, ...]
    milliseconds: float


def recall_at(gold: Sequence[str], answered: Sequence[str], k: int) -> float:
    """The share of the gold among the first k. A gold fact that stands for two rows counts twice.

    >>> recall_at(["a", "a", "b", "c"], ["x", "a", "b"], 2)
    0.5
    """
    return sum(id in answered[:k] for id in gold) / len(gold)


def ndcg_at(gold: Sequence[str], answered: Sequence[str], k: int) -> float:
    """nDCG@k with binary gains: Σ 1/log₂(rank + 1) of the gold in the first k, over its maximum.

    Järvelin and Kekäläinen 2002.

    >>> round(ndcg_at(["a", "b"], ["x", "a", "b"], 10), 4)  # (1/log₂3 + 1/log₂4) / (1 + 1/log₂3)
    0.6934
    """
    gold_ids = set(gold)
    gain = 0.0
    for rank, id in enumerate(answered[:k], 1):
        if id in gold_ids:
            gain += 1 / math.log2(rank + 1)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(gold_ids)) + 1))
    return gain / ideal


def reciprocal_rank(gold: Sequence[str], answered: Sequence[str]) -> float:
    """1 / rank of the first gold fact, or 0.

    >>> reciprocal_rank(["b"], ["a", "b"])
    0.5
    """
    return next((1 / place for place, id in enumerate(answered, 1) if id in gold), 0.0)


def score_answer(answer: ArmAnswer, fact_of: Mapping[str, str]) -> list[float]:
    """The figures of one answer, in the order of `METRICS`."""
    gold = [fact_of[row] for row in answer.question.gold]
    ids = answer.ids[:RANK_DEPTH]
    recalls = [recall_at(gold, ids, k) for k in (2, *CUTOFFS)]
    all_found = [float(recall_at(gold, ids, k) == 1.0) for k in CUTOFFS]
    return [*recalls, *all_found, ndcg_at(gold, ids, RANK_DEPTH), reciprocal_rank(gold, ids)]


def score_answers(answers: Sequence[ArmAnswer], fact_of: Mapping[str, str]) -> ShareMatrix:
    """The figures of all answers: one row per question, one column per metric."""
    return np.array([score_answer(answer, fact_of) for answer in answers], np.float64).reshape(-1, len(METRICS))


def summarise_arm(answers: Sequence[ArmAnswer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """All figures of an arm: overall, by half and by category, times, and the figures of each question."""
    scores = score_answers(answers, fact_of)
    categories = [answer.question.category for answer in answers]
    times = [answer.milliseconds for answer in answers] or [0.0]
    return {
        **{half: summarise_scores(scores[[_is_in_half(answer, half) for answer in answers]]) for half in HALVES},
        "categories": {
            name: summarise_scores(scores[[answer == name for answer in categories]])
            for name in sorted(set(categories) - {""})
        },
        "recall_ms": round(float(np.median(times)), 3),
        "recall_ms_p95": round(float(np.percentile(times, 95)), 3),
        "shares": {metric: np.round(scores[:, at], 4).tolist() for at, metric in enumerate(METRICS)},
    }


def summarise_answers(answers: Sequence[ArmAnswer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """Every metric in percent, and the number of questions. None without questions."""
    return summarise_scores(score_answers(answers, fact_of))


def summarise_scores(scores: ShareMatrix) -> dict[str, Any]:
    """The mean of every metric in percent, with its 95 % interval."""
    if not len(scores):
        return {"questions": 0, **dict.fromkeys(METRICS), "intervals": dict.fromkeys(METRICS)}
    means, (low, high) = 100 * scores.mean(axis=0), 100 * confidence_interval(scores)
    return {
        "questions": len(scores),
        **{metric: round(float(means[at]), 2) for at, metric in enumerate(METRICS)},
        "intervals": {metric: _round_interval(low[at], high[at]) for at, metric in enumerate(METRICS)},
    }


def find_shortfalls(arms: Mapping[str, Any], *, arm: str, singles: Iterable[str]) -> list[str]:
    """The metrics in which an arm is worse than the best of the single channels."""
    measured_singles = [name for name in singles if name in arms]
    shortfalls = []
    for cut in (f"R@{k}" for k in CUTOFFS):
        if arm in arms and measured_singles:
            best = max(measured_singles, key=lambda name: _overall_value(arms, name, cut))
            if _overall_value(arms, arm, cut) < _overall_value(arms, best, cut):
                shortfalls.append(f"{cut} {arms[arm]['all'][cut]} < {arms[best]['all'][cut]} of {best}")
    return shortfalls


def find_harm(arms: Mapping[str, Any], *, arm: str, without: str) -> list[str]:
    """The metrics in which an arm is worse than another by more than `HARM_POINTS`."""
    if arm not in arms or without not in arms:
        return []
    harm = []
    for cut in (f"R@{k}" for k in CUTOFFS):
        points = _overall_value(arms, without, cut) - _overall_value(arms, arm, cut)
        if points > HARM_POINTS:
            harm.append(f"{cut} is {points:.2f} lower than {without}")
    return harm


def _overall_value(arms: Mapping[str, Any], name: str, cut: str) -> float:
    return float(arms[name]["all"][cut] or 0.0)


def _round_interval(low: float, high: float) -> list[float]:
    return [round(float(low), 2), round(float(high), 2)]


def _is_in_half(answer: ArmAnswer, half: str) -> bool:
    return half == "all" or answer.question.tuning == (half == "tuning")


RunFigures = Mapping[str, Any]


def compare_shares(before: ShareMatrix, after: ShareMatrix) -> dict[str, Any]:
    """The gain of each metric in points, its 95 % interval, and whether it is beyond chance."""
    if not len(before):
        return {metric: _format_difference(0.0, 0.0, 0.0) for metric in METRICS}
    points, (low, high) = paired_difference(before, after)
    return {metric: _format_difference(points[at], low[at], high[at]) for at, metric in enumerate(METRICS)}


def compare_runs(before: RunFigures, after: RunFigures) -> dict[str, Any]:
    """The difference between two runs by set, arm and half, over their common questions."""
    shared = [name for name in before["sets"] if name in after["sets"]]
    differences = {name: _compare_set(before["sets"][name], after["sets"][name]) for name in shared}
    differences = {name: difference for name, difference in differences.items() if difference["questions"]}
    if not differences:
        raise InvalidInput("The two runs have no question in common.", way_out="Compare runs over the same sets.")
    return {"before": _describe_origin(before), "after": _describe_origin(after), "sets": differences}


def _compare_set(before: RunFigures, after: RunFigures) -> dict[str, Any]:
    position_of = {question["id"]: at for at, question in enumerate(after["asked"])}
    pairs = [
        (at, position_of[question["id"]])
        for at, question in enumerate(before["asked"])
        if question["id"] in position_of
    ]
    tuning = np.array([before["asked"][at]["tuning"] for at, _ in pairs], np.bool_)
    halves = {"all": np.full(len(pairs), True), "tuning": tuning, "other": ~tuning}
    return {
        "questions": len(pairs),
        "arms": {
            name: {
                half: compare_shares(
                    _select_shares(arm, pairs, 0)[chosen], _select_shares(after["arms"][name], pairs, 1)[chosen]
                )
                for half, chosen in halves.items()
                if chosen.any()
            }
            for name, arm in before["arms"].items()
            if name in after["arms"]
        },
    }


def _select_shares(arm: RunFigures, pairs: list[tuple[int, int]], side: int) -> ShareMatrix:
    every = np.array([arm["shares"][metric] for metric in METRICS], np.float64).T
    return np.asarray(every[[pair[side] for pair in pairs]])


def _format_difference(points: float, low: float, high: float) -> dict[str, Any]:
    return {
        "points": round(100 * float(points), 2),
        "interval": [round(100 * float(low), 2), round(100 * float(high), 2)],
        "beyond_chance": is_beyond_chance(float(low), float(high)),
    }


def _describe_origin(figures: RunFigures) -> dict[str, Any]:
    return {name: figures[name] for name in ("cofire", "commit", "modified", "measured")}
