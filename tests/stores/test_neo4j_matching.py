"""Matching on a server: facts that the word index does not propose count all the same, where they borrow a word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from random import Random

import pytest

from cofire.algorithms.session_context import SessionContext
from cofire.stores.base import KeywordQuery, Store
from cofire.stores.neo4j import search
from cofire.text.words import extract_words
from tests.neo4j_server import IN_TURN, empty_store
from tests.reference_store.store import ReferenceStore
from tests.stores.making import Pen, everywhere

pytestmark = [*IN_TURN, pytest.mark.usefixtures("neo4j_url")]

LENDING = SessionContext(before=0.45, after=0.3, decay=0.7, reach=3, short=25)
CUE = KeywordQuery(
    tuple(extract_words("kettle tea leaf")), (4.0, 1.0, 1.0), 4.0, 0.8, 0.6, 0.5, LENDING, (True, False, False)
)
COMMON = ("tea", "leaf", "cup", "pot", "milk", "spoon")


@pytest.fixture
def stores() -> Iterator[tuple[Store, Store]]:
    with closing(empty_store()) as server, closing(ReferenceStore()) as reference:
        yield server, reference


def tell_talks(store: Store) -> None:
    """Talks in which the rare word is seldom said, among many facts of its common company."""
    chance, pen = Random(5), Pen(store)
    said = [
        (" ".join(["kettle"] * (turn == 4) + chance.sample(COMMON, 3) + [f"word{talk}x{turn}"]), f"talk {talk}")
        for talk in range(6)
        for turn in range(10)
    ]
    pen.write(*(pen.new(text, session=session) for text, session in said))
    pen.write(*(pen.new(f"tea leaf {number}") for number in range(40)))


def test_a_turn_that_borrows_counts_its_own_words_though_the_index_proposes_others(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MIN_FULLTEXT_CANDIDATES", 5)
    monkeypatch.setattr(search, "FULLTEXT_OVERFETCH_FACTOR", 0)
    for store in stores:
        tell_talks(store)
    server, reference = (store.search_words(CUE, 12, everywhere()) for store in stores)
    assert server == reference


def test_who_does_not_pass_the_filter_lends_all_the_same(stores: tuple[Store, Store]) -> None:
    for store in stores:
        pen = Pen(store)
        pen.write(
            pen.new("kettle", session="s", speaker="Ana"),
            pen.new("a cup", session="s", speaker="Ben"),
            pen.new("a pot", session="s", speaker="Ben"),
        )
    server, reference = (store.search_words(CUE, 5, everywhere(speakers=frozenset({"Ben"}))) for store in stores)
    assert server == reference
    assert len(server) == 2
