"""Covering: which words of the question a fact holds, what it adds to another, and a pick that rewards new ones. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.fusion import DECIMALS

Floats = NDArray[np.float64]
Holds = NDArray[np.bool_]


def share(holds: Holds, but: Holds, weights: Floats) -> Floats:
    """The share of the question, weighted by rarity, that rows hold and others do not.

    >>> share(np.array([[True, True]]), np.array([[True, False]]), np.array([0.7, 0.3])).tolist()
    [0.3]
    """
    return (holds & ~but) @ weights


def best_sentence(places: NDArray[np.int64], sentences: NDArray[np.int64], but: Holds, weights: Floats) -> Floats:
    """The share of the question that the best of some sentences holds, a row a fact. `places` has the sentences of each word as
    bits, `sentences` those that count; words that `but` names do not.

    >>> places = np.array([[0b01, 0b10, 0b10]])
    >>> best_sentence(places, np.array([0b10]), np.zeros((1, 3), bool), np.array([0.6, 0.3, 0.1])).tolist()
    [0.4]
    """
    found = np.zeros(len(places))
    for bit in range(_length(int(np.bitwise_or.reduce(sentences, initial=0)))):
        there = (sentences >> bit) & 1 == 1
        if there.any():
            held = ((places[there] >> bit) & 1 == 1) & ~but[there]
            found[there] = np.maximum(found[there], held @ weights)
    return found


def picked(scores: Floats, holds: Holds, weights: Floats, ties: Sequence[str], *, count: int, reward: float) -> Floats:
    """What covering adds to each score when facts are picked one by one, each rewarded for the words it is the first to hold.

    The first pick gets nothing. Those that are not picked lose enough to stay behind the last that is.

    >>> holds = np.array([[True, False], [True, False], [False, True]])
    >>> picked(np.array([1.0, 0.9, 0.8]), holds, np.array([0.5, 0.5]), "cba", count=2, reward=1.0).round(3).tolist()
    [0.0, 0.0, 0.5]
    """
    bonus, left, covered = np.zeros(len(scores)), np.ones(len(scores), np.bool_), np.zeros(holds.shape[1], np.bool_)
    last = np.inf
    for turn in range(min(count, len(scores))):
        gain = reward * share(holds, covered[None, :], weights) if turn else np.zeros(len(scores))
        now = np.round(np.where(left, scores + gain, -np.inf), DECIMALS)
        best = max(np.flatnonzero(now == now.max()).tolist(), key=lambda row: ties[row])
        bonus[best], left[best], last = gain[best], False, min(last, float(now[best]))
        covered = covered | holds[best]
    return np.where(left, np.minimum(0.0, last - 10.0**-DECIMALS - scores), bonus)


def _length(bits: int) -> int:
    return bits.bit_length() if bits >= 0 else 64
