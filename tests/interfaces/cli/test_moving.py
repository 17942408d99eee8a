"""`cofire export` and `import`: memory as a file, and back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.interfaces.calling import Store, call, call_at_terminal, call_process, start_process


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
    assert ran.out == f"Read 2 facts and 1 edge from {exported}; 2 new facts.\n"
    assert new.texts == store.texts
    assert len(call("edges", "--store", str(new.path), "--json").json["edges"]) == 1


def test_import_of_what_is_known_stores_nothing_twice(store: Store, exported: Path) -> None:
    assert call("import", str(exported), "--json").json["facts"] == 2
    assert len(store.facts()) == 2


def test_import_says_how_many_facts_are_new(ids: list[str], exported: Path) -> None:
    assert call("import", str(exported)).out.endswith("; 0 new facts.\n")
    call("forget", ids[0])
    assert call("import", str(exported)).out == f"Read 2 facts and 1 edge from {exported}; 1 new fact.\n"


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_export_to_a_dash_writes_the_lines_alone(exported: Path, more: tuple[str, ...]) -> None:
    ran = call("export", "-", *more)
    assert (ran.code, ran.out, ran.err) == (0, exported.read_text(encoding="utf-8"), "")
    assert not Path("-").exists()


def test_export_to_a_dash_is_in_utf8_whatever_the_output_speaks(store: Store) -> None:
    store.holds("Café is at ten.")
    assert "Café is at ten." in call_process("export", "-", PYTHONIOENCODING="ascii").out


def test_export_to_a_pipe_that_is_closed_ends_quietly(store: Store) -> None:
    store.holds(*(f"Tea number {number}. {'x' * 900}" for number in range(200)))
    process = start_process("export", "-", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr is not None
    with process.stderr as said:
        assert said.read() == b""


def test_import_from_a_dash_reads_standard_input(store: Store, exported: Path, tmp_path: Path) -> None:
    new = Store(tmp_path / "new.db")
    ran = call("import", "-", "--store", str(new.path), given=exported.read_bytes())
    assert (ran.code, ran.out) == (0, "Read 2 facts and 1 edge from standard input; 2 new facts.\n")
    assert new.texts == store.texts


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (b"", "Standard input is not an export"),
        (b"{broken", "Standard input is not an export"),
        (b'{"is": "export", "format": "cofire", "version": 1}\n{broken', "Line 2 of standard input is not JSON"),
        (b"caf\xe9", "The input is not UTF-8 text: byte 4 is 0xe9."),
    ],
)
def test_what_cannot_be_imported_from_standard_input_is_refused(given: bytes, problem: str) -> None:
    ran = call("import", "-", given=given)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {problem}")


def test_import_of_what_is_no_utf8_says_how_to_convert_it(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"is": "caf\xe9"}')
    ran = call("import", str(tmp_path / "latin.jsonl"))
    assert ran.code == 2
    assert "is not UTF-8 text: byte 12 is 0xe9." in ran.err
    assert "Convert it to UTF-8 first" in ran.err


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
    assert "already exists" in ran.err
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


@pytest.mark.parametrize("content", [None, b"", b"just some words", b'{"is": "fact"}'])
def test_import_of_what_is_no_export_is_refused(store: Store, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_bytes(content)
    ran = call("import", str(path), "--json")
    assert ran.code == 2
    assert ran.error["kind"] == "InvalidInput"
    assert store.facts() == []


@pytest.mark.parametrize("content", ['{"text": "Tea is hot."}\n', '"Tea is hot."\n', "Tea is hot.\n"])
def test_import_of_plain_lines_names_the_command_for_them(store: Store, tmp_path: Path, content: str) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text(content, encoding="utf-8")
    ran = call("import", str(path), "--json")
    assert ran.code == 2
    assert "is not an export of cofire" in ran.error["problem"]
    assert "cofire remember --file FILE" in ran.error["way_out"]
    assert store.facts() == []


def test_plain_json_lines_are_remembered_as_the_error_of_import_says(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text('{"text": "Tea is hot."}\n"Milk is cold."\n', encoding="utf-8")
    assert call("remember", "--file", str(path)).code == 0
    assert sorted(fact.text for fact in store.facts()) == ["Milk is cold.", "Tea is hot."]


def test_import_of_a_newer_export_asks_for_an_update(store: Store, exported: Path) -> None:
    lines = exported.read_text(encoding="utf-8").split("\n")
    head = {**json.loads(lines[0]), "version": 1_000}
    exported.write_text("\n".join([json.dumps(head), *lines[1:]]), encoding="utf-8")
    ran = call("import", str(exported), "--json")
    assert "newer cofire" in ran.error["problem"]
    assert "Update cofire" in ran.error["way_out"]


def test_both_draw_their_progress_at_a_terminal(exported: Path, tmp_path: Path) -> None:
    assert "importing" in call_at_terminal("import", str(exported)).out
    assert "exporting" in call_at_terminal("export", str(tmp_path / "again.jsonl")).out
