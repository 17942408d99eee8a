"""Word statistics of a scope: count, store, cache and read them for a query's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.index.fact_index import FactIndex
from cofire.index.terms import TermArray, hash_term
from cofire.stores.base import WordStatistics

_SELECT_SAMPLE = """
SELECT v.vector FROM facts f INDEXED BY facts_by_scope JOIN vectors v ON v.fact = f.key
WHERE f.scope = ? AND f.key <= ? ORDER BY f.hash LIMIT ?
"""
UPSERT_WORD_STATISTICS = """
INSERT INTO word_statistics(scope, version, facts, length, terms, holding, sample, counted_to, sampled)
VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(scope) DO UPDATE SET version = version + 1, facts = excluded.facts,
  length = excluded.length, terms = excluded.terms, holding = excluded.holding, sample = excluded.sample,
  counted_to = excluded.counted_to, sampled = excluded.sampled
"""


def recount_scope(connection: apsw.Connection, index: FactIndex, scope: int, sample: int) -> None:
    """Count the words of a scope, and keep some of its vectors as a sample, chosen by content and not by age."""
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'facts'").get
    _count_scope(connection, index, scope, last, sample)


def refresh_counted_scope(connection: apsw.Connection, index: FactIndex, scope: int) -> None:
    """Count what was counted, when some of it went or came back; what was told since is left for the next count."""
    known = connection.execute("SELECT counted_to, sampled FROM word_statistics WHERE scope = ?", (scope,)).get
    if known is not None:
        _count_scope(connection, index, scope, *known)


def _count_scope(connection: apsw.Connection, index: FactIndex, scope: int, up_to: int, sample: int) -> None:
    facts, length, terms, holding = index.holding(scope, up_to)
    vectors = b"".join(vector for (vector,) in connection.execute(_SELECT_SAMPLE, (scope, up_to, sample)))
    counted = (facts, length, terms.tobytes(), holding.astype(np.int32).tobytes(), vectors)
    connection.execute(UPSERT_WORD_STATISTICS, (scope, *counted, up_to, sample))


@dataclass(frozen=True)
class SqliteScopeStatistics:
    """The word statistics of one scope as they were counted last."""

    facts: int
    length: int
    terms: TermArray
    holding: NDArray[np.int32]
    sample: NDArray[np.floating]

    def of(self, asked: TermArray) -> NDArray[np.int64]:
        """How many facts hold each of these terms."""
        if not len(self.terms):
            return np.zeros(len(asked), np.int64)
        at = np.minimum(self.terms.searchsorted(asked), len(self.terms) - 1)
        return np.where(self.terms[at] == asked, self.holding[at], 0).astype(np.int64)


class SqliteStatisticsCache:
    """Word statistics, kept in memory as long as nobody counts anew."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[tuple[str, int], SqliteScopeStatistics]] = {}
        # What was read at the state of the store that is named, and holds as long as that does.
        self._state: tuple[str, int] = "", -1
        self._at_this_state: dict[str, SqliteScopeStatistics] = {}

    def read(
        self,
        connection: apsw.Connection,
        scopes: Sequence[str],
        words: Sequence[str],
        dimension: int,
        state: tuple[str, int],
        *,
        times: tuple[datetime | None, datetime | None],
    ) -> WordStatistics:
        """The statistics of several scopes together, at a state that the connection reads: an epoch and a version. `times` are the
        earliest and the latest that they speak of."""
        if state != self._state:
            self._state, self._at_this_state = state, {}
        counted = [count for scope in sorted(set(scopes)) if (count := self._count(connection, scope, dimension))]
        asked = np.array([hash_term(word) for word in words], np.int64)
        facts = sum(count.facts for count in counted)
        mean = sum(count.length for count in counted) / facts if facts else 0.0
        holding = sum((count.of(asked) for count in counted), start=np.zeros(len(words), np.int64))
        samples = [count.sample for count in counted] or [np.zeros((0, dimension), np.float32)]
        sample = samples[0] if len(samples) == 1 else np.concatenate(samples)
        return WordStatistics(facts, mean, tuple(holding.tolist()), sample, *times)

    def _count(self, connection: apsw.Connection, scope: str, dimension: int) -> SqliteScopeStatistics | None:
        known = self._at_this_state.get(scope)
        if known is None:
            known = self._as_counted(connection, scope, dimension)
            if known is not None:
                self._at_this_state[scope] = known
        return known

    def _as_counted(self, connection: apsw.Connection, scope: str, dimension: int) -> SqliteScopeStatistics | None:
        found = connection.execute(_SELECT_STATISTICS_VERSION, (scope,)).get
        if found is None:
            return None
        key, *stamp = found
        if key not in self._kept or self._kept[key][0] != tuple(stamp):
            self._kept[key] = (stamp[0], stamp[1]), _read_scope_statistics(connection, key, dimension)
        return self._kept[key][1]


_SELECT_STATISTICS_VERSION = """
SELECT s.key, state.epoch, w.version FROM word_statistics w JOIN scopes s ON s.key = w.scope, state WHERE s.name = ?
"""


def _read_scope_statistics(connection: apsw.Connection, scope: int, dimension: int) -> SqliteScopeStatistics:
    sql = "SELECT facts, length, terms, holding, sample FROM word_statistics WHERE scope = ?"
    facts, length, terms, holding, sample = connection.execute(sql, (scope,)).get
    vectors: NDArray[np.floating] = np.frombuffer(sample, np.float16).reshape(-1, dimension or 1).astype(np.float32)
    return SqliteScopeStatistics(
        facts, length, np.frombuffer(terms, np.int64), np.frombuffer(holding, np.int32), vectors[:, :dimension]
    )
