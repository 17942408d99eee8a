"""Many hands: what stays safe when others write at the same moment, when a process goes elsewhere, when a write fails, and what a
purge leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any

import apsw
import pytest

from cofire import Memory
from cofire.copying import restore
from cofire.errors import Conflict, StoreBusy
from cofire.model import Change
from cofire.stores.sqlite import backups
from cofire.stores.sqlite.learning import RECALLS_PER_WRITE
from cofire.stores.sqlite.store import SqliteStore
from tests.conftest import HashedWords


def test_nobody_writes_while_a_restore_keeps_aside_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_aside, met = backups._save_former_content, list[type]()

    def meeting(*given: Any, **options: Any) -> str | None:
        with Memory(tmp_path / "team.db", embedder=None, settings={"store.busy_seconds": 0.1}) as late:
            with pytest.raises(StoreBusy) as refused:
                late.remember("Milk.")
            met.append(refused.type)
        return kept_aside(*given, **options)

    monkeypatch.setattr(backups, "_save_former_content", meeting)
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        memory.remember("Tea.")
        memory.backup(tmp_path / "copy.db")
    restore(str(tmp_path / "copy.db"), str(tmp_path / "team.db"), force=True)
    assert met == [StoreBusy]
    assert sorted(path.name for path in tmp_path.glob("team.db*")) == ["team.db", "team.db.before-restore-1"]


def test_receipts_are_where_the_store_is_wherever_the_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "link.db").symlink_to(tmp_path / "here" / "team.db")
    with Memory("team.db", embedder=None) as memory:
        tea, milk = memory.remember(["Tea.", "Milk."])
        monkeypatch.chdir(tmp_path / "there")
        forgotten = memory.forget(tea)
        assert memory.stats().size.bytes > 0
    with Memory(tmp_path / "link.db", embedder=None) as linked:
        assert forgotten.receipt is not None
        linked.undo(forgotten.receipt.id)
        other = linked.forget(milk)
    with Memory(tmp_path / "here" / "team.db", embedder=None) as memory:
        assert other.receipt is not None
        memory.undo(other.receipt.id)
        assert {fact.id for fact in memory.facts()} == {tea, milk}


def test_what_was_left_of_a_receipt_goes_with_the_next_purge(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        tea, milk = memory.remember(["Tea.", "Milk."])
        memory.forget(tea)
        folder = tmp_path / "team.db.receipts"
        left, coming = folder / "left.json.gz.x.unfinished", folder / "coming.json.gz.y.unfinished"
        for path in (left, coming):
            path.write_bytes(b"Tea.")
        os.utime(left, (0, 0))
        memory.forget(milk, purge=True)
        assert (left.exists(), coming.exists()) == (False, True), "what another process writes just now is left alone"


def test_a_recall_can_be_judged_after_a_write_that_failed(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        tea = memory.remember("Tea is at four.")
        found = memory.recall("When is tea?")
        with pytest.raises(Conflict):
            memory._opened.context.store.write(Change(now=datetime.now(UTC)), {"model": 99})
        memory.feedback(found.id, helped=tea)
        assert memory.use(tea).helped == 1


def test_what_was_logged_once_is_not_logged_again_after_a_write_that_failed(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None, settings={"store.busy_seconds": 0.05}) as memory:
        memory.remember("Tea is at four.")
        for _ in range(RECALLS_PER_WRITE):
            memory.recall("When is tea?")
        with closing(apsw.Connection(str(tmp_path / "team.db"))) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusy):
                memory.remember("Milk.")
            other.execute("ROLLBACK")
        memory.remember("Milk.")
        assert len(memory.facts()) == 2


def test_a_purge_waits_for_those_who_read(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        tea = memory.remember("Xochiquetzal pours the tea.")
        reader = apsw.Connection(str(tmp_path / "team.db"))
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM facts").fetchall()
        ends = Timer(0.3, lambda: reader.execute("COMMIT"))
        ends.start()
        memory.forget(tea, purge=True)
        ends.join()
        left = (tmp_path / "team.db").read_bytes() + (tmp_path / "team.db-wal").read_bytes()
        assert b"xochiquetzal" not in left.lower()
        reader.close()


def test_an_interrupt_at_the_beginning_of_a_write_keeps_nobody_out(tmp_path: Path) -> None:
    """As Ctrl-C does when it comes just after the lock was taken."""
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        store = memory._opened.context.store
        assert isinstance(store, SqliteStore)
        line = store._open_lines().for_writing()

        class Interrupted:
            def __getattr__(self, name: str) -> Any:
                return getattr(connection, name)

            def execute(self, *given: Any) -> Any:
                found = connection.execute(*given)
                if given[0] == "BEGIN IMMEDIATE":
                    raise KeyboardInterrupt
                return found

        connection, line.connection = line.connection, Interrupted()  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            memory.remember("Tea.")
        line.connection = connection
        with Memory(tmp_path / "team.db", embedder=None, settings={"store.busy_seconds": 0.1}) as other:
            other.remember("Milk.")
        memory.remember("Tea.")


def test_an_interrupt_while_an_index_follows_leaves_it_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as mine, Memory(tmp_path / "team.db", embedder=None) as theirs:
        mine.remember("Tea is at four.")
        mine.recall("tea")
        theirs.remember(["Milk comes on Monday.", "Coffee is at five."])
        index = mine._opened.context.store._live._index  # type: ignore[attr-defined]
        with monkeypatch.context() as patched:
            patched.setattr(type(index.signs), "add", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                mine.recall("coffee")
        asked = [mine.recall(word).texts for word in ("coffee", "milk", "tea")]
        assert asked == [theirs.recall(word).texts for word in ("coffee", "milk", "tea")]
        assert [mine.recall(word)[0].text for word in ("coffee", "milk")] == [
            "Coffee is at five.",
            "Milk comes on Monday.",
        ]


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("seed", [2, 3])
def test_a_purge_leaves_no_trace_in_pages_that_go_on_being_used(tmp_path: Path, seed: int) -> None:
    """Where a page fills up SQLite moves what it holds, and leaves a copy behind that no later removal reaches."""
    chance = Random(seed)
    with Memory(tmp_path / "team.db", embedder=HashedWords(), settings={"auto_link.threshold": 0.3}) as memory:
        told = {
            name: memory.remember(f"{name} {_name(chance)} met the baker in Porto.") for name in _names(chance, 150)
        }
        purged = chance.sample(list(told), 30)
        for name in purged:
            memory.forget(told[name], purge=True)
    left = (tmp_path / "team.db").read_bytes().lower()
    assert [name for name in purged if name.lower().encode() in left] == []


def _names(chance: Random, many: int) -> Iterator[str]:
    return (_name(chance) for _ in range(many))


def _name(chance: Random) -> str:
    return "".join(chance.choice("bcdfglmnprst") + chance.choice("aeiou") for _ in range(6)).capitalize()
