"""`cofire shadow` and `cofire compare`: what another configuration would change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.calling import Store, call

TEXTS = ("Tea is at four in the kitchen.", "The kitchen belongs to Ana Lopez.", "Ana Lopez lives in Porto.")
OFF = "spreading_activation.enabled=false,graph_assist.enabled=false"


@pytest.fixture
def questions(store: Store, tmp_path: Path) -> str:
    store.holds(*TEXTS)
    (tmp_path / "questions.txt").write_text("Who has the kitchen?\n\nWhen is tea?\n", encoding="utf-8")
    return str(tmp_path / "questions.txt")


def test_compare_shows_a_line_a_question_and_the_mean(questions: str) -> None:
    shown = call("compare", questions, "--b", OFF, "-k", "3").out.splitlines()
    assert shown[0].split() == ["overlap@3", "tau", "up", "down", "question"]
    assert shown[1].split()[:4] == ["0.667", "1.000", "0", "1"]
    assert shown[1].endswith("Who has the kitchen?")
    assert len(shown) == 4
    assert shown[3].startswith("overlap@3 0.")


def test_compare_takes_presets_and_json_lines(store: Store, tmp_path: Path) -> None:
    store.holds(*TEXTS)
    path = tmp_path / "questions.jsonl"
    path.write_text('{"text": "When is tea?"}\n', encoding="utf-8")
    told = call("compare", str(path), "--a", "balanced", "--b", "research-max", "--json").json
    assert [told[name]["preset"] for name in "ab"] == ["balanced", "research-max"]


def test_compare_refuses_what_is_no_configuration(questions: str) -> None:
    ran = call("compare", questions, "--b", "balancd")
    assert ran.code == 2
    assert "balanced" in ran.err


def test_compare_needs_something_to_compare_with(questions: str) -> None:
    assert call("compare", questions).code == 2


def test_report_without_shadows_says_how_to_begin(store: Store) -> None:
    store.holds(*TEXTS)
    assert "cofire config set shadow.enabled true" in call("shadow", "report").out


def test_a_recall_looks_the_same_and_the_report_tells(questions: str, store: Store) -> None:
    plain = call("recall", "Who has the kitchen?", "--text").out
    call("config", "set", "shadow.enabled", "true")
    call("config", "set", "shadow.preset", "conservative")
    assert call("recall", "Who has the kitchen?", "--text").out == plain
    shown = call("shadow", "report").out
    assert "Demoted most often" in shown
    assert TEXTS[2] in shown
    assert f"{store.path}.snapshots" in shown
    assert call("shadow", "report", "--kind", "assist", "--json").json["count"] == 0


def test_failures_are_told(questions: str) -> None:
    call("config", "set", "shadow.enabled", "true")
    call("config", "set", "shadow.settings", "recall.kk=1")
    assert call("recall", "When is tea?").code == 0
    assert "There is no setting 'recall.kk'" in call("shadow", "report").out


def test_clear_removes_everything(questions: str, store: Store) -> None:
    call("config", "set", "snapshots.enabled", "true")
    call("recall", "When is tea?")
    assert Path(f"{store.path}.snapshots").is_dir()
    assert call("shadow", "clear").out == "Removed 1 line.\n"
    assert not Path(f"{store.path}.snapshots").exists()


def test_a_kind_that_does_not_exist_is_code_2(store: Store) -> None:
    assert call("shadow", "report", "--kind", "all").code == 2
