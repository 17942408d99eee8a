"""Read the graph: link expansion, edges, name links, scope graphs and importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.conductance import MISSING_CONFIDENCE, MISSING_WEIGHT
from cofire.model import Edge, FactFilter, FactImportance, Link
from cofire.stores import link_rules
from cofire.stores.base import (
    EdgeFilter,
    ExpansionOptions,
    FactProfile,
    KnownName,
    LinkExpansion,
    NameLinkTable,
    ScopeGraph,
)
from cofire.stores.edge_kinds import EDGE_KINDS
from cofire.stores.link_rules import (
    BACKWARD_FACTOR,
    MAX_LINKS_PER_NAME,
    MAX_NAME_HOLDERS,
    NAME_LINK_KINDS,
    SHARED_NAME_FACTOR,
    edge_to_link,
    link_order,
)
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, Row, Rows, compile_filter, run_together
from cofire.stores.neo4j.facts import split_batches
from cofire.stores.neo4j.features import fetch_leads
from cofire.stores.neo4j.graph_writes import decode_edge
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.neo4j.schema import FULLTEXT_INDEX_NAME
from cofire.stores.neo4j.search import format_all_words_query

FORWARD_KINDS = tuple(name for name, kind in EDGE_KINDS.items() if kind.conducts == "forward")
NON_CONDUCTING_KINDS = tuple(name for name, kind in EDGE_KINDS.items() if kind.conducts == "never")


def fetch_expansion(brought: Prefetch, ids: Sequence[str], options: ExpansionOptions) -> QuerySteps[LinkExpansion]:
    """The links that leave these facts, the strongest first; of equals by kind, then by content.

    The walk of a recall scores every target of a stored edge, so the features of targets are fetched with them. A spreading
    algorithm scores only what stays active in the end.
    """
    wanted = list(dict.fromkeys(ids))
    passing = compile_filter(options.where)
    links = _MATCH_STORED_LINKS.format(held=_CURRENT_EDGES if options.where.as_of is None else _EDGES_AS_OF)
    if options.names and any(options.wants(kind) for kind in NAME_LINK_KINDS):
        links += f"\nUNION ALL\n{_MATCH_NAME_LINKS}"
    parameters = {
        **passing.parameters,
        **NAME_LINK_PARAMETERS,
        "ids": wanted,
        "kinds": None if options.kinds is None else sorted(options.kinds),
        "without": [*NON_CONDUCTING_KINDS, *sorted(options.without)],
        "forward": list(FORWARD_KINDS),
        "floor": options.floor,
        "most": options.most,
    }
    query = CypherQuery(_FETCH_EXPANSION.format(links=links, passing=passing.clause), parameters)
    rows = yield from fetch_leads(Prefetch() if options.names else brought, query)
    return _decode_expansion(wanted, {row[0]: row for row in rows})


# The constants of `link_rules` for Cypher.
NAME_LINK_PARAMETERS = {
    "linked": MAX_LINKS_PER_NAME,
    "named": MAX_NAME_HOLDERS,
    "shared": SHARED_NAME_FACTOR,
    "backward": BACKWARD_FACTOR,
}

# Edges of now, or of the moment of the filter: those that existed by then and had not ended.
_CURRENT_EDGES, _EDGES_AS_OF = "e.ended IS NULL", "e.created <= $where_as_of AND coalesce(e.ended > $where_as_of, true)"
_MATCH_STORED_LINKS = """
  UNWIND seeds AS s MATCH (s)-[e:LINKS]-(f:Fact) WHERE {held} AND (startNode(e) = s OR NOT e.kind IN $forward)
  RETURN s, f, e.kind AS kind, e.weight AS weight, e.confidence AS confidence, e.tags AS tags, null AS via, startNode(e) = s AS leaving
