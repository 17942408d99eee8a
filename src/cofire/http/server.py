"""The ASGI application (API, page, OpenAPI description) and its server."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import uvicorn
from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

import cofire
from cofire.errors import InvalidInput, map_exceptions
from cofire.http import routes, schemas
from cofire.http.access import API_PREFIX, WILDCARD_HOSTS, AccessGuard, AccessRules, collect_host_names
from cofire.http.errors import (
    EXCEPTION_HANDLERS,
    PROBLEM_MEDIA_TYPE,
    STATUS_BY_ERROR,
    STATUS_DESCRIPTIONS,
    HttpRefusal,
    Problem,
)
from cofire.interfaces import installation

# The application.

PAGE_FOLDER = installation.PAGE_FOLDER
# The names of assets change with their content.
CACHE_FOREVER, NO_CACHE = "public, max-age=31536000, immutable", "no-cache"
# Compressing shorter answers saves nothing: they fit into one packet.
MIN_COMPRESSED_BYTES = 1_000
COMPRESSION_LEVEL = 5
NOT_BUILT_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>cofire</title></head>
<body><h1>cofire is running</h1>
<p>The API answers at <code>/api/v1</code>. This installation has no page.</p>
<p>{way_out}</p></body></html>
"""
ROUTERS = (routes.fact_routes, routes.recall_routes, routes.graph_routes, routes.memory_routes)


class PageFiles(StaticFiles):
    """The files of the page. Browsers may keep assets, whose names contain a hash."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = CACHE_FOREVER if path.startswith("assets/") else NO_CACHE
        return response


def make_page_application(folder: Path) -> Starlette:
    """Serve the page or, where it is not built, how to get it."""
    if installation.page_is_built(folder):
        route: BaseRoute = Mount("/", PageFiles(directory=folder, html=True))
    else:
        route = Route("/", answer_not_built)
    return Starlette(routes=[route], exception_handlers=dict(EXCEPTION_HANDLERS))


async def answer_not_built(_: Request) -> HTMLResponse:
    return HTMLResponse(NOT_BUILT_HTML.format(way_out=escape(installation.missing_page_way_out())))


def make_application(memory: cofire.AsyncMemory, rules: AccessRules, *, page: Path = PAGE_FOLDER) -> ASGIApp:
    """The API and the page of a memory, behind access rules."""
    api, page_app = make_api(guarded=rules.token is not None), make_page_application(page)
    api.state.memory = memory

    async def api_or_page(scope: Scope, receive: Receive, send: Send) -> None:
        app = api if scope["path"].startswith(API_PREFIX) else page_app
        await app(scope, receive, send)

    # The middleware leaves server-sent events as they are.
    compressed = GZipMiddleware(api_or_page, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=COMPRESSION_LEVEL)
    return AccessGuard(compressed, rules)


def make_api(*, guarded: bool) -> FastAPI:
    """The API. The documentation pages of FastAPI are left out: they load scripts from other hosts."""
    api = FastAPI(
        title="cofire",
        version=cofire.__version__,
        summary="Associative memory for AI agents.",
        description=API_DESCRIPTION,
        servers=[{"url": "/", "description": "The server that sent this description."}],
        openapi_tags=[{"name": name, "description": text} for name, text in TAG_DESCRIPTIONS.items()],
        openapi_url=f"{routes.API_BASE}/openapi.json",
        docs_url=None,
        redoc_url=None,
        exception_handlers=dict(EXCEPTION_HANDLERS),
        generate_unique_id_function=_name_operation,
    )
    token = [Depends(HTTPBearer(description="The token that cofire serve prints.", auto_error=False))]
    for router in ROUTERS:
        api.include_router(router, dependencies=token if guarded else [])
    api.include_router(routes.open_routes)
    api.state.routes = [route for router in (*ROUTERS, routes.open_routes) for route in router.routes]
    make_description = api.openapi

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            complete_description(make_description())
        return make_description()

    api.openapi = openapi  # type: ignore[method-assign]
    return api


def _name_operation(route: APIRoute) -> str:
    return route.name


# The OpenAPI description.

API_DESCRIPTION = (
    "The operations are the verbs of `cofire.Memory`; `GET /api/v1/guide` has a page on each. Errors are problem details "
    "(RFC 9457) with the members `kind`, `problem` and `way_out`. Send `Accept-Encoding: gzip` for compressed responses."
)
TAG_DESCRIPTIONS = {
    "facts": "Store, list, change and forget facts.",
    "recall": "Ask memory, explain its answers and learn from them.",
    "graph": "Edges, communities, dreams, curation and contradictions.",
    "memory": "Counts, settings and the guide.",
}
# Members that every response has; the others come with `include`. Shapes not named here always have all members.
REQUIRED_MEMBERS = {
    "RecallResponse": schemas.RECALL_MEMBERS,
    "RecalledFact": schemas.HIT_MEMBERS,
    "WhyResponse": schemas.WHY_MEMBERS,
    "ExploredSeed": schemas.SEED_MEMBERS,
}
HERE = Path(__file__).parent


def complete_description(api: dict[str, Any]) -> None:
    """Add what FastAPI cannot know: problem responses, a description of every field and an example of every body.

    Descriptions of fields are in fields.toml or, for keyword arguments of a verb, with these. Examples are in examples.json.
    """
    descriptions = tomllib.loads((HERE / "fields.toml").read_text(encoding="utf-8"))
    examples = json.loads((HERE / "examples.json").read_text(encoding="utf-8"))
    components = api["components"]["schemas"]
    for generated in ("HTTPValidationError", "ValidationError"):
        components.pop(generated, None)
    components["Problem"] = TypeAdapter(Problem).json_schema()
    for name, schema in components.items():
        if "properties" in schema:
            _complete_schema(name, schema, descriptions)
    for path, operations in api["paths"].items():
        for operation in operations.values():
            _complete_operation(path, operation, descriptions, examples[operation["operationId"]])


def _complete_schema(name: str, schema: dict[str, Any], descriptions: Mapping[str, Any]) -> None:
    properties = schema["properties"]
    if not name.endswith("Body"):
        if "superseded_by" in properties:
            for field in schemas.HIDDEN_FACT_FIELDS:
                properties.pop(field)
        schema["required"] = list(REQUIRED_MEMBERS.get(name, properties))
        schema["additionalProperties"] = False
    for field, property in properties.items():
        property.pop("title", None)
        property["description"] = _find_description(name, field, descriptions)


def _find_description(place: str, field: str, descriptions: Mapping[str, Any]) -> str:
    """The description of a field in one shape or operation, of a keyword argument, or of every field with this name."""
    here = descriptions.get(place, {}).get(field)
    keyword = describe_keywords(schemas.OPTIONS[place]).get(field) if place in schemas.OPTIONS else None
    description: str = here or keyword or descriptions["fields"][field]
    return description


def describe_keywords(options: type) -> dict[str, str]:
    """The descriptions in a TypedDict of keyword arguments.

    >>> describe_keywords(schemas.OPTIONS["ExploreIdsBody"])["tags"]
    'Prefer edges with these tags.'
    """
    hints = get_type_hints(options, include_extras=True)
    return {name: get_args(hint)[1] for name, hint in hints.items() if get_origin(hint) is Annotated}


def _complete_operation(
    path: str, operation: dict[str, Any], descriptions: Mapping[str, Any], examples: Mapping[str, Any]
) -> None:
    for parameter in operation.get("parameters", ()):
        parameter["schema"].pop("title", None)
        parameter["description"] = _find_description(operation["operationId"], parameter["name"], descriptions)
    if "requestBody" in operation:
        operation["requestBody"]["content"]["application/json"]["example"] = examples["request"]
    response = operation["responses"]["200"]
    for media_type, content in response["content"].items():
        content["example"] = examples["events" if media_type == routes.EVENT_STREAM_TYPE else "response"]
    problems = {str(status): _describe_problem(status, path) for status in STATUS_DESCRIPTIONS}
    operation["responses"] = {"200": response, **problems}


def _describe_problem(status: int, path: str) -> dict[str, Any]:
    text = STATUS_DESCRIPTIONS[status]
    kind = next((kind.__name__ for kind, known in STATUS_BY_ERROR.items() if known == status), "InvalidInput")
    example = HttpRefusal(status, kind, text, "What to do about it.").problem_json(path)
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}
    return {"description": text, "content": {PROBLEM_MEDIA_TYPE: content}}


# The server.

BACKLOG = 128
# When the server stops, streams are closed at once; other requests get a few seconds.
SHUTDOWN_SECONDS = 5
IDLE_SECONDS = 30
MAX_CONCURRENT_REQUESTS = 100
MAX_BODY_BYTES = 4 * 1024 * 1024
BURST_SECONDS = 4


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen, which names are allowed as Host besides, and how many requests a client may send in a second."""

    host: str
    port: int
    allowed: tuple[str, ...]
    rate: float


