"""Whether what was given has the shape that a schema says; only what the nine tools' schemas need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cofire.errors import InvalidInput

Schema = Mapping[str, Any]

_KINDS: Mapping[str, type] = {"string": str, "array": list, "object": Mapping, "boolean": bool}


def checked(name: str, schema: Schema, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was given, if it fits; else an error that names the first part that does not.

    >>> from cofire.doors.mcp.compat.tools import COMPAT_TOOLS
    >>> checked("open_nodes", COMPAT_TOOLS[-1].takes, {"names": ["Ana"]})
    {'names': ['Ana']}
    """
    problem = _misfit(schema, given, "")
    if problem is not None:
        raise InvalidInput(f"Input validation error: {name}: {problem}.", way_out="Give it as the input schema says.")
    return given


def _misfit(schema: Schema, value: Any, where: str) -> str | None:
    if not isinstance(value, _KINDS[schema["type"]]):
        return f"{where or 'it'} must be {schema['type']}, not {type(value).__name__}"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"{where} has more than {schema['maxLength']} characters"
    return next((one for one in _inside(schema, value, where) if one is not None), None)


def _inside(schema: Schema, value: Any, where: str) -> list[str | None]:
    """What does not fit among the parts of a list or an object."""
    if schema["type"] == "array":
        return [_misfit(schema["items"], one, f"{where}[{place}]") for place, one in enumerate(value)]
    if schema["type"] != "object":
        return []
    missing: list[str | None] = [
        f"{where} {name} is missing".strip() for name in schema.get("required", ()) if name not in value
    ]
    known = schema["properties"]
    return missing + [
        _misfit(known[name], one, f"{where}.{name}".strip(".")) for name, one in value.items() if name in known
    ]
