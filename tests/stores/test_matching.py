"""Matching: by BM25 over cofire's own words, best first, of equals the newer."""

from __future__ import annotations

from pathlib import Path

import pytest

from cofire.stores.base import Store
from cofire.text.words import extract_words
from tests.conftest import STORES
from tests.stores.making import Pen, cue, everywhere


def matching(store: Store, question: str, k: int = 10) -> list[str]:
    return store.search_words(cue(*dict.fromkeys(extract_words(question))), k, everywhere())


def test_only_facts_that_hold_a_word_are_found(store: Store, pen: Pen) -> None:
    tea, _ = pen.tell("green tea"), pen.tell("black coffee")
    assert matching(store, "tea") == [tea]


def test_more_of_the_words_score_higher(store: Store, pen: Pen) -> None:
    both, one = pen.tell("green tea leaves"), pen.tell("green coffee beans")
    assert matching(store, "green tea") == [both, one]


def test_heavier_words_score_higher(store: Store, pen: Pen) -> None:
    tea, coffee = pen.tell("green tea"), pen.tell("green coffee")
    assert store.search_words(cue("tea", "coffe", weights=(3.0, 1.0)), 5, everywhere()) == [tea, coffee]
    assert store.search_words(cue("tea", "coffe", weights=(1.0, 3.0)), 5, everywhere()) == [coffee, tea]


def test_repetition_helps(store: Store, pen: Pen) -> None:
    twice, once = pen.tell("tea tea leaf pot"), pen.tell("tea cup leaf pot")
    assert matching(store, "tea") == [twice, once]


def test_without_k1_repetition_does_not_help(store: Store, pen: Pen) -> None:
    twice, once = pen.tell("tea tea leaf pot"), pen.tell("tea cup leaf pot")
    assert store.search_words(cue("tea", k1=0.0), 5, everywhere()) == [once, twice]


def test_long_texts_are_held_back(store: Store, pen: Pen) -> None:
    short, long = pen.tell("tea pot"), pen.tell("tea pot cup leaf water kettle spoon sugar milk")
    assert matching(store, "tea") == [short, long]


def test_without_b_length_does_not_matter(store: Store, pen: Pen) -> None:
    short, long = pen.tell("tea pot"), pen.tell("tea pot cup leaf water kettle spoon sugar milk")
    assert store.search_words(cue("tea", b=0.0), 5, everywhere()) == [long, short]


def test_of_equals_the_newer_comes_first(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"tea {number}") for number in range(5)]
    assert matching(store, "tea") == ids[::-1]
    assert matching(store, "tea", k=2) == [ids[4], ids[3]]


def test_k_may_be_larger_than_the_store(store: Store, pen: Pen) -> None:
    id = pen.tell("tea")
    assert matching(store, "tea", k=1_000) == [id]


def test_unknown_words_find_nothing(store: Store, pen: Pen) -> None:
    pen.tell("tea")
    assert matching(store, "xylophone") == []


def test_no_words_find_nothing(store: Store, pen: Pen) -> None:
    pen.tell("tea")
    assert store.search_words(cue(), 5, everywhere()) == []


def test_words_are_found_without_any_statistics(store: Store, pen: Pen) -> None:
    id = pen.tell("tea")
    assert store.search_words(cue("tea", mean_length=0.0), 5, everywhere()) == [id]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("東京タワーは高いです", "東京タワー"),
        ("東京タワーは高いです", "京"),
        ("서울은 한국의 수도이다", "한국"),
        ("กรุงเทพเป็นเมืองหลวง", "กรุงเทพ"),
        ("Set max_connections to 200", "max_connections"),
        ("Set max_connections to 200", "connections"),
        ("Call findByEmail first", "email"),
        ("Fixed in v1.7.2", "v1.7.2"),
        ("See src/app/main.py", "main.py"),
        ("Written in C++ and C#", "C++"),
        ("Mail ana@example.org", "ana@example.org"),
        ("Das Café in Zürich", "cafe zurich"),
        ("The cats were running", "cat run"),
        ("To be or not to be", "to be or not to be"),
        ('He said "AND (OR NOT) NEAR* ^col:x"', "near"),
    ],
)
def test_words_of_many_kinds_are_found(store: Store, pen: Pen, text: str, question: str) -> None:
    id = pen.tell(text)
    pen.tell("Something else entirely 999")
    assert matching(store, question) == [id]


@pytest.mark.parametrize("question", ['"', "*", "NEAR(", "a OR", "col:", "-x", "'; DROP TABLE facts; --", "%", "_"])
def test_query_syntax_is_only_text(store: Store, pen: Pen, question: str) -> None:
    pen.tell("tea")
    assert matching(store, question) == []
    assert matching(store, f"{question} tea") == ["1".zfill(26)]


def test_a_fact_is_found_by_its_subject_and_tags(store: Store, pen: Pen) -> None:
    id = pen.tell("It boils.", subject="Kettle", tags=("kitchen",))
    assert matching(store, "kettle") == matching(store, "kitchen") == [id]


@pytest.mark.parametrize("name", ["reference", "sqlite"])
def test_a_common_word_is_counted_for_those_that_rarer_words_chose(name: str, tmp_path: Path) -> None:
    store = STORES[name](tmp_path)
    pen = Pen(store)
    common = [pen.tell(f"tea number{at}") for at in range(2_100)]
    chosen = [pen.tell(f"rare gem{at} shop") for at in range(3)]
    both = pen.tell("rare tea")
    found = store.search_words(cue("rare", "tea", weights=(5.0, 0.1)), 4, everywhere())
    assert found == [both, *reversed(chosen)]
    assert store.search_words(cue("rare", "tea", weights=(1.0, 9.0)), 2, everywhere()) == [both, common[-1]]
    store.close()
