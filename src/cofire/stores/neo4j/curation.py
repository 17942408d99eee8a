"""Curation in Cypher: decay, pruning, archiving, superseding, reviews and usage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from cofire.algorithms import decay as fades
from cofire.index.timestamps import DISTANT_PAST, from_microseconds, to_microseconds
from cofire.model import Change, EdgeCounts
from cofire.stores.curation_rows import (
    NO_CURATION,
    SIMILARITY_KINDS,
    ContradictionReview,
    CurationChange,
    DecayedEdge,
    DecayRule,
    DecaySummary,
    FactUsage,
    GraphHealth,
    UsageReport,
    join_summaries,
)
from cofire.stores.edge_kinds import BEHAVIOURAL_TABLE, EDGE_KINDS, STRUCTURAL_TABLE
from cofire.stores.learning_rows import FeedbackCounts
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, Row
from cofire.stores.rules import MICROSECONDS_PER_DAY, DecayedEdges, EdgeStrengths, decay_edges

# Facts whose edges are told together, in one row.
DECAY_BATCH_SIZE = 5_000

_KIND_TABLES = {"weight": BEHAVIOURAL_TABLE, "confidence": STRUCTURAL_TABLE}


def preview_edge_decay(fade: DecayRule, now: datetime, examples: int) -> QuerySteps[DecaySummary]:
    """What the writing of a fade would do now."""
    days = yield from _fetch_clock_days(fade)
    changed = ended = 0
    shown: list[DecayedEdge] = []
    last: str | None = ""
    while last is not None:
        last, aged = yield from _compute_batch_decay(fade, now, days, last)
        changed, ended = changed + int((~aged.ends).sum()), ended + int(aged.ends.sum())
        shown += yield from _fetch_decay_examples(aged, examples - len(shown))
    return DecaySummary(changed, ended, tuple(shown))


def write_edge_decay(fade: DecayRule, now: datetime) -> QuerySteps[tuple[int, int]]:
    """Let edges fade; how many did, and how many ended."""
    days = yield from _fetch_clock_days(fade)
    changed = ended = 0
    last: str | None = ""
    while last is not None:
        last, aged = yield from _compute_batch_decay(fade, now, days, last)
        kept = ~aged.ends
        parts = (aged.keys, aged.after, aged.anchors, aged.since)
        rows = [list(row) for row in zip(*(part[kept].tolist() for part in parts), strict=True)]
        if rows:
            yield CypherQuery(_SET_DECAYED_VALUES.format(column=fade.by), {"rows": rows})
        if aged.ends.any():
            yield CypherQuery(_END_EDGES, {"keys": aged.keys[aged.ends].tolist(), "now": to_microseconds(now)})
        changed, ended = changed + len(rows), ended + int(aged.ends.sum())
    return changed, ended


_SET_DECAYED_VALUES = """
UNWIND $rows AS r MATCH ()-[e:LINKS]->() WHERE elementId(e) = r[0] SET e.{column} = r[1], e.anchor = r[2], e.anchored = r[3]
"""
_END_EDGES = "UNWIND $keys AS key MATCH ()-[e:LINKS]->() WHERE elementId(e) = key SET e.ended = $now"


def _compute_batch_decay(
    fade: DecayRule, now: datetime, days: list[int] | None, after: str
) -> QuerySteps[tuple[str | None, DecayedEdges]]:
    """Those of the next facts whose weight or confidence is less by now than what is written; the last fact, None at the end."""
    asked: dict[str, Any] = {
        "after": after,
        "portion": DECAY_BATCH_SIZE,
        "kinds": [
            name for name, kind in EDGE_KINDS.items() if kind.fades == fade.by and kind.table == _KIND_TABLES[fade.by]
        ],
        "unsaid": 1.0 if fade.by == "confidence" else None,
        "before": MICROSECONDS_PER_DAY
        * (1 + fades.last_day_before_grace(fades.day_number(now), fade.grace, in_use=days)),
    }
    [[last, *edges]] = yield CypherQuery(_FETCH_EDGE_STRENGTHS.format(column=fade.by), asked)
    return last, decay_edges(_decode_edge_strengths(edges), fade, now, days)


# An anchor that was taken before the edge was last strengthened holds no more: what is written is the anchor then.
_FETCH_EDGE_STRENGTHS = """
CALL () {{
  MATCH (f:Fact) WHERE f.id > $after WITH f ORDER BY f.id LIMIT $portion RETURN collect(f) AS facts
}}
CALL (facts) {{
  UNWIND facts AS a MATCH (a)-[e:LINKS]->(b:Fact)
  WHERE e.ended IS NULL AND e.kind IN $kinds AND e.origin <> 'user' AND NOT a.pinned AND NOT b.pinned
  WITH a, e, b, coalesce(e.seen, e.created) AS since, coalesce(e.{column}, $unsaid) AS share
  WHERE since < $before AND share IS NOT NULL
  WITH e, since, share ORDER BY a.id, b.id, e.kind
  RETURN collect(elementId(e)) AS keys, collect(share) AS shares,
    collect(CASE WHEN e.anchored = since THEN e.anchor ELSE share END) AS anchors, collect(since) AS sinces
}}
RETURN [facts[-1].id, keys, shares, anchors, sinces] AS row
"""


def _decode_edge_strengths(edges: Row) -> EdgeStrengths:
    keys, shares, anchors, since = edges
    return EdgeStrengths(
        np.array(keys, np.object_),
        np.array(shares, np.float64),
        np.array(anchors, np.float64),
        np.array(since, np.int64),
    )


def _fetch_decay_examples(aged: DecayedEdges, most: int) -> QuerySteps[list[DecayedEdge]]:
    """The first of these as people read them."""
    keys = aged.keys[: max(most, 0)].tolist()
    found = (yield CypherQuery(_FETCH_EDGE_ENDS, {"keys": keys})) if keys else []
    return [
        DecayedEdge(source, target, kind, float(aged.before[at]), aged.value_after(at))
        for at, source, target, kind in found
    ]


_FETCH_EDGE_ENDS = """
UNWIND range(0, size($keys) - 1) AS at MATCH (a:Fact)-[e:LINKS]->(b:Fact) WHERE elementId(e) = $keys[at]
WITH at, a, e, b ORDER BY at RETURN [at, a.id, b.id, e.kind] AS row
"""


def _fetch_clock_days(fade: DecayRule) -> QuerySteps[list[int] | None]:
    return (yield from fetch_days_in_use()) if fade.clock == "use" else None


def fetch_days_in_use() -> QuerySteps[list[int]]:
    """The days since 1970 on which the memory was in use, in order."""
    spans: Sequence[Row] = yield CypherQuery("MATCH (s:Span) RETURN [s.begun, s.ended] AS row")
    return sorted(
        {
            day
            for begun, ended in spans
            for day in range(begun // MICROSECONDS_PER_DAY, ended // MICROSECONDS_PER_DAY + 1)
        }
    )


def write_curation(change: Change) -> QuerySteps[EdgeCounts]:
    """Everything of a change that belongs to curation. The counts are of edges that faded and ended."""
    yield from _archive_facts(change)
    if change.curation == NO_CURATION:
        return EdgeCounts()
    yield from _write_supersedes_and_reviews(change.curation)
    changed = ended = 0
    for fade in change.curation.fades:
        faded, gone = yield from write_edge_decay(fade, change.now)
        changed, ended = changed + faded, ended + gone
    if change.curation.prune is not None:
        ended += yield from _prune_weak_edges(change.curation.prune, change.now)
    return EdgeCounts(0, changed, ended)


def _archive_facts(change: Change) -> QuerySteps[None]:
    now = to_microseconds(change.now)
    if change.archive:
        rows = [{"id": id, "out": out} for id, out in change.archive.items()]
        yield CypherQuery(_SET_ARCHIVED, {"rows": rows, "now": now})
    if change.curation.because:
        rows = [{"id": id, "why": why} for id, why in change.curation.because.items()]
        yield CypherQuery(_SET_ARCHIVE_REASON, {"rows": rows, "now": now})


_SET_ARCHIVED = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.archived = r.out, f.archived_because = '', f.archived_at = $now
"""
_SET_ARCHIVE_REASON = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) WHERE f.archived SET f.archived_because = r.why, f.archived_at = $now
"""


def _write_supersedes_and_reviews(curation: CurationChange) -> QuerySteps[None]:
    """Facts are superseded and restored, and pairs of them reviewed."""
    if curation.restored:
        yield CypherQuery(_UNDO_SUPERSEDE, {"rows": [{"old": old, "new": new} for old, new in curation.restored]})
    if curation.superseded:
        rows = [{"old": one.old, "new": one.new, "until": to_microseconds(one.until)} for one in curation.superseded]
        yield CypherQuery(_SUPERSEDE_FACTS, {"rows": rows})
    if curation.reviews:
        rows = [{"old": one.old, "new": one.new, "why": one.why, "state": one.state} for one in curation.reviews]
        yield CypherQuery(_WRITE_REVIEWS, {"rows": rows})


# The last end of these; what has none never ends.
_LATEST_END = """CASE WHEN all(one IN every WHERE one.valid_until IS NOT NULL) THEN
    reduce(last = every[0].valid_until, one IN every | CASE WHEN one.valid_until > last THEN one.valid_until ELSE last END) END"""
# Each row sees what the one before it did. What the older fact was valid until, before any took its place, is kept with each.
_SUPERSEDE_FACTS = f"""
UNWIND $rows AS r CALL (r) {{
  MATCH (a:Fact {{id: r.old}}), (b:Fact {{id: r.new}}) WHERE a.scope = b.scope
  OPTIONAL MATCH (a)-[other:SUPERSEDED]->(:Fact)
  WITH a, b, r, collect(other) AS every
  WITH a, b, r, CASE size(every) WHEN 0 THEN a.valid_until ELSE {_LATEST_END} END AS first
  MERGE (a)-[s:SUPERSEDED]->(b) ON CREATE SET s.valid_until = first
  SET a.valid_until = CASE WHEN a.valid_until < r.until THEN a.valid_until ELSE r.until END
}}
"""
# The older fact is valid as long as before any other took its place.
_UNDO_SUPERSEDE = f"""
UNWIND $rows AS r CALL (r) {{
  MATCH (a:Fact {{id: r.old}})-[s:SUPERSEDED]->(:Fact {{id: r.new}})
  MATCH (a)-[one:SUPERSEDED]->(:Fact)
  WITH a, s, collect(one) AS every
  WITH a, s, every, {_LATEST_END} AS first
  FOREACH (one IN every | SET one.valid_until = first)
  SET a.valid_until = first DELETE s
}}
"""
_WRITE_REVIEWS = """
UNWIND $rows AS r CALL (r) {
  MATCH (a:Fact {id: r.old}), (b:Fact {id: r.new}) WHERE a.scope = b.scope
  MERGE (a)-[v:REVIEW]->(b) ON CREATE SET v.why = r.why, v.state = r.state
  SET v.state = CASE WHEN r.state = 'open' THEN v.state ELSE r.state END
}
"""


def _prune_weak_edges(threshold: float, now: datetime) -> QuerySteps[int]:
    [[gone]] = yield CypherQuery(
        _PRUNE_WEAK_EDGES, {"threshold": threshold, "kinds": list(SIMILARITY_KINDS), "now": to_microseconds(now)}
    )
    return int(gone)


_MATCH_WEAK_EDGES = """
MATCH (a:Fact)-[e:LINKS]->(b:Fact)
WHERE e.ended IS NULL AND e.kind IN $kinds AND e.weight < $threshold AND e.origin <> 'user' AND NOT a.pinned AND NOT b.pinned
"""
_PRUNE_WEAK_EDGES = f"{_MATCH_WEAK_EDGES} SET e.ended = $now WITH count(e) AS gone RETURN [gone] AS row"


def fetch_decay_preview(curation: CurationChange, now: datetime, examples: int) -> QuerySteps[DecaySummary]:
    """What decay and pruning of a change would do to edges now."""
    parts = []
    for rule in curation.fades:
        parts.append((yield from preview_edge_decay(rule, now, examples)))  # noqa: PERF401 a comprehension cannot yield
    if curation.prune is not None:
        parts.append((yield from fetch_weak_edges(curation.prune, examples)))
    return join_summaries(parts)


def fetch_weak_edges(threshold: float, examples: int) -> QuerySteps[DecaySummary]:
    """The similarity edges below a weight that pruning would end."""
    asked = {"threshold": threshold, "kinds": list(SIMILARITY_KINDS), "examples": examples}
    [[count, shown]] = yield CypherQuery(_FETCH_WEAK_EDGES, asked)
    return DecaySummary(0, count, tuple(DecayedEdge(a, b, kind, weight, None) for a, b, kind, weight in shown))


_FETCH_WEAK_EDGES = f"""
CALL () {{ {_MATCH_WEAK_EDGES} RETURN count(e) AS count }}
CALL () {{
  {_MATCH_WEAK_EDGES} WITH a, b, e ORDER BY e.created, a.id, b.id, e.kind LIMIT $examples
  RETURN collect([a.id, b.id, e.kind, e.weight]) AS shown
}}
RETURN [count, shown] AS row
"""


def fetch_usage() -> QuerySteps[UsageReport]:
    """How the facts that are in recall were used, and on which days the memory was."""
    rows = yield CypherQuery(_FETCH_USAGE)
    days = yield from fetch_days_in_use()
    return UsageReport(tuple(_decode_usage(row) for row in rows), tuple(days))


# A text that is not plain comes along, since the server cannot tell how many bytes it has.
_FETCH_USAGE = """
MATCH (f:Fact) WHERE NOT f.archived
CALL (f) { MATCH (f)<-[s:SHOWED]-(r:Recall) WHERE s.place IS NOT NULL RETURN max(r.at) AS shown }
WITH f, shown ORDER BY f.id
RETURN [f.id, f.category, f.pinned, [f.stored_at, f.reinforced_at, f.archived_at, shown], coalesce(f.pagerank, 0.0),
  [coalesce(f.helped, 0), coalesce(f.hurt, 0)],
  CASE WHEN f.text =~ '[\\\\x00-\\\\x7F]*' THEN size(f.text) ELSE f.text END, f.stored] AS row
