"""Fusion: places, what a channel gives, and the order that follows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.algorithms.rank_fusion import order_rows, rank_in_channel, reciprocal_rank_scores

scores = some.lists(some.floats(-5, 5), min_size=1, max_size=8)


def heard(*flags: bool) -> np.ndarray:
    return np.array(flags, dtype=np.bool_)


def test_order_is_by_falling_score() -> None:
    assert order_rows(np.array([0.1, 0.9, 0.5]), ["a", "b", "c"]) == (1, 2, 0)


def test_of_equals_the_newer_comes_first() -> None:
    assert order_rows(np.array([0.5, 0.5]), ["old", "zebra"]) == (1, 0)


def test_the_last_bit_of_a_sum_decides_nothing() -> None:
    assert order_rows(np.array([0.1 + 0.2, 0.3]), ["a", "b"]) == (1, 0)


def test_places_count_from_one_and_skip_the_unheard() -> None:
    assert rank_in_channel(np.array([0.2, 0.9, 5.0, 0.4]), heard(True, True, False, True), list("abcd")).tolist() == [
        3,
        1,
        0,
        2,
    ]


@given(scores)
def test_places_are_a_permutation(values: list[float]) -> None:
    names = [f"{place:02}" for place in range(len(values))]
    places = rank_in_channel(np.array(values), np.ones(len(values), np.bool_), names)
    assert sorted(place for place in places if place) == list(range(1, len(values) + 1))


def test_reciprocal_worked() -> None:
    """2 / (60 + 1) and 2 / (60 + 3)."""
    assert reciprocal_rank_scores(np.array([1, 0, 3]), weight=2.0, k=60).tolist() == pytest.approx(
        [2 / 61, 0.0, 2 / 63]
    )
