"""Access checks before every route: host, origin, token, rate, body size and media type."""

from __future__ import annotations

import hmac
import ipaddress
import math
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cofire.errors import InvalidInput, StoreNotOpened, map_exceptions
from cofire.http.errors import HttpRefusal

# The token. It is made once and kept in a file that only its owner can read.

TOKEN_BYTES = 32
MIN_TOKEN_LENGTH = 32
OWNER_ONLY_MODE = 0o600


def token_path() -> Path:
    """Where the token is kept: beside the default store, in the user's data folder."""
    return Path(platformdirs.user_data_dir("cofire")) / "http-token"


def load_or_make_token(path: Path) -> str:
    """Read the token from its file. Make the file if it does not exist."""
    with map_exceptions(
        {OSError: StoreNotOpened},
        problem=f"The token file {path} cannot be used: {{error}}.",
        way_out="Correct its permissions, or remove it; a new one is made at the next start.",
    ):
        return _read_token_file(path) if os.path.lexists(path) else _make_token_file(path)


def _make_token_file(path: Path) -> str:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY_MODE)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def _read_token_file(path: Path) -> str:
    # Windows has no permission bits: there, the user's folder is closed to others.
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InvalidInput(
            f"Others may have read the token in {path}.",
            way_out="Remove the file; a new one is made at the next start, with mode 600.",
        )
    token = path.read_text(encoding="utf-8", errors="replace").strip()
    if len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable():
        raise InvalidInput(
            f"The token file {path} holds no token of at least {MIN_TOKEN_LENGTH} letters.",
            way_out="Remove it; a new one is made at the next start.",
        )
    return token


def is_same_token(candidate: str, token: str) -> bool:
    """Compare in a time that does not depend on how many letters are right.

    >>> is_same_token("abc", "abc"), is_same_token("abd", "abc"), is_same_token("ä", "abc")
    (True, False, False)
    """
    return hmac.compare_digest(candidate.encode("utf-8", "replace"), token.encode("utf-8"))


# The rate limit.

MAX_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class BucketLevel:
    """How many tokens a bucket had at a moment."""

    tokens: float
    moment: float


