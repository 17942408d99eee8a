"""The listing: few tools, few words, and all that a client needs to know of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client, ListToolsResult

from cofire.mcp.handlers import TOOL_HANDLERS
from cofire.mcp.tools import INSTRUCTIONS, TOOLS
from tests.interfaces.mcp.talking import here, told

DEAREST_LISTING = 1_500


def listing(client: Client) -> ListToolsResult:
    async def story(client: Client) -> ListToolsResult:
        return await client.list_tools()

    return told(story, client)


@pytest.fixture
def listed(tmp_path: Path) -> ListToolsResult:
    return listing(here(tmp_path / "team.db"))


def test_whole_listing_is_cheap(listed: ListToolsResult) -> None:
    tokens = len(listed.model_dump_json(by_alias=True, exclude_none=True)) / 4
    print(f"the listing costs {tokens:,.0f} tokens")
    assert tokens <= DEAREST_LISTING


def test_a_listing_opens_no_memory(tmp_path: Path) -> None:
    listing(here(tmp_path / "team.db"))
    assert not (tmp_path / "team.db").exists()


def test_there_are_ten_tools_and_each_is_answered(listed: ListToolsResult) -> None:
    names = [tool.name for tool in listed.tools]
    assert names == [name for name, tool in TOOLS.items() if tool.listed]
    assert len(names) <= 10
    assert {"update", "supersede"} <= set(names)
    assert list(TOOLS) == list(TOOL_HANDLERS)


def test_every_tool_says_what_it_is_for_takes_and_gives(listed: ListToolsResult) -> None:
    for tool in listed.tools:
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is not None
        assert tool.output_schema["properties"]


def test_every_tool_says_what_it_does_to_memory(listed: ListToolsResult) -> None:
    hints = {tool.name: tool.annotations for tool in listed.tools}
    assert all(
        None not in (one.read_only_hint, one.destructive_hint, one.idempotent_hint) for one in hints.values() if one
    )
    assert {name for name, one in hints.items() if one and one.read_only_hint} == {
        "recall",
        "explore",
        "guide",
    }
    assert {name for name, one in hints.items() if one and one.destructive_hint} == {"forget"}
    assert {name for name, one in hints.items() if one and not one.idempotent_hint} == {"feedback"}


def test_instructions_are_short_and_reach_the_client(tmp_path: Path) -> None:
    async def story(client: Client) -> str | None:
        return client.instructions

    assert told(story, here(tmp_path / "team.db")) == INSTRUCTIONS
    assert len(INSTRUCTIONS) / 4 <= 100


def test_no_two_parameters_of_a_tool_share_a_name() -> None:
    for tool in TOOLS.values():
        names = [
            name
            for own, one in tool.takes.items()
            for name in (own, *one.also)
            if name not in tool.takes or name == own
        ]
        assert len(names) == len(set(names)), tool.name
