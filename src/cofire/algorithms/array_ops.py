"""Sort, group, expand and select rows of numpy arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

WORD_BITS = 63


def sort_order(*columns: NDArray[Any]) -> Ints:
    """The row numbers sorted by columns of integers, the first column first. Equal rows keep their order.

    >>> sort_order(np.array([1, 0, 1, 1]), np.array([5, 9, -2, 5])).tolist()
    [1, 2, 0, 3]
    """
    packed, row_bits = _pack_columns(columns)
    if packed is not None:
        packed.sort()
        return np.bitwise_and(packed, (1 << row_bits) - 1, out=packed)
    if len(columns) == 1:
        return np.argsort(columns[0], kind="stable")
    by_later_columns = sort_order(*columns[1:])
    return np.asarray(by_later_columns[sort_order(columns[0][by_later_columns])])


def first_unique_rows(*columns: Ints) -> Ints:
    """The first of each group of equal rows, sorted by the columns, the first column first.

    >>> first_unique_rows(np.array([2, 1, 2]), np.array([7, 8, 7])).tolist()
    [1, 0]
    """
    packed, row_bits = _pack_columns(columns)
    if packed is None:
        order = sort_order(*columns)
        return order[_mark_group_starts(np.stack(columns)[:, order])]
    packed.sort()
    values = packed >> row_bits
    first = packed[_mark_group_starts(values[None])]
    return first & ((1 << row_bits) - 1)


def _mark_group_starts(ordered: Ints) -> NDArray[np.bool_]:
    """Mark the columns of a matrix that differ from the column before."""
    new = np.ones(ordered.shape[1], np.bool_)
    np.any(ordered[:, 1:] != ordered[:, :-1], axis=0, out=new[1:])
    return new


def _pack_columns(columns: tuple[NDArray[Any], ...]) -> tuple[Ints | None, int]:
    """Each row packed into one integer with its row number in the lowest bits, and the number of those bits.

    Sorting such integers is many times as fast as sorting row numbers. None if a row needs too many bits.
    """
    if not len(columns[0]):
        return np.zeros(0, np.int64), 0
    numbered = (*columns, np.arange(len(columns[0])))
    least = [int(column.min()) for column in numbered]
    bits = [(int(column.max()) - low).bit_length() for column, low in zip(numbered, least, strict=True)]
    if sum(bits) > WORD_BITS:
        return None, 0
    packed = np.zeros(len(columns[0]), np.int64)
    for column, low, width in zip(numbered, least, bits, strict=True):
        packed = packed << width | (column.astype(np.int64, copy=False) - low)
    return packed, bits[-1]


def descending_keys(values: NDArray[np.float32]) -> Ints:
    """Integers that sort in descending order of these numbers.

    >>> sort_order(descending_keys(np.array([0.5, -1.0, 0.75, -2.0], np.float32))).tolist()
    [2, 0, 1, 3]
    """
    # As integers, the bits of positive floats ascend and those of negative floats descend. Adding 0 turns -0 into 0.
    bits = (values.astype(np.float32) + np.float32(0)).view(np.int32).astype(np.int64)
    return np.where(bits < 0, bits ^ 0x7FFFFFFF, bits) * -1


def positions_in_groups(ordered: Ints) -> Ints:
    """The position of each number within its run of equal numbers. The numbers are sorted.

    >>> positions_in_groups(np.array([3, 3, 5, 5, 5])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = np.flatnonzero(_mark_group_starts(ordered[None]))
    lengths = np.diff(starts, append=len(ordered))
    return np.arange(len(ordered)) - np.repeat(starts, lengths)


def list_occurring_rows(room: int, *columns: Ints) -> Ints:
    """The row numbers below `room` that occur in any of these columns, sorted.

    >>> list_occurring_rows(5, np.array([4, 1]), np.array([1, 0])).tolist()
    [0, 1, 4]
    """
    used = np.zeros(room, np.bool_)
    for column in columns:
        used[column] = True
    return np.flatnonzero(used)


Floats = NDArray[np.float64]

# Values are compared rounded: sums of the same numbers in another order are equal.
TIE_DECIMALS = 12


def expand_runs(first: Ints, many: Ints) -> tuple[Ints, Ints]:
    """Expand runs of consecutive integers, given by first value and length, into run numbers and values.

    >>> [column.tolist() for column in expand_runs(np.array([5, 0, 8]), np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [5, 6, 8, 9, 10]]
    """
    ends = np.cumsum(many)
    run = np.repeat(np.arange(len(many)), many)
    return run, np.arange(len(run)) + (first - ends + many)[run]


def widen_half_floats(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Half precision as single precision. Shifting bits is five times as fast as numpy's conversion.

    A half has 5 bits of exponent and 10 of fraction. Shifted by 13 they make a single that is 2¹¹² times too small.

    >>> widen_half_floats(np.array([1.5, -0.25, 6e-8], np.float16)).tolist() == np.array(
    ...     [1.5, -0.25, 6e-8], np.float16
    ... ).tolist()
    True
    """
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _HALF_FLOAT_MASK
    numbers = bits.view(np.float32)
    numbers *= _HALF_FLOAT_SCALE
    return numbers


_HALF_FLOAT_MASK, _HALF_FLOAT_SCALE = np.int32(-0x7000_2000), np.float32(2.0**112)


def nan_to_none(number: float) -> float | None:
    """None for NaN, otherwise the number.

    >>> nan_to_none(0.5), nan_to_none(math.nan)
    (0.5, None)
    """
    return None if math.isnan(number) else number


def pad_last_axis(values: NDArray[Any], rows: int, nothing: float = 0) -> NDArray[Any]:
    """A copy whose last axis has the length `rows`; the new entries are `nothing`.

    >>> pad_last_axis(np.array([1, 2]), 3).tolist()
    [1, 2, 0]
    """
    if rows == values.shape[-1]:
        return values.copy()
    more = np.full((*values.shape[:-1], rows - values.shape[-1]), nothing, values.dtype)
    return np.concatenate([values, more], axis=-1)


def order_descending(values: Floats, tie: Callable[[int], Any]) -> list[int]:
    """The indices of the values, the highest first. Of equal values the smaller `tie` comes first.

    >>> order_descending(np.array([0.2, 0.5, 0.2]), ["b", "c", "a"].__getitem__)
    [1, 2, 0]
    """
    order = np.argsort(-values, kind="stable")
    indices: list[int] = order.tolist()
    ordered = values[order]
    (equal_to_next,) = (ordered[1:] == ordered[:-1]).nonzero()
    # Only runs of equal values need ties.
    for first, last in _consecutive_runs(equal_to_next.tolist()):
        indices[first : last + 2] = sorted(indices[first : last + 2], key=tie)
    return indices


def _consecutive_runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last number of each run of consecutive integers.

    >>> list(_consecutive_runs([3, 4, 5, 8]))
    [(3, 5), (8, 8)]
    """
    first = 0
    for at, number in enumerate(numbers, 1):
        if at == len(numbers) or numbers[at] != number + 1:
            yield numbers[first], number
            first = at


def strongest_rows(values: Floats, ties: Sequence[str] | Sequence[int], most: int) -> Ints:
    """The rows of the highest values, the highest first. Of equal values the smaller of `ties` comes first.

    >>> strongest_rows(np.array([0.2, 0.5, 0.1, 0.2]), ["d", "c", "b", "a"], 2).tolist()
    [1, 3]
    """
    rounded = np.round(values, TIE_DECIMALS)
    if len(rounded) > most > 0:
        cut = len(rounded) - most
        rows = np.flatnonzero(rounded >= np.partition(rounded, cut)[cut])
    else:
        rows = np.arange(len(rounded))
    ranked = sorted(zip((-rounded[rows]).tolist(), [ties[row] for row in rows.tolist()], rows.tolist(), strict=True))
    return np.array([row for _, _, row in ranked[:most]], np.int64)
