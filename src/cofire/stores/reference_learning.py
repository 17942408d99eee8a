"""What the reference store learns by use, in plain dictionaries: uses, the log of what was shown, and pairs shown together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import RLock
from typing import Any

from cofire.dynamics import hebbian
from cofire.learned import BY_USE, HEBBIAN, MOST_OCCASIONS, Group, Keeping, Lesson, Occasion, Shown, Use
from cofire.model import Change, Edge, EdgeCounts, Fact, Importance
from cofire.stores.reference_graph import Web

Facts = Mapping[str, Fact]
Pair = tuple[str, str]


@dataclass
class Learning:
    """All that use has left behind. `sessions` has a name and an end each; `exposed` a pair's count and last session.

    `occasions` are the ids of judged recalls in their order; `judged` tells by fact, again by fact, and by occasion whether it stood
    first there, and 1 or -1 where it helped or hurt.
    """

    uses: dict[str, Use] = field(default_factory=dict)
    shown: dict[str, Shown] = field(default_factory=dict)
    sessions: list[tuple[str | None, datetime]] = field(default_factory=list)
    exposed: dict[Pair, tuple[int, int]] = field(default_factory=dict)
    occasions: list[str] = field(default_factory=list)
    judged: dict[tuple[str, str, str], tuple[bool, int]] = field(default_factory=dict)

    def copy(self) -> Learning:
        return Learning(**{name: kept.copy() for name, kept in vars(self).items()})

    def forget(self, id: str) -> None:
        self.uses.pop(id, None)
        self.exposed = {pair: seen for pair, seen in self.exposed.items() if id not in pair}
        self.judged = {key: said for key, said in self.judged.items() if key[0] != id}


def _left(shown: Shown, facts: Facts) -> Shown:
    """What was shown, without what was forgotten since; that comes back with the fact."""
    ways = {
        fact: tuple(way for way in led if way.source in facts and way.target in facts)
        for fact, led in shown.ways.items()
        if fact in facts
    }
    kept = {fact: led for fact, led in ways.items() if led}
    return replace(shown, ids=tuple(id for id in shown.ids if id in facts), ways=kept)


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
    for one in change.occasions:
        judge(learning, facts, one)
    return teach(web, facts, change.lessons, change.now)


def judge(learning: Learning, facts: Facts, one: Occasion) -> None:
    """Keep a judged recall; what was said of it before holds as far as nothing else is said now. The oldest go."""
    if one.id not in learning.occasions:
        learning.occasions.append(one.id)
    for id in (one.first | one.helped | one.hurt) & facts.keys():
        _, before = learning.judged.get((id, id, one.id), (False, 0))
        verdict = (id in one.helped) - (id in one.hurt)
        learning.judged[id, id, one.id] = id in one.first, verdict or before
    for gone in learning.occasions[:-MOST_OCCASIONS]:
        learning.occasions.remove(gone)
        learning.judged = {key: said for key, said in learning.judged.items() if key[2] != gone}


def alike(learning: Learning, ids: Sequence[str], limit: int) -> list[Occasion]:
    """Those that had at least two of these facts at their first places, those with most of them and then the newest first."""
    every = [_occasion(learning, id) for id in reversed(learning.occasions)]
    found = [one for one in every if len(one.first & set(ids)) > 1]
    return sorted(found, key=lambda one: -len(one.first & set(ids)))[:limit]


def _occasion(learning: Learning, id: str) -> Occasion:
    said = {fact: said for (fact, _, occasion), said in learning.judged.items() if occasion == id}
    return Occasion(
        id,
        frozenset(fact for fact, (first, _) in said.items() if first),
        frozenset(fact for fact, (_, verdict) in said.items() if verdict > 0),
        frozenset(fact for fact, (_, verdict) in said.items() if verdict < 0),
    )


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
        co_access_count=edge.co_access_count + (lesson.step > 0),
        strengthened=now if lesson.step > 0 else edge.strengthened,
    )
    if lesson.step > 0:
        web.care.seen((edge.source, edge.target, edge.kind), now)
    return "changed"


def _make(web: Web, one: Fact, other: Fact, lesson: Lesson, now: datetime) -> str:
    if lesson.kind != HEBBIAN or lesson.step <= 0:
        return "gone"
    lesson, tags = lesson.turned(), tuple(sorted(set(one.tags) & set(other.tags)))
    ends = (lesson.source, lesson.target)
    edge = Edge(*ends, HEBBIAN, lesson.step, None, tags, BY_USE, co_access_count=1, strengthened=now)
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
            shelf.web.use(shown.at, keeping.idle_minutes)
            before = dict(shelf.web.edges)
            teach(shelf.web, shelf.facts, log(shelf.learning, shown, keeping), shown.at)
            shelf.web.date_edges(before, shelf.facts, shown.at)

    def shown(self, id: str) -> Shown | None:
        shelf = self._open()
        found: Shown | None = shelf.learning.shown.get(id)
        return _left(found, shelf.facts) if found else None

    def uses(self, ids: Sequence[str]) -> dict[str, Use]:
        uses = self._open().learning.uses
        return {id: uses[id] for id in ids if id in uses}

    def occasions(self, ids: Sequence[str], limit: int) -> list[Occasion]:
        return alike(self._open().learning, ids, limit)

    def groups(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[Group]:
        shelf = self._open()
        return groups(shelf.facts, shelf.web.importance, scopes, limit, most)
