"""Context of a session: the score that a turn borrows from the turns around it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SessionContext:
    """Weights of the turns before and after, the decay per further turn, and the number of turns (`reach`).

    A fact of more than `short` words borrows less.
    """

    before: float
    after: float
    decay: float
    reach: int
    short: float

    def weights(self) -> Floats:
        """A weight per turn around: the turns before, nearest first, then those after, nearest first.

        >>> SessionContext(0.4, 0.2, 0.5, 2, 25).weights().tolist()
        [0.4, 0.2, 0.2, 0.1]
        """
        return _turn_weights(self, self.reach)

    def nearest(self, reach: int) -> Floats:
        """The weights of the nearest turns only."""
        return _turn_weights(self, reach)

    def usual(self, mean_length: float) -> float:
        """The factor by which borrowing lengthens a turn of mean length among turns of mean length.

        >>> SessionContext(0.4, 0.2, 0.5, 1, 25).usual(10.0), SessionContext(0.4, 0.2, 0.5, 1, 25).usual(50.0)
        (1.6, 1.3)
        """
        return _mean_length_factor(self, mean_length)

    def lends(self) -> Floats:
        """The weights of lending: a turn lends to a later turn with the weight that this one has for a turn before it."""
        return _lending_weights(self)


@lru_cache(maxsize=16)
def _turn_weights(context: SessionContext, reach: int) -> Floats:
    steps = context.decay ** np.arange(reach)
    return np.concatenate([context.before * steps, context.after * steps])


@lru_cache(maxsize=16)
def _lending_weights(context: SessionContext) -> Floats:
    return np.roll(context.weights(), context.reach)


@lru_cache(maxsize=64)
def _mean_length_factor(context: SessionContext, mean_length: float) -> float:
    return 1.0 + float(context.weights().sum() * borrowing_factors(np.array([mean_length]), short=context.short)[0])


@lru_cache(maxsize=16)
def length_penalties(worth: float, short: float) -> Floats:
    """The penalty of short facts by their number of words: worth · (ln(1 + words) / ln(1 + short) − 1).

    The last entry, 0, is for facts of `short` words and more.

    >>> length_penalties(0.3, 3).round(2).tolist()
    [-0.3, -0.15, -0.06, 0.0]
    """
    words = np.minimum(np.arange(ceil(short) + 1), short)
    return np.asarray(worth * (np.log1p(words) / np.log1p(short) - 1.0))


def borrowing_factors(lengths: NDArray[np.floating], *, short: float) -> Floats:
    """The share that a fact of this length borrows: min(1, short / length).

    >>> borrowing_factors(np.array([10.0, 50.0]), short=25).tolist()
    [1.0, 0.5]
    """
    return np.asarray(np.minimum(1.0, short / np.maximum(lengths, 1.0)))


def borrow_from_context(
    values: NDArray[np.floating], around: NDArray[np.int32], opened: Floats, context: SessionContext
) -> Floats:
    """The borrowed values of each fact: opened · Σ weight(turn) · value(turn). `around` has rows of `values`.

    >>> context = SessionContext(before=0.4, after=0.2, decay=0.5, reach=1, short=25)
    >>> borrow_from_context(
    ...     np.array([[1.0], [10.0]]), np.array([[-1, 1], [0, -1]], np.int32), np.array([1.0, 1.0]), context
    ... ).tolist()
    [[2.0], [0.4]]
    """
    turns = select_nearest_turns(around, context)
    # A missing turn is -1, the last row, which is zeros.
    lent = np.concatenate([values, np.zeros_like(values[:1])])[turns]
    weights = context.nearest(turns.shape[1] // 2)
    return np.asarray(np.einsum("t,ftv->fv", weights, lent) * opened[:, None])


def select_nearest_turns(around: NDArray[np.int32], context: SessionContext) -> NDArray[np.int32]:
    """The turns around facts that are within the reach of the context.

    >>> select_nearest_turns(np.array([[1, 2, 3, 4]], np.int32), SessionContext(0.4, 0.2, 0.5, 1, 25)).tolist()
    [[1, 3]]
    """
    turns_per_side = around.shape[1] // 2
    if context.reach >= turns_per_side:
        return around
    before = around[:, : context.reach]
    after = around[:, turns_per_side : turns_per_side + context.reach]
    return np.concatenate([before, after], axis=1)
