"""What the tests of the doors share: a store and settings of their own, and three ways to call the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.calling import Store


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store and settings in a folder of the test, no embedder, and a terminal of the usual width."""
    monkeypatch.setenv("COFIRE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("COFIRE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "none")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "COFIRE_DEBUG", "TTY_COMPATIBLE", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The store that every call of this test uses unless it names another."""
    return Store(tmp_path / "memory.db")
