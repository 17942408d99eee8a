"""What all routes share: router, memory dependency, JSON responses and event streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import JSONResponse

from cofire import AsyncMemory
from cofire.errors import CofireError
from cofire.http.errors import error_json
from cofire.http.responses import ErrorResponse
from cofire.interfaces.reports import WorkProgress

EVENT_STREAM_TYPE = "text/event-stream"

ProgressCallback = Callable[[Any], None]


def wants_events(request: Request) -> bool:
    """Whether the client asks to be told as it goes."""
    return EVENT_STREAM_TYPE in request.headers.get("accept", "")


def make_event_response(events: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
    """Events as a response; an error of cofire is the last of them, since the status is sent by then."""
    return EventSourceResponse(_end_with_error_event(events))


def make_event(name: str, value: Any) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(value, ensure_ascii=False), event=name)


async def stream_progress(
    work: Callable[[ProgressCallback], Awaitable[Any]], shape: Callable[[Any], Any]
) -> AsyncIterator[ServerSentEvent]:
    """Do some work and tell how far it has come. When nobody listens any more it is stopped: it can be taken up again."""
    steps: asyncio.Queue[WorkProgress | None] = asyncio.Queue()
    working = asyncio.ensure_future(work(steps.put_nowait))
    working.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (step := await steps.get()) is not None:
            yield make_event("progress", {"done": step.done, "total": step.total, "stage": step.doing})
        yield make_event("done", {"report": shape(await working)})
    finally:
        working.cancel()


async def _end_with_error_event(events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    try:
        async for one in events:
            yield one
    except CofireError as error:
        yield make_event("error", error_json(type(error).__name__, error.problem, error.way_out))


API_BASE = "/api/v1"
ERROR_DESCRIPTIONS = {
    400: "What was given cannot be used.",
    401: "The token is missing or wrong.",
    403: "The Host or the Origin is foreign.",
    404: "No such fact, recall, receipt, setting or verb.",
    405: "The address has no such method; Allow names those it has.",
    409: "Somebody else wrote in between.",
    413: "The body is too long.",
    415: "The body is not JSON.",
    422: "The request has not the shape described here.",
    429: "Requests come too fast; Retry-After says how long to wait.",
    503: "The store or the embedder cannot do it now, or too many requests are at work.",
}
STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {EVENT_STREAM_TYPE: {"schema": {"type": "string"}}},
        "description": "The answer, or events on the way to it.",
    }
}


def make_router(about: str) -> APIRouter:
    """A set of routes about one thing."""
    refused: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorResponse, "description": text} for status, text in ERROR_DESCRIPTIONS.items()
    }
    return APIRouter(
        prefix=API_BASE,
        tags=[about],
        responses=refused,
        default_response_class=JSONResponse,
        dependencies=[Depends(_refuse_unknown_query)],
    )


async def _get_memory(request: Request) -> AsyncMemory:
    memory: AsyncMemory = request.app.state.memory
    return memory


async def _refuse_unknown_query(request: Request) -> None:
    """A route that takes fields in its address refuses others by itself; one that takes none refuses any here."""
    if request.scope["route"].dependant.query_params:
        return
    strange = [{"type": "extra_forbidden", "loc": ("query", name), "msg": ""} for name in request.query_params]
    if strange:
        raise RequestValidationError(strange)


async def _refuse_body(request: Request) -> None:
    """What takes no fields refuses any, as other routes refuse those they do not know. An empty object is as good as none."""
    if b"".join((await request.body()).split()) not in (b"", b"{}"):
        raise RequestValidationError([{"type": "no_body", "loc": ("body",), "msg": "there are no fields to give here"}])


NO_BODY = [Depends(_refuse_body)]
MemoryDependency = Annotated[AsyncMemory, Depends(_get_memory)]


def make_json_response(value: Any) -> JSONResponse:
    """A value made by our own shapes: it need not be checked again."""
    return JSONResponse(value)
