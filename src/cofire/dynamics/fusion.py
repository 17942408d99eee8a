"""Fusion: from what each channel heard to one score a fact. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kernels import picking as compiled
from cofire.kernels.library import LIBRARY

Floats = NDArray[np.float64]


DECIMALS = 6


def order(scores: Floats, ties: Sequence[Any]) -> tuple[int, ...]:
    """Rows by falling score; of equals the larger name first. Rounded, so that the last bit of a sum decides nothing.

    >>> order(np.array([0.5, 0.9, 0.5000000001]), ["a", "b", "c"])
    (1, 2, 0)
    """
    return tuple(best(scores, ties, len(scores)))


def best(scores: Floats, ties: Sequence[Any], count: int) -> list[int]:
    """The first rows of the order, without putting all in order; those at minus infinity are none.

    >>> best(np.array([0.5, 0.9, 0.5000000001, -np.inf]), ["a", "b", "c", "d"], 2)
    [1, 2]
    """
    if LIBRARY is not None:
        rows, found, equals = compiled.best_rows(scores, count)
        return (_untied(rows.tolist(), found, ties) if equals else rows.tolist())[:count]
    rounded = scores.round(DECIMALS)
    least = -np.inf
    if len(rounded) > count > 0:
        least = np.partition(rounded, len(rounded) - count)[len(rounded) - count]
    rows = ((rounded >= least) & (rounded > -np.inf)).nonzero()[0]
    return _falling(rows, rounded[rows], ties)[:count]


def ranks(scores: Floats, heard: NDArray[np.bool_], ties: Sequence[Any]) -> NDArray[np.int64]:
    """The place of each fact in a channel, from 1; 0 where the channel did not hear it. Equal scores go by `ties`.

    >>> ranks(np.array([0.2, 0.9, 0.0]), np.array([True, True, False]), ["a", "b", "c"]).tolist()
    [2, 1, 0]
    """
    rows = heard.nonzero()[0]
    places = np.zeros(len(scores), np.int64)
    if len(rows):
        places[_falling(rows, scores[rows].round(DECIMALS), ties)] = np.arange(1, len(rows) + 1)
    return places


def _falling(rows: NDArray[np.int64], rounded: Floats, ties: Sequence[Any]) -> list[int]:
    """Rows by falling number, of equals the one first whose name is larger."""
    order = np.argsort(-rounded, kind="stable")
    return _untied(rows[order].tolist(), rounded[order], ties)


def _untied(rows: list[int], ordered: Floats, ties: Sequence[Any]) -> list[int]:
    """Rows in the order of their numbers, with equals in the order of their names. There are few of these, so only they are compared."""
    others = ordered[1:] != ordered[:-1]
    if others.all():
        return rows
    for first, end in pairwise([0, *(others.nonzero()[0] + 1).tolist(), len(rows)]):
        if end - first > 1:
            rows[first:end] = sorted(rows[first:end], key=ties.__getitem__, reverse=True)
    return rows


def reciprocal(places: NDArray[np.integer], *, weight: float, k: float) -> Floats:
    """What a channel gives under weighted reciprocal rank fusion: w / (k + rank), nothing to the unheard (Cormack 2009; 000).

    >>> reciprocal(np.array([1, 0]), weight=1.0, k=60).round(4).tolist()
    [0.0164, 0.0]
    """
    return np.where(places > 0, weight / (k + places), 0.0)
