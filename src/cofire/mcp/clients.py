"""The configuration that each MCP client needs to start cofire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import tomlkit

from cofire.errors import InvalidInput
from cofire.interfaces.installation import launch_command
from cofire.stores.store_location import is_server_url


@dataclass(frozen=True, slots=True)
class McpClient:
    """The configuration file of a client and its format."""

    file: str
    shape: Callable[[str, list[str]], dict[str, Any]]
    toml: bool = False


def _make_entry(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"mcpServers": {"cofire": {"command": command, "args": arguments}}}


def _make_typed_entry(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"mcpServers": {"cofire": {"type": "stdio", "command": command, "args": arguments}}}


def _make_vscode_entry(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"servers": {"cofire": {"type": "stdio", "command": command, "args": arguments}}}


def _make_codex_entry(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"mcp_servers": {"cofire": {"command": command, "args": arguments}}}


CLIENTS: Mapping[str, McpClient] = MappingProxyType(
    {
        "claude-code": McpClient(".mcp.json in your project", _make_typed_entry),
        "claude-desktop": McpClient(
            "claude_desktop_config.json, opened by Settings, Developer, Edit Config", _make_entry
        ),
        "cursor": McpClient("~/.cursor/mcp.json, or .cursor/mcp.json in your project", _make_entry),
        "vscode": McpClient(".vscode/mcp.json in your project", _make_vscode_entry),
        "codex": McpClient("~/.codex/config.toml", _make_codex_entry, toml=True),
    }
)


@dataclass(frozen=True, slots=True)
class ClientConfiguration:
    """A configuration: the client, its file, and the content as values and as text."""

    client: str
    file: str
    configuration: dict[str, Any]
    text: str


def make_client_configuration(name: str, options: Sequence[str]) -> ClientConfiguration:
    """The configuration for a client that starts `cofire mcp` with these options."""
    if name not in CLIENTS:
        raise InvalidInput(f"There is no configuration for {name!r}.", way_out=f"Available: {', '.join(CLIENTS)}.")
    client = CLIENTS[name]
    command, *arguments = _make_launch_command(options)
    values = client.shape(command, [*arguments, *options])
    text = tomlkit.dumps(values) if client.toml else json.dumps(values, indent=2, ensure_ascii=False)
    return ClientConfiguration(name, client.file, values, text.strip())


def _make_launch_command(options: Sequence[str]) -> list[str]:
    """The command that starts the server. A Neo4j store also needs the driver."""
    extras = "mcp,neo4j" if any(map(is_server_url, options)) else "mcp"
    return [*launch_command(extras), "mcp"]
