"""Learning from use: feedback, judged recalls, active hours and the recall log."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cofire.algorithms import reinforcement
from cofire.algorithms.decay import UsagePeriod, extend_usage_period
from cofire.index.timestamps import from_microseconds, to_microseconds
from cofire.model import Change, EdgeCounts
from cofire.stores.learning_rows import (
    MAX_JUDGED_RECALLS,
    CommunityMembers,
    EdgeAdjustment,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    PathEdge,
    RecallLogOptions,
)
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, Row, join_queries
from cofire.stores.neo4j.graph_writes import lock_edges, write_changed_edges
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.recall_log import (
    MAX_EXPOSURE_PAIRS,
    MAX_RECALL_SESSIONS,
    assign_sessions,
    collect_path_ids,
    list_exposures,
    list_judgements,
    make_documented_lessons,
    make_exposure_lessons,
    make_judged_recall,
    needs_cleanup,
)


def write_learning(change: Change) -> QuerySteps[EdgeCounts]:
    """Write what a change has learned from use: feedback, judged recalls and lessons about edges."""
    if change.uses:
        rows = [{"id": id, "helped": counts.helped, "hurt": counts.hurt} for id, counts in sorted(change.uses.items())]
        yield CypherQuery(_ADD_FACT_USE, {"rows": rows})
    if change.occasions:
        yield from write_judged_recalls(change.occasions)
    return (yield from apply_lessons(change.lessons, change.now))


_ADD_FACT_USE = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id})
SET f.helped = coalesce(f.helped, 0) + r.helped, f.hurt = coalesce(f.hurt, 0) + r.hurt
"""


def apply_lessons(lessons: Sequence[EdgeAdjustment], now: datetime) -> QuerySteps[EdgeCounts]:
    """Strengthen and weaken edges; `EdgeChanges.learn` is the rule."""
    if not lessons:
        return EdgeCounts()
    forward = [(lesson.source, lesson.target, lesson.kind) for lesson in lessons]
    backward = [(target, source, kind) for source, target, kind in forward]
    changes = yield from lock_edges([*forward, *backward], now)
    for lesson in lessons:
        changes.learn(lesson)
    yield from write_changed_edges(changes, now)
    return changes.counts


def fetch_uses(ids: Sequence[str]) -> QuerySteps[dict[str, FeedbackCounts]]:
    """How often facts helped and hurt. Facts without feedback are left out."""
    found = yield CypherQuery(_FETCH_USES, {"ids": list(ids)})
    return {id: FeedbackCounts(helped, hurt) for id, helped, hurt in found}


_FETCH_USES = "MATCH (f:Fact) WHERE f.id IN $ids AND f.helped IS NOT NULL RETURN [f.id, f.helped, f.hurt] AS row"


def write_judged_recalls(judged: Sequence[JudgedRecall]) -> QuerySteps[None]:
    """Keep judged recalls and drop the oldest. A verdict on a fact replaces an earlier one, no verdict leaves it."""
    last = yield CypherQuery(_FETCH_LAST_JUDGED_NUMBER)
    first = 1 + int(last[0][0] if last else 0)
    rows = [
        {"id": recall.id, "number": number, "facts": [list(row) for row in list_judgements(recall)]}
        for number, recall in enumerate(judged, first)
    ]
    yield CypherQuery(_WRITE_JUDGED_RECALLS, {"rows": rows})
    yield CypherQuery(_DELETE_OLD_JUDGED_RECALLS, {"number": first + len(rows) - 1 - MAX_JUDGED_RECALLS})


