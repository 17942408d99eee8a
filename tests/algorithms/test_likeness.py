"""Likeness: centring, chance, and the angle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from cofire.algorithms.vector_similarity import (
    centre_vectors,
    geodesic_similarity,
    normalise_vectors,
    standardise_cosines,
)

rows = arrays(np.float32, (4, 6), elements=some.floats(-10, 10, width=32))


@given(rows)
def test_unit_rows_have_length_one_or_none(vectors: np.ndarray) -> None:
    lengths = np.linalg.norm(normalise_vectors(vectors).astype(np.float64), axis=1)
    assert all(abs(length - 1) < 1e-5 or length < 1e-5 for length in lengths)


def test_a_row_of_nothing_stays_nothing() -> None:
    assert normalise_vectors(np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]


def test_centring_worked() -> None:
    """(0.6, 0.8) seen from (0.6, 0) points straight up."""
    assert centre_vectors(np.array([[0.6, 0.8]]), np.array([0.6, 0.0])).tolist() == [[0.0, 1.0]]


def test_the_resting_point_itself_is_like_nothing() -> None:
    mean = np.array([0.6, 0.8])
    assert centre_vectors(mean[None, :], mean).tolist() == [[0.0, 0.0]]


def test_one_vector_is_centred_like_a_row() -> None:
    mean = np.array([0.1, 0.2, 0.3], np.float32)
    row = np.array([0.5, 0.5, 0.7], np.float32)
    assert centre_vectors(row, mean).tolist() == pytest.approx(centre_vectors(row[None, :], mean)[0].tolist())


def test_standing_out_worked() -> None:
    """Chance cosines 0.0 and 0.2 have mean 0.1 and deviation 0.1; 0.4 stands three deviations out."""
    chance = np.array([0.0, 0.2] * 4)
    assert standardise_cosines(np.array([0.4]), chance, resting=(9.0, 0.2), least=8).tolist() == pytest.approx([3.0])


def test_too_small_a_sample_leaves_it_to_the_models_rest() -> None:
    chance = np.array([0.0, 0.2])
    assert standardise_cosines(np.array([0.5]), chance, resting=(0.1, 0.2), least=8).tolist() == pytest.approx([2.0])


def test_a_scope_of_equals_makes_no_giants() -> None:
    """Eight copies of one text have no spread at all; a difference of a hundredth must not become thousands."""
    alike = np.full(8, 0.30)
    assert abs(standardise_cosines(np.array([0.31]), alike, resting=(0.0, 0.2), least=8)[0]) < 100


@given(some.lists(some.floats(-1, 1), min_size=2, max_size=6))
def test_standing_out_keeps_the_order(cosines: list[float]) -> None:
    out = standardise_cosines(np.array(sorted(cosines)), np.zeros(0), resting=(0.0, 0.2), least=8)
    assert (np.diff(out) >= 0).all()


def test_geodesic_worked() -> None:
    """cos 60° = ½ is a third of the way from alike to opposite."""
    assert geodesic_similarity(np.array([0.5])).tolist() == pytest.approx([2 / 3])


@given(some.floats(-1.001, 1.001))
def test_geodesic_forgives_the_last_bit(cosine: float) -> None:
    assert 0 <= geodesic_similarity(np.array([cosine]))[0] <= 1
