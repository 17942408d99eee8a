"""The estimate of the number of tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from cofire.text.prompt_text import estimate_tokens


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0


def test_four_latin_letters_cost_one() -> None:
    assert [estimate_tokens("x" * length) for length in (1, 4, 5, 8)] == [1, 1, 2, 2]


def test_other_scripts_cost_more() -> None:
    assert estimate_tokens("東京タワー") > estimate_tokens("Tokyo")


@given(some.text(), some.text())
def test_a_longer_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)
