"""Reading the graph: stored edges, links through names, the inbox, kin, and whole scopes as arrays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.kinds import KINDS
from cofire.model import Edge, Fact, Importance, Link
from cofire.stores.base import EdgeFilter, Network, Profile
from cofire.stores.index.moments import moment, stamp
from cofire.stores.linking import MOST_LINKED, MOST_NAMED, Held, linked, through_names
from cofire.stores.sqlite import rows

# Every fact has its scope; the join is a LEFT one so that SQLite leaves it out where no scope is asked for.
_COLUMNS = "source, target, kind, weight, confidence, tags, origin, co_access_count"
_EDGES = f"""
SELECT a.id, b.id, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.seen FROM
  (SELECT {_COLUMNS}, observed AS seen FROM graph_edges WHERE {{0}} UNION ALL
   SELECT {_COLUMNS}, strengthened AS seen FROM association_edges WHERE {{0}}) e
JOIN facts a ON a.key = e.source JOIN facts b ON b.key = e.target LEFT JOIN scopes s ON s.key = a.scope
"""
_NOW = "ended IS NULL"
_THEN = "created <= {0} AND (ended IS NULL OR ended > {0})"
_KEYS = "(SELECT f.key FROM carray(?1) c CROSS JOIN facts f ON f.id = c.value)"
# A plus keeps from looking up edges fact by fact.
_AT = f"({{0}}source IN {_KEYS} OR {{0}}target IN {_KEYS})"
_LAST_EDGES = """
SELECT coalesce((SELECT max(key) FROM graph_edges), 0) + coalesce((SELECT max(key) FROM association_edges), 0)
"""
# So many edges are gone over in the time in which those of one fact are looked up.
LOOKED_UP = 20


def edges(connection: apsw.Connection, wanted: EdgeFilter, limit: int, as_of: datetime | None = None) -> list[Edge]:
    """Stored edges that pass a filter, the strongest first; those of now, or with `as_of` those of then."""
    if wanted.ids is not None and not wanted.ids:
        return []
    held = [_NOW if as_of is None else _THEN.format(stamp(as_of))]
    if wanted.kinds:
        held.append("kind IN (SELECT value FROM json_each(?2))")
    if wanted.origin is not None:
        held.append("origin = ?3")
    if wanted.ids is not None:
        held.append(_AT.format("+" if _are_most(connection, len(wanted.ids)) else ""))
    within = "" if wanted.scopes is None else "WHERE s.name IN (SELECT value FROM json_each(?4))"
    order = "ORDER BY coalesce(e.weight, 0) DESC, a.id, b.id, e.kind LIMIT ?5"
    ids = None if wanted.ids is None else apsw.carray(tuple(wanted.ids))
    kinds, scopes = json.dumps(sorted(wanted.kinds or ())), json.dumps(wanted.scopes)
    sql = f"{_EDGES.format(' AND '.join(held))} {within} {order}"
    return [edge(row) for row in connection.execute(sql, (ids, kinds, wanted.origin, scopes, limit))]


def _are_most(connection: apsw.Connection, ids: int) -> bool:
    """Whether so many facts are asked for that going over all edges is quicker than looking up those of each."""
    edges = connection.execute(_LAST_EDGES).get
    return bool(ids * LOOKED_UP >= edges)


def edge(row: Sequence[Any]) -> Edge:
    source, target, kind, weight, confidence, tags, origin, count, seen = row
    listed = rows.listed(tags) if tags else ()
    seen_last = moment(seen)
    return Edge(source, target, kind, weight, confidence, listed, origin, co_access_count=count, strengthened=seen_last)


def links(connection: apsw.Connection, id: str, limit: int, as_of: datetime | None = None) -> list[Link]:
    """Stored edges and links through names, seen from one fact; with `as_of` by the edges of then."""
    found = list(map(linked, edges(connection, EdgeFilter(ids=frozenset([id])), limit, as_of)))
    found += through_names(
        id,
        [_held(connection, id, row, common=False) for row in connection.execute(_MENTIONED, (id,))],
        [_held(connection, id, row, common=True) for row in connection.execute(_SUBJECTS, (id,))],
    )
    return sorted(found, key=lambda one: (-(one.weight or 0.0), one.kind, one.source, one.target, one.via or ""))[
        :limit
    ]


_MENTIONED = """
SELECT n.key, n.name, m.confidence, n.mentioned + n.about FROM facts f JOIN mentions m ON m.fact = f.key
JOIN names n ON n.key = m.name WHERE f.id = ? ORDER BY n.name
"""
_SUBJECTS = """
SELECT n.key, n.name, s.strength, n.mentioned + n.about FROM facts f JOIN subjects s ON s.fact = f.key
JOIN names n ON n.key = s.name WHERE f.id = ? ORDER BY n.name
"""
# The first eight bytes of a hash as `content_order` reads them: a number with its sign, whose last byte counts most.
_BY_CONTENT = "hex(substr(f.hash, 8, 1)) < '80', " + " || ".join(
    f"hex(substr(f.hash, {at}, 1))" for at in range(8, 0, -1)
)
_HOLDERS = """
SELECT f.id, h.{1} FROM {0} h JOIN facts f ON f.key = h.fact
WHERE h.name = ? AND f.id <> ? AND NOT f.archived ORDER BY h.{1} DESC, {2} LIMIT ?
"""


def _held(connection: apsw.Connection, id: str, row: Any, *, common: bool) -> Held:
    """A name with the others that hold it. Those that merely mention it count where it is rare, or where the fact is about it."""
    key, name, by, count = row
    about: Any = connection.execute(_HOLDERS.format("subjects", "strength", _BY_CONTENT), (key, id, MOST_LINKED))
    if not common and count > MOST_NAMED:
        return Held(name, by, count, tuple(about), ())
    mentioning: Any = connection.execute(_HOLDERS.format("mentions", "confidence", _BY_CONTENT), (key, id, MOST_LINKED))
    return Held(name, by, count, tuple(about), tuple(mentioning))


def waiting(connection: apsw.Connection, scopes: Sequence[str] | None, limit: int) -> list[Fact]:
    """Facts in the inbox, the oldest first."""
    clause = "f.inbox" if scopes is None else "f.inbox AND s.name IN (SELECT value FROM json_each(?))"
    bound = [] if scopes is None else [json.dumps(list(scopes))]
    return [
        rows.fact(row)
        for row in connection.execute(f"{rows.SELECT} WHERE {clause} ORDER BY f.key LIMIT ?", (*bound, limit))
    ]


def profiles(connection: apsw.Connection, ids: Sequence[str]) -> list[Profile]:
    """What the edge score looks at, all in one query."""
    if not ids:
        return []
    sql = """
    SELECT f.id, s.name, f.category, f.active_hours, (SELECT json_group_array(tag) FROM tags WHERE fact = f.key)
    FROM carray(?) c CROSS JOIN facts f ON f.id = c.value JOIN scopes s ON s.key = f.scope
    """
    return [
        Profile(str(id), str(scope), frozenset(rows.listed(str(tags))), category, float(hours))
        for id, scope, category, hours, tags in connection.execute(sql, (apsw.carray(tuple(ids)),))
    ]


def network(connection: apsw.Connection, scope: str) -> Network:
    """The graph of a scope: stored edges that conduct, and who mentions whom."""
    keys = rows.keys_of_scope(connection, connection.execute("SELECT key FROM scopes WHERE name = ?", (scope,)).get)
    facts: list[Any] = sorted(connection.execute(_STANDING, (apsw.carray(keys),))) if len(keys) else []
    stored = _numbers(connection, _CONDUCTING, (scope,))
    named = _numbers(connection, _ABOUT, (scope, MOST_NAMED))
    back = named[:, [1, 0, 2, 3]] * np.array([1, 1, 0.5, 1])
    pairs = np.concatenate([stored, stored[stored[:, 3] == 0][:, [1, 0, 2, 3]], named, back])
    source, target, weight = _over_rows(np.array([key for _, key in facts], np.int64), pairs)
    return Network(tuple(id for id, _ in facts), source, target, weight)


_STANDING = "SELECT f.id, f.key FROM carray(?) c CROSS JOIN facts f ON f.key = c.value WHERE NOT f.archived"


def _numbers(connection: apsw.Connection, sql: str, bound: tuple[Any, ...]) -> NDArray[np.float64]:
    """A row a link: source, target, weight, and 1 where it conducts one way only. A million of them are no objects of their own."""
    found: Any = connection.execute(sql, bound)
    return np.fromiter(chain.from_iterable(found), np.float64).reshape(-1, 4)


def _over_rows(keys: NDArray[np.int64], pairs: NDArray[np.float64]) -> tuple[Any, Any, Any]:
    """Pairs of keys as pairs of rows, without those whose ends are not among the keys."""
    place = np.full(int(max(keys.max(initial=0), pairs[:, :2].max(initial=0))) + 1, -1, np.int64)
    place[keys] = np.arange(len(keys))
    source, target = place[pairs[:, 0].astype(np.int64)], place[pairs[:, 1].astype(np.int64)]
    known = (source >= 0) & (target >= 0)
    return source[known], target[known], pairs[known, 2].astype(np.float32)


def _kinds_that_conduct(how: str) -> str:
    return ", ".join(f"'{name}'" for name, kind in KINDS.items() if kind.conducts == how)


# The plus keeps from looking up edges fact by fact: it is quicker to go over all of them.
_CONDUCTING = f"""
SELECT source, target, coalesce(weight, 0.01) * coalesce(confidence, 1.0), kind IN ({_kinds_that_conduct("forward")}) FROM
  (SELECT source, target, kind, weight, confidence FROM graph_edges WHERE ended IS NULL UNION ALL
   SELECT source, target, kind, weight, confidence FROM association_edges WHERE ended IS NULL)
