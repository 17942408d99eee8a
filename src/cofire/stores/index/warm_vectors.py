"""Warm vectors: the stored vectors of all facts in memory, for a process that asks again and again. Rows go by position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors

Halves = NDArray[np.float16]

# A process that asks once reads the few vectors it needs; one that goes on gathers them all, up to this many.
ASKED_BEFORE = 3
MOST = 200_000


class WarmVectors:
    """An array that grows as facts come. A fact without a vector has a row of zeros."""

    def __init__(self, rows: Halves) -> None:
        self._room = rows
        self._size = len(rows)

    def add(self, rows: Halves) -> None:
        """Append rows for new positions."""
        wanted = self._size + len(rows)
        if wanted > len(self._room):
            grown = np.zeros((max(wanted, 2 * len(self._room)), rows.shape[1]), np.float16)
            grown[: self._size] = self._room[: self._size]
            self._room = grown
        self._room[self._size : wanted] = rows
        self._size = wanted

    def at(self, positions: NDArray[np.int64]) -> Vectors:
        return self._room[positions].astype(np.float32)
