"""Learning from use: feedback, judged recalls, active hours and the recall log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from cofire.algorithms import reinforcement
from cofire.algorithms.decay import UsagePeriod, extend_usage_period
from cofire.index.timestamps import DISTANT_PAST, from_microseconds, to_microseconds
from cofire.model import Change, EdgeCounts
from cofire.stores.learning_rows import (
    HEBBIAN_KIND,
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
from cofire.stores.neo4j.prefetch import Prefetch, build_judged_recall


def write_learning(change: Change) -> QuerySteps[EdgeCounts]:
    """Everything of a change that use has taught."""
    if change.uses:
        rows = [{"id": id, "helped": one.helped, "hurt": one.hurt} for id, one in sorted(change.uses.items())]
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
    """How facts fared; those of which nobody said anything are left out."""
    found = yield CypherQuery(_FETCH_USES, {"ids": list(ids)})
    return {id: FeedbackCounts(helped, hurt) for id, helped, hurt in found}


_FETCH_USES = "MATCH (f:Fact) WHERE f.id IN $ids AND f.helped IS NOT NULL RETURN [f.id, f.helped, f.hurt] AS row"


def write_judged_recalls(judged: Sequence[JudgedRecall]) -> QuerySteps[None]:
    """Keep judged recalls; what was said of one before holds as far as nothing else is said now. The oldest go."""
    last = yield CypherQuery(_FETCH_LAST_JUDGED_NUMBER)
    first = 1 + int(last[0][0] if last else 0)
    rows = [{"id": one.id, "number": first + at, "facts": _build_judgement_rows(one)} for at, one in enumerate(judged)]
    yield CypherQuery(_WRITE_JUDGED_RECALLS, {"rows": rows})
    yield CypherQuery(_DELETE_OLD_JUDGED_RECALLS, {"number": first + len(rows) - 1 - MAX_JUDGED_RECALLS})


def _build_judgement_rows(one: JudgedRecall) -> list[dict[str, Any]]:
    return [
        {"id": id, "first": id in one.first, "verdict": (id in one.helped) - (id in one.hurt)}
        for id in sorted(one.first | one.helped | one.hurt)
    ]


_FETCH_LAST_JUDGED_NUMBER = (
    "MATCH (o:Occasion) WHERE o.number > 0 RETURN [o.number] AS row ORDER BY o.number DESC LIMIT 1"
)
_WRITE_JUDGED_RECALLS = """
UNWIND $rows AS r CALL (r) {
  MERGE (o:Occasion {id: r.id}) ON CREATE SET o.number = r.number
  WITH o UNWIND r.facts AS said MATCH (f:Fact {id: said.id})
  MERGE (o)-[j:JUDGED]->(f) ON CREATE SET j.verdict = 0
  SET j.first = said.first, j.verdict = CASE WHEN said.verdict = 0 THEN j.verdict ELSE said.verdict END
}
"""
_DELETE_OLD_JUDGED_RECALLS = "MATCH (o:Occasion) WHERE o.number <= $number DETACH DELETE o"


def find_similar_recalls(brought: Prefetch, ids: Sequence[str], limit: int) -> QuerySteps[list[JudgedRecall]]:
    """Those that had at least two of these facts at their first places, those with most of them and then the newest first."""
    at_hand = brought.occasions(ids, limit)
    if at_hand is not None:
        return at_hand
    found = yield CypherQuery(_FIND_SIMILAR_RECALLS, {"ids": list(ids), "limit": limit})
    return [build_judged_recall(id, said) for id, said in found]


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


# Recalls that are written together, and that wait at most while others keep the store busy.
RECALLS_PER_WRITE, MAX_WAITING_RECALLS = 64, 1_024
# Every so many recalls it is seen to that pairs and sessions do not become too many.
RECALLS_PER_CLEANUP, MAX_EXPOSURE_PAIRS, MAX_RECALL_SESSIONS = 1_024, 200_000, 1_000

# Where a fact stands, for those who may outlive it: a scope, and its number there, which mean nothing once it is gone.
ScopeNumber = tuple[str, int]

_logger = logging.getLogger("cofire")


class Neo4jRecallBuffer:
    """What was shown and is not written yet. What is lost here was of statistics only."""

    def __init__(self) -> None:
        self._waiting: list[LoggedRecall] = []
        self._keeping: RecallLogOptions | None = None
        self._lock = Lock()

    def add(self, shown: LoggedRecall, keeping: RecallLogOptions) -> list[LoggedRecall]:
        """Keep one more; when it is time to write, all that waits is handed over."""
        with self._lock:
            self._keeping = keeping
            self._waiting.append(shown)
            due = keeping.rule == "documented" or len(self._waiting) >= RECALLS_PER_WRITE
        return self.take()[0] if due else []

    def take(self) -> tuple[list[LoggedRecall], RecallLogOptions | None]:
        """All that waits, and how it is kept; it waits no longer."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            return waiting, self._keeping

    def find(self, id: str) -> LoggedRecall | None:
        with self._lock:
            return next((one for one in self._waiting if one.id == id), None)


def warn_log_lost(error: Exception) -> None:
    """What was shown is told to whoever reads the log of the program, when it cannot be kept."""
    _logger.warning("What recalls showed could not be logged: %s", error)


