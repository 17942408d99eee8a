"""The words of descriptions: kept beside the fact, so that describing it anew leaves the fact and its place in the index alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from cofire.errors import StoreReadOnly
from cofire.index import postings
from cofire.index.postings import DescriptionPostings
from cofire.model import FactDescription, RemovedCascade
from cofire.stores.sqlite import schema
from cofire.stores.sqlite.store import SqliteStore
from cofire.verbs import transfer
from tests.conftest import sqlite_store
from tests.stores.making import NOW, Pen

BEFORE_HINTS = 6
WORDS = "SELECT terms, counts FROM facts ORDER BY id"
# What a file of that version held: the words of descriptions at the end of those of the fact.
AS_BEFORE = f"""
UPDATE facts SET terms = CAST(facts.terms || d.terms AS BLOB), counts = CAST(facts.counts || d.counts AS BLOB)
FROM descriptions d WHERE d.fact = facts.key AND d.ended IS NULL;
DROP TABLE metadata_values;
DROP INDEX descriptions_by_version;
ALTER TABLE descriptions DROP COLUMN terms;
ALTER TABLE descriptions DROP COLUMN counts;
ALTER TABLE descriptions DROP COLUMN version;
PRAGMA user_version = {BEFORE_HINTS};
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = sqlite_store(tmp_path)
    yield opened
    opened.close()


def described(pen: Pen) -> tuple[str, str]:
    """Two facts, the first of which was described three times; some words came back, one in greater number."""
    old, other = pen.tell("tea is served"), pen.tell("coffee is not")
    for text, counts in (
        ("Goes with: pot", {"pot": 1}),
        ("Goes with: pot, pot; cup", {"pot": 2, "cup": 1}),
        ("Goes with: pot; saucer", {"pot": 1, "saucer": 1}),
    ):
        pen.write(descriptions=(FactDescription(old, text, counts),))
    return old, other


def hints(store: SqliteStore, *ids: str) -> list[list[float]]:
    return store.fetch_features(ids, ("pot", "cup", "saucer"), 0, 0).hints.tolist()


