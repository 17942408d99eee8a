"""The official memory server's file comes in, once and whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client

from cofire.mcp.compat import COMPAT_TOOLSET
from tests.interfaces.calling import Store, call
from tests.interfaces.mcp.talking import here, told, values

LINES = """\
{"type":"entity","name":"Alice","entityType":"person","observations":["works at Acme Corp","likes tea"]}
{"type":"entity","name":"Acme Corp","entityType":"organization","observations":[]}

{"type":"relation","from":"Alice","to":"Acme Corp","relationType":"works_at"}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_the_file_becomes_the_graph_it_was(file: Path, store: Store) -> None:
    ran = call("mcp", "--compat", "--import", str(file), "--json").json
    assert ran == {
        "path": str(file),
        "entities": 2,
        "observations": 2,
        "relations": 1,
        "new": 5,
        "store": str(store.path),
    }

    async def story(client: Client) -> None:
        graph = await values(client, "read_graph")
        assert [one["name"] for one in graph["entities"]] == ["Alice", "Acme Corp"]
        assert graph["entities"][0]["observations"] == ["works at Acme Corp", "likes tea"]
        assert graph["relations"] == [{"from": "Alice", "to": "Acme Corp", "relationType": "works_at"}]

    told(story, here(store.path, toolset=COMPAT_TOOLSET))


def test_a_second_time_adds_only_what_is_new(file: Path, store: Store) -> None:
    call("mcp", "--compat", "--import", str(file))
    before = store.texts
    assert call("mcp", "--compat", "--import", str(file), "--json").json["new"] == 0
    assert store.texts == before
    file.write_text(LINES.replace('"likes tea"', '"likes tea","plays chess"'), encoding="utf-8")
    assert "1 of them are new" in call("mcp", "--compat", "--import", str(file)).out
    assert store.texts == before | {"plays chess"}


def test_an_observation_may_hold_a_line_separator(file: Path, store: Store) -> None:
    file.write_text(LINES.replace("likes tea", "likes tea\u2028and cake"), encoding="utf-8")
    call("mcp", "--compat", "--import", str(file))
    assert "likes tea\u2028and cake" in store.texts


def test_it_comes_into_the_scope_that_was_named(file: Path, store: Store) -> None:
    call("mcp", "--compat", "--scope", "old", "--import", str(file))
    assert {fact.scope for fact in store.facts()} == {"old"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 5 of"),
        ('{"type":"fact","text":"Tea."}', "neither an entity nor a relation"),
        ('{"type":"entity","name":"Zed"}', "entityType is missing"),
    ],
)
def test_a_line_that_cannot_be_read_leaves_memory_as_it_was(file: Path, store: Store, line: str, said: str) -> None:
    file.write_text(LINES + line, encoding="utf-8")
    ran = call("mcp", "--compat", "--import", str(file))
    assert ran.code == 2
    assert said in ran.err
    assert not store.path.exists()


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    ran = call("mcp", "--compat", "--import", str(tmp_path / "nowhere.jsonl"))
    assert ran.code == 2
    assert "nowhere.jsonl" in ran.err


def test_without_compat_it_is_not_meant(file: Path) -> None:
    assert "--compat" in call("mcp", "--import", str(file)).err
