"""Learning from use: lessons about edges, use counts, judged recalls and communities."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw

from cofire.algorithms import reinforcement
from cofire.index.timestamps import to_microseconds
from cofire.model import Change, EdgeCounts
from cofire.stores.edge_kinds import get_edge_kind
from cofire.stores.learning_protocol import (
    HEBBIAN_KIND,
    MAX_JUDGED_RECALLS,
    USE_ORIGIN,
    CommunityMembers,
    EdgeAdjustment,
    FeedbackCounts,
    JudgedRecall,
)
from cofire.stores.sqlite.edge_writes import FactKeysAndScopes, fetch_keys_and_scopes


def write_judged_recalls(connection: apsw.Connection, judged: Sequence[JudgedRecall]) -> None:
    """Keep judged recalls; what was said of one before holds as far as nothing else is said now. The oldest go."""
    for one in judged:
        connection.execute("INSERT OR IGNORE INTO occasions(id) VALUES (?)", (one.id,))
        key = int(connection.execute("SELECT key FROM occasions WHERE id = ?", (one.id,)).get)
        connection.executemany(_UPSERT_JUDGEMENT, [(key, *row) for row in _build_judgement_rows(one)])
        connection.execute("DELETE FROM occasions WHERE key <= ?", (key - MAX_JUDGED_RECALLS,))


def _build_judgement_rows(one: JudgedRecall) -> list[tuple[int, int, str]]:
    ids = sorted(one.first | one.helped | one.hurt)
    return [(int(id in one.first), (id in one.helped) - (id in one.hurt), id) for id in ids]


_UPSERT_JUDGEMENT = """
INSERT INTO occasion_facts(occasion, first, verdict, fact) SELECT ?1, ?2, ?3, key FROM facts WHERE id = ?4
ON CONFLICT(occasion, fact) DO UPDATE SET first = excluded.first, verdict = coalesce(nullif(excluded.verdict, 0), verdict)
"""


def find_similar_recalls(connection: apsw.Connection, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
    """Those that had at least two of these facts at their first places, those with most of them and then the newest first."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    # Most memories were never told what helped, and every recall asks.
    if not ids or not connection.execute("SELECT EXISTS (SELECT 1 FROM occasions)").get:
        return []
    rows: Any = connection.execute(_SELECT_SIMILAR_RECALLS, (apsw.carray(tuple(ids)), limit))
    for occasion, fact, first, verdict in rows:
        found.setdefault(occasion, {})[fact] = first, verdict
    return [_build_judged_recall(id, facts) for id, facts in found.items()]


_SELECT_SIMILAR_RECALLS = """
WITH alike AS (
  SELECT o.occasion, count(*) AS shared FROM carray(?1) c CROSS JOIN facts f ON f.id = c.value
  CROSS JOIN occasion_facts o ON o.fact = f.key WHERE o.first
  GROUP BY o.occasion HAVING count(*) > 1 ORDER BY shared DESC, o.occasion DESC LIMIT ?2
)
SELECT p.id, f.id, o.first, o.verdict FROM alike a CROSS JOIN occasions p ON p.key = a.occasion
CROSS JOIN occasion_facts o ON o.occasion = p.key CROSS JOIN facts f ON f.key = o.fact
ORDER BY a.shared DESC, p.key DESC
"""


def _build_judged_recall(id: str, facts: dict[str, tuple[int, int]]) -> JudgedRecall:
    return JudgedRecall(
        id,
        frozenset(fact for fact, (first, _) in facts.items() if first),
        frozenset(fact for fact, (_, verdict) in facts.items() if verdict > 0),
        frozenset(fact for fact, (_, verdict) in facts.items() if verdict < 0),
    )


def apply_lessons(
    connection: apsw.Connection, lessons: Sequence[EdgeAdjustment], version: int, now: datetime
) -> EdgeCounts:
    """Strengthen and weaken edges. What is not there is left out, but for hebbian edges that grow."""
    if not lessons:
        return EdgeCounts()
    ends = fetch_keys_and_scopes(connection, {id for lesson in lessons for id in (lesson.source, lesson.target)})
    outcomes = [_apply_lesson(connection, lesson, ends, version, now) for lesson in lessons]
    return EdgeCounts(outcomes.count("new"), outcomes.count("changed"))


def write_learning(connection: apsw.Connection, change: Change, version: int) -> EdgeCounts:
    """Everything of a change that use has taught."""
    if change.uses:
        connection.executemany(_ADD_FACT_USE, [(one.helped, one.hurt, id) for id, one in change.uses.items()])
    write_judged_recalls(connection, change.occasions)
    return apply_lessons(connection, change.lessons, version, change.now)


