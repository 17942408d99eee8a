"""Writing the graph: names, turns, descriptions and importance. Inside a transaction of somebody else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cofire.model import Change, EdgeCounts, Importance, Mentioned, NewFact
from cofire.stores.index.moments import stamp
from cofire.stores.linking import supposed
from cofire.stores.neo4j.describing import write_descriptions
from cofire.stores.neo4j.edge_writing import write_edges
from cofire.stores.neo4j.querying import Query, Querying
from cofire.stores.neo4j.telling import portions

LAST_SENTENCE = 31
# Names that are asked for together.
ASKED = 10_000


@dataclass
class Holders:
    """Who mentions a name, in which sentences and how surely, and who is about it, how strongly."""

    mentioning: dict[str, tuple[int, float]] = field(default_factory=dict)
    about: dict[str, float] = field(default_factory=dict)


Named = dict[tuple[str, str], Holders]


def write_graph(change: Change) -> Querying[EdgeCounts]:
    """Everything of a change that is of the graph itself."""
    if change.mentions:
        yield from _add_mentions(change.mentions)
    yield from write_descriptions(change.descriptions, change.now)
    if change.dreamed:
        yield Query("MATCH (f:Fact) WHERE f.id IN $ids REMOVE f.inbox", {"ids": list(change.dreamed)})
    if change.importance:
        yield from _write_importance(change.importance)
    return (yield from write_edges(change.edges, change.ended, change.now))


def write_names(fresh: Sequence[NewFact]) -> Querying[None]:
    """What facts without names mention and are about, then what they mention because somebody is about it."""
    named = _by_name((new.fact.scope, new.fact.id, one) for new in fresh for one in new.mentions)
    for new in fresh:
        for one in new.subjects:
            held = named.setdefault((new.fact.scope, one.name), Holders())
            held.about.setdefault(new.fact.id, one.strength)
    yield from _hold(named)
    known = yield from _of_subjects({(new.fact.scope, name) for new in fresh for name in new.perhaps})
    told = ((new.fact.scope, new.fact.id, one) for new in fresh for one in supposed(new, known.get(new.fact.scope, ())))
    yield from _hold(_by_name(told), besides=named)


def _of_subjects(perhaps: Set[tuple[str, str]]) -> Querying[dict[str, set[str]]]:
    """Those of these names that a fact is about, by scope. They are few of very many, so only the names are asked for first."""
    known: dict[str, set[str]] = {}
    for scope in sorted({scope for scope, _ in perhaps}):
        for names in portions([name for within, name in perhaps if within == scope], ASKED):
            found = yield Query(_SUBJECTS, {"scope": scope, "names": names})
            known.setdefault(scope, set()).update(name for (name,) in found)
    return known


_SUBJECTS = """
UNWIND $names AS name MATCH (n:Name {scope: $scope, name: name}) WHERE n.about > 0 RETURN [name] AS row
"""


def _hold(named: Named, besides: Named | None = None) -> Querying[None]:
    """Let facts hold names that they do not hold yet, in the order of names: two who write about the same ones wait in turn."""
    rows = []
    for key in sorted(named):
        before = (besides or {}).get(key, Holders())
        mentioning = {id: said for id, said in named[key].mentioning.items() if id not in before.mentioning}
        about, known = named[key].about, {*before.mentioning, *before.about}
        rows.append([*key, _rows(mentioning), _rows(about), len({*mentioning, *about} - known)])
    for portion in portions(rows):
        yield Query(_NAME, {"rows": portion})


def _rows(holding: Mapping[str, Any]) -> list[list[Any]]:
    return [[id, *(said if isinstance(said, tuple) else (said,))] for id, said in holding.items()]


_MADE = "MERGE (n:Name {scope: r[0], name: r[1]}) ON CREATE SET n.mentioned = 0, n.about = 0, n.held = 0"
_NAME = f"""
UNWIND $rows AS r {_MADE}
SET n.mentioned = n.mentioned + size(r[2]), n.about = n.about + size(r[3]), n.held = n.held + r[4]
WITH n, r
CALL (n, r) {{
  UNWIND r[2] AS h MATCH (f:Fact {{id: h[0]}}) CREATE (f)-[:MENTIONS {{sentences: h[1], confidence: h[2]}}]->(n)
}}
CALL (n, r) {{ UNWIND r[3] AS h MATCH (f:Fact {{id: h[0]}}) CREATE (f)-[:ABOUT {{strength: h[1]}}]->(n) }}
"""


def _add_mentions(mentions: Mapping[str, tuple[Mentioned, ...]]) -> Querying[None]:
    """Names that were found later in facts that are stored already, and may hold them."""
    found = yield Query("MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id, f.scope] AS row", {"ids": list(mentions)})
    named = _by_name((scope, id, one) for id, scope in found for one in mentions[id])
    rows = [[*key, _rows(named[key].mentioning)] for key in sorted(named)]
    for portion in portions(rows):
        yield Query(_NAME_LATER, {"rows": portion})


_NAME_LATER = f"""
UNWIND $rows AS r {_MADE}
WITH n, r
CALL (n, r) {{
  UNWIND r[2] AS h MATCH (f:Fact {{id: h[0]}}) WHERE NOT EXISTS {{ (f)-[:MENTIONS]->(n) }}
  CREATE (f)-[:MENTIONS {{sentences: h[1], confidence: h[2]}}]->(n)
  RETURN count(*) AS mentioning, sum(CASE WHEN EXISTS {{ (f)-[:ABOUT]->(n) }} THEN 0 ELSE 1 END) AS more
}}
SET n.mentioned = n.mentioned + mentioning, n.held = n.held + more
"""


def _by_name(mentions: Iterable[tuple[str, str, Mentioned]]) -> Named:
    """Who mentions each name; what a fact says first of one holds."""
    named: Named = {}
    for scope, id, one in mentions:
        bits = sum(1 << at for at in {min(at, LAST_SENTENCE) for at in one.sentences})
        named.setdefault((scope, one.name), Holders()).mentioning.setdefault(id, (bits, one.confidence))
    return named


def write_follows(ids: Sequence[str], reach: int, now: datetime) -> Querying[int]:
    """Link new facts with the last few of their session, the nearer the stronger."""
    [[made]] = yield Query(_FOLLOWS, {"ids": list(ids), "reach": reach, "now": stamp(now)})
    return int(made)


_FOLLOWS = """
UNWIND $ids AS id MATCH (new:Fact {id: id})
MATCH (before:Fact) USING INDEX SEEK before:Fact(scope, session, position)
WHERE before.scope = new.scope AND before.session = new.session
  AND before.position >= new.position - $reach AND before.position < new.position
WITH before, new, [tag IN new.tags WHERE tag IN before.tags] AS shared
CREATE (before)-[:LINKS {kind: 'follows', weight: 1.0 / (new.position - before.position), confidence: 1.0,
  tags: CASE WHEN shared <> [] THEN shared END, origin: 'session', created: $now, seen: $now, co_access_count: 0}]->(new)
WITH count(*) AS made RETURN [made] AS row
"""


def _write_importance(rated: Sequence[Importance]) -> Querying[None]:
    """Replace what was known of the scopes that these facts are of."""
    yield Query(_FORGET_IMPORTANCE, {"ids": [one.fact for one in rated]})
    rows = [{"id": one.fact, "pagerank": one.pagerank, "community": one.community} for one in rated]
    for portion in portions(rows):
        yield Query(_RATE, {"rows": portion})


_FORGET_IMPORTANCE = """
MATCH (f:Fact) WHERE f.id IN $ids WITH collect(DISTINCT f.scope) AS scopes
MATCH (f:Fact) WHERE f.scope IN scopes AND f.number > 0 AND f.community IS NOT NULL REMOVE f.pagerank, f.community
"""
_RATE = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.pagerank = r.pagerank, f.community = r.community
"""
