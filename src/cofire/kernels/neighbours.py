"""Neighbours in C: the highest numbers of many rows, kept while block after block of them comes."""

from __future__ import annotations

from ctypes import c_int64, c_void_p

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, fitting, function, start, whole

_keep_highest = function("keep_highest", c_void_p, *[c_int64] * 2, *[c_void_p] * 3, *[c_int64] * 2, c_void_p, c_void_p)

Ints = NDArray[np.int64]
NOBODY = -1


class Shortlist:
    """The `most` highest numbers of so many rows and whose they are, the highest first; of equals who came first. Where fewer came
    there is nobody."""

    def __init__(self, rows: int, most: int) -> None:
        self.best = np.full((rows, most), -np.inf, np.float32)
        self.who = np.full((rows, most), NOBODY, np.int64)

    def keep(self, block: NDArray[np.float32], names: Ints, whose: Ints, own: Ints) -> None:
        """Look at a block: a column each name, and a row for each of the rows `whose`, which leaves out its own name."""
        block, names = whole(block, np.float32), whole(names, np.int64)
        whose, own = whole(whose, np.int64), whole(own, np.int64)
        fitting((block.shape[0], len(whose)), (block.shape[1], len(names)), (len(own), len(whose)))
        counted(
            _keep_highest(
                *(start(block), *block.shape, start(names), start(whose), start(own)),
                *(*self.best.shape, start(self.best), start(self.who)),
            )
        )
