"""Fusion: from what each channel heard to one score a fact. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


DECIMALS = 6


def order(scores: Floats, ties: Sequence[str] | NDArray[np.integer]) -> tuple[int, ...]:
    """Rows by falling score; of equals the larger name first. Rounded, so that the last bit of a sum decides nothing.

    >>> order(np.array([0.5, 0.9, 0.5000000001]), ["a", "b", "c"])
    (1, 2, 0)
    """
    return tuple(np.lexsort((np.asarray(ties), np.round(scores, DECIMALS)))[::-1].tolist())


def best(scores: Floats, ties: Sequence[str] | NDArray[np.integer], count: int) -> list[int]:
    """The first rows of the order, without putting all in order; those at minus infinity are none.

    >>> best(np.array([0.5, 0.9, 0.5000000001, -np.inf]), ["a", "b", "c", "d"], 2)
    [1, 2]
    """
    rounded = np.round(scores, DECIMALS)
    least = -np.inf
    if len(rounded) > count > 0:
        least = np.partition(rounded, len(rounded) - count)[len(rounded) - count]
    rows = np.flatnonzero((rounded >= least) & (rounded > -np.inf)).tolist()
    return sorted(rows, key=lambda row: (rounded[row], ties[row]), reverse=True)[:count]


def ranks(scores: Floats, heard: NDArray[np.bool_], ties: Sequence[str] | NDArray[np.integer]) -> NDArray[np.int64]:
    """The place of each fact in a channel, from 1; 0 where the channel did not hear it. Equal scores go by `ties`.

    >>> ranks(np.array([0.2, 0.9, 0.0]), np.array([True, True, False]), ["a", "b", "c"]).tolist()
    [2, 1, 0]
    """
    rows = np.flatnonzero(heard)
    places = np.zeros(len(scores), np.int64)
    if not len(rows):
        return places
    order = np.lexsort((np.asarray(ties)[rows], np.round(scores[rows], DECIMALS)))[::-1]
    places[rows[order]] = np.arange(1, len(rows) + 1)
    return places


def reciprocal(places: NDArray[np.integer], *, weight: float, k: float) -> Floats:
    """What a channel gives under weighted reciprocal rank fusion: w / (k + rank), nothing to the unheard (Cormack 2009; 000).

    >>> reciprocal(np.array([1, 0]), weight=1.0, k=60).round(4).tolist()
    [0.0164, 0.0]
    """
    return np.where(places > 0, weight / (k + places), 0.0)
