"""Fusion: from what each channel heard to one score a fact. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


DECIMALS = 6


def order(scores: Floats, ties: Sequence[str]) -> tuple[int, ...]:
    """Rows by falling score; of equals the larger name first. Rounded, so that the last bit of a sum decides nothing.

    >>> order(np.array([0.5, 0.9, 0.5000000001]), ["a", "b", "c"])
    (1, 2, 0)
    """
    rounded = np.round(scores, DECIMALS).tolist()
    return tuple(sorted(range(len(rounded)), key=lambda row: (rounded[row], ties[row]), reverse=True))


def best(scores: Floats, ties: Sequence[str], count: int) -> list[int]:
    """The first rows of the order, without putting all in order; those at minus infinity are none.

    >>> best(np.array([0.5, 0.9, 0.5000000001, -np.inf]), ["a", "b", "c", "d"], 2)
    [1, 2]
    """
    rounded = np.round(scores, DECIMALS)
    if len(rounded) > count > 0:
        least = np.partition(rounded, len(rounded) - count)[len(rounded) - count]
    else:
        least = -np.inf
    rows = np.flatnonzero((rounded >= least) & (rounded > -np.inf)).tolist()
    return sorted(rows, key=lambda row: (rounded[row], ties[row]), reverse=True)[:count]


def ranks(scores: Floats, heard: NDArray[np.bool_], ties: Sequence[str]) -> list[int | None]:
    """The place of each fact in a channel, from 1; None where the channel did not hear it. Equal scores go by `ties`.

    >>> ranks(np.array([0.2, 0.9, 0.0]), np.array([True, True, False]), "abc")
    [2, 1, None]
    """
    place = {row: rank for rank, row in enumerate((row for row in order(scores, ties) if heard[row]), start=1)}
    return [place.get(row) for row in range(len(scores))]


def reciprocal(place: Sequence[int | None], *, weight: float, k: float) -> Floats:
    """What a channel gives under weighted reciprocal rank fusion: w / (k + rank), nothing to the unheard (Cormack 2009; 000).

    >>> reciprocal([1, None], weight=1.0, k=60).round(4).tolist()
    [0.0164, 0.0]
    """
    return np.array([0.0 if rank is None else weight / (k + rank) for rank in place])


def calibrated(scores: Floats, heard: NDArray[np.bool_], *, weight: float) -> Floats:
    """What a channel gives when its scores are on a known scale: w · score, nothing to the unheard.

    >>> calibrated(np.array([0.5, 0.5]), np.array([True, False]), weight=2.0).tolist()
    [1.0, 0.0]
    """
    return np.where(heard, weight * scores, 0.0)


def fused(parts: Mapping[str, Floats]) -> Floats:
    """The score: the sum of what the channels give."""
    return np.asarray(np.sum(list(parts.values()), axis=0))


def picked(
    saturated: Floats, weights: Floats, rest: Floats, ties: Sequence[str], *, count: int, fading: float
) -> Floats:
    """Scores under which a fact counts for what it adds: words that better facts hold already count less and less.

    Facts are picked one by one, best first, by s·w + rest. After each pick the weight of word j falls by the factor
    1 − fading·sⱼ, where sⱼ is how well the picked fact answers it: maximal marginal relevance (Carbonell, Goldstein 1998)
    reckoned on words. Only the first `count` are picked; the others stay below the last of them.

    >>> alike, other = [[0.9, 0.0], [0.8, 0.0]], [[0.0, 0.7]]
    >>> picked(np.array(alike + other), np.ones(2), np.zeros(3), "cba", count=2, fading=0.5).round(3).tolist()
    [0.9, 0.7, 0.7]
    """
    scores = saturated @ weights + rest
    left = np.ones(len(scores), dtype=np.bool_)
    last = np.inf
    for _ in range(min(count, len(scores))):
        now = np.round(np.where(left, saturated @ weights + rest, -np.inf), DECIMALS)
        best = max(np.flatnonzero(now == now.max()).tolist(), key=lambda row: ties[row])
        scores[best], left[best], last = now[best], False, float(now[best])
        weights = weights * (1 - fading * saturated[best])
    return np.where(left, np.minimum(scores, last - 10.0**-DECIMALS), scores)
