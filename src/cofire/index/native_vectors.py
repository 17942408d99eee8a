"""Native vector functions: cosines, nearest by sign bits, and the highest values by row."""

from __future__ import annotations

from ctypes import c_int64, c_void_p

import numpy as np
from numpy.typing import NDArray

from cofire.index.native import address_of, bind_function, check_count, check_sizes, to_native_array

_measure_rows = bind_function("measure_rows", c_void_p, *[c_int64] * 4, c_void_p, c_void_p)
_cosines_at = bind_function("cosines_at", c_void_p, *[c_int64] * 3, c_void_p, c_void_p, c_int64, c_void_p, c_void_p)

FloatArray = NDArray[np.float64]
VectorTable = NDArray[np.float32] | NDArray[np.float16]
# Two numbers a row of a table.
RowMeasures = NDArray[np.float32]


def measure_rows(table: VectorTable, first: int, end: int, mean: NDArray[np.float32], known: RowMeasures) -> None:
    """Write down the products of these rows of a table with the model's resting point and with themselves."""
    mean = to_native_array(mean, np.float32)
    check_measures(table, known)
    check_sizes((table.shape[1], len(mean)), (first, max(first, 0)), (end, min(end, len(table))))
    is_half = table.dtype == np.float16
    check_count(
        _measure_rows(address_of(table), is_half, table.shape[1], first, end, address_of(mean), address_of(known))
    )


def compute_cosines(
    table: VectorTable, at: NDArray[np.int64], axes: NDArray[np.float32], known: RowMeasures | None
) -> FloatArray:
    """Centred cosines of rows of a table with a question; see `dynamics.likeness.axes`. `known` is what `measure_rows` wrote down."""
    check_measures(table, known)
    axes, at = to_native_array(axes, np.float32), to_native_array(at, np.int64)
    check_sizes((table.shape[1], axes.shape[1]), (len(axes), 3))
    cosines = np.empty(len(at))
    check_count(
        _cosines_at(
            *(address_of(table), len(table), table.itemsize == 2, table.shape[1]),
            *(
                None if known is None else address_of(known),
                address_of(at),
                len(at),
                address_of(axes),
                address_of(cosines),
            ),
        )
    )
    return cosines


def check_measures(table: VectorTable, known: RowMeasures | None) -> None:
    """Refuse what was measured of another table."""
    if known is not None:
        check_sizes((known.size, 2 * len(table)))


_nearest_by_signs = bind_function(
    "nearest_by_signs", c_void_p, *[c_int64] * 3, c_void_p, c_void_p, c_int64, c_void_p, c_void_p
)


class SignBuffers:
    """Room for a distance and a finding of each of so many positions."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.distances = np.empty(size, np.uint16)
        self.found = np.empty(size, np.int64)


def find_nearest_by_signs(
    bits: NDArray[np.uint64], among: NDArray[np.bool_], asked: NDArray[np.uint64], wanted: int, room: SignBuffers
) -> NDArray[np.int64]:
    """Positions of the `wanted` nearest of those allowed, and of all that are as near as the last one. `bits` has a row a word of 64
    signs and a column a position, of which as many as `among` has are in use."""
    words, stride = bits.shape
    among, asked, size = to_native_array(among, np.bool_), to_native_array(asked, np.uint64), len(among)
    check_sizes((len(asked), words), (size, min(size, stride, room.size)))
    distances, found = room.distances, room.found
    count = check_count(
        _nearest_by_signs(
            address_of(bits),
            stride,
            words,
            size,
            address_of(among),
            address_of(asked),
            wanted,
            address_of(distances),
            address_of(found),
        )
    )
    return found[:count].copy()


_keep_highest = bind_function(
    "keep_highest", c_void_p, *[c_int64] * 2, *[c_void_p] * 3, *[c_int64] * 2, c_void_p, c_void_p
)

IntArray = NDArray[np.int64]
NO_NEIGHBOUR = -1


class Shortlist:
    """The `most` highest numbers of so many rows and whose they are, the highest first; of equals who came first. Where fewer came
    there is nobody."""

    def __init__(self, rows: int, most: int) -> None:
        self.best = np.full((rows, most), -np.inf, np.float32)
        self.who = np.full((rows, most), NO_NEIGHBOUR, np.int64)

    def keep(self, block: NDArray[np.float32], names: IntArray, whose: IntArray, own: IntArray) -> None:
        """Look at a block: a column each name, and a row for each of the rows `whose`, which leaves out its own name."""
        block, names = to_native_array(block, np.float32), to_native_array(names, np.int64)
        whose, own = to_native_array(whose, np.int64), to_native_array(own, np.int64)
        check_sizes((block.shape[0], len(whose)), (block.shape[1], len(names)), (len(own), len(whose)))
        check_count(
            _keep_highest(
                *(address_of(block), *block.shape, address_of(names), address_of(whose), address_of(own)),
                *(*self.best.shape, address_of(self.best), address_of(self.who)),
            )
        )
