"""Curation in SQL: decay, pruning, archiving, superseding, reviews and usage."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.index.timestamps import DISTANT_PAST, from_microseconds, to_microseconds
from cofire.model import Change, EdgeCounts
from cofire.stores.curation_rows import (
    NO_CURATION,
    SIMILARITY_KINDS,
    ContradictionReview,
    CurationChange,
    DecayedEdge,
    DecayRule,
    DecaySummary,
    FactUsage,
    GraphHealth,
    Supersession,
    UsageReport,
    join_summaries,
)
from cofire.stores.edge_kinds import BEHAVIOURAL_TABLE, STRUCTURAL_TABLE
from cofire.stores.rules import (
    DecayedEdges,
    EdgeStrengths,
    decay_edges,
    latest_end,
    list_days_in_use,
    select_decaying_edges,
)
from cofire.stores.sqlite.edge_writes import LAST_SEEN_COLUMNS

EDGES_PER_BATCH = 50_000

KeyArray = NDArray[np.int64]


def write_curation(connection: apsw.Connection, change: Change, version: int) -> EdgeCounts:
    """Archive, supersede, review, decay and prune. Returns how many edges changed and ended."""
    curation = change.curation
    if change.archive or curation.because:
        _archive_facts(connection, change, version)
    counts = EdgeCounts()
    if curation == NO_CURATION:
        return counts
    for old, new in curation.restored:
        _undo_supersede(connection, old, new, version)
    for supersession in curation.superseded:
        _supersede_fact(connection, supersession, version)
    _write_reviews(connection, curation.reviews)
    for rule in curation.fades:
        counts += _apply_decay(connection, rule, change.now, version)
    if curation.prune is not None:
        counts += EdgeCounts(ended=_prune_weak_edges(connection, curation.prune, change.now, version))
    return counts


def _archive_facts(connection: apsw.Connection, change: Change, version: int) -> None:
    """Archive facts or bring them back. An empty reason means that it was done by hand."""
    connection.executemany(
        "UPDATE facts SET archived = ?1, version = ?2 WHERE id = ?3 AND archived <> ?1",
        [(int(archived), version, id) for id, archived in change.archive.items()],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO archived_because(fact, reason, at) SELECT key, '', ? FROM facts WHERE id = ?",
        [(to_microseconds(change.now), id) for id in change.archive],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO archived_because(fact, reason, at) SELECT key, ?, ? FROM facts WHERE id = ? AND archived",
        [(reason, to_microseconds(change.now), id) for id, reason in change.curation.because.items()],
    )


def _supersede_fact(connection: apsw.Connection, supersession: Supersession, version: int) -> None:
    """End the validity of the older fact. The end that it had before any successor is kept with each of them."""
    connection.execute(_INSERT_SUPERSEDED, (supersession.old, supersession.new))
    connection.execute(
        "UPDATE facts SET valid_until = min(?1, coalesce(valid_until, ?1)), version = ?2 WHERE id = ?3",
        (to_microseconds(supersession.until), version, supersession.old),
    )


# Mirrors `latest_end` over the ends that are kept with the other successors.
_INSERT_SUPERSEDED = """
INSERT OR IGNORE INTO superseded(old, new, valid_until) SELECT a.key, b.key,
  (SELECT CASE count(*) WHEN 0 THEN a.valid_until WHEN count(valid_until) THEN max(valid_until) END
   FROM superseded WHERE old = a.key)
