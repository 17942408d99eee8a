"""`cofire export` and `import`: memory as a file, and back."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.doors.calling import Store, call, call_at_terminal


@pytest.fixture
def ids(store: Store) -> list[str]:
    return store.holds("Tea is at four.", "Coffee is at ten.", tags=["habit"], session="day")


@pytest.fixture
def exported(ids: list[str], tmp_path: Path) -> Path:
    path = tmp_path / "team.jsonl"
    assert call("export", str(path)).out == f"Wrote 2 facts and 1 edge to {path}.\n"
    return path


def test_import_brings_back_facts_and_edges(store: Store, exported: Path, tmp_path: Path) -> None:
    new = Store(tmp_path / "new.db")
    ran = call("import", str(exported), "--store", str(new.path))
    assert ran.out == f"Read 2 facts and 1 edge from {exported}.\n"
    assert new.texts == store.texts
    assert len(call("edges", "--store", str(new.path), "--json").json["edges"]) == 1


def test_import_of_what_is_known_stores_nothing_twice(store: Store, exported: Path) -> None:
    assert call("import", str(exported), "--json").json["facts"] == 2
    assert len(store.facts()) == 2


def test_export_takes_filters(store: Store, ids: list[str], tmp_path: Path) -> None:
    store.holds("Milk is at noon.", scope="work")
    told = call("export", str(tmp_path / "work.jsonl"), "--scope", "work", "--json").json
    assert (told["facts"], told["edges"]) == (1, 0)


def test_export_makes_graphml_by_name(ids: list[str], tmp_path: Path) -> None:
    path = tmp_path / "team.graphml"
    assert call("export", str(path)).code == 0
    assert ElementTree.parse(path).getroot().tag.endswith("graphml")


def test_export_replaces_a_file_only_if_forced(exported: Path) -> None:
    before = exported.read_bytes()
    ran = call("export", str(exported), "--tag", "none")
    assert ran.code == 4
    assert "exists already" in ran.err
    assert exported.read_bytes() == before
    assert call("export", str(exported), "--tag", "none", "--force", "--json").json["facts"] == 0


def test_export_never_replaces_the_store(store: Store, ids: list[str]) -> None:
    ran = call("export", str(store.path), "--force")
    assert ran.code == 4
    assert "is the store itself" in ran.err
    assert len(store.facts()) == 2


def test_export_to_an_impossible_place_is_code_4(ids: list[str], tmp_path: Path) -> None:
    ran = call("export", str(tmp_path / "no" / "folder" / "team.jsonl"))
    assert ran.code == 4
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("content", "code"), [(None, 4), (b"", 2), (b"just some words", 2), (b'{"is": "fact"}', 2)])
def test_import_of_what_is_no_export_is_refused(store: Store, tmp_path: Path, content: bytes | None, code: int) -> None:
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_bytes(content)
    ran = call("import", str(path), "--json")
    assert ran.code == code
    assert ran.error["kind"] in {"InvalidInput", "StoreNotOpened"}
    assert store.facts() == []


def test_both_draw_their_progress_at_a_terminal(exported: Path, tmp_path: Path) -> None:
    assert "importing" in call_at_terminal("import", str(exported)).out
    assert "exporting" in call_at_terminal("export", str(tmp_path / "again.jsonl")).out
