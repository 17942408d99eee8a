"""Possible names of a new fact, and known names in an old fact, are found by the same rules."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from cofire.model import NameMention
from cofire.text.segmentation import split_sentences
from cofire.text.subjects import SpokenNames, find_known_names, find_spoken_names, split_names

WORDS = "connection pools pool Pool redis Redis's the of U.S. J. R. O'Brien Bjørn salt & pepper queries v1.7.2 maxConnections film"
texts = some.lists(some.sampled_from([*WORDS.split(), ".", ",", "-"]), max_size=14).map(" ".join)


@given(text=texts, others=texts)
def test_both_directions_find_the_same_names_in_the_same_sentences(text: str, others: str) -> None:
    forward = find_spoken_names(split_sentences(text))
    possible = find_spoken_names(split_sentences(others)).keys() | forward.keys()
    assert {one.name: one.sentences for one in find_known_names(text, split_names(possible))} == forward


def test_a_name_is_spoken_of_however_it_is_written() -> None:
    assert [one.sentences for one in find_known_names("Redis is up. Wait. Ask redis.", split_names(["redis"]))] == [
        (0, 2)
    ]


def test_a_short_word_by_itself_names_nothing() -> None:
    assert find_known_names("The sea is near the Sea of Okhotsk.", split_names(["sea", "sea of okhotsk"])) == (
        NameMention("sea of okhotsk", (0,), 1.0),
    )


@given(some.lists(some.text(max_size=60), max_size=3))
def test_what_is_looked_for_late_is_the_same(lines: list[str]) -> None:
    found = find_spoken_names(lines)
    left_out = list(found)[:2]
    assert SpokenNames(lines, but=left_out) == {name: at for name, at in found.items() if name not in left_out}
    assert len(SpokenNames(lines, but=[])) == len(found)
