"""Curation in Cypher: edges fade and are pruned, facts are archived, give way to others and come back; and what curation asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from cofire.curating import NO_CURATION, SIMILARITY, Curation, Fade, FadedEdge, Fading, Health, Review, Usage
from cofire.learned import Use
from cofire.model import Change, EdgeCounts
from cofire.stores.index.moments import LONG_AGO, moment, stamp
from cofire.stores.neo4j import aging
from cofire.stores.neo4j.querying import Query, Querying, Row


def write_curation(change: Change) -> Querying[EdgeCounts]:
    """Everything of a change that belongs to curation. The counts are of edges that faded and ended."""
    yield from _archive(change)
    if change.curation == NO_CURATION:
        return EdgeCounts()
    yield from _give_way(change.curation)
    changed = ended = 0
    for fade in change.curation.fades:
        faded, gone = yield from aging.fade_edges(fade, change.now)
        changed, ended = changed + faded, ended + gone
    if change.curation.prune is not None:
        ended += yield from _prune(change.curation.prune, change.now)
    return EdgeCounts(0, changed, ended)


def _archive(change: Change) -> Querying[None]:
    now = stamp(change.now)
    if change.archive:
        rows = [{"id": id, "out": out} for id, out in change.archive.items()]
        yield Query(_ARCHIVE, {"rows": rows, "now": now})
    if change.curation.because:
        rows = [{"id": id, "why": why} for id, why in change.curation.because.items()]
        yield Query(_BECAUSE, {"rows": rows, "now": now})


_ARCHIVE = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.archived = r.out, f.archived_because = '', f.archived_at = $now
"""
_BECAUSE = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) WHERE f.archived SET f.archived_because = r.why, f.archived_at = $now
"""


def _give_way(curation: Curation) -> Querying[None]:
    """Facts are superseded and restored, and pairs of them reviewed."""
    if curation.restored:
        yield Query(_RESTORE, {"rows": [{"old": old, "new": new} for old, new in curation.restored]})
    if curation.superseded:
        rows = [{"old": one.old, "new": one.new, "until": stamp(one.until)} for one in curation.superseded]
        yield Query(_SUPERSEDE, {"rows": rows})
    if curation.reviews:
        rows = [{"old": one.old, "new": one.new, "why": one.why, "state": one.state} for one in curation.reviews]
        yield Query(_REVIEW, {"rows": rows})


# The last end of these; what has none never ends.
_LAST = """CASE WHEN all(one IN every WHERE one.valid_until IS NOT NULL) THEN
    reduce(last = every[0].valid_until, one IN every | CASE WHEN one.valid_until > last THEN one.valid_until ELSE last END) END"""
# Each row sees what the one before it did. What the older fact was valid until, before any took its place, is kept with each.
_SUPERSEDE = f"""
UNWIND $rows AS r CALL (r) {{
  MATCH (a:Fact {{id: r.old}}), (b:Fact {{id: r.new}}) WHERE a.scope = b.scope
  OPTIONAL MATCH (a)-[other:SUPERSEDED]->(:Fact)
  WITH a, b, r, collect(other) AS every
  WITH a, b, r, CASE size(every) WHEN 0 THEN a.valid_until ELSE {_LAST} END AS first
  MERGE (a)-[s:SUPERSEDED]->(b) ON CREATE SET s.valid_until = first
  SET a.valid_until = CASE WHEN a.valid_until < r.until THEN a.valid_until ELSE r.until END
}}
"""
# The older fact is valid as long as before any other took its place.
_RESTORE = f"""
UNWIND $rows AS r CALL (r) {{
  MATCH (a:Fact {{id: r.old}})-[s:SUPERSEDED]->(:Fact {{id: r.new}})
  MATCH (a)-[one:SUPERSEDED]->(:Fact)
  WITH a, s, collect(one) AS every
  WITH a, s, every, {_LAST} AS first
  FOREACH (one IN every | SET one.valid_until = first)
  SET a.valid_until = first DELETE s
}}
"""
_REVIEW = """
UNWIND $rows AS r CALL (r) {
  MATCH (a:Fact {id: r.old}), (b:Fact {id: r.new}) WHERE a.scope = b.scope
  MERGE (a)-[v:REVIEW]->(b) ON CREATE SET v.why = r.why, v.state = r.state
  SET v.state = CASE WHEN r.state = 'open' THEN v.state ELSE r.state END
}
"""


def _prune(threshold: float, now: datetime) -> Querying[int]:
    [[gone]] = yield Query(_PRUNE, {"threshold": threshold, "kinds": list(SIMILARITY), "now": stamp(now)})
    return int(gone)


_WEAK = """
MATCH (a:Fact)-[e:LINKS]->(b:Fact)
WHERE e.ended IS NULL AND e.kind IN $kinds AND e.weight < $threshold AND e.origin <> 'user' AND NOT a.pinned AND NOT b.pinned
"""
_PRUNE = f"{_WEAK} SET e.ended = $now WITH count(e) AS gone RETURN [gone] AS row"


def fading(fade: Fade, now: datetime, examples: int) -> Querying[Fading]:
    """What the writing of a fade would do now."""
    return (yield from aging.fading(fade, now, examples))


def weak(threshold: float, examples: int) -> Querying[Fading]:
    """The similarity edges below a weight that pruning would end."""
    asked = {"threshold": threshold, "kinds": list(SIMILARITY), "examples": examples}
    [[count, shown]] = yield Query(_WEAK_ONES, asked)
    return Fading(0, count, tuple(FadedEdge(a, b, kind, weight, None) for a, b, kind, weight in shown))


_WEAK_ONES = f"""
CALL () {{ {_WEAK} RETURN count(e) AS count }}
CALL () {{
  {_WEAK} WITH a, b, e ORDER BY e.created, a.id, b.id, e.kind LIMIT $examples
  RETURN collect([a.id, b.id, e.kind, e.weight]) AS shown
}}
RETURN [count, shown] AS row
"""


def usage() -> Querying[list[Usage]]:
    """How the facts that are in recall were used."""
    return [_usage(row) for row in (yield Query(_USAGE))]


# A text that is not plain comes along, since the server cannot tell how many bytes it has.
_USAGE = """
MATCH (f:Fact) WHERE NOT f.archived
CALL (f) { MATCH (f)<-[s:SHOWED]-(r:Recall) WHERE s.place IS NOT NULL RETURN max(r.at) AS shown }
WITH f, shown ORDER BY f.id
RETURN [f.id, f.category, f.pinned, [f.stored_at, f.reinforced_at, f.archived_at, shown], coalesce(f.pagerank, 0.0),
  [coalesce(f.helped, 0), coalesce(f.hurt, 0)],
  CASE WHEN f.text =~ '[\\\\x00-\\\\x7F]*' THEN size(f.text) ELSE f.text END, f.stored] AS row
