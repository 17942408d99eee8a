"""Order rows by score, and fuse the rankings of channels by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


SCORE_DECIMALS = 6


def order_rows(scores: Floats, ties: Sequence[Any]) -> tuple[int, ...]:
    """Rows by falling score; of equals the larger name first. Rounded, so that the last bit of a sum decides nothing. What has no score
    that could be compared comes last.

    >>> (
    ...     order_rows(np.array([0.5, 0.9, 0.5000000001]), ["a", "b", "c"]),
    ...     order_rows(np.array([-np.inf, 1.0]), ["a", "b"]),
    ... )
    ((1, 2, 0), (1, 0))
    """
    found = top_rows(scores, ties, len(scores))
    return tuple(found) if len(found) == len(scores) else (*found, *sorted({*range(len(scores))} - {*found}))


def top_rows(scores: Floats, ties: Sequence[Any], count: int) -> list[int]:
    """The first rows of the order, without putting all in order; those at minus infinity are none, and those that
    are no numbers.

    >>> top_rows(np.array([0.5, 0.9, 0.5000000001, -np.inf]), ["a", "b", "c", "d"], 2)
    [1, 2]
    """
    rows, ordered = top_rows_with_ties(scores, count)
    return break_ties(rows, ordered, ties)[:count]


def top_rows_with_ties(scores: Floats, count: int) -> tuple[list[int], Floats | None]:
    """The first rows by falling score and all that equal the last of them, and their scores as they are compared, None if no two are
    equal. Those at minus infinity are none, and those that are no numbers.

    >>> top_rows_with_ties(np.array([0.5, 0.9, 0.7, -np.inf]), 2)
    ([1, 2], None)
    """
    rounded = np.where(np.isnan(scores), -np.inf, scores.round(SCORE_DECIMALS))
    least = -np.inf
    if len(rounded) > count > 0:
        least = np.partition(rounded, len(rounded) - count)[len(rounded) - count]
    rows = ((rounded >= least) & (rounded > -np.inf)).nonzero()[0]
    return _sort_descending(rows, rounded[rows])


def rank_in_channel(scores: Floats, heard: NDArray[np.bool_], ties: Sequence[Any]) -> NDArray[np.int64]:
    """The place of each fact in a channel, from 1; 0 where the channel did not hear it. Equal scores go by `ties`.

    >>> rank_in_channel(np.array([0.2, 0.9, 0.0]), np.array([True, True, False]), ["a", "b", "c"]).tolist()
    [2, 1, 0]
    """
    rows = heard.nonzero()[0]
    places = np.zeros(len(scores), np.int64)
    if len(rows):
        places[break_ties(*_sort_descending(rows, scores[rows].round(SCORE_DECIMALS)), ties)] = np.arange(
            1, len(rows) + 1
        )
    return places


def break_ties(rows: list[int], ordered: Floats | None, ties: Sequence[Any]) -> list[int]:
    """Rows in the order of their numbers, with equals in the order of their names, the larger first. There are few of these, so only
    they are compared.

    >>> break_ties([1, 0, 2], np.array([0.9, 0.5, 0.5]), ["a", "b", "c"])
    [1, 2, 0]
    """
    if ordered is None:
        return rows
    ends = (ordered[1:] != ordered[:-1]).nonzero()[0] + 1
    for first, end in pairwise([0, *ends.tolist(), len(rows)]):
        if end - first > 1:
            rows[first:end] = sorted(rows[first:end], key=ties.__getitem__, reverse=True)
    return rows


def _sort_descending(rows: NDArray[np.int64], rounded: Floats) -> tuple[list[int], Floats | None]:
    """Rows by falling number, and the numbers if any two are equal."""
    order = np.argsort(-rounded, kind="stable")
    ordered = rounded[order]
    return rows[order].tolist(), ordered if (ordered[1:] == ordered[:-1]).any() else None


def scale_values(values: Floats, by: float) -> Floats:
    """Values that count so much; most count once, and need not be copied for it.

    >>> scale_values(np.array([1.0, 2.0]), 0.5).tolist()
    [0.5, 1.0]
    """
    return values if by == 1.0 else by * values


def reciprocal_rank_scores(places: NDArray[np.integer], *, weight: float, k: float) -> Floats:
    """What a channel gives under weighted reciprocal rank fusion: w / (k + rank), nothing to the unheard (Cormack 2009; 000).

    >>> reciprocal_rank_scores(np.array([1, 0]), weight=1.0, k=60).round(4).tolist()
    [0.0164, 0.0]
    """
    return np.where(places > 0, weight / (k + places), 0.0)
