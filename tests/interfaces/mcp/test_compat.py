"""The nine tools of the official memory server: what its clients send and get, and that cofire recalls it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextContent

from cofire.mcp.compat import COMPAT_TOOLSET
from tests.interfaces.calling import Store, call
from tests.interfaces.mcp.talking import complaint, here, told, values, words

ALICE = {"name": "Alice", "entityType": "person", "observations": ["works at Acme Corp", "likes tea"]}
BOB = {"name": "Bob", "entityType": "person", "observations": ["likes programming"]}
ACME = {"name": "Acme Corp", "entityType": "organization", "observations": ["makes anvils"]}
KNOWS = {"from": "Alice", "to": "Bob", "relationType": "knows"}
WORKS_AT = {"from": "Alice", "to": "Acme Corp", "relationType": "works_at"}
EMPTY: dict[str, Any] = {"entities": [], "relations": []}


@pytest.fixture
def client(store: Store) -> Client:
    return here(store.path, toolset=COMPAT_TOOLSET)


async def seed(client: Client) -> None:
    await values(client, "create_entities", entities=[ALICE, BOB, ACME])
    await values(client, "create_relations", relations=[KNOWS, WORKS_AT])


def test_the_nine_tools_are_listed(client: Client) -> None:
    async def story(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert told(story, client) == [
        *("create_entities", "create_relations", "add_observations"),
        *("delete_entities", "delete_observations", "delete_relations"),
        *("read_graph", "search_nodes", "open_nodes"),
    ]


def test_what_is_created_is_read_in_its_order(client: Client) -> None:
    async def story(client: Client) -> None:
        assert await values(client, "read_graph") == EMPTY
        await seed(client)
        whole = {"entities": [ALICE, BOB, ACME], "relations": [KNOWS, WORKS_AT]}
        result = await client.call_tool("read_graph", {})
        assert result.structured_content == whole
        assert json.loads(words(result)) == whole

    told(story, client)


def test_created_entities_come_back_as_a_list_in_the_text(client: Client) -> None:
    async def story(client: Client) -> None:
        result = await client.call_tool("create_entities", {"entities": [ALICE]})
        assert json.loads(words(result)) == [ALICE]
        assert result.structured_content == {"entities": [ALICE]}

    told(story, client)


def test_an_entity_that_is_there_is_skipped_and_said_so(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        other = {**ALICE, "entityType": "robot", "observations": ["beeps"]}
        result = await client.call_tool("create_entities", {"entities": [other]})
        assert result.structured_content == {"entities": [], "skipped": ["Alice"]}
        assert isinstance(result.content[1], TextContent)
        assert (await values(client, "open_nodes", names=["Alice"]))["entities"] == [ALICE]

    told(story, client)


def test_relations_are_created_once_and_between_entities_that_are_there(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        manages = {**KNOWS, "relationType": "manages"}
        assert await values(client, "create_relations", relations=[KNOWS, manages]) == {"relations": [manages]}
        nobody = {"from": "Zed", "to": "Bob", "relationType": "x"}
        assert "Entity with name Zed not found" in await complaint(client, "create_relations", relations=[nobody])

    told(story, client)


def test_only_new_observations_are_added(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        given = [{"entityName": "Alice", "contents": ["likes tea", "plays chess", "plays chess"]}]
        added = await values(client, "add_observations", observations=given)
        assert added == {"results": [{"entityName": "Alice", "addedObservations": ["plays chess"]}]}
        [alice] = (await values(client, "open_nodes", names=["Alice"]))["entities"]
        assert alice["observations"] == [*ALICE["observations"], "plays chess"]

    told(story, client)


def test_an_unknown_entity_fails_the_whole_batch(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        given = [{"entityName": "Alice", "contents": ["plays chess"]}, {"entityName": "Zed", "contents": ["x"]}]
        assert "Entity with name Zed not found" in await complaint(client, "add_observations", observations=given)
        assert (await values(client, "open_nodes", names=["Alice"]))["entities"] == [ALICE]

    told(story, client)


def test_a_deleted_entity_takes_its_relations_along_and_comes_back_with_the_receipt(client: Client) -> None:
    async def story(client: Client) -> str:
        await seed(client)
        result = await client.call_tool("delete_entities", {"entityNames": ["Alice"]})
        assert result.structured_content == {"success": True, "message": "Entities deleted successfully"}
        assert await values(client, "read_graph") == {"entities": [BOB, ACME], "relations": []}
        return words(result).rpartition("cofire undo ")[2]

    receipt = told(story, client)
    assert call("undo", receipt).code == 0
    assert len(call("list", "--tag", "knowledge-graph", "--json").json["facts"]) == 9


def test_observations_and_relations_are_deleted_one_by_one(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        gone = [{"entityName": "Alice", "observations": ["likes tea", "never said"]}]
        assert (await values(client, "delete_observations", deletions=gone))["message"].startswith("Deleted 1 of 2")
        assert (await values(client, "delete_relations", relations=[KNOWS]))["message"].endswith("successfully")
        assert await values(client, "open_nodes", names=["Alice"]) == {
            "entities": [{**ALICE, "observations": ["works at Acme Corp"]}],
            "relations": [WORKS_AT],
        }

    told(story, client)


def test_what_is_not_there_is_named_when_it_is_deleted(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        told = await values(client, "delete_entities", entityNames=["Bob", "Zed"])
        assert told == {"success": True, "message": "Deleted 1 of 2 entities. Not found: Zed"}
        none = await values(client, "delete_relations", relations=[{**WORKS_AT, "relationType": "owns"}])
        assert none["message"] == "Deleted 0 of 1 relations. The others were not found."

    told(story, client)


def test_an_observation_that_reads_like_its_entity_can_go_alone(client: Client) -> None:
    async def story(client: Client) -> None:
        odd = {"name": "Alice", "entityType": "person", "observations": ["Alice (person)"]}
        await values(client, "create_entities", entities=[odd])
        assert (await values(client, "read_graph"))["entities"] == [odd]
        await values(
            client, "delete_observations", deletions=[{"entityName": "Alice", "observations": ["Alice (person)"]}]
        )
        assert (await values(client, "read_graph"))["entities"] == [{**odd, "observations": []}]

    told(story, client)


def test_search_finds_words_in_names_types_and_observations(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        assert await values(client, "search_nodes", query="bob") == {"entities": [BOB], "relations": [KNOWS]}
        assert await values(client, "search_nodes", query="ORGANIZATION") == {
            "entities": [ACME],
            "relations": [WORKS_AT],
        }
        assert (await values(client, "search_nodes", query="anvil"))["entities"] == [ACME]

    told(story, client)


def test_search_recalls_where_no_entity_has_the_very_words(client: Client) -> None:
    async def story(client: Client) -> None:
        await seed(client)
        assert ACME in (await values(client, "search_nodes", query="Who makes the anvils?"))["entities"]
        assert await values(client, "search_nodes", query="quantum chromodynamics") == EMPTY

    told(story, client)


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("create_entities", {}, "entities is missing"),
        ("create_entities", {"entities": [{"name": "Ana", "entityType": "x"}]}, r"entities[0] observations is missing"),
        ("search_nodes", {"query": 42}, "query must be string, not int"),
        ("search_nodes", {"query": "a" * 2049}, "more than 2048 characters"),
        ("open_nodes", {"names": "Alice"}, "names must be array, not str"),
    ],
)
def test_what_has_the_wrong_shape_is_refused(client: Client, tool: str, given: dict[str, Any], said: str) -> None:
    async def story(client: Client) -> str:
        return await complaint(client, tool, **given)

    assert said in told(story, client)


def test_recalled_blocks_are_no_observations(client: Client, store: Store) -> None:
    block = '<memory note="Recalled facts.">\n[1] Tea is at four.\n</memory>'

    async def story(client: Client) -> str:
        await seed(client)
        return await complaint(client, "add_observations", observations=[{"entityName": "Bob", "contents": [block]}])

    assert "recalled text" in told(story, client)
    assert not any("Tea is at four" in text for text in store.texts)


def test_what_the_nine_tools_store_is_recalled_like_any_fact(client: Client) -> None:
    told(seed, client)
    found = call("recall", "Who works at Acme Corp?", "--json").json
    assert "works at Acme Corp" in {hit["text"] for hit in found["hits"]}
