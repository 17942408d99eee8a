"""Recall, nDCG and reciprocal rank with bootstrap intervals, and the comparison of two runs.

R@k of a question is the share of its gold among the first k; all@k is 1 if all of it is there. A figure of a set is the mean over
its questions, in percent.
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
    """How often each question is drawn when as many are drawn anew with replacement: a row a draw. The same in every run."""
    random = np.random.default_rng(BOOTSTRAP_SEED)
    return random.multinomial(questions, np.full(questions, 1 / questions), size=BOOTSTRAP_DRAWS).astype(np.float32)


def confidence_interval(values: ShareMatrix) -> ShareMatrix:
    """Between what the mean of each column lies with 95 %: the percentiles of its means over the draws (Efron 1979).

    For 100 questions of which half are answered, theory says .5 ± 1.96 · √(.25/100) = .402 to .598:

    >>> [round(float(end), 2) for end in confidence_interval(np.repeat([0.0, 1.0], 50)[:, None])[:, 0]]
    [0.4, 0.6]
    """
    means = count_draws(len(values)) @ values / len(values)
    return np.asarray(np.percentile(means, [(100 - CONFIDENCE_PERCENT) / 2, (100 + CONFIDENCE_PERCENT) / 2], axis=0))


def paired_difference(before: ShareMatrix, after: ShareMatrix) -> tuple[ShareMatrix, ShareMatrix]:
    """By how much the means differ, and between what that lies: the same questions are drawn for both."""
    difference = after - before
    return difference.mean(axis=0), confidence_interval(difference)


def is_beyond_chance(low: float, high: float) -> bool:
    """Whether an interval of a difference leaves out 0.

    >>> is_beyond_chance(0.1, 2.0), is_beyond_chance(-0.1, 2.0)
    (True, False)
    """
    return low > 0 or high < 0


CUTOFFS = (5, 10)
METRICS = ("R@2", "R@5", "R@10", "all@5", "all@10", "nDCG@10", "MRR")
HALVES = ("all", "tuning", "other")
RANK_DEPTH = 10

# Points of R@k by which the graph may cost a set, before that counts as harm.
HARM_POINTS = 0.5


@dataclass(frozen=True, slots=True)
class ArmAnswer:
    """What one arm answered to a question: ids of facts, best first, and the CPU time it took without embedding."""

    question: EvaluationQuestion
    ids: tuple[str, ...]
    milliseconds: float


def recall_at(gold: Sequence[str], answered: Sequence[str], k: int) -> float:
    """The share of the gold among the first k. A gold fact that stands for two rows counts for both.

    >>> recall_at(["a", "a", "b", "c"], ["x", "a", "b"], 2)
    0.5
    """
    return sum(id in answered[:k] for id in gold) / len(gold)


def ndcg_at(gold: Sequence[str], answered: Sequence[str], k: int) -> float:
    """nDCG@k with gold or not: Σ 1/log₂(place + 1) of the gold among the first k, over what it could be (Järvelin 2002).

    >>> round(ndcg_at(["a", "b"], ["x", "a", "b"], 10), 4)  # (1/log₂3 + 1/log₂4) / (1 + 1/log₂3)
    0.6934
    """
    wanted = set(gold)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(wanted)) + 1))
    return sum(1 / math.log2(place + 1) for place, id in enumerate(answered[:k], 1) if id in wanted) / best


def reciprocal_rank(gold: Sequence[str], answered: Sequence[str]) -> float:
    """1 / the place of the first gold; 0 without one.

    >>> reciprocal_rank(["b"], ["a", "b"])
    0.5
    """
    return next((1 / place for place, id in enumerate(answered, 1) if id in gold), 0.0)


def score_answer(answer: ArmAnswer, fact_of: Mapping[str, str]) -> list[float]:
    """What one answer reaches, by `METRICS`."""
    gold, ids = [fact_of[row] for row in answer.question.gold], answer.ids[:RANK_DEPTH]
    found = {k: recall_at(gold, ids, k) for k in (2, *CUTOFFS)}
    whole = [float(found[k] == 1.0) for k in CUTOFFS]
    return [*found.values(), *whole, ndcg_at(gold, ids, RANK_DEPTH), reciprocal_rank(gold, ids)]


def score_answers(answers: Sequence[ArmAnswer], fact_of: Mapping[str, str]) -> ShareMatrix:
    """What each answer reaches: a row a question, a column a metric."""
    return np.array([score_answer(one, fact_of) for one in answers], np.float64).reshape(-1, len(METRICS))


def summarise_arm(answers: Sequence[ArmAnswer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """All figures of one arm: over all questions, either half and each category, its times, and what each question reached."""
    reached = score_answers(answers, fact_of)
    categories = [one.question.category for one in answers]
    times = [one.milliseconds for one in answers] or [0.0]
    return {
        **{half: summarise_scores(reached[[_is_in_half(one, half) for one in answers]]) for half in HALVES},
        "categories": {
            name: summarise_scores(reached[[one == name for one in categories]])
            for name in sorted(set(categories) - {""})
        },
        "recall_ms": round(float(np.median(times)), 3),
        "recall_ms_p95": round(float(np.percentile(times, 95)), 3),
        "shares": {metric: np.round(reached[:, at], 4).tolist() for at, metric in enumerate(METRICS)},
    }


def summarise_answers(answers: Sequence[ArmAnswer], fact_of: Mapping[str, str]) -> dict[str, Any]:
    """Every metric in percent, with the number of questions; None where there are none."""
    return summarise_scores(score_answers(answers, fact_of))


def summarise_scores(reached: ShareMatrix) -> dict[str, Any]:
    """The mean of every metric in percent, and between what it lies with 95 %."""
    if not len(reached):
        return {"questions": 0, **dict.fromkeys(METRICS), "intervals": dict.fromkeys(METRICS)}
    means, (low, high) = 100 * reached.mean(axis=0), 100 * confidence_interval(reached)
    return {
        "questions": len(reached),
        **{metric: round(float(means[at]), 2) for at, metric in enumerate(METRICS)},
        "intervals": {metric: _round_interval(low[at], high[at]) for at, metric in enumerate(METRICS)},
    }


def find_shortfalls(arms: Mapping[str, Any], *, arm: str, singles: Iterable[str]) -> list[str]:
    """Where an arm, over all questions, is worse than the better of the single channels that were asked."""
    asked = [name for name in singles if name in arms]
    found = []
    for cut in (f"R@{k}" for k in CUTOFFS):
        if arm in arms and asked:
            best = max(asked, key=lambda name: _overall_value(arms, name, cut))
            if _overall_value(arms, arm, cut) < _overall_value(arms, best, cut):
                found.append(f"{cut} {arms[arm]['all'][cut]} < {arms[best]['all'][cut]} of {best}")
    return found


def find_harm(arms: Mapping[str, Any], *, arm: str, without: str) -> list[str]:
    """Where an arm is worse by more than `HARM_POINTS` than the same without something."""
    if arm not in arms or without not in arms:
        return []
    lost = {f"R@{k}": _overall_value(arms, without, f"R@{k}") - _overall_value(arms, arm, f"R@{k}") for k in CUTOFFS}
    return [f"{cut} is {points:.2f} lower than {without}" for cut, points in lost.items() if points > HARM_POINTS]


def _overall_value(arms: Mapping[str, Any], name: str, cut: str) -> float:
    return float(arms[name]["all"][cut] or 0.0)


def _round_interval(low: float, high: float) -> list[float]:
    return [round(float(low), 2), round(float(high), 2)]


def _is_in_half(answer: ArmAnswer, half: str) -> bool:
    return half == "all" or answer.question.tuning == (half == "tuning")


RunFigures = Mapping[str, Any]


def compare_shares(before: ShareMatrix, after: ShareMatrix) -> dict[str, Any]:
    """By how many points each metric rises, between what that lies with 95 %, and whether it is beyond chance."""
    if not len(before):
        return {metric: _format_difference(0.0, 0.0, 0.0) for metric in METRICS}
    points, (low, high) = paired_difference(before, after)
    return {metric: _format_difference(points[at], low[at], high[at]) for at, metric in enumerate(METRICS)}


def compare_runs(before: RunFigures, after: RunFigures) -> dict[str, Any]:
    """What changes from one run to another: by set, arm and half, over the questions that both asked."""
    shared = [name for name in before["sets"] if name in after["sets"]]
    found = {name: _compare_set(before["sets"][name], after["sets"][name]) for name in shared}
    found = {name: one for name, one in found.items() if one["questions"]}
    if not found:
        raise InvalidInput("The two runs have no question in common.", way_out="Compare runs over the same sets.")
    return {"before": _describe_origin(before), "after": _describe_origin(after), "sets": found}


def _compare_set(before: RunFigures, after: RunFigures) -> dict[str, Any]:
    places = {one["id"]: at for at, one in enumerate(after["asked"])}
    pairs = [(at, places[one["id"]]) for at, one in enumerate(before["asked"]) if one["id"] in places]
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
