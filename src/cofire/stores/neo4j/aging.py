"""Aging on the server: edges that nobody strengthened fade. Arrays of thousands of edges a row, never an object an edge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from cofire.curating import Fade, FadedEdge, Fading
from cofire.dynamics import fading as fades
from cofire.kinds import BEHAVIOURAL, KINDS, STRUCTURAL
from cofire.stores.aging import DAY, Aged, Standing, age
from cofire.stores.index.moments import stamp
from cofire.stores.neo4j.querying import Query, Querying, Row

# Facts whose edges are told together, in one row.
PORTION = 5_000

_TABLES = {"weight": BEHAVIOURAL, "confidence": STRUCTURAL}


def fading(fade: Fade, now: datetime, examples: int) -> Querying[Fading]:
    """What the writing of a fade would do now."""
    days = yield from _days(fade)
    changed = ended = 0
    shown: list[FadedEdge] = []
    last: str | None = ""
    while last is not None:
        last, aged = yield from _portion(fade, now, days, last)
        changed, ended = changed + int((~aged.ends).sum()), ended + int(aged.ends.sum())
        shown += yield from _shown(aged, examples - len(shown))
    return Fading(changed, ended, tuple(shown))


def fade_edges(fade: Fade, now: datetime) -> Querying[tuple[int, int]]:
    """Let edges fade; how many did, and how many ended."""
    days = yield from _days(fade)
    changed = ended = 0
    last: str | None = ""
    while last is not None:
        last, aged = yield from _portion(fade, now, days, last)
        kept = ~aged.ends
        parts = (aged.keys, aged.after, aged.anchors, aged.since)
        rows = [list(row) for row in zip(*(part[kept].tolist() for part in parts), strict=True)]
        if rows:
            yield Query(_FADE.format(column=fade.by), {"rows": rows})
        if aged.ends.any():
            yield Query(_END, {"keys": aged.keys[aged.ends].tolist(), "now": stamp(now)})
        changed, ended = changed + len(rows), ended + int(aged.ends.sum())
    return changed, ended


_FADE = """
UNWIND $rows AS r MATCH ()-[e:LINKS]->() WHERE elementId(e) = r[0] SET e.{column} = r[1], e.anchor = r[2], e.anchored = r[3]
"""
_END = "UNWIND $keys AS key MATCH ()-[e:LINKS]->() WHERE elementId(e) = key SET e.ended = $now"


def _portion(fade: Fade, now: datetime, days: list[int] | None, after: str) -> Querying[tuple[str | None, Aged]]:
    """Those of the next facts whose weight or confidence is less by now than what is written; the last fact, None at the end."""
    asked: dict[str, Any] = {
        "after": after,
        "portion": PORTION,
        "kinds": [name for name, kind in KINDS.items() if kind.fades == fade.by and kind.table == _TABLES[fade.by]],
        "unsaid": 1.0 if fade.by == "confidence" else None,
        "before": DAY * (1 + fades.last_day(fades.day_of(now), fade.grace, in_use=days)),
    }
    [[last, *edges]] = yield Query(_STANDING.format(column=fade.by), asked)
    return last, age(_standing(edges), fade, now, days)


# An anchor that was taken before the edge was last strengthened holds no more: what is written is the anchor then.
_STANDING = """
CALL () {{
  MATCH (f:Fact) WHERE f.id > $after WITH f ORDER BY f.id LIMIT $portion RETURN collect(f) AS facts
}}
CALL (facts) {{
  UNWIND facts AS a MATCH (a)-[e:LINKS]->(b:Fact)
  WHERE e.ended IS NULL AND e.kind IN $kinds AND e.origin <> 'user' AND NOT a.pinned AND NOT b.pinned
  WITH a, e, b, coalesce(e.seen, e.created) AS since, coalesce(e.{column}, $unsaid) AS share
  WHERE since < $before AND share IS NOT NULL
  WITH e, since, share ORDER BY a.id, b.id, e.kind
  RETURN collect(elementId(e)) AS keys, collect(share) AS shares,
    collect(CASE WHEN e.anchored = since THEN e.anchor ELSE share END) AS anchors, collect(since) AS sinces
}}
RETURN [facts[-1].id, keys, shares, anchors, sinces] AS row
"""


def _standing(edges: Row) -> Standing:
    keys, shares, anchors, since = edges
    return Standing(
        np.array(keys, np.object_),
        np.array(shares, np.float64),
        np.array(anchors, np.float64),
        np.array(since, np.int64),
    )


def _shown(aged: Aged, most: int) -> Querying[list[FadedEdge]]:
    """The first of these as people read them."""
    keys = aged.keys[: max(most, 0)].tolist()
    found = (yield Query(_ENDS, {"keys": keys})) if keys else []
    return [
        FadedEdge(source, target, kind, float(aged.before[at]), aged.left(at)) for at, source, target, kind in found
    ]


_ENDS = """
UNWIND range(0, size($keys) - 1) AS at MATCH (a:Fact)-[e:LINKS]->(b:Fact) WHERE elementId(e) = $keys[at]
WITH at, a, e, b ORDER BY at RETURN [at, a.id, b.id, e.kind] AS row
"""


def _days(fade: Fade) -> Querying[list[int] | None]:
    return (yield from days_in_use()) if fade.clock == "use" else None


def days_in_use() -> Querying[list[int]]:
    """The days since 1970 on which the memory was in use, in order."""
    spans: Sequence[Row] = yield Query("MATCH (s:Span) RETURN [s.begun, s.ended] AS row")
    return sorted({day for begun, ended in spans for day in range(begun // DAY, ended // DAY + 1)})
