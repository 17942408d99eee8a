"""Resources: what stands at each address."""

from __future__ import annotations

import json

import pytest
from mcp import Client, MCPError
from mcp.types import TextResourceContents

from tests.interfaces.calling import Store
from tests.interfaces.mcp.talking import here, told


@pytest.fixture
def client(store: Store) -> Client:
    return here(store.path)


async def page(client: Client, address: str) -> TextResourceContents:
    [found] = (await client.read_resource(address)).contents
    assert isinstance(found, TextResourceContents)
    return found


def test_addresses_and_templates_are_listed(client: Client) -> None:
    async def story(client: Client) -> tuple[set[str], set[str]]:
        plain, templates = await client.list_resources(), await client.list_resource_templates()
        return {one.uri for one in plain.resources}, {one.uri_template for one in templates.resource_templates}

    assert told(story, client) == (
        {"cofire://guide", "cofire://stats"},
        {"cofire://fact/{id}", "cofire://guide/{verb}"},
    )


def test_a_fact_is_read_with_its_links_and_fenced(client: Client, store: Store) -> None:
    [tea, cake] = store.holds("Tea <b>is</b> at four.", "Cake is at five.", session="party")

    async def story(client: Client) -> str:
        return (await page(client, f"cofire://fact/{tea}")).text

    opening, *inside, closing = told(story, client).splitlines()
    fact = json.loads("\n".join(inside))
    assert opening.startswith("<memory note=")
    assert closing == "</memory>"
    assert fact["text"] == "Tea ‹b›is‹/b› at four."
    assert {fact["links"][0]["source"], fact["links"][0]["target"]} == {tea, cake}


def test_guide_and_stats_are_read(client: Client, store: Store) -> None:
    store.holds("Tea is at four.")

    async def story(client: Client) -> None:
        assert (await page(client, "cofire://guide/dream")).text.startswith("dream\n")
        assert "recall:" in (await page(client, "cofire://guide")).text
        counts = await page(client, "cofire://stats")
        assert counts.mime_type == "application/json"
        assert json.loads(counts.text)["facts"] == 1

    told(story, client)


@pytest.mark.parametrize("address", ["cofire://fact/nobody", "cofire://guide/dreem", "cofire://elsewhere"])
def test_an_address_that_leads_nowhere_says_so(client: Client, address: str) -> None:
    async def story(client: Client) -> None:
        with pytest.raises(MCPError, match=r"No fact has the id|Did you mean dream|Available: cofire://guide"):
            await client.read_resource(address)

    told(story, client)
