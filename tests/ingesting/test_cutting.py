"""Cutting loses nothing, keeps the order, and finds good ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cofire.ingesting.cutting import CODE, PROSE, cut, pack, paragraphs, pieces

WORDS = st.lists(st.text("abA.!? \n`", min_size=1, max_size=12), max_size=60).map(" ".join)


@given(WORDS, st.integers(5, 80))
def test_every_letter_stays_in_order(text: str, longest: int) -> None:
    assert "".join("".join(pieces(text, longest=longest)).split()) == "".join(text.split())


@given(WORDS.filter(lambda text: "`" not in text), st.integers(5, 80))
def test_no_piece_of_prose_is_too_long(text: str, longest: int) -> None:
    assert all(len(piece) <= longest for piece in pieces(text, longest=longest))


def test_sentences_stay_whole_where_they_fit() -> None:
    text = "The first one is here. The second one is here. The third."
    assert cut(text, longest=50, ends=PROSE) == ["The first one is here. The second one is here.", "The third."]


def test_an_abbreviation_before_a_small_letter_ends_nothing() -> None:
    assert cut("We use stores, e.g. sqlite. Others work.", longest=30, ends=PROSE) == [
        "We use stores, e.g. sqlite.",
        "Others work.",
    ]


def test_scripts_without_spaces_are_cut_at_their_stops() -> None:
    assert cut("東京は大きい。京都は古い。", longest=10, ends=PROSE) == ["東京は大きい。", "京都は古い。"]


def test_a_text_without_any_end_is_cut_where_it_must() -> None:
    assert cut("x" * 25, longest=10, ends=PROSE) == ["x" * 10, "x" * 10, "x" * 5]


def test_pieces_of_code_keep_their_indentation() -> None:
    assert cut("def f():\n    a = 1\n\n    return a\n", longest=20, ends=CODE) == [
        "def f():\n    a = 1",
        "    return a",
    ]


def test_a_fence_that_never_closes_reaches_to_the_end() -> None:
    assert paragraphs("One.\n```\na\n\nb") == ["One.", "```\na\n\nb"]


def test_code_on_the_line_of_an_item_is_a_paragraph() -> None:
    assert paragraphs("One.\n1. ```\n   a\n\n   b\n   ```\nTwo.") == ["One.", "1. ```\n   a\n\n   b\n   ```", "Two."]


def test_a_part_longer_than_the_bound_is_alone() -> None:
    assert pack(["a", "much too long", "b"], longest=3, glue=" ") == ["a", "much too long", "b"]
