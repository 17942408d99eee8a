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
    """The weighted share of the question's words that `holds` has and `but` has not, a row per fact.

    >>> added_word_share(np.array([[True, True]]), np.array([[True, False]]), np.array([0.7, 0.3])).tolist()
    [0.3]
    """
    return (holds & ~but) @ weights


def best_sentence_share(
    places: NDArray[np.int64], sentences: NDArray[np.int64], but: WordMatches, weights: Floats
) -> Floats:
    """The weighted share of the question's words in the best sentence of each fact, a row per fact.

    `places` has the sentences of each word as bits, `sentences` the sentences that count. Words in `but` do
    not count.

    >>> places = np.array([[0b01, 0b10, 0b10]])
    >>> best_sentence_share(places, np.array([0b10]), np.zeros((1, 3), bool), np.array([0.6, 0.3, 0.1])).tolist()
    [0.4]
    """
    bits = _bit_positions(int(np.bitwise_or.reduce(sentences, initial=0)))
    if not len(bits):
        return np.zeros(len(places))
    sentence_words = (np.where(but, 0, places)[:, None, :] >> bits[:, None]) & 1
    counted = (sentences[:, None] >> bits) & 1
    shares = (sentence_words @ weights) * counted
    return np.asarray(shares.max(axis=1))


def coverage_bonuses(
    scores: Floats, holds: WordMatches, weights: Floats, ties: Sequence[str], *, count: int, reward: float
) -> Floats:
    """The addition to each score when facts are picked greedily, each rewarded for words that no pick before holds.

    The first pick gets no reward. Facts that are not picked lose enough to stay behind the last pick.

    >>> holds = np.array([[True, False], [True, False], [False, True]])
    >>> coverage_bonuses(np.array([1.0, 0.9, 0.8]), holds, np.array([0.5, 0.5]), "cba", count=2, reward=1.0).round(
    ...     3
    ... ).tolist()
    [0.0, 0.0, 0.5]
    """
    # For few words and facts plain Python is faster than arrays. The words of a fact are the bits of an integer.
    plain = scores.tolist()
    words = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(holds, axis=1, bitorder="little")]
    weighed: list[tuple[int, float]] = [(1 << word, weight) for word, weight in enumerate(weights.tolist())]

    @cache
    def reward_words(word_bits: int) -> float:
        return reward * sum([weight for word, weight in weighed if word_bits & word])

    sort_keys = [(_round_score(score), tie) for score, tie in zip(plain, ties, strict=True)]
    gains = [0.0] * len(plain)
    bonus: dict[int, float] = {}
    remaining = set(range(len(plain)))
    covered = 0
    lowest = np.inf
    for turn in range(min(count, len(plain))):
        best = max(remaining, key=sort_keys.__getitem__)
        bonus[best] = gains[best]
        lowest = min(lowest, sort_keys[best][0])
        remaining.remove(best)
        new_words = words[best] & ~covered
        covered |= words[best]
        if count >= len(plain) and not any(words[row] & ~covered for row in remaining):
            return np.array([bonus.get(row, 0.0) for row in range(len(plain))])
        for row in remaining:
            if not turn or new_words & words[row]:
                gains[row] = reward_words(words[row] & ~covered)
                sort_keys[row] = _round_score(plain[row] + gains[row]), ties[row]
    behind = lowest - 1 / SCORE_SCALE
    return np.array([bonus[row] if row in bonus else min(0.0, behind - plain[row]) for row in range(len(plain))])


def _round_score(score: float) -> float:
    """A score rounded as numpy rounds it."""
    return round(score * SCORE_SCALE) / SCORE_SCALE if isfinite(score) else score


def _bit_positions(mask: int) -> NDArray[np.int64]:
    """The positions of the set bits of a 64-bit integer.

    >>> _bit_positions(0b1010).tolist(), _bit_positions(-1).tolist() == list(range(64))
    ([1, 3], True)
    """
    return np.array([bit for bit in range(64) if mask >> bit & 1], np.int64)
