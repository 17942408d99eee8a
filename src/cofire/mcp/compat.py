"""The tools and the file format of the official MCP memory server, on a cofire memory."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cofire
from cofire.errors import InvalidInput, NotFound, map_exceptions
from cofire.mcp.handlers import Toolset, strip_recalled_text
from cofire.mcp.served_memory import ServedMemory, ToolAnswer
from cofire.model import Fact

CompatSchema = dict[str, Any]

TEXT_SCHEMA: CompatSchema = {"type": "string"}
TEXTS_SCHEMA: CompatSchema = {"type": "array", "items": TEXT_SCHEMA}


@dataclass(frozen=True, slots=True)
class CompatTool:
    """A tool with the schemas of the official server."""

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
    """The JSON schema of an object with these properties."""
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
        "Create entities. Existing names are skipped; use add_observations for them.",
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
        "Add observations to existing entities.",
        object_schema({"observations": _list_schema(ADDITION_SCHEMA)}),
        object_schema({"results": _list_schema(ADDED_SCHEMA)}),
    ),
    CompatTool(
        "delete_entities",
        "Delete entities with their observations and relations.",
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
        "Find entities by words in names, types and observations; if there are none, by meaning.",
        object_schema({"query": {**TEXT_SCHEMA, "maxLength": MAX_QUERY_LENGTH}}),
        GRAPH_SCHEMA,
        reads_only=True,
        idempotent=True,
    ),
    CompatTool(
        "open_nodes",
        "Read entities by name, with their relations.",
        object_schema({"names": TEXTS_SCHEMA}),
        GRAPH_SCHEMA,
        reads_only=True,
        idempotent=True,
    ),
)


SchemaMapping = Mapping[str, Any]

_PYTHON_TYPES: Mapping[str, type[Any]] = {"string": str, "array": list, "object": Mapping, "boolean": bool}


def check_arguments(name: str, schema: SchemaMapping, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments if they match the schema, else raise an error that names the first mismatch.

    >>> check_arguments("open_nodes", COMPAT_TOOLS[-1].takes, {"names": ["Ana"]})
    {'names': ['Ana']}
    """
    mismatch = _find_mismatch(schema, arguments, "")
    if mismatch is not None:
        raise InvalidInput(f"Input validation error: {name}: {mismatch}.", way_out="Follow the input schema.")
    return arguments


def _find_mismatch(schema: SchemaMapping, value: Any, path: str) -> str | None:
    """The first mismatch in a value or in its parts, depth first."""
    expected: type[Any] = _PYTHON_TYPES[schema["type"]]
    if not isinstance(value, expected):
        return f"{path or 'it'} must be {schema['type']}, not {type(value).__name__}"
    if isinstance(value, str):
        too_long = len(value) > schema.get("maxLength", len(value))
        return f"{path} has more than {schema['maxLength']} characters" if too_long else None
    if schema["type"] == "array":
        mismatches = [_find_mismatch(schema["items"], item, f"{path}[{index}]") for index, item in enumerate(value)]
    elif schema["type"] == "object":
        for name in schema.get("required", ()):
            if name not in value:
                return f"{path} {name} is missing".strip()
        properties = schema["properties"]
        mismatches = [
            _find_mismatch(properties[name], part, f"{path}.{name}".strip("."))
            for name, part in value.items()
            if name in properties
        ]
    else:
        return None
    return next((mismatch for mismatch in mismatches if mismatch is not None), None)


GRAPH_TAG = "knowledge-graph"
# Keys in the metadata of a fact. One fact can be an entity and an observation at once.
ENTITY_ROLE, OBSERVATION_ROLE, RELATION_ROLE = "entity", "observation", "relation"
PAGE_SIZE = 1_000


@dataclass(frozen=True, slots=True)
class CompatEntity:
    """An entity with a name, a type and observations."""

    name: str
    type: str
    observations: tuple[str, ...] = ()

    def values(self) -> dict[str, Any]:
        return {"name": self.name, "entityType": self.type, "observations": list(self.observations)}


@dataclass(frozen=True, slots=True)
class CompatRelation:
    """A relation between two entities."""

    source: str
    target: str
    type: str

    def values(self) -> dict[str, Any]:
        return {"from": self.source, "to": self.target, "relationType": self.type}

    def touches(self, names: Iterable[str]) -> bool:
        return self.source in names or self.target in names


