"""Run the HTTP server with uvicorn: open the memory, listen, serve until stopped."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

import cofire
from cofire.errors import InvalidInput, map_exceptions
from cofire.http.access import WILDCARD_HOSTS, AccessRules, collect_host_names
from cofire.http.application import make_application

BACKLOG = 128
# Streams are closed at once when the server stops; other requests get a moment.
SHUTDOWN_SECONDS = 5
IDLE_SECONDS = 30
MAX_CONCURRENT_REQUESTS = 100
MAX_BODY_BYTES = 4 * 1024 * 1024
BURST_SECONDS = 4


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen, by which other names to be called, and how often a client may ask in a second."""

    host: str
    port: int
    allowed: tuple[str, ...]
    rate: float


class _IdleClosingConnection(H11Protocol):
    """A connection. One on which nothing was asked yet is closed as soon as one on which nothing more is asked."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)


class _SignalQuietServer(uvicorn.Server):
    """A server that ends without raising the signal that ended it anew, so that the memory can be closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def run_server(store: str | None, address: ListenAddress, token: str | None, began: Callable[[str], None]) -> None:
    """Open the memory, listen, tell the address to `began`, and serve until stopped."""
    with _open_listener(address) as listener:
        asyncio.run(
            _serve_memory(
                store, listener, make_access_rules(address, token), lambda: began(_format_server_url(address, listener))
            )
        )


def make_access_rules(address: ListenAddress, token: str | None) -> AccessRules:
    """The walls of a server that listens at an address."""
    return AccessRules(
        token=token,
        hosts=collect_host_names(address.host, address.allowed),
        addresses=address.host in WILDCARD_HOSTS,
        most_bytes=MAX_BODY_BYTES,
        rate=address.rate,
        burst=max(1, int(address.rate * BURST_SECONDS)),
        at_once=MAX_CONCURRENT_REQUESTS,
    )


async def _serve_memory(
    store: str | None, listener: socket.socket, walls: AccessRules, began: Callable[[], None]
) -> None:
    async with cofire.AsyncMemory(store) as memory:
        server = _SignalQuietServer(make_server_config(make_application(memory, walls)))
        began()
        await server.serve(sockets=[listener])


def make_server_config(app: object) -> uvicorn.Config:
    """How the server runs: quietly, saying nothing of itself, and believing no header about who asks."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=_IdleClosingConnection,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


def _open_listener(address: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with map_exceptions(
        {OSError: InvalidInput},
        problem=f"Nothing can be served at {address.host}, port {address.port}: {{error}}.",
        way_out="Choose another --port, or an address of this machine as --host.",
    ):
        return socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)


def _format_server_url(address: ListenAddress, listener: socket.socket) -> str:
    """The address to open; a server that listens everywhere is also here."""
    host = "127.0.0.1" if address.host in WILDCARD_HOSTS else address.host
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
