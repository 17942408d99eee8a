"""What a store learns by use: lessons about edges, how facts fared, judged recalls, communities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from cofire.dynamics import hebbian
from cofire.learned import BY_USE, HEBBIAN, MOST_OCCASIONS, Group, Lesson, Occasion, Use
from cofire.model import Change, EdgeCounts
from cofire.stores.index.moments import stamp
from cofire.stores.neo4j.bringing import Brought, occasion
from cofire.stores.neo4j.edge_writing import Ground, Stored, ground, keep
from cofire.stores.neo4j.querying import Query, Querying


def write_learning(change: Change) -> Querying[EdgeCounts]:
    """Everything of a change that use has taught."""
    if change.uses:
        rows = [{"id": id, "helped": one.helped, "hurt": one.hurt} for id, one in sorted(change.uses.items())]
        yield Query(_USE, {"rows": rows})
    if change.occasions:
        yield from judge(change.occasions)
    return (yield from teach(change.lessons, change.now))


_USE = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id})
SET f.helped = coalesce(f.helped, 0) + r.helped, f.hurt = coalesce(f.hurt, 0) + r.hurt
"""


def teach(lessons: Sequence[Lesson], now: datetime) -> Querying[EdgeCounts]:
    """Strengthen and weaken edges. What is not there is left out, but for hebbian edges that grow."""
    if not lessons:
        return EdgeCounts()
    there = [(one.source, one.target, one.kind) for one in lessons]
    at = yield from ground([*there, *((target, source, kind) for source, target, kind in there)])
    outcomes = [_teach(at, lesson, now) for lesson in lessons]
    yield from keep(at)
    return EdgeCounts(outcomes.count("new"), outcomes.count("changed"))


def _teach(at: Ground, lesson: Lesson, now: datetime) -> str:
    one, other = at.ends.get(lesson.source), at.ends.get(lesson.target)
    if one is None or other is None or one.scope != other.scope:
        return "gone"
    ways = [(lesson.source, lesson.target, lesson.kind), (lesson.target, lesson.source, lesson.kind)]
    held = [(key, edge) for key in ways if (edge := at.holds(key))]
    if not held:
        return _make(at, lesson, now)
    key, edge = held[0]
    if not hebbian.learns(edge.origin, step=lesson.step):
        return "same"
    grows = lesson.step > 0
    after = replace(
        edge,
        weight=hebbian.weight_after(edge.weight, step=lesson.step),
        confidence=hebbian.confidence_after(edge.confidence, step=lesson.step),
        co_access_count=edge.co_access_count + grows,
        seen=stamp(now) if grows else edge.seen,
    )
    at.put(key, after)
    return "changed"


def _make(at: Ground, lesson: Lesson, now: datetime) -> str:
    if lesson.kind != HEBBIAN or lesson.step <= 0:
        return "gone"
    turned = lesson.turned()
    key = (turned.source, turned.target, HEBBIAN)
    tags = tuple(sorted(at.ends[turned.source].tags & at.ends[turned.target].tags))
    known = at.edges.get(key)
    created = known.created if known else stamp(now)
    at.put(key, Stored(lesson.step, None, tags, BY_USE, 1, created=created, seen=stamp(now), ended=None))
    return "new"


def uses(ids: Sequence[str]) -> Querying[dict[str, Use]]:
    """How facts fared; those of which nobody said anything are left out."""
    found = yield Query(_USES, {"ids": list(ids)})
    return {id: Use(helped, hurt) for id, helped, hurt in found}


_USES = "MATCH (f:Fact) WHERE f.id IN $ids AND f.helped IS NOT NULL RETURN [f.id, f.helped, f.hurt] AS row"


def judge(judged: Sequence[Occasion]) -> Querying[None]:
    """Keep judged recalls; what was said of one before holds as far as nothing else is said now. The oldest go."""
    last = yield Query(_LAST_OCCASION)
    first = 1 + int(last[0][0] if last else 0)
    rows = [{"id": one.id, "number": first + at, "facts": _said(one)} for at, one in enumerate(judged)]
    yield Query(_JUDGE, {"rows": rows})
    yield Query(_LET_GO, {"number": first + len(rows) - 1 - MOST_OCCASIONS})


def _said(one: Occasion) -> list[dict[str, Any]]:
    return [
        {"id": id, "first": id in one.first, "verdict": (id in one.helped) - (id in one.hurt)}
        for id in sorted(one.first | one.helped | one.hurt)
    ]


_LAST_OCCASION = "MATCH (o:Occasion) WHERE o.number > 0 RETURN [o.number] AS row ORDER BY o.number DESC LIMIT 1"
_JUDGE = """
UNWIND $rows AS r CALL (r) {
  MERGE (o:Occasion {id: r.id}) ON CREATE SET o.number = r.number
  WITH o UNWIND r.facts AS said MATCH (f:Fact {id: said.id})
  MERGE (o)-[j:JUDGED]->(f) ON CREATE SET j.verdict = 0
  SET j.first = said.first, j.verdict = CASE WHEN said.verdict = 0 THEN j.verdict ELSE said.verdict END
}
"""
_LET_GO = "MATCH (o:Occasion) WHERE o.number <= $number DETACH DELETE o"


def occasions(brought: Brought, ids: Sequence[str], limit: int) -> Querying[list[Occasion]]:
    """Those that had at least two of these facts at their first places, those with most of them and then the newest first."""
    at_hand = brought.occasions(ids, limit)
    if at_hand is not None:
        return at_hand
    found = yield Query(_ALIKE, {"ids": list(ids), "limit": limit})
    return [occasion(id, said) for id, said in found]


_ALIKE = """
MATCH (f:Fact)<-[j:JUDGED]-(o:Occasion) WHERE f.id IN $ids AND j.first
WITH o, count(*) AS shared WHERE shared > 1
WITH o, shared ORDER BY shared DESC, o.number DESC, o.id LIMIT $limit
CALL (o) { MATCH (o)-[j:JUDGED]->(f:Fact) RETURN collect([f.id, j.first, j.verdict]) AS said }
RETURN [o.id, said] AS row ORDER BY shared DESC, o.number DESC, o.id
"""


def groups(scopes: Sequence[str] | None, limit: int, most: int) -> Querying[list[Group]]:
    """Communities, the largest first, each with its most central facts."""
    asked = {"scopes": None if scopes is None else list(scopes), "limit": limit, "most": most}
    return [Group(scope, number, size, tuple(ids)) for scope, number, size, ids in (yield Query(_GROUPS, asked))]


_GROUPS = """
MATCH (f:Fact) WHERE f.community IS NOT NULL AND NOT f.archived AND ($scopes IS NULL OR f.scope IN $scopes)
WITH f.scope AS scope, f.community AS number, count(*) AS size ORDER BY size DESC, scope, number LIMIT $limit
CALL (scope, number) {
  MATCH (f:Fact) WHERE f.community = number AND f.scope = scope AND NOT f.archived
  WITH f ORDER BY f.pagerank DESC, f.id LIMIT $most RETURN collect(f.id) AS ids
}
RETURN [scope, number, size, ids] AS row ORDER BY size DESC, scope, number
"""
