"""A writer that finds the file locked waits a short while, again and again, and no longer than it was told."""

from __future__ import annotations

from pathlib import Path
from threading import Timer
from time import monotonic

import apsw
import pytest

from cofire.errors import StoreBusy
from cofire.stores.sqlite import connections
from cofire.stores.sqlite.connections import MAX_BUSY_WAIT, MIN_BUSY_WAIT, SqliteOptions, make_busy_handler
from cofire.stores.sqlite.store import SqliteStore
from tests.stores.making import Pen


def opened(folder: Path, seconds: float) -> SqliteStore:
    return SqliteStore.open(str(folder / "m.db"), SqliteOptions(seconds, "normal", "signs"))


def test_each_wait_is_short_and_of_chance_length(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(connections.time, "sleep", slept.append)
    waits = make_busy_handler(60)
    assert all(waits(times) for times in range(50))
    assert MIN_BUSY_WAIT <= min(slept) < max(slept) <= MAX_BUSY_WAIT


def test_patience_ends(tmp_path: Path) -> None:
    store = opened(tmp_path, 0.2)
    other = apsw.Connection(store.path)
    other.execute("BEGIN IMMEDIATE")
    begun = monotonic()
    with pytest.raises(StoreBusy):
        Pen(store).tell("never")
    assert 0.2 <= monotonic() - begun < 5
    other.close()
    store.close()


def test_the_file_is_taken_when_it_is_free(tmp_path: Path) -> None:
    store = opened(tmp_path, 30)
    other = apsw.Connection(store.path)
    other.execute("BEGIN IMMEDIATE")
    timer = Timer(0.2, lambda: other.execute("COMMIT"))
    timer.start()
    begun = monotonic()
    Pen(store).tell("at last")
    assert monotonic() - begun < 10
    timer.join()
    other.close()
    store.close()
