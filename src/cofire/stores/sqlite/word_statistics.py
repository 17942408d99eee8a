"""Word statistics of a scope: count, store, cache and read them for a query's words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.index.fact_index import FactIndex
from cofire.stores.base import WordStatistics
from cofire.stores.word_counts import ScopeWordCount, combine_word_counts

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
    """Count the words of a scope, and sample its vectors by content, so that no age is favoured."""
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'facts'").get
    _count_scope(connection, index, scope, last, sample)


def refresh_counted_scope(connection: apsw.Connection, index: FactIndex, scope: int) -> None:
    """Repeat the last count, after some of its facts went or came back. Later facts are left for the next count."""
    last_count = connection.execute("SELECT counted_to, sampled FROM word_statistics WHERE scope = ?", (scope,)).get
    if last_count is not None:
        _count_scope(connection, index, scope, *last_count)


def _count_scope(connection: apsw.Connection, index: FactIndex, scope: int, up_to: int, sample: int) -> None:
    facts, length, terms, holding = index.holding(scope, up_to)
    vectors = b"".join(vector for (vector,) in connection.execute(_SELECT_SAMPLE, (scope, up_to, sample)))
    counted = (facts, length, terms.tobytes(), holding.astype(np.int32).tobytes(), vectors)
    connection.execute(UPSERT_WORD_STATISTICS, (scope, *counted, up_to, sample))


# What is kept of a scope: its word counts and its sample of vectors.
CountedScope = tuple[ScopeWordCount, NDArray[np.floating]]


class SqliteStatisticsCache:
    """Word statistics, kept in memory until the scope is counted again."""

    def __init__(self) -> None:
        # By the key of the scope: the epoch of the store and the version of the count, and what was read then.
        self._by_scope: dict[int, tuple[tuple[str, int], CountedScope]] = {}
        # What was read at the current state of the store, and holds as long as that does.
        self._state: tuple[str, int] = "", -1
        self._at_this_state: dict[str, CountedScope] = {}

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
        """The statistics of several scopes together, at the state (epoch and version) that the connection reads."""
        if state != self._state:
            self._state, self._at_this_state = state, {}
        counted = []
        for scope in sorted(set(scopes)):
            count = self._at_this_state.get(scope) or self._read_scope(connection, scope, dimension)
            if count is not None:
                self._at_this_state[scope] = count
                counted.append(count)
        samples = [sample for _, sample in counted] or [np.zeros((0, dimension), np.float32)]
        sample = samples[0] if len(samples) == 1 else np.concatenate(samples)
        return combine_word_counts([count for count, _ in counted], words, sample, times)

    def _read_scope(self, connection: apsw.Connection, scope: str, dimension: int) -> CountedScope | None:
        row: Any = connection.execute(_SELECT_STATISTICS_VERSION, (scope,)).get
        if row is None:
            return None
        key, epoch, version = row
        stamp = (epoch, version)
        if key not in self._by_scope or self._by_scope[key][0] != stamp:
            self._by_scope[key] = stamp, _read_counted_scope(connection, key, dimension)
        return self._by_scope[key][1]


_SELECT_STATISTICS_VERSION = """
SELECT s.key, state.epoch, w.version FROM word_statistics w JOIN scopes s ON s.key = w.scope, state WHERE s.name = ?
"""


def _read_counted_scope(connection: apsw.Connection, scope: int, dimension: int) -> CountedScope:
    sql = "SELECT facts, length, terms, holding, sample FROM word_statistics WHERE scope = ?"
    facts, length, terms, holding, sample = connection.execute(sql, (scope,)).get
    vectors: NDArray[np.floating] = np.frombuffer(sample, np.float16).reshape(-1, dimension or 1).astype(np.float32)
    count = ScopeWordCount(facts, length, np.frombuffer(terms, np.int64), np.frombuffer(holding, np.int32))
    return count, vectors[:, :dimension]
