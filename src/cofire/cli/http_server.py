"""The command `serve`: starts the HTTP server."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from cofire.cli.options import GlobalOptions, refuse_empty_names
from cofire.cli.terminal import show_json, show_text, show_warning
from cofire.errors import InvalidInput
from cofire.installation import install_command, missing_page_way_out, page_is_built

# Loaded when the server starts: no other command needs the packages of the extra.
SERVER_MODULE = "cofire.http.server"
ACCESS_MODULE = "cofire.http.access"
EXTRA_PACKAGES = ("fastapi", "sse_starlette", "uvicorn")
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class ServeCommandOptions:
    """Where to listen, and who may come in."""

    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Listen at this address.", show_default=True)
    ] = "127.0.0.1"
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="N", min=0, max=65535, help="Listen at this port; 0 takes a free one.", show_default=True
        ),
    ] = 8765
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Be called by this name too, as behind a proxy. Repeatable."),
    ] = None
    rate: Annotated[
        float,
        typer.Option(
            "--rate", metavar="N", min=0.1, max=100_000, help="Requests of one client in a second.", show_default=True
        ),
    ] = 50.0
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let every program on this machine in. Only with a loopback address.")
    ] = False

    def __post_init__(self) -> None:
        refuse_empty_names("--allow-host", self.allow_host or ())


def serve(*, place: ServeCommandOptions, call: GlobalOptions) -> None:
    """Serve the memory over HTTP: the API under /api/v1, and the page that shows the graph.

    It listens on this machine only, and asks for a token, which is made at the first start and kept in your data folder.
    The address that is printed holds it: open it in a browser. Stop it with Ctrl-C.

    cofire serve --port 8765
    """
    _refuse_missing_packages()
    if place.no_token and place.host not in LOOPBACK_HOSTS:
        raise InvalidInput(
            f"Without a token everybody who reaches {place.host} could read and change the memory.",
            way_out="Leave out --no-token, or listen at 127.0.0.1.",
        )
    if place.host not in LOOPBACK_HOSTS:
        show_warning("What is sent is not encrypted. Put a proxy with TLS before it, or use a tunnel.")
    if not page_is_built():
        show_warning(f"This installation has no page, only the API. {missing_page_way_out()}")
    token, kept = (None, None) if place.no_token else _load_token()
    serving: Any = import_module(SERVER_MODULE)
    address = serving.ListenAddress(place.host, place.port, tuple(place.allow_host or ()), place.rate)
    serving.run_server(call.store, address, token, lambda url: _announce_address(call, url, token, kept))


def _load_token() -> tuple[str, str]:
    """The token, and where it is kept."""
    access: Any = import_module(ACCESS_MODULE)
    path = access.token_path()
    return access.load_or_make_token(path), str(path)


def _announce_address(call: GlobalOptions, url: str, token: str | None, kept: str | None) -> None:
    """Say where it listens at once: a program may be waiting for it at the other end of a pipe."""
    _show_address(call, url, token, kept)
    sys.stdout.flush()


def _show_address(call: GlobalOptions, url: str, token: str | None, kept: str | None) -> None:
    opened = f"{url}/#token={token}" if token else f"{url}/"
    if call.as_json:
        return show_json({"url": url, "open": opened, "token_file": kept, "store": call.place})
    show_text(f"Serving {call.place} at {url}; stop with Ctrl-C.")
    show_text(f"Open {opened}")
    if kept:
        show_text(f"The token is kept in {kept}.")


def _refuse_missing_packages() -> None:
    missing = [name for name in EXTRA_PACKAGES if find_spec(name) is None]
    if missing:
        raise InvalidInput(
            f"The server needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed.",
            way_out=f"Install the extra: {install_command('serve')}",
        )
