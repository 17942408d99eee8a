"""Tools of the official MCP memory server as data, with validation of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cofire.errors import InvalidInput

CompatSchema = dict[str, Any]

TEXT_SCHEMA: CompatSchema = {"type": "string"}
TEXTS_SCHEMA: CompatSchema = {"type": "array", "items": TEXT_SCHEMA}


@dataclass(frozen=True, slots=True)
class CompatTool:
    """A tool with the schemas that clients of the official server know."""

    name: str
    what: str
    takes: CompatSchema
    gives: CompatSchema
    reads_only: bool = False
    destroys: bool = False
    idempotent: bool = False

    def input_schema(self) -> CompatSchema:
        return self.takes

    def output_schema(self) -> CompatSchema:
        return self.gives


def object_schema(required: dict[str, CompatSchema], optional: dict[str, CompatSchema] | None = None) -> CompatSchema:
    """The schema of an object that has these parts."""
    schema: CompatSchema = {"type": "object", "properties": {**required, **(optional or {})}}
    return {**schema, "required": list(required)} if required else schema


def _list_schema(item: CompatSchema) -> CompatSchema:
    return {"type": "array", "items": item}


ENTITY_SCHEMA = object_schema({"name": TEXT_SCHEMA, "entityType": TEXT_SCHEMA, "observations": TEXTS_SCHEMA})
RELATION_SCHEMA = object_schema({"from": TEXT_SCHEMA, "to": TEXT_SCHEMA, "relationType": TEXT_SCHEMA})
ADDITION_SCHEMA = object_schema({"entityName": TEXT_SCHEMA, "contents": TEXTS_SCHEMA})
ADDED_SCHEMA = object_schema({"entityName": TEXT_SCHEMA, "addedObservations": TEXTS_SCHEMA})
DELETION_SCHEMA = object_schema({"entityName": TEXT_SCHEMA, "observations": TEXTS_SCHEMA})
GRAPH_SCHEMA = object_schema({"entities": _list_schema(ENTITY_SCHEMA), "relations": _list_schema(RELATION_SCHEMA)})
STATUS_SCHEMA = object_schema({"success": {"type": "boolean"}, "message": TEXT_SCHEMA})

MAX_QUERY_LENGTH = 2_048

COMPAT_TOOLS = (
    CompatTool(
        "create_entities",
        "Create entities. One whose name is known is skipped; add_observations adds to it.",
        object_schema({"entities": _list_schema(ENTITY_SCHEMA)}),
        object_schema({"entities": _list_schema(ENTITY_SCHEMA)}, {"skipped": TEXTS_SCHEMA}),
    ),
    CompatTool(
        "create_relations",
        "Create relations between entities, in active voice.",
        object_schema({"relations": _list_schema(RELATION_SCHEMA)}),
        object_schema({"relations": _list_schema(RELATION_SCHEMA)}),
    ),
    CompatTool(
        "add_observations",
        "Add observations to entities that are there.",
        object_schema({"observations": _list_schema(ADDITION_SCHEMA)}),
        object_schema({"results": _list_schema(ADDED_SCHEMA)}),
    ),
    CompatTool(
        "delete_entities",
        "Delete entities, their observations and the relations that touch them.",
        object_schema({"entityNames": TEXTS_SCHEMA}),
        STATUS_SCHEMA,
        destroys=True,
        idempotent=True,
    ),
    CompatTool(
        "delete_observations",
        "Delete observations of entities.",
        object_schema({"deletions": _list_schema(DELETION_SCHEMA)}),
        STATUS_SCHEMA,
        destroys=True,
        idempotent=True,
    ),
    CompatTool(
        "delete_relations",
        "Delete relations.",
        object_schema({"relations": _list_schema(RELATION_SCHEMA)}),
        STATUS_SCHEMA,
        destroys=True,
        idempotent=True,
    ),
    CompatTool(
        "read_graph",
        "Read all entities and relations.",
        object_schema({}),
        GRAPH_SCHEMA,
        reads_only=True,
        idempotent=True,
    ),
    CompatTool(
        "search_nodes",
        "Find entities by words in their names, types and observations; where there are none, by meaning.",
        object_schema({"query": {**TEXT_SCHEMA, "maxLength": MAX_QUERY_LENGTH}}),
        GRAPH_SCHEMA,
        reads_only=True,
        idempotent=True,
    ),
    CompatTool(
        "open_nodes",
        "Read entities by name, with the relations that touch them.",
        object_schema({"names": TEXTS_SCHEMA}),
        GRAPH_SCHEMA,
        reads_only=True,
        idempotent=True,
    ),
)


SchemaMapping = Mapping[str, Any]

_PYTHON_TYPES: Mapping[str, type] = {"string": str, "array": list, "object": Mapping, "boolean": bool}


def check_arguments(name: str, schema: SchemaMapping, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was given, if it fits; else an error that names the first part that does not.

    >>> from cofire.mcp.compat_schemas import COMPAT_TOOLS
    >>> check_arguments("open_nodes", COMPAT_TOOLS[-1].takes, {"names": ["Ana"]})
    {'names': ['Ana']}
    """
    problem = _find_mismatch(schema, given, "")
    if problem is not None:
        raise InvalidInput(f"Input validation error: {name}: {problem}.", way_out="Give it as the input schema says.")
    return given


def _find_mismatch(schema: SchemaMapping, value: Any, where: str) -> str | None:
    if not isinstance(value, _PYTHON_TYPES[schema["type"]]):
        return f"{where or 'it'} must be {schema['type']}, not {type(value).__name__}"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"{where} has more than {schema['maxLength']} characters"
    return next((one for one in _find_inner_mismatches(schema, value, where) if one is not None), None)


def _find_inner_mismatches(schema: SchemaMapping, value: Any, where: str) -> list[str | None]:
    """What does not fit among the parts of a list or an object."""
    if schema["type"] == "array":
        return [_find_mismatch(schema["items"], one, f"{where}[{place}]") for place, one in enumerate(value)]
    if schema["type"] != "object":
        return []
    missing: list[str | None] = [
        f"{where} {name} is missing".strip() for name in schema.get("required", ()) if name not in value
    ]
    known = schema["properties"]
    return missing + [
        _find_mismatch(known[name], one, f"{where}.{name}".strip(".")) for name, one in value.items() if name in known
    ]
