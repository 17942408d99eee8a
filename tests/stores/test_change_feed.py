"""What a file keeps of things that ended or went, for whoever follows its versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from cofire.model import Edge, EdgeWrite, NameMention
from cofire.stores.base import EdgeFilter
from cofire.stores.sqlite import fact_writes
from cofire.stores.sqlite.store import SqliteStore
from tests.conftest import sqlite_store
from tests.stores.making import DAY, NOW, Pen

ROW = "SELECT weight, created, ended, version FROM graph_edges"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = sqlite_store(tmp_path)
    yield opened
    opened.close()


def asked(store: SqliteStore, sql: str) -> Any:
    connection = apsw.Connection(store.path)
    try:
        return connection.execute(sql).get
    finally:
        connection.close()


def version(store: SqliteStore) -> int:
    return int(asked(store, "SELECT version FROM state"))


def microseconds(days: int) -> int:
    return days * 24 * 3_600 * 1_000_000


@pytest.fixture
def pair(pen: Pen) -> tuple[str, str]:
    """Two facts with an edge between them."""
    one, other = pen.tell("one"), pen.tell("other")
    pen.write(edges=(EdgeWrite(Edge(one, other, "similar", 0.5)),))
    return one, other


def test_an_edge_that_ended_stays_as_a_row_with_its_end(store: SqliteStore, pen: Pen, pair: tuple[str, str]) -> None:
    pen.write(ended=(Edge(*pair, "similar"),), now=NOW + DAY)
    _, created, ended, changed = asked(store, ROW)
    assert ended - created == microseconds(1)
    assert changed == version(store)


def test_an_edge_that_ended_is_seen_by_nobody(store: SqliteStore, pen: Pen, pair: tuple[str, str]) -> None:
    pen.write(ended=(Edge(*pair, "similar"),))
    assert store.list_edges(EdgeFilter(), 10) == store.list_edges(EdgeFilter(ids=frozenset(pair)), 10) == []
    assert store.list_links(pair[0], 10) == []
    assert len(store.fetch_scope_graph("default").source) == 0
    assert store.read_size().edges == 0


def test_an_edge_ends_once(pen: Pen, pair: tuple[str, str]) -> None:
    ending = (Edge(*pair, "similar"),)
    assert [pen.write(ended=ending).edges.ended for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("mode", ["reinforce", "update", "skip", "error"])
def test_an_edge_written_again_is_revived(store: SqliteStore, pen: Pen, pair: tuple[str, str], mode: str) -> None:
    created = asked(store, ROW)[1]
    pen.write(ended=(Edge(*pair, "similar"),))
    written = pen.write(edges=(EdgeWrite(Edge(*pair, "similar", 0.8), mode),), now=NOW + DAY)
    assert written.edges.new == 1
    assert asked(store, ROW) == (0.8, created, None, version(store))


def test_names_found_later_show_in_the_versions(store: SqliteStore, pen: Pen) -> None:
    first, second = pen.tell("Ana is here."), pen.tell("So is Bo.")
    pen.write(mentions={first: (NameMention("ana", (0,), 1.0),)})
    assert asked(store, f"SELECT version FROM facts WHERE id = '{first}'") == version(store)
    assert asked(store, f"SELECT version FROM facts WHERE id = '{second}'") < version(store)


def test_removals_are_told_for_a_while(store: SqliteStore, pen: Pen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_writes, "MAX_REMOVAL_VERSIONS", 6)
    for number in range(10):
        pen.forget(pen.tell(f"number {number}"))
    assert asked(store, "SELECT count(*) FROM removed") == 3
    assert asked(store, "SELECT min(version) FROM removed") > version(store) - 6


def test_removals_that_a_snapshot_does_not_know_of_are_told(
    store: SqliteStore, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_writes, "MAX_REMOVAL_VERSIONS", 0)
    kept = pen.tell("kept")
    connection = apsw.Connection(store.path)
    connection.execute("INSERT INTO snapshots(only, epoch, version, facts, parts) VALUES (1, '', 1, 1, 0)")
    connection.close()
    pen.forget(pen.tell("gone"), kept)
    assert asked(store, "SELECT count(*) FROM removed") == 2
