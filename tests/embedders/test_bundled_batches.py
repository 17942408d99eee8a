"""The vector of a text is bitwise the same in any batch."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cofire.embedders.base import Vectors
from cofire.embedders.bundled import BundledEmbedder, batch_by_length
from cofire.embedders.calibration import CALIBRATION_TEXTS

MIXED = ("", "a", "b", "one two", "two one", *CALIBRATION_TEXTS[:40], " ".join(CALIBRATION_TEXTS[-11:]))


@cache
def alone(bundled: BundledEmbedder, text: str) -> Vectors:
    return bundled.embed([text], "fact")[0]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(MIXED), min_size=2, max_size=24))
def test_a_text_in_any_batch_has_the_vector_it_has_alone(bundled: BundledEmbedder, texts: list[str]) -> None:
    vectors = bundled.embed(texts, "fact")
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_array_equal(vector, alone(bundled, text))


@pytest.mark.parametrize("length", [0, 1, 7, 30, 61, 125])
@pytest.mark.parametrize("count", [2, 3, 5, 17])
def test_rows_of_one_run_do_not_touch_each_other(bundled: BundledEmbedder, length: int, count: int) -> None:
    texts = [" ".join([first, *["the"] * length]) for first in list("abcdefghijklmnopq")[:count]]
    vectors = bundled.embed(texts, "fact")
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_array_equal(vector, alone(bundled, text))


@given(st.lists(st.integers(0, 60), max_size=60), st.integers(1, 200))
def test_a_run_is_of_one_length_and_not_too_large(lengths: list[int], most: int) -> None:
    together = list(batch_by_length(lengths, most=most))
    assert sorted(place for places in together for place in places) == list(range(len(lengths)))
    for places in together:
        assert len({lengths[place] for place in places}) == 1
        assert len(places) == 1 or sum(lengths[place] for place in places) <= most
