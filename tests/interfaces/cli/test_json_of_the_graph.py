"""docs/reference/json.md is true of the commands that read and write the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.calling import Store, call
from tests.interfaces.cli.test_json_shapes import EXAMPLES, shape


@pytest.fixture
def ids(store: Store) -> list[str]:
    common = {"tags": ["db"], "subject": "PgBouncer", "category": "knowledge", "session": "deploy-42", "speaker": "Ana"}
    return store.holds(
        "PgBouncer runs in transaction mode.",
        "Serverless functions need transaction mode.",
        **common,
        source="runbook.md",
        at="2026-05-08T13:56",
        metadata={"page": "3"},
    )


def test_edge_is_as_described(ids: list[str]) -> None:
    told = call("connect", *ids, "--kind", "supports", "--weight", "0.8", "--confidence", "0.5", "--json").json
    assert shape(told) == shape(EXAMPLES["An edge"]) == shape(EXAMPLES["cofire connect"])
    edges = call("edges", "--origin", "user", "--json").json
    assert shape(edges) == {**shape(EXAMPLES["cofire edges"]), "edges": [shape(EXAMPLES["An edge"])]}


def test_portrait_is_as_described(ids: list[str]) -> None:
    call("dream")
    told = call("show", ids[0], "--json").json
    told["facts"][0]["links"] = [link for link in told["facts"][0]["links"] if link["via"] is None]
    assert shape(told) == shape(EXAMPLES["cofire show"])


def test_dream_is_as_described(ids: list[str]) -> None:
    assert shape(call("dream", "--json").json) == shape(EXAMPLES["cofire dream"])


def test_ingest_is_as_described(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "day.txt").write_text("Tea is at four.", encoding="utf-8")
    (folder / "photo.txt").write_bytes(b"\0")
    assert shape(call("ingest", str(folder), "--json").json) == shape(EXAMPLES["cofire ingest"])


def test_export_and_import_are_as_described(ids: list[str], tmp_path: Path) -> None:
    path = str(tmp_path / "team.jsonl")
    assert shape(call("export", path, "--json").json) == shape(EXAMPLES["cofire export"])
    assert shape(call("import", path, "--json").json) == shape(EXAMPLES["cofire import"])


def test_guide_is_as_described() -> None:
    assert call("guide", "connect", "--json").json == EXAMPLES["cofire guide"]
