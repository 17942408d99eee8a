"""Ways to talk to the MCP server with the real client: in this process, over pipes to a process, over HTTP to a process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

import cofire
from cofire.mcp.handlers import DEFAULT_TOOLSET, Toolset
from cofire.mcp.served_memory import ServedMemory
from cofire.mcp.server import make_server
from scripts.house import ROOT
from tests.interfaces.calling import start_process

T = TypeVar("T")
Story = Callable[[Client], Awaitable[T]]


def told(story: Story[T], client: Client) -> T:
    """Connect, live through a story, and leave."""

    async def whole() -> T:
        async with client:
            return await story(client)

    return asyncio.run(whole())


def here(store: Path, *, scope: str = "default", toolset: Toolset = DEFAULT_TOOLSET) -> Client:
    """A client of a server in this process: the quick way."""
    return Client(make_server(lambda: ServedMemory(cofire.AsyncMemory(store, embedder=None), scope), toolset))


def over_stdio(*options: str) -> Client:
    """A client that starts a server as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    arguments = ["-m", "cofire", "mcp", *options]
    return Client(StdioServerParameters(command=sys.executable, args=arguments, env=environment))


@contextmanager
def over_http(*options: str, **environment: str) -> Iterator[str]:
    """A server over HTTP in a process of its own; gives its address."""
    arguments = ("mcp", "--http", "--port", "0", "--json", *options)
    process = start_process(*arguments, environment=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield _announced(process)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def _announced(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    said = b"".join(iter(lambda: process.stdout.readline() if process.stdout else b"", b"}\n")) + b"}"
    address: str = json.loads(said)["url"]
    return address


def words(result: CallToolResult) -> str:
    """The text of an answer."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def values(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool that must not fail. The client holds it to the output schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, words(result)
    found: dict[str, Any] = result.structured_content
    return found


async def complaint(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says when it must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, words(result)
    return words(result)
