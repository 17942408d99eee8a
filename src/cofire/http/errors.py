"""Errors as HTTP status and JSON; validation errors in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

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
from cofire.verbs.keyword_arguments import find_near_miss

MESSAGE_BY_TYPE = {
    "missing": "this field is needed",
    "extra_forbidden": "there is no such field",
    "string_type": "give text",
    "string_too_long": "give at most {max_length:,} characters",
    "string_unicode": "it holds half of a character (a lone surrogate)",
    "int_type": "give a whole number",
    "int_parsing": "give a whole number",
    "int_from_float": "give a whole number",
    "int_parsing_size": "the number has too many digits",
    "float_type": "give a number",
    "float_parsing": "give a number",
    "bool_type": "give true or false",
    "bool_parsing": "give true or false",
    "greater_than_equal": "give {ge:,} or more",
    "less_than_equal": "give {le:,} or less",
    "list_type": "give a list",
    "too_short": "give at least {min_length:,}",
    "too_long": "give at most {max_length:,}",
    "dict_type": "give an object",
    "model_type": "give an object",
    "model_attributes_type": "give an object",
}
# The first row that fits holds: what is not UTF-8 is a ValueError too.
UNREADABLE_BODY_MESSAGES: Mapping[type[Exception], str] = {
    UnicodeDecodeError: "The body is not UTF-8",
    RecursionError: "The body is nested too deep",
    ValueError: "The body has a number of too many digits",
}
BODY_NEEDED_MESSAGE = "A body is needed"
VALUE_ERROR_PREFIX = "Value error, "


def describe_problem(wrong: Mapping[str, Any]) -> str:
    """Where it is wrong and what is, without what was given: that may be anything.

    >>> describe_problem(
    ...     {"type": "string_type", "loc": ("body", "facts", 1, "text"), "msg": "Input should be a valid string"}
    ... )
    'facts[1].text: give text'
    """
    if wrong["type"] == "json_invalid":
        return describe_broken_json(wrong)
    if wrong["loc"] == ("body",) and wrong["type"] == "missing":
        return BODY_NEEDED_MESSAGE
    words = MESSAGE_BY_TYPE.get(wrong["type"])
    told = words.format(**wrong.get("ctx", {})) if words else wrong["msg"].removeprefix(VALUE_ERROR_PREFIX)
    near = wrong.get("ctx", {}).get("near")
    return f"{format_location(wrong['loc'])}: {told}{f'; did you mean {near}?' if near else ''}"


def describe_all_problems(error: ValidationError, name: str) -> str:
    """All that is wrong with a value that was read alone; `name` stands for the value itself."""
    placed = [{**wrong, "loc": ("body", *wrong["loc"]) if wrong["loc"] else (name,)} for wrong in error.errors()]
    return "; ".join(dict.fromkeys(map(describe_problem, placed)))


def as_sentence(problem: str) -> str:
    """
    >>> as_sentence("k: give a whole number"), as_sentence("top_k: there is no such field; did you mean k?")
    ('k: give a whole number.', 'top_k: there is no such field; did you mean k?')
    """
    return problem if problem.endswith((".", "?")) else f"{problem}."


def add_near_misses(error: ValidationError, fields: frozenset[str]) -> ValidationError:
    """The same errors; those about a field that is not among `fields` have the nearest of these as `near`."""
    details = [
        InitErrorDetails(type=_make_custom_error(wrong, fields), loc=wrong["loc"], input=wrong["input"])
        for wrong in error.errors()
    ]
    return ValidationError.from_exception_data(error.title, details)


def _make_custom_error(wrong: Mapping[str, Any], fields: frozenset[str]) -> PydanticCustomError:
    context = dict(wrong.get("ctx", {}))
    if wrong["type"] == "extra_forbidden" and len(wrong["loc"]) == 1:
        near = find_near_miss(str(wrong["loc"][0]), fields)
        context |= {"near": near} if near else {}
    return PydanticCustomError(wrong["type"], wrong["msg"], context or None)


def format_location(loc: Sequence[str | int]) -> str:
    """A place in a body as one would write it; in an address, where a list is a name that is repeated, the name alone.

    >>> format_location(("body", "facts", 1, "text")), format_location(("query", "ids", 0)), format_location(("body",))
    ('facts[1].text', 'ids', 'body')
    """
    where, *steps = loc
    if not steps:
        return str(where)
    named = steps if where == "body" else steps[:1]
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in named).removeprefix(".")


def describe_broken_json(wrong: Mapping[str, Any]) -> str:
    """Why a body is no JSON, and where.

    >>> describe_broken_json({"type": "json_invalid", "loc": ("body", 9), "ctx": {"error": "Expecting value"}})
    'The body is no JSON: Expecting value, at character 9'
    """
    return f"The body is no JSON: {wrong['ctx']['error']}, at character {wrong['loc'][1]}"


def describe_unreadable_body(error: BaseException | None) -> str | None:
    """Why a body could not be read at all, which FastAPI tells only as the cause of its 400; None if that is not what went wrong."""
    return next((words for kind, words in UNREADABLE_BODY_MESSAGES.items() if isinstance(error, kind)), None)


# The first row that fits holds, so that what is special stands before what is general.
STATUS_BY_ERROR: Mapping[type[CofireError], int] = {
    UnknownSetting: 404,
    NotFound: 404,
    InvalidInput: 400,
    Conflict: 409,
    StoreError: 503,
    EmbedderError: 503,
    ChannelTimedOut: 503,
    CofireError: 500,
}
KIND_BY_STATUS = {404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}
OPENAPI_HINT = "The shapes are described in /api/v1/openapi.json."


@dataclass(frozen=True, slots=True)
class HttpRefusal:
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


def make_refusal(error: CofireError) -> HttpRefusal:
    """An error of cofire with the status that the table gives it."""
    status = next(status for kind, status in STATUS_BY_ERROR.items() if isinstance(error, kind))
    return HttpRefusal(status, type(error).__name__, error.problem, error.way_out)


async def _handle_cofire_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, CofireError)
    return make_refusal(error).response()


async def _handle_validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _make_validation_response("; ".join(dict.fromkeys(describe_problem(one) for one in error.errors())))


def _make_validation_response(wrong: str) -> Response:
    return HttpRefusal(422, "InvalidInput", as_sentence(wrong), OPENAPI_HINT).response()


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    unread = describe_unreadable_body(error.__cause__)
    if unread is not None:
        return _make_validation_response(unread)
    kind = KIND_BY_STATUS.get(error.status_code, "InvalidInput")
    problem = f"{request.method} {request.url.path}: {error.detail}."
    if error.status_code != 405:
        return HttpRefusal(error.status_code, kind, problem, OPENAPI_HINT).response()
    methods = ", ".join(_list_allowed_methods(request))
    return HttpRefusal(405, kind, problem, f"This address takes {methods}.", {"allow": methods}).response()


def _list_allowed_methods(request: Request) -> list[str]:
    """All methods that an address has: each is a route of its own. The files of the page can only be read."""
    ours = [one for one in getattr(request.app.state, "routes", ()) if one.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for one in ours for method in one.methods}) or ["GET", "HEAD"]


async def _handle_unexpected_error(_: Request, error: Exception) -> Response:
    problem = f"cofire failed in a way it should not: {type(error).__name__}."
    return HttpRefusal(500, "Unexpected", problem, "Please report it, with what the server printed.").response()


EXCEPTION_HANDLERS: Mapping[Any, Any] = {
    CofireError: _handle_cofire_error,
    RequestValidationError: _handle_validation_error,
    HTTPException: _handle_http_error,
    Exception: _handle_unexpected_error,
}
