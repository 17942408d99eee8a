"""Neighbours: compiled code keeps those that numpy finds nearest, exactly and by cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cofire.algorithms import nearest_neighbours
from cofire.algorithms.nearest_neighbours import NeighbourPairs, find_nearest_pairs
from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.index.native_vectors import NO_NEIGHBOUR, Shortlist
from tests.native.twins import NEEDS_LIBRARY, both

pytestmark = NEEDS_LIBRARY

seeds = st.integers(0, 2**32 - 1)


def by_pair(found: NeighbourPairs) -> dict[tuple[int, int], float]:
    ends = zip(found.left.tolist(), found.right.tolist(), strict=True)
    return dict(zip(ends, found.cosines.tolist(), strict=True))


@given(
    seed=seeds,
    size=st.integers(2, 300),
    dimension=st.sampled_from([3, 17, 64]),
    k=st.integers(1, 20),
    exact_up_to=st.sampled_from([0, 1_000]),
)
@hypothesis_settings(max_examples=40)
def test_the_same_are_nearest(seed: int, size: int, dimension: int, k: int, exact_up_to: int) -> None:
    """Blocks and cells are small, so that there are several of each."""
    chance = np.random.default_rng(seed)
    vectors = normalise_vectors(chance.standard_normal((size, dimension)))
    wanted = np.unique(chance.integers(0, size, size))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest_neighbours, "CELL_SIZE", 16)
        patch.setattr(nearest_neighbours, "BLOCK_ROWS", 8)
        patch.setattr(nearest_neighbours, "NATIVE_BLOCK_ROWS", 8)
        compiled, numpy = both("keep_highest", lambda: find_nearest_pairs(vectors, wanted, k, exact_up_to=exact_up_to))
    assert by_pair(compiled) == pytest.approx(by_pair(numpy), abs=1e-6)
    assert compiled.left.tolist() == numpy.left.tolist()


def test_of_equals_who_came_first_stays_and_nobody_is_near_itself() -> None:
    found = Shortlist(2, 2)
    names, rows = np.array([7, 8, 9]), np.array([0, 1])
    found.keep(np.array([[0.5, 0.9, 0.5], [0.1, 0.2, 0.3]], np.float32), names, rows, np.array([8, 9]))
    assert found.who.tolist() == [[7, 9], [8, 7]]
    found.keep(np.array([[0.5, 0.6]], np.float32), np.array([5, 6]), np.array([0]), np.array([0]))
    assert found.who.tolist() == [[6, 7], [8, 7]]


def test_where_fewer_came_there_is_nobody() -> None:
    found = Shortlist(1, 3)
    found.keep(np.array([[0.5, np.nan]], np.float32), np.array([1, 2]), np.array([0]), np.array([9]))
    assert found.who.tolist() == [[1, NO_NEIGHBOUR, NO_NEIGHBOUR]]


def test_a_row_that_is_not_there_is_refused() -> None:
    with pytest.raises(IndexError):
        Shortlist(1, 1).keep(np.zeros((1, 1), np.float32), np.array([0]), np.array([1]), np.array([9]))
