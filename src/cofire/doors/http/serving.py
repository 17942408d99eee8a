"""Serving: a memory, an address and walls become a running server, until somebody stops it."""

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
from cofire.doors.http.app import application
from cofire.doors.http.walls import EVERYWHERE, Walls, hosts_of
from cofire.errors import InvalidInput, map_exceptions

BACKLOG = 128
# Streams are closed at once when the server stops; other requests get a moment.
LAST_SECONDS = 5
IDLE_SECONDS = 30
AT_ONCE = 100
MOST_BYTES = 4 * 1024 * 1024
BURSTS = 4


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, by which other names to be called, and how often a client may ask in a second."""

    host: str
    port: int
    allowed: tuple[str, ...]
    rate: float


class _Connection(H11Protocol):
    """A connection. One on which nothing was asked yet is closed as soon as one on which nothing more is asked."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)


class _Server(uvicorn.Server):
    """A server that ends without raising the signal that ended it anew, so that the memory can be closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def serve(store: str | None, address: Address, token: str | None, began: Callable[[str], None]) -> None:
    """Open the memory, listen, tell the address to `began`, and serve until stopped."""
    with _listening(address) as listener:
        asyncio.run(_serve(store, listener, walls_of(address, token), lambda: began(_url(address, listener))))


def walls_of(address: Address, token: str | None) -> Walls:
    """The walls of a server that listens at an address."""
    return Walls(
        token=token,
        hosts=hosts_of(address.host, address.allowed),
        addresses=address.host in EVERYWHERE,
        most_bytes=MOST_BYTES,
        rate=address.rate,
        burst=max(1, int(address.rate * BURSTS)),
        at_once=AT_ONCE,
    )


async def _serve(store: str | None, listener: socket.socket, walls: Walls, began: Callable[[], None]) -> None:
    async with cofire.AsyncMemory(store) as memory:
        server = _Server(config(application(memory, walls)))
        began()
        await server.serve(sockets=[listener])


def config(app: object) -> uvicorn.Config:
    """How the server runs: quietly, saying nothing of itself, and believing no header about who asks."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=_Connection,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=LAST_SECONDS,
    )


def _listening(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with map_exceptions(
        {OSError: InvalidInput},
        problem=f"Nothing can be served at {address.host}, port {address.port}: {{error}}.",
        way_out="Choose another --port, or an address of this machine as --host.",
    ):
        return socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)


def _url(address: Address, listener: socket.socket) -> str:
    """The address to open; a server that listens everywhere is also here."""
    host = "127.0.0.1" if address.host in EVERYWHERE else address.host
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
