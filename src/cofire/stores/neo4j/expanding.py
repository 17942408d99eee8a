"""Expanding: the links that leave facts, by stored edges and through names, the strongest first, hubs cut inside the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kinds import KINDS
from cofire.stores.base import Conducting, Expansion
from cofire.stores.expanding import THROUGH_NAMES
from cofire.stores.linking import BACKWARD, MOST_LINKED, MOST_NAMED, SHARED
from cofire.stores.neo4j.bringing import Brought
from cofire.stores.neo4j.querying import Query, Querying, Row
from cofire.stores.neo4j.rows import condition
from cofire.stores.neo4j.weighing import led_to

FORWARD = tuple(name for name, kind in KINDS.items() if kind.conducts == "forward")
NEVER = tuple(name for name, kind in KINDS.items() if kind.conducts == "never")


def expand(brought: Brought, ids: Sequence[str], conducting: Conducting) -> Querying[Expansion]:
    """The links that leave these facts, the strongest first; of equals by kind, then by content.

    The walk of a recall weighs all that stored edges lead to, so that comes along. A spread weighs what stays active in the end.
    """
    asked = list(dict.fromkeys(ids))
    passing = condition(conducting.where)
    stored = _STORED.format(held=_NOW if conducting.where.as_of is None else _THEN)
    parts = [stored, _NAMED] if _walks_names(conducting) else [stored]
    query = Query(
        _EXPAND.format(links="\nUNION ALL\n".join(parts), passing=passing.clause),
        {**passing.parameters, **_choice(conducting), **NAMING, "ids": asked},
    )
    found = yield from led_to(Brought() if conducting.names else brought, query)
    return _expansion(asked, {row[0]: row for row in found})


def _walks_names(conducting: Conducting) -> bool:
    return conducting.names and any(conducting.wants(kind) for kind in THROUGH_NAMES)


def _choice(conducting: Conducting) -> dict[str, Any]:
    return {
        "kinds": None if conducting.kinds is None else sorted(conducting.kinds),
        "without": [*NEVER, *sorted(conducting.without)],
        "forward": list(FORWARD),
        "floor": conducting.floor,
        "most": conducting.most,
    }


# What the Cypher of links through names is told: the numbers of `stores.linking`.
NAMING = {"linked": MOST_LINKED, "named": MOST_NAMED, "shared": SHARED, "backward": BACKWARD}

# Edges of now, or of the moment that the filter names: those that had come by then and had not ended.
_NOW, _THEN = "e.ended IS NULL", "e.created <= $where_as_of AND coalesce(e.ended > $where_as_of, true)"
_STORED = """
  UNWIND seeds AS s MATCH (s)-[e:LINKS]-(f:Fact) WHERE {held} AND (startNode(e) = s OR NOT e.kind IN $forward)
  RETURN s, f, e.kind AS kind, e.weight AS weight, e.confidence AS confidence, e.tags AS tags, null AS via, startNode(e) = s AS leaving
"""
# The best link through names from each fact `s` of `seeds` to each other one: `linking.through_names` in Cypher. Who holds a name is
# looked up once, however many of the facts hold it: one more than may be led to, since none is led to itself. Of links that carry as
# much the first counts: through names it mentions before those it is about (`own`), in the order of letters.
BEST_BY_NAMES = """
  UNWIND seeds AS s MATCH (s)-[h:MENTIONS|ABOUT]->(n:Name)
  WITH n, n.mentioned + n.about AS held, collect([s, type(h) = 'ABOUT', coalesce(h.strength, h.confidence)]) AS holding
  CALL (n) {
    MATCH (n)<-[o:ABOUT]-(f:Fact) WITH f, o.strength AS there ORDER BY there DESC, f.content
    WITH f, there WHERE NOT f.archived LIMIT $linked + 1
    RETURN collect([f, there, true]) AS owners
  }
  CALL (n, held, holding) {
    WITH n WHERE held <= $named OR any(one IN holding WHERE one[1])
    MATCH (n)<-[o:MENTIONS]-(f:Fact) WITH f, o.confidence AS there ORDER BY there DESC, f.content
    WITH f, there WHERE NOT f.archived LIMIT $linked + 1
    RETURN collect([f, there, false]) AS tellers
  }
  UNWIND holding AS one
  WITH n.name AS via, 1 / sqrt(held) AS spread, one[0] AS s, one[1] AS own, one[2] AS by, owners,
    CASE WHEN one[1] OR held <= $named THEN tellers ELSE [] END AS tellers
  UNWIND [to IN owners WHERE to[0] <> s][..$linked] + [to IN tellers WHERE to[0] <> s][..$linked] AS to
  WITH s, to[0] AS f, via, spread, own, by, to[1] AS there, to[2] AS about
  WITH s, f, via, own, CASE WHEN own = about THEN 'entity' ELSE 'about' END AS kind,
    CASE WHEN own AND about THEN $shared * spread * by * there WHEN own THEN $backward * spread * by
      WHEN about THEN spread * there ELSE $shared * spread END AS weight,
    CASE WHEN own AND about THEN 1.0 WHEN own THEN there WHEN about THEN by WHEN by < there THEN by ELSE there END AS confidence
  WITH s, f, via, own, kind, weight, confidence ORDER BY weight * confidence DESC, own, via, kind
  WITH s, f, head(collect([kind, weight, confidence, via, NOT own OR kind = 'entity'])) AS best
"""
_NAMED = f"""{BEST_BY_NAMES}
  RETURN s, f, best[0] AS kind, best[1] AS weight, best[2] AS confidence, null AS tags, best[3] AS via, best[4] AS leaving
"""
# Neighbours are counted before the filter and the limit. Links are first put in order and then go through the filter, so that of a
# hub's neighbours no more are looked at than are wanted.
_EXPAND = """
UNWIND $ids AS id MATCH (s:Fact {{id: id}}) WITH collect(s) AS seeds
CALL (seeds) {{ {links} }}
WITH s, f, kind, weight, confidence, tags, via, leaving WHERE NOT kind IN $without AND ($kinds IS NULL OR kind IN $kinds)
WITH *, round(CASE WHEN weight > 1 THEN 1.0 WHEN weight > 0 THEN weight ELSE 0.0 END, 6, 'HALF_EVEN') AS strong
ORDER BY strong DESC, kind, f.content, coalesce(confidence, 0.0) DESC, leaving DESC, coalesce(via, '')
WITH s, count(DISTINCT f) AS degree, collect([f, kind, weight, confidence, tags, via]) AS found
CALL (found) {{
  UNWIND found AS link WITH link, link[0] AS f WHERE coalesce(link[3] >= $floor, true) AND {passing} LIMIT $most
  RETURN collect([f] + link[1..]) AS links
}}
WITH collect([s.id, degree, links]) AS leads
"""


def _expansion(ids: Sequence[str], found: Mapping[str, Row]) -> Expansion:
    links = [(source, *link) for source in ids if source in found for link in found[source][2]]
    rows = {id: row for row, id in enumerate(dict.fromkeys([*ids, *(link[1] for link in links)]))}
    return Expansion(
        ids=tuple(rows),
        source=np.array([rows[link[0]] for link in links], np.int64),
        target=np.array([rows[link[1]] for link in links], np.int64),
        kind=tuple(link[2] for link in links),
        weight=_numbers([link[3] for link in links]),
        confidence=_numbers([link[4] for link in links]),
        tags=tuple(frozenset(link[5] or ()) for link in links),
        via=tuple(link[6] for link in links),
        degree=np.array([found[id][1] if id in found else 0 for id in ids], np.int64),
    )


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
