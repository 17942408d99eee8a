"""Which question words a fact covers, and a greedy selection that rewards new ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.rank_fusion import SCORE_DECIMALS

Floats = NDArray[np.float64]
WordMatches = NDArray[np.bool_]

SCORE_SCALE = 10.0**SCORE_DECIMALS


def added_word_share(holds: WordMatches, but: WordMatches, weights: Floats) -> Floats:
    """The share of the question, weighted by rarity, that rows hold and others do not.

    >>> added_word_share(np.array([[True, True]]), np.array([[True, False]]), np.array([0.7, 0.3])).tolist()
    [0.3]
    """
    return (holds & ~but) @ weights


def best_sentence_share(
    places: NDArray[np.int64], sentences: NDArray[np.int64], but: WordMatches, weights: Floats
) -> Floats:
    """The share of the question that the best of some sentences holds, a row a fact. `places` has the sentences of each word as
    bits, `sentences` those that count; words that `but` names do not.

    >>> places = np.array([[0b01, 0b10, 0b10]])
    >>> best_sentence_share(places, np.array([0b10]), np.zeros((1, 3), bool), np.array([0.6, 0.3, 0.1])).tolist()
    [0.4]
    """
    bits = _bit_positions(int(np.bitwise_or.reduce(sentences, initial=0)))
    if not len(bits):
        return np.zeros(len(places))
    held = (np.where(but, 0, places)[:, None, :] >> bits[:, None]) & 1
    shares = (held @ weights) * ((sentences[:, None] >> bits) & 1)
    return np.asarray(shares.max(axis=1))


def coverage_bonuses(
    scores: Floats, holds: WordMatches, weights: Floats, ties: Sequence[str], *, count: int, reward: float
) -> Floats:
    """What covering adds to each score when facts are picked one by one, each rewarded for the words it is the first to hold.

    The first pick gets nothing. Those that are not picked lose enough to stay behind the last that is.

    >>> holds = np.array([[True, False], [True, False], [False, True]])
    >>> coverage_bonuses(np.array([1.0, 0.9, 0.8]), holds, np.array([0.5, 0.5]), "cba", count=2, reward=1.0).round(
    ...     3
    ... ).tolist()
    [0.0, 0.0, 0.5]
    """
    # A handful of words and facts: counting by hand is quicker than with arrays. The words of a fact are the bits of a number.
    plain = scores.tolist()
    words = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(holds, axis=1, bitorder="little")]
    weighed: list[tuple[int, float]] = [(1 << word, weight) for word, weight in enumerate(weights.tolist())]

    @cache
    def worth(held: int) -> float:
        return reward * sum([weight for word, weight in weighed if held & word])

    stands = [(_round_score(score), tie) for score, tie in zip(plain, ties, strict=True)]
    gains, bonus = [0.0] * len(plain), dict[int, float]()
    left, covered, last = set(range(len(plain))), 0, np.inf
    for turn in range(min(count, len(plain))):
        best = max(left, key=stands.__getitem__)
        bonus[best], last = gains[best], min(last, stands[best][0])
        left.remove(best)
        new, covered = words[best] & ~covered, covered | words[best]
        if count >= len(plain) and not any(words[row] & ~covered for row in left):
            return np.array([bonus.get(row, 0.0) for row in range(len(plain))])
        for row in left:
            if not turn or new & words[row]:
                gains[row] = worth(words[row] & ~covered)
                stands[row] = _round_score(plain[row] + gains[row]), ties[row]
    behind = last - 1 / SCORE_SCALE
    return np.array([bonus[row] if row in bonus else min(0.0, behind - plain[row]) for row in range(len(plain))])


def _round_score(score: float) -> float:
    """A score as others are compared with it, in the way of numpy."""
    return round(score * SCORE_SCALE) / SCORE_SCALE if isfinite(score) else score


def _bit_positions(mask: int) -> NDArray[np.int64]:
    """The places of the bits that are set in a number of 64.

    >>> _bit_positions(0b1010).tolist(), _bit_positions(-1).tolist() == list(range(64))
    ([1, 3], True)
    """
    return np.array([bit for bit in range(64) if mask >> bit & 1], np.int64)
