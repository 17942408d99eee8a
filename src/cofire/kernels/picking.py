"""Picking in C: rows by falling score, and a pick that rewards words nobody held before."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_double, c_int64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, fitting, function, start, whole

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

# The words of a fact are the bits of a number.
MOST_WORDS = 64


class Covering(Structure):
    """Facts, and the words of the question that they hold: `covering` in picking.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("scores", "holds", "turns")),
        *(("facts", c_int64), ("words", c_int64), ("weights", c_void_p), ("reward", c_double)),
    )


_best_rows = function("best_rows", c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p)
_pick_by_covering = function("pick_by_covering", POINTER(Covering), c_int64, c_void_p)


def best_rows(scores: Floats, count: int) -> tuple[Numbers, Floats, bool]:
    """Rows by falling score, rounded, with the scores in millionths: the first `count` and all that equal the last of them; and
    whether any are equal. Those at minus infinity are none."""
    scores = whole(scores, np.float64)
    rows, steps, equals = np.empty(len(scores), np.int64), np.empty(len(scores)), c_int64()
    many = counted(_best_rows(start(scores), len(scores), count, start(rows), start(steps), byref(equals)))
    return rows[:many], steps[:many], bool(equals.value)


def picked(
    scores: Floats, holds: NDArray[np.bool_], weights: Floats, turns: Numbers, *, count: int, reward: float
) -> Floats:
    """What covering adds to each score; see `dynamics.covering.picked`. Of equals the one with the later turn is picked first."""
    kinds: tuple[Any, ...] = (np.float64, np.bool_, np.int64, np.float64)
    given = (scores, holds, turns, weights)
    scores, holds, turns, weights = (whole(array, kind) for array, kind in zip(given, kinds, strict=True))
    facts, words = holds.shape
    fitting((len(scores), facts), (len(turns), facts), (len(weights), words), (words, min(words, MOST_WORDS)))
    bonus = np.empty(facts)
    asked = Covering(start(scores), start(holds), start(turns), facts, words, start(weights), reward)
    counted(_pick_by_covering(byref(asked), count, start(bonus)))
    return bonus
