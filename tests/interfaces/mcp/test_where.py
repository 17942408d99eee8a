"""Filters by metadata over MCP."""

from __future__ import annotations

import json

import pytest
from mcp import Client

from tests.interfaces.calling import Store
from tests.interfaces.mcp.talking import complaint, here, told, values

QUESTION = "When does the pilot start?"


@pytest.fixture
def client(store: Store) -> Client:
    return here(store.path)


async def tell(client: Client) -> list[str]:
    """Store two facts of different projects, and return their ids."""
    notes = (("Aurora", {"project": "aurora", "priority": 4}), ("Borealis", {"project": "borealis", "priority": 1}))
    return [
        (await values(client, "remember", text=f"The {name} pilot starts in June.", metadata=metadata))["ids"][0]
        for name, metadata in notes
    ]


async def ids_of(client: Client, tool: str, **arguments: object) -> set[str]:
    return {fact["id"] for fact in (await values(client, tool, **arguments))["facts"]}


def test_recall_returns_only_facts_whose_metadata_match(client: Client) -> None:
    async def story(client: Client) -> None:
        aurora, borealis = await tell(client)
        assert await ids_of(client, "recall", query=QUESTION, where={"project": "aurora"}) == {aurora}
        assert await ids_of(client, "recall", query=QUESTION, where={"priority": {"lt": 3}}) == {borealis}
        assert await ids_of(client, "recall", query=QUESTION, filter=json.dumps({"priority": [1, 2]})) == {borealis}
        assert await ids_of(client, "recall", query=QUESTION, where={}) == {aurora, borealis}

    told(story, client)


def test_an_explanation_takes_the_filter_of_the_recall(client: Client) -> None:
    async def story(client: Client) -> None:
        aurora, borealis = await tell(client)
        where = {"project": "aurora"}
        assert (await values(client, "recall", query=QUESTION, why=aurora, where=where))["returned"] is True
        assert (await values(client, "recall", query=QUESTION, why=borealis, where=where))["returned"] is False

    told(story, client)


def test_explore_and_forget_take_the_filter(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        aurora, borealis = await tell(client)
        await values(client, "connect", source=aurora, target=borealis, kind="supports")
        assert await ids_of(client, "explore", ids=[aurora]) == {aurora, borealis}
        assert await ids_of(client, "explore", ids=[aurora], where={"project": "aurora"}) == {aurora}
        gone = await values(client, "forget", where={"project": "borealis"}, confirm=True)
        assert gone["ids"] == [borealis]
        assert "No facts were selected" in await complaint(client, "forget", where={}, confirm=True)

    told(story, client)
    assert store.texts == {"The Aurora pilot starts in June."}


def test_update_changes_what_the_filter_finds(client: Client) -> None:
    async def story(client: Client) -> None:
        aurora, _ = await tell(client)
        await values(client, "update", id=aurora, metadata={"project": "zephyr"})
        assert await ids_of(client, "recall", query=QUESTION, where={"project": "zephyr"}) == {aurora}

    told(story, client)


def test_a_filter_that_cannot_be_applied_is_refused(client: Client) -> None:
    async def story(client: Client) -> None:
        await tell(client)
        assert "Did you mean gte?" in await complaint(client, "recall", query=QUESTION, where={"priority": {"$gte": 3}})
        assert "Give a JSON object" in await complaint(client, "recall", query=QUESTION, where="priority")

    told(story, client)