_FETCH_LAST_JUDGED_NUMBER = (
    "MATCH (o:Occasion) WHERE o.number > 0 RETURN [o.number] AS row ORDER BY o.number DESC LIMIT 1"
)
_WRITE_JUDGED_RECALLS = """
UNWIND $rows AS r CALL (r) {
  MERGE (o:Occasion {id: r.id}) ON CREATE SET o.number = r.number
  WITH o UNWIND r.facts AS judgement MATCH (f:Fact {id: judgement[0]})
  MERGE (o)-[j:JUDGED]->(f) ON CREATE SET j.verdict = 0
  SET j.first = judgement[1], j.verdict = CASE WHEN judgement[2] = 0 THEN j.verdict ELSE judgement[2] END
}
"""
_DELETE_OLD_JUDGED_RECALLS = "MATCH (o:Occasion) WHERE o.number <= $number DETACH DELETE o"


def find_similar_recalls(brought: Prefetch, ids: Sequence[str], limit: int) -> QuerySteps[list[JudgedRecall]]:
    """Judged recalls with at least two of these facts at their first places: those with most of them, then the newest."""
    prefetched = brought.occasions(ids, limit)
    if prefetched is not None:
        return prefetched
    rows = yield CypherQuery(_FIND_SIMILAR_RECALLS, {"ids": list(ids), "limit": limit})
    return [make_judged_recall(id, judgements) for id, judgements in rows]


_FIND_SIMILAR_RECALLS = """
MATCH (f:Fact)<-[j:JUDGED]-(o:Occasion) WHERE f.id IN $ids AND j.first
WITH o, count(*) AS shared WHERE shared > 1
WITH o, shared ORDER BY shared DESC, o.number DESC, o.id LIMIT $limit
CALL (o) { MATCH (o)-[j:JUDGED]->(f:Fact) RETURN collect([f.id, j.first, j.verdict]) AS said }
RETURN [o.id, said] AS row ORDER BY shared DESC, o.number DESC, o.id
"""


def fetch_communities(scopes: Sequence[str] | None, limit: int, most: int) -> QuerySteps[list[CommunityMembers]]:
    """Communities, the largest first, each with its most central facts."""
    asked = {"scopes": None if scopes is None else list(scopes), "limit": limit, "most": most}
    return [
        CommunityMembers(scope, number, size, tuple(ids))
        for scope, number, size, ids in (yield CypherQuery(_FETCH_COMMUNITIES, asked))
    ]


