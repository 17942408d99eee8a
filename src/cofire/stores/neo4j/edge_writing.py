"""Edges in Cypher: they come, change, end and come again. Inside a transaction of somebody else.

Who writes edges locks the facts at their ends, looks at what is there, decides here, and writes all that changed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from cofire.errors import InvalidInput, NotFound
from cofire.model import Edge, EdgeCounts, NewEdge
from cofire.stores.index.moments import stamp, stamp_or_none
from cofire.stores.neo4j.querying import Query, Querying, Row

CONFIDENCE_STEP = 0.05

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class End:
    """What an edge has to know of a fact at its end."""

    scope: str
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class Stored:
    """An edge as its relationship has it, besides its ends, its kind and its anchor."""

    weight: float | None
    confidence: float | None
    tags: tuple[str, ...]
    origin: str
    co_access_count: int
    created: int
    seen: int | None
    ended: int | None

    @property
    def said(self) -> tuple[float | None, float | None, tuple[str, ...], str]:
        return self.weight, self.confidence, self.tags, self.origin

    @property
    def parts(self) -> dict[str, Any]:
        """Its properties; what is None takes one away."""
        return asdict(self) | {"tags": list(self.tags) or None}


@dataclass
class Ground:
    """The facts at the ends of some edges, the edges as they are, and those that changed."""

    ends: Mapping[str, End]
    edges: dict[Key, Stored]
    changed: dict[Key, Stored] = field(default_factory=dict)

    def holds(self, key: Key) -> Stored | None:
        """An edge that has not ended."""
        found = self.edges.get(key)
        return found if found and found.ended is None else None

    def put(self, key: Key, edge: Stored) -> None:
        self.edges[key] = self.changed[key] = edge


def ground(keys: Iterable[Key]) -> Querying[Ground]:
    """Lock the ends of edges and look at these."""
    wanted = sorted(set(keys))
    ids = sorted({id for key in wanted for id in key[:2]})
    ends = yield Query(_LOCKED, {"ids": ids})
    edges = yield Query(_EDGES, {"keys": [list(key) for key in wanted]})
    return Ground(
        {id: End(scope, frozenset(tags or ())) for id, scope, tags in ends},
        {(row[0], row[1], row[2]): _stored(row) for row in edges},
    )


# Locked by a mark in the order of ids, so that two who write about the same facts wait for one another in turn.
_LOCKED = """
CALL () { UNWIND $ids AS id MATCH (f:Fact {id: id}) SET f.locked = true RETURN collect(f.id) AS locked }
MATCH (f:Fact) WHERE f.id IN locked RETURN [f.id, f.scope, f.tags] AS row
"""
_EDGES = """
UNWIND $keys AS key MATCH (a:Fact {id: key[0]}), (b:Fact {id: key[1]}) MATCH (a)-[e:LINKS]->(b) WHERE e.kind = key[2]
RETURN [a.id, b.id, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.created, e.seen, e.ended] AS row
"""


def _stored(row: Row) -> Stored:
    weight, confidence, tags, origin, count, created, seen, ended = row[3:]
    return Stored(weight, confidence, tuple(tags or ()), origin, count, created, seen, ended)


def keep(ground: Ground) -> Querying[None]:
    """Write what changed, and unlock."""
    rows = [
        {"source": source, "target": target, "kind": kind, "parts": edge.parts}
        for (source, target, kind), edge in sorted(ground.changed.items())
    ]
    yield Query(_KEEP, {"rows": rows, "ids": sorted(ground.ends)})


_KEEP = """
CALL () {
  UNWIND $rows AS r MATCH (a:Fact {id: r.source}), (b:Fact {id: r.target})
  MERGE (a)-[e:LINKS {kind: r.kind}]->(b) SET e += r.parts
}
MATCH (f:Fact) WHERE f.id IN $ids REMOVE f.locked
"""


def write_edges(edges: Sequence[NewEdge], ended: Sequence[Edge], now: datetime) -> Querying[EdgeCounts]:
    """Edges end, come and change; the counts are of those really touched."""
    if not edges and not ended:
        return EdgeCounts()
    at = yield from ground(_key(edge) for edge in (*ended, *(new.edge for new in edges)))
    gone = sum(_end(at, _key(edge), now) for edge in ended)
    outcomes = [_write(at, new, now) for new in edges]
    yield from keep(at)
    return EdgeCounts(outcomes.count("new"), outcomes.count("changed"), gone)


def _key(edge: Edge) -> Key:
    return edge.source, edge.target, edge.kind


def _end(at: Ground, key: Key, now: datetime) -> int:
    """An edge that ends is seen no more, but it stays: it may be written again."""
    known = at.holds(key)
    if known is None:
        return 0
    at.put(key, replace(known, ended=stamp(now)))
    return 1


def _write(at: Ground, new: NewEdge, now: datetime) -> str:
    edge = new.edge
    missing = [id for id in (edge.source, edge.target) if id not in at.ends]
    if missing and new.own:
        return "gone"
    if missing:
        raise NotFound(f"No fact has the id {missing[0]}.", way_out="List the ids with: cofire list")
    if at.ends[edge.source].scope != at.ends[edge.target].scope:
        raise InvalidInput("The two facts are of different scopes.", way_out="Connect facts of one scope.")
    known = at.edges.get(_key(edge))
    if known is not None and known.ended is None:
        return _meet(at, new, known, now)
    at.put(_key(edge), _fresh(edge, now) if known is None else _again(known, edge, _fresh(edge, now), now))
    return "new"


def _fresh(edge: Edge, now: datetime) -> Stored:
    said = (edge.weight, edge.confidence, tuple(sorted(edge.tags)), edge.origin, edge.co_access_count)
    return Stored(*said, created=stamp(now), seen=stamp_or_none(edge.strengthened), ended=None)


def _again(known: Stored, edge: Edge, said: Stored, now: datetime) -> Stored:
    """Other values hold from now on. What use counted of an edge stays, or comes with one that was counted elsewhere."""
    count = max(known.co_access_count, edge.co_access_count)
    seen = stamp(edge.strengthened or now)
    return replace(said, co_access_count=count, created=known.created, seen=seen, ended=None)


def _meet(at: Ground, new: NewEdge, known: Stored, now: datetime) -> str:
    """The edge is there already: do what its mode says."""
    edge = new.edge
    if new.mode == "error":
        raise InvalidInput(
            f"{edge.source} and {edge.target} are connected by {edge.kind} already.",
            way_out="Use mode reinforce, update or skip.",
        )
    said = _fresh(edge, now)
    more = edge.co_access_count > known.co_access_count
    timed = said.seen not in (None, known.seen)
    if new.mode == "skip" or (new.mode == "update" and said.said == known.said and not more and not timed):
        return "same"
    at.put(_key(edge), _again(known, edge, _surer(known) if new.mode == "reinforce" else said, now))
    return "changed"


def _surer(known: Stored) -> Stored:
    sure = known.confidence
    return replace(known, confidence=None if sure is None else min(1.0, sure + CONFIDENCE_STEP))
