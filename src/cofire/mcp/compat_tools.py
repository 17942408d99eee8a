"""The official MCP memory server's tools and file format, on a cofire memory.

What a fact stands for is in its metadata, since one and the same fact can be two of these.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cofire
from cofire.errors import InvalidInput, NotFound, map_exceptions
from cofire.mcp.compat_schemas import COMPAT_TOOLS, ENTITY_SCHEMA, RELATION_SCHEMA, check_arguments
from cofire.mcp.handlers import Toolset, strip_recalled_text
from cofire.mcp.served_memory import ServedMemory, ToolAnswer
from cofire.model import Fact

GRAPH_TAG = "knowledge-graph"
ENTITY_ROLE, OBSERVATION_ROLE, RELATION_ROLE = "entity", "observation", "relation"
PAGE_SIZE = 1_000


@dataclass(frozen=True, slots=True)
class CompatEntity:
    """Something with a name and a type, and what was observed of it."""

    name: str
    type: str
    observations: tuple[str, ...] = ()

    def values(self) -> dict[str, Any]:
        return {"name": self.name, "entityType": self.type, "observations": list(self.observations)}


@dataclass(frozen=True, slots=True)
class CompatRelation:
    """How one entity stands to another."""

    source: str
    target: str
    type: str

    def values(self) -> dict[str, Any]:
        return {"from": self.source, "to": self.target, "relationType": self.type}

    def touches(self, names: Iterable[str]) -> bool:
        return self.source in names or self.target in names


@dataclass(frozen=True)
class CompatGraph:
    """All entities and relations, in the order in which they were told, with the facts that they are."""

    anchors: dict[str, Fact] = field(default_factory=dict)
    observed: dict[str, dict[str, Fact]] = field(default_factory=dict)
    relations: dict[CompatRelation, Fact] = field(default_factory=dict)

    def entity(self, name: str) -> CompatEntity:
        observed = () if name not in self.observed else tuple(self.observed[name])
        return CompatEntity(name, self.anchors[name].metadata[ENTITY_ROLE], observed)

    def values(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """The whole graph, or some entities with the relations that touch them."""
        wanted = list(self.anchors) if names is None else [name for name in self.anchors if name in set(names)]
        touching = [one for one in self.relations if names is None or one.touches(wanted)]
        return {
            "entities": [self.entity(name).values() for name in wanted],
            "relations": [relation.values() for relation in touching],
        }

    def matching(self, words: str) -> list[str]:
        """Names of the entities that say these words: in their name, their type or an observation."""
        sought = words.casefold()
        return [name for name in self.anchors if any(sought in said.casefold() for said in self._said(name))]

    def _said(self, name: str) -> list[str]:
        entity = self.entity(name)
        return [entity.name, entity.type, *entity.observations]


async def load_graph(desk: ServedMemory) -> CompatGraph:
    """The graph as it is now."""
    graph = CompatGraph()
    for fact in sorted(await _fetch_graph_facts(desk), key=lambda fact: fact.id):
        name, said = fact.subject or "", fact.metadata
        if ENTITY_ROLE in said:
            graph.anchors.setdefault(name, fact)
        if OBSERVATION_ROLE in said:
            graph.observed.setdefault(name, {})[fact.text] = fact
        if RELATION_ROLE in said:
            graph.relations[CompatRelation(name, said[RELATION_ROLE]["to"], said[RELATION_ROLE]["type"])] = fact
    return graph


async def _fetch_graph_facts(desk: ServedMemory) -> list[Fact]:
    found: list[Fact] = []
    before: str | None = None
    while page := await desk.memory.facts(tags=GRAPH_TAG, scope=desk.scope, limit=PAGE_SIZE, before=before):
        found += page
        before = page[-1].id
    return found


def make_entity_fact(entity: CompatEntity) -> dict[str, Any]:
    return _make_graph_fact(f"{entity.name} ({entity.type})", entity.name, {ENTITY_ROLE: entity.type})


def make_observation_fact(name: str, text: str) -> dict[str, Any]:
    return _make_graph_fact(text, name, {OBSERVATION_ROLE: True})


def make_relation_fact(relation: CompatRelation) -> dict[str, Any]:
    """With arrows, so that no two relations read alike, wherever their words begin."""
    said = {"to": relation.target, "type": relation.type}
    return _make_graph_fact(
        f"{relation.source} → {relation.type} → {relation.target}", relation.source, {RELATION_ROLE: said}
    )


def _make_graph_fact(text: str, name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": text, "subject": name, "tags": [GRAPH_TAG], "metadata": metadata}


async def store_facts(desk: ServedMemory, facts: list[dict[str, Any]]) -> None:
    """Remember facts of the graph; those it has already are recognised."""
    if facts:
        await desk.memory.remember(facts, scope=desk.scope)


async def remove_roles(desk: ServedMemory, facts: Iterable[tuple[Fact, str]]) -> str:
    """Let facts no longer stand for something, and forget those that then stand for nothing; returns the receipt."""
    gone: list[str] = []
    for fact, role in facts:
        rest = {name: value for name, value in fact.metadata.items() if name != role}
        if rest.keys() & {ENTITY_ROLE, OBSERVATION_ROLE, RELATION_ROLE}:
            await desk.memory.update(fact.id, metadata=rest)
        else:
            gone.append(fact.id)
    if not gone:
        return ""
    forgotten = await desk.memory.forget(gone, scope=desk.scope)
    return forgotten.receipt.id if forgotten.receipt else ""


CompatArguments = Mapping[str, Any]
CompatHandler = Callable[[ServedMemory, CompatArguments], Awaitable[ToolAnswer]]

_INPUT_SCHEMAS = {tool.name: tool.takes for tool in COMPAT_TOOLS}


async def create_entities(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    known = await load_graph(desk)
    new: dict[str, CompatEntity] = {}
    skipped: list[str] = []
    for given in said["entities"]:
        entity = parse_entity(given)
        if entity.name in known.anchors or entity.name in new:
            skipped.append(entity.name)
        else:
            new[entity.name] = entity
    await store_facts(desk, [fact for entity in new.values() for fact in make_entity_facts(entity)])
    created = [entity.values() for entity in new.values()]
    structured = {"entities": created, **({"skipped": skipped} if skipped else {})}
    return ToolAnswer(_to_json(created), structured, besides=_describe_skipped(skipped))


def parse_entity(given: CompatArguments) -> CompatEntity:
    """An entity as it was given, each observation once, and none that recall gave."""
    observations = dict.fromkeys(strip_recalled_text(text) for text in given.get("observations", ()))
    return CompatEntity(given["name"], given["entityType"], tuple(observations))


def make_entity_facts(entity: CompatEntity) -> list[dict[str, Any]]:
    observed = [make_observation_fact(entity.name, text) for text in entity.observations]
    return [make_entity_fact(entity), *observed]


def parse_relation(given: CompatArguments) -> CompatRelation:
    return CompatRelation(given["from"], given["to"], given["relationType"])


def _describe_skipped(names: list[str]) -> str:
    if not names:
        return ""
    return f"Skipped, since they are there already: {', '.join(names)}. Add to them with add_observations."


async def create_relations(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    known = await load_graph(desk)
    given = dict.fromkeys(parse_relation(one) for one in said["relations"])
    for relation in given:
        _refuse_unknown_entities(known, relation.source, relation.target)
    new = [relation for relation in given if relation not in known.relations]
    await store_facts(desk, [make_relation_fact(relation) for relation in new])
    created = [relation.values() for relation in new]
    return ToolAnswer(_to_json(created), {"relations": created})


async def add_observations(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    known = await load_graph(desk)
    _refuse_unknown_entities(known, *(one["entityName"] for one in said["observations"]))
    new: dict[tuple[str, str], None] = {}
    results = [_collect_new_observations(known, one, new) for one in said["observations"]]
    await store_facts(desk, [make_observation_fact(name, text) for name, text in new])
    return ToolAnswer(_to_json(results), {"results": results})


def _collect_new_observations(
    known: CompatGraph, one: CompatArguments, new: dict[tuple[str, str], None]
) -> dict[str, Any]:
    """What an entity did not have yet; it is noted in `new`, so that the next does not add it again."""
    name = one["entityName"]
    texts = [strip_recalled_text(text) for text in one["contents"]]
    fresh = [
        text for text in dict.fromkeys(texts) if text not in known.observed.get(name, {}) and (name, text) not in new
    ]
    new.update(((name, text), None) for text in fresh)
    return {"entityName": name, "addedObservations": fresh}


def _refuse_unknown_entities(known: CompatGraph, *names: str) -> None:
    for name in names:
        if name not in known.anchors:
            raise NotFound(f"Entity with name {name} not found.", way_out="Create it first with create_entities.")


async def delete_entities(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    known, names = await load_graph(desk), list(dict.fromkeys(said["entityNames"]))
    there = [name for name in names if name in known.anchors]
    doomed: list[tuple[Fact, str]] = [(known.anchors[name], ENTITY_ROLE) for name in there]
    doomed += [(fact, OBSERVATION_ROLE) for name in there for fact in known.observed.get(name, {}).values()]
    doomed += [(fact, RELATION_ROLE) for relation, fact in known.relations.items() if relation.touches(there)]
    receipt = await remove_roles(desk, doomed)
    missing = [name for name in names if name not in there]
    told = f"Deleted {len(there)} of {len(names)} entities. Not found: {', '.join(missing)}"
    return _make_status_answer("Entities deleted successfully" if not missing else told, receipt)


async def delete_observations(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    known = await load_graph(desk)
    wanted = dict.fromkeys((one["entityName"], text) for one in said["deletions"] for text in one["observations"])
    there = [known.observed[name][text] for name, text in wanted if text in known.observed.get(name, {})]
    receipt = await remove_roles(desk, [(fact, OBSERVATION_ROLE) for fact in there])
    strangers = [name for name in dict.fromkeys(name for name, _ in wanted) if name not in known.anchors]
    told = f"Deleted {len(there)} of {len(wanted)} observations."
    told += f" Entities not found: {', '.join(strangers)}" if strangers else ""
    return _make_status_answer("Observations deleted successfully" if len(there) == len(wanted) else told, receipt)


async def delete_relations(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    known = await load_graph(desk)
    wanted = dict.fromkeys(parse_relation(one) for one in said["relations"])
    there = [known.relations[relation] for relation in wanted if relation in known.relations]
    receipt = await remove_roles(desk, [(fact, RELATION_ROLE) for fact in there])
    told = f"Deleted {len(there)} of {len(wanted)} relations. The rest matched nothing."
    return _make_status_answer("Relations deleted successfully" if len(there) == len(wanted) else told, receipt)


def _make_status_answer(message: str, receipt: str) -> ToolAnswer:
    """The official server cannot bring anything back; here a second text tells how."""
    besides = f"It comes back with: cofire undo {receipt}" if receipt else ""
    return ToolAnswer(message, {"success": True, "message": message}, besides)


async def read_graph(desk: ServedMemory, _: CompatArguments) -> ToolAnswer:
    return _make_graph_answer((await load_graph(desk)).values())


async def search_nodes(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    known = await load_graph(desk)
    return _make_graph_answer(known.values(known.matching(said["query"]) or await _recall_names(desk, said["query"])))


async def _recall_names(desk: ServedMemory, query: str) -> list[str]:
    """Names that recall leads to, where no entity has the very words."""
    if not query.strip():
        return []
    found = await desk.memory.recall(query, scope=desk.scope, tags=GRAPH_TAG)
    return [hit.fact.subject for hit in found.hits if hit.fact.subject]


async def open_nodes(desk: ServedMemory, said: CompatArguments) -> ToolAnswer:
    return _make_graph_answer((await load_graph(desk)).values(said["names"]))


def _make_graph_answer(values: dict[str, Any]) -> ToolAnswer:
    return ToolAnswer(_to_json(values), values)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


_COMPAT_HANDLERS: Mapping[str, CompatHandler] = MappingProxyType(
    {
        "create_entities": create_entities,
        "create_relations": create_relations,
        "add_observations": add_observations,
        "delete_entities": delete_entities,
        "delete_observations": delete_observations,
        "delete_relations": delete_relations,
        "read_graph": read_graph,
        "search_nodes": search_nodes,
        "open_nodes": open_nodes,
    }
)


async def _call_compat_tool(desk: ServedMemory, name: str, given: Mapping[str, Any]) -> ToolAnswer:
    return await _COMPAT_HANDLERS[name](desk, check_arguments(name, _INPUT_SCHEMAS[name], given))


COMPAT_TOOLSET = Toolset(
    COMPAT_TOOLS, _call_compat_tool, "A knowledge graph that persists: entities, observations and relations."
)


_LINE_SCHEMAS = {"entity": ENTITY_SCHEMA, "relation": RELATION_SCHEMA}


@dataclass(frozen=True, slots=True)
class CompatImportResult:
    """What a file holds, and how much of it was new."""

    entities: int
    observations: int
    relations: int
    new: int


async def import_memory_file(store: str | None, scope: str, path: Path) -> CompatImportResult:
    """Read the whole file, then remember all of it: a line that cannot be read leaves memory as it was."""
    entities, relations = parse_memory_file(path)
    async with cofire.AsyncMemory(store) as memory:
        desk = ServedMemory(memory, scope)
        known = await load_graph(desk)
        await store_facts(desk, [fact for entity in entities for fact in _list_new_entity_facts(entity, known)])
        await store_facts(desk, [make_relation_fact(relation) for relation in relations])
    observations = sum(len(entity.observations) for entity in entities)
    return CompatImportResult(len(entities), observations, len(relations), _count_new_items(entities, relations, known))


def _list_new_entity_facts(entity: CompatEntity, known: CompatGraph) -> list[dict[str, Any]]:
    """An entity that is there keeps its type; what is new of it is added."""
    return make_entity_facts(entity)[1 if entity.name in known.anchors else 0 :]


def _count_new_items(entities: list[CompatEntity], relations: list[CompatRelation], known: CompatGraph) -> int:
    names = {entity.name for entity in entities}
    observed = {(entity.name, text) for entity in entities for text in entity.observations}
    had = {(name, text) for name, texts in known.observed.items() for text in texts}
    return len(names - known.anchors.keys()) + len(observed - had) + len(set(relations) - known.relations.keys())


def parse_memory_file(path: Path) -> tuple[list[CompatEntity], list[CompatRelation]]:
    """Entities and relations of a file, in its order."""
    entities: list[CompatEntity] = []
    relations: list[CompatRelation] = []
    for given in _read_file_lines(path):
        if given["type"] == "entity":
            entities.append(parse_entity(given))
        else:
            relations.append(parse_relation(given))
    return entities, relations


def _read_file_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with map_exceptions(
        {OSError: InvalidInput, UnicodeDecodeError: InvalidInput},
        problem=f"{path} cannot be read: {{error}}.",
        way_out="Give the memory.jsonl of the official memory server.",
    ):
        lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _parse_file_line(f"line {number} of {path}", line)


def _parse_file_line(where: str, line: str) -> Mapping[str, Any]:
    try:
        given = json.loads(line)
    except ValueError as problem:
        raise InvalidInput(
            f"{where} is not JSON: {problem}.", way_out="Mend the line; nothing was imported."
        ) from problem
    kind = given.get("type") if isinstance(given, dict) else None
    if kind not in _LINE_SCHEMAS:
        raise InvalidInput(
            f"{where} is neither an entity nor a relation.",
            way_out="Give a memory.jsonl; cofire import reads exports of cofire.",
        )
    return check_arguments(where, _LINE_SCHEMAS[kind], given)
