"""The page on the HTTP API, from its OpenAPI description: every route with what it takes and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from cofire.http.application import make_api
from cofire.http.errors import STATUS_BY_ERROR
from cofire.http.routing import ERROR_DESCRIPTIONS
from cofire.http.server import MAX_BODY_BYTES

KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}
FORMATS = {"date-time": "a time", "date": "a date"}

INTRODUCTION = """
What `cofire serve` answers. The same as a file for programs: `GET /api/v1/openapi.json`. How to start it and who may come in:
[Serve over HTTP](../how-to/serve-over-http.md).

Bodies and answers are JSON, and their parts have the shapes of [json.md](json.md). Every route but `/api/v1/health` asks for the
header `Authorization: Bearer TOKEN`. A field that is not named here is refused.

`/api/v1/explore`, `/api/v1/dream` and `/api/v1/curate` answer with server-sent events where the request says
`Accept: text/event-stream`: `seed` for each seed explored, or `progress` with `done`, `total` and `stage`; then `done`, with the
exploration or with `report`; or `error`.
""".strip()


def http_parts() -> Iterator[str]:
    """The parts of the page, in their order."""
    yield INTRODUCTION
    yield from _errors()
    api = make_api(guarded=True).openapi()
    operations = [(path, method, one) for path, ways in api["paths"].items() for method, one in ways.items()]
    for about, listed in groupby(operations, key=lambda entry: entry[2]["tags"][0]):
        yield f"## About {about}"
        for path, method, one in listed:
            yield from _operation(path, method, one, api["components"]["schemas"])


def _errors() -> Iterator[str]:
    yield "## Errors"
    yield (
        'Every error is `{"error": {"kind": …, "problem": …, "way_out": …}}`, as on the command line. A body may have '
        f"{MAX_BODY_BYTES // 1024 // 1024} MiB."
    )
    yield "\n".join(f"- **{status}** {text}{_kinds(status)}" for status, text in ERROR_DESCRIPTIONS.items())


def _kinds(status: int) -> str:
    """The errors of cofire that have a status."""
    kinds = [kind.__name__ for kind, given in STATUS_BY_ERROR.items() if given == status]
    return f" ({', '.join(kinds)})" if kinds else ""


def _operation(path: str, method: str, one: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {method.upper()} {path}"
    yield one["description"]
    asked = [
        f"- `{parameter['name']}` in the {'path' if parameter['in'] == 'path' else 'address'}: {kind(parameter['schema'])}"
        for parameter in one.get("parameters", ())
    ]
    if asked:
        yield "\n".join(asked)
    for name in _bodies(one):
        yield from _shape(f"Body `{name}`.", schemas[name])
        for inner in _shapes_in(schemas[name]):
            yield from _shape(f"`{inner}`:", schemas[inner])
    answer = one["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    yield f"Answers with `{answer}`: {', '.join(f'`{field}`' for field in schemas[answer]['properties'])}."


def _shape(called: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield "\n".join([f"{called} {_said(schema)}".strip(), "", *_fields(schema)])


def _shapes_in(schema: Mapping[str, Any]) -> list[str]:
    """The shapes that fields of a shape have."""
    refs = [field.get("$ref", "") for field in schema["properties"].values()]
    return [ref.rpartition("/")[2] for ref in refs if ref]


def _said(schema: Mapping[str, Any]) -> str:
    return " ".join(schema.get("description", "").split())


def _bodies(one: Mapping[str, Any]) -> list[str]:
    """The shapes that a body may have."""
    schema = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    shapes = schema.get("oneOf") or schema.get("anyOf") or ([schema] if schema else [])
    return [shape["$ref"].rpartition("/")[2] for shape in shapes if "$ref" in shape]


def _fields(schema: Mapping[str, Any]) -> list[str]:
    needed = schema.get("required", ())
    return [
        f"- `{name}`: {kind(field)}{', needed' if name in needed else ''}"
        for name, field in schema["properties"].items()
    ]


def kind(schema: Mapping[str, Any]) -> str:
    """What a value may be, in words.

    >>> kind({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'a list: text'
    >>> kind({"type": "integer", "minimum": 1, "maximum": 1000})
    'a whole number from 1 to 1,000'
    >>> kind({"type": "integer", "minimum": 1.0, "maximum": 1000.0})
    'a whole number from 1 to 1,000'
    """
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind(one) for one in schema["anyOf"] if one.get("type") != "null"))
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if schema.get("type") == "array":
        return f"a list: {kind(schema['items'])}"
    plain = FORMATS.get(schema.get("format", ""), KINDS[schema["type"]])
    if not {"minimum", "maximum"} <= schema.keys():
        return plain
    low, high = (int(end) if schema["type"] == "integer" else end for end in (schema["minimum"], schema["maximum"]))
    return f"{plain} from {low:,} to {high:,}"