"""
# The best link through names from each fact `s` of `seeds` to each other fact: mirrors `link_rules.build_name_links`. The holders of
# a name are looked up once for all seeds: one more than may be linked, since no fact links with itself. Of equal links the first
# counts: through names that the fact mentions before those it is about (`own`), in alphabetical order.
BEST_NAME_LINKS = """
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
_MATCH_NAME_LINKS = f"""{BEST_NAME_LINKS}
  RETURN s, f, best[0] AS kind, best[1] AS weight, best[2] AS confidence, null AS tags, best[3] AS via, best[4] AS leaving
"""
# The degree counts neighbours before the filter and the limit. Links are sorted before they are filtered, so that no more neighbours
# of a hub are read than are wanted.
_FETCH_EXPANSION = """
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


def _decode_expansion(ids: Sequence[str], leads: Mapping[str, Row]) -> LinkExpansion:
    links = [(source, *link) for source in ids if source in leads for link in leads[source][2]]
    rows = {id: row for row, id in enumerate(dict.fromkeys([*ids, *(link[1] for link in links)]))}
    return LinkExpansion(
        ids=tuple(rows),
        source=np.array([rows[link[0]] for link in links], np.int64),
        target=np.array([rows[link[1]] for link in links], np.int64),
        kind=tuple(link[2] for link in links),
        weight=_to_float_array([link[3] for link in links]),
        confidence=_to_float_array([link[4] for link in links]),
        tags=tuple(frozenset(link[5] or ()) for link in links),
        via=tuple(link[6] for link in links),
        degree=np.array([leads[id][1] if id in leads else 0 for id in ids], np.int64),
    )


def _to_float_array(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


# Facts of a scope whose links are read together, in one row.
SCOPE_GRAPH_BATCH_SIZE = 5_000


def fetch_edges(wanted: EdgeFilter, limit: int) -> QuerySteps[list[Edge]]:
    """Stored edges, the strongest first; of equals by source, target and kind."""
    text = _FETCH_EDGES.format(match=_choose_edge_match(wanted))
    parameters = {
        "ids": sorted(wanted.ids or ()),
        "scopes": None if wanted.scopes is None else list(wanted.scopes),
        "kinds": sorted(wanted.kinds),
        "origin": wanted.origin,
        "limit": limit,
    }
    return [decode_edge(row) for row in (yield CypherQuery(text, parameters))]


def _choose_edge_match(wanted: EdgeFilter) -> str:
    """How edges are matched: at some facts, at those of some scopes, or everywhere."""
    if wanted.ids is not None:
        return _MATCH_EDGES_AT_FACTS
    if wanted.scopes is not None:
        return "MATCH (a:Fact) WHERE a.scope IN $scopes AND a.number > 0 CALL (a) { MATCH (a)-[e:LINKS]->(b:Fact) RETURN e, b }"
    return "MATCH (a:Fact)-[e:LINKS]->(b:Fact)"


_MATCH_EDGES_AT_FACTS = """
UNWIND $ids AS id MATCH (s:Fact {id: id}) CALL (s) { MATCH (s)-[e:LINKS]-() RETURN e }
WITH DISTINCT e, startNode(e) AS a, endNode(e) AS b
"""
_FETCH_EDGES = """
{match}
WITH e, a, b WHERE e.ended IS NULL AND ($scopes IS NULL OR a.scope IN $scopes) AND ($kinds = [] OR e.kind IN $kinds)
  AND ($origin IS NULL OR e.origin = $origin)
