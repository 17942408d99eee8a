"""Vectors in C: how alike a question and facts are. Rows of a table are looked at where they lie, none is copied."""

from __future__ import annotations

from ctypes import c_int64, c_void_p

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, fitting, function, start, whole

_measure_rows = function("measure_rows", c_void_p, *[c_int64] * 4, c_void_p, c_void_p)
_cosines_at = function("cosines_at", c_void_p, *[c_int64] * 3, c_void_p, c_void_p, c_int64, c_void_p, c_void_p)

Floats = NDArray[np.float64]
Table = NDArray[np.float32] | NDArray[np.float16]
# Two numbers a row of a table.
Known = NDArray[np.float32]


def measure(table: Table, first: int, end: int, mean: NDArray[np.float32], known: Known) -> None:
    """Write down the products of these rows of a table with the model's resting point and with themselves."""
    mean = whole(mean, np.float32)
    fits(table, known)
    fitting((table.shape[1], len(mean)), (first, max(first, 0)), (end, min(end, len(table))))
    is_half = table.dtype == np.float16
    counted(_measure_rows(start(table), is_half, table.shape[1], first, end, start(mean), start(known)))


def cosines_at(table: Table, at: NDArray[np.int64], axes: NDArray[np.float32], known: Known | None) -> Floats:
    """Centred cosines of rows of a table with a question; see `dynamics.likeness.axes`. `known` is what `measure` wrote down."""
    fits(table, known)
    axes, at = whole(axes, np.float32), whole(at, np.int64)
    fitting((table.shape[1], axes.shape[1]), (len(axes), 3))
    cosines = np.empty(len(at))
    counted(
        _cosines_at(
            *(start(table), len(table), table.itemsize == 2, table.shape[1]),
            *(None if known is None else start(known), start(at), len(at), start(axes), start(cosines)),
        )
    )
    return cosines


def fits(table: Table, known: Known | None) -> None:
    """Refuse what was measured of another table."""
    if known is not None:
        fitting((known.size, 2 * len(table)))
