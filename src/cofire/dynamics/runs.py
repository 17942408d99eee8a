"""Runs of numbers one after the other, and the strongest of many. In numpy; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Sums of the same numbers in another order are equals.
DECIMALS = 12


def stretched(first: Ints, many: Ints) -> tuple[Ints, Ints]:
    """Runs of so many numbers, each from its first: the place of the run, and the number.

    >>> [found.tolist() for found in stretched(np.array([5, 0, 8]), np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [5, 6, 8, 9, 10]]
    """
    ends = np.cumsum(many)
    run = np.repeat(np.arange(len(many)), many)
    return run, np.arange(len(run)) + (first - ends + many)[run]


def widened(values: NDArray[Any], rows: int, nothing: float = 0) -> NDArray[Any]:
    """An array with as many rows as there are now, or a matrix with as many columns; the new ones hold nothing.

    >>> widened(np.array([1, 2]), 3).tolist()
    [1, 2, 0]
    """
    if rows == values.shape[-1]:
        return values.copy()
    more = np.full((*values.shape[:-1], rows - values.shape[-1]), nothing, values.dtype)
    return np.concatenate([values, more], axis=-1)


def falling(values: Floats, tie: Callable[[int], Any]) -> list[int]:
    """The places of all values, the highest first; of equals that with the smaller `tie`.

    >>> falling(np.array([0.2, 0.5, 0.2]), ["b", "c", "a"].__getitem__)
    [1, 2, 0]
    """
    order = np.argsort(-values, kind="stable")
    places: list[int] = order.tolist()
    ordered = values[order]
    (alike,) = (ordered[1:] == ordered[:-1]).nonzero()
    # Runs of equals, as far as there are any, are put in order by themselves.
    for first, last in _runs(alike.tolist()):
        places[first : last + 2] = sorted(places[first : last + 2], key=tie)
    return places


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of growing numbers that follow one another.

    >>> list(_runs([3, 4, 5, 8]))
    [(3, 5), (8, 8)]
    """
    first = 0
    for at, number in enumerate(numbers, 1):
        if at == len(numbers) or numbers[at] != number + 1:
            yield numbers[first], number
            first = at


def strongest(values: Floats, ties: Sequence[str] | Sequence[int], most: int) -> Ints:
    """The rows of the highest values, the highest first; of equals the smaller of `ties`.

    >>> strongest(np.array([0.2, 0.5, 0.1, 0.2]), ["d", "c", "b", "a"], 2).tolist()
    [1, 3]
    """
    rounded = np.round(values, DECIMALS)
    if len(rounded) > most > 0:
        rows = np.flatnonzero(rounded >= np.partition(rounded, len(rounded) - most)[len(rounded) - most])
    else:
        rows = np.arange(len(rounded))
    ranked = sorted(zip((-rounded[rows]).tolist(), [ties[row] for row in rows.tolist()], rows.tolist(), strict=True))
    return np.array([row for _, _, row in ranked[:most]], np.int64)
