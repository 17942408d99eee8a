"""Fusion: places, what a channel gives, and the order that follows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.dynamics.fusion import calibrated, fused, order, picked, ranks, reciprocal

scores = some.lists(some.floats(-5, 5), min_size=1, max_size=8)


def heard(*flags: bool) -> np.ndarray:
    return np.array(flags, dtype=np.bool_)


def test_order_is_by_falling_score() -> None:
    assert order(np.array([0.1, 0.9, 0.5]), ["a", "b", "c"]) == (1, 2, 0)


def test_of_equals_the_newer_comes_first() -> None:
    assert order(np.array([0.5, 0.5]), ["old", "zebra"]) == (1, 0)


def test_the_last_bit_of_a_sum_decides_nothing() -> None:
    assert order(np.array([0.1 + 0.2, 0.3]), ["a", "b"]) == (1, 0)


def test_places_count_from_one_and_skip_the_unheard() -> None:
    assert ranks(np.array([0.2, 0.9, 5.0, 0.4]), heard(True, True, False, True), "abcd") == [3, 1, None, 2]


@given(scores)
def test_places_are_a_permutation(values: list[float]) -> None:
    names = [f"{place:02}" for place in range(len(values))]
    places = ranks(np.array(values), np.ones(len(values), np.bool_), names)
    assert sorted(place for place in places if place) == list(range(1, len(values) + 1))


def test_reciprocal_worked() -> None:
    """2 / (60 + 1) and 2 / (60 + 3)."""
    assert reciprocal([1, None, 3], weight=2.0, k=60).tolist() == pytest.approx([2 / 61, 0.0, 2 / 63])


def test_calibrated_gives_the_weighted_score_to_the_heard() -> None:
    assert calibrated(np.array([0.5, -1.0, 9.0]), heard(True, True, False), weight=2.0).tolist() == [1.0, -2.0, 0.0]


def test_the_score_is_the_sum_of_what_channels_give() -> None:
    parts = {"semantic": np.array([1.0, 0.0]), "keyword": np.array([0.5, 2.0])}
    assert fused(parts).tolist() == [1.5, 2.0]


def test_a_fact_that_repeats_the_best_one_falls_behind_one_that_adds() -> None:
    saturated = np.array([[0.9, 0.0], [0.8, 0.0], [0.0, 0.7]])
    plain = picked(saturated, np.ones(2), np.zeros(3), "cba", count=3, fading=0.0)
    faded = picked(saturated, np.ones(2), np.zeros(3), "cba", count=3, fading=0.5)
    assert order(plain, "cba") == (0, 1, 2)
    assert order(faded, "cba") == (0, 2, 1)


def test_what_is_not_picked_stays_below_what_is() -> None:
    scores = picked(np.array([[1.0], [0.9], [0.8]]), np.ones(1), np.zeros(3), "cba", count=1, fading=1.0)
    assert scores[0] == 1.0
    assert max(scores[1:]) < 1.0
