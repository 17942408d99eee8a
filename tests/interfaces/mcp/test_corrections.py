"""An agent corrects what memory holds: in place, by a newer fact, and back again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from mcp import Client

from tests.interfaces.calling import Store
from tests.interfaces.mcp.talking import complaint, here, told, values, words

OLD, NEW = "Node is pinned to 18.19.", "Node is pinned to 20.11."
QUESTION = "What is Node pinned to?"


@pytest.fixture
def client(store: Store) -> Client:
    return here(store.path)


async def recalled(client: Client) -> list[str]:
    return [fact["text"] for fact in (await values(client, "recall", query=QUESTION))["facts"]]


def test_update_corrects_a_fact_under_its_id(client: Client) -> None:
    async def story(client: Client) -> None:
        [id] = (await values(client, "remember", text=OLD))["ids"]
        changed = await values(client, "update", id=id, text=NEW, tags=["build"])
        assert changed == {"id": id, "text": NEW, "was": OLD}
        (fact,) = (await values(client, "recall", query=QUESTION))["facts"]
        assert (fact["id"], fact["text"], fact["tags"]) == (id, NEW, ["build"])

    told(story, client)


def test_update_needs_a_change_and_a_known_id(client: Client) -> None:
    async def story(client: Client) -> None:
        [id] = (await values(client, "remember", text=OLD))["ids"]
        assert "No change was given" in await complaint(client, "update", id=id)
        assert "No fact has the id nope" in await complaint(client, "update", id="nope", text=NEW)
        assert "recalled text" in await complaint(client, "update", id=id, text=f"<memory>[1] {OLD}</memory>")

    told(story, client)


def test_remember_refuses_a_fact_that_has_expired_already(client: Client) -> None:
    async def story(client: Client) -> None:
        said = await complaint(client, "remember", text=NEW, expires="2020-01-01")
        assert "in the past" in said
        assert "Fact 1" not in said
        assert "Fact 2: The text" in await complaint(client, "remember", facts=[NEW, ""])
        assert "errors=" not in said + await complaint(client, "remember", facts=[NEW, ""])

    told(story, client)


def test_remember_replaces_an_older_fact(client: Client) -> None:
    async def story(client: Client) -> None:
        [old] = (await values(client, "remember", text=OLD))["ids"]
        await values(client, "remember", text=NEW, supersedes=old)
        assert await recalled(client) == [NEW]

    told(story, client)


def test_a_refused_replacement_stores_nothing(client: Client, store: Store) -> None:
    async def story(client: Client) -> None:
        await values(client, "remember", text=OLD)
        assert "No fact has the id nope" in await complaint(client, "remember", text=NEW, supersedes=["nope"])

    told(story, client)
    assert store.texts == {OLD}


def test_supersede_joins_two_stored_facts_and_undoes_it(client: Client) -> None:
    async def story(client: Client) -> None:
        old, new = (await values(client, "remember", facts=[OLD, NEW]))["ids"]
        assert await values(client, "supersede", old=[old], new=new) == {"old": [old], "new": new}
        assert await recalled(client) == [NEW]
        await values(client, "supersede", old=old, new=new, undo=True)
        assert set(await recalled(client)) == {OLD, NEW}
        assert "cannot supersede itself" in await complaint(client, "supersede", old=[new], new=new)

    told(story, client)


def test_connecting_by_supersedes_replaces_the_target(client: Client) -> None:
    async def story(client: Client) -> None:
        old, new = (await values(client, "remember", facts=[OLD, NEW]))["ids"]
        await values(client, "connect", source=new, target=old, kind="supersedes")
        assert await recalled(client) == [NEW]

    told(story, client)


def test_a_recalled_fact_can_replace_another(client: Client) -> None:
    async def story(client: Client) -> None:
        old, new = (await values(client, "remember", facts=[OLD, NEW]))["ids"]
        await recalled(client)
        answer = await values(client, "remember", text=NEW, supersedes=[old])
        assert answer["ids"] == [new]
        assert await recalled(client) == [NEW]

    told(story, client)


def test_what_was_replaced_can_become_true_again(client: Client) -> None:
    async def story(client: Client) -> None:
        [old] = (await values(client, "remember", text=OLD))["ids"]
        await recalled(client)
        [new] = (await values(client, "remember", text=NEW, supersedes=[old]))["ids"]
        await recalled(client)
        assert (await values(client, "remember", text=OLD, supersedes=[new]))["ids"] == [old]
        assert await recalled(client) == [OLD]

    told(story, client)


def test_facts_of_another_scope_cannot_be_corrected(store: Store) -> None:
    async def remember_one(client: Client) -> str:
        [id] = (await values(client, "remember", text=OLD))["ids"]
        return str(id)

    secret = told(remember_one, here(store.path, scope="secret"))

    async def story(client: Client) -> None:
        [own] = (await values(client, "remember", text=NEW))["ids"]
        for tool, arguments in (
            ("update", {"id": secret, "text": NEW}),
            ("supersede", {"old": [secret], "new": own}),
            ("remember", {"text": "Node is gone.", "supersedes": [secret]}),
        ):
            assert f"No fact has the id {secret}" in await complaint(client, tool, **arguments)

    told(story, here(store.path))


def test_recall_shows_the_date_of_each_fact(client: Client) -> None:
    async def story(client: Client) -> None:
        await values(client, "remember", text=OLD)
        await values(client, "remember", text=NEW, at="2026-01-05")
        today = datetime.now(UTC).date().isoformat()
        text = words(await client.call_tool("recall", {"query": QUESTION}))
        assert f"({today}) {OLD}" in text
        assert f"(2026-01-05) {NEW}" in text
        facts = (await values(client, "recall", query=QUESTION))["facts"]
        assert {fact["text"]: fact["date"] for fact in facts} == {OLD: today, NEW: "2026-01-05"}

    told(story, client)


def test_recall_explains_a_fact_and_guide_counts_what_memory_holds(client: Client) -> None:
    async def story(client: Client) -> None:
        [id] = (await values(client, "remember", text=OLD))["ids"]
        assert (await values(client, "recall", query=QUESTION, why=id))["returned"]
        guide = await values(client, "guide")
        assert guide["stats"]["facts"] == 1
        assert "supersede" in guide["text"]

    told(story, client)
