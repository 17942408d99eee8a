"""The server as it really runs: a process at the other end of pipes, or one that listens for HTTP; and who is turned away."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from cofire.errors import InvalidInput
from cofire.mcp.endpoint import TOKEN_VARIABLE, McpEndpoint
from tests.conftest import sqlite_store
from tests.interfaces.calling import Store, call, call_process
from tests.interfaces.mcp.talking import over_http, over_stdio, told, values

TOKEN = "a-token-that-nobody-guesses"
CLIENTS = 6
FACTS_EACH = 3
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
SPEAKS_MCP = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


async def remember_and_recall(client: Client) -> str:
    """The same short story over every transport; returns the id of the recall."""
    assert len((await client.list_tools()).tools) == 10
    await values(client, "remember", text="PgBouncer runs in transaction mode.")
    found = await values(client, "recall", query="How does PgBouncer run?")
    assert [one["text"] for one in found["facts"]] == ["PgBouncer runs in transaction mode."]
    recall: str = found["recall"]
    return recall


def session_of(store: Store, recall: str) -> str | None:
    """The session under which a recall was logged."""
    opened = sqlite_store(store.path.parent)
    try:
        shown = opened.read_recall(recall)
    finally:
        opened.close()
    assert shown is not None
    return shown.session


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for those who only knock."""
    folder = tmp_path_factory.mktemp("knocking")
    with over_http("--store", str(folder / "memory.db"), COFIRE_EMBEDDER_NAME="none") as address:
        yield address


def knock(address: str, **headers: str) -> int:
    """What an initialize with these headers is answered with."""
    return httpx.post(address, json=INITIALIZE, headers={**SPEAKS_MCP, **headers}).status_code


@pytest.mark.slow
def test_each_process_over_stdio_is_a_session(store: Store) -> None:
    first, second = (told(remember_and_recall, over_stdio()) for _ in range(2))
    sessions = {session_of(store, first), session_of(store, second)}
    assert None not in sessions
    assert len(sessions) == 2


@pytest.mark.slow
def test_each_client_over_http_is_a_session(store: Store) -> None:
    with over_http() as address:
        first, second = (told(remember_and_recall, Client(address, mode="legacy")) for _ in range(2))
        third = told(remember_and_recall, Client(address))
    sessions = {session_of(store, first), session_of(store, second)}
    assert None not in sessions
    assert len(sessions) == 2
    assert session_of(store, third) is None  # the newest protocol knows no sessions: a pause ends one


@pytest.mark.slow
def test_several_processes_share_one_file(store: Store) -> None:
    async def one(number: int) -> None:
        async with over_stdio() as client:
            for fact in range(FACTS_EACH):
                await values(client, "remember", text=f"Client {number} tells fact {fact}.")
            await values(client, "remember", text="All of them tell this.")
            found = await values(client, "recall", query=f"What does client {number} tell?", k=20)
            told = {one["text"] for one in found["facts"]}
            assert {f"Client {number} tells fact {fact}." for fact in range(FACTS_EACH)} <= told

    async def all_at_once() -> None:
        await asyncio.gather(*(one(number) for number in range(CLIENTS)))

    asyncio.run(all_at_once())
    assert len(store.facts()) == CLIENTS * FACTS_EACH + 1


@pytest.mark.slow
def test_a_friend_is_let_in(address: str) -> None:
    assert knock(address) == 200
    assert knock(address, origin=address.removesuffix("/mcp")) == 200


@pytest.mark.slow
@pytest.mark.parametrize("host", ["evil.example.org", "evil.example.org:8377", "127.0.0.1:1", "127.0.0.1.evil.org", ""])
def test_a_name_that_leads_here_from_elsewhere_is_turned_away(address: str, host: str) -> None:
    assert knock(address, host=host) in {400, 421}


@pytest.mark.slow
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example.org", "http://127.0.0.1:1", "http://localhost", "null", "http://127.0.0.1.evil.org"],
)
def test_a_page_of_another_place_is_turned_away(address: str, origin: str) -> None:
    assert knock(address, origin=origin) == 403


@pytest.mark.slow
def test_a_page_cannot_ask_whether_it_may(address: str) -> None:
    asked = {"origin": "https://evil.example.org", "access-control-request-method": "POST"}
    answer = httpx.options(address, headers=asked)
    assert answer.status_code >= 400
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.slow
def test_a_flood_is_turned_away(address: str) -> None:
    flood = {**INITIALIZE, "params": {"padding": "x" * 5_000_000}}
    assert httpx.post(address, json=flood, headers=SPEAKS_MCP).status_code == 413


@pytest.mark.slow
def test_with_a_token_only_those_who_have_it_are_let_in() -> None:
    with over_http(**{TOKEN_VARIABLE: TOKEN}) as address:
        assert knock(address) == 401
        assert knock(address, authorization=f"Bearer {TOKEN}x") == 401
        assert knock(address, authorization=f"Bearer {TOKEN}") == 200
        assert asyncio.run(tools_with_token(address)) == 10


async def tools_with_token(address: str) -> int:
    async with (
        create_mcp_http_client(headers={"authorization": f"Bearer {TOKEN}"}) as carrying,
        Client(streamable_http_client(address, http_client=carrying)) as client,
    ):
        return len((await client.list_tools()).tools)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "memory.example.org"])
def test_beyond_this_machine_a_token_is_needed(host: str) -> None:
    ran = call("mcp", "--http", "--host", host)
    assert ran.code == 2
    assert TOKEN_VARIABLE in ran.err


def test_every_address_needs_a_name_that_callers_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    ran = call("mcp", "--http", "--host", "0.0.0.0")
    assert ran.code == 2
    assert "--allow-host" in ran.err


def test_a_short_token_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too short"):
        McpEndpoint("127.0.0.1", 1, token="secret")


def test_a_place_knows_its_names() -> None:
    place = McpEndpoint("0.0.0.0", 8377, ("memory.example.org",), TOKEN)
    assert place.hosts == ["memory.example.org:8377", "memory.example.org"]
    assert "https://memory.example.org" in place.origins
    assert McpEndpoint("::1", 7).address == "http://[::1]:7/mcp"


def test_a_port_that_is_taken_is_an_error_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = call("mcp", "--http", "--port", str(taken.getsockname()[1]))
    assert ran.code == 2
    assert "--port" in ran.err


@pytest.mark.slow
def test_without_the_package_the_way_out_is_told(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'mcp' else find(name, *rest)\n",
        encoding="utf-8",
    )
    ran = call_process("mcp", PYTHONPATH=f"{tmp_path}:{Path(__file__).parents[3] / 'src'}")
    assert ran.code == 2
    assert "Install the extra: pip install" in ran.err
