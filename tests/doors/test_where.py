"""`--where`: filters by metadata on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors.calling import Store, call


@pytest.fixture(autouse=True)
def notes(store: Store, tmp_path: Path) -> None:
    lines = [
        {"text": "The Aurora pilot starts in June.", "metadata": {"project": "aurora", "priority": 4}},
        {"text": "The Borealis pilot starts in July.", "metadata": {"project": "borealis", "priority": 2}},
    ]
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    assert call("remember", "--file", str(file)).code == 0
    call("remember", "The Zephyr pilot starts in May.", "--meta", "project=zephyr", "--meta", "priority=9")


def recalled(*options: str) -> list[str]:
    found = call("recall", "When does the pilot start?", "--json", *options).json
    return sorted(hit["text"].split()[1] for hit in found["hits"])


def listed(*options: str) -> list[str]:
    return sorted(fact["text"].split()[1] for fact in call("list", "--json", *options).json["facts"])


def test_recall_and_list_take_conditions() -> None:
    for shown in (recalled, listed):
        assert shown("--where", "project=aurora") == ["Aurora"]
        assert shown("--where", "project=aurora", "--where", "project=zephyr") == ["Aurora", "Zephyr"]
        assert shown("--where", "priority>=3") == ["Aurora"]
        assert shown("--where", "priority") == ["Aurora", "Borealis", "Zephyr"]
        assert shown("--where", "project!=aurora", "--where", "priority<3") == ["Borealis"]


def test_equality_also_means_the_text_that_meta_stores() -> None:
    assert listed("--where", "priority=9") == ["Zephyr"]
    assert listed("--where", 'priority="4"') == []


def test_a_condition_that_cannot_be_read_is_refused() -> None:
    ran = call("list", "--where", ">3")
    assert ran.code == 2
    assert "as in priority>=3" in ran.err
