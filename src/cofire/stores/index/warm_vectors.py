"""Warm vectors: the stored vectors of all facts in memory, for a process that asks again and again. Rows go by position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.likeness import VectorRows, wide
from cofire.kernels.library import LIBRARY

Halves = NDArray[np.float16]

# A process that asks once reads the few vectors it needs; one that goes on gathers them all, up to this many.
ASKED_BEFORE = 3
MOST = 200_000
# Without compiled code, so few are kept at single precision, which needs twice the room and no widening.
FEW = 0 if LIBRARY is not None else 128_000


class WarmVectors:
    """An array that grows as facts come. A fact without a vector has a row of zeros."""

    def __init__(self, rows: Halves) -> None:
        self._room: NDArray[Any] = wide(rows) if len(rows) <= FEW else rows
        self._size = len(rows)

    def add(self, rows: Halves) -> None:
        """Append rows for new positions."""
        wanted = self._size + len(rows)
        if wanted > len(self._room):
            room, few = max(wanted, 2 * len(self._room)), wanted <= FEW
            grown = np.zeros((min(room, FEW) if few else room, rows.shape[1]), np.float32 if few else np.float16)
            grown[: self._size] = self._room[: self._size]
            self._room = grown
        self._room[self._size : wanted] = rows
        self._size = wanted

    def at(self, positions: NDArray[np.int64]) -> VectorRows:
        """The rows at these positions. Those that stand here never change, so that nobody need copy them."""
        return VectorRows(self._room, positions)
