"""Reading the graph: edges, links, profiles, the network of a scope, importance and descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.model import Edge, Importance, Link
from cofire.stores.base import EdgeFilter, Network, Profile
from cofire.stores.index.moments import moment
from cofire.stores.linking import MOST_NAMED, linked
from cofire.stores.neo4j.expanding import BEST_BY_NAMES, FORWARD, NAMING, NEVER
from cofire.stores.neo4j.querying import Query, Querying, Row, Rows, both

# Facts of a scope whose links are told together, in one row.
PORTION = 5_000


def edges(wanted: EdgeFilter, limit: int) -> Querying[list[Edge]]:
    """Stored edges, the strongest first; of equals by source, target and kind."""
    text = _EDGES.format(found=_found(wanted))
    asked = {
        "ids": sorted(wanted.ids or ()),
        "scopes": None if wanted.scopes is None else list(wanted.scopes),
        "kinds": sorted(wanted.kinds),
        "origin": wanted.origin,
        "limit": limit,
    }
    return [_edge(row) for row in (yield Query(text, asked))]


def _found(wanted: EdgeFilter) -> str:
    """Where edges are looked for: at some facts, at those of some scopes, or everywhere."""
    if wanted.ids is not None:
        return _AT_FACTS
    if wanted.scopes is not None:
        return "MATCH (a:Fact) WHERE a.scope IN $scopes AND a.number > 0 CALL (a) { MATCH (a)-[e:LINKS]->(b:Fact) RETURN e, b }"
    return "MATCH (a:Fact)-[e:LINKS]->(b:Fact)"


_AT_FACTS = """
UNWIND $ids AS id MATCH (s:Fact {id: id}) CALL (s) { MATCH (s)-[e:LINKS]-() RETURN e }
WITH DISTINCT e, startNode(e) AS a, endNode(e) AS b
"""
_EDGES = """
{found}
WITH e, a, b WHERE e.ended IS NULL AND ($scopes IS NULL OR a.scope IN $scopes) AND ($kinds = [] OR e.kind IN $kinds)
  AND ($origin IS NULL OR e.origin = $origin)
