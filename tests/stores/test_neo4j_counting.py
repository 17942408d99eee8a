"""Counting on a server: what was counted is not read again, and what comes of it is the same as if it were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from cofire.stores.neo4j.store import Neo4jStore
from tests.neo4j_server import IN_TURN, empty_store, queries_sent
from tests.stores.making import Pen

pytestmark = IN_TURN

WORDS_ARE_READ = "RETURN [f.terms, f.counts, f.length]"


@pytest.fixture
def store(neo4j_url: str) -> Iterator[Neo4jStore]:
    with closing(empty_store()) as opened:
        yield opened


@pytest.fixture
def pen(store: Neo4jStore) -> Pen:
    return Pen(store)


def holding(store: Neo4jStore, *words: str) -> list[int]:
    found = store.read_word_statistics(["default"], words)
    return [found.facts, *found.holding]


def test_what_goes_is_taken_off_the_count_and_nothing_is_read_anew(store: Neo4jStore, pen: Pen) -> None:
    first, *_ = [pen.tell(text) for text in ("hot tea", "cold tea", "hot pot")]
    pen.recount("default")
    with queries_sent() as sent:
        pen.forget(first)
    assert not any(WORDS_ARE_READ in query for query in sent)
    assert holding(store, "tea", "hot", "pot") == [2, 1, 1, 1]


def test_what_comes_back_is_counted_again(store: Neo4jStore, pen: Pen) -> None:
    first, *_ = [pen.tell(text) for text in ("hot tea", "cold tea")]
    pen.recount("default")
    taken = pen.forget(first).taken
    pen.write(put_back=taken)
    assert holding(store, "tea", "hot", "cold") == [2, 2, 1, 1]


def test_a_new_count_goes_on_from_the_last(store: Neo4jStore, pen: Pen) -> None:
    pen.tell("hot tea")
    pen.recount("default")
    pen.tell("cold tea")
    pen.recount("default")
    assert holding(store, "tea", "hot", "cold") == [2, 2, 1, 1]


def test_where_counted_words_changed_all_are_read_anew(store: Neo4jStore, pen: Pen) -> None:
    pen.tell("hot tea")
    other = pen.tell("cold tea")
    pen.recount("default")
    pen.tell("hot tea", tags=("mint",))
    assert holding(store, "mint") == [2, 0]
    with queries_sent() as sent:
        pen.forget(other)
    assert any(WORDS_ARE_READ in query for query in sent)
    assert holding(store, "tea", "mint", "cold") == [1, 1, 1, 0]
