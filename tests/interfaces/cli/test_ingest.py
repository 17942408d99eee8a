"""`cofire ingest`: conversations and documents become facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.calling import Store, call, call_at_terminal


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with a page of two facts, and things that cannot be read."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "day.md").write_text("# The day\n\nTea is at four.\n\nCoffee is at ten.\n", encoding="utf-8")
    (folder / "broken.txt").write_bytes(b"tea\0")
    for name in ("a.png", "b.png", "c.png", "d.png"):
        (folder / name).write_bytes(b"")
    return folder


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    turns = [("system", "You are kind."), ("user", "When is tea?"), ("assistant", "At four.")]
    path.write_text(json.dumps([{"role": role, "content": text} for role, text in turns]), encoding="utf-8")
    return path


def test_ingest_of_a_folder_counts_and_groups_what_it_skipped(store: Store, notes: Path) -> None:
    ran = call("ingest", str(notes))
    assert ran.code == 0
    first, *skipped = ran.out.splitlines()
    assert first == "2 new facts, 0 already stored, 1 file"
    assert "1 skipped: This is a binary file." in skipped
    assert any(line.startswith("4 skipped: Only .md") for line in skipped)
    assert any(line.endswith("c.png, … 1 more") for line in skipped)
    assert store.texts == {"Tea is at four.", "Coffee is at ten."}


def test_second_run_stores_nothing_twice(store: Store, notes: Path) -> None:
    first = call("ingest", str(notes), "--json").json
    second = call("ingest", str(notes), "--json").json
    assert second["ids"] == first["ids"]
    assert (second["fresh"], second["known"]) == (0, 2)
    assert len(store.facts()) == 2


def test_several_paths_are_counted_together(notes: Path, chat: Path) -> None:
    assert call("ingest", str(notes), str(chat)).out.startswith("4 new facts, 0 already stored, 2 files\n")


def test_options_hold_for_every_fact(store: Store, notes: Path) -> None:
    assert call("ingest", str(notes), "--tag", "habit", "--scope", "home", "--meta", "by=Mei").code == 0
    for fact in store.facts():
        assert (fact.tags, fact.scope, fact.metadata["by"]) == (("habit",), "home", "Mei")


def test_system_messages_are_taken_in_if_told(store: Store, chat: Path) -> None:
    assert "1 skipped: A system message." in call("ingest", str(chat)).out
    assert "You are kind." not in store.texts
    assert call("ingest", str(chat), "--system").out == "1 new fact, 2 already stored, 1 file\n"
    assert "You are kind." in store.texts


def test_path_that_is_not_there_is_code_2(tmp_path: Path) -> None:
    ran = call("ingest", str(tmp_path / "nowhere"), "--json")
    assert ran.code == 2
    assert "There is no file or folder" in ran.error["problem"]


def test_standard_input_is_refused_with_what_to_do_instead(chat: Path) -> None:
    ran = call("ingest", str(chat), "-", given="Tea is at four.")
    assert ran.code == 2
    assert "not standard input" in ran.err
    assert "cofire remember -" in ran.err


def test_bad_path_after_a_good_one_says_what_is_kept(store: Store, chat: Path, notes: Path) -> None:
    ran = call("ingest", str(chat), str(notes / "broken.txt"))
    assert ran.code == 2
    assert "This is a binary file. 1 earlier file is stored." in ran.err
    assert len(store.facts()) == 2


def test_bad_option_is_refused_before_anything_is_read(store: Store, notes: Path) -> None:
    assert call("ingest", str(notes), "--at", "someday").code == 2
    assert store.facts() == []


def test_ingest_draws_its_progress_and_advises_at_a_terminal(notes: Path) -> None:
    ran = call_at_terminal("ingest", str(notes))
    assert ran.code == 0
    assert "ingesting" in ran.out
    assert "/?" not in ran.out
    assert "dream when you have a moment" in ran.out


def test_recall_names_the_file_that_a_fact_came_from(notes: Path) -> None:
    file = notes / "kettle.md"
    file.write_text("# Kettle\n\nThe kettle boils in Lisbon.\n", encoding="utf-8")
    assert call("ingest", str(file)).code == 0
    assert file.as_posix() in call("recall", "Where does the kettle boil?").out.replace("\n", "").replace(
        "         ", ""
    )
    assert f"Kettle, {file.as_posix()}" in call("recall", "Where does the kettle boil?", "--text").out
