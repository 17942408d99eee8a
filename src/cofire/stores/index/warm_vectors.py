"""Warm vectors: the stored vectors of all facts in memory, for a process that asks again and again. Rows go by position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.likeness import VectorRows, wide
from cofire.kernels import vectors as compiled
from cofire.kernels.library import LIBRARY

Halves = NDArray[np.float16]

# A process that asks once reads the few vectors it needs; one that goes on gathers them all, up to this many.
ASKED_BEFORE = 3
MOST = 200_000
# Without compiled code, so few are kept at single precision, which needs twice the room and no widening.
FEW = 0 if LIBRARY is not None else 128_000


class WarmVectors:
    """An array that grows as facts come. A fact without a vector has a row of zeros. `mean` is the model's resting point: what vectors
    have to do with it is the same for every question."""

    def __init__(self, rows: Halves, mean: NDArray[np.float32]) -> None:
        self._room: NDArray[Any] = wide(rows) if len(rows) <= FEW else rows
        self._known = np.zeros((len(rows), 2), np.float32)
        # A copy, since one that may not be written to is handed to C by a longer way, with every fact.
        self._mean = np.array(mean, np.float32)
        self._size = len(rows)
        self._measure(0)

    def add(self, rows: Halves) -> None:
        """Append rows for new positions."""
        wanted, size = self._size + len(rows), self._size
        if wanted > len(self._room):
            room, few = max(wanted, 2 * len(self._room)), wanted <= FEW
            grown = np.zeros((min(room, FEW) if few else room, rows.shape[1]), np.float32 if few else np.float16)
            grown[:size], measured = self._room[:size], np.zeros((len(grown), 2), np.float32)
            measured[:size] = self._known[:size]
            self._room, self._known = grown, measured
        self._room[size:wanted] = rows
        self._size = wanted
        self._measure(size)

    def at(self, positions: NDArray[np.int64]) -> VectorRows:
        """The rows at these positions. Those that stand here never change, so that nobody need copy them."""
        return VectorRows(self._room, positions, self._known if LIBRARY is not None else None)

    def _measure(self, first: int) -> None:
        """What compiled code need not measure again for every question, of the rows from this one on."""
        if LIBRARY is not None:
            compiled.measure(self._room, first, self._size, self._mean, self._known)
