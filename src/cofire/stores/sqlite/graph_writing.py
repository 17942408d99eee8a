"""Writing the graph: names, edges, descriptions, importance and the active-hours clock, inside somebody else's transaction."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import apsw

from cofire.errors import InvalidInput, NotFound
from cofire.kinds import kind_of
from cofire.model import Description, Edge, EdgeCounts, Importance, Mentioned, NewEdge, NewFact
from cofire.reading.descriptions import renewed
from cofire.stores.index.moments import stamp, stamp_or_none
from cofire.stores.index.terms import Held, described
from cofire.stores.linking import supposed

CONFIDENCE_STEP = 0.05
LAST_SENTENCE = 31
# From so many edges on it pays to put them in order before they are written.
MANY = 1_000


def write_names(connection: apsw.Connection, scope: int, written: Sequence[tuple[int, NewFact]]) -> None:
    """What new facts mention and are about. `written` pairs each with its key."""
    wanted = {one.name for _, new in written for one in new.mentions} | {
        one.name for _, new in written for one in new.subjects
    }
    if wanted:
        keys = name_keys(connection, scope, wanted)
        connection.executemany(_MENTION, _mention_rows(keys, ((key, new.mentions) for key, new in written)))
        connection.executemany(_SUBJECT, _subject_rows(keys, written))
    known = known_subjects(connection, scope, {name for _, new in written for name in new.perhaps})
    if known:
        told = ((key, supposed(new, known)) for key, new in written)
        connection.executemany(_MENTION, _mention_rows(known, told))


def add_mentions(connection: apsw.Connection, mentions: Mapping[str, tuple[Mentioned, ...]], version: int) -> None:
    """Names that were found later in facts that are stored already, which are thereby changed."""
    for id, named in mentions.items():
        found = connection.execute("SELECT key, scope FROM facts WHERE id = ?", (id,)).get
        if found is not None and named:
            keys, before = name_keys(connection, found[1], {one.name for one in named}), connection.total_changes()
            connection.executemany(_MENTION, _mention_rows(keys, [(found[0], named)]))
            if connection.total_changes() > before:
                connection.execute("UPDATE facts SET version = ? WHERE key = ?", (version, found[0]))


def name_keys(connection: apsw.Connection, scope: int, names: Iterable[str]) -> dict[str, int]:
    """The keys of names, new ones made as needed."""
    wanted = tuple(names)
    if not wanted:
        return {}
    connection.executemany("INSERT OR IGNORE INTO names(scope, name) VALUES (?, ?)", [(scope, name) for name in wanted])
    sql = "SELECT n.name, n.key FROM carray(?) c CROSS JOIN names n ON n.scope = ? AND n.name = c.value"
    found: Any = connection.execute(sql, (apsw.carray(wanted), scope))
    return dict(found)


def fact_keys(connection: apsw.Connection, ids: Collection[str]) -> dict[str, int]:
    """The keys of facts by id; those that are not there have none."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    found: Any = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return dict(found)


def known_subjects(connection: apsw.Connection, scope: int, names: Collection[str]) -> dict[str, int]:
    """Those of these names that a fact of the scope is about, with their keys."""
    if not names:
        return {}
    sql = (
        "SELECT n.name, n.key FROM carray(?) c CROSS JOIN names n ON n.scope = ? AND n.name = c.value WHERE n.about > 0"
    )
    found: Any = connection.execute(sql, (apsw.carray(tuple(names)), scope))
    return dict(found)


def _mention_rows(
    keys: Mapping[str, int], mentions: Iterable[tuple[int, tuple[Mentioned, ...]]]
) -> list[tuple[int, int, int, float]]:
    return [
        (fact, keys[one.name], sum(1 << at for at in {min(at, LAST_SENTENCE) for at in one.sentences}), one.confidence)
        for fact, named in mentions
        for one in named
    ]


def _subject_rows(keys: Mapping[str, int], written: Sequence[tuple[int, NewFact]]) -> list[tuple[int, int, float]]:
    return [(fact, keys[one.name], one.strength) for fact, new in written for one in new.subjects]


_SUBJECT = "INSERT OR IGNORE INTO subjects(fact, name, strength) VALUES (?, ?, ?)"
_MENTION = "INSERT OR IGNORE INTO mentions(fact, name, sentences, confidence) VALUES (?, ?, ?, ?)"


def write_follows(connection: apsw.Connection, keys: Sequence[int], reach: int, version: int, now: datetime) -> int:
    """Link new facts with the last few of their session, the nearer the stronger."""
    connection.execute(_FOLLOWS, (apsw.carray(array("q", keys)), reach, stamp(now), version))
    return int(connection.changes())


