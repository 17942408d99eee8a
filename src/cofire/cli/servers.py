"""The commands `mcp` and `serve`: start the MCP and the HTTP server."""

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
from cofire.errors import InvalidInput, install_command
from cofire.explain import format_count
from cofire.interfaces.installation import missing_page_way_out, page_is_built
from cofire.mcp.clients import CLIENTS, ClientConfiguration, make_client_configuration
from cofire.mcp.compat import COMPAT_TOOLSET, CompatImportResult, import_memory_file
from cofire.mcp.endpoint import TOKEN_VARIABLE, McpEndpoint
from cofire.mcp.handlers import DEFAULT_TOOLSET
from cofire.model import DEFAULT_SCOPE
from cofire.settings.sources import STORE_VARIABLE
from cofire.stores.store_location import expand_store_path, strip_credentials

# Loaded when a server starts, because they need the packages of an extra.
MCP_SERVER_MODULE = "cofire.mcp.server"
HTTP_SERVER_MODULE = "cofire.http.server"
HTTP_ACCESS_MODULE = "cofire.http.access"
MCP_PACKAGES = ("mcp",)
HTTP_PACKAGES = ("fastapi", "sse_starlette", "uvicorn")

DEFAULT_MCP_PORT = 8377
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
UNENCRYPTED_WARNING = "The connection is not encrypted. Put a TLS proxy in front of it, or use a tunnel."


def _refuse_missing_packages(packages: tuple[str, ...], extra: str) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise InvalidInput(
            f"The server needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed.",
            way_out=f"Install the extra: {install_command(extra)}",
        )


# The command `mcp`


@dataclass(frozen=True)
class McpCommandOptions:
    """The scope, the tools and the transport of the MCP server."""

    scope: Annotated[str, typer.Option("--scope", metavar="NAME", help="The scope that clients read and write.")] = (
        DEFAULT_SCOPE
    )
    compat: Annotated[
        bool, typer.Option("--compat", help="Offer the nine tools of the official MCP memory server instead.")
    ] = False
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help=f"Listen on this address. Other than loopback addresses require ${TOKEN_VARIABLE}.",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Listen on this port; 0 chooses a free one.")
    ] = DEFAULT_MCP_PORT
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="Accept this host name too, for example behind a proxy. Repeatable."
        ),
    ] = None

    def __post_init__(self) -> None:
        refuse_empty_names("--scope", [self.scope])
        refuse_empty_names("--allow-host", self.allow_host or ())

    def launch_options(self, store: str | None) -> list[str]:
        """The options that a client configuration needs to start the same server."""
        options = ["--store", _make_store_absolute(store)] if store else []
        if self.scope != DEFAULT_SCOPE:
            options += ["--scope", self.scope]
        if self.compat:
            options.append("--compat")
        return options

    def endpoint(self) -> McpEndpoint:
        return McpEndpoint(self.host, self.port, tuple(self.allow_host or ()), os.environ.get(TOKEN_VARIABLE) or None)


def _make_store_absolute(store: str) -> str:
    """An absolute path, valid from every folder, or a URL without its password."""
    return strip_credentials(store) if "://" in store else str(expand_store_path(store).absolute())


ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="CLIENT", help=f"Print the configuration for a client and exit: {', '.join(CLIENTS)}."
    ),
]
ImportOption = Annotated[
    Path | None,
    typer.Option(
        "--import",
        metavar="FILE",
        help="Import the memory.jsonl of the official memory server and exit; needs --compat.",
    ),
]


def serve_mcp(
    *, options: McpCommandOptions, config: ConfigOption = None, file: ImportOption = None, call: GlobalOptions
) -> None:
    """Serve the memory to MCP clients such as Claude, Cursor, VS Code and Codex.

    Clients start this command themselves; --config prints the configuration they need. Requires the extra `mcp`.

    cofire mcp --config claude-code
    """
    if config is not None:
        # A client does not see the environment of this shell.
        store = call.store or os.environ.get(STORE_VARIABLE)
        return _show_configuration(make_client_configuration(config, options.launch_options(store)), call)
    if file is not None:
        return _import_memory_file(file, options, call)
    _refuse_missing_packages(MCP_PACKAGES, "mcp")
    _start_mcp_server(import_module(MCP_SERVER_MODULE), options, call)


