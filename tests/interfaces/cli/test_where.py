"""`--where`: filters by metadata on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.calling import Store, call


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


def test_explore_graph_export_and_forget_take_conditions(store: Store, tmp_path: Path) -> None:
    ids = {fact.text.split()[1]: fact.id for fact in store.facts()}
    explored = call("explore", ids["Aurora"], "--where", "project=aurora", "--json").json
    assert [fact["id"] for fact in explored["facts"]] == [ids["Aurora"]]
    refused = call("explore", ids["Zephyr"], "--where", "project=aurora")
    assert (refused.code, "passes the filter where" in refused.err) == (3, True)
    for subject in (("--around", ids["Aurora"]), ("--about", "When does the pilot start?")):
        drawn = call(
            "graph", str(tmp_path / f"{subject[0]}.html"), *subject, "--where", "project=aurora", "--json"
        ).json
        assert drawn["facts"] == 1
    call("export", str(tmp_path / "some.jsonl"), "--where", "priority>3")
    assert "Aurora" in (tmp_path / "some.jsonl").read_text()
    assert "Zephyr" not in (tmp_path / "some.jsonl").read_text()
    assert call("forget", "--where", "project=zephyr", "--yes").code == 0
    assert listed() == ["Aurora", "Borealis"]


def test_equality_also_means_the_text_that_meta_stores() -> None:
    assert listed("--where", "priority=9") == ["Zephyr"]
    assert listed("--where", 'priority="4"') == []


def test_a_condition_that_cannot_be_read_is_refused() -> None:
    ran = call("list", "--where", ">3")
    assert ran.code == 2
    assert "as in priority>=3" in ran.err
