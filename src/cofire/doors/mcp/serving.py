"""Serving: over standard input and output to the program that started us, or over HTTP to whoever may knock."""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from uuid import uuid4

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

import cofire
from cofire.doors.mcp.desk import Desk
from cofire.doors.mcp.places import Place
from cofire.doors.mcp.server import make_server
from cofire.doors.mcp.toolsets import Toolset
from cofire.errors import InvalidInput, map_exceptions

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def serve_stdio(store: str | None, scope: str, toolset: Toolset) -> None:
    """Serve the one client at the other end of the pipes, until it leaves. The process is its session."""
    session = f"mcp-{uuid4().hex}"
    server = make_server(lambda: Desk(cofire.AsyncMemory(store, session=session), scope), toolset)
    asyncio.run(_over_pipes(server))


async def _over_pipes(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def serve_http(store: str | None, scope: str, toolset: Toolset, place: Place, announce: Callable[[str], None]) -> None:
    """Serve clients over HTTP, each in a session of its own, until somebody stops it. `announce` is told the address."""
    import uvicorn

    with map_exceptions(
        {OSError: InvalidInput},
        problem=f"Nothing can be served at {place.host}, port {place.port}: {{error}}.",
        way_out="Choose another --port, or an address of this machine as --host.",
    ):
        listening = socket.create_server((place.host, place.port), family=_family(place.host))
    place = place.at_port(listening.getsockname()[1])
    server = make_server(lambda: Desk(cofire.AsyncMemory(store), scope), toolset)
    announce(place.address)
    uvicorn.Server(uvicorn.Config(guarded_app(server, place), log_level="warning")).run(sockets=[listening])


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def guarded_app(server: Server[Any], place: Place) -> App:
    """The server as a web application that answers only those who name it rightly and, where there is a token, have it."""
    security = TransportSecuritySettings(allowed_hosts=place.hosts, allowed_origins=place.origins)
    app: App = server.streamable_http_app(transport_security=security, host=place.host)
    return app if place.token is None else _asking_for(place.token, app)


def _asking_for(token: str, app: App) -> App:
    """Compared in a time that tells nothing of how much was right."""
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, wanted):
            return await _refuse(send)
        return await app(scope, receive, send)

    return guarded


async def _refuse(send: Send) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"Give the token, as in Authorization: Bearer TOKEN.\n"})
