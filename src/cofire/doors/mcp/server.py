"""The server: MCP's requests on one side, a toolset and a desk on the other. This is where the package `mcp` is needed."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext

import cofire
from cofire.doors.mcp import resources
from cofire.doors.mcp.desk import Answer, Desk
from cofire.doors.mcp.progress import telling
from cofire.doors.mcp.toolsets import Listed, Toolset
from cofire.errors import CofireError

SESSION_HEADER = "mcp-session-id"

Context = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Door:
    """A toolset on a desk, as the handlers of MCP's requests. The desk is made for the first who calls: a listing needs none."""

    make_desk: Callable[[], Desk]
    toolset: Toolset
    _made: list[Desk] = field(default_factory=list)

    @property
    def desk(self) -> Desk:
        if not self._made:
            self._made.append(self.make_desk())
        return self._made[0]

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in self.toolset.tools])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self.toolset.names:
            there = ", ".join(self.toolset.names)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name}. There are {there}.")
        async with telling(ctx.session) as listen:
            return await _called(replace(self.desk, listen=listen), self.toolset, params, _session(ctx))

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        listed = [
            types.Resource(uri=uri, name=_name(uri), description=what) for uri, what in resources.ADDRESSES.items()
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = [
            types.ResourceTemplate(uri_template=uri, name=_name(uri), description=what)
            for uri, what in resources.TEMPLATES.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await _read(await self.desk.for_session(_session(ctx)), params.uri)

    @asynccontextmanager
    async def lifespan(self, server: Server[Any]) -> AsyncIterator[None]:
        """Lets go of the memory at the end."""
        try:
            yield
        finally:
            for desk in self._made:
                await desk.memory.close()


def make_server(make_desk: Callable[[], Desk], toolset: Toolset) -> Server[Any]:
    """A server that offers a toolset on a desk."""
    door = Door(make_desk, toolset)
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


def _name(uri: str) -> str:
    return uri.removeprefix("cofire://")


def _session(ctx: Context) -> str | None:
    """The session of a client that shares this process with others; over stdio the process itself is one."""
    return ctx.request.headers.get(SESSION_HEADER) if ctx.request is not None else None


def _described(tool: Listed) -> types.Tool:
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


async def _called(
    desk: Desk, toolset: Toolset, params: types.CallToolRequestParams, session: str | None
) -> types.CallToolResult:
    """The answer of a tool. What goes wrong is an answer too, so that the agent reads the way out."""
    try:
        answer = await toolset.answer(await desk.for_session(session), params.name, params.arguments or {})
    except CofireError as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(f"The system refused: {error}. Check the place it names, and the space left there.")
    except Exception as error:  # noqa: BLE001 - a client is told, and goes on
        _log.exception("The tool %s failed", params.name)
        return _failed(f"cofire failed in a way it should not: {type(error).__name__}: {error}. Please report it.")
    return _told(answer)


def _told(answer: Answer) -> types.CallToolResult:
    texts = [answer.text, *([answer.besides] if answer.besides else [])]
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text) for text in texts]
    return types.CallToolResult(content=content, structured_content=answer.structured)


def _failed(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)], is_error=True)


async def _read(desk: Desk, address: str) -> types.ReadResourceResult:
    try:
        page = await resources.read(desk, address)
    except CofireError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": address}) from error
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=address, text=page.text, mime_type=page.kind)]
    )
