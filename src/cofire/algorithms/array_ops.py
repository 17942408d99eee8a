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
    """The rows by the first of these columns of whole numbers, within it by the next; of equals in their order.

    >>> sort_order(np.array([1, 0, 1, 1]), np.array([5, 9, -2, 5])).tolist()
    [1, 2, 0, 3]
    """
    packed, row_bits = _pack_columns(columns)
    if packed is not None:
        packed.sort()
        return np.bitwise_and(packed, (1 << row_bits) - 1, out=packed)
    if len(columns) == 1:
        return np.argsort(columns[0], kind="stable")
    later = sort_order(*columns[1:])
    return np.asarray(later[sort_order(columns[0][later])])


def first_unique_rows(*columns: Ints) -> Ints:
    """Of rows that are the same in all columns the first; by the first column, within it by the next.

    >>> first_unique_rows(np.array([2, 1, 2]), np.array([7, 8, 7])).tolist()
    [1, 0]
    """
    packed, row_bits = _pack_columns(columns)
    if packed is None:
        order = sort_order(*columns)
        return order[_mark_group_starts(np.stack(columns)[:, order])]
    packed.sort()
    return packed[_mark_group_starts((packed >> row_bits)[None])] & ((1 << row_bits) - 1)


def _mark_group_starts(ordered: Ints) -> NDArray[np.bool_]:
    """Where a column of a matrix is another than the one before."""
    new = np.ones(ordered.shape[1], np.bool_)
    np.any(ordered[:, 1:] != ordered[:, :-1], axis=0, out=new[1:])
    return new


def _pack_columns(columns: tuple[NDArray[Any], ...]) -> tuple[Ints | None, int]:
    """A row as one word that carries its place, as such words are sorted many times as fast as places; None where there is no room
    for it. And how many bits the place has."""
    if not len(columns[0]):
        return np.zeros(0, np.int64), 0
    numbered = (*columns, np.arange(len(columns[0])))
    least = [int(column.min()) for column in numbered]
    bits = [(int(column.max()) - low).bit_length() for column, low in zip(numbered, least, strict=True)]
    if sum(bits) > WORD_BITS:
        return None, 0
    word = np.zeros(len(columns[0]), np.int64)
    for column, low, room in zip(numbered, least, bits, strict=True):
        word = word << room | (column.astype(np.int64, copy=False) - low)
    return word, bits[-1]


def descending_keys(values: NDArray[np.float32]) -> Ints:
    """Whole numbers in the order of these numbers, turned around: to sort by the highest first.

    >>> sort_order(descending_keys(np.array([0.5, -1.0, 0.75, -2.0], np.float32))).tolist()
    [2, 0, 1, 3]
    """
    # The bits of a number above 0 grow with it, and those of one below 0 fall; 0 may have a sign, and loses it.
    bits = (values.astype(np.float32) + np.float32(0)).view(np.int32).astype(np.int64)
    return np.where(bits < 0, bits ^ 0x7FFFFFFF, bits) * -1


def positions_in_groups(ordered: Ints) -> Ints:
    """How many of the same stand before each of these numbers, which are in order.

    >>> positions_in_groups(np.array([3, 3, 5, 5, 5])).tolist()
    [0, 1, 0, 1, 2]
    """
    begins = np.flatnonzero(_mark_group_starts(ordered[None]))
    return np.arange(len(ordered)) - np.repeat(begins, np.diff(begins, append=len(ordered)))


def list_occurring_rows(room: int, *columns: Ints) -> Ints:
    """Those of so many rows that occur in any of these columns, in order.

    >>> list_occurring_rows(5, np.array([4, 1]), np.array([1, 0])).tolist()
    [0, 1, 4]
    """
    used = np.zeros(room, np.bool_)
    for column in columns:
        used[column] = True
    return np.flatnonzero(used)


Floats = NDArray[np.float64]

# Sums of the same numbers in another order are equals.
TIE_DECIMALS = 12


def expand_runs(first: Ints, many: Ints) -> tuple[Ints, Ints]:
    """Runs of so many numbers, each from its first: the place of the run, and the number.

    >>> [found.tolist() for found in expand_runs(np.array([5, 0, 8]), np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [5, 6, 8, 9, 10]]
    """
    ends = np.cumsum(many)
    run = np.repeat(np.arange(len(many)), many)
    return run, np.arange(len(run)) + (first - ends + many)[run]


def widen_half_floats(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Half precision as single. numpy converts number by number; shifting the bits of all at once is five times as fast.

    A half has 5 bits of exponent and 10 of fraction. Shifted by 13 they are those of a single 2¹¹² times too small.

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
    """None for a number that is missing.

    >>> nan_to_none(0.5), nan_to_none(math.nan)
    (0.5, None)
    """
    return None if math.isnan(number) else number


def pad_last_axis(values: NDArray[Any], rows: int, nothing: float = 0) -> NDArray[Any]:
    """An array with as many rows as there are now, or a matrix with as many columns; the new ones hold nothing.

    >>> pad_last_axis(np.array([1, 2]), 3).tolist()
    [1, 2, 0]
    """
    if rows == values.shape[-1]:
        return values.copy()
    more = np.full((*values.shape[:-1], rows - values.shape[-1]), nothing, values.dtype)
    return np.concatenate([values, more], axis=-1)


def order_descending(values: Floats, tie: Callable[[int], Any]) -> list[int]:
    """The places of all values, the highest first; of equals that with the smaller `tie`.

    >>> order_descending(np.array([0.2, 0.5, 0.2]), ["b", "c", "a"].__getitem__)
    [1, 2, 0]
    """
    order = np.argsort(-values, kind="stable")
    places: list[int] = order.tolist()
    ordered = values[order]
    (alike,) = (ordered[1:] == ordered[:-1]).nonzero()
    # Runs of equals, as far as there are any, are put in order by themselves.
    for first, last in _consecutive_runs(alike.tolist()):
        places[first : last + 2] = sorted(places[first : last + 2], key=tie)
    return places


def _consecutive_runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of growing numbers that follow one another.

    >>> list(_consecutive_runs([3, 4, 5, 8]))
    [(3, 5), (8, 8)]
    """
    first = 0
    for at, number in enumerate(numbers, 1):
        if at == len(numbers) or numbers[at] != number + 1:
            yield numbers[first], number
            first = at


def strongest_rows(values: Floats, ties: Sequence[str] | Sequence[int], most: int) -> Ints:
    """The rows of the highest values, the highest first; of equals the smaller of `ties`.

    >>> strongest_rows(np.array([0.2, 0.5, 0.1, 0.2]), ["d", "c", "b", "a"], 2).tolist()
    [1, 3]
    """
    rounded = np.round(values, TIE_DECIMALS)
    if len(rounded) > most > 0:
        rows = np.flatnonzero(rounded >= np.partition(rounded, len(rounded) - most)[len(rounded) - most])
    else:
        rows = np.arange(len(rounded))
    ranked = sorted(zip((-rounded[rows]).tolist(), [ties[row] for row in rows.tolist()], rows.tolist(), strict=True))
    return np.array([row for _, _, row in ranked[:most]], np.int64)