def _apply_lesson(
    connection: apsw.Connection, lesson: EdgeAdjustment, ends: FactKeysAndScopes, version: int, now: datetime
) -> str:
    one, other = ends.get(lesson.source), ends.get(lesson.target)
    if one is None or other is None or one[1] != other[1]:
        return "gone"
    table = get_edge_kind(lesson.kind).table
    found: Any = connection.execute(_SELECT_EDGE.format(table), (one[0], other[0], lesson.kind)).fetchone()
    if found is None:
        return _insert_hebbian_edge(connection, lesson, ends, version, now)
    key, weight, confidence, origin = found
    if not reinforcement.is_adjustable(origin, step=lesson.step):
        return "same"
    weight, confidence = (
        after(value, step=lesson.step)
        for after, value in ((reinforcement.adjust_weight, weight), (reinforcement.adjust_confidence, confidence))
    )
    grown = (1, to_microseconds(now)) if lesson.step > 0 else (0, None)
    connection.execute(
        _UPDATE_EDGE.format(table, _LAST_SEEN_COLUMNS[table]), (weight, confidence, *grown, version, key)
    )
    return "changed"


def _insert_hebbian_edge(
    connection: apsw.Connection, lesson: EdgeAdjustment, ends: FactKeysAndScopes, version: int, now: datetime
) -> str:
    if lesson.kind != HEBBIAN_KIND or lesson.step <= 0:
        return "gone"
    lesson = lesson.turned()
    (source, _), (target, _) = ends[lesson.source], ends[lesson.target]
    connection.execute(_INSERT_HEBBIAN_EDGE, (source, target, lesson.step, USE_ORIGIN, to_microseconds(now), version))
    return "new"


# The edge that leads there comes before the one that leads back.
_SELECT_EDGE = """
SELECT key, weight, confidence, origin FROM {} WHERE kind = ?3 AND ended IS NULL
AND (source, target) IN (VALUES (?1, ?2), (?2, ?1)) ORDER BY source <> ?1 LIMIT 1
"""
_LAST_SEEN_COLUMNS = {"graph_edges": "observed", "association_edges": "strengthened"}
_UPDATE_EDGE = """
UPDATE {0} SET weight = ?1, confidence = ?2, co_access_count = co_access_count + ?3, {1} = coalesce(?4, {1}), version = ?5
WHERE key = ?6
"""
_INSERT_HEBBIAN_EDGE = """
INSERT INTO association_edges(source, target, kind, weight, tags, origin, co_access_count, created, strengthened, version)
VALUES (?1, ?2, 'hebbian', ?3,
  (SELECT nullif(json_group_array(tag), '[]') FROM
    (SELECT tag FROM tags WHERE fact = ?1 INTERSECT SELECT tag FROM tags WHERE fact = ?2)),
  ?4, 1, ?5, ?5, ?6)
ON CONFLICT(source, target, kind) DO UPDATE SET weight = excluded.weight, confidence = NULL, tags = excluded.tags,
  origin = excluded.origin, co_access_count = 1, strengthened = excluded.strengthened, version = excluded.version, ended = NULL
"""


_ADD_FACT_USE = """
INSERT INTO fact_use(fact, helped, hurt) SELECT key, ?1, ?2 FROM facts WHERE id = ?3
ON CONFLICT(fact) DO UPDATE SET helped = helped + excluded.helped, hurt = hurt + excluded.hurt
"""


def fetch_uses(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, FeedbackCounts]:
    """How facts fared; those of which nobody said anything are left out."""
    if not ids:
        return {}
    sql = """
    SELECT f.id, u.helped, u.hurt FROM carray(?) c CROSS JOIN facts f ON f.id = c.value JOIN fact_use u ON u.fact = f.key
    """
    found = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return {str(id): FeedbackCounts(int(helped), int(hurt)) for id, helped, hurt in found}


def fetch_communities(
    connection: apsw.Connection, scopes: Sequence[str] | None, limit: int, most: int
) -> list[CommunityMembers]:
    """Communities, the largest first, each with its most central facts."""
    named = apsw.carray(tuple(scopes)) if scopes else None
    sizes: Any = connection.execute(_SELECT_COMMUNITY_SIZES, (scopes is None, named, limit)).fetchall()
    return [
        CommunityMembers(
            str(scope),
            int(number),
            int(size),
            tuple(str(id) for (id,) in connection.execute(_SELECT_CENTRAL_MEMBERS, (number, key, most))),
        )
        for scope, key, number, size in sizes
    ]


_SELECT_COMMUNITY_SIZES = """
SELECT s.name, s.key, i.community, count(*) AS size FROM fact_importance i JOIN facts f ON f.key = i.fact
JOIN scopes s ON s.key = f.scope WHERE NOT f.archived AND (?1 OR s.name IN (SELECT value FROM carray(?2)))
GROUP BY s.key, i.community ORDER BY size DESC, s.name, i.community LIMIT ?3
"""
# The cross join goes by the index of communities, and not over all facts of the scope.
_SELECT_CENTRAL_MEMBERS = """
SELECT f.id FROM fact_importance i CROSS JOIN facts f ON f.key = i.fact
WHERE i.community = ? AND f.scope = ? AND NOT f.archived ORDER BY i.pagerank DESC, f.id LIMIT ?
"""


def fetch_community_members(connection: apsw.Connection, community: int) -> list[int]:
    """The keys of the facts of a community, whatever their scope."""
    sql = "SELECT fact FROM fact_importance WHERE community = ?"
    return [int(key) for (key,) in connection.execute(sql, (community,))]
