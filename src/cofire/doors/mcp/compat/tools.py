"""The nine tools of the official memory server as data: the same names, and the same shapes in and out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}


@dataclass(frozen=True, slots=True)
class CompatTool:
    """A tool with the schemas that clients of the official server know."""

    name: str
    what: str
    takes: Schema
    gives: Schema
    reads_only: bool = False
    destroys: bool = False
    idempotent: bool = False

    def input_schema(self) -> Schema:
        return self.takes

    def output_schema(self) -> Schema:
        return self.gives


def thing(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """The schema of an object that has these parts."""
    schema: Schema = {"type": "object", "properties": {**required, **(optional or {})}}
    return {**schema, "required": list(required)} if required else schema


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


ENTITY = thing({"name": TEXT, "entityType": TEXT, "observations": TEXTS})
RELATION = thing({"from": TEXT, "to": TEXT, "relationType": TEXT})
ADDITION = thing({"entityName": TEXT, "contents": TEXTS})
ADDED = thing({"entityName": TEXT, "addedObservations": TEXTS})
DELETION = thing({"entityName": TEXT, "observations": TEXTS})
GRAPH = thing({"entities": _list_of(ENTITY), "relations": _list_of(RELATION)})
STATUS = thing({"success": {"type": "boolean"}, "message": TEXT})

LONGEST_QUERY = 2_048

COMPAT_TOOLS = (
    CompatTool(
        "create_entities",
        "Create entities. One whose name is known is skipped; add_observations adds to it.",
        thing({"entities": _list_of(ENTITY)}),
        thing({"entities": _list_of(ENTITY)}, {"skipped": TEXTS}),
    ),
    CompatTool(
        "create_relations",
        "Create relations between entities, in active voice.",
        thing({"relations": _list_of(RELATION)}),
        thing({"relations": _list_of(RELATION)}),
    ),
    CompatTool(
        "add_observations",
        "Add observations to entities that are there.",
        thing({"observations": _list_of(ADDITION)}),
        thing({"results": _list_of(ADDED)}),
    ),
    CompatTool(
        "delete_entities",
        "Delete entities, their observations and the relations that touch them.",
        thing({"entityNames": TEXTS}),
        STATUS,
        destroys=True,
        idempotent=True,
    ),
    CompatTool(
        "delete_observations",
        "Delete observations of entities.",
        thing({"deletions": _list_of(DELETION)}),
        STATUS,
        destroys=True,
        idempotent=True,
    ),
    CompatTool(
        "delete_relations",
        "Delete relations.",
        thing({"relations": _list_of(RELATION)}),
        STATUS,
        destroys=True,
        idempotent=True,
    ),
    CompatTool("read_graph", "Read all entities and relations.", thing({}), GRAPH, reads_only=True, idempotent=True),
    CompatTool(
        "search_nodes",
        "Find entities by words in their names, types and observations; where there are none, by meaning.",
        thing({"query": {**TEXT, "maxLength": LONGEST_QUERY}}),
        GRAPH,
        reads_only=True,
        idempotent=True,
    ),
    CompatTool(
        "open_nodes",
        "Read entities by name, with the relations that touch them.",
        thing({"names": TEXTS}),
        GRAPH,
        reads_only=True,
        idempotent=True,
    ),
)
