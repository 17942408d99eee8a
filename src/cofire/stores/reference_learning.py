"""What the reference store learns by use, in plain dictionaries: uses, the log of what was shown, and pairs shown together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import RLock
from typing import Any

from cofire.dynamics import hebbian
from cofire.learned import BY_USE, HEBBIAN, Group, Keeping, Lesson, Shown, Use
from cofire.model import Change, Edge, EdgeCounts, Fact, Importance
from cofire.stores.reference_graph import Web

Facts = Mapping[str, Fact]
Pair = tuple[str, str]


@dataclass
class Learning:
    """All that use has left behind. `sessions` has a name and an end each; `exposed` a pair's count and last session."""

    uses: dict[str, Use] = field(default_factory=dict)
    shown: dict[str, Shown] = field(default_factory=dict)
    sessions: list[tuple[str | None, datetime]] = field(default_factory=list)
    exposed: dict[Pair, tuple[int, int]] = field(default_factory=dict)

    def copy(self) -> Learning:
        return Learning(dict(self.uses), dict(self.shown), list(self.sessions), dict(self.exposed))

    def forget(self, id: str) -> None:
        self.uses.pop(id, None)
        self.shown = {key: _without(one, id) for key, one in self.shown.items()}
        self.exposed = {pair: seen for pair, seen in self.exposed.items() if id not in pair}


def _without(shown: Shown, id: str) -> Shown:
    ways = {fact: tuple(w for w in way if id not in (w.source, w.target)) for fact, way in shown.ways.items()}
    kept = {fact: way for fact, way in ways.items() if fact != id and way}
    return replace(shown, ids=tuple(one for one in shown.ids if one != id), ways=kept)


def log(learning: Learning, shown: Shown, keeping: Keeping) -> list[Lesson]:
    """Keep what was shown, and return what that teaches."""
    learning.shown[shown.id] = shown
    for id in list(learning.shown)[: -keeping.most]:
        del learning.shown[id]
    if keeping.rule == "documented":
        return [Lesson(a, b, HEBBIAN, hebbian.STEP) for a, b in hebbian.pairs(shown.ids)]
    return _earned(learning, shown, keeping) if keeping.rule == "earned" else []


def _earned(learning: Learning, shown: Shown, keeping: Keeping) -> list[Lesson]:
    session = _session(learning, shown, timedelta(minutes=keeping.idle_minutes))
    earned = []
    for pair in hebbian.pairs(shown.ids[: hebbian.PLACES_COUNT]):
        times, last = learning.exposed.get(pair, (0, -1))
        learning.exposed[pair] = (times + 1, session) if session > last else (times, last)
        if learning.exposed[pair][0] >= hebbian.SESSIONS_EARN:
            del learning.exposed[pair]
            earned.append(Lesson(*pair, HEBBIAN, hebbian.STEP))
    return earned


def _session(learning: Learning, shown: Shown, idle: timedelta) -> int:
    """The number of the session that is going on under this name; after a pause it is another."""
    for number in range(len(learning.sessions) - 1, -1, -1):
        name, ended = learning.sessions[number]
        if name == shown.session:
            if shown.at - ended > idle:
                break
            learning.sessions[number] = name, max(ended, shown.at)
            return number
    learning.sessions.append((shown.session, shown.at))
    return len(learning.sessions) - 1


def write_learning(learning: Learning, web: Web, facts: Facts, change: Change) -> EdgeCounts:
    """Everything of a change that use has taught."""
    for id, more in change.uses.items():
        if id in facts:
            learning.uses[id] = learning.uses.get(id, Use()).and_again(more)
    return teach(web, facts, change.lessons, change.now)


def teach(web: Web, facts: Facts, lessons: Iterable[Lesson], now: datetime) -> EdgeCounts:
    """Strengthen and weaken edges. What is not there is left out, but for hebbian edges that grow."""
    outcomes = [_teach(web, facts, lesson, now) for lesson in lessons]
    return EdgeCounts(outcomes.count("new"), outcomes.count("changed"))


def _teach(web: Web, facts: Facts, lesson: Lesson, now: datetime) -> str:
    one, other = facts.get(lesson.source), facts.get(lesson.target)
    if one is None or other is None or one.scope != other.scope:
        return "gone"
    there, back = (one.id, other.id, lesson.kind), (other.id, one.id, lesson.kind)
    edge = web.edges.get(there) or web.edges.get(back)
    if edge is None:
        return _make(web, one, other, lesson, now)
    if not hebbian.learns(edge.origin, step=lesson.step):
        return "same"
    web.edges[edge.source, edge.target, edge.kind] = replace(
        edge,
        weight=hebbian.weight_after(edge.weight, step=lesson.step),
        confidence=hebbian.confidence_after(edge.confidence, step=lesson.step),
    )
    if lesson.step > 0:
        web.care.seen((edge.source, edge.target, edge.kind), now)
    return "changed"


def _make(web: Web, one: Fact, other: Fact, lesson: Lesson, now: datetime) -> str:
    if lesson.kind != HEBBIAN or lesson.step <= 0:
        return "gone"
    lesson, tags = lesson.turned(), tuple(sorted(set(one.tags) & set(other.tags)))
    edge = Edge(lesson.source, lesson.target, HEBBIAN, lesson.step, None, tags, BY_USE)
    web.edges[edge.source, edge.target, edge.kind] = edge
    web.care.seen((edge.source, edge.target, edge.kind), now)
    return "new"


def groups(
    facts: Facts, rated: Mapping[str, Importance], scopes: Sequence[str] | None, limit: int, most: int
) -> list[Group]:
    """Communities, the largest first, each with its most central facts."""
    members: dict[tuple[str, int], list[Importance]] = {}
    for one in rated.values():
        fact = facts[one.fact]
        if not fact.archived and (scopes is None or fact.scope in scopes):
            members.setdefault((fact.scope, one.community), []).append(one)
    found = [
        Group(scope, number, len(ones), tuple(one.fact for one in sorted(ones, key=_most_central)[:most]))
        for (scope, number), ones in members.items()
    ]
    return sorted(found, key=lambda one: (-one.size, one.scope, one.number))[:limit]


def _most_central(one: Importance) -> tuple[float, str]:
    return -one.pagerank, one.fact


class Lessons:
    """What use asks of a store in dictionaries."""

    _lock: RLock

    def _open(self) -> Any:
        raise NotImplementedError

    def log(self, shown: Shown, keeping: Keeping) -> None:
        with self._lock:
            shelf = self._open()
            teach(shelf.web, shelf.facts, log(shelf.learning, shown, keeping), shown.at)

    def shown(self, id: str) -> Shown | None:
        found: Shown | None = self._open().learning.shown.get(id)
        return found

    def uses(self, ids: Sequence[str]) -> dict[str, Use]:
        uses = self._open().learning.uses
        return {id: uses[id] for id in ids if id in uses}

    def groups(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[Group]:
        shelf = self._open()
        return groups(shelf.facts, shelf.web.importance, scopes, limit, most)
