"""A store that cannot be used is never an empty memory: every kind of failure is said, with code 4."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cofire import Memory
from tests.interfaces.calling import Ran, Store, call

NOBODY = 65534
COMMANDS = [
    ["list"],
    ["recall", "tea"],
    ["remember", "Tea is at four."],
    ["stats"],
    ["config", "list"],
    ["forget", "7"],
]


def assert_store_error(ran: Ran) -> None:
    assert (ran.code, ran.out) == (4, "")
    problem, way_out = ran.err.splitlines()
    assert problem.startswith("error: ")
    assert way_out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    "content", [b"Dear Ana, " * 1_000, b"SQLite format 3\x00" + b"\xff" * 5_000], ids=["letter", "garbage"]
)
def test_file_that_is_no_database(store: Store, content: bytes, command: list[str]) -> None:
    store.path.write_bytes(content)
    assert_store_error(call(*command))
    assert store.path.read_bytes() == content


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_folder_as_the_store(store: Store, command: list[str]) -> None:
    store.path.mkdir()
    assert_store_error(call(*command))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_damaged_store(store: Store, command: list[str]) -> None:
    store.holds(*(f"Note {number} about tea." for number in range(200)))
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))
    assert_store_error(call(*command))


def test_database_of_somebody_else(store: Store) -> None:
    with sqlite3.connect(store.path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    assert_store_error(call("list"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_store_of_a_newer_cofire(store: Store, command: list[str]) -> None:
    store.holds("Tea is at four.")
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    ran = call(*command)
    assert_store_error(ran)
    assert call(*command, "--json").error["kind"] == "StoreTooNew"


def test_place_where_no_file_can_be() -> None:
    assert_store_error(call("list", "--store", "/dev/null/memory.db"))


def test_address_of_a_server() -> None:
    assert_store_error(call("list", "--store", "gopher://localhost"))


@contextmanager
def somebody_without_rights() -> Iterator[None]:
    """For root everything may be written, so the test becomes nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with one fact, in a folder that everybody may read and nobody may write."""
    with TemporaryDirectory(prefix="cofire-read-only-") as folder:
        store = Store(Path(folder) / "memory.db")
        store.holds("Tea is at four.")
        monkeypatch.setenv("COFIRE_STORE", str(store.path))
        monkeypatch.setenv("COFIRE_CONFIG", str(Path(folder) / "config.toml"))
        call("recall", "tea")
        store.path.chmod(0o444)
        Path(folder).chmod(0o555)
        yield store
        Path(folder).chmod(0o755)


def test_read_only_store_is_read(read_only: Store) -> None:
    with somebody_without_rights():
        assert "Tea is at four." in call("recall", "tea").out
        assert "Tea is at four." in call("list").out


def test_a_reader_without_rights_sees_what_others_write(read_only: Store) -> None:
    with somebody_without_rights():
        reader = Memory(read_only.path, embedder=None)
        assert [hit.text for hit in reader.recall("tea")] == ["Tea is at four."]
    read_only.path.chmod(0o644)
    read_only.path.parent.chmod(0o755)
    with Memory(read_only.path, embedder=None) as writer:
        writer.forget([fact.id for fact in writer.facts()])
        writer.remember([f"Coffee {number} is at ten." for number in range(400)])
    read_only.path.chmod(0o444)
    read_only.path.parent.chmod(0o555)
    with somebody_without_rights():
        assert reader.recall("tea").ids == ()
        assert reader.recall("coffee").known
        assert len(reader.facts(limit=1_000)) == 400
        assert reader.check() == []
        reader.close()


@pytest.mark.parametrize(
    "command",
    [["remember", "Coffee is at ten."], ["config", "set", "statistics.growth", "0.2"]],
    ids=lambda words: words[0],
)
def test_read_only_store_is_not_written(read_only: Store, command: list[str]) -> None:
    with somebody_without_rights():
        ran = call(*command)
        assert_store_error(ran)
        assert call(*command, "--json").error["kind"] == "StoreReadOnly"


def test_settings_file_that_may_not_be_written_is_said(read_only: Store) -> None:
    with somebody_without_rights():
        assert_store_error(call("config", "set", "keyword.k1", "1.2"))
