"""Splitting loses no text, keeps the order, and ends at good places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cofire.ingest.text_pieces import (
    CODE_BREAKS,
    PROSE_BREAKS,
    join_parts,
    split_at_breaks,
    split_paragraphs,
    split_text,
)

WORDS = st.lists(st.text("abA.!? \n`", min_size=1, max_size=12), max_size=60).map(" ".join)


@given(WORDS, st.integers(5, 80))
def test_every_letter_stays_in_order(text: str, longest: int) -> None:
    assert "".join("".join(split_text(text, longest=longest)).split()) == "".join(text.split())


@given(WORDS.filter(lambda text: "`" not in text), st.integers(5, 80))
def test_no_piece_of_prose_is_too_long(text: str, longest: int) -> None:
    assert all(len(piece) <= longest for piece in split_text(text, longest=longest))


def test_sentences_stay_whole_where_they_fit() -> None:
    text = "The first one is here. The second one is here. The third."
    assert split_at_breaks(text, longest=50, ends=PROSE_BREAKS) == [
        "The first one is here. The second one is here.",
        "The third.",
    ]


def test_an_abbreviation_before_a_small_letter_ends_nothing() -> None:
    assert split_at_breaks("We use stores, e.g. sqlite. Others work.", longest=30, ends=PROSE_BREAKS) == [
        "We use stores, e.g. sqlite.",
        "Others work.",
    ]


def test_scripts_without_spaces_are_cut_at_their_stops() -> None:
    assert split_at_breaks("東京は大きい。京都は古い。", longest=10, ends=PROSE_BREAKS) == [
        "東京は大きい。",
        "京都は古い。",
    ]


def test_a_text_without_any_end_is_cut_where_it_must() -> None:
    assert split_at_breaks("x" * 25, longest=10, ends=PROSE_BREAKS) == ["x" * 10, "x" * 10, "x" * 5]


def test_pieces_of_code_keep_their_indentation() -> None:
    assert split_at_breaks("def f():\n    a = 1\n\n    return a\n", longest=20, ends=CODE_BREAKS) == [
        "def f():\n    a = 1",
        "    return a",
    ]


def test_a_fence_that_never_closes_reaches_to_the_end() -> None:
    assert split_paragraphs("One.\n```\na\n\nb") == ["One.", "```\na\n\nb"]


def test_code_on_the_line_of_an_item_is_a_paragraph() -> None:
    assert split_paragraphs("One.\n1. ```\n   a\n\n   b\n   ```\nTwo.") == [
        "One.",
        "1. ```\n   a\n\n   b\n   ```",
        "Two.",
    ]


def test_a_part_longer_than_the_bound_is_alone() -> None:
    assert join_parts(["a", "much too long", "b"], longest=3, glue=" ") == ["a", "much too long", "b"]
