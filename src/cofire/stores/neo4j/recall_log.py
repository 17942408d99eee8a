"""The log of what was shown: kept in the process for a while, then written many at once, and read back."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from cofire.dynamics import hebbian
from cofire.learned import HEBBIAN, Keeping, Lesson, Shown, Way
from cofire.stores.index.moments import LONG_AGO, moment, stamp
from cofire.stores.neo4j import clock, learning
from cofire.stores.neo4j.querying import Query, Querying, Row, joined

# Recalls that are written together, and that wait at most while others keep the store busy.
TOGETHER, WAITING = 64, 1_024
# Every so many recalls it is seen to that pairs and sessions do not become too many.
TIDIED, MOST_PAIRS, MOST_SESSIONS = 1_024, 200_000, 1_000

# Where a fact stands, for those who may outlive it: a scope, and its number there, which mean nothing once it is gone.
Place = tuple[str, int]

_log = logging.getLogger("cofire")


class Shelved:
    """What was shown and is not written yet. What is lost here was of statistics only."""

    def __init__(self) -> None:
        self._waiting: list[Shown] = []
        self._keeping: Keeping | None = None
        self._lock = Lock()

    def add(self, shown: Shown, keeping: Keeping) -> list[Shown]:
        """Keep one more; when it is time to write, all that waits is handed over."""
        with self._lock:
            self._keeping = keeping
            self._waiting.append(shown)
            due = keeping.rule == "documented" or len(self._waiting) >= TOGETHER
        return self.take()[0] if due else []

    def take(self) -> tuple[list[Shown], Keeping | None]:
        """All that waits, and how it is kept; it waits no longer."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            return waiting, self._keeping

    def find(self, id: str) -> Shown | None:
        with self._lock:
            return next((one for one in self._waiting if one.id == id), None)


def give_up(error: Exception) -> None:
    """What was shown is told to whoever reads the log of the program, when it cannot be kept."""
    _log.warning("What recalls showed could not be logged: %s", error)


def write(waiting: Sequence[Shown], keeping: Keeping) -> Querying[None]:
    """Log recalls, which are use of the memory, let the oldest go, and learn from what was shown together."""
    yield from clock.run_through((one.at for one in waiting), keeping.idle_minutes)
    names = sorted({one.session for one in waiting if one.session is not None})
    [[facts, last, sessions]] = yield joined(
        [
            Query(_PLACES, {"ids": sorted({id for one in waiting for id in _spoken_of(one)})}),
            Query(_LAST_RECALL),
            Query(_LAST_SESSIONS, {"names": [None, *names]}),
        ]
    )
    places = {str(id): (str(scope), int(number)) for id, scope, number in facts}
    before = int(last[0][0]) if last else 0
    newest = before + len(waiting)
    rows = [_row(one, before + at, places) for at, one in enumerate(waiting, 1)]
    yield Query(_LOG, {"rows": rows})
    yield Query("MATCH (r:Recall) WHERE r.number <= $number DETACH DELETE r", {"number": newest - keeping.most})
    lessons = yield from _lessons(waiting, keeping, places, sessions)
    yield from learning.teach(lessons, waiting[-1].at)
    if newest // TIDIED != before // TIDIED:
        yield from _tidy()


_PLACES = "MATCH (f:Fact) WHERE f.id IN $ids AND f.number > 0 RETURN [f.id, f.scope, f.number] AS row"
_LAST_RECALL = "MATCH (r:Recall) WHERE r.number > 0 RETURN [r.number] AS row ORDER BY r.number DESC LIMIT 1"
_LAST_SESSIONS = """
UNWIND $names AS name CALL (name) {
  MATCH (s:RecallSession) WHERE s.number > 0 AND (s.name = name OR (s.name IS NULL AND name IS NULL))
  RETURN s ORDER BY s.number DESC LIMIT 1
}
RETURN [name, s.number, s.ended] AS row
"""
_LOG = """
UNWIND $rows AS r CALL (r) {
  MERGE (c:Recall {id: r.id}) SET c.at = r.at, c.session = r.session, c.number = r.number
  WITH c UNWIND r.shown AS one MATCH (f:Fact {id: one.id})
  MERGE (c)-[s:SHOWED]->(f) SET s.place = one.place, s.ways = one.ways
}
"""


def _spoken_of(shown: Shown) -> set[str]:
    on_ways = {id for ways in shown.ways.values() for way in ways for id in (way.source, way.target)}
    return {*shown.ids, *shown.ways, *on_ways}


def _row(shown: Shown, number: int, places: Mapping[str, Place]) -> dict[str, Any]:
    at = {id: place for place, id in reversed(list(enumerate(shown.ids)))}
    known = [id for id in dict.fromkeys([*shown.ids, *shown.ways]) if id in places]
    facts = [{"id": id, "place": at.get(id), "ways": _packed(shown.ways.get(id, ()), places)} for id in known]
    return {"id": shown.id, "at": stamp(shown.at), "session": shown.session, "number": number, "shown": facts}


def _packed(ways: Iterable[Way], places: Mapping[str, Place]) -> str | None:
    known = [way for way in ways if way.source in places and way.target in places]
    said = [[*places[way.source], *places[way.target], way.kind] for way in known]
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) if said else None


def find(id: str) -> Querying[Shown | None]:
    """What a recall showed, without what was forgotten since."""
    found = yield Query(_FIND, {"id": id})
    if not found:
        return None
    at, session, shown = found[0]
    led = {fact: json.loads(ways) for fact, _, ways in shown if ways}
    ends = {place for ways in led.values() for way in ways for place in ((way[0], way[1]), (way[2], way[3]))}
    ids = (yield from _ids(ends)) if ends else {}
    ways = {fact: _unpacked(said, ids) for fact, said in led.items()}
    when = moment(at)
    assert when is not None, "a recall has its moment"
    placed = sorted((place, fact) for fact, place, _ in shown if place is not None)
    return Shown(id, when, session, tuple(fact for _, fact in placed), {fact: one for fact, one in ways.items() if one})


