"""docs/reference/json.md is true: every command answers in the shape that is written there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cofire.cli.app import build_app
from scripts.reference import REFERENCE, commands, get_command
from tests.interfaces.calling import Store, call

PAGE = (REFERENCE / "json.md").read_text(encoding="utf-8")
EXAMPLES = {
    heading: json.loads(example)
    for heading, example in re.findall(
        r"^## (.+?)\n(?:(?!^## ).)*?```json\n(.+?)```", PAGE, flags=re.DOTALL | re.MULTILINE
    )
}
FACT = EXAMPLES["A fact"]


@pytest.fixture
def id(store: Store) -> str:
    given = {"tags": ["db"], "subject": "PgBouncer", "category": "knowledge", "session": "deploy-42", "speaker": "Ana"}
    [id] = store.holds(
        "PgBouncer runs in transaction mode.",
        **given,
        source="runbook.md",
        at="2026-05-08T13:56",
        metadata={"page": "3"},
    )
    return id


def shape(value: Any) -> Any:
    """Names and kinds of a value; of a list, those of what is in it."""
    if isinstance(value, dict):
        return {name: shape(inside) for name, inside in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


def test_every_command_is_described() -> None:
    paths = {path for path, _ in commands(get_command(build_app([])), "cofire")}
    assert paths <= set(EXAMPLES)


def test_fact_is_as_described(id: str) -> None:
    [fact] = call("list", "--json").json["facts"]
    assert shape(fact) == shape(FACT)


def test_recall_is_as_described(store: Store) -> None:
    store.holds(
        "PgBouncer runs in transaction mode.",
        "Serverless functions reach PostgreSQL through PgBouncer.",
        tags=["db"],
        source="runbook.md",
        at="2026-05-08T13:56",
        metadata={"page": "3"},
    )
    found, example = call("recall", "What runs in transaction mode?", "--json").json, EXAMPLES["cofire recall"]
    found["channels"] = [one for one in found["channels"] if one["name"] == "keyword"]
    found["hits"] = [hit for hit in found["hits"] if hit["path"]]
    for hit in found["hits"]:
        hit["channels"], hit["parts"] = {"activation": hit["channels"]["activation"]}, {"rare": hit["parts"]["rare"]}
    assert shape(found) == shape(example)


def test_why_is_as_described(id: str) -> None:
    told = call("why", "What runs in transaction mode?", id, "--tag", "ops", "--json").json
    assert shape(told) == {**shape(EXAMPLES["cofire why"]), "fact": shape(FACT)}
    kept = call("why", "What runs in transaction mode?", id, "--json").json
    assert kept["hit"].keys() == EXAMPLES["cofire recall"]["hits"][0].keys()


@pytest.mark.parametrize("words", ["list", "forget ID"])
def test_facts_are_as_described(words: str, id: str) -> None:
    told = call(*words.replace("ID", id).split(), "--json").json
    example = EXAMPLES[f"cofire {words.split(maxsplit=1)[0]}"]
    assert shape(told) == {**shape(example), "facts": [shape(FACT)]}


@pytest.mark.parametrize(
    "words",
    [
        "stats",
        "doctor",
        "config get keyword.k1",
        "config set keyword.k1 1.2",
        "config reset keyword.k1",
        "config file",
        "--version",
    ],
)
def test_answer_is_as_described(words: str, id: str) -> None:
    heading = next(heading for heading in EXAMPLES if f"cofire {words}".startswith(heading))
    assert shape(call(*words.split(), "--json").json) == shape(EXAMPLES[heading])


def test_settings_are_as_described() -> None:
    told, example = call("config", "list", "--json").json, EXAMPLES["cofire config list"]
    assert list(told) == list(example)
    assert example["settings"][0] in told["settings"]


def test_remember_is_as_described() -> None:
    assert shape(call("remember", "Tea is at four.", "--json").json) == shape(EXAMPLES["cofire remember"])


def test_backup_and_restore_are_as_described(id: str, tmp_path: Path) -> None:
    told = call("backup", str(tmp_path / "b.db"), "--json").json
    assert shape(told) == shape(EXAMPLES["cofire backup"])
    told = call("restore", str(tmp_path / "b.db"), "--store", str(tmp_path / "new.db"), "--json").json
    assert shape(told) == shape(EXAMPLES["cofire restore"])


def test_reembed_and_demo_are_as_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    assert shape(call("reembed", "--json").json) == shape(EXAMPLES["cofire reembed"])
    told = call("demo", "--json").json
    assert list(told) == list(EXAMPLES["cofire demo"])
    assert shape(told["facts"][0]).keys() == FACT.keys()
    assert told["recalls"][0].keys() == EXAMPLES["cofire recall"].keys()


def test_calibrate_is_as_described(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    assert call("remember", "Tea is at four.").code == 0
    (tmp_path / "questions.txt").write_text("When is tea?\n" * 20, encoding="utf-8")
    told = call("calibrate", str(tmp_path / "questions.txt"), "--json").json
    assert shape(told) == shape(EXAMPLES["cofire calibrate"])


def test_compare_is_as_described(store: Store, tmp_path: Path) -> None:
    store.holds("Tea is at four.", "Coffee is not tea, and nobody knows when it is served.")
    (tmp_path / "questions.txt").write_text("When is tea?\n", encoding="utf-8")
    told = call("compare", str(tmp_path / "questions.txt"), "--b", "recall.budget=9", "--json").json
    described = EXAMPLES["cofire compare"]
    assert list(told) == list(described)
    assert list(told["questions"][0]) == list(described["questions"][0])
    [gone] = told["questions"][0]["demoted"]
    assert list(gone) == list(described["questions"][0]["demoted"][0])


def test_shadows_are_as_described(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.holds("Tea is at four.", "Coffee is not tea, and nobody knows when it is served.")
    monkeypatch.setenv("COFIRE_SHADOW_ENABLED", "true")
    for settings in ("recall.budget=9", "recall.kk=3"):
        monkeypatch.setenv("COFIRE_SHADOW_SETTINGS", settings)
        assert call("recall", "When is tea?").code == 0
    told, described = call("shadow", "report", "--json").json, EXAMPLES["cofire shadow report"]
    assert list(told) == list(described)
    assert shape(told["demoted"]) == shape(described["demoted"])
    assert shape(told["reasons"]) == shape(described["reasons"])
    assert shape(call("shadow", "clear", "--json").json) == shape(EXAMPLES["cofire shadow clear"])


def test_presets_are_as_described() -> None:
    told = call("config", "preset", "--json").json
    assert list(told) == list(EXAMPLES["cofire config preset"])
    assert EXAMPLES["cofire config preset"]["presets"][0] in told["presets"]


def test_errors_are_as_described() -> None:
    assert shape({"error": call("show", "7", "--json").error}) == shape(EXAMPLES["Errors"])


def test_feedback_is_as_described(store: Store) -> None:
    store.holds("PgBouncer runs in transaction mode.")
    found = call("recall", "What runs in transaction mode?", "--json").json
    [hit] = found["hits"]
    told = call("feedback", found["id"], "--helped", hit["id"], "--json").json
    assert shape(told) == shape(EXAMPLES["cofire feedback"])
    assert told["helped"] == [hit["id"]]
    assert call("show", hit["id"], "--json").json["facts"][0]["use"] == {"helped": 1, "hurt": 0, "success": 2 / 3}


def test_communities_are_as_described(store: Store) -> None:
    assert call("communities").out.startswith("There are no communities yet")
    store.holds("PgBouncer runs in transaction mode.", "Serverless functions reach PostgreSQL through PgBouncer.")
    call("dream")
    told = call("communities", "--json").json
    assert shape(told) == shape(EXAMPLES["cofire communities"])
    assert told["communities"][0]["name"] in call("communities").out
