"""Ordering: rows of numbers in order, each once, or those that occur; quick for a million of them. In numpy; no I/O."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

WORD_BITS = 63


def in_order(*columns: NDArray[Any]) -> Ints:
    """The rows by the first of these columns of whole numbers, within it by the next; of equals in their order.

    >>> in_order(np.array([1, 0, 1, 1]), np.array([5, 9, -2, 5])).tolist()
    [1, 2, 0, 3]
    """
    packed, row_bits = _packed(columns)
    if packed is not None:
        packed.sort()
        return np.bitwise_and(packed, (1 << row_bits) - 1, out=packed)
    if len(columns) == 1:
        return np.argsort(columns[0], kind="stable")
    later = in_order(*columns[1:])
    return np.asarray(later[in_order(columns[0][later])])


def first_of_each(*columns: Ints) -> Ints:
    """Of rows that are the same in all columns the first; by the first column, within it by the next.

    >>> first_of_each(np.array([2, 1, 2]), np.array([7, 8, 7])).tolist()
    [1, 0]
    """
    packed, row_bits = _packed(columns)
    if packed is None:
        order = in_order(*columns)
        return order[_begins(np.stack(columns)[:, order])]
    packed.sort()
    return packed[_begins((packed >> row_bits)[None])] & ((1 << row_bits) - 1)


def _begins(ordered: Ints) -> NDArray[np.bool_]:
    """Where a column of a matrix is another than the one before."""
    new = np.ones(ordered.shape[1], np.bool_)
    np.any(ordered[:, 1:] != ordered[:, :-1], axis=0, out=new[1:])
    return new


def _packed(columns: tuple[NDArray[Any], ...]) -> tuple[Ints | None, int]:
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


def downwards(values: NDArray[np.float32]) -> Ints:
    """Whole numbers in the order of these numbers, turned around: to sort by the highest first.

    >>> in_order(downwards(np.array([0.5, -1.0, 0.75, -2.0], np.float32))).tolist()
    [2, 0, 1, 3]
    """
    # The bits of a number above 0 grow with it, and those of one below 0 fall; 0 may have a sign, and loses it.
    bits = (values.astype(np.float32) + np.float32(0)).view(np.int32).astype(np.int64)
    return np.where(bits < 0, bits ^ 0x7FFFFFFF, bits) * -1


def nth_of_each(ordered: Ints) -> Ints:
    """How many of the same stand before each of these numbers, which are in order.

    >>> nth_of_each(np.array([3, 3, 5, 5, 5])).tolist()
    [0, 1, 0, 1, 2]
    """
    begins = np.flatnonzero(_begins(ordered[None]))
    return np.arange(len(ordered)) - np.repeat(begins, np.diff(begins, append=len(ordered)))


def occurring(room: int, *columns: Ints) -> Ints:
    """Those of so many rows that occur in any of these columns, in order.

    >>> occurring(5, np.array([4, 1]), np.array([1, 0])).tolist()
    [0, 1, 4]
    """
    used = np.zeros(room, np.bool_)
    for column in columns:
        used[column] = True
    return np.flatnonzero(used)
