"""Fading: what is left of weights and confidences, monotone, in bounds, and the same when asked twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.algorithms.decay import (
    days_between,
    decay_weights,
    last_day_before_grace,
    lower_confidences,
    score_retention,
)

shares = some.floats(0, 1)
days = some.integers(0, 5_000)
WEIGHT = {"grace": 30, "rate": 0.01}
CONFIDENCE = {"grace": 90, "period": 90, "step": 0.1, "floor": 0.1}


def test_a_weight_is_untouched_within_the_grace_and_counts_all_days_after_it() -> None:
    assert decay_weights([0.5, 0.5], [29, 30], **WEIGHT).tolist() == [0.5, round(0.5 * np.exp(-0.3), 6)]


def test_a_strong_edge_is_deleted_after_three_hundred_days() -> None:
    """1.0 · e^(−.01 · 300) = .0498 is the first below .05 (000)."""
    assert decay_weights(1.0, 299, **WEIGHT) > 0.05
    assert decay_weights(1.0, 300, **WEIGHT) < 0.05


def test_confidence_falls_by_a_tenth_in_ninety_days_to_a_tenth() -> None:
    assert lower_confidences(1.0, [89, 90, 179, 180, 810, 9_000], **CONFIDENCE).tolist() == [
        1.0,
        0.9,
        0.9,
        0.8,
        0.1,
        0.1,
    ]


def test_a_confidence_below_the_floor_does_not_rise() -> None:
    assert lower_confidences(0.05, 500, **CONFIDENCE) == 0.05


@given(shares, days, days)
def test_more_days_never_leave_more(anchor: float, some_days: int, more: int) -> None:
    later = some_days + more
    assert decay_weights(anchor, later, **WEIGHT) <= decay_weights(anchor, some_days, **WEIGHT)
    assert lower_confidences(anchor, later, **CONFIDENCE) <= lower_confidences(anchor, some_days, **CONFIDENCE)


@given(shares, days)
def test_what_is_left_is_a_share_and_no_more_than_there_was(anchor: float, passed: int) -> None:
    for left in (decay_weights(anchor, passed, **WEIGHT), lower_confidences(anchor, passed, **CONFIDENCE)):
        assert 0 <= left <= anchor + 1e-6


@given(some.lists(some.integers(0, 400), unique=True), some.integers(0, 400), some.integers(0, 400))
def test_days_of_use_are_no_more_than_those_of_the_calendar(used: list[int], since: int, today: int) -> None:
    assert days_between(since, today, in_use=sorted(used)) <= days_between(since, today, in_use=None)


@given(some.lists(some.integers(0, 400), unique=True), some.integers(0, 400), some.integers(1, 60))
def test_the_last_day_is_the_last_from_which_the_grace_is_over(used: list[int], today: int, grace: int) -> None:
    for in_use in (None, sorted(used)):
        last = last_day_before_grace(today, grace, in_use=in_use)
        over = [day for day in range(today + 1) if days_between(day, today, in_use=in_use) >= grace]
        assert over == list(range(max(last, -1) + 1))


def test_nobody_opened_it_for_a_year() -> None:
    assert days_between(0, 365, in_use=[0, 365]) == 1
    assert days_between(0, 365, in_use=[0]) == 0


@given(days, days, shares, shares)
def test_worth_is_a_share(unused: int, old: int, importance: float, success: float) -> None:
    assert (
        0 <= score_retention(unused_days=unused, old_days=old, importance=importance, success=success).total <= 1 + 1e-9
    )


@pytest.mark.parametrize(
    "better",
    [{"unused_days": 1}, {"old_days": 1}, {"importance": 0.9}, {"success": 0.9}],
    ids=lambda one: next(iter(one)),
)
def test_each_part_counts(better: dict[str, float]) -> None:
    plain = {"unused_days": 50.0, "old_days": 50.0, "importance": 0.1, "success": 0.5}
    assert score_retention(**{**plain, **better}).total > score_retention(**plain).total