def stored(path: str, sql: str) -> list[Any]:
    connection = apsw.Connection(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_each_word_counts_as_often_as_in_the_description_that_holds_it_most(store: SqliteStore, pen: Pen) -> None:
    assert hints(store, *described(pen)) == [[2, 1, 1], [0, 0, 0]]


def test_to_describe_a_fact_changes_neither_the_fact_nor_its_place(store: SqliteStore, pen: Pen) -> None:
    old = pen.tell("tea is served")
    before = stored(store.path, "SELECT * FROM facts")
    hints(store, old)
    pen.write(descriptions=(FactDescription(old, "Goes with: pot", {"pot": 1}),))
    assert hints(store, old) == [[1, 0, 0]]
    assert stored(store.path, "SELECT * FROM facts") == before
    with store._reading() as connection, store._live.at(connection) as index:
        assert (index.columns.size, index.columns.dead) == (1, 0)


def test_another_who_has_the_file_open_sees_the_words_too(store: SqliteStore, pen: Pen, tmp_path: Path) -> None:
    other = sqlite_store(tmp_path)
    old = pen.tell("tea is served")
    assert hints(other, old) == [[0, 0, 0]]
    pen.write(descriptions=(FactDescription(old, "Goes with: pot", {"pot": 1}),))
    assert hints(other, old) == [[1, 0, 0]]
    other.close()


def test_a_fact_that_changes_otherwise_keeps_its_words(store: SqliteStore, pen: Pen) -> None:
    old, other = described(pen)
    hints(store, old)
    pen.write(pins={old: True})
    assert hints(store, old, other) == [[2, 1, 1], [0, 0, 0]]


def test_a_file_of_before_is_brought_up_to_date(tmp_path: Path) -> None:
    store = sqlite_store(tmp_path)
    old, other = described(Pen(store))
    terms = stored(store.path, WORDS)
    store.close()
    connection = apsw.Connection(store.path)
    connection.execute(AS_BEFORE)
    connection.close()
    assert stored(store.path, WORDS) != terms
    store = sqlite_store(tmp_path)
    assert schema.read_schema_version(apsw.Connection(store.path)) == len(schema.MIGRATIONS) > BEFORE_HINTS
    assert hints(store, old, other) == [[2, 1, 1], [0, 0, 0]]
    assert stored(store.path, WORDS) == terms
    assert store.read_history(old).descriptions[-1] == "Goes with: pot; saucer"
    store.close()


def test_rows_of_before_are_put_back_with_the_words_where_they_belong(store: SqliteStore, pen: Pen) -> None:
    old, other = described(pen)
    before = stored(store.path, WORDS)
    gone = pen.forget(old).taken
    assert gone is not None
    taken = dict(gone.rows)
    last = next(one for one in taken["descriptions"] if one["terms"])
    late = ("terms", "counts")
    facts = [{**one, **{name: one[name] + last[name] for name in late}} for one in taken["facts"]]
    bare = [
        {name: said for name, said in one.items() if name not in (*late, "version")} for one in taken["descriptions"]
    ]
    pen.write(put_back=RemovedCascade(rows=taken | {"facts": facts, "descriptions": bare}))
    assert hints(store, old, other) == [[2, 1, 1], [0, 0, 0]]
    assert stored(store.path, WORDS) == before


@pytest.mark.parametrize("tail", [2, 7, 4_096])
def test_words_that_come_in_any_order_are_found_once_each(monkeypatch: pytest.MonkeyPatch, tail: int) -> None:
    monkeypatch.setattr(postings, "TAIL_SIZE", tail)
    chance = np.random.default_rng(tail)
    found, told = DescriptionPostings(), dict[tuple[int, int], int]()
    for _ in range(60):
        terms, positions, counts = chance.integers(1, 9, (3, int(chance.integers(1, 12))))
        found.add(terms, positions.astype(np.int32), counts.astype(np.uint16))
        for term, at, count in zip(terms.tolist(), positions.tolist(), counts.tolist(), strict=True):
            told[term, at] = max(count, told.get((term, at), 0))
        expected = [sorted((at, count) for (word, at), count in told.items() if word == term) for term in range(1, 9)]
        assert [
            list(zip(*map(np.ndarray.tolist, held), strict=True)) for held in found.find_each(range(1, 9))
        ] == expected
        assert list(zip(*map(np.ndarray.tolist, found.find(3)), strict=True)) == expected[2]
    assert len(found.whole().positions) == len(told)


def test_a_copy_has_the_same_words_whatever_the_order_they_came_in(
    store: SqliteStore, pen: Pen, tmp_path: Path
) -> None:
    old, pot, cup = pen.tell("tea is served"), pen.tell("a pot"), pen.tell("a cup")
    pen.write(descriptions=(FactDescription(old, "Goes with: pot", {"goe": 1, "pot": 1}, {pot: "pot"}),))
    pen.write(descriptions=(FactDescription(old, "Goes with: pot; cup", {"goe": 1, "pot": 1, "cup": 1}, {cup: "cup"}),))
    pen.write(put_back=pen.forget(pot).taken)
    (tmp_path / "copy").mkdir()
    copy = sqlite_store(tmp_path / "copy")
    assert transfer.copy(store, copy, now=NOW, advance=lambda _: None).copied == 3
    assert hints(copy, old) == hints(store, old) == [[1, 1, 0]]
    copy.close()


def test_descriptions_come_back_in_their_order_where_others_have_their_keys(tmp_path: Path) -> None:
    """A receipt that is undone after a backup was restored, in which other descriptions were made since."""
    first = sqlite_store(tmp_path)
    old, other = described(Pen(first))
    gone = Pen(first).forget(old).taken
    first.close()
    (tmp_path / "restored").mkdir()
    store = sqlite_store(tmp_path / "restored")
    pen = Pen(store)
    assert [pen.tell("tea is served"), pen.tell("coffee is not")] == [old, other]
    pen.forget(old)
    pen.write(descriptions=(FactDescription(other, "Goes with: jug", {"jug": 1}),))
    pen.write(put_back=gone)
    for _ in range(2):
        assert hints(store, old) == [[2, 1, 1]]
        pen.write(pins={old: True})
    pen.write(descriptions=(FactDescription(old, "Goes with: spoon", {"spoon": 1}),))
    assert hints(store, old) == [[2, 1, 1]]
    assert store.read_history(old).descriptions[-2:] == ("Goes with: pot; saucer", "Goes with: spoon")
    store.close()


def test_a_file_of_before_that_may_not_be_written_is_refused_with_a_way_out(tmp_path: Path) -> None:
    store = sqlite_store(tmp_path)
    described(Pen(store))
    store.close()
    connection = apsw.Connection(store.path)
    connection.execute(AS_BEFORE)
    connection.close()
    connection = apsw.Connection(store.path, flags=apsw.SQLITE_OPEN_READONLY)
    with pytest.raises(StoreReadOnly, match=r"written by an older cofire.*Give write permission"):
        schema.check_current_version(connection, store.path)
