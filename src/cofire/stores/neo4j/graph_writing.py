"""Writing the graph: names, turns, descriptions and importance. Inside a transaction of somebody else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from cofire.model import Change, EdgeCounts, Importance, Mentioned, NewFact
from cofire.stores.index.moments import stamp
from cofire.stores.neo4j.describing import write_descriptions
from cofire.stores.neo4j.edge_writing import write_edges
from cofire.stores.neo4j.querying import Query, Querying
from cofire.stores.neo4j.telling import portions

LAST_SENTENCE = 31

Named = dict[tuple[str, str], dict[str, Any]]


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
    """What new facts mention and are about, then what they mention because somebody is about it."""
    mentions = [(new.fact.scope, new.fact.id, one) for new in fresh for one in new.mentions]
    named = _by_name(mentions)
    for new in fresh:
        for one in new.subjects:
            held = _of(named, new.fact.scope, one.name)["about"]
            held.setdefault(new.fact.id, {"id": new.fact.id, "strength": one.strength})
    for portion in portions(_rows(named)):
        yield Query(_NAME.format(found=_MADE), {"rows": portion})
    perhaps = _by_name((new.fact.scope, new.fact.id, one) for new in fresh for one in new.perhaps)
    for portion in portions(_rows(perhaps)):
        yield Query(_NAME.format(found=_KNOWN_SUBJECT), {"rows": portion})


def _add_mentions(mentions: Mapping[str, tuple[Mentioned, ...]]) -> Querying[None]:
    """Names that were found later in facts that are stored already."""
    found = yield Query("MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id, f.scope] AS row", {"ids": list(mentions)})
    named = _by_name((scope, id, one) for id, scope in found for one in mentions[id])
    for portion in portions(_rows(named)):
        yield Query(_NAME.format(found=_MADE), {"rows": portion})


def _by_name(mentions: Iterable[tuple[str, str, Mentioned]]) -> Named:
    """Who mentions each name; what a fact says first of one holds."""
    named: Named = {}
    for scope, id, one in mentions:
        bits = sum(1 << at for at in {min(at, LAST_SENTENCE) for at in one.sentences})
        held = {"id": id, "sentences": bits, "confidence": one.confidence}
        _of(named, scope, one.name)["mentioning"].setdefault(id, held)
    return named


def _of(named: Named, scope: str, name: str) -> dict[str, Any]:
    return named.setdefault((scope, name), {"mentioning": {}, "about": {}})


def _rows(named: Named) -> list[dict[str, Any]]:
    """In the order of names, so that two who write about the same ones wait for one another in turn."""
    return [
        {"scope": scope, "name": name} | {part: list(held.values()) for part, held in named[scope, name].items()}
        for scope, name in sorted(named)
    ]


_MADE = "MERGE (n:Name {scope: r.scope, name: r.name}) ON CREATE SET n.mentioned = 0, n.about = 0"
_KNOWN_SUBJECT = "MATCH (n:Name {scope: r.scope, name: r.name}) WHERE n.about > 0"
_NAME = """
UNWIND $rows AS r {found}
WITH n, r
CALL (n, r) {{
  UNWIND r.mentioning AS h MATCH (f:Fact {{id: h.id}}) WHERE NOT EXISTS {{ (f)-[:MENTIONS]->(n) }}
  CREATE (f)-[:MENTIONS {{sentences: h.sentences, confidence: h.confidence}}]->(n)
  RETURN count(*) AS mentioning
}}
CALL (n, r) {{
  UNWIND r.about AS h MATCH (f:Fact {{id: h.id}}) WHERE NOT EXISTS {{ (f)-[:ABOUT]->(n) }}
  CREATE (f)-[:ABOUT {{strength: h.strength}}]->(n)
  RETURN count(*) AS about
}}
SET n.mentioned = n.mentioned + mentioning, n.about = n.about + about
"""


def write_follows(ids: Sequence[str], reach: int, now: datetime) -> Querying[int]:
    """Link new facts with the last few of their session, the nearer the stronger."""
    [[made]] = yield Query(_FOLLOWS, {"ids": list(ids), "reach": reach, "now": stamp(now)})
    return int(made)


_FOLLOWS = """
UNWIND $ids AS id MATCH (new:Fact {id: id})
MATCH (before:Fact) WHERE before.scope = new.scope AND before.session = new.session
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