"""


def _usage(row: Row) -> Usage:
    id, category, pinned, times, importance, use, text, stored = row
    told, used = moment(times[0]), moment(max(at for at in times if at is not None))
    assert told is not None, "a fact knows when it was stored"
    assert used is not None, "a fact was used when it was stored"
    size = (text if isinstance(text, int) else len(text.encode())) + len(stored or b"")
    return Usage(id, category, pinned, told, used, importance, Use(*use).success, size)


def active_days() -> Querying[list[int]]:
    """The days since 1970 on which the memory was in use, in order."""
    return (yield from aging.days_in_use())


def health() -> Querying[Health]:
    """Facts that nothing links with another. A server keeps no relationship without its ends: nothing dangles."""
    [[orphans]] = yield Query(_ORPHANS)
    return Health(orphans, 0)


_ORPHANS = """
MATCH (f:Fact) WHERE NOT f.archived AND NOT EXISTS { (f)-[e:LINKS]-() WHERE e.ended IS NULL }
  AND NOT EXISTS {
    MATCH (f)-[:MENTIONS|ABOUT]->(n:Name) WHERE n.mentioned + n.about > 1
    AND EXISTS { MATCH (n)<-[:MENTIONS|ABOUT]-(other:Fact) WHERE other <> f }
  }
WITH count(f) AS orphans RETURN [orphans] AS row
"""


def changed_facts(since: datetime | None) -> Querying[list[str]]:
    """The ids of the facts in recall that were stored, observed again or updated since a moment, in order."""
    start = LONG_AGO if since is None else stamp(since)
    rows = yield Query(_CHANGED)
    return [
        id for id, stored, said in rows if stored >= start or (said is not None and json.loads(said)["until"] >= start)
    ]


_CHANGED = """
MATCH (f:Fact) WHERE NOT f.archived WITH f ORDER BY f.id
RETURN [f.id, coalesce(f.reinforced_at, f.stored_at), last(coalesce(f.history, []))] AS row
"""


def reviews(open_only: bool) -> Querying[list[Review]]:
    """What was proposed for review, the oldest facts first."""
    found = yield Query(_REVIEWS, {"open_only": open_only})
    return [Review(*row) for row in found]


_REVIEWS = """
MATCH (a:Fact)-[v:REVIEW]->(b:Fact) WHERE NOT $open_only OR v.state = 'open'
WITH a, v, b ORDER BY a.id, b.id RETURN [a.id, b.id, v.why, v.state] AS row
"""


def archived_because(ids: Sequence[str]) -> Querying[Mapping[str, str]]:
    """Why these facts were archived, where it is known. A reason that is empty says that it was by hand."""
    found = yield Query(_REASONS, {"ids": list(ids)})
    return {str(id): str(why) for id, why in found}


_REASONS = """
MATCH (f:Fact) WHERE f.id IN $ids AND f.archived AND f.archived_because <> '' RETURN [f.id, f.archived_because] AS row
"""
