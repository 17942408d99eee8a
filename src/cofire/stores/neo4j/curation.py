"""Curation in Cypher: decay, pruning, archiving, superseding, reviews and usage."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import numpy as np

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
from cofire.stores.learning_rows import FeedbackCounts
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, Row
from cofire.stores.rules import DecayedEdges, EdgeStrengths, decay_edges, list_days_in_use, select_decaying_edges

# Facts whose edges are read together, in one row.
DECAY_BATCH_SIZE = 5_000


def _preview_rule(rule: DecayRule, now: datetime, examples: int) -> QuerySteps[DecaySummary]:
    """What a decay rule would do now."""
    days = yield from _fetch_clock_days(rule)
    changed = ended = 0
    shown: list[DecayedEdge] = []
    last: str | None = ""
    while last is not None:
        last, decayed = yield from _compute_batch_decay(rule, now, days, last)
        changed += int((~decayed.ends).sum())
        ended += int(decayed.ends.sum())
        shown += yield from _fetch_decay_examples(decayed, examples - len(shown))
    return DecaySummary(changed, ended, tuple(shown))


def write_edge_decay(rule: DecayRule, now: datetime) -> QuerySteps[EdgeCounts]:
    """Write decayed edges, and return how many changed and ended."""
    days = yield from _fetch_clock_days(rule)
    counts = EdgeCounts()
    last: str | None = ""
    while last is not None:
        last, decayed = yield from _compute_batch_decay(rule, now, days, last)
        kept = ~decayed.ends
        columns = (decayed.keys, decayed.after, decayed.anchors, decayed.since)
        rows = [list(row) for row in zip(*(column[kept].tolist() for column in columns), strict=True)]
        if rows:
            yield CypherQuery(_SET_DECAYED_VALUES.format(column=rule.by), {"rows": rows})
        if decayed.ends.any():
            yield CypherQuery(_END_EDGES, {"keys": decayed.keys[decayed.ends].tolist(), "now": to_microseconds(now)})
        counts += EdgeCounts(changed=len(rows), ended=int(decayed.ends.sum()))
    return counts


_SET_DECAYED_VALUES = """
UNWIND $rows AS r MATCH ()-[e:LINKS]->() WHERE elementId(e) = r[0] SET e.{column} = r[1], e.anchor = r[2], e.anchored = r[3]
"""
_END_EDGES = "UNWIND $keys AS key MATCH ()-[e:LINKS]->() WHERE elementId(e) = key SET e.ended = $now"


def _compute_batch_decay(
    rule: DecayRule, now: datetime, days: list[int] | None, after: str
) -> QuerySteps[tuple[str | None, DecayedEdges]]:
    """The edges of the next facts whose decayed value is below the written one, and the last of these facts.

    `decay_edges` is the rule. The last fact is None when there are no more.
    """
    selection = select_decaying_edges(rule, now, days)
    asked: dict[str, Any] = {
        "after": after,
        "portion": DECAY_BATCH_SIZE,
        "kinds": list(selection.kinds),
        "missing": selection.missing,
        "before": selection.before,
    }
    [[last, keys, shares, anchors, since]] = yield CypherQuery(_FETCH_EDGE_STRENGTHS.format(column=rule.by), asked)
    written = EdgeStrengths(
        np.array(keys, np.object_),
        np.array(shares, np.float64),
        np.array(anchors, np.float64),
        np.array(since, np.int64),
    )
    return last, decay_edges(written, rule, now, days)


# The anchor is the value from which an edge decays. One from before the edge was last seen is void: the value itself is the anchor.
_FETCH_EDGE_STRENGTHS = """
CALL () {{
  MATCH (f:Fact) WHERE f.id > $after WITH f ORDER BY f.id LIMIT $portion RETURN collect(f) AS facts
}}
CALL (facts) {{
  UNWIND facts AS a MATCH (a)-[e:LINKS]->(b:Fact)
  WHERE e.ended IS NULL AND e.kind IN $kinds AND e.origin <> 'user' AND NOT a.pinned AND NOT b.pinned
  WITH a, e, b, coalesce(e.seen, e.created) AS since, coalesce(e.{column}, $missing) AS share
  WHERE since < $before AND share IS NOT NULL
  WITH e, since, share ORDER BY a.id, b.id, e.kind
  RETURN collect(elementId(e)) AS keys, collect(share) AS shares,
    collect(CASE WHEN e.anchored = since THEN e.anchor ELSE share END) AS anchors, collect(since) AS sinces
}}
RETURN [facts[-1].id, keys, shares, anchors, sinces] AS row
"""


def _fetch_decay_examples(decayed: DecayedEdges, limit: int) -> QuerySteps[list[DecayedEdge]]:
    keys = decayed.keys[: max(limit, 0)].tolist()
    rows = (yield CypherQuery(_FETCH_EDGE_ENDS, {"keys": keys})) if keys else []
    return [
        DecayedEdge(source, target, kind, float(decayed.before[at]), decayed.value_after(at))
        for at, source, target, kind in rows
    ]


_FETCH_EDGE_ENDS = """
UNWIND range(0, size($keys) - 1) AS at MATCH (a:Fact)-[e:LINKS]->(b:Fact) WHERE elementId(e) = $keys[at]
WITH at, a, e, b ORDER BY at RETURN [at, a.id, b.id, e.kind] AS row
"""


def _fetch_clock_days(rule: DecayRule) -> QuerySteps[list[int] | None]:
    return (yield from fetch_active_days()) if rule.clock == "use" else None


def fetch_active_days() -> QuerySteps[list[int]]:
    """The days since 1970 on which the memory was in use, in order."""
    spans = yield CypherQuery("MATCH (s:Span) RETURN [s.begun, s.ended] AS row")
    return list_days_in_use((begun, ended) for begun, ended in spans)


def write_curation(change: Change) -> QuerySteps[EdgeCounts]:
    """Archive, supersede, review, decay and prune. Returns how many edges changed and ended."""
    yield from _archive_facts(change)
    counts = EdgeCounts()
    if change.curation == NO_CURATION:
        return counts
    yield from _write_supersedes_and_reviews(change.curation)
    for rule in change.curation.fades:
        counts += yield from write_edge_decay(rule, change.now)
    if change.curation.prune is not None:
        counts += EdgeCounts(ended=(yield from _prune_weak_edges(change.curation.prune, change.now)))
    return counts


def _archive_facts(change: Change) -> QuerySteps[None]:
    now = to_microseconds(change.now)
    if change.archive:
        rows = [{"id": id, "archived": archived} for id, archived in change.archive.items()]
        yield CypherQuery(_SET_ARCHIVED, {"rows": rows, "now": now})
    if change.curation.because:
        rows = [{"id": id, "why": why} for id, why in change.curation.because.items()]
        yield CypherQuery(_SET_ARCHIVE_REASON, {"rows": rows, "now": now})


_SET_ARCHIVED = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.archived = r.archived, f.archived_because = '', f.archived_at = $now
"""
_SET_ARCHIVE_REASON = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) WHERE f.archived SET f.archived_because = r.why, f.archived_at = $now
"""


def _write_supersedes_and_reviews(curation: CurationChange) -> QuerySteps[None]:
    """Supersede facts, withdraw successors, and write reviews."""
    if curation.restored:
        yield CypherQuery(_UNDO_SUPERSEDE, {"rows": [{"old": old, "new": new} for old, new in curation.restored]})
    if curation.superseded:
        rows = [{"old": one.old, "new": one.new, "until": to_microseconds(one.until)} for one in curation.superseded]
        yield CypherQuery(_SUPERSEDE_FACTS, {"rows": rows})
    if curation.reviews:
        rows = [{"old": one.old, "new": one.new, "why": one.why, "state": one.state} for one in curation.reviews]
        yield CypherQuery(_WRITE_REVIEWS, {"rows": rows})


# Mirrors `latest_end`.
_LATEST_END = """CASE WHEN all(one IN every WHERE one.valid_until IS NOT NULL) THEN
    reduce(last = every[0].valid_until, one IN every | CASE WHEN one.valid_until > last THEN one.valid_until ELSE last END) END"""
# Each row sees what the row before it did. The end that the older fact had before any successor is kept with each of them.
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
# Withdraw a successor: the older fact is valid as long as before any successor.
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
        parts.append((yield from _preview_rule(rule, now, examples)))  # noqa: PERF401 a comprehension cannot yield
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
    days = yield from fetch_active_days()
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
    stored_at = from_microseconds(times[0])
    used_at = from_microseconds(max(at for at in times if at is not None))
    assert stored_at is not None, "a fact knows when it was stored"
    assert used_at is not None, "a fact was used when it was stored"
    size = (text if isinstance(text, int) else len(text.encode())) + len(stored or b"")
    return FactUsage(id, category, pinned, stored_at, used_at, importance, FeedbackCounts(*use).success, size)


def fetch_health() -> QuerySteps[GraphHealth]:
    """Count facts without links. Nothing dangles: a server keeps no relationship without its ends."""
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