FROM facts a, facts b WHERE a.id = ? AND b.id = ?
"""


def _undo_supersede(connection: apsw.Connection, old: str, new: str, version: int) -> None:
    """Withdraw a successor: the older fact is valid as long as before any successor."""
    row: Any = connection.execute(
        "DELETE FROM superseded WHERE old = (SELECT key FROM facts WHERE id = ?) "
        "AND new = (SELECT key FROM facts WHERE id = ?) RETURNING old, valid_until",
        (old, new),
    ).fetchone()
    if row is None:
        return
    key, withdrawn = row
    others: Any = connection.execute("SELECT valid_until FROM superseded WHERE old = ?", (key,)).fetchall()
    end = latest_end([withdrawn, *(kept for (kept,) in others)])
    connection.execute("UPDATE superseded SET valid_until = ? WHERE old = ?", (end, key))
    connection.execute("UPDATE facts SET valid_until = ?, version = ? WHERE key = ?", (end, version, key))


def _write_reviews(connection: apsw.Connection, reviews: Sequence[ContradictionReview]) -> None:
    connection.executemany(
        "INSERT INTO reviews(old, new, why, state) SELECT a.key, b.key, ?3, ?4 FROM facts a, facts b "
        "WHERE a.id = ?1 AND b.id = ?2 ON CONFLICT (old, new) DO UPDATE SET state = excluded.state "
        "WHERE excluded.state <> 'open'",
        [(review.old, review.new, review.why, review.state) for review in reviews],
    )


def _apply_decay(connection: apsw.Connection, rule: DecayRule, now: datetime, version: int) -> EdgeCounts:
    """Write decayed edges, and return how many changed and ended."""
    counts = EdgeCounts()
    for table, decayed in _compute_decay(connection, rule, now):
        kept = np.flatnonzero(~decayed.ends)
        columns = (decayed.after, decayed.anchors, decayed.since, decayed.keys)
        connection.executemany(
            f"UPDATE {table} SET {rule.by} = ?, anchor = ?, anchored = ?, version = {version:d} WHERE key = ?",
            zip(*(column[kept].tolist() for column in columns), strict=True),
        )
        _end_edges(connection, table, decayed.keys[decayed.ends], now, version)
        counts += EdgeCounts(changed=len(kept), ended=len(decayed.keys) - len(kept))
    return counts


def _end_edges(connection: apsw.Connection, table: str, keys: KeyArray, now: datetime, version: int) -> None:
    if len(keys):
        connection.execute(
            f"UPDATE {table} SET ended = ?, version = ? WHERE key IN (SELECT value FROM carray(?))",
            (to_microseconds(now), version, apsw.carray(np.ascontiguousarray(keys))),
        )


def _compute_decay(connection: apsw.Connection, rule: DecayRule, now: datetime) -> Iterator[tuple[str, DecayedEdges]]:
    """Edges whose decayed value is below the written one, with their table, a batch at a time; `decay_edges` is the rule."""
    days = fetch_active_days(connection) if rule.clock == "use" else None
    selection = select_decaying_edges(rule, now, days)
    seen = LAST_SEEN_COLUMNS[selection.table]
    sql = _SELECT_DECAYING_EDGES.format(table=selection.table, column=rule.by, since=f"coalesce({seen}, created)")
    kinds, pinned = apsw.carray(selection.kinds), apsw.carray(_fetch_pinned_keys(connection))
    last = 0
    while rows := connection.execute(
        sql, (last, kinds, pinned, selection.missing, EDGES_PER_BATCH, selection.before)
    ).fetchall():
        table = np.fromiter(chain.from_iterable(rows), np.float64).reshape(-1, 4)
        keys, since = table[:, 0].astype(np.int64), table[:, 3].astype(np.int64)
        last = int(keys[-1])
        decayed = decay_edges(EdgeStrengths(keys, table[:, 1], table[:, 2], since), rule, now, days)
        if len(decayed.keys):
            yield selection.table, decayed


# The anchor is the value from which an edge decays. One from before the edge was last seen is void: the value itself is the anchor.
_SELECT_DECAYING_EDGES = """
SELECT key, coalesce({column}, ?4), CASE WHEN anchored = {since} THEN anchor ELSE coalesce({column}, ?4) END, {since}
FROM {table}
WHERE key > ?1 AND ended IS NULL AND {since} < ?6 AND origin <> 'user' AND coalesce({column}, ?4) IS NOT NULL
  AND kind IN (SELECT value FROM carray(?2))
  AND source NOT IN (SELECT value FROM carray(?3)) AND target NOT IN (SELECT value FROM carray(?3))
