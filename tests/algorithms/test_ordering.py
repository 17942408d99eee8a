"""Rows in order: as numpy has it, whether or not they fit into a word."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.array_ops import (
    descending_keys,
    first_unique_rows,
    list_occurring_rows,
    positions_in_groups,
    sort_order,
)

SMALL, LARGE = st.integers(-3, 3), st.integers(-(2**62), 2**62)
ROWS = st.one_of(*(st.lists(st.tuples(one, other), max_size=40) for one in (SMALL, LARGE) for other in (SMALL, LARGE)))
FLOATS = st.floats(width=32, allow_nan=False)


def columns(rows: list[tuple[int, int]]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, 2).T


@given(ROWS)
def test_rows_come_by_the_first_column_then_by_the_next_and_equals_as_they_stood(rows: list[tuple[int, int]]) -> None:
    one, other = columns(rows)
    assert sort_order(one, other).tolist() == np.lexsort((other, one)).tolist()


def test_narrow_numbers_that_are_far_apart_are_in_order() -> None:
    ends = np.iinfo(np.int32)
    assert sort_order(np.array([ends.max, 0, ends.min], np.int32)).tolist() == [2, 1, 0]


@given(ROWS)
def test_of_the_same_rows_the_first_is_taken(rows: list[tuple[int, int]]) -> None:
    assert [rows[at] for at in first_unique_rows(*columns(rows))] == sorted(set(rows))
    assert first_unique_rows(*columns(rows)).tolist() == [rows.index(row) for row in sorted(set(rows))]


@given(st.lists(FLOATS, max_size=40))
def test_downwards_is_the_order_of_falling_numbers(values: list[float]) -> None:
    numbers = np.array(values, np.float32)
    assert sort_order(descending_keys(numbers)).tolist() == np.argsort(-numbers, kind="stable").tolist()


@given(st.lists(st.integers(0, 9), max_size=40))
def test_each_is_told_how_many_of_the_same_stand_before(numbers: list[int]) -> None:
    ordered = sorted(numbers)
    assert positions_in_groups(np.array(ordered, np.int64)).tolist() == [
        at - ordered.index(n) for at, n in enumerate(ordered)
    ]


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 9), max_size=40))
def test_those_that_occur_in_any_column_are_told_once(some: list[int], others: list[int]) -> None:
    found = list_occurring_rows(10, np.array(some, np.int64), np.array(others, np.int64))
    assert found.tolist() == sorted({*some, *others})
