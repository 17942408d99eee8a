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
    """The rows by descending score. Of equal scores the larger of `ties` comes first.

    Scores are rounded, so that the last bit of a sum decides nothing. Rows with −inf or NaN come last.

    >>> (
    ...     order_rows(np.array([0.5, 0.9, 0.5000000001]), ["a", "b", "c"]),
    ...     order_rows(np.array([-np.inf, 1.0]), ["a", "b"]),
    ... )
    ((1, 2, 0), (1, 0))
    """
    scored_rows = top_rows(scores, ties, len(scores))
    other_rows = set(range(len(scores))) - set(scored_rows)
    return (*scored_rows, *sorted(other_rows))


def top_rows(scores: Floats, ties: Sequence[Any], count: int) -> list[int]:
    """The first `count` rows by descending score, without sorting all. Rows with −inf or NaN are left out.

    >>> top_rows(np.array([0.5, 0.9, 0.5000000001, -np.inf]), ["a", "b", "c", "d"], 2)
    [1, 2]
    """
    rows, ordered = top_rows_with_ties(scores, count)
    return break_ties(rows, ordered, ties)[:count]


def top_rows_with_ties(scores: Floats, count: int) -> tuple[list[int], Floats | None]:
    """The first `count` rows by descending score and all rows that equal the last of them.

    The second value is their rounded scores, None if no two are equal. Rows with −inf or NaN are left out.

    >>> top_rows_with_ties(np.array([0.5, 0.9, 0.7, -np.inf]), 2)
    ([1, 2], None)
    """
    rounded = np.where(np.isnan(scores), -np.inf, scores.round(SCORE_DECIMALS))
    least = -np.inf
    if len(rounded) > count > 0:
        cut = len(rounded) - count
        least = np.partition(rounded, cut)[cut]
    rows = ((rounded >= least) & (rounded > -np.inf)).nonzero()[0]
    return _sort_descending(rows, rounded[rows])


def rank_in_channel(scores: Floats, heard: NDArray[np.bool_], ties: Sequence[Any]) -> NDArray[np.int64]:
    """The rank of each fact in a channel, from 1; 0 if the channel did not propose it. Equal scores go by `ties`.

    >>> rank_in_channel(np.array([0.2, 0.9, 0.0]), np.array([True, True, False]), ["a", "b", "c"]).tolist()
    [2, 1, 0]
    """
    rows = heard.nonzero()[0]
    places = np.zeros(len(scores), np.int64)
    if len(rows):
        rounded = scores[rows].round(SCORE_DECIMALS)
        ranked_rows = break_ties(*_sort_descending(rows, rounded), ties)
        places[ranked_rows] = np.arange(1, len(rows) + 1)
    return places


def break_ties(rows: list[int], ordered: Floats | None, ties: Sequence[Any]) -> list[int]:
    """Sorted rows with rows of equal scores sorted by `ties`, the larger first.

    Equal scores are few, so only their ties are compared.

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
    """The rows by descending score, and the scores if any two are equal, otherwise None."""
    order = np.argsort(-rounded, kind="stable")
    ordered = rounded[order]
    has_ties = (ordered[1:] == ordered[:-1]).any()
    return rows[order].tolist(), ordered if has_ties else None


def reciprocal_rank_scores(places: NDArray[np.integer], *, weight: float, k: float) -> Floats:
    """Weighted reciprocal rank fusion: w / (k + rank), 0 for facts without a rank (Cormack 2009; 000).

    >>> reciprocal_rank_scores(np.array([1, 0]), weight=1.0, k=60).round(4).tolist()
    [0.0164, 0.0]
    """
    return np.where(places > 0, weight / (k + places), 0.0)