WHERE kind NOT IN ({_kinds_that_conduct("never")})
  AND +source IN (SELECT key FROM facts WHERE scope = (SELECT key FROM scopes WHERE name = ?))
"""
_ABOUT = """
SELECT m.fact, a.fact, a.strength * m.confidence / sqrt(n.mentioned + n.about), 0 FROM names n
JOIN scopes s ON s.key = n.scope JOIN subjects a ON a.name = n.key JOIN mentions m ON m.name = n.key AND m.fact <> a.fact
WHERE s.name = ? AND n.mentioned + n.about <= ?
"""


def importance(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, Importance]:
    if not ids:
        return {}
    sql = """
    SELECT f.id, i.pagerank, i.community FROM carray(?) c CROSS JOIN facts f ON f.id = c.value
    JOIN fact_importance i ON i.fact = f.key
    """
    found = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return {str(id): Importance(str(id), float(rank), int(community)) for id, rank, community in found}


def descriptions(connection: apsw.Connection, id: str) -> list[str]:
    sql = "SELECT d.text FROM descriptions d JOIN facts f ON f.key = d.fact WHERE f.id = ? ORDER BY d.key"
    return [str(text) for (text,) in connection.execute(sql, (id,))]


def active_hours(connection: apsw.Connection) -> float:
    found = connection.execute(
        "SELECT hours_before + (ended - begun) / 3600000000.0 FROM active_spans ORDER BY ended DESC LIMIT 1"
    ).get
    return float(found or 0.0)
