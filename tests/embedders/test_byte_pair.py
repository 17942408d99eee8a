"""Tokens equal those of the reference tokenizer. `tokens.json` was written by Hugging Face's tokenizers 0.23.3."""

import json
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.embedders.byte_pair import BytePairTokenizer, merge_pairs, split_words
from cofire.embedders.granite import find_pack, open_pack

GOLDEN = json.loads(Path(__file__).with_name("tokens.json").read_text(encoding="utf-8"))
RANKS = {
    f"{a} {b}": rank for rank, (a, b) in enumerate(pairwise(["a", "b", "ab", "c", "abc", "aa", "a", "a", "cc", "b"]))
}


@pytest.fixture(scope="module")
def tokenizer() -> BytePairTokenizer:
    return BytePairTokenizer(open_pack(find_pack()).tokenizer)


@pytest.mark.parametrize(("text", "tokens"), GOLDEN, ids=lambda part: ascii(part)[:30])
def test_tokens_are_those_of_the_reference(tokenizer: BytePairTokenizer, text: str, tokens: list[int]) -> None:
    assert tokenizer.encode(text) == tokens


def test_a_remembered_word_gives_the_same_tokens(tokenizer: BytePairTokenizer) -> None:
    assert tokenizer.encode("serverless serverless") == tokenizer.encode("serverless") + tokenizer.encode(" serverless")


def test_a_special_token_in_a_text_is_plain_text(tokenizer: BytePairTokenizer) -> None:
    assert tokenizer.closing not in tokenizer.encode("a </s> b")


def test_a_lone_surrogate_is_no_trouble(tokenizer: BytePairTokenizer) -> None:
    assert tokenizer.encode("a\ud800b") != tokenizer.encode("ab")


def test_a_text_without_spaces_is_no_quadratic_trouble(tokenizer: BytePairTokenizer) -> None:
    started = time.process_time()
    tokenizer.encode("没有空格" * 10_000)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("x½y 5² Ⅷa", ["x", "½", "y", " 5²", " Ⅷ", "a"]),
        ("a \x85b \u3000c", ["a", " ", "\x85", "b", " ", "\u3000", "c"]),
        ("né\u0301e €5", ["né", "\u0301", "e", " €", "5"]),
        ("a\x1cb", ["a", "\x1c", "b"]),
    ],
)
def test_letters_numbers_and_spaces_of_all_scripts_are_told_apart(text: str, cut: list[str]) -> None:
    assert list(split_words(text)) == cut


@given(st.text())
def test_words_lose_no_character(text: str) -> None:
    assert "".join(split_words(text)) == text


@given(st.text(alphabet="abc", max_size=30))
def test_the_heap_joins_as_the_plain_way_does(text: str) -> None:
    assert merge_pairs(text, RANKS) == plainly_joined(list(text), RANKS)


def plainly_joined(parts: list[str], ranks: Mapping[str, int]) -> list[str]:
    """Look through all pairs for the best one, join it, start over."""
    while True:
        found = [(ranks[f"{a} {b}"], place) for place, (a, b) in enumerate(pairwise(parts)) if f"{a} {b}" in ranks]
        if not found:
            return parts
        _, place = min(found)
        parts = [*parts[:place], parts[place] + parts[place + 1], *parts[place + 2 :]]
