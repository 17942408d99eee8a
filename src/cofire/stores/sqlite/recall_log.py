"""The log of what was shown: kept in the process for a while, then written many at once. It is no change: no index looks at it."""

from __future__ import annotations

import json
import logging
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

import apsw

from cofire.dynamics import hebbian
from cofire.learned import HEBBIAN, Keeping, Lesson, Shown, Way
from cofire.stores.index.moments import LONG_AGO, moment, stamp
from cofire.stores.sqlite import learning
from cofire.stores.sqlite.graph_writing import fact_keys, run_clock

# Recalls that are written together, and that wait at most while others keep the store busy.
TOGETHER, WAITING = 256, 1_024
# And with the first recall after so long, so that other processes know what is in use.
LONGEST = timedelta(minutes=1)
# Every so many recalls it is seen to that pairs and sessions do not become too many.
TIDIED, MOST_PAIRS, MOST_SESSIONS = 1_024, 200_000, 1_000

_log = logging.getLogger("cofire")


class Shelved:
    """What was shown and is not written yet. What is lost here was of statistics only."""

    def __init__(self) -> None:
        self._waiting: list[Shown] = []
        self._keeping: Keeping | None = None
        self._lock = Lock()

    def add(self, shown: Shown, keeping: Keeping) -> bool:
        """Keep one more; tells whether it is time to write."""
        with self._lock:
            self._keeping = keeping
            self._waiting.append(shown)
            del self._waiting[:-WAITING]
            old = shown.at - self._waiting[0].at >= LONGEST
            return keeping.rule == "documented" or old or len(self._waiting) % TOGETHER == 0

    def find(self, id: str) -> Shown | None:
        with self._lock:
            return next((one for one in self._waiting if one.id == id), None)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @contextmanager
    def leaving(self) -> Iterator[list[Shown]]:
        """What is written inside, to be handed to `write`; it waits again if that is not kept."""
        taken: list[Shown] = []
        try:
            yield taken
        except BaseException:
            with self._lock:
                self._waiting = [*taken, *self._waiting]
            raise

    def write(self, connection: apsw.Connection, taken: list[Shown]) -> None:
        """Write all that waits, inside a transaction."""
        with self._lock:
            taken[:], self._waiting = self._waiting, []
        if taken and self._keeping:
            write(connection, taken, self._keeping)


def write(connection: apsw.Connection, waiting: Sequence[Shown], keeping: Keeping) -> None:
    """Log recalls, which are use of the memory, let the oldest go, and learn from what was shown together. Those that are there
    already were kept by a write of which nobody learned that it was."""
    there = {id for (id,) in connection.execute(_THERE, (apsw.carray(tuple(one.id for one in waiting)),))}
    waiting = [one for one in waiting if one.id not in there]
    if not waiting:
        return
    use(connection, [one.at for one in waiting], keeping.idle_minutes)
    keys = fact_keys(connection, {id for one in waiting for id in (*one.ids, *_on_ways(one))})
    last = int(connection.execute(_LAST_RECALL).get or 0)
    numbered = list(enumerate(waiting, last + 1))
    connection.executemany(
        _RECALL, [(key, one.id, stamp(one.at), one.session, _packed(one.ways, keys)) for key, one in numbered]
    )
    connection.executemany(_FACT, [row for key, one in numbered for row in _places(one, key, keys)])
    newest = last + len(waiting)
    connection.execute("DELETE FROM recall_log WHERE key <= ?", (newest - keeping.most,))
    lessons = _lessons(connection, waiting, keeping, keys)
    if lessons:
        version = connection.execute("UPDATE state SET version = version + 1 RETURNING version").get
        learning.teach(connection, lessons, version, waiting[-1].at)
    if newest // TIDIED != (newest - len(waiting)) // TIDIED:
        tidy(connection)


def use(connection: apsw.Connection, moments: Iterable[datetime], idle_minutes: float) -> None:
    """The clock of active hours runs on: of each time without a long pause only the first and the last moment matter."""
    idle, times = timedelta(minutes=idle_minutes), list[list[datetime]]()
    for at in sorted(moments):
        if times and at - times[-1][-1] <= idle:
            times[-1][1:] = [at]
        else:
            times.append([at])
    for at in (either for time in times for either in time):
        run_clock(connection, at, idle_minutes)


def _places(shown: Shown, recall: int, keys: Mapping[str, int]) -> list[tuple[int, int, int]]:
    return [(recall, keys[id], place) for place, id in enumerate(shown.ids) if id in keys]


def _on_ways(shown: Shown) -> set[str]:
    return {id for ways in shown.ways.values() for way in ways for id in (way.source, way.target)}


# Keys are given here, so that many rows are one call; none is ever given twice.
_LAST_RECALL = "SELECT seq FROM sqlite_sequence WHERE name = 'recall_log'"
_THERE = "SELECT r.id FROM carray(?) c CROSS JOIN recall_log r ON r.id = c.value"
_RECALL = "INSERT INTO recall_log(key, id, at, session, ways) VALUES (?, ?, ?, ?, ?)"
_FACT = "INSERT OR IGNORE INTO recall_log_facts(recall, fact, place) VALUES (?, ?, ?)"


def _packed(ways: Mapping[str, tuple[Way, ...]], keys: Mapping[str, int]) -> str | None:
    """By keys, which mean nothing any more once a fact is gone."""
    known = {
        keys[id]: [[keys[way.source], keys[way.target], way.kind] for way in led if _is_known(way, keys)]
        for id, led in ways.items()
        if id in keys
    }
    return json.dumps(known, separators=(",", ":")) if known else None


