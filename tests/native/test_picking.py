"""Picking: compiled code puts scores in the order in which numpy puts them, and rewards what covers the question alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cofire.algorithms.coverage import coverage_bonuses
from cofire.algorithms.rank_fusion import order_rows, top_rows
from cofire.index import native_scoring
from tests.native.twins import NEEDS_LIBRARY, both, in_numpy

pytestmark = NEEDS_LIBRARY

seeds = st.integers(0, 2**32 - 1)


def scores_of(seed: int, many: int, *, tied: bool) -> NDArray[np.float64]:
    """Scores of which some are equal, some differ beyond the sixth decimal, some are minus infinity, and some no numbers."""
    chance = np.random.default_rng(seed)
    scores = chance.integers(-3, 4, many) / 2 + 1e-9 * chance.random(many) if tied else chance.standard_normal(many)
    scores = np.where(chance.random(many) < 0.1, -np.inf, scores)
    return np.where(chance.random(many) < 0.1, np.nan, scores)


def names_of(seed: int, many: int) -> list[str]:
    return [f"{number:026}" for number in np.random.default_rng(seed + 1).permutation(many).tolist()]


@given(seed=seeds, many=st.integers(0, 90), count=st.integers(0, 100), tied=st.booleans())
def test_the_best_rows_are_the_same(seed: int, many: int, count: int, tied: bool) -> None:
    scores, names = scores_of(seed, many, tied=tied), names_of(seed, many)
    compiled, numpy = both("best_rows", lambda: top_rows(scores, names, count))
    assert compiled == numpy


@given(seed=seeds, many=st.integers(0, 90), tied=st.booleans())
def test_the_order_is_the_same(seed: int, many: int, tied: bool) -> None:
    scores, names = scores_of(seed, many, tied=tied), names_of(seed, many)
    compiled, numpy = both("best_rows", lambda: order_rows(scores, names))
    assert compiled == numpy
    assert sorted(compiled) == list(range(many))


@given(
    seed=seeds,
    facts=st.integers(0, 25),
    words=st.integers(0, 64),
    count=st.integers(0, 30),
    reward=st.sampled_from([0.0, 0.3, 1.5]),
    tied=st.booleans(),
)
def test_what_covering_gives_is_the_same(
    seed: int, facts: int, words: int, count: int, *, reward: float, tied: bool
) -> None:
    chance = np.random.default_rng(seed)
    scores = np.nan_to_num(scores_of(seed, facts, tied=tied), nan=0.5, neginf=-1.0)
    holds, weights = chance.random((facts, words)) < 0.2, chance.random(words)
    names = names_of(seed, facts)
    compiled, numpy = both(
        "pick_by_covering", lambda: coverage_bonuses(scores, holds, weights, names, count=count, reward=reward)
    )
    np.testing.assert_allclose(compiled, numpy, rtol=0, atol=1e-12)


def test_a_question_of_more_words_than_a_number_has_bits_is_covered_too() -> None:
    holds, weights = np.eye(3, 70, dtype=np.bool_), np.full(70, 1 / 70)
    bonus = coverage_bonuses(np.array([1.0, 0.9, 0.8]), holds, weights, "abc", count=3, reward=7.0)
    with in_numpy():
        assert (
            bonus.tolist()
            == coverage_bonuses(np.array([1.0, 0.9, 0.8]), holds, weights, "abc", count=3, reward=7.0).tolist()
        )
    assert bonus.round(6).tolist() == [0.0, 0.1, 0.1]


def test_what_does_not_fit_is_refused() -> None:
    scores, holds, turns = np.zeros(2), np.zeros((2, 3), np.bool_), np.arange(2)
    for wrong in ((scores[:1], holds, np.zeros(3), turns), (scores, holds, np.zeros(2), turns)):
        with pytest.raises(ValueError, match="do not fit"):
            native_scoring.compute_coverage_bonus(*wrong, count=2, reward=1.0)
    with pytest.raises(ValueError, match="do not fit"):
        native_scoring.compute_coverage_bonus(
            scores, np.zeros((2, 65), np.bool_), np.zeros(65), turns, count=2, reward=1.0
        )