_FETCH_COMMUNITIES = """
MATCH (f:Fact) WHERE f.community IS NOT NULL AND NOT f.archived AND ($scopes IS NULL OR f.scope IN $scopes)
WITH f.scope AS scope, f.community AS number, count(*) AS size ORDER BY size DESC, scope, number LIMIT $limit
CALL (scope, number) {
  MATCH (f:Fact) WHERE f.community = number AND f.scope = scope AND NOT f.archived
  WITH f ORDER BY f.pagerank DESC, f.id LIMIT $most RETURN collect(f.id) AS ids
}
RETURN [scope, number, size, ids] AS row ORDER BY size DESC, scope, number
"""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A time of use, and the hours of those before it."""

    span: UsagePeriod
    before: float

    @property
    def hours(self) -> float:
        return self.before + self.span.hours


def fetch_last_use() -> QuerySteps[ClockReading | None]:
    """The last time of use, as it is written."""
    found = yield CypherQuery(_FETCH_LAST_USE)
    return _decode_clock_reading(*found[0]) if found else None


_FETCH_LAST_USE = """
MATCH (s:Span) WHERE s.ended IS NOT NULL RETURN [s.begun, s.ended, s.hours_before] AS row ORDER BY s.ended DESC LIMIT 1
"""


def fetch_active_hours() -> QuerySteps[float]:
    """The clock as of the last use."""
    last = yield from fetch_last_use()
    return last.hours if last else 0.0


def advance_clock(last: ClockReading | None, now: datetime, idle_minutes: float) -> ClockReading:
    """The memory is used now: the clock runs on, or starts again after a pause."""
    span = extend_usage_period(last.span if last else None, now, idle=timedelta(minutes=idle_minutes))
    if last is None:
        return ClockReading(span, 0.0)
    return ClockReading(span, last.before if span.begun == last.span.begun else last.hours)


def record_use_times(moments: Iterable[datetime], idle_minutes: float) -> QuerySteps[None]:
    """The memory was used at these moments."""
    last = before = yield from fetch_last_use()
    run: list[ClockReading] = []
    for at in sorted(moments):
        last = advance_clock(last, at, idle_minutes)
        run = [one for one in run if one.span.begun != last.span.begun] + [last]
    yield from write_spans([one for one in run if one != before])


def write_spans(run: Sequence[ClockReading]) -> QuerySteps[None]:
    """Note times of use. Late in a change, since others who are at work have to wait for it."""
    if run:
        yield CypherQuery(
            _WRITE_SPANS,
            {"run": [[to_microseconds(one.span.begun), to_microseconds(one.span.ended), one.before] for one in run]},
        )


_WRITE_SPANS = """
UNWIND $run AS r MERGE (s:Span {begun: r[0]}) ON CREATE SET s.ended = r[1], s.hours_before = r[2]
SET s.ended = CASE WHEN s.ended < r[1] THEN r[1] ELSE s.ended END
"""


def _decode_clock_reading(begun: int, ended: int, before: float) -> ClockReading:
    first, last = from_microseconds(begun), from_microseconds(ended)
    assert first is not None, "a span has a beginning"
    assert last is not None, "a span has an end"
    return ClockReading(UsagePeriod(first, last), before)


# Recalls that are written together.
RECALLS_PER_WRITE = 64

# A fact as logs keep it, which may outlive it: its scope and its number there. They mean nothing once it is gone.
ScopeNumber = tuple[str, int]


def write_recalls(waiting: Sequence[LoggedRecall], options: RecallLogOptions) -> QuerySteps[None]:
    """Log recalls, drop the oldest, and learn from what was shown together. A recall is also use of the memory."""
    yield from record_use_times((shown.at for shown in waiting), options.idle_minutes)
    names = sorted({shown.session for shown in waiting if shown.session is not None})
    ids = {id for shown in waiting for id in (*shown.ids, *shown.ways, *collect_path_ids(shown))}
    [[facts, last, sessions]] = yield join_queries(
        [
            CypherQuery(_FETCH_FACT_NUMBERS, {"ids": sorted(ids)}),
            CypherQuery(_FETCH_LAST_RECALL_NUMBER),
            CypherQuery(_FETCH_LAST_SESSIONS, {"names": [None, *names]}),
        ]
    )
    numbers = {str(id): (str(scope), int(number)) for id, scope, number in facts}
    first = 1 + int(last[0][0] if last else 0)
    newest = first + len(waiting) - 1
    rows = [_build_recall_row(shown, number, numbers) for number, shown in enumerate(waiting, first)]
    yield CypherQuery(_WRITE_RECALLS, {"rows": rows})
    yield CypherQuery("MATCH (r:Recall) WHERE r.number <= $number DETACH DELETE r", {"number": newest - options.most})
    lessons = yield from _derive_lessons(waiting, options, numbers, sessions)
    yield from apply_lessons(lessons, waiting[-1].at)
    if needs_cleanup(newest, len(waiting)):
        yield from _prune_exposures()


_FETCH_FACT_NUMBERS = "MATCH (f:Fact) WHERE f.id IN $ids AND f.number > 0 RETURN [f.id, f.scope, f.number] AS row"
_FETCH_LAST_RECALL_NUMBER = (
    "MATCH (r:Recall) WHERE r.number > 0 RETURN [r.number] AS row ORDER BY r.number DESC LIMIT 1"
)
_FETCH_LAST_SESSIONS = """
UNWIND $names AS name CALL (name) {
  MATCH (s:RecallSession) WHERE s.number > 0 AND (s.name = name OR (s.name IS NULL AND name IS NULL))
  RETURN s ORDER BY s.number DESC LIMIT 1
}
RETURN [name, s.number, s.ended] AS row
"""
_WRITE_RECALLS = """
UNWIND $rows AS r CALL (r) {
  MERGE (c:Recall {id: r.id}) SET c.at = r.at, c.session = r.session, c.number = r.number
  WITH c UNWIND r.shown AS one MATCH (f:Fact {id: one.id})
  MERGE (c)-[s:SHOWED]->(f) SET s.place = one.place, s.ways = one.ways
}
"""


def _build_recall_row(shown: LoggedRecall, number: int, numbers: Mapping[str, ScopeNumber]) -> dict[str, Any]:
    place = {id: at for at, id in reversed(list(enumerate(shown.ids)))}
    facts = [
        {"id": id, "place": place.get(id), "ways": _encode_paths(shown.ways.get(id, ()), numbers)}
        for id in dict.fromkeys([*shown.ids, *shown.ways])
        if id in numbers
    ]
    return {"id": shown.id, "at": to_microseconds(shown.at), "session": shown.session, "number": number, "shown": facts}


def _encode_paths(edges: Iterable[PathEdge], numbers: Mapping[str, ScopeNumber]) -> str | None:
    """The edges that led to a fact, by scopes and numbers."""
    encoded = [
        [*numbers[edge.source], *numbers[edge.target], edge.kind]
        for edge in edges
        if edge.source in numbers and edge.target in numbers
    ]
    return json.dumps(encoded, ensure_ascii=False, separators=(",", ":")) if encoded else None


def read_recall(id: str) -> QuerySteps[LoggedRecall | None]:
    """What a recall showed, without what was forgotten since."""
    found = yield CypherQuery(_READ_RECALL, {"id": id})
    if not found:
        return None
    at, session, shown = found[0]
    led = {fact: json.loads(ways) for fact, _, ways in shown if ways}
    ends = {place for ways in led.values() for way in ways for place in ((way[0], way[1]), (way[2], way[3]))}
    ids = (yield from _fetch_ids_by_number(ends)) if ends else {}
    ways = {fact: _decode_paths(said, ids) for fact, said in led.items()}
    when = from_microseconds(at)
    assert when is not None, "a recall has its moment"
    placed = sorted((place, fact) for fact, place, _ in shown if place is not None)
    return LoggedRecall(
        id, when, session, tuple(fact for _, fact in placed), {fact: one for fact, one in ways.items() if one}
    )


_READ_RECALL = """
MATCH (r:Recall {id: $id})
CALL (r) { MATCH (r)-[s:SHOWED]->(f:Fact) RETURN collect([f.id, s.place, s.ways]) AS shown }
RETURN [r.at, r.session, shown] AS row
"""


def _fetch_ids_by_number(places: Iterable[ScopeNumber]) -> QuerySteps[dict[ScopeNumber, str]]:
    found = yield CypherQuery(_FETCH_IDS_BY_NUMBER, {"places": [list(place) for place in sorted(places)]})
    return {(scope, number): id for scope, number, id in found}


_FETCH_IDS_BY_NUMBER = """
UNWIND $places AS p MATCH (f:Fact) WHERE f.scope = p[0] AND f.number = p[1] RETURN [f.scope, f.number, f.id] AS row
"""


def _decode_paths(said: Sequence[Row], ids: Mapping[ScopeNumber, str]) -> tuple[PathEdge, ...]:
    ends = [(ids.get((way[0], way[1])), ids.get((way[2], way[3])), way[4]) for way in said]
    return tuple(PathEdge(source, target, kind) for source, target, kind in ends if source and target)


def _derive_lessons(
    recalls: Sequence[LoggedRecall],
    options: RecallLogOptions,
    stored: Collection[str],
    sessions: Sequence[Row],
) -> QuerySteps[list[EdgeAdjustment]]:
    """What exposure teaches, by the rule of the settings."""
    if options.rule == "documented":
        return make_documented_lessons(recalls)
    if options.rule != "earned":
        return []
    numbers = yield from _assign_stored_sessions(recalls, options.idle_minutes, sessions)
    sessions_of: dict[tuple[str, str], list[int]] = {}
    for a, b, session in list_exposures(recalls, numbers, stored):
        sessions_of.setdefault((a, b), []).append(session)
    if not sessions_of:
        return []
    pairs = [{"a": a, "b": b, "sessions": shown_in} for (a, b), shown_in in sessions_of.items()]
    yield CypherQuery(_COUNT_EXPOSURES, {"pairs": pairs})
    earned = yield CypherQuery(_DELETE_EARNED_PAIRS, {"pairs": pairs, "enough": reinforcement.MIN_DISTINCT_SESSIONS})
    return make_exposure_lessons((a, b) for a, b in sorted(earned))


# Mirrors the earned rule of `list_exposures`: each later session counts once.
_COUNT_EXPOSURES = """
UNWIND $pairs AS p MATCH (a:Fact {id: p.a}), (b:Fact {id: p.b}) WHERE a.scope = b.scope
MERGE (a)-[w:SHOWN_WITH]->(b) ON CREATE SET w.sessions = 0, w.last = -1
SET w.sessions = w.sessions + size([one IN p.sessions WHERE one > w.last]),
  w.last = CASE WHEN p.sessions[-1] > w.last THEN p.sessions[-1] ELSE w.last END
