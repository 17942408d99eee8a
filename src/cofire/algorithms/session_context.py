"""What a turn of a conversation borrows from the turns around it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SessionContext:
    """How much the turn before and the turn after count, what each further turn loses, and how far it goes.

    A fact of more than `short` words stands for itself and borrows less.
    """

    before: float
    after: float
    decay: float
    reach: int
    short: float

    def weights(self) -> Floats:
        """One a turn around: those before, the nearest first, then those after.

        >>> SessionContext(0.4, 0.2, 0.5, 2, 25).weights().tolist()
        [0.4, 0.2, 0.2, 0.1]
        """
        return _turn_weights(self, self.reach)

    def nearest(self, reach: int) -> Floats:
        """The same of the nearest turns alone."""
        return _turn_weights(self, reach)

    def usual(self, mean_length: float) -> float:
        """How many times as long a turn of mean length is, with what it borrows from others of mean length.

        >>> SessionContext(0.4, 0.2, 0.5, 1, 25).usual(10.0), SessionContext(0.4, 0.2, 0.5, 1, 25).usual(50.0)
        (1.6, 1.3)
        """
        return _mean_length_factor(self, mean_length)

    def lends(self) -> Floats:
        """The same from the other side: a turn lends to those after it what they count of a turn before them."""
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
    """What it counts that a fact has few words, by their number; the last holds for all beyond: worth · (ln(1 + words) / ln(1 + short)
    − 1), of up to `short` words.

    >>> length_penalties(0.3, 3).round(2).tolist()
    [-0.3, -0.15, -0.06, 0.0]
    """
    words = np.minimum(np.arange(ceil(short) + 1), short)
    return np.asarray(worth * (np.log1p(words) / np.log1p(short) - 1.0))


def borrowing_factors(lengths: NDArray[np.floating], *, short: float) -> Floats:
    """How much a fact of this many words borrows: min(1, short / length).

    >>> borrowing_factors(np.array([10.0, 50.0]), short=25).tolist()
    [1.0, 0.5]
    """
    return np.asarray(np.minimum(1.0, short / np.maximum(lengths, 1.0)))


def borrow_from_context(
    values: NDArray[np.floating], around: NDArray[np.int32], opened: Floats, context: SessionContext
) -> Floats:
    """What each fact borrows: Σ weight(turn) · value(turn), as far as it is open. `values` has a row a turn, `around` names rows.

    >>> context = SessionContext(before=0.4, after=0.2, decay=0.5, reach=1, short=25)
    >>> borrow_from_context(
    ...     np.array([[1.0], [10.0]]), np.array([[-1, 1], [0, -1]], np.int32), np.array([1.0, 1.0]), context
    ... ).tolist()
    [[2.0], [0.4]]
    """
    turns = select_nearest_turns(around, context)
    # Where there is no turn, -1 is the last row: one of nothing.
    lent = np.concatenate([values, np.zeros_like(values[:1])])[turns]
    weights = context.nearest(turns.shape[1] // 2)
    return np.asarray(np.einsum("t,ftv->fv", weights, lent) * opened[:, None])


def select_nearest_turns(around: NDArray[np.int32], context: SessionContext) -> NDArray[np.int32]:
    """Of the turns around facts those that they borrow from.

    >>> select_nearest_turns(np.array([[1, 2, 3, 4]], np.int32), SessionContext(0.4, 0.2, 0.5, 1, 25)).tolist()
    [[1, 3]]
    """
    told = around.shape[1] // 2
    if context.reach >= told:
        return around
    return np.concatenate([around[:, : context.reach], around[:, told : told + context.reach]], axis=1)
