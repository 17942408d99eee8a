"""The page on the HTTP API, from its OpenAPI description: every operation with what it takes and what it returns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from cofire.http.errors import STATUS_BY_ERROR, STATUS_DESCRIPTIONS
from cofire.http.server import MAX_BODY_BYTES, make_api

TYPE_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}
FORMAT_NAMES = {"date-time": "a time", "date": "a date"}

INTRODUCTION = """
What `cofire serve` answers. The same as a file for programs: `GET /api/v1/openapi.json`, from which a client can be
generated; its functions have the names of the verbs (`recall`, `remember`, …). How to start the server and who may use it:
[Serve over HTTP](../how-to/serve-over-http.md).

Bodies and responses are JSON. Every route but `/api/v1/health` needs the header `Authorization: Bearer TOKEN`. An unknown
field is refused. With `Accept-Encoding: gzip`, responses of more than 1,000 bytes are compressed.

`recall`, `why` and `explore` return little unless more is asked for: `include` names the parts to add, as in
`{"query": "…", "include": ["channels", "paths"]}`.

`explore`, `dream` and `curate` respond with server-sent events where the request has the header
`Accept: text/event-stream`: `seed` for each explored seed, or `progress` with `done`, `total` and `stage`; then `done`,
with the exploration or with `report`; or `error`, with a problem as below.
""".strip()


def http_parts() -> Iterator[str]:
    """The parts of the page, in their order."""
    api = make_api(guarded=True).openapi()
    schemas = api["components"]["schemas"]
    yield INTRODUCTION
    yield from _errors(schemas["Problem"])
    operations = [
        (path, method, operation) for path, methods in api["paths"].items() for method, operation in methods.items()
    ]
    tags = {tag["name"]: tag["description"] for tag in api["tags"]}
    for tag, group in groupby(operations, key=lambda entry: entry[2]["tags"][0]):
        yield f"## {tag.capitalize()}"
        yield tags[tag]
        for path, method, operation in group:
            yield from _operation(path, method, operation, schemas)
    yield from _shapes(schemas)


def _errors(problem: Mapping[str, Any]) -> Iterator[str]:
    yield "## Errors"
    yield (
        "Every error is a problem (`application/problem+json`, RFC 9457). `kind`, `problem` and `way_out` are those of the "
        f"command line. A body may have {MAX_BODY_BYTES // 1024 // 1024} MiB."
    )
    yield "\n".join(_fields(problem, show_required=False))
    yield "\n".join(f"- **{status}** {text}{_error_names(status)}" for status, text in STATUS_DESCRIPTIONS.items())


def _error_names(status: int) -> str:
    """The errors of cofire that have a status."""
    names = [error.__name__ for error, error_status in STATUS_BY_ERROR.items() if error_status == status]
    return f" ({', '.join(names)})" if names else ""


def _operation(path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {operation['operationId']}"
    yield f"`{method.upper()} {path}`"
    yield operation["description"]
    parameters = [
        f"- `{parameter['name']}` in the {'path' if parameter['in'] == 'path' else 'address'}: "
        f"{type_name(parameter['schema'])}. {parameter['description']}"
        for parameter in operation.get("parameters", ())
    ]
    if parameters:
        yield "\n".join(parameters)
    for name in _body_shapes(operation):
        lines = [f"Body `{name}`. {_one_line(schemas[name]['description'])}", "", *_fields(schemas[name])]
        yield "\n".join(lines)
    if "requestBody" in operation:
        example = operation["requestBody"]["content"]["application/json"]["example"]
        yield f"```json\n{json.dumps(example, ensure_ascii=False)}\n```"
    response = _reference(operation["responses"]["200"]["content"]["application/json"]["schema"])
    yield f"Returns [`{response}`](#{response.lower()})."


def _body_shapes(operation: Mapping[str, Any]) -> list[str]:
    """The shapes that a body may have."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    alternatives = schema.get("oneOf") or schema.get("anyOf") or [schema]
    return [_reference(alternative) for alternative in alternatives if "$ref" in alternative]


def _shapes(schemas: Mapping[str, Any]) -> Iterator[str]:
    """All shapes that are no body of their own."""
    yield "## Shapes"
    yield "Members that are not always there are marked; all others are."
    for name, schema in schemas.items():
        if "properties" in schema and _has_section(name):
            yield f"### {name}"
            yield _one_line(schema["description"])
            yield "\n".join(_fields(schema, show_required=name == "FilterBody", show_optional=name != "FilterBody"))


def _fields(schema: Mapping[str, Any], *, show_required: bool = True, show_optional: bool = False) -> list[str]:
    required = schema.get("required", ())
    lines = []
    for name, field in schema["properties"].items():
        mark = ", required" if show_required and name in required else ""
        mark += ", if included" if show_optional and name not in required else ""
        lines.append(f"- `{name}`: {type_name(field)}{mark}. {field['description']}")
    return lines


def _reference(schema: Mapping[str, Any]) -> str:
    name: str = schema["$ref"].rpartition("/")[2]
    return name


def _has_section(name: str) -> bool:
    """Problems and bodies are described where they are used; the filter is used in several places."""
    return name == "FilterBody" or not name.endswith(("Body", "Problem"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def type_name(schema: Mapping[str, Any]) -> str:
    """What a value may be, in words.

    >>> type_name({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'a list: text'
    >>> type_name({"type": "integer", "minimum": 1, "maximum": 1000})
    'a whole number from 1 to 1,000'
    >>> type_name({"type": "integer", "minimum": 1.0, "maximum": 1000.0})
    'a whole number from 1 to 1,000'
    >>> type_name({"type": "object", "additionalProperties": {"type": "number"}})
    'an object of a number each'
    """
    if "$ref" in schema:
        name = _reference(schema)
        return f"[`{name}`](#{name.lower()})" if _has_section(name) else f"`{name}`"
    if "anyOf" in schema:
        alternatives = [type_name(alternative) for alternative in schema["anyOf"] if alternative.get("type") != "null"]
        return " or ".join(dict.fromkeys(alternatives))
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if "const" in schema:
        return str(schema["const"])
    if schema.get("type") == "array":
        return f"a list: {type_name(schema['items'])}" if schema.get("items") else "a list"
    if "type" not in schema:
        return "any value"
    inner = schema.get("additionalProperties")
    if schema["type"] == "object" and isinstance(inner, Mapping) and ("type" in inner or "$ref" in inner):
        return f"an object of {type_name(inner)} each"
    plain = FORMAT_NAMES.get(schema.get("format", ""), TYPE_NAMES[schema["type"]])
    if not {"minimum", "maximum"} <= schema.keys():
        return plain
    low, high = (int(end) if schema["type"] == "integer" else end for end in (schema["minimum"], schema["maximum"]))
    return f"{plain} from {low:,} to {high:,}"
