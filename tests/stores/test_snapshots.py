"""A snapshot of the index is a convenience: one that another version wrote is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest

from cofire import Memory
from cofire.index import snapshot
from cofire.stores.sqlite import live_index
from cofire.stores.sqlite.store import SqliteStore
from tests.conftest import HashedWords, sqlite_store
from tests.stores.making import Pen, cue, everywhere, holding, vector


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a snapshot in it."""
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 5)
    with Memory(tmp_path / "m.db", embedder=HashedWords()) as memory:
        memory.remember([f"tea number {number}" for number in range(12)])
    return tmp_path / "m.db"


def test_a_snapshot_is_written_and_read_again(path: Path) -> None:
    assert apsw.Connection(str(path)).execute("SELECT count(*) FROM snapshots").get == 1
    with Memory(path, embedder=HashedWords()) as memory:
        assert memory.recall("tea number 7")[0].text == "tea number 7"


def test_a_snapshot_of_another_form_is_left_alone(path: Path) -> None:
    connection = apsw.Connection(str(path))
    parts = (part for (part,) in connection.execute("SELECT bytes FROM snapshot_parts ORDER BY part"))
    arrays = snapshot.join_arrays(parts)
    del arrays["id"]
    connection.execute("DELETE FROM snapshot_parts")
    for number, part in enumerate(snapshot.split_arrays(arrays)):
        connection.execute("INSERT INTO snapshot_parts(part, bytes) VALUES (?, ?)", (number, part))
    connection.close()
    with Memory(path, embedder=HashedWords()) as memory:
        assert memory.recall("tea number 7")[0].text == "tea number 7"


ONE, TWO, THREE = IDS = [f"{number:026}" for number in (1, 2, 3)]


@pytest.fixture(params=["signs", "usearch"])
def reopened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[SqliteStore]:
    """A store out of a snapshot: three turns that mention a name, the second of which was removed, and facts beside them."""
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 1)
    first = sqlite_store(tmp_path, request.param)
    pen = Pen(first)
    pen.settle()
    turns = [
        holding(pen.new(text, vector(1, 1, 0, 0), session="s", speaker=speaker), {"kettle": (0,)}, {})
        for text, speaker in (("one tea", "Ana"), ("two", "Cleo"), ("three tea", "Ben"))
    ]
    pen.write(*turns, *(pen.new(f"beside {number}", vector(1, 0, 1, 0)) for number in range(3)))
    assert first.search_words(cue("tea"), 5, everywhere()) == [THREE, ONE]
    pen.forget(TWO)
    pen.recount("default")
    # A graph cannot let go of what was forgotten, so it is made anew rather than kept.
    assert apsw.Connection(first.path).execute("SELECT count(*) FROM snapshots").get == (request.param == "signs")
    first.close()
    again = sqlite_store(tmp_path, request.param)
    yield again
    again.close()


def test_turns_voices_and_names_come_out_of_a_snapshot(reopened: SqliteStore) -> None:
    found = reopened.fetch_features([ONE, THREE], ["tea"], 1, 1)
    assert (found.around.tolist(), found.counts.tolist()) == ([[-1, 1], [0, -1]], [[1.0], [1.0]])
    assert found.speakers == ("Ana", "Ben")
    assert reopened.match_speakers(["default"], ["ana", "ben", "cleo"]) == {"Ana", "Ben"}
    paths = reopened.fetch_name_links([ONE], everywhere(), 10, 10)
    assert (paths.ids, paths.name, paths.count.tolist()) == ((ONE, THREE), ("kettle",), [2])


def test_a_snapshot_is_followed_by_facts_with_and_without_names(reopened: SqliteStore) -> None:
    pen = Pen(reopened)
    plain = pen.new("plain tea", session="s", id="7".zfill(26))
    named = holding(pen.new("named tea", session="s", speaker="Dan", id="8".zfill(26)), {}, {"kettle": 0.5})
    for new in (plain, named):
        pen.write(new)
        assert new.fact.id in reopened.search_words(cue("tea"), 5, everywhere())
    assert {*reopened.fetch_name_links([ONE], everywhere(), 10, 10).ids} == {ONE, named.fact.id, THREE}
    found = reopened.fetch_features([ONE, THREE, plain.fact.id, named.fact.id], ["tea"], 1, 0)
    assert found.around.tolist() == [[-1, 1], [0, 2], [1, 3], [2, -1]]
    assert found.counts.tolist() == [[1.0]] * 4
    assert reopened.match_speakers(["default"], ["dan"]) == {"Dan"}