def _start_mcp_server(server: Any, options: McpCommandOptions, call: GlobalOptions) -> Any:
    toolset = COMPAT_TOOLSET if options.compat else DEFAULT_TOOLSET
    if not options.http:
        return server.serve_stdio(call.store, options.scope, toolset)
    endpoint = options.endpoint()
    if not endpoint.is_loopback:
        show_warning(UNENCRYPTED_WARNING)
    return server.serve_http(call.store, options.scope, toolset, endpoint, lambda url: _announce_mcp_server(url, call))


def _announce_mcp_server(url: str, call: GlobalOptions) -> None:
    """Print the address before the first client connects."""
    if not call.as_json:
        return show_text(f"Serving memory at {url}. Stop with Ctrl-C.", console=stderr_console())
    show_json({"url": url})
    sys.stdout.flush()


def _show_configuration(configuration: ClientConfiguration, call: GlobalOptions) -> None:
    if call.as_json:
        return show_json(asdict(configuration))
    show_text(styled_text(f"Add this to {configuration.file}:", "dim"), console=stderr_console())
    return show_text(configuration.text)


def _import_memory_file(file: Path, options: McpCommandOptions, call: GlobalOptions) -> None:
    if not options.compat:
        raise InvalidInput("--import reads the official memory server's file.", way_out="Add --compat.")
    result: CompatImportResult = asyncio.run(import_memory_file(call.store, options.scope, file))
    if call.as_json:
        return show_json({"path": str(file), **asdict(result), "store": call.location})
    entities = format_count(result.entities, "entity", "entities")
    observations = format_count(result.observations, "observation")
    relations = format_count(result.relations, "relation")
    return show_text(f"Read {entities}, {observations} and {relations} from {file}; {result.new:,} of them are new.")


# The command `serve`


@dataclass(frozen=True)
class ServeCommandOptions:
    """The address and the access rules of the HTTP server."""

    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Listen on this address.", show_default=True)
    ] = "127.0.0.1"
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65535,
            help="Listen on this port; 0 chooses a free one.",
            show_default=True,
        ),
    ] = 8765
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="Accept this host name too, for example behind a proxy. Repeatable."
        ),
    ] = None
    rate: Annotated[
        float,
        typer.Option(
            "--rate",
            metavar="N",
            min=0.1,
            max=100_000,
            help="Maximum requests per second and client.",
            show_default=True,
        ),
    ] = 50.0
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Require no token. Allowed with a loopback address only.")
    ] = False

    def __post_init__(self) -> None:
        refuse_empty_names("--allow-host", self.allow_host or ())


def serve(*, options: ServeCommandOptions, call: GlobalOptions) -> None:
    """Serve the memory over HTTP: the API under /api/v1, and a web page that shows the graph.

    By default it listens on this machine only and requires a token. The token is created at the first start and saved in your
    data folder. The printed address contains it: open it in a browser. Stop the server with Ctrl-C.

    cofire serve --port 8765
    """
    _refuse_missing_packages(HTTP_PACKAGES, "serve")
    is_loopback = options.host in LOOPBACK_HOSTS
    if options.no_token and not is_loopback:
        raise InvalidInput(
            f"Without a token, everyone who can reach {options.host} could read and change the memory.",
            way_out="Leave out --no-token, or listen on 127.0.0.1.",
        )
    if not is_loopback:
        show_warning(UNENCRYPTED_WARNING)
    if not page_is_built():
        show_warning(f"This installation has no web page, only the API. {missing_page_way_out()}")
    token: str | None = None
    token_path: str | None = None
    if not options.no_token:
        access: Any = import_module(HTTP_ACCESS_MODULE)
        token_path = str(access.token_path())
        token = access.load_or_make_token(access.token_path())
    server: Any = import_module(HTTP_SERVER_MODULE)
    address = server.ListenAddress(options.host, options.port, tuple(options.allow_host or ()), options.rate)
    server.run_server(call.store, address, token, lambda url: _announce_http_server(call, url, token, token_path))


def _announce_http_server(call: GlobalOptions, url: str, token: str | None, token_path: str | None) -> None:
    """Print the address and flush at once: another program may read it from a pipe."""
    page_url = f"{url}/#token={token}" if token else f"{url}/"
    if call.as_json:
        show_json({"url": url, "open": page_url, "token_file": token_path, "store": call.location})
    else:
        show_text(f"Serving {call.location} at {url}. Stop with Ctrl-C.")
        show_text(f"Open {page_url}")
        if token_path:
            show_text(f"The token is saved in {token_path}.")
    sys.stdout.flush()
