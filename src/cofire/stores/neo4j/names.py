"""Names: which are known, and where those of some facts lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofire.model import Where
from cofire.stores import linking
from cofire.stores.base import Known, NamePaths
from cofire.stores.neo4j.bringing import Brought
from cofire.stores.neo4j.matching import all_words_query
from cofire.stores.neo4j.querying import Query, Querying, Row, both
from cofire.stores.neo4j.rows import condition
from cofire.stores.neo4j.schema import FACT_WORDS
from cofire.stores.neo4j.telling import portions
from cofire.stores.neo4j.weighing import led_to


def known(names: Sequence[str], where: Where, most: int) -> Querying[list[Known]]:
    """Those of these names that facts of the scopes hold, each scope's by itself, with those about it, the strongest first."""
    if not names or not where.scopes:
        return []
    passing = condition(where)
    asked = {"scopes": list(where.scopes), "names": list(dict.fromkeys(names)), "most": most}
    found = yield Query(_KNOWN.format(passing=passing.clause), {**passing.parameters, **asked})
    return [Known(name, mentioned, dict(about)) for name, mentioned, about in found]


# First in order, then through the filter: of many who are about a name few need be looked at more closely.
_KNOWN = """
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


def speaking(scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool) -> Querying[dict[str, list[str]]]:
    """Facts of a scope that hold all the words of a name and do not mention it. The word index looks for them."""
    asked = [[name, all_words_query(words, scope)] for name, words in names.items() if words]
    found = dict[str, list[str]]()
    for portion in portions(asked):
        rows = yield Query(_SPEAKING, {"asked": portion, "scope": scope, "anew": anew, "index": FACT_WORDS})
        found |= {name: ids for name, ids in rows if 0 < len(ids) <= most}
    return found


_SPEAKING = """
UNWIND $asked AS one
OPTIONAL MATCH (n:Name {scope: $scope, name: one[0]})
WITH one, n WHERE $anew OR coalesce(n.about, 0) = 0
CALL db.index.fulltext.queryNodes($index, one[1]) YIELD node AS f
WITH one, n, f WHERE n IS NULL OR NOT EXISTS { (f)-[:MENTIONS]->(n) }
WITH one[0] AS name, collect(f.id) AS ids
RETURN [name, ids] AS row
"""


@dataclass(frozen=True, slots=True)
class _Seed:
    """A fact asked for, with the names it holds: the sentences that do, how strongly it is about each, and how surely it means it."""

    id: str
    scope: str
    loose: bool
    held: Sequence[tuple[str, int, float, float]]


@dataclass(frozen=True, slots=True)
class _Lead:
    """A name, how many facts hold it, and those it leads to: id, whether it is loose, strength, and the sentences there."""

    count: int
    targets: Sequence[Row]


def paths(brought: Brought, ids: Sequence[str], where: Where, common: int, most: int) -> Querying[NamePaths]:
    """The names that these facts hold, and where each leads. Too common a name is passed over by its stored count.

    In a recall, which weighs facts before it walks, what they lead to is weighed with it.
    """
    asked = list(dict.fromkeys(ids))
    found = yield from both(_seeds(asked), _leads(brought, asked, where, common, most))
    seeds: Mapping[str, _Seed] = found[0]
    known = [seeds[id] for id in asked if id in seeds]
    return _paths(known, found[1])


def _seeds(ids: Sequence[str]) -> Querying[dict[str, _Seed]]:
    found = yield Query(_SEEDS, {"ids": ids})
    return {row[0]: _seed(row) for row in found}


_SEEDS = """
UNWIND $ids AS id MATCH (f:Fact {id: id})
CALL (f) {
  MATCH (f)-[h:MENTIONS|ABOUT]->(n:Name)
  WITH n.name AS name, max(h.sentences) AS sentences, max(h.strength) AS own, max(h.confidence) AS sure
  RETURN collect([name, coalesce(sentences, 0), coalesce(own, 0.0), coalesce(sure, 0.0)]) AS held
}
RETURN [f.id, f.scope, f.session IS NULL, held] AS row
"""


def _seed(row: Row) -> _Seed:
    id, scope, loose, held = row
    return _Seed(id, scope, loose, [(name, bits, own, max(own, sure)) for name, bits, own, sure in sorted(held)])


def _leads(
    brought: Brought, ids: Sequence[str], where: Where, common: int, most: int
) -> Querying[dict[tuple[str, str], _Lead]]:
    passing = condition(where)
    asked = {"ids": ids, "common": common, "most": most, "leading": linking.MOST_LEADING}
    query = Query(_LEADS.format(passing=passing.clause), {**passing.parameters, **asked})
    found = yield from led_to(brought, query)
    return {(scope, name): _Lead(count, targets) for scope, name, count, targets in found}


_LEADS = """
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


def _paths(seeds: Sequence[_Seed], leads: Mapping[tuple[str, str], _Lead]) -> NamePaths:
    held = [(row, seed, *one) for row, seed in enumerate(seeds) for one in seed.held]
    led = [leads[seed.scope, name] for _, seed, name, *_ in held]
    links = [
        (step, *target)
        for step, ((_, seed, *_), lead) in enumerate(zip(held, led, strict=True))
        for target in lead.targets
        if target[0] != seed.id
    ]
    loose = {seed.id: seed.loose for seed in seeds} | {link[1]: link[2] for link in links}
    place = {id: row for row, id in enumerate(loose)}
    return NamePaths(
        ids=tuple(loose),
        loose=np.array(list(loose.values()), np.bool_),
        name=tuple(one[2] for one in held),
        holder=_whole(one[0] for one in held),
        count=_whole(lead.count for lead in led),
        sentences=_whole(one[3] for one in held),
        own=np.array([one[4] for one in held], np.float64),
        sure=np.array([one[5] for one in held], np.float64),
        step=_whole(link[0] for link in links),
        target=_whole(place[link[1]] for link in links),
        strength=np.array([link[3] for link in links], np.float64),
        there=_whole(link[4] or 0 for link in links),
    )


def _whole(numbers: Any) -> Any:
    return np.fromiter(numbers, np.int64)