def _is_known(way: Way, keys: Mapping[str, int]) -> bool:
    return way.source in keys and way.target in keys


def find(connection: apsw.Connection, id: str) -> Shown | None:
    """What a recall showed, without what was forgotten since."""
    found: Any = connection.execute("SELECT key, at, session, ways FROM recall_log WHERE id = ?", (id,)).fetchone()
    if found is None:
        return None
    key, at, session, packed = found
    sql = """
    SELECT f.id FROM recall_log_facts r JOIN facts f ON f.key = r.fact WHERE r.recall = ? ORDER BY r.place
    """
    ids = tuple(str(fact) for (fact,) in connection.execute(sql, (key,)))
    when = moment(at)
    assert when is not None, "a recall has its moment"
    return Shown(id, when, session, ids, _unpacked(connection, json.loads(packed) if packed else {}))


def _unpacked(connection: apsw.Connection, packed: Mapping[str, list[list[Any]]]) -> dict[str, tuple[Way, ...]]:
    wanted = {int(fact) for fact in packed} | {end for led in packed.values() for way in led for end in way[:2]}
    sql = "SELECT f.key, f.id FROM carray(?) c CROSS JOIN facts f ON f.key = c.value"
    found: Any = connection.execute(sql, (apsw.carray(array("q", sorted(wanted))),)) if wanted else ()
    ids = dict(found)
    ways = {
        ids[int(fact)]: tuple(Way(ids[s], ids[t], kind) for s, t, kind in led if s in ids and t in ids)
        for fact, led in packed.items()
        if int(fact) in ids
    }
    return {id: led for id, led in ways.items() if led}


def _lessons(
    connection: apsw.Connection, waiting: Sequence[Shown], keeping: Keeping, keys: Mapping[str, int]
) -> list[Lesson]:
    """What exposure teaches, by the rule that holds."""
    if keeping.rule == "documented":
        together = [pair for one in waiting for pair in hebbian.pairs(one.ids)]
        return [Lesson(a, b, HEBBIAN, hebbian.STEP) for a, b in together]
    return _earned(connection, waiting, keeping.idle_minutes, keys) if keeping.rule == "earned" else []


def _earned(
    connection: apsw.Connection, waiting: Sequence[Shown], idle_minutes: float, keys: Mapping[str, int]
) -> list[Lesson]:
    """Count in how many sessions pairs were shown; those that have been in enough of them earn a step, and begin anew."""
    seen: list[tuple[int, int, int]] = []
    for one, session in zip(waiting, _sessions(connection, waiting, idle_minutes), strict=True):
        shown = [id for id in one.ids[: hebbian.PLACES_COUNT] if id in keys]
        seen += [(keys[a], keys[b], session) for a, b in hebbian.pairs(shown)]
    connection.executemany(_SEEN, sorted(set(seen)))
    earned: Any = connection.execute(_TAKE, (hebbian.SESSIONS_EARN,)).fetchall()
    ids = {key: id for id, key in keys.items()}
    return [Lesson(ids[a], ids[b], HEBBIAN, hebbian.STEP) for a, b in sorted(earned)]


_SEEN = """
INSERT INTO exposures(a, b, sessions, last) VALUES (?, ?, 1, ?)
ON CONFLICT(a, b) DO UPDATE SET sessions = sessions + 1, last = excluded.last WHERE excluded.last > last
"""
_TAKE = "DELETE FROM exposures WHERE sessions >= 3 AND sessions >= ? RETURNING a, b"


def _sessions(connection: apsw.Connection, waiting: Sequence[Shown], idle_minutes: float) -> list[int]:
    """The session that each recall was of, by name or without one; after a pause it is another."""
    idle, last, found = idle_minutes * 60_000_000, dict[str | None, tuple[int, int]](), list[int]()
    for one in waiting:
        at = stamp(one.at)
        if one.session not in last:
            last[one.session] = connection.execute(_LAST_SESSION, (one.session,)).get or (0, LONG_AGO)
        key, ended = last[one.session]
        if at - ended > idle:
            key = int(connection.execute(_NEW_SESSION, (one.session, at)).get)
        last[one.session] = key, max(at, ended)
        found.append(key)
    connection.executemany("UPDATE recall_sessions SET ended = ?2 WHERE key = ?1", list(last.values()))
    return found


_NEW_SESSION = "INSERT INTO recall_sessions(name, ended) VALUES (?, ?) RETURNING key"
_LAST_SESSION = "SELECT key, ended FROM recall_sessions WHERE name IS ? ORDER BY key DESC LIMIT 1"


def tidy(connection: apsw.Connection) -> None:
    """Let go of pairs that were shown longest ago, and of old sessions."""
    many = connection.execute("SELECT count(*) FROM exposures").get - MOST_PAIRS
    if many > 0:
        connection.execute(_OLDEST_PAIRS, (many,))
    connection.execute(
        "DELETE FROM recall_sessions WHERE key <= (SELECT max(key) FROM recall_sessions) - ?", (MOST_SESSIONS,)
    )


_OLDEST_PAIRS = """
DELETE FROM exposures WHERE (a, b) IN (SELECT a, b FROM exposures ORDER BY last, sessions, a, b LIMIT ?)
"""


def give_up(error: Exception) -> None:
    """What was shown is told to whoever reads the log of the program, when it cannot be kept."""
    _log.warning("What recalls showed could not be logged: %s", error)
