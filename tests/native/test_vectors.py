"""Vectors: compiled code measures the likeness that numpy measures, of any rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from cofire.algorithms.vector_similarity import VectorRows, centre_vectors, centred_cosines, normalise_vectors
from cofire.index.native_vectors import measure_rows
from tests.native.twins import NEEDS_LIBRARY, both, calls_of

pytestmark = NEEDS_LIBRARY

# Products of single numbers, added up in another order.
CLOSE = 2e-6
# Too near the resting point a direction is nothing but rounding.
LEAN = 0.3

seeds = st.integers(0, 2**32 - 1)
dimensions = st.sampled_from([3, 16, 17, 384, 385])
kinds = st.sampled_from([np.float16, np.float32])


def table_of(chance: Generator, size: int, dimension: int, kind: type) -> NDArray[np.float32]:
    """Vectors of length one that lean the same way a little; some are nothing."""
    vectors = normalise_vectors(chance.standard_normal((size, dimension)))
    vectors[chance.random(size) < 0.1] = 0
    return vectors.astype(kind)


def resting(dimension: int) -> NDArray[np.float32]:
    mean = np.zeros(dimension, np.float32)
    mean[0] = LEAN
    return mean


@given(seed=seeds, dimension=dimensions, kind=kinds, size=st.integers(1, 50), asked=st.integers(0, 80))
def test_centred_cosines_are_the_same(seed: int, dimension: int, kind: type, size: int, asked: int) -> None:
    """Rows stand in any order, some several times."""
    chance = np.random.default_rng(seed)
    rows = VectorRows(table_of(chance, size, dimension, kind), chance.integers(0, size, asked))
    question, mean = normalise_vectors(chance.standard_normal(dimension)), resting(dimension)
    compiled, numpy = both("cosines_at", lambda: centred_cosines(rows, centre_vectors(question, mean), mean))
    np.testing.assert_allclose(compiled, numpy, rtol=0, atol=CLOSE)


@given(seed=seeds, dimension=dimensions, kind=kinds, size=st.integers(1, 50), asked=st.integers(0, 80))
def test_what_was_measured_before_changes_nothing(seed: int, dimension: int, kind: type, size: int, asked: int) -> None:
    chance = np.random.default_rng(seed)
    table, at = table_of(chance, size, dimension, kind), chance.integers(0, size, asked)
    question, mean = normalise_vectors(chance.standard_normal(dimension)), resting(dimension)
    known, half = np.full((size, 2), np.nan, np.float32), size // 2
    measure_rows(table, 0, half, mean, known)
    measure_rows(table, half, size, mean, known)
    found = [
        centred_cosines(VectorRows(table, at, told), centre_vectors(question, mean), mean) for told in (None, known)
    ]
    assert found[0].tolist() == found[1].tolist()


def test_what_was_measured_of_another_table_is_refused() -> None:
    table, at = np.zeros((3, 16), np.float16), np.arange(3)
    with pytest.raises(ValueError, match="do not fit"):
        centred_cosines(VectorRows(table, at, np.zeros((2, 2), np.float32)), *np.eye(2, 16, dtype=np.float32))
    known, mean = np.zeros((3, 2), np.float32), np.zeros(16, np.float32)
    for wrong in ((0, 4, mean, known), (-1, 3, mean, known), (0, 3, mean[:8], known), (0, 3, mean, known[:, 0])):
        with pytest.raises(ValueError, match="do not fit"):
            measure_rows(table, *wrong)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_vectors_of_nothing_are_like_nothing_where_the_resting_point_is_nothing(kind: type) -> None:
    rows = VectorRows(np.zeros((3, 20), kind), np.array([2, 0]))
    compiled, numpy = both(
        "cosines_at", lambda: centred_cosines(rows, np.ones(20, np.float32), np.zeros(20, np.float32))
    )
    assert compiled.tolist() == numpy.tolist() == [0.0, 0.0]


HALF = np.finfo(np.float16)


@pytest.mark.parametrize("number", [HALF.smallest_subnormal, 3 * HALF.smallest_subnormal, -HALF.tiny, HALF.max])
@pytest.mark.parametrize("dimension", [11, 16])
def test_the_smallest_and_the_largest_numbers_of_half_precision_are_read_as_they_are(
    number: np.float16, dimension: int
) -> None:
    """By those who read eight at a time, and of what is left over."""
    table, axes = np.full((1, dimension), number, np.float16), np.eye(2, dimension, dtype=np.float32)
    compiled, numpy = both("cosines_at", lambda: centred_cosines(VectorRows.of(table), *axes))
    np.testing.assert_allclose(compiled, numpy, rtol=1e-6)
    assert compiled[0]


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_vectors_may_lie_in_memory_that_nobody_may_write_to(kind: type) -> None:
    table = table_of(np.random.default_rng(2), 9, 20, kind)
    frozen: Any = np.frombuffer(table.tobytes(), kind).reshape(table.shape)
    question, mean = normalise_vectors(np.ones(20)), resting(20)
    found = centred_cosines(VectorRows.of(table), question, mean)
    assert centred_cosines(VectorRows.of(frozen), question, mean).tolist() == found.tolist()


def test_a_table_that_c_cannot_read_is_left_to_numpy() -> None:
    """Every other row of another, and one of double precision."""
    table: Any = table_of(np.random.default_rng(2), 10, 20, np.float32)
    question, mean = normalise_vectors(np.ones(20)), resting(20)
    found = centred_cosines(VectorRows.of(table), question, mean)
    with calls_of("cosines_at") as calls:
        apart = centred_cosines(VectorRows.of(table[::2]), question, mean)
        double = centred_cosines(VectorRows.of(table.astype(np.float64)), question, mean)
    assert not calls
    np.testing.assert_allclose(apart, found[::2], rtol=0, atol=CLOSE)
    np.testing.assert_allclose(double, found, rtol=0, atol=CLOSE)


def test_places_in_a_table_may_be_of_any_kind_and_lie_anywhere() -> None:
    table = table_of(np.random.default_rng(2), 10, 20, np.float32)
    question, mean, at = normalise_vectors(np.ones(20)), resting(20), np.array([7, 1, 9, 1])
    found = centred_cosines(VectorRows(table, at), question, mean).tolist()
    assert centred_cosines(VectorRows(table, at.astype(np.int32)), question, mean).tolist() == found
    assert centred_cosines(VectorRows(table, np.repeat(at, 2)[::2]), question, mean).tolist() == found


@NEEDS_LIBRARY
def test_vectors_of_another_width_than_the_question_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        centred_cosines(VectorRows.of(np.zeros((2, 8), np.float32)), np.zeros(4, np.float32), np.zeros(4, np.float32))


@NEEDS_LIBRARY
@pytest.mark.parametrize("row", [-1, 2])
def test_a_row_that_the_table_does_not_have_is_refused(row: int) -> None:
    rows = VectorRows(np.zeros((2, 8), np.float32), np.array([0, row]))
    with pytest.raises(IndexError, match="does not have"):
        centred_cosines(rows, np.zeros(8, np.float32), np.zeros(8, np.float32))
