"""Curation in SQL: edges fade and are pruned, facts are archived, give way to others and come back; and what curation asks."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.curating import NO_CURATION, SIMILARITY, Fade, FadedEdge, Fading, Health, Review, Superseding, Usage
from cofire.dynamics import fading
from cofire.kinds import BEHAVIOURAL, KINDS, STRUCTURAL
from cofire.model import Change, EdgeCounts
from cofire.stores.aging import DAY, Aged, Standing, age
from cofire.stores.index.moments import LONG_AGO, moment, stamp

PORTION = 50_000

Keys = NDArray[np.int64]

# What fades, of which table, by which column, and when it was last strengthened or seen.
_FADING = {"weight": (BEHAVIOURAL, "weight", "strengthened"), "confidence": (STRUCTURAL, "confidence", "observed")}


def write_curation(connection: apsw.Connection, change: Change, version: int) -> EdgeCounts:
    """Everything of a change that belongs to curation. The counts are of edges that faded and ended."""
    curation = change.curation
    if change.archive or curation.because:
        _archive(connection, change, version)
    if curation == NO_CURATION:
        return EdgeCounts()
    for old, new in curation.restored:
        _restore(connection, old, new, version)
    for one in curation.superseded:
        _supersede(connection, one, version)
    _review(connection, curation.reviews)
    faded = [_fade(connection, fade, change.now, version) for fade in curation.fades]
    pruned = 0 if curation.prune is None else _prune(connection, curation.prune, change.now, version)
    return EdgeCounts(0, sum(one for one, _ in faded), sum(gone for _, gone in faded) + pruned)


def _archive(connection: apsw.Connection, change: Change, version: int) -> None:
    connection.executemany(
        "UPDATE facts SET archived = ?1, version = ?2 WHERE id = ?3 AND archived <> ?1",
        [(int(out), version, id) for id, out in change.archive.items()],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO archived_because(fact, reason, at) SELECT key, '', ? FROM facts WHERE id = ?",
        [(stamp(change.now), id) for id in change.archive],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO archived_because(fact, reason, at) SELECT key, ?, ? FROM facts WHERE id = ? AND archived",
        [(reason, stamp(change.now), id) for id, reason in change.curation.because.items()],
    )


def _supersede(connection: apsw.Connection, one: Superseding, version: int) -> None:
    """What the older fact was valid until, before any took its place, is kept with each of them, for the way back."""
    connection.execute(_SUPERSEDED, (one.old, one.new))
    connection.execute(
        "UPDATE facts SET valid_until = min(?1, coalesce(valid_until, ?1)), version = ?2 WHERE id = ?3",
        (stamp(one.until), version, one.old),
    )


_SUPERSEDED = """
INSERT OR IGNORE INTO superseded(old, new, valid_until) SELECT a.key, b.key,
  (SELECT CASE count(*) WHEN 0 THEN a.valid_until WHEN count(valid_until) THEN max(valid_until) END
   FROM superseded WHERE old = a.key)
