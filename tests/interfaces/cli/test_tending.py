"""`cofire backup`, `restore` and `reembed`: looking after a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.calling import Store, call


@pytest.fixture
def backup(store: Store, tmp_path: Path) -> Path:
    store.holds("Tea is at four.", "Coffee is at ten.")
    path = tmp_path / "backup.db"
    assert call("backup", str(path)).code == 0
    return path


def test_backup_is_a_store_with_the_same_facts(store: Store, backup: Path) -> None:
    assert Store(backup).texts == store.texts


def test_backup_says_how_to_bring_it_back(store: Store, tmp_path: Path) -> None:
    store.holds("Tea is at four.")
    path = tmp_path / "backup.db"
    assert call("backup", str(path)).out == f"Copied 1 fact to {path}. Restore them with: cofire restore {path}\n"


def test_backup_overwrites_nothing(backup: Path) -> None:
    before = backup.read_bytes()
    ran = call("backup", str(backup))
    assert ran.code == 4
    assert "exists already" in ran.err
    assert backup.read_bytes() == before


def test_backup_to_an_impossible_place_is_an_error(store: Store, tmp_path: Path) -> None:
    ran = call("backup", str(tmp_path / "no" / "such" / "folder" / "b.db"))
    assert ran.code == 4
    assert "Traceback" not in ran.err


def test_restore_makes_a_new_store(backup: Path, tmp_path: Path) -> None:
    new = tmp_path / "new" / "memory.db"
    told = call("restore", str(backup), "--store", str(new), "--json").json
    assert (told["facts"], told["replaced"]) == (2, None)
    assert Store(new).texts == Store(backup).texts


def test_restore_does_not_replace_facts_unless_forced(store: Store, backup: Path) -> None:
    store.holds("Milk is at noon.")
    ran = call("restore", str(backup))
    assert ran.code == 4
    assert "--force" in ran.err
    assert "Milk is at noon." in store.texts


def test_forced_restore_keeps_what_was_there(store: Store, backup: Path) -> None:
    store.holds("Milk is at noon.")
    kept = call("restore", str(backup), "--force", "--json").json["replaced"]
    assert store.texts == Store(backup).texts
    assert "Milk is at noon." in Store(Path(kept)).texts


@pytest.mark.parametrize("content", [None, b"", b"no database at all, just some words"])
def test_restore_of_what_is_no_backup_is_refused(store: Store, tmp_path: Path, content: bytes | None) -> None:
    store.holds("Tea is at four.")
    if content is not None:
        (tmp_path / "bad.db").write_bytes(content)
    ran = call("restore", str(tmp_path / "bad.db"), "--force")
    assert ran.code == 4
    assert store.texts == {"Tea is at four."}


def test_reembed_gives_every_fact_a_vector(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.holds("Tea is at four.", "Coffee is at ten.")
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    told = call("reembed", "--json").json
    assert told["embedded"] == 2
    assert call("stats", "--json").json["without_vector"] == 0
    assert call("reembed").out == f"Embedded 0 facts with {told['model']}.\n"


def test_reembed_without_an_embedder_says_how_to_get_one() -> None:
    ran = call("reembed")
    assert ran.code == 5
    assert "cofire config set embedder.name" in ran.err