_FOLLOWS = """
INSERT OR IGNORE INTO graph_edges(source, target, kind, weight, confidence, tags, origin, created, observed, version)
SELECT before.key, new.key, 'follows', 1.0 / (new.position - before.position), 1.0,
  (SELECT nullif(json_group_array(tag), '[]') FROM
    (SELECT tag FROM tags WHERE fact = new.key INTERSECT SELECT tag FROM tags WHERE fact = before.key)),
  'session', ?3, ?3, ?4
FROM carray(?1) c CROSS JOIN facts new ON new.key = c.value
CROSS JOIN facts before ON before.scope = new.scope AND before.session = new.session
  AND before.position BETWEEN new.position - ?2 AND new.position - 1
"""


def write_edges(
    connection: apsw.Connection, edges: Sequence[NewEdge], ended: Sequence[Edge], version: int, now: datetime
) -> EdgeCounts:
    """Edges come, change and go; the counts are of rows really touched."""
    if not edges and not ended:
        return EdgeCounts()
    ends = ends_of(connection, {id for new in edges for id in (new.edge.source, new.edge.target)})
    gone = sum(_end_edge(connection, edge, version, now) for edge in ended)
    outcomes = [_write_edge(connection, new, ends, version, now) for new in _in_order(edges, ends)]
    return EdgeCounts(outcomes.count("new"), outcomes.count("changed"), gone)


def _in_order(edges: Sequence[NewEdge], ends: Mapping[str, tuple[int, int]]) -> Sequence[NewEdge]:
    """Many edges go into the file in the order in which it keeps them, so that its pages are filled one after the other."""
    if len(edges) < MANY:
        return edges
    nowhere = (0, 0)
    return sorted(edges, key=lambda new: (ends.get(new.edge.source, nowhere), ends.get(new.edge.target, nowhere)))