ORDER BY key LIMIT ?5
"""


def _fetch_pinned_keys(connection: apsw.Connection) -> Any:
    """The keys of pinned facts; never empty."""
    return array("q", [-1, *(key for (key,) in connection.execute("SELECT key FROM facts WHERE pinned"))])


def fetch_active_days(connection: apsw.Connection) -> list[int]:
    spans: Any = connection.execute("SELECT begun, ended FROM active_spans")
    return list_days_in_use(spans)


_FROM_WEAK_EDGES = """
FROM graph_edges e WHERE e.ended IS NULL AND e.origin <> 'user' AND e.weight < ? AND e.kind IN (SELECT value FROM carray(?))
  AND e.source NOT IN (SELECT value FROM carray(?3)) AND e.target NOT IN (SELECT value FROM carray(?3))
"""


def _prune_weak_edges(connection: apsw.Connection, threshold: float, now: datetime, version: int) -> int:
    found = connection.execute(
        "SELECT e.key" + _FROM_WEAK_EDGES,
        (threshold, apsw.carray(SIMILARITY_KINDS), apsw.carray(_fetch_pinned_keys(connection))),
    )
    keys = np.array([key for (key,) in found], np.int64)
    _end_edges(connection, STRUCTURAL_TABLE, keys, now, version)
    return len(keys)


class SqliteCurationMixin:
    """What curation asks of a store in a file."""

    def _reading(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _write_log(self) -> None:
        raise NotImplementedError

    def preview_decay(self, curation: CurationChange, now: datetime, examples: int) -> DecaySummary:
        with self._reading() as connection:
            parts = [_preview_rule(connection, rule, now, examples) for rule in curation.fades]
            if curation.prune is not None:
                parts.append(_preview_pruning(connection, curation.prune, examples))
        return join_summaries(parts)

    def read_usage(self) -> UsageReport:
        self._write_log()
        with self._reading() as connection:
            facts = tuple(
                FactUsage(
                    id, category, bool(pinned), _decode_time(stored), _decode_time(used), importance, success, size
                )
                for id, category, pinned, stored, used, importance, success, size in connection.execute(_SELECT_USAGE)
            )
            return UsageReport(facts, tuple(fetch_active_days(connection)))

    def check_graph(self) -> GraphHealth:
        with self._reading() as connection:
            facts = _fetch_column(connection, "SELECT key FROM facts INDEXED BY facts_by_version")
            hidden = _fetch_column(connection, "SELECT key FROM facts WHERE archived")
            names = _fetch_column(connection, "SELECT key FROM names")
            edges = [
                _fetch_pairs(connection, _SELECT_EDGE_ENDS.format(table))
                for table in (STRUCTURAL_TABLE, BEHAVIOURAL_TABLE)
            ]
            held = _fetch_pairs(connection, "SELECT fact, name FROM mentions UNION SELECT fact, name FROM subjects")
        linked = np.concatenate([*(ends.ravel() for ends in edges), _find_name_sharers(held)])
        lost = [~np.isin(ends, facts) for ends in (*edges, held[:, :1])] + [~np.isin(held[:, 1], names)]
        return GraphHealth(
            int((~np.isin(facts, np.concatenate([linked, hidden]))).sum()), sum(int(one.sum()) for one in lost)
        )

    def list_changed_ids(self, since: datetime | None) -> list[str]:
        with self._reading() as connection:
            rows = connection.execute(
                _SELECT_CHANGED_FACTS, (DISTANT_PAST if since is None else to_microseconds(since),)
            )
            return [str(id) for (id,) in rows]

    def list_reviews(self, open_only: bool) -> list[ContradictionReview]:
        sql = "SELECT a.id, b.id, r.why, r.state FROM reviews r JOIN facts a ON a.key = r.old JOIN facts b ON b.key = r.new"
        with self._reading() as connection:
            clause = "WHERE r.state = 'open'" if open_only else ""
            return [ContradictionReview(*row) for row in connection.execute(f"{sql} {clause} ORDER BY a.id, b.id")]


def _preview_rule(connection: apsw.Connection, rule: DecayRule, now: datetime, examples: int) -> DecaySummary:
    changed = ended = 0
    shown: list[DecayedEdge] = []
    for table, decayed in _compute_decay(connection, rule, now):
        changed += int((~decayed.ends).sum())
        ended += int(decayed.ends.sum())
        shown += _build_examples(connection, table, decayed, examples - len(shown))
    return DecaySummary(changed, ended, tuple(shown))


def _preview_pruning(connection: apsw.Connection, threshold: float, examples: int) -> DecaySummary:
    bound = (threshold, apsw.carray(SIMILARITY_KINDS), apsw.carray(_fetch_pinned_keys(connection)))
    count = connection.execute("SELECT count(*)" + _FROM_WEAK_EDGES, bound).get
    ends = "SELECT (SELECT id FROM facts WHERE key = e.source), (SELECT id FROM facts WHERE key = e.target), "
    found: Any = connection.execute(
        f"{ends} e.kind, e.weight {_FROM_WEAK_EDGES} ORDER BY e.key LIMIT {examples:d}", bound
    )
    return DecaySummary(0, count, tuple(DecayedEdge(a, b, kind, weight, None) for a, b, kind, weight in found))


def fetch_archive_reason(connection: apsw.Connection, id: str) -> str | None:
    """Why curation archived a fact; None where it is not archived, or was archived by hand."""
    reason: str | None = connection.execute(_SELECT_ARCHIVE_REASON, (id,)).get
    return reason


def _fetch_column(connection: apsw.Connection, sql: str) -> KeyArray:
    found: Any = connection.execute(sql)
    return np.fromiter((key for (key,) in found), np.int64)


def _fetch_pairs(connection: apsw.Connection, sql: str) -> KeyArray:
    found: Any = connection.execute(sql)
    return np.fromiter(chain.from_iterable(found), np.int64).reshape(-1, 2)


def _find_name_sharers(held: KeyArray) -> KeyArray:
    """The facts that hold a name which another holds too."""
    _, which, counts = np.unique(held[:, 1], return_inverse=True, return_counts=True)
    return np.asarray(held[counts[which] > 1, 0], np.int64)


def _build_examples(connection: apsw.Connection, table: str, decayed: DecayedEdges, limit: int) -> list[DecayedEdge]:
    sql = (
        f"SELECT a.id, b.id, e.kind FROM {table} e JOIN facts a ON a.key = e.source JOIN facts b ON b.key = e.target "
        "WHERE e.key = ?"
    )
    examples = []
    for row in range(min(limit, len(decayed.keys))):
        ends: Any = connection.execute(sql, (int(decayed.keys[row]),)).fetchone()
        source, target, kind = ends
        examples.append(DecayedEdge(source, target, kind, float(decayed.before[row]), decayed.value_after(row)))
    return examples


def _decode_time(number: int) -> datetime:
    moment = from_microseconds(number)
    assert moment is not None, "a fact knows when it was stored and used"
    return moment


# An empty reason means that the fact was archived, or brought back, by hand.
_SELECT_ARCHIVE_REASON = """
SELECT b.reason FROM facts f JOIN archived_because b ON b.fact = f.key WHERE f.id = ? AND f.archived AND b.reason <> ''
"""
_SELECT_USAGE = """
SELECT f.id, f.category, f.pinned, f.stored_at,
  max(f.stored_at, coalesce(f.reinforced_at, 0), coalesce(b.at, 0), coalesce(
    (SELECT max(r.at) FROM recall_log_facts l JOIN recall_log r ON r.key = l.recall WHERE l.fact = f.key), 0)),
  coalesce(i.pagerank, 0.0),
  (1.0 + coalesce(u.helped, 0)) / (2.0 + coalesce(u.helped, 0) + coalesce(u.hurt, 0)),
  octet_length(f.text) + coalesce(octet_length(v.vector), 0)
FROM facts f LEFT JOIN fact_importance i ON i.fact = f.key LEFT JOIN vectors v ON v.fact = f.key
LEFT JOIN fact_use u ON u.fact = f.key LEFT JOIN archived_because b ON b.fact = f.key WHERE NOT f.archived ORDER BY f.id
"""
_SELECT_EDGE_ENDS = "SELECT source, target FROM {} WHERE ended IS NULL"
_SELECT_CHANGED_FACTS = """
SELECT id FROM facts WHERE NOT archived
  AND (max(stored_at, coalesce(reinforced_at, stored_at)) >= ?1 OR key IN (SELECT fact FROM fact_history WHERE until >= ?1))
ORDER BY id
"""