_FIND = """
MATCH (r:Recall {id: $id})
CALL (r) { MATCH (r)-[s:SHOWED]->(f:Fact) RETURN collect([f.id, s.place, s.ways]) AS shown }
RETURN [r.at, r.session, shown] AS row
"""


def _ids(places: Iterable[Place]) -> Querying[dict[Place, str]]:
    found = yield Query(_STANDING, {"places": [list(place) for place in sorted(places)]})
    return {(scope, number): id for scope, number, id in found}


_STANDING = """
UNWIND $places AS p MATCH (f:Fact) WHERE f.scope = p[0] AND f.number = p[1] RETURN [f.scope, f.number, f.id] AS row
"""


def _unpacked(said: Sequence[Row], ids: Mapping[Place, str]) -> tuple[Way, ...]:
    ends = [(ids.get((way[0], way[1])), ids.get((way[2], way[3])), way[4]) for way in said]
    return tuple(Way(source, target, kind) for source, target, kind in ends if source and target)


def _lessons(
    waiting: Sequence[Shown], keeping: Keeping, places: Mapping[str, Place], sessions: Sequence[Row]
) -> Querying[list[Lesson]]:
    """What exposure teaches, by the rule that holds."""
    if keeping.rule == "documented":
        together = [pair for one in waiting for pair in hebbian.pairs(one.ids)]
        return [Lesson(a, b, HEBBIAN, hebbian.STEP) for a, b in together]
    if keeping.rule != "earned":
        return []
    seen: dict[tuple[str, str], set[int]] = {}
    for one, session in zip(waiting, (yield from _sessions(waiting, keeping.idle_minutes, sessions)), strict=True):
        for pair in hebbian.pairs([id for id in one.ids[: hebbian.PLACES_COUNT] if id in places]):
            seen.setdefault(pair, set()).add(session)
    return (yield from _earned(seen))


def _earned(seen: Mapping[tuple[str, str], set[int]]) -> Querying[list[Lesson]]:
    """Count in how many sessions pairs were shown; those that have been in enough of them earn a step, and begin anew."""
    pairs = [{"a": a, "b": b, "sessions": sorted(numbers)} for (a, b), numbers in sorted(seen.items())]
    if not pairs:
        return []
    yield Query(_SEEN, {"pairs": pairs})
    earned = yield Query(_TAKE, {"pairs": pairs, "enough": hebbian.SESSIONS_EARN})
    return [Lesson(a, b, HEBBIAN, hebbian.STEP) for a, b in sorted(earned)]


_SEEN = """
UNWIND $pairs AS p MATCH (a:Fact {id: p.a}), (b:Fact {id: p.b}) WHERE a.scope = b.scope
MERGE (a)-[w:SHOWN_WITH]->(b) ON CREATE SET w.sessions = 0, w.last = -1
SET w.sessions = w.sessions + size([one IN p.sessions WHERE one > w.last]),
  w.last = CASE WHEN p.sessions[-1] > w.last THEN p.sessions[-1] ELSE w.last END
"""
_TAKE = """
UNWIND $pairs AS p MATCH (a:Fact {id: p.a})-[w:SHOWN_WITH]->(b:Fact {id: p.b}) WHERE w.sessions >= $enough
WITH a.id AS a, b.id AS b, w DELETE w RETURN [a, b] AS row
"""


def _sessions(waiting: Sequence[Shown], idle_minutes: float, known: Sequence[Row]) -> Querying[list[int]]:
    """The session that each recall was of, by name or without one; after a pause it is another."""
    idle, found = idle_minutes * 60_000_000, list[int]()
    last: dict[str | None, tuple[int, int]] = {name: (number, ended) for name, number, ended in known}
    [[newest]] = yield Query(_NEWEST_SESSION)
    for one in waiting:
        at = stamp(one.at)
        number, ended = last.get(one.session, (0, LONG_AGO))
        if at - ended > idle:
            number = newest = newest + 1
        last[one.session] = number, max(at, ended)
        found.append(number)
    used = {one.session for one in waiting}
    rows = [{"name": name, "number": number, "ended": ended} for name, (number, ended) in last.items() if name in used]
    yield Query(_KEEP_SESSIONS, {"rows": rows})
    return found


_NEWEST_SESSION = "MATCH (s:RecallSession) WITH coalesce(max(s.number), 0) AS newest RETURN [newest] AS row"
_KEEP_SESSIONS = """
UNWIND $rows AS r MERGE (s:RecallSession {number: r.number}) SET s.name = r.name, s.ended = r.ended
"""


def _tidy() -> Querying[None]:
    """Let go of pairs that were shown longest ago, and of old sessions."""
    [[pairs]] = yield Query("MATCH ()-[w:SHOWN_WITH]->() WITH count(w) AS pairs RETURN [pairs] AS row")
    if pairs > MOST_PAIRS:
        yield Query(_OLDEST_PAIRS, {"many": pairs - MOST_PAIRS})
    yield Query(_OLD_SESSIONS, {"kept": MOST_SESSIONS})


_OLDEST_PAIRS = """
MATCH (a:Fact)-[w:SHOWN_WITH]->(b:Fact) WITH w ORDER BY w.last, w.sessions, a.id, b.id LIMIT $many DELETE w
"""
_OLD_SESSIONS = """
MATCH (s:RecallSession) WITH max(s.number) AS newest MATCH (s:RecallSession) WHERE s.number <= newest - $kept DELETE s
"""
