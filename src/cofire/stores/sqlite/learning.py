"""Learning from use: lessons about edges, use counts, judged recalls and communities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from cofire.model import Change, EdgeCounts
from cofire.stores.learning_rows import (
    MAX_JUDGED_RECALLS,
    CommunityMembers,
    FeedbackCounts,
    JudgedRecall,
)
from cofire.stores.sqlite import edge_writes


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


def write_learning(connection: apsw.Connection, change: Change, version: int) -> EdgeCounts:
    """Everything of a change that use has taught."""
    if change.uses:
        connection.executemany(_ADD_FACT_USE, [(one.helped, one.hurt, id) for id, one in change.uses.items()])
    write_judged_recalls(connection, change.occasions)
    return edge_writes.apply_lessons(connection, change.lessons, version, change.now)


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
