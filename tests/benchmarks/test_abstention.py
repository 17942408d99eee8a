"""The abstention benchmark counts silence as it says, on sets small enough to see through."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import abstention, strangers
from benchmarks.abstention import ADVERSARIAL, DELETED, OWN, Judged
from cofire.evaluation.datasets import load_set, load_unanswerable
from tests.benchmarks.making import NOTES, OF_TURNS, QUESTIONS, TURNS, write_set
from tests.conftest import HashedWords

FEW = {2: 2}


class Calibrated(HashedWords):
    """Silent where nothing is like the question."""

    def __init__(self) -> None:
        super().__init__()
        self.silent_below = 0.6


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abstention, "PARTS", FEW)
    monkeypatch.setattr(abstention, "salads", lambda: strangers.salads(5))
    monkeypatch.setattr(abstention, "SMALL_TALK", strangers.SMALL_TALK[:3])
    monkeypatch.setattr(abstention, "OTHER_LANGUAGES", strangers.OTHER_LANGUAGES[:3])


def run(folder: Path, *more: str) -> dict[str, Any]:
    out = folder / "figures.json"
    abstention.main([str(folder), "--out", str(out), "--cache", str(folder / "cache"), *more], Calibrated)
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def judged(kind: str, evidence: float, *, known: bool, size: str = "whole", tuning: bool = True) -> Judged:
    return Judged(kind, "notes", size, tuning, evidence, known)


def test_silence_is_counted_by_kind_and_size() -> None:
    found = [
        judged(OWN, 0.9, known=True),
        judged(OWN, 0.5, known=False, size="10"),
        judged("nonsense", 0.4, known=False),
        judged("nonsense", 0.7, known=True, size="10"),
    ]
    tuning = abstention.in_figures(found)["tuning"]
    assert tuning[OWN]["all"] == {"questions": 2, "silent": 50.0, "auc": None}
    assert tuning["nonsense"]["all"] == {"questions": 2, "silent": 50.0, "auc": 0.75}
    assert tuning["nonsense"]["sizes"]["10"] == {"questions": 1, "silent": 0.0, "auc": 0.0}
    assert tuning["small talk"]["all"]["silent"] is None


def test_halves_are_kept_apart() -> None:
    found = [judged(OWN, 0.9, known=True), judged(OWN, 0.1, known=False, tuning=False)]
    figures = abstention.in_figures(found)
    assert [figures[half][OWN]["all"]["silent"] for half in ("all", "tuning", "other")] == [50.0, 0.0, 100.0]


def test_every_kind_is_asked_by_every_arm(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    write_set(tmp_path / "locomo", TURNS, OF_TURNS)
    figures = run(tmp_path)
    assert list(figures["arms"]) == ["default", "words"]
    for halves in figures["arms"].values():
        kinds = {kind: found["all"]["questions"] for kind, found in halves["all"].items()}
        assert all(kinds.values()), kinds
        assert set(halves["all"][OWN]["sets"]) == {"notes", "locomo", "together"}


def test_false_silence_and_refusals_are_told_apart(tmp_path: Path) -> None:
    """Of three questions one, about a car, has no word in common with what answers it, the automobile."""
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    found = run(tmp_path)["arms"]["default"]["all"]
    assert found[OWN]["sizes"]["whole"] == {"questions": 3, "silent": 33.33, "auc": None}
    assert found["nonsense"]["sizes"]["whole"]["silent"] == 100.0


def test_figures_say_where_they_come_from(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    figures = run(tmp_path, "--limit", "1")
    assert figures["arms"]["words"]["all"][OWN]["sizes"]["whole"]["questions"] == 1
    assert figures["silent_below"] == 0.6
    assert (figures["settings"]["abstention.rule"], bool(figures["machine"])) == ("evidence", True)


def test_what_was_forgotten_stays_in_the_kept_store(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    first = run(tmp_path, "--keep", str(tmp_path / "kept"))
    again = run(tmp_path, "--keep", str(tmp_path / "kept"))
    assert first["arms"] == again["arms"]


def test_a_part_holds_the_gold_of_its_questions(tmp_path: Path) -> None:
    chosen = load_set(write_set(tmp_path / "notes", NOTES, QUESTIONS), limit=None)
    for part, size in abstention.parts(chosen):
        assert len(part.rows) == size
        assert {row for one in part.questions for row in one.gold} <= {*part.rows}
        assert part.questions


def test_sets_together_keep_their_rows_apart(tmp_path: Path) -> None:
    sets = [load_set(write_set(tmp_path / name, NOTES, QUESTIONS), limit=None) for name in ("one", "two")]
    joined = abstention.together(sets)
    assert len(set(joined.rows)) == 2 * len(NOTES)
    assert joined.questions[0].gold == ("one/r0",)
    assert {fact["scope"] for fact in joined.facts} == {"together"}


def test_questions_about_what_was_never_said_are_read_apart(tmp_path: Path) -> None:
    [unsaid] = load_unanswerable(write_set(tmp_path / "notes", NOTES, QUESTIONS))
    assert (unsaid.text, unsaid.category) == ("What did nobody say?", ADVERSARIAL)


def test_strangers_are_as_many_as_is_said() -> None:
    assert len({*strangers.salads(100)}) == 100
    assert (len({*strangers.SMALL_TALK}), len({*strangers.OTHER_LANGUAGES})) == (60, 40)
    assert DELETED in abstention.STRANGERS
