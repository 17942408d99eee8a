"""What a store learns by use: lessons about edges, how facts fared, communities. Inside somebody else's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw

from cofire.dynamics import hebbian
from cofire.kinds import kind_of
from cofire.learned import BY_USE, HEBBIAN, Group, Lesson, Use
from cofire.model import Change, EdgeCounts
from cofire.stores.index.moments import stamp
from cofire.stores.sqlite import occasions
from cofire.stores.sqlite.edge_writing import ends_of
from cofire.stores.sqlite.sheaf_writing import Ends


def teach(connection: apsw.Connection, lessons: Sequence[Lesson], version: int, now: datetime) -> EdgeCounts:
    """Strengthen and weaken edges. What is not there is left out, but for hebbian edges that grow."""
    if not lessons:
        return EdgeCounts()
    ends = ends_of(connection, {id for lesson in lessons for id in (lesson.source, lesson.target)})
    outcomes = [_teach(connection, lesson, ends, version, now) for lesson in lessons]
    return EdgeCounts(outcomes.count("new"), outcomes.count("changed"))


def write_learning(connection: apsw.Connection, change: Change, version: int) -> EdgeCounts:
    """Everything of a change that use has taught."""
    if change.uses:
        connection.executemany(_USE, [(one.helped, one.hurt, id) for id, one in change.uses.items()])
    occasions.write(connection, change.occasions)
    return teach(connection, change.lessons, version, change.now)


def _teach(connection: apsw.Connection, lesson: Lesson, ends: Ends, version: int, now: datetime) -> str:
    one, other = ends.get(lesson.source), ends.get(lesson.target)
    if one is None or other is None or one[1] != other[1]:
        return "gone"
    table = kind_of(lesson.kind).table
    found: Any = connection.execute(_KNOWN.format(table), (one[0], other[0], lesson.kind)).fetchone()
    if found is None:
        return _make(connection, lesson, ends, version, now)
    key, weight, confidence, origin = found
    if not hebbian.learns(origin, step=lesson.step):
        return "same"
    weight, confidence = (
        after(value, step=lesson.step)
        for after, value in ((hebbian.weight_after, weight), (hebbian.confidence_after, confidence))
    )
    grown = (1, stamp(now)) if lesson.step > 0 else (0, None)
    connection.execute(_CHANGE.format(table, _SEEN[table]), (weight, confidence, *grown, version, key))
    return "changed"


def _make(connection: apsw.Connection, lesson: Lesson, ends: Ends, version: int, now: datetime) -> str:
    if lesson.kind != HEBBIAN or lesson.step <= 0:
        return "gone"
    lesson = lesson.turned()
    (source, _), (target, _) = ends[lesson.source], ends[lesson.target]
    connection.execute(_MAKE, (source, target, lesson.step, BY_USE, stamp(now), version))
    return "new"


# The edge that leads there comes before the one that leads back.
_KNOWN = """
SELECT key, weight, confidence, origin FROM {} WHERE kind = ?3 AND ended IS NULL
AND (source, target) IN (VALUES (?1, ?2), (?2, ?1)) ORDER BY source <> ?1 LIMIT 1
"""
_SEEN = {"graph_edges": "observed", "association_edges": "strengthened"}
_CHANGE = """
UPDATE {0} SET weight = ?1, confidence = ?2, co_access_count = co_access_count + ?3, {1} = coalesce(?4, {1}), version = ?5
WHERE key = ?6
"""
_MAKE = """
INSERT INTO association_edges(source, target, kind, weight, tags, origin, co_access_count, created, strengthened, version)
VALUES (?1, ?2, 'hebbian', ?3,
  (SELECT nullif(json_group_array(tag), '[]') FROM
    (SELECT tag FROM tags WHERE fact = ?1 INTERSECT SELECT tag FROM tags WHERE fact = ?2)),
  ?4, 1, ?5, ?5, ?6)
ON CONFLICT(source, target, kind) DO UPDATE SET weight = excluded.weight, confidence = NULL, tags = excluded.tags,
  origin = excluded.origin, co_access_count = 1, strengthened = excluded.strengthened, version = excluded.version, ended = NULL
"""


_USE = """
INSERT INTO fact_use(fact, helped, hurt) SELECT key, ?1, ?2 FROM facts WHERE id = ?3
ON CONFLICT(fact) DO UPDATE SET helped = helped + excluded.helped, hurt = hurt + excluded.hurt
"""


def uses(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, Use]:
    """How facts fared; those of which nobody said anything are left out."""
    if not ids:
        return {}
    sql = """
    SELECT f.id, u.helped, u.hurt FROM carray(?) c CROSS JOIN facts f ON f.id = c.value JOIN fact_use u ON u.fact = f.key
    """
    found = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return {str(id): Use(int(helped), int(hurt)) for id, helped, hurt in found}


def groups(connection: apsw.Connection, scopes: Sequence[str] | None, limit: int, most: int) -> list[Group]:
    """Communities, the largest first, each with its most central facts."""
    named = apsw.carray(tuple(scopes)) if scopes else None
    sizes: Any = connection.execute(_SIZES, (scopes is None, named, limit)).fetchall()
    return [
        Group(
            str(scope),
            int(number),
            int(size),
            tuple(str(id) for (id,) in connection.execute(_MEMBERS, (number, key, most))),
        )
        for scope, key, number, size in sizes
    ]


_SIZES = """
SELECT s.name, s.key, i.community, count(*) AS size FROM fact_importance i JOIN facts f ON f.key = i.fact
JOIN scopes s ON s.key = f.scope WHERE NOT f.archived AND (?1 OR s.name IN (SELECT value FROM carray(?2)))
GROUP BY s.key, i.community ORDER BY size DESC, s.name, i.community LIMIT ?3
"""
# The cross join goes by the index of communities, and not over all facts of the scope.
_MEMBERS = """
SELECT f.id FROM fact_importance i CROSS JOIN facts f ON f.key = i.fact
WHERE i.community = ? AND f.scope = ? AND NOT f.archived ORDER BY i.pagerank DESC, f.id LIMIT ?
"""


def members(connection: apsw.Connection, community: int) -> list[int]:
    """The keys of the facts of a community, whatever their scope."""
    sql = "SELECT fact FROM fact_importance WHERE community = ?"
    return [int(key) for (key,) in connection.execute(sql, (community,))]
