"""Texts longer than 512 tokens are read to their end, in windows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.bundled import BundledEmbedder, pool_vectors, split_windows

FILLER = "The weather report for the coast was read out slowly and nobody in the room listened to it. " * 30


def test_the_end_of_a_long_text_counts(bundled: BundledEmbedder) -> None:
    without, with_end, end = bundled.embed(
        [FILLER, FILLER + "Our database pool runs PgBouncer.", "Our database pool runs PgBouncer."], "fact"
    )
    assert with_end @ end > without @ end + 0.01


def test_a_long_text_is_the_mean_of_its_windows_by_length(bundled: BundledEmbedder) -> None:
    # " the" is one token, so the windows are known: tokens 0-509 and 478-599, that is 510 and 122 of them.
    whole, first, second = bundled.embed(["the" + " the" * 599, "the" + " the" * 509, " the" * 122], "fact")
    np.testing.assert_allclose(whole, normalise_vectors(510 * first + 122 * second), atol=1e-6)


def test_the_longest_text_of_one_window_is_not_cut(bundled: BundledEmbedder) -> None:
    fits, too_long = bundled.embed(["the" + " the" * 509, "the" + " the" * 510], "fact")
    assert not (fits == too_long).all()
    assert len(split_windows(range(510), size=510, overlap=32)) == 1
    assert len(split_windows(range(511), size=510, overlap=32)) == 2


@given(st.integers(0, 300), st.integers(2, 40), st.integers(0, 39))
def test_windows_cover_every_token(count: int, size: int, overlap: int) -> None:
    overlap = min(overlap, size - 1)
    cut = split_windows(list(range(count)), size=size, overlap=overlap)
    assert sorted({token for window in cut for token in window}) == list(range(count))
    assert all(len(window) <= size for window in cut)
    assert all(left[-overlap:] == right[:overlap] for left, right in pairwise(cut) if overlap)


def test_a_longer_window_weighs_more() -> None:
    assert pool_vectors(np.eye(2, dtype=np.float32), [300, 400]).tolist() == pytest.approx([0.6, 0.8])