class RateLimiter:
    """A token bucket for each client: `rate` tokens are added each second, up to `burst`.

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
        """Take a token and return 0, or return how many seconds the client must wait for one."""
        now = self._clock()
        tokens = self._tokens_of(client, now)
        if tokens < 1:
            return (1 - tokens) / self._rate
        self._levels[client] = BucketLevel(tokens - 1, now)
        if len(self._levels) > MAX_CLIENTS:
            self._drop_full_buckets(now)
        return 0.0

    def _tokens_of(self, client: str, now: float) -> float:
        level = self._levels.get(client, BucketLevel(self._burst, now))
        return min(self._burst, level.tokens + (now - level.moment) * self._rate)

    def _drop_full_buckets(self, now: float) -> None:
        """A full bucket needs no record. If too many are left, drop those used longest ago."""
        waiting = {
            client: level for client, level in self._levels.items() if self._tokens_of(client, now) < self._burst
        }
        recent = sorted(waiting.items(), key=lambda entry: entry[1].moment)[-MAX_CLIENTS // 2 :]
        self._levels = dict(recent)


# The checks.

API_PREFIX = "/api/"
OPEN_ROUTE = ("GET", "/api/v1/health")
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
WILDCARD_HOSTS = frozenset({"0.0.0.0", "::"})
METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
JSON_MEDIA_TYPE = "application/json"

# The page draws the graph with scripts of its own; a worker that they make computes the layout.
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
    """Which requests are allowed.

    Without a `token` every client that reaches the address is allowed. `hosts` are the values allowed as Host; with
    `addresses` any IP address is. `at_once` limits how many API requests run at the same time.
    """

    token: str | None
    hosts: frozenset[str]
    addresses: bool
    most_bytes: int
    rate: float
    burst: int
    at_once: int


def collect_host_names(bound: str, allowed: Iterable[str]) -> frozenset[str]:
    """The names of a server: loopback, the address it listens at, and those allowed besides.

    >>> sorted(collect_host_names("127.0.0.1", ["Memory.example"]))
    ['127.0.0.1', '::1', 'localhost', 'memory.example']
    """
    return LOOPBACK_HOSTS | {bound.lower()} | {name.lower() for name in allowed}


class AccessGuard:
    """An application behind access rules."""

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self._app = app
        self._rules = rules
        self._buckets = RateLimiter(rate=rules.rate, burst=rules.burst, clock=time.monotonic)
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        is_api = scope["path"].startswith(API_PREFIX)
        send = _add_headers(send, is_api=is_api)
        refusal = self._find_refusal(scope, Headers(scope=scope))
        if refusal is None and is_api:
            refusal = self._check_capacity()
        if refusal is not None:
            return await refusal.response(scope["path"])(scope, receive, send)
        # Files of the page do not count: a slow reader of them must not block the API.
        self._running += is_api
        try:
            return await self._app(scope, _limit_body(receive, self._rules.most_bytes), send)
        finally:
            self._running -= is_api

    def _find_refusal(self, scope: Scope, headers: Headers) -> HttpRefusal | None:
        """The first reason to refuse a request."""
        return (
            check_host(headers, self._rules)
            or check_origin(headers)
            or self._check_rate(scope)
            or check_token(scope, headers, self._rules)
            or check_content_length(headers, self._rules)
            or check_media_type(scope, headers)
        )

    def _check_capacity(self) -> HttpRefusal | None:
        """Only requests count, so that open connections without a request block no client."""
        if self._running < self._rules.at_once:
            return None
        problem = f"{self._rules.at_once:,} requests are running already."
        return HttpRefusal(503, "ServerBusy", problem, "Try again in a moment.", {"retry-after": "1"})

    def _check_rate(self, scope: Scope) -> HttpRefusal | None:
        client = scope["client"][0] if scope.get("client") else ""
        seconds = math.ceil(self._buckets.take(client))
        if not seconds:
            return None
        way_out = f"Wait {seconds} s, and send at most {self._rules.rate:g} requests a second."
        return HttpRefusal(429, "TooManyRequests", "Too many requests.", way_out, {"retry-after": str(seconds)})


def check_host(headers: Headers, rules: AccessRules) -> HttpRefusal | None:
    """Prevent DNS rebinding: a foreign page can make its own name point here, and sends that name as Host."""
    name = parse_host_name(headers.get("host", ""))
    if name in rules.hosts or (rules.addresses and _is_ip_address(name)):
        return None
    way_out = "Use the address that cofire serve printed, or start it with --allow-host NAME."
    return HttpRefusal(403, "ForeignHost", "The Host is not a name of this server.", way_out)


def check_origin(headers: Headers) -> HttpRefusal | None:
    """Browsers send the origin of the page that makes a request. Only the page of this server is allowed."""
    origin = headers.get("origin")
    host = headers.get("host", "").lower()
    if origin is None or origin.lower() in {f"http://{host}", f"https://{host}"}:
        return None
    way_out = "Send requests from a program, or from the page of this server."
    return HttpRefusal(403, "ForeignOrigin", "Pages of other origins are not allowed.", way_out)


def check_token(scope: Scope, headers: Headers, rules: AccessRules) -> HttpRefusal | None:
    """The API needs the token, except for its health. The page contains no secrets."""
    is_open = (scope["method"], scope["path"]) == OPEN_ROUTE or not scope["path"].startswith(API_PREFIX)
    if rules.token is None or is_open:
        return None
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and is_same_token(token.strip(), rules.token):
        return None
    way_out = "Send the header Authorization: Bearer TOKEN; cofire serve prints the token and where it is kept."
    return HttpRefusal(401, "Unauthorized", "The token is missing or wrong.", way_out, {"www-authenticate": "Bearer"})


def check_content_length(headers: Headers, rules: AccessRules) -> HttpRefusal | None:
    """Refuse a body that is announced as too long. The others are counted while they are read."""
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) <= rules.most_bytes:
        return None
    return HttpRefusal(413, "TooLarge", f"{_describe_too_large(rules.most_bytes)}.", "Send less at once.")


def check_media_type(scope: Scope, headers: Headers) -> HttpRefusal | None:
    """Browsers let a form of a foreign page send text, but JSON only after a preflight request."""
    is_empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if scope["method"] not in METHODS_WITH_BODY or is_empty or media_type == JSON_MEDIA_TYPE:
        return None
    way_out = f"Send it with Content-Type: {JSON_MEDIA_TYPE}."
    return HttpRefusal(415, "UnsupportedMediaType", "The body is not JSON.", way_out)


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


def _describe_too_large(most_bytes: int) -> str:
    return f"The body has more than {most_bytes:,} bytes"


def _limit_body(receive: Receive, most_bytes: int) -> Receive:
    """Count the bytes of a body and stop at the limit, whatever length was announced."""
    count = 0

    async def receive_counted() -> Message:
        nonlocal count
        message = await receive()
        count += len(message.get("body", b""))
        if count > most_bytes:
            raise HTTPException(413, _describe_too_large(most_bytes))
        return message

    return receive_counted


def _add_headers(send: Send, *, is_api: bool) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(SECURITY_HEADERS)
            headers["content-security-policy"] = API_POLICY if is_api else PAGE_POLICY
            if is_api:
                headers["cache-control"] = "no-store"
        await send(message)

    return send_with_headers