@dataclass(frozen=True)
class CompatGraph:
    """All entities, observations and relations in the order of storing, with their facts."""

    entities: dict[str, Fact] = field(default_factory=dict)
    observations: dict[str, dict[str, Fact]] = field(default_factory=dict)
    relations: dict[CompatRelation, Fact] = field(default_factory=dict)

    def entity(self, name: str) -> CompatEntity:
        type = self.entities[name].metadata[ENTITY_ROLE]
        return CompatEntity(name, type, tuple(self.observations.get(name, ())))

    def values(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """The whole graph, or some entities with their relations."""
        selected = list(self.entities) if names is None else [name for name in self.entities if name in set(names)]
        relations = [relation for relation in self.relations if names is None or relation.touches(selected)]
        return {
            "entities": [self.entity(name).values() for name in selected],
            "relations": [relation.values() for relation in relations],
        }

    def matching(self, words: str) -> list[str]:
        """The names of entities that contain these words in their name, type or an observation."""
        folded = words.casefold()
        return [name for name in self.entities if any(folded in text.casefold() for text in self._texts(name))]

    def _texts(self, name: str) -> list[str]:
        entity = self.entity(name)
        return [entity.name, entity.type, *entity.observations]


async def load_graph(served: ServedMemory) -> CompatGraph:
    """The current graph."""
    graph = CompatGraph()
    for fact in sorted(await _fetch_graph_facts(served), key=lambda fact: fact.id):
        name, roles = fact.subject or "", fact.metadata
        if ENTITY_ROLE in roles:
            graph.entities.setdefault(name, fact)
        if OBSERVATION_ROLE in roles:
            graph.observations.setdefault(name, {})[fact.text] = fact
        if RELATION_ROLE in roles:
            relation = CompatRelation(name, roles[RELATION_ROLE]["to"], roles[RELATION_ROLE]["type"])
            graph.relations[relation] = fact
    return graph


async def _fetch_graph_facts(served: ServedMemory) -> list[Fact]:
    facts: list[Fact] = []
    before: str | None = None
    while page := await served.memory.facts(tags=GRAPH_TAG, scope=served.scope, limit=PAGE_SIZE, before=before):
        facts += page
        before = page[-1].id
    return facts


def make_entity_fact(entity: CompatEntity) -> dict[str, Any]:
    return _make_graph_fact(f"{entity.name} ({entity.type})", entity.name, {ENTITY_ROLE: entity.type})


def make_observation_fact(name: str, text: str) -> dict[str, Any]:
    return _make_graph_fact(text, name, {OBSERVATION_ROLE: True})


def make_relation_fact(relation: CompatRelation) -> dict[str, Any]:
    """Arrows separate the three parts, so that different relations have different texts."""
    text = f"{relation.source} → {relation.type} → {relation.target}"
    metadata = {RELATION_ROLE: {"to": relation.target, "type": relation.type}}
    return _make_graph_fact(text, relation.source, metadata)


def _make_graph_fact(text: str, name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": text, "subject": name, "tags": [GRAPH_TAG], "metadata": metadata}


async def store_facts(served: ServedMemory, facts: list[dict[str, Any]]) -> None:
    """Store facts of the graph; existing ones are recognised."""
    if facts:
        await served.memory.remember(facts, scope=served.scope)


async def remove_roles(served: ServedMemory, facts: Iterable[tuple[Fact, str]]) -> str:
    """Remove a role from each fact, and remove facts without any role left. Return the receipt."""
    ids: list[str] = []
    for fact, role in facts:
        metadata = {name: value for name, value in fact.metadata.items() if name != role}
        if metadata.keys() & {ENTITY_ROLE, OBSERVATION_ROLE, RELATION_ROLE}:
            await served.memory.update(fact.id, metadata=metadata)
        else:
            ids.append(fact.id)
    if not ids:
        return ""
    result = await served.memory.forget(ids, scope=served.scope)
    return result.receipt.id if result.receipt else ""


CompatArguments = Mapping[str, Any]
CompatHandler = Callable[[ServedMemory, CompatArguments], Awaitable[ToolAnswer]]

_INPUT_SCHEMAS = {tool.name: tool.takes for tool in COMPAT_TOOLS}


async def create_entities(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    graph = await load_graph(served)
    new: dict[str, CompatEntity] = {}
    skipped: list[str] = []
    for values in arguments["entities"]:
        entity = parse_entity(values)
        if entity.name in graph.entities or entity.name in new:
            skipped.append(entity.name)
        else:
            new[entity.name] = entity
    await store_facts(served, [fact for entity in new.values() for fact in make_entity_facts(entity)])
    created = [entity.values() for entity in new.values()]
    if not skipped:
        return ToolAnswer(_to_json(created), {"entities": created})
    note = f"Skipped, because they exist: {', '.join(skipped)}. Use add_observations for them."
    return ToolAnswer(_to_json(created), {"entities": created, "skipped": skipped}, besides=note)


def parse_entity(values: CompatArguments) -> CompatEntity:
    """An entity with each observation once and without recalled text."""
    observations = dict.fromkeys(strip_recalled_text(text) for text in values.get("observations", ()))
    return CompatEntity(values["name"], values["entityType"], tuple(observations))


def make_entity_facts(entity: CompatEntity) -> list[dict[str, Any]]:
    observations = [make_observation_fact(entity.name, text) for text in entity.observations]
    return [make_entity_fact(entity), *observations]


def parse_relation(values: CompatArguments) -> CompatRelation:
    return CompatRelation(values["from"], values["to"], values["relationType"])


async def create_relations(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    graph = await load_graph(served)
    relations = dict.fromkeys(parse_relation(values) for values in arguments["relations"])
    for relation in relations:
        _refuse_unknown_entities(graph, relation.source, relation.target)
    new = [relation for relation in relations if relation not in graph.relations]
    await store_facts(served, [make_relation_fact(relation) for relation in new])
    created = [relation.values() for relation in new]
    return ToolAnswer(_to_json(created), {"relations": created})


async def add_observations(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    graph = await load_graph(served)
    additions = arguments["observations"]
    _refuse_unknown_entities(graph, *(addition["entityName"] for addition in additions))
    new: dict[tuple[str, str], None] = {}
    results = [_collect_new_observations(graph, addition, new) for addition in additions]
    await store_facts(served, [make_observation_fact(name, text) for name, text in new])
    return ToolAnswer(_to_json(results), {"results": results})


def _collect_new_observations(
    graph: CompatGraph, addition: CompatArguments, new: dict[tuple[str, str], None]
) -> dict[str, Any]:
    """The observations that an entity lacks. They are added to `new`, so that a later addition does not repeat them."""
    name = addition["entityName"]
    stored = graph.observations.get(name, {})
    texts = dict.fromkeys(strip_recalled_text(text) for text in addition["contents"])
    added = [text for text in texts if text not in stored and (name, text) not in new]
    new.update(((name, text), None) for text in added)
    return {"entityName": name, "addedObservations": added}


def _refuse_unknown_entities(graph: CompatGraph, *names: str) -> None:
    for name in names:
        if name not in graph.entities:
            raise NotFound(f"Entity with name {name} not found.", way_out="Create it first with create_entities.")


async def delete_entities(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    graph = await load_graph(served)
    names = list(dict.fromkeys(arguments["entityNames"]))
    existing = [name for name in names if name in graph.entities]
    roles: list[tuple[Fact, str]] = [(graph.entities[name], ENTITY_ROLE) for name in existing]
    roles += [(fact, OBSERVATION_ROLE) for name in existing for fact in graph.observations.get(name, {}).values()]
    roles += [(fact, RELATION_ROLE) for relation, fact in graph.relations.items() if relation.touches(existing)]
    receipt = await remove_roles(served, roles)
    missing = [name for name in names if name not in existing]
    if not missing:
        return _make_status_answer("Entities deleted successfully", receipt)
    message = f"Deleted {len(existing)} of {len(names)} entities. Not found: {', '.join(missing)}"
    return _make_status_answer(message, receipt)


async def delete_observations(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    graph = await load_graph(served)
    requested = dict.fromkeys(
        (deletion["entityName"], text) for deletion in arguments["deletions"] for text in deletion["observations"]
    )
    existing = [graph.observations[name][text] for name, text in requested if text in graph.observations.get(name, {})]
    receipt = await remove_roles(served, [(fact, OBSERVATION_ROLE) for fact in existing])
    if len(existing) == len(requested):
        return _make_status_answer("Observations deleted successfully", receipt)
    message = f"Deleted {len(existing)} of {len(requested)} observations."
    unknown = [name for name in dict.fromkeys(name for name, _ in requested) if name not in graph.entities]
    if unknown:
        message += f" Entities not found: {', '.join(unknown)}"
    return _make_status_answer(message, receipt)


async def delete_relations(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    graph = await load_graph(served)
    requested = dict.fromkeys(parse_relation(values) for values in arguments["relations"])
    existing = [graph.relations[relation] for relation in requested if relation in graph.relations]
    receipt = await remove_roles(served, [(fact, RELATION_ROLE) for fact in existing])
    if len(existing) == len(requested):
        return _make_status_answer("Relations deleted successfully", receipt)
    message = f"Deleted {len(existing)} of {len(requested)} relations. The others were not found."
    return _make_status_answer(message, receipt)


def _make_status_answer(message: str, receipt: str) -> ToolAnswer:
    """The official message, and a second text with the command that restores the deleted items."""
    note = f"Restore with: cofire undo {receipt}" if receipt else ""
    return ToolAnswer(message, {"success": True, "message": message}, besides=note)


async def read_graph(served: ServedMemory, _: CompatArguments) -> ToolAnswer:
    return _make_graph_answer((await load_graph(served)).values())


async def search_nodes(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    query = arguments["query"]
    graph = await load_graph(served)
    names = graph.matching(query)
    if not names and query.strip():
        recollection = await served.memory.recall(query, scope=served.scope, tags=GRAPH_TAG)
        names = [hit.fact.subject for hit in recollection.hits if hit.fact.subject]
    return _make_graph_answer(graph.values(names))


async def open_nodes(served: ServedMemory, arguments: CompatArguments) -> ToolAnswer:
    return _make_graph_answer((await load_graph(served)).values(arguments["names"]))


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


async def _call_compat_tool(served: ServedMemory, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    return await _COMPAT_HANDLERS[name](served, check_arguments(name, _INPUT_SCHEMAS[name], arguments))


COMPAT_TOOLSET = Toolset(
    COMPAT_TOOLS, _call_compat_tool, "A persistent knowledge graph of entities, observations and relations."
)


_LINE_SCHEMAS = {"entity": ENTITY_SCHEMA, "relation": RELATION_SCHEMA}


@dataclass(frozen=True, slots=True)
class CompatImportResult:
    """The contents of a file, and how much of it is new."""

    entities: int
    observations: int
    relations: int
    new: int


async def import_memory_file(store: str | None, scope: str, path: Path) -> CompatImportResult:
    """Store the contents of a file. The whole file is parsed first, so an invalid line changes nothing."""
    entities, relations = parse_memory_file(path)
    async with cofire.AsyncMemory(store) as memory:
        served = ServedMemory(memory, scope)
        graph = await load_graph(served)
        await store_facts(served, [fact for entity in entities for fact in _list_new_entity_facts(entity, graph)])
        await store_facts(served, [make_relation_fact(relation) for relation in relations])
    observations = sum(len(entity.observations) for entity in entities)
    new = _count_new_items(entities, relations, graph)
    return CompatImportResult(len(entities), observations, len(relations), new)


def _list_new_entity_facts(entity: CompatEntity, graph: CompatGraph) -> list[dict[str, Any]]:
    """The facts of an entity. An existing entity keeps its type."""
    facts = make_entity_facts(entity)
    return facts[1:] if entity.name in graph.entities else facts


def _count_new_items(entities: list[CompatEntity], relations: list[CompatRelation], graph: CompatGraph) -> int:
    names = {entity.name for entity in entities}
    observations = {(entity.name, text) for entity in entities for text in entity.observations}
    stored = {(name, text) for name, texts in graph.observations.items() for text in texts}
    new_relations = set(relations) - graph.relations.keys()
    return len(names - graph.entities.keys()) + len(observations - stored) + len(new_relations)


def parse_memory_file(path: Path) -> tuple[list[CompatEntity], list[CompatRelation]]:
    """The entities and relations of a file, in its order."""
    entities: list[CompatEntity] = []
    relations: list[CompatRelation] = []
    for values in _read_file_lines(path):
        if values["type"] == "entity":
            entities.append(parse_entity(values))
        else:
            relations.append(parse_relation(values))
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


def _parse_file_line(origin: str, line: str) -> Mapping[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise InvalidInput(
            f"{origin} is not valid JSON: {error}.", way_out="Correct the line; nothing was imported."
        ) from error
    kind = values.get("type") if isinstance(values, dict) else None
    if kind not in _LINE_SCHEMAS:
        raise InvalidInput(
            f"{origin} is neither an entity nor a relation.",
            way_out="Give a memory.jsonl. For exports of cofire use: cofire import FILE",
        )
    return check_arguments(origin, _LINE_SCHEMAS[kind], values)