FROM facts a, facts b WHERE a.id = ? AND b.id = ?
"""


def _restore(connection: apsw.Connection, old: str, new: str, version: int) -> None:
    """The older fact is valid as long as before any other took its place."""
    row = connection.execute(
        "DELETE FROM superseded WHERE old = (SELECT key FROM facts WHERE id = ?) "
        "AND new = (SELECT key FROM facts WHERE id = ?) RETURNING old, valid_until",
        (old, new),
    ).fetchone()
    if row is None:
        return
    key, *kept = row
    kept += [end for (end,) in connection.execute("SELECT valid_until FROM superseded WHERE old = ?", (key,))]
    first = None if None in kept else max(kept)
    connection.execute("UPDATE superseded SET valid_until = ? WHERE old = ?", (first, key))
    connection.execute("UPDATE facts SET valid_until = ?, version = ? WHERE key = ?", (first, version, key))


def _review(connection: apsw.Connection, reviews: Sequence[Review]) -> None:
    connection.executemany(
        "INSERT INTO reviews(old, new, why, state) SELECT a.key, b.key, ?3, ?4 FROM facts a, facts b "
        "WHERE a.id = ?1 AND b.id = ?2 ON CONFLICT (old, new) DO UPDATE SET state = excluded.state "
        "WHERE excluded.state <> 'open'",
        [(one.old, one.new, one.why, one.state) for one in reviews],
    )


def _fade(connection: apsw.Connection, fade: Fade, now: datetime, version: int) -> tuple[int, int]:
    """How many edges faded, and how many ended."""
    table, column, _ = _FADING[fade.by]
    changed = gone = 0
    for aged in _aging(connection, fade, now):
        kept = np.flatnonzero(~aged.ends)
        connection.executemany(
            f"UPDATE {table} SET {column} = ?, anchor = ?, anchored = ?, version = {version:d} WHERE key = ?",
            zip(*(part[kept].tolist() for part in (aged.after, aged.anchors, aged.since, aged.keys)), strict=True),
        )
        _end(connection, table, aged.keys[aged.ends], now, version)
        changed, gone = changed + len(kept), gone + len(aged.keys) - len(kept)
    return changed, gone


def _end(connection: apsw.Connection, table: str, keys: Keys, now: datetime, version: int) -> None:
    if len(keys):
        connection.execute(
            f"UPDATE {table} SET ended = ?, version = ? WHERE key IN (SELECT value FROM carray(?))",
            (stamp(now), version, apsw.carray(np.ascontiguousarray(keys))),
        )


def _aging(connection: apsw.Connection, fade: Fade, now: datetime) -> Iterator[Aged]:
    """Edges whose weight or confidence is less by now than what is written, a portion at a time."""
    table, column, seen = _FADING[fade.by]
    kinds = tuple(name for name, kind in KINDS.items() if kind.fades == fade.by and kind.table == table)
    days = active_days(connection) if fade.clock == "use" else None
    sql, last = _STANDING.format(table=table, column=column, since=f"coalesce({seen}, created)"), 0
    unsaid = 1.0 if fade.by == "confidence" else None
    before = DAY * (1 + fading.last_day(fading.day_of(now), fade.grace, in_use=days))
    pinned = apsw.carray(_pinned(connection))
    while rows := connection.execute(sql, (last, apsw.carray(kinds), pinned, unsaid, PORTION, before)).fetchall():
        last = int(rows[-1][0])  # type: ignore[arg-type]
        written = np.fromiter(chain.from_iterable(rows), np.float64).reshape(-1, 4)
        keys, since = written[:, 0].astype(np.int64), written[:, 3].astype(np.int64)
        aged = age(Standing(keys, written[:, 1], written[:, 2], since), fade, now, days)
        if len(aged.keys):
            yield aged


# An anchor that was taken before the edge was last strengthened holds no more: what is written is the anchor then.
_STANDING = """
SELECT key, coalesce({column}, ?4), CASE WHEN anchored = {since} THEN anchor ELSE coalesce({column}, ?4) END, {since}
FROM {table}
WHERE key > ?1 AND ended IS NULL AND {since} < ?6 AND origin <> 'user' AND coalesce({column}, ?4) IS NOT NULL
  AND kind IN (SELECT value FROM carray(?2))
  AND source NOT IN (SELECT value FROM carray(?3)) AND target NOT IN (SELECT value FROM carray(?3))
ORDER BY key LIMIT ?5
"""


def _pinned(connection: apsw.Connection) -> Any:
    """The keys of pinned facts, whose edges stay as they are; one that nobody has where there are none."""
    return array("q", [-1, *(key for (key,) in connection.execute("SELECT key FROM facts WHERE pinned"))])


def active_days(connection: apsw.Connection) -> list[int]:
    spans = connection.execute("SELECT begun, ended FROM active_spans")
    return sorted({day for begun, ended in spans for day in range(begun // DAY, ended // DAY + 1)})


_WEAK = """
FROM graph_edges e WHERE e.ended IS NULL AND e.origin <> 'user' AND e.weight < ? AND e.kind IN (SELECT value FROM carray(?))
  AND e.source NOT IN (SELECT value FROM carray(?3)) AND e.target NOT IN (SELECT value FROM carray(?3))
