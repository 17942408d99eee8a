"""Signs in C: which vectors are near by the signs of their numbers."""

from __future__ import annotations

from ctypes import c_int64, c_void_p

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, fitting, function, start, whole

_nearest_by_signs = function(
    "nearest_by_signs", c_void_p, *[c_int64] * 3, c_void_p, c_void_p, c_int64, c_void_p, c_void_p
)


class Room:
    """Room for a distance and a finding of each of so many positions."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.distances = np.empty(size, np.uint16)
        self.found = np.empty(size, np.int64)


def nearest(
    bits: NDArray[np.uint64], among: NDArray[np.bool_], asked: NDArray[np.uint64], wanted: int, room: Room
) -> NDArray[np.int64]:
    """Positions of the `wanted` nearest of those allowed, and of all that are as near as the last one. `bits` has a row a word of 64
    signs and a column a position, of which as many as `among` has are in use."""
    words, stride = bits.shape
    among, asked, size = whole(among, np.bool_), whole(asked, np.uint64), len(among)
    fitting((len(asked), words), (size, min(size, stride, room.size)))
    distances, found = room.distances, room.found
    count = counted(
        _nearest_by_signs(
            start(bits), stride, words, size, start(among), start(asked), wanted, start(distances), start(found)
        )
    )
    return found[:count].copy()
