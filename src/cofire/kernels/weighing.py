"""Weighing in C: what facts are worth by their meaning, their words and their shape, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, addressof, byref, c_double, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, fitting, function, start, whole
from cofire.kernels.vectors import Known, Table, fits
from cofire.kernels.words import AskedWords, Weights

# The rows of a table that facts are weighed into: those of `verbs.slates`.
ROWS = 10

Floats = NDArray[np.float64]
Stored = tuple[Table, NDArray[np.int64], Known | None]


class Evidence(Structure):
    """Facts and the turns around them: `evidence` in weighing.c."""

    _fields_ = (
        *(("table", c_void_p), ("size", c_int64), ("is_half", c_int64), ("dimension", c_int64), ("known", c_void_p)),
        *(("at", c_void_p), ("embedded", c_void_p), ("near", c_int64)),
        *((name, c_void_p) for name in ("counts", "hints", "lengths")),
        *(("rows", c_int64), ("around", c_void_p), ("told", c_int64)),
        *(("asks", c_void_p), ("timed", c_void_p), ("facts", c_int64)),
    )


class Measures(Structure):
    """What the question is: `measures` in weighing.c."""

    _fields_ = (
        *(("axes", c_void_p), ("means", c_void_p), ("means_reach", c_int64), ("means_short", c_double)),
        *(("lends", c_void_p), ("lends_reach", c_int64), ("asked", c_void_p), ("by", c_void_p)),
    )


class Shape(Structure):
    """What a fact counts before its content does: `shape` in weighing.c."""

    _fields_ = (
        *(("saying", c_void_p), ("most", c_int64)),
        *((name, c_double) for name in ("asks", "timed", "short")),
    )


_weigh_facts = function("weigh_facts", POINTER(Evidence), POINTER(Measures), POINTER(Shape), c_void_p)

# As `Evidence` has them after the vectors: who has one, counts, hints, lengths, the turns around, who asks, who speaks of a time.
_KINDS: tuple[Any, ...] = (np.bool_, np.float32, np.float32, np.float32, np.int32, np.bool_, np.bool_)


@dataclass(frozen=True, slots=True)
class Lending:
    """What the turns around a fact count, those before it and those after, and from how many words on it borrows less."""

    weights: Floats
    short: float


@dataclass(frozen=True, slots=True)
class Before:
    """What counts before the content does: by the number of words, the last for all beyond; to ask, and to speak of a time, as far as
    a fact is short."""

    saying: Floats
    asks: float
    timed: float
    short: float


class Scales:
    """What facts are weighed by, as C reads it: `axes` (see `dynamics.likeness.axes`), None without a vector, and the words; what turns
    lend to the meaning of a fact; the constants of words, and what turns lend to those."""

    def __init__(
        self,
        axes: NDArray[np.float32] | None,
        words: AskedWords,
        *,
        meaning: Lending,
        weights: Weights,
        lends: Floats,
        before: Before,
    ) -> None:
        self.axes, self.words = None if axes is None else whole(axes, np.float32), words
        means, lends, saying = (whole(one, np.float64) for one in (meaning.weights, lends, before.saying))
        self._kept = (means, weights, lends, saying)
        self.measures = Measures(
            None if self.axes is None else start(self.axes),
            *(start(means), len(means) // 2, meaning.short),
            *(start(lends), len(lends) // 2, addressof(words.in_c), addressof(weights)),
        )
        self.shape = Shape(start(saying), len(saying) - 1, before.asks, before.timed, before.short)


def weigh(stored: Stored, held: Sequence[NDArray[Any]], by: Scales, found: Floats) -> None:
    """Fill in rows of a slate's table (see `verbs.slates`): what facts hold of the words, what is known before, how alike they are, their
    lengths, and who has a vector. `stored` is a table of vectors, where in it a row is, and what was measured of it before; `held`
    is in the order of `Evidence`."""
    table, at, known = stored
    arrays = [whole(array, kind) for array, kind in zip(held, _KINDS, strict=True)]
    facts, at = found.shape[1], whole(at, np.int64)
    fits(table, known)
    fitting((len(found), ROWS), (found.dtype, np.float64))
    _check(arrays, by, facts, len(at), table.shape[1])
    embedded, counts, hints, lengths, around, asks, timed = map(start, arrays)
    evidence = Evidence(
        *(start(table), len(table), table.itemsize == 2, table.shape[1], None if known is None else start(known)),
        *(start(at), embedded, len(at), counts, hints, lengths, len(arrays[3]), around, arrays[4].shape[1] // 2),
        *(asks, timed, facts),
    )
    counted(_weigh_facts(byref(evidence), byref(by.measures), byref(by.shape), start(found)))


def _check(arrays: Sequence[NDArray[Any]], by: Scales, facts: int, near: int, dimension: int) -> None:
    """Refuse what C would read beyond its end."""
    embedded, counts, hints, lengths, around, asks, timed = arrays
    words, rows = by.words.many, len(lengths)
    fitting(
        *((counts.shape, (rows, words)), (hints.shape, (facts, words)), (embedded.shape, (near,))),
        *((one.shape, (facts,)) for one in (asks, timed)),
        *((len(around), facts), (facts, min(facts, rows))),
    )
    if by.axes is not None:
        fitting((by.axes.shape, (3, dimension)), (facts, min(facts, near)))
