"""Listwise logistic regression: weights that rank the gold of a question above its other candidates. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

# L2 penalty; on features of deviation 1 it matters only where the questions carry little information.
HELD_BACK = 60.0
STEPS = 2_000
SMALL_ENOUGH = 1e-6
# Required share of the predicted decrease (Armijo).
PROMISE = 1e-4


@dataclass(frozen=True)
class Example:
    """The candidates of one question: a row of features each, and which of them are gold."""

    set: str
    category: str
    features: Numbers
    gold: NDArray[np.bool_]


def fit(examples: Sequence[Example]) -> Numbers:
    """The weights of the features, by gradient descent; the loss is convex, so there is one minimum.

    The gold candidate has a higher first feature and an equal second one:

    >>> one = Example("s", "c", np.array([[1.0, 0.5], [0.0, 0.5]]), np.array([True, False]))
    >>> weights = fit([one] * 100)
    >>> bool(weights[0] > 0), round(float(weights[1]), 6)
    (True, 0.0)
    """
    features = np.concatenate([one.features for one in examples])
    deviation = features.std(axis=0) + 1e-6
    problem = Problem.of(examples, (features - features.mean(axis=0)) / deviation)
    return np.asarray(descend(problem, np.zeros(features.shape[1])) / deviation)


@dataclass(frozen=True)
class Problem:
    """All candidates of all questions as rows, the first row of each question, and the weight of each row."""

    features: Numbers
    gold: NDArray[np.bool_]
    counts: Numbers
    begins: NDArray[np.int64]
    question: NDArray[np.int64]

    @staticmethod
    def of(examples: Sequence[Example], features: Numbers) -> Problem:
        sizes = [len(one.gold) for one in examples]
        counts = np.repeat(shares_of_sets(examples), sizes)
        return Problem(
            features,
            np.concatenate([one.gold for one in examples]),
            counts / counts.mean(),
            np.concatenate([[0], np.cumsum(sizes)[:-1]]),
            np.repeat(np.arange(len(sizes)), sizes),
        )

    def loss(self, weights: Numbers) -> tuple[float, Numbers]:
        """Σ −ln p(gold) + λ|w|²/2 and its gradient; p(gold) = e^s / (e^s + Σ e^s of the candidates that are not gold)."""
        scores = self.features @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, self.begins)[self.question])
        others = np.add.reduceat(raised * ~self.gold, self.begins)[self.question]
        sure = raised / (raised + others)
        pull = np.add.reduceat(np.where(self.gold, self.counts / (raised + others), 0.0), self.begins)[self.question]
        slope = np.where(self.gold, -self.counts * (1 - sure), raised * pull)
        lost = -(np.log(sure[self.gold] + 1e-12) * self.counts[self.gold]).sum()
        return float(lost + HELD_BACK * (weights @ weights) / 2), self.features.T @ slope + HELD_BACK * weights


def shares_of_sets(examples: Sequence[Example]) -> Numbers:
    """The weight of each question: sets are equal, and within a set half goes to questions and half to categories."""
    sets = Counter(one.set for one in examples)
    kinds = Counter((one.set, one.category) for one in examples)
    categories = Counter(name for name, _ in kinds)
    return np.array(
        [0.5 / sets[one.set] + 0.5 / categories[one.set] / kinds[one.set, one.category] for one in examples], np.float64
    )


def descend(problem: Problem, weights: Numbers) -> Numbers:
    """Gradient descent with step lengths from the last step (Barzilai 1988), shortened until the loss falls."""
    lost, slope = problem.loss(weights)
    pace = 1.0 / (HELD_BACK + float(np.abs(slope).max()))
    for _ in range(STEPS):
        if np.abs(slope).max() < SMALL_ENOUGH * problem.counts.sum():
            break
        while True:
            tried = weights - pace * slope
            now, steeper = problem.loss(tried)
            if now <= lost - PROMISE * pace * float(slope @ slope) or pace < 1e-15:
                break
            pace /= 2
        moved, turned = tried - weights, steeper - slope
        weights, lost, slope = tried, now, steeper
        pace = float(moved @ moved) / max(float(moved @ turned), 1e-300)
    return weights
