"""Covering: which words of the question facts hold, in their best sentence, and the pick that rewards new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.algorithms.coverage import added_word_share, best_sentence_share, coverage_bonuses

# Eighths add up exactly, so that loops and arrays must agree to the last bit.
eighths = some.integers(0, 16).map(lambda number: number / 8)
bits = some.integers(-1, 2**32 - 1)


@some.composite
def tables(draw: some.DrawFn, cells: Any) -> tuple[list[list[Any]], list[list[bool]], list[float]]:
    """A table of a row a fact and a column a word, one of the same shape that says which do not count, and weights of words."""
    facts, words = draw(some.integers(1, 5)), draw(some.integers(1, 4))
    held = [[draw(cells) for _ in range(words)] for _ in range(facts)]
    but = [[draw(some.booleans()) for _ in range(words)] for _ in range(facts)]
    return held, but, [draw(eighths) for _ in range(words)]


@given(tables(some.booleans()))
def test_the_share_is_the_weight_of_words_that_others_do_not_hold(table: Any) -> None:
    held, but, weights = table
    expected = [
        sum(weight for mine, theirs, weight in zip(row, taken, weights, strict=True) if mine and not theirs)
        for row, taken in zip(held, but, strict=True)
    ]
    assert added_word_share(np.array(held), np.array(but), np.array(weights)).tolist() == expected


@given(tables(bits), some.lists(bits, min_size=5, max_size=5))
def test_the_best_sentence_is_the_one_that_holds_most_of_the_question(table: Any, counting: list[int]) -> None:
    places, but, weights = table
    sentences = counting[: len(places)]
    expected = []
    for row, taken, allowed in zip(places, but, sentences, strict=True):
        held = [0.0]
        for bit in range(64):
            if allowed >> bit & 1:
                said = zip(row, taken, weights, strict=True)
                held.append(sum(weight for place, known, weight in said if place >> bit & 1 and not known))
        expected.append(max(held))
    found = best_sentence_share(
        np.array(places, np.int64), np.array(sentences, np.int64), np.array(but), np.array(weights)
    )
    assert found.tolist() == expected


def test_words_of_different_sentences_do_not_add_up() -> None:
    places = np.array([[0b01, 0b10]])
    found = best_sentence_share(places, np.array([0b11]), np.zeros((1, 2), np.bool_), np.array([0.7, 0.3]))
    assert found.tolist() == [0.7]


def test_where_no_sentence_counts_nothing_is_held() -> None:
    nothing = np.zeros((1, 1), np.bool_)
    assert best_sentence_share(np.array([[0b1]]), np.array([0]), nothing, np.array([1.0])).tolist() == [0.0]
    assert best_sentence_share(
        np.zeros((0, 1), np.int64), np.zeros(0, np.int64), nothing[:0], np.array([1.0])
    ).shape == (0,)


def plainly(scores: list[float], holds: list[list[bool]], weights: list[float], count: int, reward: float) -> Any:
    """Pick the best one by one; the order of picks and what each got."""
    covered: set[int] = set()
    picks: dict[int, float] = {}
    for turn in range(min(count, len(scores))):
        gains = [
            reward * sum(weights[word] for word, held in enumerate(row) if held and word not in covered)
            if turn
            else 0.0
            for row in holds
        ]
        best = max(
            (row for row in range(len(scores)) if row not in picks), key=lambda row: (scores[row] + gains[row], row)
        )
        picks[best] = gains[best]
        covered |= {word for word, held in enumerate(holds[best]) if held}
    return picks


@given(tables(some.booleans()), some.lists(eighths, min_size=5, max_size=5), some.integers(0, 6), eighths)
def test_facts_are_picked_one_by_one_and_the_rest_stays_behind(
    table: Any, drawn: list[float], count: int, reward: float
) -> None:
    holds, _, weights = table
    scores = drawn[: len(holds)]
    ties = [f"{row:02}" for row in range(len(holds))]
    found = coverage_bonuses(
        np.array(scores), np.array(holds), np.array(weights), ties, count=count, reward=reward
    ).tolist()
    picks = plainly(scores, holds, weights, count, reward)
    assert {row: found[row] for row in picks} == picks
    last = min((scores[row] + gain for row, gain in picks.items()), default=float("inf"))
    for row in set(range(len(scores))) - set(picks):
        assert found[row] <= 0
        assert round(scores[row] + found[row], 6) < last


def test_the_first_pick_gets_nothing_and_a_later_one_only_for_what_is_new() -> None:
    """The second holds the word of weight 0.4 that the first does not, and gets 5 · 0.4; the third holds nothing new."""
    holds = np.array([[True, False], [True, True], [True, False]])
    found = coverage_bonuses(np.array([3.0, 1.0, 2.0]), holds, np.array([0.6, 0.4]), "abc", count=2, reward=5.0)
    assert found.tolist() == pytest.approx([0.0, 2.0, 0.0])


def test_of_equals_the_newer_is_picked() -> None:
    holds = np.array([[True], [True]])
    found = coverage_bonuses(np.array([1.0, 1.0]), holds, np.array([1.0]), ["a", "b"], count=1, reward=1.0)
    assert found.tolist() == pytest.approx([-1e-6, 0.0])


def test_nothing_to_pick_from_gives_nothing() -> None:
    assert coverage_bonuses(np.zeros(0), np.zeros((0, 2), np.bool_), np.ones(2), [], count=3, reward=1.0).shape == (0,)
