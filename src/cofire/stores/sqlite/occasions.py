"""Judged recalls in tables: which facts stood first, which helped and hurt. Inside somebody else's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from cofire.learned import MOST_OCCASIONS, Occasion


def write(connection: apsw.Connection, judged: Sequence[Occasion]) -> None:
    """Keep judged recalls; what was said of one before holds as far as nothing else is said now. The oldest go."""
    for one in judged:
        connection.execute("INSERT OR IGNORE INTO occasions(id) VALUES (?)", (one.id,))
        key = int(connection.execute("SELECT key FROM occasions WHERE id = ?", (one.id,)).get)
        connection.executemany(_FACT, [(key, *row) for row in _rows(one)])
        connection.execute("DELETE FROM occasions WHERE key <= ?", (key - MOST_OCCASIONS,))


def _rows(one: Occasion) -> list[tuple[int, int, str]]:
    ids = sorted(one.first | one.helped | one.hurt)
    return [(int(id in one.first), (id in one.helped) - (id in one.hurt), id) for id in ids]


_FACT = """
INSERT INTO occasion_facts(occasion, first, verdict, fact) SELECT ?1, ?2, ?3, key FROM facts WHERE id = ?4
ON CONFLICT(occasion, fact) DO UPDATE SET first = excluded.first, verdict = coalesce(nullif(excluded.verdict, 0), verdict)
"""


def alike(connection: apsw.Connection, ids: Sequence[str], limit: int) -> list[Occasion]:
    """Those that had at least two of these facts at their first places, those with most of them and then the newest first."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    # Most memories were never told what helped, and every recall asks.
    if not ids or not connection.execute("SELECT EXISTS (SELECT 1 FROM occasions)").get:
        return []
    rows: Any = connection.execute(_ALIKE, (apsw.carray(tuple(ids)), limit))
    for occasion, fact, first, verdict in rows:
        found.setdefault(occasion, {})[fact] = first, verdict
    return [_occasion(id, facts) for id, facts in found.items()]


_ALIKE = """
WITH alike AS (
  SELECT o.occasion, count(*) AS shared FROM carray(?1) c CROSS JOIN facts f ON f.id = c.value
  CROSS JOIN occasion_facts o ON o.fact = f.key WHERE o.first
  GROUP BY o.occasion HAVING count(*) > 1 ORDER BY shared DESC, o.occasion DESC LIMIT ?2
)
SELECT p.id, f.id, o.first, o.verdict FROM alike a CROSS JOIN occasions p ON p.key = a.occasion
CROSS JOIN occasion_facts o ON o.occasion = p.key CROSS JOIN facts f ON f.key = o.fact
ORDER BY a.shared DESC, p.key DESC
"""


def _occasion(id: str, facts: dict[str, tuple[int, int]]) -> Occasion:
    return Occasion(
        id,
        frozenset(fact for fact, (first, _) in facts.items() if first),
        frozenset(fact for fact, (_, verdict) in facts.items() if verdict > 0),
        frozenset(fact for fact, (_, verdict) in facts.items() if verdict < 0),
    )
