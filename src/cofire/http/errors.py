"""Refusals as problem details (RFC 9457), and what pydantic says about a request in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

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

PROBLEM_MEDIA_TYPE = "application/problem+json"
PROBLEM_TYPE_PREFIX = "urn:problem-type:cofire:"
OPENAPI_HINT = "The shapes are described in /api/v1/openapi.json."

STATUS_DESCRIPTIONS = {
    400: "A value cannot be used.",
    401: "The token is missing or wrong.",
    403: "The Host or the Origin is foreign.",
    404: "No such fact, recall, receipt, setting or verb.",
    405: "The address does not take this method. The header Allow lists those it takes.",
    409: "Another writer changed the same facts at the same time.",
    413: "The body is too long.",
    415: "The body is not JSON.",
    422: "The request does not have the shape described here.",
    429: "Too many requests. The header Retry-After says how many seconds to wait.",
    503: "The store or the embedder is not available, or too many requests are running.",
}
# The first row that matches counts: subclasses stand before their base class.
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


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request failed and what to do about it: problem details of RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    kind: str
    problem: str
    way_out: str


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """Why a request is refused, and with which status."""

    status: int
    kind: str
    problem: str
    way_out: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def problem_json(self, path: str) -> dict[str, Any]:
        """The problem details of a request to `path`."""
        return asdict(
            Problem(
                type=PROBLEM_TYPE_PREFIX + self.kind,
                title=HTTPStatus(self.status).phrase,
                status=self.status,
                detail=f"{self.problem} {self.way_out}",
                instance=quote(path),
                kind=self.kind,
                problem=self.problem,
                way_out=self.way_out,
            )
        )

    def response(self, path: str) -> Response:
        return JSONResponse(self.problem_json(path), self.status, self.headers, PROBLEM_MEDIA_TYPE)


def make_refusal(error: CofireError) -> HttpRefusal:
    """The refusal for an error of cofire."""
    status = next(status for kind, status in STATUS_BY_ERROR.items() if isinstance(error, kind))
    return HttpRefusal(status, type(error).__name__, error.problem, error.way_out)


async def _handle_cofire_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CofireError)
    return make_refusal(error).response(request.scope["path"])


async def _handle_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = dict.fromkeys(describe_problem(wrong) for wrong in error.errors())
    return _make_invalid_refusal("; ".join(problems)).response(request.scope["path"])


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.scope["path"]
    unreadable = describe_unreadable_body(error.__cause__)
    if unreadable is not None:
        return _make_invalid_refusal(unreadable).response(path)
    kind = KIND_BY_STATUS.get(error.status_code, "InvalidInput")
    problem = f"{request.method} {path}: {error.detail}."
    if error.status_code != 405:
        return HttpRefusal(error.status_code, kind, problem, OPENAPI_HINT).response(path)
    methods = ", ".join(_list_allowed_methods(request))
    way_out = f"This address takes {methods}."
    return HttpRefusal(405, kind, problem, way_out, {"allow": methods}).response(path)


async def _handle_unexpected_error(request: Request, error: Exception) -> Response:
    problem = f"cofire failed unexpectedly: {type(error).__name__}."
    way_out = "Please report it, with what the server printed."
    return HttpRefusal(500, "Unexpected", problem, way_out).response(request.scope["path"])


EXCEPTION_HANDLERS: Mapping[Any, Any] = {
    CofireError: _handle_cofire_error,
    RequestValidationError: _handle_validation_error,
    HTTPException: _handle_http_error,
    Exception: _handle_unexpected_error,
}


def _make_invalid_refusal(problem: str) -> HttpRefusal:
    return HttpRefusal(422, "InvalidInput", as_sentence(problem), OPENAPI_HINT)


def _list_allowed_methods(request: Request) -> list[str]:
    """All methods of an address: each is a route of its own. Files of the page are only read."""
    routes = getattr(request.app.state, "routes", ())
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in matching for method in route.methods}) or ["GET", "HEAD"]


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
    "literal_error": "choose one of {expected}",
    "greater_than_equal": "give {ge:,} or more",
    "less_than_equal": "give {le:,} or less",
    "list_type": "give a list",
    "too_short": "give at least {min_length:,}",
    "too_long": "give at most {max_length:,}",
    "dict_type": "give an object",
    "model_type": "give an object",
    "model_attributes_type": "give an object",
}
# The first row that matches counts: UnicodeDecodeError is a ValueError too.
UNREADABLE_BODY_MESSAGES: Mapping[type[Exception], str] = {
    UnicodeDecodeError: "The body is not UTF-8",
    RecursionError: "The body is nested too deep",
    ValueError: "The body has a number of too many digits",
}
VALUE_ERROR_PREFIX = "Value error, "


def describe_problem(wrong: Mapping[str, Any]) -> str:
    """The place of an error and what is wrong there. The value itself is left out: it may be anything.

    >>> describe_problem({"type": "string_type", "loc": ("body", "facts", 1, "text"), "msg": ""})
    'facts[1].text: give text'
    >>> describe_problem({"type": "json_invalid", "loc": ("body", 9), "ctx": {"error": "Expecting value"}})
    'The body is no JSON: Expecting value, at character 9'
    """
    context = wrong.get("ctx", {})
    if wrong["type"] == "json_invalid":
        return f"The body is no JSON: {context['error']}, at character {wrong['loc'][1]}"
    if wrong["loc"] == ("body",) and wrong["type"] == "missing":
        return "A body is needed"
    template = MESSAGE_BY_TYPE.get(wrong["type"])
    message = template.format(**context) if template else wrong["msg"].removeprefix(VALUE_ERROR_PREFIX)
    hint = f"; did you mean {context['near']}?" if "near" in context else ""
    return f"{format_location(wrong['loc'])}: {message}{hint}"


def describe_all_problems(error: ValidationError, name: str) -> str:
    """All that is wrong with a value that was validated alone; `name` stands for the value itself."""
    located = [{**wrong, "loc": ("body", *wrong["loc"]) if wrong["loc"] else (name,)} for wrong in error.errors()]
    return as_sentence("; ".join(dict.fromkeys(map(describe_problem, located))))


def as_sentence(problem: str) -> str:
    """
    >>> as_sentence("k: give a whole number"), as_sentence("top_k: there is no such field; did you mean k?")
    ('k: give a whole number.', 'top_k: there is no such field; did you mean k?')
    """
    return problem if problem.endswith((".", "?")) else f"{problem}."


def add_near_misses(error: ValidationError, fields: frozenset[str]) -> ValidationError:
    """The same errors. One about an unknown field has the nearest of `fields` in its context as `near`."""
    details = []
    for wrong in error.errors():
        context = dict(wrong.get("ctx", {}))
        if wrong["type"] == "extra_forbidden" and len(wrong["loc"]) == 1:
            near = find_near_miss(str(wrong["loc"][0]), fields)
            context |= {"near": near} if near else {}
        kind = PydanticCustomError(wrong["type"], wrong["msg"], context or None)
        details.append(InitErrorDetails(type=kind, loc=wrong["loc"], input=wrong["input"]))
    return ValidationError.from_exception_data(error.title, details)


def format_location(loc: Sequence[str | int]) -> str:
    """A place in a body as JavaScript writes it; in an address the name alone, since a list is a repeated name.

    >>> format_location(("body", "facts", 1, "text")), format_location(("query", "ids", 0)), format_location(("body",))
    ('facts[1].text', 'ids', 'body')
    """
    where, *steps = loc
    if not steps:
        return str(where)
    shown = steps if where == "body" else steps[:1]
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in shown).removeprefix(".")


def describe_unreadable_body(error: BaseException | None) -> str | None:
    """Why a body could not be read at all. FastAPI keeps the reason only as the cause of its 400."""
    return next((message for kind, message in UNREADABLE_BODY_MESSAGES.items() if isinstance(error, kind)), None)