"""


def _decode_usage(row: Row) -> FactUsage:
    id, category, pinned, times, importance, use, text, stored = row
    told, used = from_microseconds(times[0]), from_microseconds(max(at for at in times if at is not None))
    assert told is not None, "a fact knows when it was stored"
    assert used is not None, "a fact was used when it was stored"
    size = (text if isinstance(text, int) else len(text.encode())) + len(stored or b"")
    return FactUsage(id, category, pinned, told, used, importance, FeedbackCounts(*use).success, size)


def fetch_health() -> QuerySteps[GraphHealth]:
    """Facts that nothing links with another. A server keeps no relationship without its ends: nothing dangles."""
    [[orphans]] = yield CypherQuery(_COUNT_ORPHANS)
    return GraphHealth(orphans, 0)


_COUNT_ORPHANS = """
MATCH (f:Fact) WHERE NOT f.archived AND NOT EXISTS { (f)-[e:LINKS]-() WHERE e.ended IS NULL }
  AND NOT EXISTS {
    MATCH (f)-[:MENTIONS|ABOUT]->(n:Name) WHERE n.mentioned + n.about > 1
    AND EXISTS { MATCH (n)<-[:MENTIONS|ABOUT]-(other:Fact) WHERE other <> f }
  }
WITH count(f) AS orphans RETURN [orphans] AS row
"""


def fetch_changed_ids(since: datetime | None) -> QuerySteps[list[str]]:
    """The ids of the facts in recall that were stored, observed again or updated since a moment, in order."""
    start = DISTANT_PAST if since is None else to_microseconds(since)
    rows = yield CypherQuery(_FETCH_CHANGED_IDS)
    return [
        id for id, stored, said in rows if stored >= start or (said is not None and json.loads(said)["until"] >= start)
    ]


_FETCH_CHANGED_IDS = """
MATCH (f:Fact) WHERE NOT f.archived WITH f ORDER BY f.id
RETURN [f.id, coalesce(f.reinforced_at, f.stored_at), last(coalesce(f.history, []))] AS row
"""


def fetch_reviews(open_only: bool) -> QuerySteps[list[ContradictionReview]]:
    """What was proposed for review, the oldest facts first."""
    found = yield CypherQuery(_FETCH_REVIEWS, {"open_only": open_only})
    return [ContradictionReview(*row) for row in found]


_FETCH_REVIEWS = """
MATCH (a:Fact)-[v:REVIEW]->(b:Fact) WHERE NOT $open_only OR v.state = 'open'
WITH a, v, b ORDER BY a.id, b.id RETURN [a.id, b.id, v.why, v.state] AS row
"""
