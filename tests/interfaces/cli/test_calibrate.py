"""`cofire calibrate`: from questions that memory can answer, when it is to be silent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cofire import Memory
from tests.conftest import HashedWords
from tests.interfaces.calling import Store, call

PLACES = ["garden", "harbour", "kitchen", "library"]
THINGS = ["anvil", "bell", "clock", "drum", "engine"]
QUESTIONS = [f"Where in the {place} is the {thing}?" for place in PLACES for thing in THINGS]


def embed_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    monkeypatch.setattr("cofire.runtime.session.create_embedder", lambda *_: HashedWords())


@pytest.fixture
def filled(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store whose vectors come from the embedder of the tests."""
    embed_by_words(monkeypatch)
    with Memory(store.path, embedder=HashedWords()) as memory:
        memory.remember([f"The {thing} stands in the {place}." for place in PLACES for thing in THINGS])
    return store


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "questions.txt"
    path.write_text("\n".join(QUESTIONS) + "\n", encoding="utf-8")
    return str(path)


def kept(store: Store) -> object:
    return call("config", "get", "abstention.threshold", "--store", str(store.path)).out.strip()


def test_the_threshold_is_kept_and_told(filled: Store, file: str) -> None:
    ran = call("calibrate", file)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Evidence of 20 questions: least ")
    assert (
        f"abstention.threshold = {kept(filled)} (before: none); 0 questions would be unanswered. Saved in " in ran.out
    )
    assert "20 questions are few" in ran.err


def test_a_dry_run_keeps_nothing(filled: Store, file: str) -> None:
    assert "Not saved." in call("calibrate", file, "--dry-run").out
    assert kept(filled) == "0.0"


def test_lines_may_be_json(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps({"text": one}) + "\n" for one in QUESTIONS), encoding="utf-8")
    assert call("calibrate", str(path), "--json").json["questions"] == 20


def test_a_line_without_a_question_is_named(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"text": "Where?"}\n{"question": 7}\n', encoding="utf-8")
    ran = call("calibrate", str(path))
    assert ran.code == 2
    assert "Line 2 of" in ran.err


def test_a_share_of_ones_own_holds(filled: Store, file: str) -> None:
    strict, lax = (call("calibrate", file, "--json", "--false-silence", share).json for share in ("0", "0.5"))
    assert strict["silent"] == 0
    assert lax["threshold"] >= strict["threshold"]


def test_what_lies_over_it_is_told(filled: Store, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_ABSTENTION_THRESHOLD", "1.5")
    assert "the environment overrides it with 1.5" in call("calibrate", file).err


def test_too_few_questions_are_code_2(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "few.txt"
    path.write_text("Where is the bell?\n", encoding="utf-8")
    ran = call("calibrate", str(path))
    assert ran.code == 2
    assert "needs at least 20 questions, not 1." in ran.err


def test_an_empty_memory_is_code_3(store: Store, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    embed_by_words(monkeypatch)
    assert call("calibrate", file).code == 3


def test_without_an_embedder_it_is_code_5(store: Store, file: str) -> None:
    store.holds("Tea is at four.")
    ran = call("calibrate", file)
    assert ran.code == 5
    assert "cofire config set embedder.name bundled" in ran.err
