"""Refusals: every error as a status and the same JSON, which says what went wrong and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from cofire.doors.http import wording
from cofire.errors import (
    ChannelTimedOut,
    CofireError,
    Conflict,
    EmbedderError,
    InvalidInput,
    NotFound,
    StoreError,
    UnknownSetting,
)

# The first row that fits holds, so that what is special stands before what is general.
STATUSES: Mapping[type[CofireError], int] = {
    UnknownSetting: 404,
    NotFound: 404,
    InvalidInput: 400,
    Conflict: 409,
    StoreError: 503,
    EmbedderError: 503,
    ChannelTimedOut: 503,
    CofireError: 500,
}
KINDS = {404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}
SHAPES = "The shapes are described in /api/v1/openapi.json."


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, and with which status."""

    status: int
    kind: str
    problem: str
    way_out: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        return JSONResponse(error_json(self.kind, self.problem, self.way_out), self.status, self.headers)


def error_json(kind: str, problem: str, way_out: str) -> dict[str, Any]:
    """The shape of every error, as on the command line."""
    return {"error": {"kind": kind, "problem": problem, "way_out": way_out}}


def refusal_of(error: CofireError) -> Refusal:
    """An error of cofire with the status that the table gives it."""
    status = next(status for kind, status in STATUSES.items() if isinstance(error, kind))
    return Refusal(status, type(error).__name__, error.problem, error.way_out)


async def _cofire_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, CofireError)
    return refusal_of(error).response()


async def _wrong_shape(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _out_of_shape("; ".join(dict.fromkeys(wording.said(one) for one in error.errors())))


def _out_of_shape(wrong: str) -> Response:
    return Refusal(422, "InvalidInput", wording.as_sentence(wrong), SHAPES).response()


async def _no_such_way(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    unread = wording.unread(error.__cause__)
    if unread is not None:
        return _out_of_shape(unread)
    kind = KINDS.get(error.status_code, "InvalidInput")
    problem = f"{request.method} {request.url.path}: {error.detail}."
    if error.status_code != 405:
        return Refusal(error.status_code, kind, problem, SHAPES).response()
    methods = ", ".join(_methods(request))
    return Refusal(405, kind, problem, f"This address takes {methods}.", {"allow": methods}).response()


def _methods(request: Request) -> list[str]:
    """All methods that an address has: each is a route of its own. The files of the page can only be read."""
    ours = [one for one in getattr(request.app.state, "routes", ()) if one.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for one in ours for method in one.methods}) or ["GET", "HEAD"]


async def _unexpected(_: Request, error: Exception) -> Response:
    problem = f"cofire failed in a way it should not: {type(error).__name__}."
    return Refusal(500, "Unexpected", problem, "Please report it, with what the server printed.").response()


HANDLERS: Mapping[Any, Any] = {
    CofireError: _cofire_error,
    RequestValidationError: _wrong_shape,
    HTTPException: _no_such_way,
    Exception: _unexpected,
}
