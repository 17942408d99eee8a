"""The walls around the server: who may come in, how often and with how much. Stands before every route, pages included."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cofire.doors.http.rates import Buckets
from cofire.doors.http.refusals import Refusal
from cofire.doors.http.tokens import is_same

API = "/api/"
OPEN = ("GET", "/api/v1/health")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::"})
WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
JSON = "application/json"

# A picture is drawn by the page's own scripts, its layout in a worker that they make themselves.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "manifest-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Walls:
    """What is let in. Without a token anybody is, who reaches the address; `addresses` lets any address be the Host, and
    `at_once` is how many requests of the API may be at work."""

    token: str | None
    hosts: frozenset[str]
    addresses: bool
    most_bytes: int
    rate: float
    burst: int
    at_once: int


def hosts_of(bound: str, allowed: Iterable[str]) -> frozenset[str]:
    """The names by which a server may be called: where it listens, and what was allowed besides.

    >>> sorted(hosts_of("127.0.0.1", ["Memory.example"]))
    ['127.0.0.1', '::1', 'localhost', 'memory.example']
    """
    return LOOPBACK | {bound.lower()} | {name.lower() for name in allowed}


class Guard:
    """An application behind walls."""

    def __init__(self, app: ASGIApp, walls: Walls) -> None:
        self._app = app
        self._walls = walls
        self._buckets = Buckets(rate=walls.rate, burst=walls.burst, clock=time.monotonic)
        self._at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        is_api = scope["path"].startswith(API)
        dressed = _with_headers(send, is_api=is_api)
        refusal = self._refusal(scope, Headers(scope=scope)) or (self._crowd() if is_api else None)
        if refusal is not None:
            return await refusal.response()(scope, receive, dressed)
        # The files of the page are there for everybody: whoever reads them slowly keeps nobody from the API.
        self._at_work += is_api
        try:
            return await self._app(scope, _limited(receive, self._walls.most_bytes), dressed)
        finally:
            self._at_work -= is_api

    def _refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """The first reason not to let a request in."""
        return (
            foreign_host(headers, self._walls)
            or foreign_origin(headers)
            or self._flood(scope)
            or no_token(scope, headers, self._walls)
            or too_large(headers, self._walls)
            or no_json(scope, headers)
        )

    def _crowd(self) -> Refusal | None:
        """Only requests that were let in are counted: a connection that asks nothing shuts nobody out."""
        if self._at_work < self._walls.at_once:
            return None
        problem = f"{self._walls.at_once:,} requests are at work already."
        return Refusal(503, "ServerBusy", problem, "Ask again in a moment.", {"retry-after": "1"})

    def _flood(self, scope: Scope) -> Refusal | None:
        client = scope["client"][0] if scope.get("client") else ""
        seconds = math.ceil(self._buckets.take(client))
        if not seconds:
            return None
        way_out = f"Wait {seconds} s, and ask at most {self._walls.rate:g} times a second."
        return Refusal(429, "TooManyRequests", "Requests come too fast.", way_out, {"retry-after": str(seconds)})


def foreign_host(headers: Headers, walls: Walls) -> Refusal | None:
    """A page elsewhere can let its own name point here (DNS rebinding); then the Host is its name, not ours."""
    name = host_name(headers.get("host", ""))
    if name in walls.hosts or (walls.addresses and _is_address(name)):
        return None
    way_out = "Use the address that cofire serve printed, or start it with --allow-host NAME."
    return Refusal(403, "ForeignHost", "This server is not called by that name.", way_out)


def foreign_origin(headers: Headers) -> Refusal | None:
    """Browsers tell which page a request comes from; only the page served here may ask."""
    origin = headers.get("origin")
    if origin is None or origin.lower() in {
        f"{scheme}://{headers.get('host', '').lower()}" for scheme in ("http", "https")
    }:
        return None
    return Refusal(
        403, "ForeignOrigin", "Pages of other origins may not ask.", "Ask from a program, or from the page here."
    )


def no_token(scope: Scope, headers: Headers, walls: Walls) -> Refusal | None:
    """All of the API asks for the token, but for the question whether anybody is there. The page itself holds no secrets."""
    if walls.token is None or not scope["path"].startswith(API) or (scope["method"], scope["path"]) == OPEN:
        return None
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and is_same(given.strip(), walls.token):
        return None
    way_out = "Send the header Authorization: Bearer TOKEN; cofire serve prints the token, and says where it is kept."
    return Refusal(401, "Unauthorized", "The token is missing or wrong.", way_out, {"www-authenticate": "Bearer"})


def too_large(headers: Headers, walls: Walls) -> Refusal | None:
    """What says beforehand that it is too long need not be read; the rest is counted as it comes."""
    told = headers.get("content-length", "0")
    if told.isdecimal() and int(told) <= walls.most_bytes:
        return None
    return Refusal(413, "TooLarge", f"{_too_large(walls.most_bytes)}.", "Send less at once.")


def no_json(scope: Scope, headers: Headers) -> Refusal | None:
    """A form of another page can send text, but not JSON without asking first."""
    is_empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    if scope["method"] not in WITH_BODY or is_empty or _media_type(headers) == JSON:
        return None
    return Refusal(415, "UnsupportedMediaType", "The body is not JSON.", f"Send it with Content-Type: {JSON}.")


def host_name(host: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("Localhost:8765"), host_name("[::1]:80"), host_name("a:b:c")
    ('localhost', '::1', 'a')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _too_large(most: int) -> str:
    return f"The body has more than {most:,} bytes"


def _limited(receive: Receive, most: int) -> Receive:
    """Count what comes in, and stop at the limit whatever was told beforehand."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, _too_large(most))
        return message

    return counted


def _with_headers(send: Send, *, is_api: bool) -> Send:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["content-security-policy"] = API_POLICY if is_api else PAGE_POLICY
            if is_api:
                headers["cache-control"] = "no-store"
        await send(message)

    return dressed
