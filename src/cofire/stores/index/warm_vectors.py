"""Warm vectors: the stored vectors of all facts in memory, for a process that asks again and again. Rows go by position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors

Halves = NDArray[np.float16]

# A process that asks once reads the few vectors it needs; one that goes on gathers them all, up to this many.
ASKED_BEFORE = 3
MOST = 200_000
# So few are kept at single precision, which needs twice the room and no widening.
FEW = 128_000


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

    def at(self, positions: NDArray[np.int64]) -> Vectors:
        found = self._room.take(positions, axis=0)
        return found if found.dtype == np.float32 else wide(found)


def wide(halves: Halves) -> Vectors:
    """Half precision as single. numpy goes number by number; moving the bits of all at once is five times as fast.

    A half has 5 bits of exponent and 10 of fraction. Shifted by 13 they are those of a single 2¹¹² times too small.

    >>> wide(np.array([1.5, -0.25, 6e-8], np.float16)).tolist() == np.array([1.5, -0.25, 6e-8], np.float16).tolist()
    True
    """
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_REST
    numbers = bits.view(np.float32)
    numbers *= _TOO_SMALL
    return numbers


_SIGN_AND_REST, _TOO_SMALL = np.int32(-0x7000_2000), np.float32(2.0**112)