WITH e, a.id AS source, b.id AS target ORDER BY coalesce(e.weight, 0.0) DESC, source, target, e.kind LIMIT $limit
RETURN [source, target, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.seen] AS row
"""


def _edge(row: Row) -> Edge:
    source, target, kind, weight, confidence, tags, origin, count, seen = row
    life = {"co_access_count": count, "strengthened": moment(seen)}
    return Edge(source, target, kind, weight, confidence, tuple(tags or ()), origin, **life)


def links(id: str, limit: int) -> Querying[list[Link]]:
    """All that a fact is linked with, by stored edges and through names, the strongest first."""
    stored, named = yield from both(edges(EdgeFilter(ids=frozenset([id])), limit), _through_names(id))
    return sorted([*map(linked, stored), *named], key=_order)[:limit]


def _order(one: Link) -> tuple[float, str, str, str, str]:
    return -(one.weight or 0.0), one.kind, one.source, one.target, one.via or ""


def _through_names(id: str) -> Querying[list[Link]]:
    found = yield Query(_NAMED, {**NAMING, "id": id})
    return [_named(id, row) for row in found]


_NAMED = f"MATCH (s:Fact {{id: $id}}) WITH [s] AS seeds {BEST_BY_NAMES} RETURN [f.id, best] AS row"


def _named(id: str, row: Row) -> Link:
    other, (kind, weight, confidence, via, leaving) = row
    source, target = (id, other) if leaving else (other, id)
    return Link(source, target, kind, weight, confidence, (), "names", via)


def profiles(ids: Sequence[str]) -> Querying[list[Profile]]:
    """What the edge score looks at in these facts; unknown ids are left out."""
    found = yield Query(_PROFILES, {"ids": list(dict.fromkeys(ids))})
    known = {
        id: Profile(id, scope, frozenset(tags or ()), category, hours) for id, scope, tags, category, hours in found
    }
    return [known[id] for id in ids if id in known]


_PROFILES = """
UNWIND $ids AS id MATCH (f:Fact {id: id}) RETURN [f.id, f.scope, f.tags, f.category, coalesce(f.hours, 0.0)] AS row
"""


def importance(ids: Sequence[str]) -> Querying[dict[str, Importance]]:
    """PageRank and community of these facts, where they were computed."""
    found = yield Query(_IMPORTANCE, {"ids": list(dict.fromkeys(ids))})
    return {id: Importance(id, pagerank, community) for id, pagerank, community in found}


_IMPORTANCE = """
UNWIND $ids AS id MATCH (f:Fact {id: id}) WITH f WHERE f.pagerank IS NOT NULL RETURN [f.id, f.pagerank, f.community] AS row
"""


def descriptions(id: str) -> Querying[list[str]]:
    """How a fact was described over time, the description that holds last."""
    found = yield Query("MATCH (f:Fact {id: $id}) RETURN coalesce(f.descriptions, []) AS row", {"id": id})
    return [text for row in found for text in row]


def network(scope: str) -> Querying[Network]:
    """The graph of a scope: stored edges that conduct, and who mentions whom. Numbers only, thousands a row."""
    asked = {"scope": scope, "never": list(NEVER), "forward": list(FORWARD), "named": MOST_NAMED, "portion": PORTION}
    rows = yield Query(_NETWORK, {**asked, "room": ROOM, "ways": WAYS})
    ids = [id for row in rows for id in row[0]]
    numbers = _joined(rows, 1, np.int64)
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    ends, weight = _joined(rows, 2, np.int64), _joined(rows, 3, np.float64)
    source, target, weight = _both_ways(ends, weight)
    place = np.zeros(numbers.max(initial=0) + 1, np.int64)
    place[numbers[order]] = np.arange(len(order))
    return Network(tuple(ids[at] for at in order.tolist()), place[source], place[target], weight.astype(np.float32))


# A link is two numbers: its weight, and its ends with the way that it conducts, which is both ways alike, forward only, or by half
# on the way back. Facts have numbers within their scope, for which there is this much room.
ROOM, WAYS = 2**30, 4
ALIKE, ONWARD, HALF_BACK = range(3)
_NETWORK = """
MATCH (z:Scope {scope: $scope}) UNWIND range(0, z.told / $portion) AS lot
CALL (lot) {
  MATCH (f:Fact) WHERE f.scope = $scope AND f.number > lot * $portion AND f.number <= (lot + 1) * $portion AND NOT f.archived
  RETURN collect(f.id) AS ids, collect(f.number) AS numbers
}
CALL (lot) {
  MATCH (f:Fact) WHERE f.scope = $scope AND f.number > lot * $portion AND f.number <= (lot + 1) * $portion AND NOT f.archived
  CALL (f) {
    MATCH (f)-[e:LINKS]->(t:Fact) WHERE e.ended IS NULL AND NOT e.kind IN $never AND NOT t.archived
    RETURN t, coalesce(e.weight, 0.01) * coalesce(e.confidence, 1.0) AS weight, CASE WHEN e.kind IN $forward THEN 1 ELSE 0 END AS way
  UNION ALL
    MATCH (f)-[m:MENTIONS]->(n:Name) WHERE n.mentioned + n.about <= $named
    MATCH (n)<-[a:ABOUT]-(t:Fact) WHERE t <> f AND NOT t.archived
    RETURN t, a.strength * m.confidence / sqrt(n.mentioned + n.about) AS weight, 2 AS way
  }
  RETURN collect((f.number * $room + t.number) * $ways + way) AS ends, collect(weight) AS weights
}
RETURN [ids, numbers, ends, weights] AS row
"""


def _joined(rows: Rows, column: int, kind: type[Any]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *(np.array(row[column], kind) for row in rows)])


def _both_ways(ends: NDArray[np.int64], weight: NDArray[np.float64]) -> tuple[Any, Any, Any]:
    """Links as the numbers of their ends; what conducts back as well stands twice."""
    pair, way = np.divmod(ends, WAYS)
    there, here = pair % ROOM, pair // ROOM
    back = way != ONWARD
    less = np.where(way[back] == HALF_BACK, 0.5, 1.0)
    return (
        np.concatenate([here, there[back]]),
        np.concatenate([there, here[back]]),
        np.concatenate([weight, weight[back] * less]),
    )
