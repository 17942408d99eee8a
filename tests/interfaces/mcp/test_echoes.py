"""Recalled text is never stored again: neither as a block, nor line by line, nor through other tools that show it."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from tests.interfaces.calling import Store, call
from tests.interfaces.mcp.talking import complaint, here, told, values, words

TEA = "Tea is at four in the garden."


@pytest.fixture
def client(store: Store) -> Client:
    store.holds(TEA)
    return here(store.path)


async def recalled(client: Client) -> str:
    return words(await client.call_tool("recall", {"query": "When is tea?"}))


def test_a_recalled_block_is_refused(client: Client, store: Store) -> None:
    async def story(client: Client) -> str:
        block, _, _ = (await recalled(client)).partition("\nids:")
        return await complaint(client, "remember", text=block)

    assert "Store only new information" in told(story, client)
    assert store.texts == {TEA}


def test_a_whole_answer_is_refused(client: Client, store: Store) -> None:
    async def story(client: Client) -> str:
        answer = await recalled(client)
        assert "Report useful facts" in answer
        return await complaint(client, "remember", text=answer)

    assert "Store only new information" in told(story, client)
    assert store.texts == {TEA}


def test_a_block_inside_a_new_text_is_left_out(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        block, _, _ = (await recalled(client)).partition("\nids:")
        await values(client, "remember", text=f"{block}\nCake is at five.")

    told(story, client)
    assert store.texts == {TEA, "Cake is at five."}


@pytest.mark.parametrize("dressed", [TEA, f"[1] {TEA}", f"[1] (2026-05-08, Ana) {TEA}", TEA.upper()])
def test_a_line_of_what_was_recalled_keeps_its_id(client: Client, store: Store, dressed: str) -> None:
    async def story(client: Client) -> dict[str, Any]:
        await recalled(client)
        return await values(client, "remember", text=dressed, subject="tea", tags=["again"])

    [fact] = store.facts()
    assert told(story, client) == {"ids": [fact.id], "known": [fact.id]}
    assert store.facts() == [fact]


def test_many_rounds_of_recall_and_remember_add_nothing(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        for _ in range(5):
            found = await values(client, "recall", query="When is tea?")
            await values(client, "remember", facts=[one["text"] for one in found["facts"]], subject="echo")

    told(story, client)
    assert store.texts == {TEA}


def test_the_same_words_said_at_another_time_are_another_fact(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        await recalled(client)
        await values(client, "remember", text=TEA, at="2026-05-08")

    told(story, client)
    assert len(store.facts()) == 2


def test_new_facts_beside_an_echo_are_stored_in_their_place(client: Client, store: Store) -> None:
    async def story(client: Client) -> dict[str, Any]:
        await recalled(client)
        return await values(client, "remember", facts=["Cake is at five.", TEA, "Supper is at six."])

    stored = told(story, client)
    by_text = {fact.text: fact.id for fact in store.facts()}
    assert stored["ids"] == [by_text["Cake is at five."], by_text[TEA], by_text["Supper is at six."]]
    assert stored["known"] == [by_text[TEA]]


def test_what_was_forgotten_since_is_stored_again(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        await recalled(client)
        [gone] = store.facts()
        await values(client, "forget", ids=[gone.id], confirm=True)
        assert (await values(client, "remember", text=TEA))["known"] == []

    told(story, client)
    assert store.texts == {TEA}


def test_what_says_something_else_since_is_stored_again(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        await recalled(client)
        [changed] = store.facts()
        assert call("update", changed.id, "Tea is at five.").code == 0
        await values(client, "remember", text=TEA)

    told(story, client)
    assert store.texts == {TEA, "Tea is at five."}
