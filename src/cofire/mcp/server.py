"""The MCP server: request handlers, progress notifications, stdio and HTTP transports."""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import uuid4

from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

import cofire
from cofire.errors import CofireError, InvalidInput, map_exceptions
from cofire.interfaces.reports import WorkProgress
from cofire.mcp import resources
from cofire.mcp.endpoint import McpEndpoint
from cofire.mcp.handlers import ListedTool, Toolset
from cofire.mcp.served_memory import ServedMemory, ToolAnswer


class ProgressSession(Protocol):
    """The request that is answered, as its client follows it. Without a token from the client it says nothing."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...


@asynccontextmanager
async def forward_progress(session: ProgressSession) -> AsyncIterator[Callable[[WorkProgress], None]]:
    """What hears of steps while the work is done; all of them are told before the answer goes."""
    steps: asyncio.Queue[WorkProgress | None] = asyncio.Queue()
    teller = asyncio.ensure_future(_send_progress(steps, session))
    try:
        yield steps.put_nowait
    finally:
        steps.put_nowait(None)
        await teller


async def _send_progress(steps: asyncio.Queue[WorkProgress | None], session: ProgressSession) -> None:
    """In order, and only what is farther than before: MCP wants progress to grow."""
    told = -1
    while (step := await steps.get()) is not None:
        if step.done > told:
            told = step.done
            await session.report_progress(step.done, step.total, step.doing)


SESSION_HEADER = "mcp-session-id"

RequestContext = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RequestHandlers:
    """A toolset on a desk, as the handlers of MCP's requests. The desk is made for the first who calls: a listing needs none."""

    make_desk: Callable[[], ServedMemory]
    toolset: Toolset
    _made: list[ServedMemory] = field(default_factory=list)

    @property
    def desk(self) -> ServedMemory:
        if not self._made:
            self._made.append(self.make_desk())
        return self._made[0]

    async def list_tools(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_make_tool_listing(tool) for tool in self.toolset.tools])

    async def call_tool(self, ctx: RequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self.toolset.names:
            there = ", ".join(self.toolset.names)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name}. There are {there}.")
        async with forward_progress(ctx.session) as listen:
            return await _run_tool(replace(self.desk, listen=listen), self.toolset, params, _session_id(ctx))

    async def list_resources(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        listed = [
            types.Resource(uri=uri, name=_resource_name(uri), description=what)
            for uri, what in resources.RESOURCE_URIS.items()
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = [
            types.ResourceTemplate(uri_template=uri, name=_resource_name(uri), description=what)
            for uri, what in resources.URI_TEMPLATES.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(
        self, ctx: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await _read_contents(await self.desk.for_session(_session_id(ctx)), params.uri)

    @asynccontextmanager
    async def lifespan(self, server: Server[Any]) -> AsyncIterator[None]:
        """Lets go of the memory at the end."""
        try:
            yield
        finally:
            for desk in self._made:
                await desk.memory.close()


def make_server(make_desk: Callable[[], ServedMemory], toolset: Toolset) -> Server[Any]:
    """A server that offers a toolset on a desk."""
    door = RequestHandlers(make_desk, toolset)
    return Server(
        "cofire",
        version=cofire.__version__,
        title="cofire memory",
        instructions=toolset.instructions,
        lifespan=door.lifespan,
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
    )


def _resource_name(uri: str) -> str:
    return uri.removeprefix("cofire://")


def _session_id(ctx: RequestContext) -> str | None:
    """The session of a client that shares this process with others; over stdio the process itself is one."""
    return ctx.request.headers.get(SESSION_HEADER) if ctx.request is not None else None


def _make_tool_listing(tool: ListedTool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.reads_only,
        destructive_hint=tool.destroys,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        description=tool.what,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=hints,
    )


async def _run_tool(
    desk: ServedMemory, toolset: Toolset, params: types.CallToolRequestParams, session: str | None
) -> types.CallToolResult:
    """The answer of a tool. What goes wrong is an answer too, so that the agent reads the way out."""
    try:
        answer = await toolset.answer(await desk.for_session(session), params.name, params.arguments or {})
    except CofireError as error:
        return _make_error_result(str(error))
    except OSError as error:
        return _make_error_result(f"The system refused: {error}. Check the place it names, and the space left there.")
    except Exception as error:  # noqa: BLE001 - a client is told, and goes on
        _log.exception("The tool %s failed", params.name)
        return _make_error_result(
            f"cofire failed in a way it should not: {type(error).__name__}: {error}. Please report it."
        )
    return _make_tool_result(answer)


def _make_tool_result(answer: ToolAnswer) -> types.CallToolResult:
    texts = [answer.text, *([answer.besides] if answer.besides else [])]
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text) for text in texts]
    return types.CallToolResult(content=content, structured_content=answer.structured)


def _make_error_result(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)], is_error=True)


async def _read_contents(desk: ServedMemory, address: str) -> types.ReadResourceResult:
    try:
        page = await resources.read_resource(desk, address)
    except CofireError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": address}) from error
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=address, text=page.text, mime_type=page.kind)]
    )


AsgiScope = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[MutableMapping[str, Any]]]
AsgiSend = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]


def serve_stdio(store: str | None, scope: str, toolset: Toolset) -> None:
    """Serve the one client at the other end of the pipes, until it leaves. The process is its session."""
    session = f"mcp-{uuid4().hex}"
    server = make_server(lambda: ServedMemory(cofire.AsyncMemory(store, session=session), scope), toolset)
    asyncio.run(_serve_pipes(server))


async def _serve_pipes(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def serve_http(
    store: str | None, scope: str, toolset: Toolset, place: McpEndpoint, announce: Callable[[str], None]
) -> None:
    """Serve clients over HTTP, each in a session of its own, until somebody stops it. `announce` is told the address."""
    import uvicorn

    with map_exceptions(
        {OSError: InvalidInput},
        problem=f"Nothing can be served at {place.host}, port {place.port}: {{error}}.",
        way_out="Choose another --port, or an address of this machine as --host.",
    ):
        listening = socket.create_server((place.host, place.port), family=_find_address_family(place.host))
    place = place.at_port(listening.getsockname()[1])
    server = make_server(lambda: ServedMemory(cofire.AsyncMemory(store), scope), toolset)
    announce(place.address)
    uvicorn.Server(uvicorn.Config(make_guarded_app(server, place), log_level="warning")).run(sockets=[listening])


def _find_address_family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def make_guarded_app(server: Server[Any], place: McpEndpoint) -> AsgiApp:
    """The server as a web application that answers only those who name it rightly and, where there is a token, have it."""
    security = TransportSecuritySettings(allowed_hosts=place.hosts, allowed_origins=place.origins)
    app: AsgiApp = server.streamable_http_app(transport_security=security, host=place.host)
    return app if place.token is None else _require_token(place.token, app)


def _require_token(token: str, app: AsgiApp) -> AsgiApp:
    """Compared in a time that tells nothing of how much was right."""
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, wanted):
            return await _send_unauthorized(send)
        return await app(scope, receive, send)

    return guarded


async def _send_unauthorized(send: AsgiSend) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"Give the token, as in Authorization: Bearer TOKEN.\n"})
