"""Intervals by bootstrap: how far a mean over questions may be off, and whether two means differ by more than chance. No I/O."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]

SEED = 20_260_301
DRAWS = 1_000
SURE = 95


@lru_cache(maxsize=16)
def draws(questions: int) -> NDArray[np.float32]:
    """How often each question is drawn when as many are drawn anew with replacement: a row a draw. The same in every run."""
    random = np.random.default_rng(SEED)
    return random.multinomial(questions, np.full(questions, 1 / questions), size=DRAWS).astype(np.float32)


def interval(values: Shares) -> Shares:
    """Between what the mean of each column lies with 95 %: the percentiles of its means over the draws (Efron 1979).

    For 100 questions of which half are answered, theory says .5 ± 1.96 · √(.25/100) = .402 to .598:

    >>> [round(float(end), 2) for end in interval(np.repeat([0.0, 1.0], 50)[:, None])[:, 0]]
    [0.4, 0.6]
    """
    means = draws(len(values)) @ values / len(values)
    return np.asarray(np.percentile(means, [(100 - SURE) / 2, (100 + SURE) / 2], axis=0))


def paired(before: Shares, after: Shares) -> tuple[Shares, Shares]:
    """By how much the means differ, and between what that lies: the same questions are drawn for both."""
    difference = after - before
    return difference.mean(axis=0), interval(difference)


def beyond_chance(low: float, high: float) -> bool:
    """Whether an interval of a difference leaves out 0.

    >>> beyond_chance(0.1, 2.0), beyond_chance(-0.1, 2.0)
    (True, False)
    """
    return low > 0 or high < 0
