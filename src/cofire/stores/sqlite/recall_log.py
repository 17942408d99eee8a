"""The log of shown recalls, buffered and written in batches, and the learning part of the protocol."""

from __future__ import annotations

import json
import logging
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

import apsw

from cofire.algorithms import reinforcement
from cofire.index.timestamps import DISTANT_PAST, from_microseconds, to_microseconds
from cofire.stores.learning_rows import (
    HEBBIAN_KIND,
    CommunityMembers,
    EdgeAdjustment,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    PathEdge,
    RecallLogOptions,
)
from cofire.stores.sqlite import edge_writes, learning
from cofire.stores.sqlite.connections import ConnectionPair
from cofire.stores.sqlite.graph_writes import advance_clock, fetch_fact_keys

# Recalls that are written together, and that wait at most while others keep the store busy.
RECALLS_PER_WRITE, MAX_WAITING_RECALLS = 256, 1_024
# And with the first recall after so long, so that other processes know what is in use.
MAX_WRITE_DELAY = timedelta(minutes=1)
# Every so many recalls it is seen to that pairs and sessions do not become too many.
RECALLS_PER_CLEANUP, MAX_EXPOSURE_PAIRS, MAX_RECALL_SESSIONS = 1_024, 200_000, 1_000

_log = logging.getLogger("cofire")


class SqliteRecallBuffer:
    """What was shown and is not written yet. What is lost here was of statistics only."""

    def __init__(self) -> None:
        self._waiting: list[LoggedRecall] = []
        self._keeping: RecallLogOptions | None = None
        self._lock = Lock()

    def add(self, shown: LoggedRecall, keeping: RecallLogOptions) -> bool:
        """Keep one more; tells whether it is time to write."""
        with self._lock:
            self._keeping = keeping
            self._waiting.append(shown)
            del self._waiting[:-MAX_WAITING_RECALLS]
            old = shown.at - self._waiting[0].at >= MAX_WRITE_DELAY
            return keeping.rule == "documented" or old or len(self._waiting) % RECALLS_PER_WRITE == 0

    def find(self, id: str) -> LoggedRecall | None:
        with self._lock:
            return next((one for one in self._waiting if one.id == id), None)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @contextmanager
    def leaving(self) -> Iterator[list[LoggedRecall]]:
        """What is written inside, to be handed to `write_recalls`; it waits again if that is not kept."""
        taken: list[LoggedRecall] = []
        try:
            yield taken
        except BaseException:
            with self._lock:
                self._waiting = [*taken, *self._waiting]
            raise

    def write(self, connection: apsw.Connection, taken: list[LoggedRecall]) -> None:
        """Write all that waits, inside a transaction."""
        with self._lock:
            taken[:], self._waiting = self._waiting, []
        if taken and self._keeping:
            write_recalls(connection, taken, self._keeping)


