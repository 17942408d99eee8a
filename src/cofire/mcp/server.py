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
from cofire.mcp.endpoint import McpEndpoint
from cofire.mcp.handlers import RESOURCE_URIS, URI_TEMPLATES, ListedTool, Toolset, read_resource
from cofire.mcp.served_memory import ServedMemory, ToolAnswer


class ProgressSession(Protocol):
    """The session of a request. Progress is sent only if the client gave a progress token."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...


@asynccontextmanager
async def forward_progress(session: ProgressSession) -> AsyncIterator[Callable[[WorkProgress], None]]:
    """A callback that sends progress to the client. All of it is sent before the answer."""
    steps: asyncio.Queue[WorkProgress | None] = asyncio.Queue()
    sender = asyncio.ensure_future(_send_progress(steps, session))
    try:
        yield steps.put_nowait
    finally:
        steps.put_nowait(None)
        await sender


async def _send_progress(steps: asyncio.Queue[WorkProgress | None], session: ProgressSession) -> None:
    """Send steps in order. MCP requires that progress increases."""
    last_sent = -1
    while (step := await steps.get()) is not None:
        if step.done > last_sent:
            last_sent = step.done
            await session.report_progress(step.done, step.total, step.doing)


SESSION_HEADER = "mcp-session-id"

RequestContext = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RequestHandlers:
    """The handlers of MCP requests for a toolset. The memory is opened on first use; listing tools does not need it."""

    open_memory: Callable[[], ServedMemory]
    toolset: Toolset
    _opened: list[ServedMemory] = field(default_factory=list)

    @property
    def served(self) -> ServedMemory:
        if not self._opened:
            self._opened.append(self.open_memory())
        return self._opened[0]

    async def list_tools(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_make_tool_listing(tool) for tool in self.toolset.tools])

    async def call_tool(self, ctx: RequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self.toolset.names:
            available = ", ".join(self.toolset.names)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name}. Available: {available}.")
        async with forward_progress(ctx.session) as on_progress:
            served = replace(self.served, on_progress=on_progress)
            return await _run_tool(served, self.toolset, params, _session_id(ctx))

    async def list_resources(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        listed = [
            types.Resource(uri=uri, name=_resource_name(uri), description=what) for uri, what in RESOURCE_URIS.items()
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = [
            types.ResourceTemplate(uri_template=uri, name=_resource_name(uri), description=what)
            for uri, what in URI_TEMPLATES.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(
        self, ctx: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await _read_contents(await self.served.for_session(_session_id(ctx)), params.uri)

    @asynccontextmanager
    async def lifespan(self, server: Server[Any]) -> AsyncIterator[None]:
        """Close the memory at the end."""
        try:
            yield
        finally:
            for served in self._opened:
                await served.memory.close()


def make_server(open_memory: Callable[[], ServedMemory], toolset: Toolset) -> Server[Any]:
    """A server that offers a toolset on a memory."""
    handlers = RequestHandlers(open_memory, toolset)
    return Server(
        "cofire",
        version=cofire.__version__,
        title="cofire memory",
        instructions=toolset.instructions,
        lifespan=handlers.lifespan,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )


def _resource_name(uri: str) -> str:
    return uri.removeprefix("cofire://")


def _session_id(ctx: RequestContext) -> str | None:
    """The session of an HTTP client. Over stdio the process is the session."""
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
    served: ServedMemory, toolset: Toolset, params: types.CallToolRequestParams, session: str | None
) -> types.CallToolResult:
    """Run a tool. An error is an answer too, so that the agent reads the way out."""
    try:
        answer = await toolset.answer(await served.for_session(session), params.name, params.arguments or {})
    except CofireError as error:
        return _make_error_result(str(error))
    except OSError as error:
        return _make_error_result(
            f"Operating system error: {error}. Check the path in the message and the free disk space."
        )
    except Exception as error:  # noqa: BLE001 - the client gets an error and continues
        _log.exception("The tool %s failed", params.name)
        return _make_error_result(f"Unexpected error: {type(error).__name__}: {error}. Please report it.")
    return _make_tool_result(answer)


def _make_tool_result(answer: ToolAnswer) -> types.CallToolResult:
    texts = [answer.text, *([answer.besides] if answer.besides else [])]
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text) for text in texts]
    return types.CallToolResult(content=content, structured_content=answer.structured)


def _make_error_result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


async def _read_contents(served: ServedMemory, uri: str) -> types.ReadResourceResult:
    try:
        content = await read_resource(served, uri)
    except CofireError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": uri}) from error
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, text=content.text, mime_type=content.kind)]
    )


AsgiScope = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[MutableMapping[str, Any]]]
AsgiSend = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]


def serve_stdio(store: str | None, scope: str, toolset: Toolset) -> None:
    """Serve one client over standard input and output until it disconnects. The process is its session."""
    session = f"mcp-{uuid4().hex}"
    server = make_server(lambda: ServedMemory(cofire.AsyncMemory(store, session=session), scope), toolset)
    asyncio.run(_serve_pipes(server))


async def _serve_pipes(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def serve_http(
    store: str | None, scope: str, toolset: Toolset, endpoint: McpEndpoint, announce: Callable[[str], None]
) -> None:
    """Serve clients over HTTP, each in its own session, until interrupted. `announce` receives the address."""
    import uvicorn

    with map_exceptions(
        {OSError: InvalidInput},
        problem=f"Cannot listen on {endpoint.host}, port {endpoint.port}: {{error}}.",
        way_out="Choose another --port, or an address of this machine as --host.",
    ):
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        listener = socket.create_server((endpoint.host, endpoint.port), family=family)
    endpoint = endpoint.at_port(listener.getsockname()[1])
    server = make_server(lambda: ServedMemory(cofire.AsyncMemory(store), scope), toolset)
    announce(endpoint.address)
    config = uvicorn.Config(make_guarded_app(server, endpoint), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


def make_guarded_app(server: Server[Any], endpoint: McpEndpoint) -> AsgiApp:
    """The server as an ASGI application that checks the host, the origin and the token, if there is one."""
    security = TransportSecuritySettings(allowed_hosts=endpoint.hosts, allowed_origins=endpoint.origins)
    app: AsgiApp = server.streamable_http_app(transport_security=security, host=endpoint.host)
    return app if endpoint.token is None else _require_token(endpoint.token, app)


def _require_token(token: str, app: AsgiApp) -> AsgiApp:
    """Compare the token in constant time."""
    expected = f"Bearer {token}".encode()

    async def guarded(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, expected):
            return await _send_unauthorized(send)
        return await app(scope, receive, send)

    return guarded


async def _send_unauthorized(send: AsgiSend) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"Send the token in a header: Authorization: Bearer TOKEN\n"})
