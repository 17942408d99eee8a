"""Context: what a turn borrows from the turns around it, against plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.algorithms.session_context import SessionContext, borrow_from_context, borrowing_factors

shares = some.sampled_from([0.0, 0.2, 0.5, 1.0])
contexts = some.builds(SessionContext, shares, shares, shares, some.integers(0, 4), some.just(25.0))


@some.composite
def sessions(draw: some.DrawFn) -> tuple[list[list[float]], list[list[int]], list[float]]:
    """Values a row a turn, the rows around each of some facts, and how open each is."""
    turns, words, told = draw(some.integers(1, 6)), draw(some.integers(0, 3)), draw(some.integers(0, 4))
    facts = draw(some.integers(0, turns))
    numbers = some.floats(-5, 5, width=32)
    values = [[draw(numbers) for _ in range(words)] for _ in range(turns)]
    around = [[draw(some.integers(-1, turns - 1)) for _ in range(2 * told)] for _ in range(facts)]
    return values, around, [draw(shares) for _ in range(facts)]


def arrays(values: Any, around: Any, opened: Any, told: int) -> tuple[Any, Any, Any]:
    table = np.array(values, np.float32).reshape(len(values), -1)
    return table, np.array(around, np.int32).reshape(len(around), 2 * told), np.array(opened, np.float64)


def plainly(values: Any, around: Any, opened: Any, context: SessionContext) -> list[list[float]]:
    """Σ weight(turn) · value(turn), turn by turn."""
    found = []
    for turns, share in zip(around, opened, strict=True):
        told = len(turns) // 2
        sums = [0.0] * len(values[0])
        for side, first in ((context.before, 0), (context.after, told)):
            for distance in range(min(told, context.reach)):
                turn = turns[first + distance]
                for word in range(len(sums)) if turn >= 0 else ():
                    sums[word] += side * context.decay**distance * values[turn][word]
        found.append([share * total for total in sums])
    return found


@given(sessions(), contexts)
def test_what_is_borrowed_is_a_weighted_sum_over_the_turns(session: Any, context: SessionContext) -> None:
    values, around, opened = session
    told = len(around[0]) // 2 if around else 0
    found = borrow_from_context(*arrays(values, around, opened, told), context)
    assert found.shape == (len(around), len(values[0]))
    for row, expected in zip(found.tolist(), plainly(values, around, opened, context), strict=True):
        assert row == pytest.approx(expected, abs=1e-5)


def test_turns_further_than_the_context_reaches_lend_nothing() -> None:
    """Two turns are told of on either side; of reach 1, only the nearest counts: 0.4 · 1 + 0.2 · 100."""
    values = np.array([[1.0], [10.0], [0.0], [100.0], [1_000.0]])
    around = np.array([[0, 1, 3, 4]], np.int32)
    found = borrow_from_context(values, around, np.array([1.0]), SessionContext(0.4, 0.2, 0.5, 1, 25))
    assert found.tolist() == [[pytest.approx(20.4)]]


def test_a_turn_on_one_side_only_lends_by_the_weight_of_its_side() -> None:
    context = SessionContext(before=0.4, after=0.2, decay=0.5, reach=2, short=25)
    around = np.array([[-1, -1, 1, -1], [0, -1, -1, -1]], np.int32)
    found = borrow_from_context(np.array([[1.0], [1.0]]), around, np.ones(2), context)
    assert found.tolist() == [[0.2], [0.4]]


@given(contexts)
def test_weights_are_one_a_turn_on_either_side_the_nearest_first(context: SessionContext) -> None:
    expected = [side * context.decay**step for side in (context.before, context.after) for step in range(context.reach)]
    assert context.weights().tolist() == pytest.approx(expected)


@given(some.lists(some.integers(0, 200), max_size=5), some.sampled_from([1.0, 25.0]))
def test_a_fact_is_as_open_as_it_is_short(lengths: list[int], short: float) -> None:
    found = borrowing_factors(np.array(lengths, np.float64), short=short).tolist()
    assert found == [min(1.0, short / length) if length else 1.0 for length in lengths]
    assert all(0 < share <= 1 and not math.isnan(share) for share in found)
