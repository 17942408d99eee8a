"""The official memory server's file, memory.jsonl, read into a memory. What is known already is recognised."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cofire
from cofire.doors.mcp.compat import graph
from cofire.doors.mcp.compat.acts import entity_of, facts_of, relation_of
from cofire.doors.mcp.compat.checking import checked
from cofire.doors.mcp.compat.graph import Entity, Graph, Relation
from cofire.doors.mcp.compat.tools import ENTITY, RELATION
from cofire.doors.mcp.desk import Desk
from cofire.errors import InvalidInput, map_exceptions

_SHAPES = {"entity": ENTITY, "relation": RELATION}


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file holds, and how much of it was new."""

    entities: int
    observations: int
    relations: int
    new: int


async def import_file(store: str | None, scope: str, path: Path) -> Imported:
    """Read the whole file, then remember all of it: a line that cannot be read leaves memory as it was."""
    entities, relations = parsed(path)
    async with cofire.AsyncMemory(store) as memory:
        desk = Desk(memory, scope)
        known = await graph.read(desk)
        await graph.tell(desk, [fact for entity in entities for fact in _facts(entity, known)])
        await graph.tell(desk, [graph.relation_fact(relation) for relation in relations])
    observations = sum(len(entity.observations) for entity in entities)
    return Imported(len(entities), observations, len(relations), _new(entities, relations, known))


def _facts(entity: Entity, known: Graph) -> list[dict[str, Any]]:
    """An entity that is there keeps its type; what is new of it is added."""
    return facts_of(entity)[1 if entity.name in known.anchors else 0 :]


def _new(entities: list[Entity], relations: list[Relation], known: Graph) -> int:
    names = {entity.name for entity in entities}
    observed = {(entity.name, text) for entity in entities for text in entity.observations}
    had = {(name, text) for name, texts in known.observed.items() for text in texts}
    return len(names - known.anchors.keys()) + len(observed - had) + len(set(relations) - known.relations.keys())


def parsed(path: Path) -> tuple[list[Entity], list[Relation]]:
    """Entities and relations of a file, in its order."""
    entities: list[Entity] = []
    relations: list[Relation] = []
    for given in _lines(path):
        if given["type"] == "entity":
            entities.append(entity_of(given))
        else:
            relations.append(relation_of(given))
    return entities, relations


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with map_exceptions(
        {OSError: InvalidInput, UnicodeDecodeError: InvalidInput},
        problem=f"{path} cannot be read: {{error}}.",
        way_out="Give the memory.jsonl of the official memory server.",
    ):
        lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _line(f"line {number} of {path}", line)


def _line(where: str, line: str) -> Mapping[str, Any]:
    try:
        given = json.loads(line)
    except ValueError as problem:
        raise InvalidInput(
            f"{where} is not JSON: {problem}.", way_out="Mend the line; nothing was imported."
        ) from problem
    kind = given.get("type") if isinstance(given, dict) else None
    if kind not in _SHAPES:
        raise InvalidInput(
            f"{where} is neither an entity nor a relation.",
            way_out="Give a memory.jsonl; cofire import reads exports of cofire.",
        )
    return checked(where, _SHAPES[kind], given)
