"""The benchmark of facts that change counts what it says, and its set has the form that its README describes."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from benchmarks import changes
from benchmarks.changes import Answer, Item, Measured, Proposed, Version
from tests.conftest import HashedWords

ALL = changes.read_set(changes.SET)


def make_item(*, is_control: bool = False, contradiction: bool = True) -> Item:
    versions = (Version("a-v1", "Old.", "2026-01-01T08:00:00"), Version("a-v2", "New.", "2026-02-01T08:00:00"))
    right = "a-v1" if is_control else "a-v2"
    return Item("a", "chat", "tune", versions, "Which?", right, contradiction, is_control)


def write_few_items(folder: Path) -> None:
    """Three pairs, two controls and ten distractors of the set."""
    for name, count in (("pairs", 3), ("controls", 2), ("distractors", 10)):
        lines = (changes.SET / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:count]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(folder: Path, *more: str) -> dict[str, Any]:
    write_few_items(folder)
    out = folder / "figures.json"
    changes.main(["--set", str(folder), "--out", str(out), *more], HashedWords())
    written: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return written


@pytest.mark.parametrize("store", ["halves", "whole", "alone"])
def test_every_item_is_asked_however_it_is_stored(tmp_path: Path, store: str) -> None:
    figures = run(tmp_path, "--store", store)["figures"]["all"]
    assert (figures["pairs"], figures["controls"], figures["contradictions"]) == (3, 2, 3)
    assert figures["none found"] == 0
    assert figures["reordered"] is None


def test_a_setting_named_by_off_is_compared_with(tmp_path: Path) -> None:
    written = run(tmp_path, "--store", "whole", "--off", "keyword.weight=0.5", "--show")
    assert written["off"] == {"keyword.weight": "0.5"}
    assert written["figures"]["all"]["reordered"] is not None


def test_a_setting_without_value_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(tmp_path, "--off", "keyword.weight")
    assert "is not NAME=VALUE" in capsys.readouterr().err


def test_a_pair_counts_by_its_first_version_in_the_answer() -> None:
    item = make_item()
    answers = (
        Answer(item, ("a-v2", "a-v1"), None),
        Answer(item, ("x", "a-v2"), None),
        Answer(item, ("a-v1", "a-v2"), None),
        Answer(item, ("x",), None),
    )
    figures = changes.summarise(Measured(answers, ()))
    assert figures["newer first"] == 50
    assert figures["newer at 1"] == 25
    assert figures["older first"] == 25
    assert figures["none found"] == 25


def test_a_control_is_reordered_when_it_is_right_only_with_the_preference_off() -> None:
    item = make_item(is_control=True, contradiction=False)
    answers = (
        Answer(item, ("a-v2", "a-v1"), ("a-v1", "a-v2")),
        Answer(item, ("a-v2", "a-v1"), ("a-v2", "a-v1")),
        Answer(item, ("a-v1", "a-v2"), ("a-v2", "a-v1")),
        Answer(item, ("a-v1", "a-v2"), ("a-v1", "a-v2")),
    )
    figures = changes.summarise(Measured(answers, ()))
    assert figures["reordered"] == 25
    assert figures["controls right"] == 50


def test_review_is_precise_where_it_joins_versions_of_a_contradiction() -> None:
    pair = make_item()
    control = make_item(is_control=True, contradiction=False)
    proposals = (
        Proposed(pair, "tune", "Old.", "New.", ""),
        Proposed(control, "tune", "Old.", "New.", ""),
        Proposed(None, "tune", "Old.", "Another.", ""),
        Proposed(None, "tune", "Old.", "A third.", ""),
    )
    figures = changes.summarise(Measured((Answer(pair, (), None),), proposals))
    assert figures["review found"] == 100
    assert figures["review precision"] == 25


def test_the_set_is_large_enough() -> None:
    controls = [item for item in ALL.items if item.is_control]
    pairs = [item for item in ALL.items if not item.is_control]
    chains = [item for item in pairs if len(item.versions) == 3]
    assert len(pairs) >= 200
    assert len(controls) >= 90
    assert len(ALL.distractors) >= 300
    assert len(chains) >= 30


def test_versions_are_ordered_by_time_and_the_right_one_is_the_newest_or_oldest() -> None:
    for item in ALL.items:
        times = [version.timestamp for version in item.versions]
        assert times == sorted(set(times)), item.id
        right = item.versions[0 if item.is_control else -1]
        assert item.right == right.id


def test_halves_follow_the_hash_of_the_id() -> None:
    for item in ALL.items:
        is_even = int(sha256(item.id.encode()).hexdigest(), 16) % 2 == 0
        assert item.half == ("tune" if is_even else "other"), item.id


def test_texts_and_questions_occur_once() -> None:
    texts = [version.text for item in ALL.items for version in item.versions]
    texts += [version.text for version in ALL.distractors]
    questions = [item.question for item in ALL.items]
    assert len(set(texts)) == len(texts)
    assert len(set(questions)) == len(questions)
