"""Access checks before every route: host, origin, token, rate, body size and media type."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cofire.http.errors import HttpRefusal
from cofire.http.tokens import is_same_token

MAX_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class BucketLevel:
    """How full a bucket was, and when."""

    tokens: float
    moment: float


class RateLimiter:
    """A bucket a client. `rate` tokens flow in a second, up to `burst`.

    >>> buckets = RateLimiter(rate=2.0, burst=1, clock=lambda: 0.0)
    >>> buckets.take("ana"), buckets.take("ana"), buckets.take("ben")
    (0.0, 0.5, 0.0)
    """

    def __init__(self, *, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._levels: dict[str, BucketLevel] = {}

    def take(self, client: str) -> float:
        """Let a client in, and return 0; or how many seconds it must wait."""
        now = self._clock()
        tokens = self._filled(client, now)
        if tokens < 1:
            return (1 - tokens) / self._rate
        self._levels[client] = BucketLevel(tokens - 1, now)
        if len(self._levels) > MAX_CLIENTS:
            self._drop_full(now)
        return 0.0

    def _filled(self, client: str, now: float) -> float:
        level = self._levels.get(client, BucketLevel(self._burst, now))
        return min(self._burst, level.tokens + (now - level.moment) * self._rate)

    def _drop_full(self, now: float) -> None:
        """A full bucket is as good as none; if all have been used of late, the oldest half goes."""
        waiting = {client: level for client, level in self._levels.items() if self._filled(client, now) < self._burst}
        recent = sorted(waiting.items(), key=lambda entry: entry[1].moment)[-MAX_CLIENTS // 2 :]
        self._levels = dict(recent)


API_PREFIX = "/api/"
OPEN_ROUTE = ("GET", "/api/v1/health")
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
WILDCARD_HOSTS = frozenset({"0.0.0.0", "::"})
METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
JSON_MEDIA_TYPE = "application/json"

# A picture is drawn by the page's own scripts, its layout in a worker that they make themselves.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "manifest-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class AccessRules:
    """What is let in. Without a token anybody is, who reaches the address; `addresses` lets any address be the Host, and
    `at_once` is how many requests of the API may be at work."""

    token: str | None
    hosts: frozenset[str]
    addresses: bool
    most_bytes: int
    rate: float
    burst: int
    at_once: int


def collect_host_names(bound: str, allowed: Iterable[str]) -> frozenset[str]:
    """The names by which a server may be called: where it listens, and what was allowed besides.

    >>> sorted(collect_host_names("127.0.0.1", ["Memory.example"]))
    ['127.0.0.1', '::1', 'localhost', 'memory.example']
    """
    return LOOPBACK_HOSTS | {bound.lower()} | {name.lower() for name in allowed}


class AccessGuard:
    """An application behind walls."""

    def __init__(self, app: ASGIApp, walls: AccessRules) -> None:
        self._app = app
        self._walls = walls
        self._buckets = RateLimiter(rate=walls.rate, burst=walls.burst, clock=time.monotonic)
        self._at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        is_api = scope["path"].startswith(API_PREFIX)
        dressed = _add_headers(send, is_api=is_api)
        refusal = self._refusal(scope, Headers(scope=scope)) or (self._crowd() if is_api else None)
        if refusal is not None:
            return await refusal.response()(scope, receive, dressed)
        # The files of the page are there for everybody: whoever reads them slowly keeps nobody from the API.
        self._at_work += is_api
        try:
            return await self._app(scope, _limit_body(receive, self._walls.most_bytes), dressed)
        finally:
            self._at_work -= is_api

    def _refusal(self, scope: Scope, headers: Headers) -> HttpRefusal | None:
        """The first reason not to let a request in."""
        return (
            check_host(headers, self._walls)
            or check_origin(headers)
            or self._flood(scope)
            or check_token(scope, headers, self._walls)
            or check_content_length(headers, self._walls)
            or check_media_type(scope, headers)
        )

    def _crowd(self) -> HttpRefusal | None:
        """Only requests that were let in are counted: a connection that asks nothing shuts nobody out."""
        if self._at_work < self._walls.at_once:
            return None
        problem = f"{self._walls.at_once:,} requests are at work already."
        return HttpRefusal(503, "ServerBusy", problem, "Ask again in a moment.", {"retry-after": "1"})

    def _flood(self, scope: Scope) -> HttpRefusal | None:
        client = scope["client"][0] if scope.get("client") else ""
        seconds = math.ceil(self._buckets.take(client))
        if not seconds:
            return None
        way_out = f"Wait {seconds} s, and ask at most {self._walls.rate:g} times a second."
        return HttpRefusal(429, "TooManyRequests", "Requests come too fast.", way_out, {"retry-after": str(seconds)})


def check_host(headers: Headers, walls: AccessRules) -> HttpRefusal | None:
    """A page elsewhere can let its own name point here (DNS rebinding); then the Host is its name, not ours."""
    name = parse_host_name(headers.get("host", ""))
    if name in walls.hosts or (walls.addresses and _is_ip_address(name)):
        return None
    way_out = "Use the address that cofire serve printed, or start it with --allow-host NAME."
    return HttpRefusal(403, "ForeignHost", "This server is not called by that name.", way_out)


def check_origin(headers: Headers) -> HttpRefusal | None:
    """Browsers tell which page a request comes from; only the page served here may ask."""
    origin = headers.get("origin")
    if origin is None or origin.lower() in {
        f"{scheme}://{headers.get('host', '').lower()}" for scheme in ("http", "https")
    }:
        return None
    return HttpRefusal(
        403, "ForeignOrigin", "Pages of other origins may not ask.", "Ask from a program, or from the page here."
    )


def check_token(scope: Scope, headers: Headers, walls: AccessRules) -> HttpRefusal | None:
    """All of the API asks for the token, but for the question whether anybody is there. The page itself holds no secrets."""
    if (
        walls.token is None
        or not scope["path"].startswith(API_PREFIX)
        or (scope["method"], scope["path"]) == OPEN_ROUTE
    ):
        return None
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and is_same_token(given.strip(), walls.token):
        return None
    way_out = "Send the header Authorization: Bearer TOKEN; cofire serve prints the token, and says where it is kept."
    return HttpRefusal(401, "Unauthorized", "The token is missing or wrong.", way_out, {"www-authenticate": "Bearer"})


def check_content_length(headers: Headers, walls: AccessRules) -> HttpRefusal | None:
    """What says beforehand that it is too long need not be read; the rest is counted as it comes."""
    told = headers.get("content-length", "0")
    if told.isdecimal() and int(told) <= walls.most_bytes:
        return None
    return HttpRefusal(413, "TooLarge", f"{_describe_too_large(walls.most_bytes)}.", "Send less at once.")


def check_media_type(scope: Scope, headers: Headers) -> HttpRefusal | None:
    """A form of another page can send text, but not JSON without asking first."""
    is_empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    if scope["method"] not in METHODS_WITH_BODY or is_empty or _parse_media_type(headers) == JSON_MEDIA_TYPE:
        return None
    return HttpRefusal(
        415, "UnsupportedMediaType", "The body is not JSON.", f"Send it with Content-Type: {JSON_MEDIA_TYPE}."
    )


def parse_host_name(host: str) -> str:
    """The name in a Host header, without the port.

    >>> parse_host_name("Localhost:8765"), parse_host_name("[::1]:80"), parse_host_name("a:b:c")
    ('localhost', '::1', 'a')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _parse_media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _describe_too_large(most: int) -> str:
    return f"The body has more than {most:,} bytes"


def _limit_body(receive: Receive, most: int) -> Receive:
    """Count what comes in, and stop at the limit whatever was told beforehand."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, _describe_too_large(most))
        return message

    return counted


def _add_headers(send: Send, *, is_api: bool) -> Send:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(SECURITY_HEADERS)
            headers["content-security-policy"] = API_POLICY if is_api else PAGE_POLICY
            if is_api:
                headers["cache-control"] = "no-store"
        await send(message)

    return dressed
