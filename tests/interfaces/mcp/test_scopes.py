"""A server keeps to its scope: another's facts can neither be found, nor named by id, nor touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client, MCPError

from cofire import Memory
from tests.interfaces.calling import Store
from tests.interfaces.mcp.talking import complaint, here, told, values, words

SECRET = "The vault code is 4711."


@pytest.fixture
def secret(store: Store) -> str:
    [id] = store.holds(SECRET, scope="bank", tags=["vault"])
    return id


@pytest.fixture
def client(store: Store) -> Client:
    return here(store.path, scope="team")


def test_what_is_remembered_belongs_to_the_scope(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        await values(client, "remember", text="Tea is at four.")

    told(story, client)
    assert [fact.scope for fact in store.facts()] == ["team"]


def test_another_scope_is_not_found(client: Client, secret: str) -> None:
    async def story(client: Client) -> None:
        assert not (await values(client, "recall", query="What is the vault code?"))["known"]
        assert (await values(client, "explore", query="What is the vault code?"))["facts"] == []
        assert (await values(client, "stats"))["facts"] == 0

    told(story, client)


def test_another_scope_is_not_counted(client: Client, store: Store, secret: str) -> None:
    store.holds("Tea is at four.", scope="team")

    async def story(client: Client) -> None:
        for _ in range(2):
            held = await values(client, "stats")
            assert (held["facts"], held.keys() & {"edges", "waiting", "advice"}) == (1, set())
            dreamed = await client.call_tool("dream", {})
            assert "waiting" not in words(dreamed)
        assert "waiting" not in json.loads((await client.read_resource("cofire://stats")).contents[0].text)

    told(story, client)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("why", {"query": "What is the vault code?", "id": "SECRET"}),
        ("explore", {"ids": ["SECRET"]}),
        ("forget", {"ids": ["SECRET"], "confirm": True}),
        ("connect", {"source": "SECRET", "target": "OWN", "kind": "supports"}),
        ("connect", {"source": "OWN", "target": "SECRET", "kind": "supports"}),
        ("feedback", {"recall": "anything", "helped": ["SECRET"]}),
    ],
)
def test_an_id_of_another_scope_is_no_id(
    client: Client, store: Store, secret: str, tool: str, arguments: dict[str, Any]
) -> None:
    [own] = store.holds("Tea is at four.", scope="team")
    named = {"SECRET": secret, "OWN": own}

    def meant(value: Any) -> Any:
        return [meant(one) for one in value] if isinstance(value, list) else named.get(str(value), value)

    async def story(client: Client) -> str:
        return await complaint(client, tool, **{name: meant(value) for name, value in arguments.items()})

    said = told(story, client)
    assert f"No fact has the id {secret}" in said
    assert SECRET not in said
    assert SECRET in store.texts


def test_a_recall_of_another_scope_is_no_recall(client: Client, store: Store, secret: str) -> None:
    [own] = store.holds("Tea is at four.", scope="team")
    with Memory(store.path, embedder=None) as memory:
        recall = memory.recall("What is the vault code?", scope="bank")
    assert recall.ids == (secret,)

    async def story(client: Client) -> str:
        return await complaint(client, "feedback", recall=recall.id, helped=[own])

    said = told(story, client)
    assert f"No recall has the id {recall.id}" in said
    assert secret not in said


def test_a_filter_forgets_in_the_scope_alone(client: Client, store: Store, secret: str) -> None:
    async def story(client: Client) -> None:
        assert (await values(client, "forget", tags=["vault"], confirm=True))["ids"] == []

    told(story, client)
    assert store.texts == {SECRET}


def test_a_receipt_of_another_scope_brings_nothing_back(client: Client, store: Store, secret: str) -> None:
    with Memory(store.path, embedder=None) as memory:
        receipt = memory.forget(secret).receipt
    assert receipt is not None

    async def story(client: Client) -> str:
        return await complaint(client, "forget", undo=receipt.id)

    assert f"There is no receipt {receipt.id}" in told(story, client)
    assert store.texts == set()


def test_a_resource_of_another_scope_is_not_there(client: Client, secret: str) -> None:
    async def story(client: Client) -> None:
        with pytest.raises(MCPError, match="No fact has the id"):
            await client.read_resource(f"cofire://fact/{secret}")

    told(story, client)
