"""BM25: worked values and what must hold for all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.algorithms.bm25 import bm25_share, inverse_document_frequency, length_normalisation, term_saturation

sizes = some.integers(0, 10_000)


def test_rarity_of_lucene() -> None:
    """ln(1 + (10 − 2 + ½) / (2 + ½)) = ln 4.4."""
    assert inverse_document_frequency(10, 2) == pytest.approx(math.log(4.4))


@given(sizes, sizes)
def test_rarity_is_never_negative(facts: int, holding: int) -> None:
    assert inverse_document_frequency(facts, holding) > 0


@given(some.integers(2, 10_000), some.data())
def test_a_rarer_word_is_more_telling(facts: int, data: some.DataObject) -> None:
    holding = data.draw(some.integers(0, facts - 1))
    assert inverse_document_frequency(facts, holding) > inverse_document_frequency(facts, holding + 1)


def test_stale_statistics_do_not_break_rarity() -> None:
    assert inverse_document_frequency(3, 7) == inverse_document_frequency(3, 3)
    assert inverse_document_frequency(0, 0) == pytest.approx(math.log(2))


def test_resistance_worked() -> None:
    """0.8 · (1 − 0.6 + 0.6 · 20/10) = 1.28."""
    assert length_normalisation(np.array([20.0]), k1=0.8, b=0.6, mean_length=10.0).tolist() == pytest.approx([1.28])


def test_without_a_mean_every_length_is_average() -> None:
    assert length_normalisation(np.array([1.0, 99.0]), k1=0.8, b=0.6, mean_length=0.0).tolist() == pytest.approx(
        [0.8, 0.8]
    )


@given(some.integers(0, 1_000), some.floats(0, 10), some.floats(1, 1_000))
def test_saturation_stays_below_one_and_grows(count: int, k1: float, length: float) -> None:
    resisting = length_normalisation(np.array([length]), k1=k1, b=0.6, mean_length=10.0)
    once, more = (term_saturation(np.array([float(held)]), resisting)[0] for held in (count, count + 1))
    assert 0 <= once <= more <= 1


def test_an_absent_word_gives_nothing_even_without_k1() -> None:
    assert term_saturation(np.array([0.0, 3.0]), np.array([0.0, 0.0])).tolist() == [0.0, 1.0]


def test_share_worked() -> None:
    """(½ · 1 + 1 · 3) / 4."""
    assert bm25_share(np.array([[0.5, 1.0]]), [1.0, 3.0]).tolist() == [0.875]


def test_a_question_without_words_shares_nothing() -> None:
    assert bm25_share(np.zeros((2, 0)), []).tolist() == [0.0, 0.0]


@given(some.lists(some.floats(0, 1), min_size=1, max_size=5), some.floats(0.01, 10))
def test_a_share_is_between_nothing_and_all(saturated: list[float], weight: float) -> None:
    given_share = bm25_share(np.array([saturated]), [weight] * len(saturated))[0]
    assert -1e-9 <= given_share <= 1 + 1e-9
