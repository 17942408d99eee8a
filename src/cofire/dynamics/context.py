"""Context: what a turn of a conversation borrows from the turns around it. Spreading along a session, ahead of the question. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Context:
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

        >>> Context(0.4, 0.2, 0.5, 2, 25).weights().tolist()
        [0.4, 0.2, 0.2, 0.1]
        """
        steps = self.decay ** np.arange(self.reach)
        return np.concatenate([self.before * steps, self.after * steps])


def openness(lengths: NDArray[np.floating], *, short: float) -> Floats:
    """How much a fact of this many words borrows: min(1, short / length).

    >>> openness(np.array([10.0, 50.0]), short=25).tolist()
    [1.0, 0.5]
    """
    return np.asarray(np.minimum(1.0, short / np.maximum(lengths, 1.0)))


def borrowed(values: NDArray[np.floating], around: NDArray[np.int32], opened: Floats, context: Context) -> Floats:
    """What each fact borrows: Σ weight(turn) · value(turn), as far as it is open. `values` has a row a turn, `around` names rows.

    >>> context = Context(before=0.4, after=0.2, decay=0.5, reach=1, short=25)
    >>> borrowed(
    ...     np.array([[1.0], [10.0]]), np.array([[-1, 1], [0, -1]], np.int32), np.array([1.0, 1.0]), context
    ... ).tolist()
    [[2.0], [0.4]]
    """
    told = around.shape[1] // 2
    reach = min(context.reach, told)
    turns = np.hstack([around[:, :reach], around[:, told : told + reach]])
    # Where there is no turn, -1 is the last row: one of nothing.
    lent = np.pad(values, ((0, 1), (0, 0)))[turns]
    return np.asarray(np.einsum("t,ftv->fv", replace(context, reach=reach).weights(), lent) * opened[:, None])
