"""Forget looks before it leaps, gives a receipt, and takes it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client

from tests.interfaces.calling import Store
from tests.interfaces.mcp.talking import complaint, here, told, values, words


@pytest.fixture
def client(store: Store) -> Client:
    return here(store.path)


def test_without_confirm_nothing_goes_and_the_next_call_is_told(client: Client, store: Store) -> None:
    [tea, cake] = store.holds("Tea is at four.", "Cake is at five.", session="party")

    async def story(client: Client) -> None:
        result = await client.call_tool("forget", {"ids": [tea]})
        assert result.structured_content["forgotten"] is False
        assert result.structured_content["edges"] == 1
        assert f"forget(ids=['{tea}'], confirm=true)" in words(result)
        assert "Tea is at four." in words(result)

    told(story, client)
    assert {fact.id for fact in store.facts()} == {tea, cake}


def test_confirmed_it_goes_and_comes_back_with_its_receipt(client: Client, store: Store) -> None:
    [tea] = store.holds("Tea is at four.")

    async def story(client: Client) -> None:
        gone = await values(client, "forget", ids=[tea], confirm=True)
        assert gone["forgotten"] is True
        assert store.texts == set()
        back = await values(client, "forget", undo=gone["receipt"])
        assert back["ids"] == [tea]

    told(story, client)
    assert store.texts == {"Tea is at four."}


def test_tags_and_session_say_what_to_forget(client: Client, store: Store) -> None:
    store.holds("Tea is at four.", tags=["tea"])
    store.holds("Cake is at five.", session="party")
    store.holds("Supper is at six.")

    async def story(client: Client) -> None:
        assert len((await values(client, "forget", tags=["tea"]))["ids"]) == 1
        await values(client, "forget", tags=["tea"], confirm=True)
        await values(client, "forget", session="party", confirm=True)

    told(story, client)
    assert store.texts == {"Supper is at six."}


def test_nothing_said_forgets_nothing(client: Client, store: Store) -> None:
    store.holds("Tea is at four.")

    async def story(client: Client) -> str:
        return await complaint(client, "forget", confirm=True)

    assert "Give ids, tags, a session or where." in told(story, client)
    assert store.texts == {"Tea is at four."}


def test_a_receipt_is_no_way_to_name_a_file(client: Client, tmp_path: Path) -> None:
    letter = tmp_path / "letter.json"
    letter.write_text("{}", encoding="utf-8")

    async def story(client: Client) -> str:
        return await complaint(client, "forget", undo=str(letter))

    assert "No receipt has the id" in told(story, client)
