"""Normalisation and centring of vectors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cofire.algorithms.vector_similarity import centre_vectors, cosine_spread, normalise_vectors
from cofire.embedders.base import Vectors

ROWS = arrays.arrays(np.float32, (5, 8), elements=st.floats(-100, 100, width=32).map(lambda x: round(x, 2)))


@given(ROWS)
def test_a_row_has_length_one_or_is_nothing(rows: Vectors) -> None:
    lengths = np.linalg.norm(normalise_vectors(rows), axis=1)
    np.testing.assert_allclose(lengths, rows.any(axis=1), atol=1e-5)


@given(ROWS)
def test_a_row_scaled_alone_is_the_row_scaled_among_others(rows: Vectors) -> None:
    np.testing.assert_array_equal(normalise_vectors(rows)[2], normalise_vectors(rows[2:3])[0])


def test_centring_takes_away_what_all_have_in_common() -> None:
    common = np.array([5, 0, 0], np.float32)
    apart = np.array([[0, 1, 0], [0, 0, 2]], np.float32)
    np.testing.assert_allclose(centre_vectors(apart + common, common), [[0, 1, 0], [0, 0, 1]], atol=1e-6)


def test_spread_looks_at_different_rows_only() -> None:
    rows = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    mean, deviation = cosine_spread(rows, np.zeros(2, np.float32))
    assert round(mean, 4) == -0.3333
    assert round(deviation, 4) == 0.4714
