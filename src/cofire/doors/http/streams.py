"""Streams: long work told as it goes, as server-sent events. The last event is `done`, or `error`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi import Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from cofire.doors.http.refusals import error_json
from cofire.doors.steps import Step
from cofire.errors import CofireError

EVENTS = "text/event-stream"

Listen = Callable[[Any], None]


def wants_events(request: Request) -> bool:
    """Whether the client asks to be told as it goes."""
    return EVENTS in request.headers.get("accept", "")


def told(events: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
    """Events as a response; an error of cofire is the last of them, since the status is sent by then."""
    return EventSourceResponse(_ended_well(events))


def event(name: str, value: Any) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(value, ensure_ascii=False), event=name)


async def progress_of(
    work: Callable[[Listen], Awaitable[Any]], shape: Callable[[Any], Any]
) -> AsyncIterator[ServerSentEvent]:
    """Do some work and tell how far it has come. When nobody listens any more it is stopped: it can be taken up again."""
    steps: asyncio.Queue[Step | None] = asyncio.Queue()
    working = asyncio.ensure_future(work(steps.put_nowait))
    working.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (step := await steps.get()) is not None:
            yield event("progress", {"done": step.done, "total": step.total, "stage": step.doing})
        yield event("done", {"report": shape(await working)})
    finally:
        working.cancel()


async def _ended_well(events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    try:
        async for one in events:
            yield one
    except CofireError as error:
        yield event("error", error_json(type(error).__name__, error.problem, error.way_out))