WITH e, a.id AS source, b.id AS target ORDER BY coalesce(e.weight, 0.0) DESC, source, target, e.kind LIMIT $limit
RETURN [source, target, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.seen] AS row
"""


def fetch_links(id: str, limit: int) -> QuerySteps[list[Link]]:
    """Links of a fact by stored edges and through names, the strongest first."""
    stored, named = yield from run_together(fetch_edges(EdgeFilter(ids=frozenset([id])), limit), _fetch_name_links(id))
    return sorted([*map(edge_to_link, stored), *named], key=link_order)[:limit]


def _fetch_name_links(id: str) -> QuerySteps[list[Link]]:
    rows = yield CypherQuery(_FETCH_NAME_LINKS, {**NAME_LINK_PARAMETERS, "id": id})
    return [_decode_name_link(id, row) for row in rows]


_FETCH_NAME_LINKS = f"MATCH (s:Fact {{id: $id}}) WITH [s] AS seeds {BEST_NAME_LINKS} RETURN [f.id, best] AS row"


def _decode_name_link(id: str, row: Row) -> Link:
    other, (kind, weight, confidence, via, leaving) = row
    source, target = (id, other) if leaving else (other, id)
    return Link(source, target, kind, weight, confidence, (), "names", via)


def fetch_profiles(ids: Sequence[str]) -> QuerySteps[tuple[FactProfile, ...]]:
    """The fields of facts that the edge score reads; unknown ids are left out."""
    rows = yield CypherQuery(_FETCH_PROFILES, {"ids": list(dict.fromkeys(ids))})
    profiles = {
        id: FactProfile(id, scope, frozenset(tags or ()), category, hours) for id, scope, tags, category, hours in rows
    }
    return tuple(profiles[id] for id in ids if id in profiles)


_FETCH_PROFILES = """
UNWIND $ids AS id MATCH (f:Fact {id: id}) RETURN [f.id, f.scope, f.tags, f.category, coalesce(f.hours, 0.0)] AS row
"""


def fetch_importance(ids: Sequence[str]) -> QuerySteps[dict[str, FactImportance]]:
    """PageRank and community of these facts, where they were computed."""
    rows = yield CypherQuery(_FETCH_IMPORTANCE, {"ids": list(dict.fromkeys(ids))})
    return {id: FactImportance(id, pagerank, community) for id, pagerank, community in rows}


_FETCH_IMPORTANCE = """
UNWIND $ids AS id MATCH (f:Fact {id: id}) WITH f WHERE f.pagerank IS NOT NULL RETURN [f.id, f.pagerank, f.community] AS row
"""


def fetch_scope_graph(scope: str) -> QuerySteps[ScopeGraph]:
    """The graph of a scope: conducting edges, and links from facts that mention a name to those about it."""
    parameters = {
        "scope": scope,
        "never": list(NON_CONDUCTING_KINDS),
        "forward": list(FORWARD_KINDS),
        "named": MAX_NAME_HOLDERS,
        "portion": SCOPE_GRAPH_BATCH_SIZE,
        "missing_weight": MISSING_WEIGHT,
        "missing_confidence": MISSING_CONFIDENCE,
    }
    rows = yield CypherQuery(_FETCH_SCOPE_GRAPH, {**parameters, "room": NUMBER_RANGE, "ways": DIRECTION_COUNT})
    ids = [id for row in rows for id in row[0]]
    numbers = _concatenate_column(rows, 1, np.int64)
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    ends, weight = _concatenate_column(rows, 2, np.int64), _concatenate_column(rows, 3, np.float64)
    source, target, weight = _add_backward_links(ends, weight)
    place = np.zeros(numbers.max(initial=0) + 1, np.int64)
    place[numbers[order]] = np.arange(len(order))
    return ScopeGraph(tuple(ids[at] for at in order.tolist()), place[source], place[target], weight.astype(np.float32))


# A link is two numbers: its weight, and its ends with its direction: both ways alike, forward only, or half on the way back. Facts
# are called by their numbers within the scope, which are below NUMBER_RANGE.
NUMBER_RANGE, DIRECTION_COUNT = 2**30, 4
BOTH_WAYS, FORWARD_ONLY, HALF_BACKWARD = range(3)
_FETCH_SCOPE_GRAPH = """
MATCH (z:Scope {scope: $scope}) UNWIND range(0, z.told / $portion) AS lot
CALL (lot) {
  MATCH (f:Fact) WHERE f.scope = $scope AND f.number > lot * $portion AND f.number <= (lot + 1) * $portion AND NOT f.archived
  RETURN collect(f.id) AS ids, collect(f.number) AS numbers
}
CALL (lot) {
  MATCH (f:Fact) WHERE f.scope = $scope AND f.number > lot * $portion AND f.number <= (lot + 1) * $portion AND NOT f.archived
  CALL (f) {
    MATCH (f)-[e:LINKS]->(t:Fact) WHERE e.ended IS NULL AND NOT e.kind IN $never AND NOT t.archived
    RETURN t, coalesce(e.weight, $missing_weight) * coalesce(e.confidence, $missing_confidence) AS weight,
      CASE WHEN e.kind IN $forward THEN 1 ELSE 0 END AS way
  UNION ALL
    MATCH (f)-[m:MENTIONS]->(n:Name) WHERE n.mentioned + n.about <= $named
    MATCH (n)<-[a:ABOUT]-(t:Fact) WHERE t <> f AND NOT t.archived
    RETURN t, a.strength * m.confidence / sqrt(n.mentioned + n.about) AS weight, 2 AS way
  }
  RETURN collect((f.number * $room + t.number) * $ways + way) AS ends, collect(weight) AS weights
}
RETURN [ids, numbers, ends, weights] AS row
"""


def _concatenate_column(rows: Rows, column: int, kind: type[Any]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *(np.array(row[column], kind) for row in rows)])


def _add_backward_links(ends: NDArray[np.int64], weight: NDArray[np.float64]) -> tuple[Any, Any, Any]:
    """Links by the numbers of their ends. A link that conducts both ways becomes two."""
    pair, direction = np.divmod(ends, DIRECTION_COUNT)
    source, target = pair // NUMBER_RANGE, pair % NUMBER_RANGE
    is_two_way = direction != FORWARD_ONLY
    factor = np.where(direction[is_two_way] == HALF_BACKWARD, BACKWARD_FACTOR, 1.0)
    return (
        np.concatenate([source, target[is_two_way]]),
        np.concatenate([target, source[is_two_way]]),
        np.concatenate([weight, weight[is_two_way] * factor]),
    )


def find_known_names(names: Sequence[str], where: FactFilter, most: int) -> QuerySteps[list[KnownName]]:
    """Those of these names that are stored in the scopes, with the facts about each, the strongest first.

    The same name in two scopes is two names.
    """
    if not names or not where.scopes:
        return []
    passing = compile_filter(where)
    asked = {"scopes": list(where.scopes), "names": list(dict.fromkeys(names)), "most": most}
    rows = yield CypherQuery(_FIND_KNOWN_NAMES.format(passing=passing.clause), {**passing.parameters, **asked})
    return [KnownName(name, mentioned, dict(about)) for name, mentioned, about in rows]


# Sorted before they are filtered, so that few of many facts about a name are read.
_FIND_KNOWN_NAMES = """
UNWIND range(0, size($scopes) - 1) AS place UNWIND range(0, size($names) - 1) AS at
MATCH (n:Name {{scope: $scopes[place], name: $names[at]}})
CALL (n) {{
  MATCH (n)<-[a:ABOUT]-(f:Fact) WITH f, a.strength AS strength ORDER BY strength DESC, f.content
  WITH f, strength WHERE {passing} LIMIT $most
  RETURN collect([f.id, strength]) AS about
}}
WITH n, about, place, at ORDER BY place, at
RETURN [n.name, n.mentioned, about] AS row
"""


def find_unmarked_mentions(
    scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool
) -> QuerySteps[dict[str, list[str]]]:
    """Facts of a scope that hold all the words of a name and do not mention it, by the full-text index."""
    queries = [[name, format_all_words_query(words, scope)] for name, words in names.items() if words]
    unmarked: dict[str, list[str]] = {}
    for batch in split_batches(queries):
        rows = yield CypherQuery(
            _FIND_UNMARKED_MENTIONS, {"asked": batch, "scope": scope, "anew": anew, "index": FULLTEXT_INDEX_NAME}
        )
        unmarked |= {name: ids for name, ids in rows if 0 < len(ids) <= most}
    return unmarked


_FIND_UNMARKED_MENTIONS = """
UNWIND $asked AS one
OPTIONAL MATCH (n:Name {scope: $scope, name: one[0]})
WITH one, n WHERE $anew OR coalesce(n.about, 0) = 0
CALL db.index.fulltext.queryNodes($index, one[1]) YIELD node AS f
WITH one, n, f WHERE n IS NULL OR NOT EXISTS { (f)-[:MENTIONS]->(n) }
WITH one[0] AS name, collect(f.id) AS ids
RETURN [name, ids] AS row
"""


@dataclass(frozen=True, slots=True)
class _NameSeed:
    """A fact to start from. `names` has each name with its sentence bits, subject strength and confidence."""

    id: str
    scope: str
    loose: bool
    names: Sequence[tuple[str, int, float, float]]


@dataclass(frozen=True, slots=True)
class _NameLead:
    """How many facts hold a name, and its targets: id, whether without session, strength, and sentence bits there."""

    count: int
    targets: Sequence[Row]


def fetch_name_link_table(
    brought: Prefetch, ids: Sequence[str], where: FactFilter, common: int, most: int
) -> QuerySteps[NameLinkTable]:
    """The names that these facts hold, and the facts that each leads to. Names that are too common are skipped.

    In a recall, which scores facts before it walks, the features of the targets are fetched with them.
    """
    wanted = list(dict.fromkeys(ids))
    seeds, leads = yield from run_together(
        _fetch_seeds(wanted), _fetch_name_leads(brought, wanted, where, common, most)
    )
    return _build_name_link_table([seeds[id] for id in wanted if id in seeds], leads)


def _fetch_seeds(ids: Sequence[str]) -> QuerySteps[dict[str, _NameSeed]]:
    rows = yield CypherQuery(_FETCH_SEEDS, {"ids": ids})
    return {row[0]: _decode_seed(row) for row in rows}


_FETCH_SEEDS = """
UNWIND $ids AS id MATCH (f:Fact {id: id})
CALL (f) {
  MATCH (f)-[h:MENTIONS|ABOUT]->(n:Name)
  WITH n.name AS name, max(h.sentences) AS sentences, max(h.strength) AS own, max(h.confidence) AS sure
  RETURN collect([name, coalesce(sentences, 0), coalesce(own, 0.0), coalesce(sure, 0.0)]) AS held
}
RETURN [f.id, f.scope, f.session IS NULL, held] AS row
"""


def _decode_seed(row: Row) -> _NameSeed:
    id, scope, loose, names = row
    decoded = [(name, bits, strength, max(strength, sure)) for name, bits, strength, sure in sorted(names)]
    return _NameSeed(id, scope, loose, decoded)


def _fetch_name_leads(
    brought: Prefetch, ids: Sequence[str], where: FactFilter, common: int, most: int
) -> QuerySteps[dict[tuple[str, str], _NameLead]]:
    passing = compile_filter(where)
    asked = {"ids": ids, "common": common, "most": most, "leading": link_rules.MAX_WALK_HOLDERS}
    query = CypherQuery(_FETCH_NAME_LEADS.format(passing=passing.clause), {**passing.parameters, **asked})
    rows = yield from fetch_leads(brought, query)
    return {(scope, name): _NameLead(count, targets) for scope, name, count, targets in rows}


_FETCH_NAME_LEADS = """
UNWIND $ids AS id MATCH (s:Fact {{id: id}})
CALL (s) {{ MATCH (s)-[:MENTIONS|ABOUT]->(n:Name) RETURN n }}
WITH DISTINCT n
CALL (n) {{
  CALL (n) {{
    WITH n WHERE n.about <= $leading MATCH (n)<-[a:ABOUT]-(f:Fact) RETURN f, a.strength AS strength
  UNION ALL
    WITH n WHERE n.held <= $common AND n.mentioned <= $leading MATCH (n)<-[:MENTIONS]-(f:Fact) RETURN f, 0.0 AS strength
  }}
  WITH n, f, max(strength) AS strength ORDER BY strength DESC, f.content
  WITH n, f, strength WHERE {passing} LIMIT $most
  RETURN collect([f, f.session IS NULL, strength, head([(f)-[m:MENTIONS]->(n) | m.sentences])]) AS targets
}}
WITH collect([n.scope, n.name, n.held, targets]) AS leads
"""


def _build_name_link_table(seeds: Sequence[_NameSeed], leads: Mapping[tuple[str, str], _NameLead]) -> NameLinkTable:
    names = [(row, seed, *name) for row, seed in enumerate(seeds) for name in seed.names]
    name_leads = [leads[seed.scope, name] for _, seed, name, *_ in names]
    links = [
        (step, *target)
        for step, ((_, seed, *_), lead) in enumerate(zip(names, name_leads, strict=True))
        for target in lead.targets
        if target[0] != seed.id
    ]
    loose = {seed.id: seed.loose for seed in seeds} | {link[1]: link[2] for link in links}
    row_of = {id: row for row, id in enumerate(loose)}
    return NameLinkTable(
        ids=tuple(loose),
        loose=np.array(list(loose.values()), np.bool_),
        name=tuple(name[2] for name in names),
        holder=_to_int_array(name[0] for name in names),
        count=_to_int_array(lead.count for lead in name_leads),
        sentences=_to_int_array(name[3] for name in names),
        own=np.array([name[4] for name in names], np.float64),
        sure=np.array([name[5] for name in names], np.float64),
        step=_to_int_array(link[0] for link in links),
        target=_to_int_array(row_of[link[1]] for link in links),
        strength=np.array([link[3] for link in links], np.float64),
        there=_to_int_array(link[4] or 0 for link in links),
    )


def _to_int_array(numbers: Any) -> Any:
    return np.fromiter(numbers, np.int64)
