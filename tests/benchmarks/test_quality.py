"""The quality benchmark measures what it says, on sets small enough to reckon by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import evaluation_sets, quality, scoring, tune
from benchmarks.kept_vectors import KeptVectors
from tests.benchmarks.making import NOTES, OF_TURNS, QUESTIONS, TURNS, write_set
from tests.conftest import HashedWords


def run(folder: Path, *more: str) -> dict[str, Any]:
    """The figures of a run over the sets in a folder."""
    out = folder / "figures.json"
    quality.main([str(folder), "--out", str(out), "--cache", str(folder / "cache"), *more], HashedWords)
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def test_every_arm_is_measured_on_the_same_store(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    arms = run(tmp_path)["sets"]["notes"]["arms"]
    assert list(arms) == ["words", "meaning", "rrf", "default"]
    # “Which car?” shares no word with the row that says automobile; only meaning finds it.
    assert arms["words"]["categories"]["one"]["R@10"] == 50.0
    assert arms["meaning"]["categories"]["one"]["R@10"] == 100.0
    assert arms["default"]["all"]["R@5"] == 100.0


def test_adversarial_questions_are_left_out(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    notes = run(tmp_path)["sets"]["notes"]
    assert notes["questions"] == 3
    assert set(notes["arms"]["default"]["categories"]) == {"one", "two"}


def test_rows_that_are_one_fact_are_found_together(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    notes = run(tmp_path)["sets"]["notes"]
    assert (notes["rows"], notes["facts"]) == (5, 4)
    assert notes["arms"]["words"]["categories"]["two"]["R@5"] == 100.0


def test_a_question_is_answered_from_its_own_scope(tmp_path: Path) -> None:
    write_set(tmp_path / "locomo", TURNS, OF_TURNS)
    words = run(tmp_path)["sets"]["locomo"]["arms"]["words"]
    assert words["all"] == {"questions": 2, "R@5": 100.0, "R@10": 100.0}
    assert (words["tuning"]["questions"], words["other"]["questions"]) == (1, 1)


def test_what_is_not_found_lowers_the_figure(tmp_path: Path) -> None:
    wrong = [{**QUESTIONS[0], "gold": ["r4"]}, QUESTIONS[1]]
    write_set(tmp_path / "notes", NOTES, wrong)
    assert run(tmp_path)["sets"]["notes"]["arms"]["words"]["all"]["R@10"] == 50.0


def test_figures_say_where_they_come_from(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    figures = run(tmp_path, "--limit", "1")
    assert figures["sets"]["notes"]["questions"] == 1
    assert figures["settings"]["fusion.method"] == "calibrated"
    assert figures["machine"]["cores"] >= 1
    assert figures["cofire"]


def test_only_the_sets_named_are_measured(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    write_set(tmp_path / "locomo", TURNS, OF_TURNS)
    assert list(run(tmp_path, "--sets", "locomo")["sets"]) == ["locomo"]


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"No corpus\.jsonl"):
        evaluation_sets.find_sets([tmp_path])


def test_a_fact_is_made_of_everything_a_row_says(tmp_path: Path) -> None:
    loaded = evaluation_sets.load(write_set(tmp_path / "locomo", TURNS, OF_TURNS), limit=None)
    assert loaded.facts[1] == {
        "text": "Ben: I sail too.",
        "scope": "conv-50",
        "session": "s1",
        "at": "2023-05-08T13:56:00",
        "metadata": {"row": "b1"},
    }


def test_a_fusion_below_its_better_channel_is_named() -> None:
    arms = {
        name: {"all": {"R@5": five, "R@10": ten}}
        for name, five, ten in [("words", 50.0, 70.0), ("meaning", 60.0, 65.0), ("default", 59.0, 70.0)]
    }
    assert scoring.shortfalls(arms, arm="default", singles=("words", "meaning")) == ["R@5 59.0 < 60.0 of meaning"]


def test_vectors_are_made_once(tmp_path: Path) -> None:
    first, second = HashedWords(), HashedWords()
    made = KeptVectors(first, tmp_path)
    vectors = made.embed(["tea at four", "tide", "tea at four"], "fact")
    made.close()
    kept = KeptVectors(second, tmp_path)
    assert kept.embed(["tide", "tea at four"], "fact").tolist() == vectors[[1, 0]].tolist()
    kept.close()
    assert (first.embedded, second.embedded) == (["tea at four", "tide"], [])


def test_vectors_of_another_model_or_role_are_not_mixed_up(tmp_path: Path) -> None:
    for embedder, role in [(HashedWords(), "fact"), (HashedWords(), "question"), (HashedWords("another"), "fact")]:
        kept = KeptVectors(embedder, tmp_path)
        kept.embed(["tide"], role)  # type: ignore[arg-type]
        kept.close()
        assert embedder.embedded == ["tide"]


def test_tuning_looks_at_the_tuning_half_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = evaluation_sets.load(write_set(tmp_path / "locomo", TURNS, OF_TURNS), limit=None)
    assert [question.id for question in tune.tuning_half(chosen).questions] == ["x"]
    grid = ["--semantic", "0.1", "0.2", "--k1", "0.8", "--b", "0.6"]
    tune.main([str(tmp_path), "--cache", str(tmp_path / "cache"), *grid], HashedWords)
    assert "100.0 / 100.0" in capsys.readouterr().out