"""
_DELETE_EARNED_PAIRS = """
UNWIND $pairs AS p MATCH (a:Fact {id: p.a})-[w:SHOWN_WITH]->(b:Fact {id: p.b}) WHERE w.sessions >= $enough
WITH a.id AS a, b.id AS b, w DELETE w RETURN [a, b] AS row
"""


def _assign_stored_sessions(
    recalls: Sequence[LoggedRecall], idle_minutes: float, stored: Sequence[Row]
) -> QuerySteps[list[int]]:
    """The number of the session that each recall belongs to; `assign_sessions` is the rule."""
    last = {name: (number, ended) for name, number, ended in stored}
    [[newest]] = yield CypherQuery(_FETCH_NEWEST_SESSION_NUMBER)
    numbers, sessions = assign_sessions(recalls, idle_minutes, last, newest)
    rows = [{"name": name, "number": number, "ended": ended} for name, (number, ended) in sessions.items()]
    yield CypherQuery(_WRITE_SESSIONS, {"rows": rows})
    return numbers


_FETCH_NEWEST_SESSION_NUMBER = (
    "MATCH (s:RecallSession) WITH coalesce(max(s.number), 0) AS newest RETURN [newest] AS row"
)
_WRITE_SESSIONS = """
UNWIND $rows AS r MERGE (s:RecallSession {number: r.number}) SET s.name = r.name, s.ended = r.ended
"""


def _prune_exposures() -> QuerySteps[None]:
    """Drop the pairs that were shown longest ago, and old sessions."""
    [[pairs]] = yield CypherQuery("MATCH ()-[w:SHOWN_WITH]->() WITH count(w) AS pairs RETURN [pairs] AS row")
    if pairs > MAX_EXPOSURE_PAIRS:
        yield CypherQuery(_DELETE_OLDEST_PAIRS, {"many": pairs - MAX_EXPOSURE_PAIRS})
    yield CypherQuery(_DELETE_OLD_SESSIONS, {"kept": MAX_RECALL_SESSIONS})


_DELETE_OLDEST_PAIRS = """
MATCH (a:Fact)-[w:SHOWN_WITH]->(b:Fact) WITH w ORDER BY w.last, w.sessions, a.id, b.id LIMIT $many DELETE w
"""
_DELETE_OLD_SESSIONS = """
MATCH (s:RecallSession) WITH max(s.number) AS newest MATCH (s:RecallSession) WHERE s.number <= newest - $kept DELETE s
"""
