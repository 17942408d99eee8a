"""`cofire mcp`: memory for programs that speak MCP, over standard input and output or over HTTP."""

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

from cofire.configuration import STORE_VARIABLE
from cofire.doors.cli.calling import Call, refuse_empty
from cofire.doors.cli.screen import err, show, show_json, styled, warn
from cofire.doors.mcp import clients
from cofire.doors.mcp.compat.acts import COMPAT
from cofire.doors.mcp.compat.importing import Imported, import_file
from cofire.doors.mcp.places import TOKEN_VARIABLE, Place
from cofire.doors.mcp.toolsets import OWN
from cofire.errors import InvalidInput
from cofire.installation import install_command
from cofire.model import DEFAULT_SCOPE
from cofire.places import at_home, without_password
from cofire.xray import counted

# Loaded only to serve: it needs a package that cofire does without.
SERVING = "cofire.doors.mcp.serving"
PACKAGE = "mcp"
PORT = 8377


@dataclass(frozen=True)
class Manner:
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
    ] = PORT
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Be called by this name too, as behind a proxy. Repeatable."),
    ] = None

    def __post_init__(self) -> None:
        refuse_empty("--scope", [self.scope])
        refuse_empty("--allow-host", self.allow_host or ())

    def options(self, store: str | None) -> list[str]:
        """What was said, for a configuration that starts the same."""
        place = ["--store", _whole(store)] if store else []
        scope = ["--scope", self.scope] if self.scope != DEFAULT_SCOPE else []
        return [*place, *scope, *(["--compat"] if self.compat else [])]

    def place(self) -> Place:
        return Place(self.host, self.port, tuple(self.allow_host or ()), os.environ.get(TOKEN_VARIABLE) or None)


def _chosen(call: Call) -> str | None:
    """The store that was said here, by an option or in the environment, which a client does not see."""
    return call.store or os.environ.get(STORE_VARIABLE)


def _whole(store: str) -> str:
    """A path that leads to the same file from every folder; an address is one already, and its password no part of it."""
    return without_password(store) if "://" in store else str(at_home(store).absolute())


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


def serve_mcp(*, manner: Manner, config: ConfigOption = None, file: ImportOption = None, call: Call) -> None:
    """Serve memory to programs that speak MCP, such as Claude, Cursor, VS Code and Codex.

    They start this command themselves, once they are told to with what --config prints. It needs the extra cofire[mcp].

    cofire mcp --config claude-code
    """
    if config is not None:
        return _show_configuration(clients.written(config, manner.options(_chosen(call))), call)
    if file is not None:
        return _import(file, manner, call)
    _refuse_without_package()
    _serve(import_module(SERVING), manner, call)


def _serve(serving: Any, manner: Manner, call: Call) -> Any:
    toolset = COMPAT if manner.compat else OWN
    if not manner.http:
        return serving.serve_stdio(call.store, manner.scope, toolset)
    place = manner.place()
    if not place.is_loopback:
        warn("What is sent is not encrypted. Put a proxy with TLS before it, or use a tunnel.")
    return serving.serve_http(call.store, manner.scope, toolset, place, lambda at: _announce(at, call))


def _show_configuration(written: clients.Written, call: Call) -> None:
    if call.as_json:
        return show_json(asdict(written))
    show(styled(f"Add this to {written.file}:", "dim"), console=err())
    return show(written.text)


def _import(file: Path, manner: Manner, call: Call) -> None:
    if not manner.compat:
        raise InvalidInput("--import reads the official memory server's file.", way_out="Say --compat as well.")
    done: Imported = asyncio.run(import_file(call.store, manner.scope, file))
    if call.as_json:
        return show_json({"path": str(file), **asdict(done), "store": call.place})
    entities = counted(done.entities, "entity", "entities")
    read = f"{entities}, {counted(done.observations, 'observation')} and {counted(done.relations, 'relation')}"
    return show(f"Read {read} from {file}; {done.new:,} of them are new.")


def _refuse_without_package() -> None:
    if find_spec(PACKAGE) is None:
        raise InvalidInput(
            f"The server needs {PACKAGE}, which is not installed.",
            way_out=f"Install the extra: {install_command('mcp')}",
        )


def _announce(address: str, call: Call) -> None:
    """Told before the first client can come, on the output that is free for it."""
    if not call.as_json:
        return show(f"Serving memory at {address}; stop with Ctrl-C.", console=err())
    show_json({"url": address})
    sys.stdout.flush()
