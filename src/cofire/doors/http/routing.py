"""Routing: what every route shares. The memory, the errors it may answer with, and JSON."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import JSONResponse

from cofire import AsyncMemory
from cofire.doors.http.answers import Error
from cofire.doors.http.streams import EVENTS

BASE = "/api/v1"
REFUSED = {
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
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"content": {EVENTS: {"schema": {"type": "string"}}}, "description": "The answer, or events on the way to it."}
}


def router(about: str) -> APIRouter:
    """A set of routes about one thing."""
    refused: dict[int | str, dict[str, Any]] = {
        status: {"model": Error, "description": text} for status, text in REFUSED.items()
    }
    return APIRouter(
        prefix=BASE,
        tags=[about],
        responses=refused,
        default_response_class=JSONResponse,
        dependencies=[Depends(_no_strange_fields)],
    )


async def _memory(request: Request) -> AsyncMemory:
    memory: AsyncMemory = request.app.state.memory
    return memory


async def _no_strange_fields(request: Request) -> None:
    """A route that takes fields in its address refuses others by itself; one that takes none refuses any here."""
    if request.scope["route"].dependant.query_params:
        return
    strange = [{"type": "extra_forbidden", "loc": ("query", name), "msg": ""} for name in request.query_params]
    if strange:
        raise RequestValidationError(strange)


async def _no_body(request: Request) -> None:
    """What takes no fields refuses any, as other routes refuse those they do not know. An empty object is as good as none."""
    if b"".join((await request.body()).split()) not in (b"", b"{}"):
        raise RequestValidationError([{"type": "no_body", "loc": ("body",), "msg": "there are no fields to give here"}])


WITHOUT_BODY = [Depends(_no_body)]
TheMemory = Annotated[AsyncMemory, Depends(_memory)]


def answer(value: Any) -> JSONResponse:
    """A value made by our own shapes: it need not be checked again."""
    return JSONResponse(value)