def write_recalls(waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> QuerySteps[None]:
    """Log recalls, which are use of the memory, let the oldest go, and learn from what was shown together."""
    yield from record_use_times((one.at for one in waiting), keeping.idle_minutes)
    names = sorted({one.session for one in waiting if one.session is not None})
    [[facts, last, sessions]] = yield join_queries(
        [
            CypherQuery(_FETCH_FACT_NUMBERS, {"ids": sorted({id for one in waiting for id in _collect_fact_ids(one)})}),
            CypherQuery(_FETCH_LAST_RECALL_NUMBER),
            CypherQuery(_FETCH_LAST_SESSIONS, {"names": [None, *names]}),
        ]
    )
    places = {str(id): (str(scope), int(number)) for id, scope, number in facts}
    before = int(last[0][0]) if last else 0
    newest = before + len(waiting)
    rows = [_build_recall_row(one, before + at, places) for at, one in enumerate(waiting, 1)]
    yield CypherQuery(_WRITE_RECALLS, {"rows": rows})
    yield CypherQuery("MATCH (r:Recall) WHERE r.number <= $number DETACH DELETE r", {"number": newest - keeping.most})
    lessons = yield from _derive_lessons(waiting, keeping, places, sessions)
    yield from apply_lessons(lessons, waiting[-1].at)
    if newest // RECALLS_PER_CLEANUP != before // RECALLS_PER_CLEANUP:
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


def _collect_fact_ids(shown: LoggedRecall) -> set[str]:
    on_ways = {id for ways in shown.ways.values() for way in ways for id in (way.source, way.target)}
    return {*shown.ids, *shown.ways, *on_ways}


def _build_recall_row(shown: LoggedRecall, number: int, places: Mapping[str, ScopeNumber]) -> dict[str, Any]:
    at = {id: place for place, id in reversed(list(enumerate(shown.ids)))}
    known = [id for id in dict.fromkeys([*shown.ids, *shown.ways]) if id in places]
    facts = [{"id": id, "place": at.get(id), "ways": _encode_paths(shown.ways.get(id, ()), places)} for id in known]
    return {"id": shown.id, "at": to_microseconds(shown.at), "session": shown.session, "number": number, "shown": facts}


def _encode_paths(ways: Iterable[PathEdge], places: Mapping[str, ScopeNumber]) -> str | None:
    known = [way for way in ways if way.source in places and way.target in places]
    said = [[*places[way.source], *places[way.target], way.kind] for way in known]
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) if said else None


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
    waiting: Sequence[LoggedRecall],
    keeping: RecallLogOptions,
    places: Mapping[str, ScopeNumber],
    sessions: Sequence[Row],
) -> QuerySteps[list[EdgeAdjustment]]:
    """What exposure teaches, by the rule that holds."""
    if keeping.rule == "documented":
        together = [pair for one in waiting for pair in reinforcement.list_id_pairs(one.ids)]
        return [EdgeAdjustment(a, b, HEBBIAN_KIND, reinforcement.HEBBIAN_STEP) for a, b in together]
    if keeping.rule != "earned":
        return []
    seen: dict[tuple[str, str], set[int]] = {}
    for one, session in zip(
        waiting, (yield from _assign_sessions(waiting, keeping.idle_minutes, sessions)), strict=True
    ):
        for pair in reinforcement.list_id_pairs([id for id in one.ids[: reinforcement.COUNTED_RANKS] if id in places]):
            seen.setdefault(pair, set()).add(session)
    return (yield from _count_exposures(seen))


def _count_exposures(seen: Mapping[tuple[str, str], set[int]]) -> QuerySteps[list[EdgeAdjustment]]:
    """Count in how many sessions pairs were shown; those that have been in enough of them earn a step, and begin anew."""
    pairs = [{"a": a, "b": b, "sessions": sorted(numbers)} for (a, b), numbers in sorted(seen.items())]
    if not pairs:
        return []
    yield CypherQuery(_COUNT_EXPOSURES, {"pairs": pairs})
    earned = yield CypherQuery(_DELETE_EARNED_PAIRS, {"pairs": pairs, "enough": reinforcement.MIN_DISTINCT_SESSIONS})
    return [EdgeAdjustment(a, b, HEBBIAN_KIND, reinforcement.HEBBIAN_STEP) for a, b in sorted(earned)]


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


def _assign_sessions(
    waiting: Sequence[LoggedRecall], idle_minutes: float, known: Sequence[Row]
) -> QuerySteps[list[int]]:
    """The session that each recall was of, by name or without one; after a pause it is another."""
    idle, found = idle_minutes * 60_000_000, list[int]()
    last: dict[str | None, tuple[int, int]] = {name: (number, ended) for name, number, ended in known}
    [[newest]] = yield CypherQuery(_FETCH_NEWEST_SESSION_NUMBER)
    for one in waiting:
        at = to_microseconds(one.at)
        number, ended = last.get(one.session, (0, DISTANT_PAST))
        if at - ended > idle:
            number = newest = newest + 1
        last[one.session] = number, max(at, ended)
        found.append(number)
    used = {one.session for one in waiting}
    rows = [{"name": name, "number": number, "ended": ended} for name, (number, ended) in last.items() if name in used]
    yield CypherQuery(_WRITE_SESSIONS, {"rows": rows})
    return found


_FETCH_NEWEST_SESSION_NUMBER = (
    "MATCH (s:RecallSession) WITH coalesce(max(s.number), 0) AS newest RETURN [newest] AS row"
)
_WRITE_SESSIONS = """
UNWIND $rows AS r MERGE (s:RecallSession {number: r.number}) SET s.name = r.name, s.ended = r.ended
"""


def _prune_exposures() -> QuerySteps[None]:
    """Let go of pairs that were shown longest ago, and of old sessions."""
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