def test_one_who_had_to_read_the_tables_keeps_what_was_read_for_the_next(path: Path) -> None:
    connection = apsw.Connection(str(path))
    live_index.delete_snapshot(connection)
    with Memory(path, embedder=HashedWords()) as memory:
        assert memory.recall("tea number 7")[0].text == "tea number 7"
        assert connection.execute("SELECT count(*) FROM snapshots").get == 0
    assert connection.execute("SELECT count(*), max(facts) FROM snapshots").get == (1, 12)
    with Memory(path, embedder=HashedWords()) as memory:
        assert memory.recall("tea number 7")[0].text == "tea number 7"


def test_one_who_closes_keeps_what_came_since_though_it_is_not_much(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 1)
    connection = apsw.Connection(str(path))
    with Memory(path, embedder=HashedWords()) as memory:
        memory.remember(["coffee number 1", "coffee number 2"])
        assert memory.recall("coffee number 2")[0].text == "coffee number 2"
        assert connection.execute("SELECT facts FROM snapshots").get == 12
    assert connection.execute("SELECT facts FROM snapshots").get == 14


def test_one_who_asked_nothing_reads_no_tables_to_keep_them(path: Path) -> None:
    connection = apsw.Connection(str(path))
    live_index.delete_snapshot(connection)
    Memory(path, embedder=HashedWords()).close()
    assert connection.execute("SELECT count(*) FROM snapshots").get == 0


def test_nothing_is_kept_while_another_writes_and_closing_does_not_wait(path: Path) -> None:
    connection = apsw.Connection(str(path))
    live_index.delete_snapshot(connection)
    memory = Memory(path, embedder=HashedWords(), settings={"recall_log.enabled": False})
    memory.recall("tea")
    connection.execute("BEGIN IMMEDIATE")
    memory.close()
    connection.execute("COMMIT")
    assert connection.execute("SELECT count(*) FROM snapshots").get == 0


def test_that_it_cannot_be_kept_is_told_and_closing_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connection = apsw.Connection(str(path))
    live_index.delete_snapshot(connection)

    def full(*_: object) -> None:
        raise apsw.FullError("disk full")

    monkeypatch.setattr(live_index, "save_snapshot", full)
    memory = Memory(path, embedder=HashedWords())
    memory.recall("tea")
    memory.close()
    assert "could not be kept for the next process: disk full" in caplog.text
    assert connection.execute("SELECT count(*) FROM facts").get == 12


def test_connections_are_closed_whatever_happens_while_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 1)
    store = sqlite_store(tmp_path)
    Pen(store).tell("tea")
    store.search_words(cue("tea"), 5, everywhere())
    reader = store._open_lines().reader.connection

    def no_room(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(live_index, "save_snapshot", no_room)
    with pytest.raises(MemoryError):
        store.close()
    with pytest.raises(apsw.ConnectionClosedError):
        reader.execute("SELECT 1")


def test_a_graph_read_anew_keeps_no_dead_and_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 1)
    first = sqlite_store(tmp_path, "usearch")
    pen = Pen(first)
    pen.settle()
    ids = [pen.tell(f"tea {number}", vector(1, number, 0, 0)) for number in range(4)]
    first.search_words(cue("tea"), 5, everywhere())
    pen.forget(ids[0])
    first.close()
    again = sqlite_store(tmp_path, "usearch")
    assert again.search_words(cue("tea"), 5, everywhere()) == ids[:0:-1]
    again.close()
    assert apsw.Connection(again.path).execute("SELECT facts FROM snapshots").get == 3


def test_arrays_stand_where_compiled_code_may_read_them_whatever_stands_before_them() -> None:
    said = {"names": np.array([b"abc"]), "numbers": np.arange(3), "marks": np.ones(5, np.bool_), "shares": np.ones(2)}
    read = snapshot.join_arrays(snapshot.split_arrays(said))
    assert {name: array.tolist() for name, array in read.items()} == {name: a.tolist() for name, a in said.items()}
    assert all(array.flags.aligned for array in read.values())
