"""The command `mcp`: starts the MCP server, prints client configurations, imports memory files."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from cofire.cli.options import GlobalOptions, refuse_empty_names
from cofire.cli.terminal import show_json, show_text, show_warning, stderr_console, styled_text
from cofire.errors import InvalidInput
from cofire.explain import format_count
from cofire.installation import install_command
from cofire.mcp import clients
from cofire.mcp.compat_tools import COMPAT_TOOLSET, CompatImportResult, import_memory_file
from cofire.mcp.endpoint import TOKEN_VARIABLE, McpEndpoint
from cofire.mcp.handlers import DEFAULT_TOOLSET
from cofire.model import DEFAULT_SCOPE
from cofire.settings.sources import STORE_VARIABLE
from cofire.stores.store_location import expand_store_path, strip_credentials

# Loaded only to serve: it needs a package that cofire does without.
SERVER_MODULE = "cofire.mcp.server"
PACKAGE_NAME = "mcp"
DEFAULT_PORT = 8377


@dataclass(frozen=True)
class McpCommandOptions:
    """What is served, and to whom."""

    scope: Annotated[
        str, typer.Option("--scope", metavar="NAME", help="The scope that clients see; they see no other.")
    ] = DEFAULT_SCOPE
    compat: Annotated[
        bool, typer.Option("--compat", help="Offer the nine tools of the official MCP memory server instead.")
    ] = False
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help=f"Listen at this address; beyond this machine only with ${TOKEN_VARIABLE}.",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Listen at this port; 0 takes a free one.")
    ] = DEFAULT_PORT
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Be called by this name too, as behind a proxy. Repeatable."),
    ] = None

    def __post_init__(self) -> None:
        refuse_empty_names("--scope", [self.scope])
        refuse_empty_names("--allow-host", self.allow_host or ())

    def options(self, store: str | None) -> list[str]:
        """What was said, for a configuration that starts the same."""
        place = ["--store", _make_store_absolute(store)] if store else []
        scope = ["--scope", self.scope] if self.scope != DEFAULT_SCOPE else []
        return [*place, *scope, *(["--compat"] if self.compat else [])]

    def place(self) -> McpEndpoint:
        return McpEndpoint(self.host, self.port, tuple(self.allow_host or ()), os.environ.get(TOKEN_VARIABLE) or None)


def _choose_store(call: GlobalOptions) -> str | None:
    """The store that was said here, by an option or in the environment, which a client does not see."""
    return call.store or os.environ.get(STORE_VARIABLE)


def _make_store_absolute(store: str) -> str:
    """A path that leads to the same file from every folder; an address is one already, and its password no part of it."""
    return strip_credentials(store) if "://" in store else str(expand_store_path(store).absolute())


ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="CLIENT", help=f"Only print the configuration for a client: {', '.join(clients.CLIENTS)}."
    ),
]
ImportOption = Annotated[
    Path | None,
    typer.Option(
        "--import", metavar="FILE", help="Only read the memory.jsonl of the official memory server; with --compat."
    ),
]


def serve_mcp(
    *, manner: McpCommandOptions, config: ConfigOption = None, file: ImportOption = None, call: GlobalOptions
) -> None:
    """Serve memory to programs that speak MCP, such as Claude, Cursor, VS Code and Codex.

    They start this command themselves, once they are told to with what --config prints. It needs the extra cofire[mcp].

    cofire mcp --config claude-code
    """
    if config is not None:
        return _show_configuration(clients.make_client_configuration(config, manner.options(_choose_store(call))), call)
    if file is not None:
        return _import_memory_file(file, manner, call)
    _refuse_missing_package()
    _start_server(import_module(SERVER_MODULE), manner, call)


def _start_server(serving: Any, manner: McpCommandOptions, call: GlobalOptions) -> Any:
    toolset = COMPAT_TOOLSET if manner.compat else DEFAULT_TOOLSET
    if not manner.http:
        return serving.serve_stdio(call.store, manner.scope, toolset)
    place = manner.place()
    if not place.is_loopback:
        show_warning("What is sent is not encrypted. Put a proxy with TLS before it, or use a tunnel.")
    return serving.serve_http(call.store, manner.scope, toolset, place, lambda at: _announce_address(at, call))


def _show_configuration(written: clients.ClientConfiguration, call: GlobalOptions) -> None:
    if call.as_json:
        return show_json(asdict(written))
    show_text(styled_text(f"Add this to {written.file}:", "dim"), console=stderr_console())
    return show_text(written.text)


def _import_memory_file(file: Path, manner: McpCommandOptions, call: GlobalOptions) -> None:
    if not manner.compat:
        raise InvalidInput("--import reads the official memory server's file.", way_out="Say --compat as well.")
    done: CompatImportResult = asyncio.run(import_memory_file(call.store, manner.scope, file))
    if call.as_json:
        return show_json({"path": str(file), **asdict(done), "store": call.place})
    entities = format_count(done.entities, "entity", "entities")
    read = (
        f"{entities}, {format_count(done.observations, 'observation')} and {format_count(done.relations, 'relation')}"
    )
    return show_text(f"Read {read} from {file}; {done.new:,} of them are new.")


def _refuse_missing_package() -> None:
    if find_spec(PACKAGE_NAME) is None:
        raise InvalidInput(
            f"The server needs {PACKAGE_NAME}, which is not installed.",
            way_out=f"Install the extra: {install_command('mcp')}",
        )


def _announce_address(address: str, call: GlobalOptions) -> None:
    """Told before the first client can come, on the output that is free for it."""
    if not call.as_json:
        return show_text(f"Serving memory at {address}; stop with Ctrl-C.", console=stderr_console())
    show_json({"url": address})
    sys.stdout.flush()