def write_recalls(connection: apsw.Connection, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> None:
    """Log recalls, which are use of the memory, let the oldest go, and learn from what was shown together. Those that are there
    already were kept by a write of which nobody learned that it was."""
    there = {id for (id,) in connection.execute(_SELECT_LOGGED_IDS, (apsw.carray(tuple(one.id for one in waiting)),))}
    waiting = [one for one in waiting if one.id not in there]
    if not waiting:
        return
    record_use_times(connection, [one.at for one in waiting], keeping.idle_minutes)
    keys = fetch_fact_keys(connection, {id for one in waiting for id in (*one.ids, *_collect_path_ids(one))})
    last = int(connection.execute(_SELECT_LAST_RECALL_KEY).get or 0)
    numbered = list(enumerate(waiting, last + 1))
    connection.executemany(
        _INSERT_RECALL,
        [(key, one.id, to_microseconds(one.at), one.session, _encode_paths(one.ways, keys)) for key, one in numbered],
    )
    connection.executemany(
        _INSERT_RECALL_FACT, [row for key, one in numbered for row in _build_result_rows(one, key, keys)]
    )
    newest = last + len(waiting)
    connection.execute("DELETE FROM recall_log WHERE key <= ?", (newest - keeping.most,))
    lessons = _derive_lessons(connection, waiting, keeping, keys)
    if lessons:
        version = connection.execute("UPDATE state SET version = version + 1 RETURNING version").get
        edge_writes.apply_lessons(connection, lessons, version, waiting[-1].at)
    if newest // RECALLS_PER_CLEANUP != (newest - len(waiting)) // RECALLS_PER_CLEANUP:
        prune_exposures(connection)


def record_use_times(connection: apsw.Connection, moments: Iterable[datetime], idle_minutes: float) -> None:
    """The clock of active hours runs on: of each time without a long pause only the first and the last moment matter."""
    idle, times = timedelta(minutes=idle_minutes), list[list[datetime]]()
    for at in sorted(moments):
        if times and at - times[-1][-1] <= idle:
            times[-1][1:] = [at]
        else:
            times.append([at])
    for at in (either for time in times for either in time):
        advance_clock(connection, at, idle_minutes)


def _build_result_rows(shown: LoggedRecall, recall: int, keys: Mapping[str, int]) -> list[tuple[int, int, int]]:
    return [(recall, keys[id], place) for place, id in enumerate(shown.ids) if id in keys]


def _collect_path_ids(shown: LoggedRecall) -> set[str]:
    return {id for ways in shown.ways.values() for way in ways for id in (way.source, way.target)}


# Keys are given here, so that many rows are one call; none is ever given twice.
_SELECT_LAST_RECALL_KEY = "SELECT seq FROM sqlite_sequence WHERE name = 'recall_log'"
_SELECT_LOGGED_IDS = "SELECT r.id FROM carray(?) c CROSS JOIN recall_log r ON r.id = c.value"
_INSERT_RECALL = "INSERT INTO recall_log(key, id, at, session, ways) VALUES (?, ?, ?, ?, ?)"
_INSERT_RECALL_FACT = "INSERT OR IGNORE INTO recall_log_facts(recall, fact, place) VALUES (?, ?, ?)"


def _encode_paths(ways: Mapping[str, tuple[PathEdge, ...]], keys: Mapping[str, int]) -> str | None:
    """By keys, which mean nothing any more once a fact is gone."""
    known = {
        keys[id]: [[keys[way.source], keys[way.target], way.kind] for way in led if _has_known_ends(way, keys)]
        for id, led in ways.items()
        if id in keys
    }
    return json.dumps(known, separators=(",", ":")) if known else None


def _has_known_ends(way: PathEdge, keys: Mapping[str, int]) -> bool:
    return way.source in keys and way.target in keys


def read_recall(connection: apsw.Connection, id: str) -> LoggedRecall | None:
    """What a recall showed, without what was forgotten since."""
    found: Any = connection.execute("SELECT key, at, session, ways FROM recall_log WHERE id = ?", (id,)).fetchone()
    if found is None:
        return None
    key, at, session, packed = found
    sql = """
    SELECT f.id FROM recall_log_facts r JOIN facts f ON f.key = r.fact WHERE r.recall = ? ORDER BY r.place
    """
    ids = tuple(str(fact) for (fact,) in connection.execute(sql, (key,)))
    when = from_microseconds(at)
    assert when is not None, "a recall has its moment"
    return LoggedRecall(id, when, session, ids, _decode_paths(connection, json.loads(packed) if packed else {}))


def _decode_paths(
    connection: apsw.Connection, packed: Mapping[str, list[list[Any]]]
) -> dict[str, tuple[PathEdge, ...]]:
    wanted = {int(fact) for fact in packed} | {end for led in packed.values() for way in led for end in way[:2]}
    sql = "SELECT f.key, f.id FROM carray(?) c CROSS JOIN facts f ON f.key = c.value"
    found: Any = connection.execute(sql, (apsw.carray(array("q", sorted(wanted))),)) if wanted else ()
    ids = dict(found)
    ways = {
        ids[int(fact)]: tuple(PathEdge(ids[s], ids[t], kind) for s, t, kind in led if s in ids and t in ids)
        for fact, led in packed.items()
        if int(fact) in ids
    }
    return {id: led for id, led in ways.items() if led}


def _derive_lessons(
    connection: apsw.Connection, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions, keys: Mapping[str, int]
) -> list[EdgeAdjustment]:
    """What exposure teaches, by the rule that holds."""
    if keeping.rule == "documented":
        together = [pair for one in waiting for pair in reinforcement.list_id_pairs(one.ids)]
        return [EdgeAdjustment(a, b, HEBBIAN_KIND, reinforcement.HEBBIAN_STEP) for a, b in together]
    return _count_exposures(connection, waiting, keeping.idle_minutes, keys) if keeping.rule == "earned" else []


def _count_exposures(
    connection: apsw.Connection, waiting: Sequence[LoggedRecall], idle_minutes: float, keys: Mapping[str, int]
) -> list[EdgeAdjustment]:
    """Count in how many sessions pairs were shown; those that have been in enough of them earn a step, and begin anew."""
    seen: list[tuple[int, int, int]] = []
    for one, session in zip(waiting, _assign_sessions(connection, waiting, idle_minutes), strict=True):
        shown = [id for id in one.ids[: reinforcement.COUNTED_RANKS] if id in keys]
        seen += [(keys[a], keys[b], session) for a, b in reinforcement.list_id_pairs(shown)]
    connection.executemany(_UPSERT_EXPOSURE, sorted(set(seen)))
    earned: Any = connection.execute(_DELETE_EARNED_PAIRS, (reinforcement.MIN_DISTINCT_SESSIONS,)).fetchall()
    ids = {key: id for id, key in keys.items()}
    return [EdgeAdjustment(ids[a], ids[b], HEBBIAN_KIND, reinforcement.HEBBIAN_STEP) for a, b in sorted(earned)]


_UPSERT_EXPOSURE = """
INSERT INTO exposures(a, b, sessions, last) VALUES (?, ?, 1, ?)
ON CONFLICT(a, b) DO UPDATE SET sessions = sessions + 1, last = excluded.last WHERE excluded.last > last
"""
_DELETE_EARNED_PAIRS = "DELETE FROM exposures WHERE sessions >= 3 AND sessions >= ? RETURNING a, b"


def _assign_sessions(connection: apsw.Connection, waiting: Sequence[LoggedRecall], idle_minutes: float) -> list[int]:
    """The session that each recall was of, by name or without one; after a pause it is another."""
    idle, last, found = idle_minutes * 60_000_000, dict[str | None, tuple[int, int]](), list[int]()
    for one in waiting:
        at = to_microseconds(one.at)
        if one.session not in last:
            last[one.session] = connection.execute(_SELECT_LAST_SESSION, (one.session,)).get or (0, DISTANT_PAST)
        key, ended = last[one.session]
        if at - ended > idle:
            key = int(connection.execute(_INSERT_SESSION, (one.session, at)).get)
        last[one.session] = key, max(at, ended)
        found.append(key)
    connection.executemany("UPDATE recall_sessions SET ended = ?2 WHERE key = ?1", list(last.values()))
    return found


_INSERT_SESSION = "INSERT INTO recall_sessions(name, ended) VALUES (?, ?) RETURNING key"
_SELECT_LAST_SESSION = "SELECT key, ended FROM recall_sessions WHERE name IS ? ORDER BY key DESC LIMIT 1"


def prune_exposures(connection: apsw.Connection) -> None:
    """Let go of pairs that were shown longest ago, and of old sessions."""
    many = connection.execute("SELECT count(*) FROM exposures").get - MAX_EXPOSURE_PAIRS
    if many > 0:
        connection.execute(_DELETE_OLDEST_PAIRS, (many,))
    connection.execute(
        "DELETE FROM recall_sessions WHERE key <= (SELECT max(key) FROM recall_sessions) - ?", (MAX_RECALL_SESSIONS,)
    )


_DELETE_OLDEST_PAIRS = """
DELETE FROM exposures WHERE (a, b) IN (SELECT a, b FROM exposures ORDER BY last, sessions, a, b LIMIT ?)
"""


def warn_log_lost(error: Exception) -> None:
    """What was shown is told to whoever reads the log of the program, when it cannot be kept."""
    _log.warning("What recalls showed could not be logged: %s", error)


class SqliteLearningMixin:
    """What use asks of a store in a file."""

    _lines: ConnectionPair | None
    _unlogged: SqliteRecallBuffer

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
            return learning.fetch_uses(connection, ids)

    def find_judged_recalls(self, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
        with self._glancing() as connection:
            return learning.find_similar_recalls(connection, ids, limit)

    def list_communities(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[CommunityMembers]:
        with self._reading() as connection:
            return learning.fetch_communities(connection, scopes, limit, most)

    def _write_log(self) -> None:
        """Unless others are writing: then what was shown waits, and a recall does not."""
        if not self._unlogged or self._lines is None or self._lines.writer is None:
            return
        try:
            with self._unlogged.leaving() as leaving, self._lines.writer.trying() as connection:
                if connection is not None:
                    self._unlogged.write(connection, leaving)
        except apsw.Error as error:
            warn_log_lost(error)
