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
