"""What each of the nine tools does. Text and values are those of the official server; a second text says what it would not."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from cofire.doors.mcp.compat import graph
from cofire.doors.mcp.compat.checking import checked
from cofire.doors.mcp.compat.graph import Entity, Graph, Relation
from cofire.doors.mcp.compat.tools import COMPAT_TOOLS
from cofire.doors.mcp.desk import Answer, Desk
from cofire.doors.mcp.remembering import own_words
from cofire.doors.mcp.toolsets import Toolset
from cofire.errors import NotFound
from cofire.model import Fact

Said = Mapping[str, Any]
Act = Callable[[Desk, Said], Awaitable[Answer]]

_TAKES = {tool.name: tool.takes for tool in COMPAT_TOOLS}


async def create_entities(desk: Desk, said: Said) -> Answer:
    known = await graph.read(desk)
    new: dict[str, Entity] = {}
    skipped: list[str] = []
    for given in said["entities"]:
        entity = entity_of(given)
        if entity.name in known.anchors or entity.name in new:
            skipped.append(entity.name)
        else:
            new[entity.name] = entity
    await graph.tell(desk, [fact for entity in new.values() for fact in facts_of(entity)])
    created = [entity.values() for entity in new.values()]
    structured = {"entities": created, **({"skipped": skipped} if skipped else {})}
    return Answer(_json(created), structured, besides=_skipped(skipped))


def entity_of(given: Said) -> Entity:
    """An entity as it was given, each observation once, and none that recall gave."""
    observations = dict.fromkeys(own_words(text) for text in given.get("observations", ()))
    return Entity(given["name"], given["entityType"], tuple(observations))


def facts_of(entity: Entity) -> list[dict[str, Any]]:
    observed = [graph.observation_fact(entity.name, text) for text in entity.observations]
    return [graph.entity_fact(entity), *observed]


def relation_of(given: Said) -> Relation:
    return Relation(given["from"], given["to"], given["relationType"])


def _skipped(names: list[str]) -> str:
    if not names:
        return ""
    return f"Skipped, since they are there already: {', '.join(names)}. Add to them with add_observations."


async def create_relations(desk: Desk, said: Said) -> Answer:
    known = await graph.read(desk)
    given = dict.fromkeys(relation_of(one) for one in said["relations"])
    for relation in given:
        _refuse_strangers(known, relation.source, relation.target)
    new = [relation for relation in given if relation not in known.relations]
    await graph.tell(desk, [graph.relation_fact(relation) for relation in new])
    created = [relation.values() for relation in new]
    return Answer(_json(created), {"relations": created})


async def add_observations(desk: Desk, said: Said) -> Answer:
    known = await graph.read(desk)
    _refuse_strangers(known, *(one["entityName"] for one in said["observations"]))
    new: dict[tuple[str, str], None] = {}
    results = [_added(known, one, new) for one in said["observations"]]
    await graph.tell(desk, [graph.observation_fact(name, text) for name, text in new])
    return Answer(_json(results), {"results": results})


def _added(known: Graph, one: Said, new: dict[tuple[str, str], None]) -> dict[str, Any]:
    """What an entity did not have yet; it is noted in `new`, so that the next does not add it again."""
    name = one["entityName"]
    texts = [own_words(text) for text in one["contents"]]
    fresh = [
        text for text in dict.fromkeys(texts) if text not in known.observed.get(name, {}) and (name, text) not in new
    ]
    new.update(((name, text), None) for text in fresh)
    return {"entityName": name, "addedObservations": fresh}


def _refuse_strangers(known: Graph, *names: str) -> None:
    for name in names:
        if name not in known.anchors:
            raise NotFound(f"Entity with name {name} not found.", way_out="Create it first with create_entities.")


async def delete_entities(desk: Desk, said: Said) -> Answer:
    known, names = await graph.read(desk), list(dict.fromkeys(said["entityNames"]))
    there = [name for name in names if name in known.anchors]
    doomed: list[tuple[Fact, str]] = [(known.anchors[name], graph.ENTITY) for name in there]
    doomed += [(fact, graph.OBSERVATION) for name in there for fact in known.observed.get(name, {}).values()]
    doomed += [(fact, graph.RELATION) for relation, fact in known.relations.items() if relation.touches(there)]
    receipt = await graph.take(desk, doomed)
    missing = [name for name in names if name not in there]
    told = f"Deleted {len(there)} of {len(names)} entities. Not found: {', '.join(missing)}"
    return _done("Entities deleted successfully" if not missing else told, receipt)


async def delete_observations(desk: Desk, said: Said) -> Answer:
    known = await graph.read(desk)
    wanted = dict.fromkeys((one["entityName"], text) for one in said["deletions"] for text in one["observations"])
    there = [known.observed[name][text] for name, text in wanted if text in known.observed.get(name, {})]
    receipt = await graph.take(desk, [(fact, graph.OBSERVATION) for fact in there])
    strangers = [name for name in dict.fromkeys(name for name, _ in wanted) if name not in known.anchors]
    told = f"Deleted {len(there)} of {len(wanted)} observations."
    told += f" Entities not found: {', '.join(strangers)}" if strangers else ""
    return _done("Observations deleted successfully" if len(there) == len(wanted) else told, receipt)


async def delete_relations(desk: Desk, said: Said) -> Answer:
    known = await graph.read(desk)
    wanted = dict.fromkeys(relation_of(one) for one in said["relations"])
    there = [known.relations[relation] for relation in wanted if relation in known.relations]
    receipt = await graph.take(desk, [(fact, graph.RELATION) for fact in there])
    told = f"Deleted {len(there)} of {len(wanted)} relations. The rest matched nothing."
    return _done("Relations deleted successfully" if len(there) == len(wanted) else told, receipt)


def _done(message: str, receipt: str) -> Answer:
    """The official server cannot bring anything back; here a second text tells how."""
    besides = f"It comes back with: cofire undo {receipt}" if receipt else ""
    return Answer(message, {"success": True, "message": message}, besides)


async def read_graph(desk: Desk, _: Said) -> Answer:
    return _shown((await graph.read(desk)).values())


async def search_nodes(desk: Desk, said: Said) -> Answer:
    known = await graph.read(desk)
    return _shown(known.values(known.matching(said["query"]) or await _recalled(desk, said["query"])))


async def _recalled(desk: Desk, query: str) -> list[str]:
    """Names that recall leads to, where no entity has the very words."""
    if not query.strip():
        return []
    found = await desk.memory.recall(query, scope=desk.scope, tags=graph.TAG)
    return [hit.fact.subject for hit in found.hits if hit.fact.subject]


async def open_nodes(desk: Desk, said: Said) -> Answer:
    return _shown((await graph.read(desk)).values(said["names"]))


def _shown(values: dict[str, Any]) -> Answer:
    return Answer(_json(values), values)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


_ACTS: Mapping[str, Act] = MappingProxyType(
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


async def _answer(desk: Desk, name: str, given: Mapping[str, Any]) -> Answer:
    return await _ACTS[name](desk, checked(name, _TAKES[name], given))


COMPAT = Toolset(COMPAT_TOOLS, _answer, "A knowledge graph that persists: entities, observations and relations.")
