"""A graph of entities as facts: an entity is a subject, an observation a fact about it, a relation a fact that names another.

What a fact stands for is in its metadata, since one and the same fact can be two of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cofire.doors.mcp.desk import Desk
from cofire.model import Fact

TAG = "knowledge-graph"
ENTITY, OBSERVATION, RELATION = "entity", "observation", "relation"
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a name and a type, and what was observed of it."""

    name: str
    type: str
    observations: tuple[str, ...] = ()

    def values(self) -> dict[str, Any]:
        return {"name": self.name, "entityType": self.type, "observations": list(self.observations)}


@dataclass(frozen=True, slots=True)
class Relation:
    """How one entity stands to another."""

    source: str
    target: str
    type: str

    def values(self) -> dict[str, Any]:
        return {"from": self.source, "to": self.target, "relationType": self.type}

    def touches(self, names: Iterable[str]) -> bool:
        return self.source in names or self.target in names


@dataclass(frozen=True)
class Graph:
    """All entities and relations, in the order in which they were told, with the facts that they are."""

    anchors: dict[str, Fact] = field(default_factory=dict)
    observed: dict[str, dict[str, Fact]] = field(default_factory=dict)
    relations: dict[Relation, Fact] = field(default_factory=dict)

    def entity(self, name: str) -> Entity:
        observed = () if name not in self.observed else tuple(self.observed[name])
        return Entity(name, self.anchors[name].metadata[ENTITY], observed)

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


async def read(desk: Desk) -> Graph:
    """The graph as it is now."""
    graph = Graph()
    for fact in sorted(await _facts(desk), key=lambda fact: fact.id):
        name, said = fact.subject or "", fact.metadata
        if ENTITY in said:
            graph.anchors.setdefault(name, fact)
        if OBSERVATION in said:
            graph.observed.setdefault(name, {})[fact.text] = fact
        if RELATION in said:
            graph.relations[Relation(name, said[RELATION]["to"], said[RELATION]["type"])] = fact
    return graph


async def _facts(desk: Desk) -> list[Fact]:
    found: list[Fact] = []
    before: str | None = None
    while page := await desk.memory.facts(tags=TAG, scope=desk.scope, limit=PAGE, before=before):
        found += page
        before = page[-1].id
    return found


def entity_fact(entity: Entity) -> dict[str, Any]:
    return _fact(f"{entity.name} ({entity.type})", entity.name, {ENTITY: entity.type})


def observation_fact(name: str, text: str) -> dict[str, Any]:
    return _fact(text, name, {OBSERVATION: True})


def relation_fact(relation: Relation) -> dict[str, Any]:
    """With arrows, so that no two relations read alike, wherever their words begin."""
    said = {"to": relation.target, "type": relation.type}
    return _fact(f"{relation.source} → {relation.type} → {relation.target}", relation.source, {RELATION: said})


def _fact(text: str, name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": text, "subject": name, "tags": [TAG], "metadata": metadata}


async def tell(desk: Desk, facts: list[dict[str, Any]]) -> None:
    """Remember facts of the graph; those it has already are recognised."""
    if facts:
        await desk.memory.remember(facts, scope=desk.scope)


async def take(desk: Desk, facts: Iterable[tuple[Fact, str]]) -> str:
    """Let facts no longer stand for something, and forget those that then stand for nothing; returns the receipt."""
    gone: list[str] = []
    for fact, role in facts:
        rest = {name: value for name, value in fact.metadata.items() if name != role}
        if rest.keys() & {ENTITY, OBSERVATION, RELATION}:
            await desk.memory.update(fact.id, metadata=rest)
        else:
            gone.append(fact.id)
    if not gone:
        return ""
    forgotten = await desk.memory.forget(gone, scope=desk.scope)
    return forgotten.receipt.id if forgotten.receipt else ""
