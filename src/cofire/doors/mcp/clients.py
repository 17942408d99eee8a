"""Configurations for programs that use MCP servers: what to write into which file so that they start cofire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import tomlkit

from cofire.errors import InvalidInput
from cofire.installation import launch_command
from cofire.places import is_served


@dataclass(frozen=True, slots=True)
class Client:
    """A program, the file it reads its servers from, and the shape it wants them in."""

    file: str
    shape: Callable[[str, list[str]], dict[str, Any]]
    toml: bool = False


def _servers(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"mcpServers": {"cofire": {"command": command, "args": arguments}}}


def _typed_servers(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"mcpServers": {"cofire": {"type": "stdio", "command": command, "args": arguments}}}


def _vscode(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"servers": {"cofire": {"type": "stdio", "command": command, "args": arguments}}}


def _codex(command: str, arguments: list[str]) -> dict[str, Any]:
    return {"mcp_servers": {"cofire": {"command": command, "args": arguments}}}


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        "claude-code": Client(".mcp.json in your project", _typed_servers),
        "claude-desktop": Client("claude_desktop_config.json, opened by Settings, Developer, Edit Config", _servers),
        "cursor": Client("~/.cursor/mcp.json, or .cursor/mcp.json in your project", _servers),
        "vscode": Client(".vscode/mcp.json in your project", _vscode),
        "codex": Client("~/.codex/config.toml", _codex, toml=True),
    }
)


@dataclass(frozen=True, slots=True)
class Written:
    """A configuration: for whom, where it belongs, and as values and text."""

    client: str
    file: str
    configuration: dict[str, Any]
    text: str


def written(name: str, options: Sequence[str]) -> Written:
    """The configuration for a client, with these options of `cofire mcp`."""
    if name not in CLIENTS:
        raise InvalidInput(f"There is no configuration for {name!r}.", way_out=f"There are {', '.join(CLIENTS)}.")
    client = CLIENTS[name]
    command, *arguments = _launched(options)
    values = client.shape(command, [*arguments, *options])
    text = tomlkit.dumps(values) if client.toml else json.dumps(values, indent=2, ensure_ascii=False)
    return Written(name, client.file, values, text.strip())


def _launched(options: Sequence[str]) -> list[str]:
    """The command that starts the server. A store on a server also needs the driver."""
    extras = "mcp,neo4j" if any(map(is_served, options)) else "mcp"
    return [*launch_command(extras), "mcp"]
