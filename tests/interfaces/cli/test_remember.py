"""`cofire remember`: texts, standard input and files become facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.calling import Store, call


def lines(path: Path, *each: object) -> str:
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in each), encoding="utf-8")
    return str(path)


def test_remembered_text_is_stored_and_its_id_printed_alone(store: Store) -> None:
    ran = call("remember", "Ana leads the Berlin office.")
    [fact] = store.facts()
    assert (ran.code, ran.out, ran.err) == (0, f"{fact.id}\n", "")
    assert fact.text == "Ana leads the Berlin office."


def test_each_text_is_a_fact_of_its_own(store: Store) -> None:
    ran = call("remember", "Tea is at four.", "Coffee is at ten.")
    assert ran.out.split() == [fact.id for fact in reversed(store.facts())]
    assert store.texts == {"Tea is at four.", "Coffee is at ten."}


def test_all_that_can_be_said_of_a_fact_is_kept(store: Store) -> None:
    said = [
        "--tag",
        "db",
        "--tag",
        "Prod",
        "--category",
        "knowledge",
        "--subject",
        "PgBouncer",
        "--session",
        "deploy-42",
    ]
    said += [
        "--speaker",
        "Ana",
        "--scope",
        "team-a",
        "--source",
        "runbook.md",
        "--meta",
        "page=3",
        "--meta",
        "note=a=b",
    ]
    said += ["--at", "2026-05-08T13:56:00+02:00", "--valid-from", "2026-01-01", "--valid-until", "2099-01-01"]
    call("remember", "PgBouncer runs in transaction mode.", *said, "--expires", "2099-12-31")
    [fact] = store.facts()
    assert (fact.tags, fact.category, fact.subject, fact.session) == (
        ("db", "prod"),
        "knowledge",
        "PgBouncer",
        "deploy-42",
    )
    assert (fact.speaker, fact.scope, fact.source, fact.metadata) == (
        "Ana",
        "team-a",
        "runbook.md",
        {"page": "3", "note": "a=b"},
    )
    assert fact.at is not None
    assert fact.at.isoformat() == "2026-05-08T11:56:00+00:00"
    assert [fact.valid_from.year, fact.valid_until.year, fact.expires.year] == [2026, 2099, 2099]  # type: ignore[union-attr]


def test_same_fact_told_again_keeps_its_id(store: Store) -> None:
    assert call("remember", "Tea is at four.").out == call("remember", "Tea is at four.").out
    assert len(store.facts()) == 1


def test_dash_reads_standard_input_as_one_fact(store: Store) -> None:
    call("remember", "-", given="First line.\nSecond line.\n")
    assert store.texts == {"First line.\nSecond line."}


def test_ids_come_as_json() -> None:
    ran = call("remember", "Tea is at four.", "Coffee is at ten.", "--json")
    assert list(ran.json) == ["ids"]
    assert len(ran.json["ids"]) == 2


def test_unquoted_words_are_not_stored_as_facts(store: Store) -> None:
    ran = call("remember", "Ana", "leads", "Berlin")
    assert ran.code == 2
    assert "Put quotes around the text" in ran.err
    assert store.facts() == []


def test_scripts_without_spaces_need_no_spaces(store: Store) -> None:
    assert call("remember", "東京は首都です", "京都は古都です").code == 0
    assert len(store.facts()) == 2


def test_one_word_is_a_fact(store: Store) -> None:
    assert call("remember", "Tea").code == 0
    assert store.texts == {"Tea"}


def test_every_line_of_a_file_is_a_fact(store: Store, tmp_path: Path) -> None:
    ran = call(
        "remember",
        "--file",
        lines(tmp_path / "notes.txt", "Tea is at four.", "", "  Coffee is at ten. "),
        "--tag",
        "habit",
    )
    assert (ran.code, ran.out) == (0, "Stored 2 facts.\n")
    assert store.texts == {"Tea is at four.", "Coffee is at ten."}
    assert {fact.tags for fact in store.facts()} == {("habit",)}


def test_json_lines_carry_their_own_fields(store: Store, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "notes.jsonl", {"text": "Tea is at four.", "speaker": "Mei", "tags": ["habit"]}, '"Just a text."'
    )
    assert call("remember", "--file", file, "--speaker", "Ana").code == 0
    assert {fact.text: fact.speaker for fact in store.facts()} == {"Tea is at four.": "Mei", "Just a text.": "Ana"}


def test_lines_that_say_the_same_are_counted_as_one_fact(store: Store, tmp_path: Path) -> None:
    file = lines(tmp_path / "notes.txt", "Tea is at four.", "Coffee is at ten.", "Tea is at four.")
    assert call("remember", "--file", file).out == "Stored 2 facts from 3 lines.\n"


def test_tags_and_metadata_given_beside_are_added_to_those_of_a_line(store: Store, tmp_path: Path) -> None:
    own = {"text": "Tea is at four.", "tags": ["habit"], "metadata": {"page": 3}}
    file = lines(tmp_path / "notes.jsonl", own, {"text": "Coffee is at ten.", "tags": "drink"}, '"Just a text."')
    assert call("remember", "--file", file, "--tag", "all", "--meta", "page=1", "--meta", "by=Mei").code == 0
    assert {fact.text: (fact.tags, fact.metadata) for fact in store.facts()} == {
        "Tea is at four.": (("all", "habit"), {"page": 3, "by": "Mei"}),
        "Coffee is at ten.": (("all", "drink"), {"page": "1", "by": "Mei"}),
        "Just a text.": (("all",), {"page": "1", "by": "Mei"}),
    }


@pytest.mark.parametrize(("field", "problem"), [({"tags": 3}, "Tags must be"), ({"metadata": [1]}, "metadata must be")])
def test_tags_and_metadata_that_are_none_are_refused_beside_others(
    tmp_path: Path, field: dict[str, object], problem: str
) -> None:
    file = lines(tmp_path / "notes.jsonl", {"text": "Tea is at four.", **field})
    ran = call("remember", "--file", file, "--tag", "all", "--meta", "by=Mei")
    assert ran.code == 2
    assert problem in ran.err


def test_lines_may_come_by_standard_input(store: Store) -> None:
    call("remember", "--file", "-", given="Tea is at four.\r\nCoffee is at ten.\r\n")
    call("remember", "--file", "-", "--jsonl", given='{"text": "Milk is at noon."}\n')
    assert store.texts == {"Tea is at four.", "Coffee is at ten.", "Milk is at noon."}


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ('{"text": }', "Invalid JSON"),
        ("[1, 2]", "A fact cannot be a JSON list"),
        ('{"text": "x", "colour": "red"}', "A fact has no colour"),
        ('{"text": ""}', "empty"),
        ('{"text": "x", "at": "yesterday"}', "at cannot be 'yesterday'"),
        ('{"tags": ["x"]}', "text"),
        ('"\\ud800"', "half of a character"),
        ("[" * 100_000, "Invalid JSON"),
    ],
)
def test_bad_line_is_named_and_nothing_is_stored(store: Store, tmp_path: Path, bad: str, why: str) -> None:
    file = lines(tmp_path / "notes.jsonl", '"Tea is at four."', "", '"Coffee is at ten."', bad, '"Never reached."')
    ran = call("remember", "--file", file)
    assert ran.code == 2
    assert f"Line 4 of {file}: " in ran.err
    assert why in ran.err
    assert "Nothing was stored." in ran.err
    assert "--skip-errors" in ran.err
    assert store.texts == set()


def test_bad_line_far_down_is_named_too(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_REMEMBER_BATCH", "10")
    file = lines(tmp_path / "notes.jsonl", *({"text": f"Note {number}."} for number in range(25)), {"text": " "})
    ran = call("remember", "--file", file)
    assert f"Line 26 of {file}" in ran.err
    assert "Nothing was stored." in ran.err
    assert len(store.facts()) == 0


def test_skipped_lines_are_reported_and_the_others_stored(store: Store, tmp_path: Path) -> None:
    file = lines(tmp_path / "notes.jsonl", '"Tea is at four."', "{", '{"text": " "}', '"Coffee is at ten."')
    ran = call("remember", "--file", file, "--skip-errors")
    assert ran.code == 0
    assert ran.out == "Stored 2 facts.\n"
    assert "Skipped line 2: Invalid JSON" in ran.err
    assert "Skipped line 3: The text of the fact is empty." in ran.err
    assert store.texts == {"Tea is at four.", "Coffee is at ten."}


def test_skipped_lines_are_part_of_the_json(store: Store, tmp_path: Path) -> None:
    file = lines(tmp_path / "notes.jsonl", '"Tea is at four."', '{"text": " "}', '"Coffee is at ten."')
    answer = call("remember", "--file", file, "--skip-errors", "--json").json
    assert [id is None for id in answer["ids"]] == [False, True, False]
    assert [item["line"] for item in answer["skipped"]] == [2]


def test_line_that_replaces_an_unknown_fact_is_named(store: Store, tmp_path: Path) -> None:
    file = lines(tmp_path / "notes.jsonl", '"Tea is at four."', {"text": "Tea is at five.", "supersedes": "nope"})
    ran = call("remember", "--file", file)
    assert ran.code == 3
    assert f"Line 2 of {file}: No fact has the id nope. Nothing was stored." in ran.err
    assert "Skipped line 2: No fact has the id nope." in call("remember", "--file", file, "--skip-errors").err
    assert store.texts == {"Tea is at four."}


def test_refused_text_is_told_without_python(store: Store) -> None:
    ran = call("remember", "Tea is at four.", "--expires", "2020-01-01")
    assert "Fact 1" not in ran.err
    assert "errors=" not in ran.err
    ran = call("remember", "Tea is at four.", " ")
    assert "Fact 2: The text of the fact is empty. Nothing was stored." in ran.err
    assert "errors=" not in ran.err
    assert store.texts == set()


def test_one_json_document_is_no_file_of_lines(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text('[{"text": "Tea is at four."}]')
    ran = call("remember", "--file", str(file))
    assert (ran.code, ".jsonl" in ran.err) == (2, True)
    assert store.texts == set()
    file.write_text('{"text": "Tea is at four."}')
    assert call("remember", "--file", str(file), "--jsonl").code == 0
    assert store.texts == {"Tea is at four."}


def test_skip_errors_without_a_file_is_refused(store: Store) -> None:
    ran = call("remember", "Tea is at four.", "--skip-errors")
    assert (ran.code, "--file" in ran.err) == (2, True)
    assert store.texts == set()


def test_names_that_other_tools_use_are_accepted(store: Store, tmp_path: Path) -> None:
    fields = {"content": "Tea is at four.", "timestamp": "2024-03-14T09:15:00Z"}
    assert call("remember", "--file", lines(tmp_path / "notes.jsonl", fields)).code == 0
    (fact,) = store.facts()
    assert (fact.text, fact.at and fact.at.year) == ("Tea is at four.", 2024)


def test_file_that_is_not_utf8_is_refused_at_its_line(store: Store, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"Tea is at four.\nCaf\xe9 is at ten.\n")
    ran = call("remember", "--file", str(tmp_path / "latin.txt"))
    assert ran.code == 2
    assert "Line 2" in ran.err
    assert "UTF-8" in ran.err
    assert "Nothing was stored." in ran.err


def test_byte_order_mark_is_no_part_of_the_text(store: Store, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"\xef\xbb\xbfTea is at four.\n")
    call("remember", "--file", str(tmp_path / "notes.txt"))
    assert store.texts == {"Tea is at four."}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "No text was given"),
        (("",), "empty"),
        ((" \n ",), "empty"),
        (("x" * 100_001,), "100,001 characters"),
        (("Tea at four.", "--at", "yesterday"), "at cannot be 'yesterday'"),
        (("Tea at four.", "--expires", "2026-13-01"), "expires cannot be '2026-13-01'"),
        (("Tea at four.", "--expires", "2020-01-01"), "which is in the past"),
        (("Tea at four.", "--meta", "page"), "--meta cannot be 'page'"),
        (("Tea at four.", "--tag", ""), "tag is empty"),
        (("Tea at four.", "--scope", " "), "scope is empty"),
        (("Tea at four.", "--speaker", "a" * 1_001), "1,001 characters"),
        (("Tea at four.", "--file", "notes.txt"), "Both TEXT and --file were given"),
        (("--file", "no/such/file.txt"), "cannot be read"),
        (("--file", "."), "cannot be read"),
        (("caf\udce9",), "is not UTF-8 text"),
    ],
)
def test_what_cannot_be_remembered_is_refused(store: Store, arguments: tuple[str, ...], problem: str) -> None:
    ran = call("remember", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert problem in ran.err
    assert store.facts() == []


@pytest.mark.parametrize(
    ("given", "problem"), [(b"", "empty"), (b"tea\x00four", "NUL"), (b"caf\xe9", "UTF-8"), (b"\xed\xa0\x80", "UTF-8")]
)
def test_what_cannot_be_read_from_standard_input_is_refused(given: bytes, problem: str) -> None:
    ran = call("remember", "-", given=given)
    assert ran.code == 2
    assert problem in ran.err


def test_a_fact_replaces_an_older_one_and_both_are_shown(store: Store) -> None:
    [old] = store.holds("Node is pinned to 18.19.")
    new = call("remember", "Node is pinned to 20.11.", "--supersedes", old).out.strip()
    assert [fact.id for fact in store.facts()] == [new]
    [listed] = call("list", "--superseded", "--json").json["facts"]
    assert (listed["id"], listed["superseded_by"]) == (old, [new])
    assert f"superseded by {new}" in call("list", "--superseded").out
    assert new in call("show", old).out


def test_lines_of_a_file_name_what_they_replace(store: Store, tmp_path: Path) -> None:
    [old] = store.holds("Node is pinned to 18.19.")
    path = lines(tmp_path / "new.jsonl", {"text": "Node is pinned to 20.11.", "supersedes": old})
    assert call("remember", "--file", path).code == 0
    assert [fact.id for fact in store.facts(superseded=True)] == [old]


def test_an_unknown_id_to_replace_stores_nothing(store: Store) -> None:
    store.holds("Tea is at four.")
    ran = call("remember", "Node is pinned to 20.11.", "--supersedes", "nope")
    assert (ran.code, "No fact has the id nope" in ran.err) == (3, True)
    assert store.texts == {"Tea is at four."}


def test_connect_by_supersedes_replaces_the_target(store: Store) -> None:
    old, new = store.holds("Node is pinned to 18.19.", "Node is pinned to 20.11.")
    assert call("connect", new, old, "--kind", "supersedes").code == 0
    assert [fact.superseded_by for fact in store.facts(superseded=True)] == [(new,)]