def ends_of(connection: apsw.Connection, ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Key and scope of facts; unknown ones are left out."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key, f.scope FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    found = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return {str(id): (int(key), int(scope)) for id, key, scope in found}


def _write_edge(
    connection: apsw.Connection, new: NewEdge, ends: Mapping[str, tuple[int, int]], version: int, now: datetime
) -> str:
    edge, table = new.edge, kind_of(new.edge.kind).table
    if edge.source not in ends or edge.target not in ends:
        return _missing_end(new, ends)
    (source, scope), (target, other) = ends[edge.source], ends[edge.target]
    if scope != other:
        raise InvalidInput("The two facts are of different scopes.", way_out="Connect facts of one scope.")
    said = (source, target, edge.kind, *_values(edge), edge.co_access_count, stamp_or_none(edge.strengthened))
    connection.execute(_INSERT[table], (*said, stamp(now), version))
    if connection.changes():
        return "new"
    known = connection.execute(_KNOWN.format(table), (source, target, edge.kind)).get
    if known[0] is not None:
        _update(connection, new, known[1], _values(edge), version=version, now=now)
        return "new"
    return _meet(connection, known[1:], new, version, now)


def _missing_end(new: NewEdge, ends: Mapping[str, tuple[int, int]]) -> str:
    """An edge that memory made for itself goes with its fact; one that was asked for is refused."""
    if new.own:
        return "gone"
    missing = new.edge.source if new.edge.source not in ends else new.edge.target
    raise NotFound(f"No fact has the id {missing}.", way_out="List the ids with: cofire list")


def _meet(connection: apsw.Connection, known: Any, new: NewEdge, version: int, now: datetime) -> str:
    """The edge is there already: do what its mode says."""
    key, weight, confidence, tags, origin, count = known
    if new.mode == "error":
        raise InvalidInput(
            f"{new.edge.source} and {new.edge.target} are connected by {new.edge.kind} already.",
            way_out="Use mode reinforce, update or skip.",
        )
    if new.mode == "skip":
        return "same"
    if new.mode == "reinforce":
        values = (weight, None if confidence is None else min(1.0, confidence + CONFIDENCE_STEP), tags, origin)
    else:
        values = _values(new.edge)
    more = new.edge.co_access_count > count
    if values == (weight, confidence, tags, origin) and new.mode != "reinforce" and not more:
        return "same"
    _update(connection, new, key, values, version=version, now=now)
    return "changed"


def _update(connection: apsw.Connection, new: NewEdge, key: int, values: Any, *, version: int, now: datetime) -> None:
    """Let other values hold. What use counted of an edge stays, or comes with one that was counted elsewhere."""
    table = kind_of(new.edge.kind).table
    seen = stamp(new.edge.strengthened or now)
    bound = (*values, new.edge.co_access_count, seen, version, key)
    connection.execute(_UPDATE.format(table, _SEEN[table]), bound)


def _values(edge: Edge) -> tuple[float | None, float | None, str | None, str]:
    return edge.weight, edge.confidence, json.dumps(sorted(edge.tags)) if edge.tags else None, edge.origin


_KNOWN = """
SELECT ended, key, weight, confidence, tags, origin, co_access_count FROM {} WHERE source = ? AND target = ? AND kind = ?
"""
_SEEN = {"graph_edges": "observed", "association_edges": "strengthened"}
_INSERT = {
    table: f"""
INSERT INTO {table}(source, target, kind, weight, confidence, tags, origin, co_access_count, {seen}, created, version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT(source, target, kind) DO NOTHING
"""
    for table, seen in _SEEN.items()
}
_UPDATE = """
UPDATE {} SET weight = ?, confidence = ?, tags = ?, origin = ?, co_access_count = max(co_access_count, ?), {} = ?, version = ?,
  ended = NULL WHERE key = ?
"""


def _end_edge(connection: apsw.Connection, edge: Edge, version: int, now: datetime) -> int:
    """An edge that ends is seen no more, but its row stays: it may be written again."""
    connection.execute(
        f"UPDATE {kind_of(edge.kind).table} SET ended = ?, version = ? WHERE ended IS NULL AND kind = ? "
        "AND source = (SELECT key FROM facts WHERE id = ?) AND target = (SELECT key FROM facts WHERE id = ?)",
        (stamp(now), version, edge.kind, edge.source, edge.target),
    )
    return int(connection.changes())


def write_descriptions(
    connection: apsw.Connection, descriptions: Sequence[Description], version: int, now: datetime
) -> None:
    """A new description holds from now on; the one before is kept as history. Its words lead to the fact, more weakly."""
    if not descriptions:
        return
    there = fact_keys(connection, {id for one in descriptions for id in one.cites})
    found = connection.execute(_SO_FAR, (apsw.carray(tuple({one.fact for one in descriptions})),))
    known: dict[str, Any] = {row[0]: row[1:] for row in found}
    told = [(one, *known[one.fact]) for one in descriptions if one.fact in known]
    for made, key, last, text, *before in told:
        one = renewed(made, text or "", there)
        if one is None:
            continue
        held = described(Held(*before), one.counts)
        if text == one.text and held != Held(*before):
            connection.execute(_LEADING, (held.terms, held.counts, version, last))
        if text != one.text:
            connection.execute(_REPLACED, (stamp(now), last))
            connection.execute(_DESCRIBE, (one.text, stamp(now), key, held.terms, held.counts, version))
        cites = [(key, there[id], gist) for id, gist in one.cites.items() if id != one.fact]
        connection.executemany("INSERT OR IGNORE INTO citations(fact, cited, gist) VALUES (?, ?, ?)", cites)


_SO_FAR = """
SELECT f.id, f.key, d.key, d.text, coalesce(d.terms, x''), coalesce(d.counts, x'')
FROM carray(?) c CROSS JOIN facts f ON f.id = c.value
LEFT JOIN descriptions d ON d.key = (SELECT max(key) FROM descriptions WHERE fact = f.key)
"""
_REPLACED = "UPDATE descriptions SET ended = ?, terms = x'', counts = x'' WHERE key = ?"
_LEADING = "UPDATE descriptions SET terms = ?, counts = ?, version = ? WHERE key = ?"
_DESCRIBE = "INSERT INTO descriptions(text, made, fact, terms, counts, version) VALUES (?, ?, ?, ?, ?, ?)"


def mark_dreamed(connection: apsw.Connection, ids: Sequence[str]) -> None:
    connection.executemany("UPDATE facts SET inbox = 0 WHERE id = ?", [(id,) for id in ids])


def write_importance(connection: apsw.Connection, rated: Sequence[Importance]) -> None:
    """Replace what was known of the scopes that these facts are of."""
    if not rated:
        return
    connection.execute(
        "DELETE FROM fact_importance WHERE fact IN (SELECT key FROM facts WHERE scope IN "
        "(SELECT scope FROM facts WHERE id IN (SELECT value FROM carray(?))))",
        (apsw.carray(tuple(one.fact for one in rated)),),
    )
    connection.executemany(
        "INSERT INTO fact_importance(fact, pagerank, community) SELECT key, ?, ? FROM facts WHERE id = ?",
        [(one.pagerank, one.community, one.fact) for one in rated],
    )


def run_clock(connection: apsw.Connection, now: datetime, idle_minutes: float) -> float:
    """The memory is used now: the clock of active hours runs on, or starts again after a pause. Returns the hours so far."""
    idle = timedelta(minutes=idle_minutes) // timedelta(microseconds=1)
    hours = connection.execute(_RUN_ON, (stamp(now), stamp(now) - idle)).get
    if hours is None:
        hours = connection.execute(_NEW_SPAN, (stamp(now),)).get
    return float(hours)


# A use within the pause belongs to the last span, as `extended` says; usually that is all there is to do.
_RUN_ON = """
UPDATE active_spans SET ended = max(ended, ?1)
WHERE key = (SELECT key FROM active_spans ORDER BY ended DESC LIMIT 1) AND ended >= ?2
RETURNING hours_before + (ended - begun) / 3600000000.0
"""
_NEW_SPAN = """
INSERT INTO active_spans(begun, ended, hours_before) SELECT ?1, ?1, coalesce(
  (SELECT hours_before + (ended - begun) / 3600000000.0 FROM active_spans ORDER BY ended DESC LIMIT 1), 0.0)
RETURNING hours_before
"""
