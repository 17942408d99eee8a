"""A reading of a file sees one moment, whoever writes meanwhile, and lets go of it whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from cofire.index import adjacency
from cofire.index.adjacency import IndexedEdge
from cofire.model import Edge, EdgeWrite
from cofire.stores.base import ExpansionOptions
from cofire.stores.sqlite import connections
from cofire.stores.sqlite.connections import IN_MEMORY, ConnectionPair, ReadOnlyConnection, SqliteOptions, read_state
from cofire.stores.sqlite.store import SqliteStore
from tests.conftest import sqlite_store
from tests.stores.making import Pen, cue, everywhere

OPTIONS = SqliteOptions(5.0, "normal", "signs")
LATER = "9" * 26


@pytest.fixture
def one(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(sqlite_store(tmp_path)) as store:
        yield store


@pytest.fixture
def other(tmp_path: Path) -> Iterator[SqliteStore]:
    """The same file in other hands."""
    with closing(sqlite_store(tmp_path)) as store:
        yield store


def ids_in(store: SqliteStore) -> set[str]:
    return {fact.id for fact in store.list_facts(everywhere(), 9, None)}


def told_later(store: SqliteStore) -> str:
    pen = Pen(store)
    return pen.write(pen.new("more tea", id=LATER)).facts[0].id


def test_a_reading_sees_one_moment_whoever_writes_meanwhile(one: SqliteStore, other: SqliteStore) -> None:
    first = Pen(one).tell("tea")

    def heard() -> set[str]:
        return set(one.search_words(cue("tea"), 5, everywhere()))

    with one._reading():
        assert ids_in(one) == heard() == {first}
        assert told_later(other) == LATER
        assert ids_in(one) == heard() == {first}
    assert ids_in(one) == heard() == {first, LATER}


def test_a_moment_ends_with_an_error(one: SqliteStore, other: SqliteStore) -> None:
    def fail() -> None:
        with one._reading():
            ids_in(one)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    told_later(other)
    assert ids_in(one) == {LATER}


def test_a_file_taken_as_it_stands_is_opened_anew_only_between_readings(
    tmp_path: Path, other: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, file = Pen(other).tell("tea"), str(tmp_path / "memory.db")
    other._open_lines().settle(patient=True)
    monkeypatch.setattr(connections, "_open_read_only", _as_it_stands)
    with closing(SqliteStore(ConnectionPair(file, ReadOnlyConnection(file, OPTIONS), None), OPTIONS)) as one:
        line = one._open_lines().reader
        with one._reading():
            before = line.connection
            told_later(other)
            other._open_lines().settle(patient=True)
            ids_in(one)
            assert line.connection is before
        assert ids_in(one) == {first, LATER}


def _as_it_stands(path: str, options: SqliteOptions) -> connections.SqliteConnection:
    """What a file becomes in a folder that may not be written."""
    return connections.SqliteConnection(
        f"file:{path}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )


def test_an_interrupt_while_edges_are_read_holds_no_moment(
    one: SqliteStore, other: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pen = Pen(one)
    ids = [pen.tell(f"tea {number}") for number in range(3)]
    pen.write(edges=tuple(EdgeWrite(Edge(source, target, "supports")) for source, target in pairwise(ids)))
    monkeypatch.setattr(adjacency, "split_edges", _interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:
        one.expand_links(ids[:1], ExpansionOptions(everywhere(), None, 0.0, 10))
    told_later(other)
    assert kept.value, "whoever keeps an error keeps what it was about"
    assert ids_in(one) == {*ids, LATER}


def _interrupted(edges: Iterator[IndexedEdge], *known: object) -> None:
    next(edges)
    raise KeyboardInterrupt


def test_who_writes_within_a_reading_in_memory_is_told_of_its_own_version() -> None:
    with closing(SqliteStore.open(IN_MEMORY, OPTIONS)) as store:
        pen = Pen(store)
        pen.tell("tea")
        line = store._open_lines().for_writing()

        def written() -> tuple[str, int]:
            with line.writing() as connection:
                connection.execute("UPDATE state SET version = version + 1")
                return read_state(connection)

        with store._reading():
            _, before = read_state(line.connection)
            _, within = written()
        assert within == before + 1
