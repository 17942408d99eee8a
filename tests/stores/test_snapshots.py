"""A snapshot of the index is a convenience: one that another version wrote is left alone."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from cofire import Memory
from cofire.stores.index import snapshot
from cofire.stores.sqlite import live_index
from tests.conftest import HashedWords


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a snapshot in it."""
    monkeypatch.setattr(live_index, "SMALLEST_SNAPSHOT", 5)
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
    arrays = snapshot.arrays(parts)
    del arrays["id"]
    connection.execute("DELETE FROM snapshot_parts")
    for number, part in enumerate(snapshot.parts(arrays)):
        connection.execute("INSERT INTO snapshot_parts(part, bytes) VALUES (?, ?)", (number, part))
    connection.close()
    with Memory(path, embedder=HashedWords()) as memory:
        assert memory.recall("tea number 7")[0].text == "tea number 7"
