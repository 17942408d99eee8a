"""Places: in which sentences of a fact words stand, a bit a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cofire.stores.base import Store
from cofire.text.words import map_words_to_sentences
from tests.stores.making import Pen


def tell_cut(pen: Pen, text: str, at: Mapping[str, int], **parts: object) -> str:
    return pen.write(replace(pen.new(text, **parts), places=at)).facts[0].id


def test_a_row_a_fact_and_a_column_a_word(store: Store, pen: Pen) -> None:
    """The pool of two sentences stands in both: 0b11."""
    pool = tell_cut(
        pen, "The pool is full. Drain the pool.", map_words_to_sentences(["The pool is full.", "Drain the pool."])
    )
    tea = tell_cut(pen, "Tea.", {"tea": 0b1})
    found = store.locate_words([tea, pool], ["pool", "drain", "tea", "never"])
    assert found.dtype == np.int64
    assert found.tolist() == [[0, 0, 1, 0], [0b11, 0b10, 0, 0]]


def test_the_last_bit_is_a_sentence_like_the_others(store: Store, pen: Pen) -> None:
    id = tell_cut(pen, "tea", {"tea": 1 << 31, "pot": (1 << 31) | 1})
    assert store.locate_words([id], ["tea", "pot"]).tolist() == [[2_147_483_648, 2_147_483_649]]


def test_an_unknown_fact_has_no_places(store: Store, pen: Pen) -> None:
    id = tell_cut(pen, "tea", {"tea": 1})
    assert store.locate_words(["unknown", id], ["tea"]).tolist() == [[0], [1]]
    pen.forget(id)
    assert store.locate_words([id], ["tea"]).tolist() == [[0]]


def test_facts_and_words_may_be_asked_for_twice(store: Store, pen: Pen) -> None:
    id = tell_cut(pen, "tea pot", {"tea": 0b1, "pot": 0b10})
    assert store.locate_words([id, id], ["tea", "pot", "tea"]).tolist() == [[1, 2, 1]] * 2


def test_nothing_asked_for_is_shaped(store: Store, pen: Pen) -> None:
    id = tell_cut(pen, "tea", {"tea": 1})
    assert store.locate_words([], ["tea", "pot"]).shape == (0, 2)
    assert store.locate_words([id], []).shape == (1, 0)


def test_what_nobody_cut_into_sentences_stands_in_every_one(store: Store, pen: Pen) -> None:
    """Such facts come from files of an earlier version, or from a memory that reads no names."""
    id = pen.tell("green tea")
    assert store.locate_words([id], ["tea", "never", "green"]).tolist() == [[-1, 0, -1]]


def test_a_fact_told_again_keeps_its_places(store: Store, pen: Pen) -> None:
    id = tell_cut(pen, "tea", {"tea": 0b1})
    tell_cut(pen, "tea", {"tea": 0b111, "habit": 0b1}, tags=("habit",))
    assert store.locate_words([id], ["tea", "habit"]).tolist() == [[1, 0]]