"""


def _prune(connection: apsw.Connection, threshold: float, now: datetime, version: int) -> int:
    found = connection.execute(
        "SELECT e.key" + _WEAK, (threshold, apsw.carray(SIMILARITY), apsw.carray(_pinned(connection)))
    )
    keys = np.array([key for (key,) in found], np.int64)
    _end(connection, STRUCTURAL, keys, now, version)
    return len(keys)


class Curating:
    """What curation asks of a store in a file."""

    def _reading(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _write_log(self) -> None:
        raise NotImplementedError

    def fading(self, fade: Fade, now: datetime, examples: int) -> Fading:
        with self._reading() as connection:
            changed = gone = 0
            shown: list[FadedEdge] = []
            for aged in _aging(connection, fade, now):
                changed, gone = changed + int((~aged.ends).sum()), gone + int(aged.ends.sum())
                shown += _shown(connection, _FADING[fade.by][0], aged, examples - len(shown))
        return Fading(changed, gone, tuple(shown))

    def weak(self, threshold: float, examples: int) -> Fading:
        with self._reading() as connection:
            bound = (threshold, apsw.carray(SIMILARITY), apsw.carray(_pinned(connection)))
            count = connection.execute("SELECT count(*)" + _WEAK, bound).get
            ends = "SELECT (SELECT id FROM facts WHERE key = e.source), (SELECT id FROM facts WHERE key = e.target), "
            found: Any = connection.execute(f"{ends} e.kind, e.weight {_WEAK} ORDER BY e.key LIMIT {examples:d}", bound)
            return Fading(0, count, tuple(FadedEdge(a, b, kind, weight, None) for a, b, kind, weight in found))

    def usage(self) -> list[Usage]:
        self._write_log()
        with self._reading() as connection:
            return [
                Usage(id, category, bool(pinned), _moment(stored), _moment(used), importance, success, size)
                for id, category, pinned, stored, used, importance, success, size in connection.execute(_USAGE)
            ]

    def active_days(self) -> list[int]:
        with self._reading() as connection:
            return active_days(connection)

    def health(self) -> Health:
        with self._reading() as connection:
            facts = _column(connection, "SELECT key FROM facts INDEXED BY facts_by_version")
            hidden = _column(connection, "SELECT key FROM facts WHERE archived")
            names = _column(connection, "SELECT key FROM names")
            edges = [_pairs(connection, _ENDS.format(table)) for table in (STRUCTURAL, BEHAVIOURAL)]
            held = _pairs(connection, "SELECT fact, name FROM mentions UNION SELECT fact, name FROM subjects")
        linked = np.concatenate([*(ends.ravel() for ends in edges), _sharing(held)])
        lost = [~np.isin(ends, facts) for ends in (*edges, held[:, :1])] + [~np.isin(held[:, 1], names)]
        return Health(
            int((~np.isin(facts, np.concatenate([linked, hidden]))).sum()), sum(int(one.sum()) for one in lost)
        )

    def changed_facts(self, since: datetime | None) -> list[str]:
        with self._reading() as connection:
            rows = connection.execute(_CHANGED, (LONG_AGO if since is None else stamp(since),))
            return [str(id) for (id,) in rows]

    def reviews(self, open_only: bool) -> list[Review]:
        sql = "SELECT a.id, b.id, r.why, r.state FROM reviews r JOIN facts a ON a.key = r.old JOIN facts b ON b.key = r.new"
        with self._reading() as connection:
            clause = "WHERE r.state = 'open'" if open_only else ""
            return [Review(*row) for row in connection.execute(f"{sql} {clause} ORDER BY a.id, b.id")]

    def archived_because(self, ids: Sequence[str]) -> Mapping[str, str]:
        with self._reading() as connection:
            found: Any = connection.execute(_BECAUSE, (apsw.carray(tuple(ids)),)) if ids else ()
            return dict(found)


def _column(connection: apsw.Connection, sql: str) -> Keys:
    found: Any = connection.execute(sql)
    return np.fromiter((key for (key,) in found), np.int64)


def _pairs(connection: apsw.Connection, sql: str) -> Keys:
    found: Any = connection.execute(sql)
    return np.fromiter(chain.from_iterable(found), np.int64).reshape(-1, 2)


def _sharing(held: Keys) -> Keys:
    """The facts that hold a name which another holds too."""
    _, which, counts = np.unique(held[:, 1], return_inverse=True, return_counts=True)
    return np.asarray(held[counts[which] > 1, 0], np.int64)


def _shown(connection: apsw.Connection, table: str, aged: Aged, most: int) -> list[FadedEdge]:
    sql = (
        f"SELECT a.id, b.id, e.kind FROM {table} e JOIN facts a ON a.key = e.source JOIN facts b ON b.key = e.target "
        "WHERE e.key = ?"
    )
    shown = []
    for at in range(min(most, len(aged.keys))):
        ends: Any = connection.execute(sql, (int(aged.keys[at]),)).fetchone()
        source, target, kind = ends
        shown.append(FadedEdge(source, target, kind, float(aged.before[at]), aged.left(at)))
    return shown


def _moment(number: int) -> datetime:
    found = moment(number)
    assert found is not None, "a fact knows when it was stored and used"
    return found


# A reason that is empty says that somebody archived the fact by hand, or brought it back then.
_BECAUSE = """
SELECT f.id, b.reason FROM carray(?) c CROSS JOIN facts f ON f.id = c.value JOIN archived_because b ON b.fact = f.key
WHERE f.archived AND b.reason <> ''
"""
_USAGE = """
SELECT f.id, f.category, f.pinned, f.stored_at,
  max(f.stored_at, coalesce(f.reinforced_at, 0), coalesce(b.at, 0), coalesce(
    (SELECT max(r.at) FROM recall_log_facts l JOIN recall_log r ON r.key = l.recall WHERE l.fact = f.key), 0)),
  coalesce(i.pagerank, 0.0),
  (1.0 + coalesce(u.helped, 0)) / (2.0 + coalesce(u.helped, 0) + coalesce(u.hurt, 0)),
  octet_length(f.text) + coalesce(octet_length(v.vector), 0)
FROM facts f LEFT JOIN fact_importance i ON i.fact = f.key LEFT JOIN vectors v ON v.fact = f.key
LEFT JOIN fact_use u ON u.fact = f.key LEFT JOIN archived_because b ON b.fact = f.key WHERE NOT f.archived ORDER BY f.id
"""
_ENDS = "SELECT source, target FROM {} WHERE ended IS NULL"
_CHANGED = """
SELECT id FROM facts WHERE NOT archived
  AND (max(stored_at, coalesce(reinforced_at, stored_at)) >= ?1 OR key IN (SELECT fact FROM fact_history WHERE until >= ?1))
ORDER BY id
"""
