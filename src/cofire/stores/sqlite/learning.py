"""Learning from use: the recall log, feedback, judged recalls and communities."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

import apsw

from cofire.algorithms import reinforcement
from cofire.index.timestamps import from_microseconds, to_microseconds
from cofire.model import Change, EdgeCounts
from cofire.stores.learning_rows import (
    MAX_JUDGED_RECALLS,
    CommunityMembers,
    EdgeAdjustment,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    PathEdge,
    RecallLogOptions,
)
from cofire.stores.recall_log import (
    MAX_EXPOSURE_PAIRS,
    MAX_RECALL_SESSIONS,
    RecallBuffer,
    assign_sessions,
    collect_path_ids,
    list_exposures,
    list_judgements,
    make_documented_lessons,
    make_exposure_lessons,
    make_judged_recall,
    needs_cleanup,
    warn_log_lost,
)
from cofire.stores.sqlite import edge_writes
from cofire.stores.sqlite.connections import ConnectionPair
from cofire.stores.sqlite.graph_writes import advance_clock, fetch_fact_keys

# Recalls that are written together, or with the first recall after so long, so that other processes learn what is in use.
RECALLS_PER_WRITE = 256
MAX_WRITE_DELAY = timedelta(minutes=1)


def write_waiting_recalls(connection: apsw.Connection, buffer: RecallBuffer, taken: list[LoggedRecall]) -> None:
    """Write the waiting recalls. `taken` gets them, so that they can wait again if the transaction fails."""
    recalls, options = buffer.take()
    taken += recalls
    if recalls and options is not None:
        write_recalls(connection, recalls, options)


def write_recalls(connection: apsw.Connection, waiting: Sequence[LoggedRecall], options: RecallLogOptions) -> None:
    """Log recalls, drop the oldest, and learn from what was shown together. A recall is also use of the memory.

    Recalls that are logged already are left out: the write that kept them may have failed after its commit.
    """
    ids = tuple(shown.id for shown in waiting)
    logged = {id for (id,) in connection.execute(_SELECT_LOGGED_IDS, (apsw.carray(ids),))}
    recalls = [shown for shown in waiting if shown.id not in logged]
    if not recalls:
        return
    record_use_times(connection, [shown.at for shown in recalls], options.idle_minutes)
    keys = fetch_fact_keys(connection, {id for shown in recalls for id in (*shown.ids, *collect_path_ids(shown))})
    first = 1 + int(connection.execute(_SELECT_LAST_RECALL_KEY).get or 0)
    recall_rows = []
    fact_rows = []
    for number, shown in enumerate(recalls, first):
        at, paths = to_microseconds(shown.at), _encode_paths(shown.ways, keys)
        recall_rows.append((number, shown.id, at, shown.session, paths))
        fact_rows += [(number, keys[id], place) for place, id in enumerate(shown.ids) if id in keys]
    connection.executemany(_INSERT_RECALL, recall_rows)
    connection.executemany(_INSERT_RECALL_FACT, fact_rows)
    newest = first + len(recalls) - 1
    connection.execute("DELETE FROM recall_log WHERE key <= ?", (newest - options.most,))
    lessons = _derive_lessons(connection, recalls, options, keys)
    if lessons:
        version = connection.execute("UPDATE state SET version = version + 1 RETURNING version").get
        edge_writes.apply_lessons(connection, lessons, version, recalls[-1].at)
    if needs_cleanup(newest, len(recalls)):
        prune_exposures(connection)


# Keys are given here, so that many rows are one call; none is given twice.
_SELECT_LAST_RECALL_KEY = "SELECT seq FROM sqlite_sequence WHERE name = 'recall_log'"
_SELECT_LOGGED_IDS = "SELECT r.id FROM carray(?) c CROSS JOIN recall_log r ON r.id = c.value"
_INSERT_RECALL = "INSERT INTO recall_log(key, id, at, session, ways) VALUES (?, ?, ?, ?, ?)"
_INSERT_RECALL_FACT = "INSERT OR IGNORE INTO recall_log_facts(recall, fact, place) VALUES (?, ?, ?)"


def record_use_times(connection: apsw.Connection, moments: Iterable[datetime], idle_minutes: float) -> None:
    """Advance the clock of active hours. Of a time without a long pause only the first and the last moment matter."""
    idle = timedelta(minutes=idle_minutes)
    spans: list[list[datetime]] = []
    for at in sorted(moments):
        if spans and at - spans[-1][-1] <= idle:
            spans[-1][1:] = [at]
        else:
            spans.append([at])
    for span in spans:
        for at in span:
            advance_clock(connection, at, idle_minutes)


def _encode_paths(ways: Mapping[str, tuple[PathEdge, ...]], keys: Mapping[str, int]) -> str | None:
    """The edges that led to each fact, by keys. A key means nothing once its fact is gone."""
    encoded = {
        keys[id]: [
            [keys[edge.source], keys[edge.target], edge.kind]
            for edge in edges
            if edge.source in keys and edge.target in keys
        ]
        for id, edges in ways.items()
        if id in keys
    }
    return json.dumps(encoded, separators=(",", ":")) if encoded else None


def read_recall(connection: apsw.Connection, id: str) -> LoggedRecall | None:
    """What a recall showed, without the facts that were forgotten since."""
    row: Any = connection.execute("SELECT key, at, session, ways FROM recall_log WHERE id = ?", (id,)).fetchone()
    if row is None:
        return None
    key, at, session, encoded = row
    sql = """
    SELECT f.id FROM recall_log_facts r JOIN facts f ON f.key = r.fact WHERE r.recall = ? ORDER BY r.place
    """
    ids = tuple(str(fact) for (fact,) in connection.execute(sql, (key,)))
    moment = from_microseconds(at)
    assert moment is not None, "a recall has its moment"
    return LoggedRecall(id, moment, session, ids, _decode_paths(connection, json.loads(encoded) if encoded else {}))


def _decode_paths(
    connection: apsw.Connection, encoded: Mapping[str, list[list[Any]]]
) -> dict[str, tuple[PathEdge, ...]]:
    if not encoded:
        return {}
    keys = {int(fact) for fact in encoded}
    keys |= {end for edges in encoded.values() for edge in edges for end in edge[:2]}
    sql = "SELECT f.key, f.id FROM carray(?) c CROSS JOIN facts f ON f.key = c.value"
    rows: Any = connection.execute(sql, (apsw.carray(array("q", sorted(keys))),))
    ids = dict(rows)
    ways = {}
    for fact, edges in encoded.items():
        path = tuple(PathEdge(ids[s], ids[t], kind) for s, t, kind in edges if s in ids and t in ids)
        if path and int(fact) in ids:
            ways[ids[int(fact)]] = path
    return ways


def _derive_lessons(
    connection: apsw.Connection, recalls: Sequence[LoggedRecall], options: RecallLogOptions, keys: Mapping[str, int]
) -> list[EdgeAdjustment]:
    """What exposure teaches, by the rule of the settings."""
    if options.rule == "documented":
        return make_documented_lessons(recalls)
    return _count_exposures(connection, recalls, options.idle_minutes, keys) if options.rule == "earned" else []


def _count_exposures(
    connection: apsw.Connection, recalls: Sequence[LoggedRecall], idle_minutes: float, keys: Mapping[str, int]
) -> list[EdgeAdjustment]:
    """Count the sessions in which pairs were shown (`list_exposures`); a pair that has earned a step is counted anew."""
    sessions = _assign_stored_sessions(connection, recalls, idle_minutes)
    exposures = sorted((keys[a], keys[b], session) for a, b, session in list_exposures(recalls, sessions, keys))
    connection.executemany(_UPSERT_EXPOSURE, exposures)
    earned: Any = connection.execute(_DELETE_EARNED_PAIRS, (reinforcement.MIN_DISTINCT_SESSIONS,)).fetchall()
    ids = {key: id for id, key in keys.items()}
    return make_exposure_lessons((ids[a], ids[b]) for a, b in sorted(earned))


_UPSERT_EXPOSURE = """
INSERT INTO exposures(a, b, sessions, last) VALUES (?, ?, 1, ?)
ON CONFLICT(a, b) DO UPDATE SET sessions = sessions + 1, last = excluded.last WHERE excluded.last > last
"""
# The first comparison is that of the partial index.
_DELETE_EARNED_PAIRS = "DELETE FROM exposures WHERE sessions >= 3 AND sessions >= ? RETURNING a, b"


def _assign_stored_sessions(
    connection: apsw.Connection, recalls: Sequence[LoggedRecall], idle_minutes: float
) -> list[int]:
    """The key of the session that each recall belongs to; `assign_sessions` is the rule."""
    last = {}
    for name in {shown.session for shown in recalls}:
        row: Any = connection.execute(_SELECT_LAST_SESSION, (name,)).fetchone()
        if row is not None:
            last[name] = row
    newest = connection.execute("SELECT coalesce(max(key), 0) FROM recall_sessions").get
    numbers, sessions = assign_sessions(recalls, idle_minutes, last, newest)
    rows = [(number, name, ended) for name, (number, ended) in sessions.items()]
    connection.executemany(_UPSERT_SESSION, rows)
    return numbers


_SELECT_LAST_SESSION = "SELECT key, ended FROM recall_sessions WHERE name IS ? ORDER BY key DESC LIMIT 1"
_UPSERT_SESSION = """
INSERT INTO recall_sessions(key, name, ended) VALUES (?, ?, ?) ON CONFLICT(key) DO UPDATE SET ended = excluded.ended
"""


def prune_exposures(connection: apsw.Connection) -> None:
    """Drop the pairs that were shown longest ago, and old sessions."""
    surplus = connection.execute("SELECT count(*) FROM exposures").get - MAX_EXPOSURE_PAIRS
    if surplus > 0:
        connection.execute(_DELETE_OLDEST_PAIRS, (surplus,))
    connection.execute(
        "DELETE FROM recall_sessions WHERE key <= (SELECT max(key) FROM recall_sessions) - ?", (MAX_RECALL_SESSIONS,)
    )


_DELETE_OLDEST_PAIRS = """
DELETE FROM exposures WHERE (a, b) IN (SELECT a, b FROM exposures ORDER BY last, sessions, a, b LIMIT ?)
"""


def write_judged_recalls(connection: apsw.Connection, judged: Sequence[JudgedRecall]) -> None:
    """Keep judged recalls and drop the oldest. A verdict on a fact replaces an earlier one, no verdict leaves it."""
    for recall in judged:
        connection.execute("INSERT OR IGNORE INTO occasions(id) VALUES (?)", (recall.id,))
        key = int(connection.execute("SELECT key FROM occasions WHERE id = ?", (recall.id,)).get)
        rows = [(key, int(first), verdict, id) for id, first, verdict in list_judgements(recall)]
        connection.executemany(_UPSERT_JUDGEMENT, rows)
        connection.execute("DELETE FROM occasions WHERE key <= ?", (key - MAX_JUDGED_RECALLS,))


_UPSERT_JUDGEMENT = """
INSERT INTO occasion_facts(occasion, first, verdict, fact) SELECT ?1, ?2, ?3, key FROM facts WHERE id = ?4
ON CONFLICT(occasion, fact) DO UPDATE SET first = excluded.first, verdict = coalesce(nullif(excluded.verdict, 0), verdict)
"""


def find_similar_recalls(connection: apsw.Connection, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
    """Judged recalls with at least two of these facts at their first places: those with most of them, then the newest."""
    # Every recall asks this, and most stores have no judged recall.
    if not ids or not connection.execute("SELECT EXISTS (SELECT 1 FROM occasions)").get:
        return []
    judgements: dict[str, list[tuple[str, bool, int]]] = {}
    rows: Any = connection.execute(_SELECT_SIMILAR_RECALLS, (apsw.carray(tuple(ids)), limit))
    for recall, fact, first, verdict in rows:
        judgements.setdefault(recall, []).append((fact, first, verdict))
    return [make_judged_recall(id, facts) for id, facts in judgements.items()]


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


def write_learning(connection: apsw.Connection, change: Change, version: int) -> EdgeCounts:
    """Write what a change has learned from use: feedback, judged recalls and lessons about edges."""
    if change.uses:
        rows = [(counts.helped, counts.hurt, id) for id, counts in change.uses.items()]
        connection.executemany(_ADD_FACT_USE, rows)
    write_judged_recalls(connection, change.occasions)
    return edge_writes.apply_lessons(connection, change.lessons, version, change.now)


_ADD_FACT_USE = """
INSERT INTO fact_use(fact, helped, hurt) SELECT key, ?1, ?2 FROM facts WHERE id = ?3
ON CONFLICT(fact) DO UPDATE SET helped = helped + excluded.helped, hurt = hurt + excluded.hurt
"""


def fetch_uses(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, FeedbackCounts]:
    """How often facts helped and hurt. Facts without feedback are left out."""
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


class SqliteLearningMixin:
    """What use asks of a store in a file."""

    _lines: ConnectionPair | None
    _unlogged: RecallBuffer

    def _reading(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _glancing(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _open_lines(self) -> ConnectionPair:
        raise NotImplementedError

    def log_recall(self, shown: LoggedRecall, keeping: RecallLogOptions) -> None:
        if self._open_lines().writer is not None and self._unlogged.add(shown, keeping):
            self._write_log()

    def read_recall(self, id: str) -> LoggedRecall | None:
        with self._reading() as connection:
            return self._unlogged.find(id) or read_recall(connection, id)

    def fetch_feedback_counts(self, ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        with self._reading() as connection:
            return fetch_uses(connection, ids)

    def find_judged_recalls(self, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
        with self._glancing() as connection:
            return find_similar_recalls(connection, ids, limit)

    def list_communities(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[CommunityMembers]:
        with self._reading() as connection:
            return fetch_communities(connection, scopes, limit, most)

    def _write_log(self) -> None:
        """Write the waiting recalls, unless another process is writing: they wait then, and the caller does not."""
        if not self._unlogged or self._lines is None or self._lines.writer is None:
            return
        try:
            with self._unlogged.restoring() as taken, self._lines.writer.trying() as connection:
                if connection is not None:
                    write_waiting_recalls(connection, self._unlogged, taken)
        except apsw.Error as error:
            warn_log_lost(error)
