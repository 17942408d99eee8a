"""Spoken names: what a new fact may speak of, and whether an old one speaks of a new name, are the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from cofire.model import Mentioned
from cofire.reading.sentences import sentences
from cofire.reading.spoken import Spoken, split, spoken, told_of

WORDS = "connection pools pool Pool redis Redis's the of U.S. J. R. O'Brien Bjørn salt & pepper queries v1.7.2 maxConnections film"
texts = some.lists(some.sampled_from([*WORDS.split(), ".", ",", "-"]), max_size=14).map(" ".join)


@given(text=texts, others=texts)
def test_both_directions_find_the_same_names_in_the_same_sentences(text: str, others: str) -> None:
    forward = spoken(sentences(text))
    possible = spoken(sentences(others)).keys() | forward.keys()
    assert {one.name: one.sentences for one in told_of(text, split(possible))} == forward


def test_a_name_is_spoken_of_however_it_is_written() -> None:
    assert [one.sentences for one in told_of("Redis is up. Wait. Ask redis.", split(["redis"]))] == [(0, 2)]


def test_a_short_word_by_itself_names_nothing() -> None:
    assert told_of("The sea is near the Sea of Okhotsk.", split(["sea", "sea of okhotsk"])) == (
        Mentioned("sea of okhotsk", (0,), 1.0),
    )


@given(some.lists(some.text(max_size=60), max_size=3))
def test_what_is_looked_for_late_is_the_same(lines: list[str]) -> None:
    found = spoken(lines)
    left_out = list(found)[:2]
    assert Spoken(lines, but=left_out) == {name: at for name, at in found.items() if name not in left_out}
    assert len(Spoken(lines, but=[])) == len(found)
