"""Signs: compiled code finds the nearest that numpy finds, and that a plain count of differing signs finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cofire.index import quantised as sign_module
from cofire.index.quantised import NATIVE_SCAN_RATIO, SignBitIndex
from tests.native.random_facts import DIMENSION, Story, admitted, told
from tests.native.twins import NEEDS_LIBRARY, both, calls_of, in_numpy

pytestmark = NEEDS_LIBRARY

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]

# More than fit into a block of columns that C looks at together.
SOME_BLOCKS = 4_500
seeds = st.integers(0, 2**32 - 1)
dimensions = st.sampled_from([1, 3, 63, 64, 65, 130, 384, 385])


def kept(vectors: Vectors) -> SignBitIndex:
    signs = SignBitIndex(vectors.shape[1])
    signs.add(vectors)
    return signs


def by_counting(vectors: Vectors, asked: Vectors, among: Mask, wanted: int) -> list[int]:
    """All that differ in no more signs than the last one wanted."""
    distances = ((vectors > 0) != (asked > 0)).sum(axis=1)
    last = np.sort(distances[among])[wanted - 1]
    return np.flatnonzero(among & (distances <= last)).tolist()


@given(seed=seeds, size=st.integers(2, 300), dimension=dimensions, share=st.floats(0.1, 1), wanted=st.integers(1, 60))
def test_the_nearest_are_the_same(seed: int, size: int, dimension: int, share: float, wanted: int) -> None:
    chance = np.random.default_rng(seed)
    vectors, asked = chance.standard_normal((size, dimension)), chance.standard_normal(dimension)
    among = chance.random(size) < share
    signs = kept(vectors.astype(np.float32))
    numbers = asked.astype(np.float32)
    compiled = signs.candidates(numbers, among, wanted).tolist()
    with in_numpy():
        numpy = signs.candidates(numbers, among, wanted).tolist()
    assert compiled == numpy
    if wanted < np.count_nonzero(among):
        assert compiled == by_counting(vectors.astype(np.float32), numbers, among, wanted)


@pytest.mark.parametrize("dimension", [64, 385])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("wanted", [1, 200])
def test_the_nearest_of_many_are_those_that_differ_least(dimension: int, share: float, wanted: int) -> None:
    """Numpy looks at so many in two steps; to compiled code a plain count is the measure."""
    chance = np.random.default_rng(dimension)
    vectors = chance.standard_normal((SOME_BLOCKS, dimension)).astype(np.float32)
    asked = chance.standard_normal(dimension).astype(np.float32)
    among = chance.random(SOME_BLOCKS) < share
    # The very first and the very last are the nearest.
    vectors[[0, -1]], among[[0, -1]] = asked, True
    with calls_of("nearest_by_signs") as calls:
        found = kept(vectors).candidates(asked, among, wanted).tolist()
    assert calls
    assert found == by_counting(vectors, asked, among, wanted)
    assert {0, SOME_BLOCKS - 1} <= set(found)


def test_of_vectors_that_are_all_alike_all_are_found() -> None:
    signs, among = kept(np.ones((50, 100), np.float32)), np.arange(50) % 3 > 0
    compiled, numpy = both("nearest_by_signs", lambda: signs.candidates(-np.ones(100, np.float32), among, 4))
    assert compiled.tolist() == numpy.tolist() == np.flatnonzero(among).tolist()


def test_vectors_of_nothing_are_as_far_as_the_question_has_signs() -> None:
    vectors = np.zeros((30, 70), np.float32)
    vectors[17] = 1
    compiled, numpy = both(
        "nearest_by_signs", lambda: kept(vectors).candidates(np.ones(70, np.float32), np.ones(30, np.bool_), 1)
    )
    assert compiled.tolist() == numpy.tolist() == [17]


@pytest.mark.parametrize("size", [0, 1, 5])
def test_all_that_are_allowed_are_found_where_more_are_wanted(size: int) -> None:
    signs, among = SignBitIndex(65), np.ones(size, np.bool_)
    signs.add(np.ones((size, 65), np.float32))
    assert signs.candidates(np.ones(65, np.float32), among, 9).tolist() == list(range(size))


def test_of_a_few_among_many_the_nearest_are_found_without_a_look_at_all() -> None:
    chance = np.random.default_rng(3)
    vectors = chance.standard_normal((SOME_BLOCKS, 130)).astype(np.float32)
    among = np.zeros(SOME_BLOCKS, np.bool_)
    among[:: 2 * NATIVE_SCAN_RATIO] = True
    with calls_of("nearest_by_signs") as calls:
        found = kept(vectors).candidates(vectors[0], among, 5).tolist()
    assert not calls
    assert found == by_counting(vectors, vectors[0], among, 5)


@pytest.fixture
def counting_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code is asked even where most are left out."""
    monkeypatch.setattr(sign_module, "NATIVE_SCAN_RATIO", SOME_BLOCKS)


@pytest.mark.usefixtures("counting_everywhere")
def test_a_mask_that_leaves_nearly_all_out_leaves_them_out() -> None:
    chance = np.random.default_rng(3)
    vectors, among = chance.standard_normal((1_000, 130)).astype(np.float32), np.zeros(1_000, np.bool_)
    among[[3, 999]] = True
    compiled, numpy = both("nearest_by_signs", lambda: kept(vectors).candidates(vectors[999], among, 1))
    assert compiled.tolist() == numpy.tolist() == [999]


def test_what_is_added_later_is_found_as_well() -> None:
    chance = np.random.default_rng(4)
    vectors = chance.standard_normal((3_000, 100)).astype(np.float32)
    signs, everybody = SignBitIndex(100), np.ones(3_000, np.bool_)
    for first in range(0, 3_000, 500):
        signs.add(vectors[first : first + 500])
        among = everybody[: first + 500]
        found = signs.candidates(vectors[first], among, 3).tolist()
        assert found == by_counting(vectors[: first + 500], vectors[first], among, 3)


def test_a_mask_and_a_question_may_lie_anywhere_in_memory() -> None:
    """Every other place of a longer mask, and one that nobody may write to."""
    chance = np.random.default_rng(5)
    signs = kept(chance.standard_normal((60, 70)).astype(np.float32))
    asked, mask = chance.standard_normal(140).astype(np.float32)[::2], chance.random(120) < 0.8
    plain = signs.candidates(asked.copy(), mask[::2].copy(), 5).tolist()
    assert signs.candidates(asked, mask[::2], 5).tolist() == plain
    frozen = mask[::2].copy()
    frozen.flags.writeable = False
    assert signs.candidates(asked, frozen, 5).tolist() == plain


def test_a_store_that_let_its_dead_go_finds_the_same_in_c_and_in_numpy() -> None:
    index = told(Story(7, 4, 12, 1, 64, sessions=False, described=False, embedded=True))
    index.compact()
    asked = np.random.default_rng(8).standard_normal(DIMENSION).astype(np.float32)
    compiled, numpy = both("nearest_by_signs", lambda: index.nearest(asked, admitted(index, None), 5))
    assert compiled.tolist() == numpy.tolist()
    assert len(compiled) >= 5