class _IdleClosingConnection(H11Protocol):
    """A connection that is closed after the idle time also when it has never carried a request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)


class _SignalQuietServer(uvicorn.Server):
    """A server that does not raise the signal again that stopped it, so that the memory can be closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run_server(store: str | None, address: ListenAddress, token: str | None, started: Callable[[str], None]) -> None:
    """Open the memory, listen, call `started` with the URL, and serve until stopped."""
    with _open_listener(address) as listener:
        rules = make_access_rules(address, token)
        url = _format_server_url(address, listener)
        asyncio.run(_serve_memory(store, listener, rules, lambda: started(url)))


def make_access_rules(address: ListenAddress, token: str | None) -> AccessRules:
    """The access rules of a server that listens at an address."""
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
    store: str | None, listener: socket.socket, rules: AccessRules, started: Callable[[], None]
) -> None:
    async with cofire.AsyncMemory(store) as memory:
        server = _SignalQuietServer(make_server_config(make_application(memory, rules)))
        started()
        await server.serve(sockets=[listener])


def make_server_config(app: object) -> uvicorn.Config:
    """uvicorn without access log, without a Server header, and without trust in proxy headers."""
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
        problem=f"Cannot listen at {address.host}, port {address.port}: {{error}}.",
        way_out="Choose another --port, or an address of this machine as --host.",
    ):
        return socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)


def _format_server_url(address: ListenAddress, listener: socket.socket) -> str:
    """The URL to open. A server that listens at every address is reached through loopback."""
    host = "127.0.0.1" if address.host in WILDCARD_HOSTS else address.host
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
