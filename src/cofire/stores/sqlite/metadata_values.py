"""The metadata table: insert, replace, filter clauses, and a cache of matching fact keys."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.stores.metadata_filter import Condition, Metadata, encode_entries

FactKeys = NDArray[np.int64]

# Conditions whose facts are remembered, eight bytes a fact each.
MAX_CACHED_CONDITIONS = 32
_INSERT_VALUES = "INSERT OR IGNORE INTO metadata_values(fact, key, value) VALUES (?, ?, ?)"
_FACTS_PER_BATCH = 10_000


def insert_metadata(connection: apsw.Connection, facts: Iterable[tuple[int, Metadata]]) -> None:
    """Insert the metadata of facts, by their keys."""
    rows = [(fact, key, value) for fact, metadata in facts if metadata for key, value in encode_entries(metadata)]
    if rows:
        connection.executemany(_INSERT_VALUES, rows)


def replace_metadata(connection: apsw.Connection, fact: int, metadata: Metadata) -> None:
    """Replace the metadata of a fact."""
    connection.execute("DELETE FROM metadata_values WHERE fact = ?", (fact,))
    insert_metadata(connection, [(fact, metadata)])


def fill_metadata_table(connection: apsw.Connection) -> None:
    """Fill the table from the metadata of all facts, a portion at a time."""
    last_key = 0
    while True:
        rows: Any = connection.execute(_SELECT_METADATA, (last_key, _FACTS_PER_BATCH)).fetchall()
        if not rows:
            return
        insert_metadata(connection, [(key, json.loads(metadata)) for key, metadata in rows])
        last_key = rows[-1][0]


_SELECT_METADATA = "SELECT key, metadata FROM facts WHERE key > ? AND metadata IS NOT NULL ORDER BY key LIMIT ?"


def build_metadata_clause(condition: Condition) -> tuple[str, list[Any]]:
    """The rows that the positive form of a condition selects, as SQL over the table `metadata_values m` with its bindings."""
    if condition.operator in ("eq", "ne"):
        return "m.key = ? AND m.value IN (SELECT value FROM carray(?))", [condition.key, apsw.carray(condition.encoded)]
    return "m.key = ? AND m.value >= ? AND m.value < ?", [condition.key, *condition.span]


class MetadataMatchCache:
    """The keys of the facts that conditions select, remembered and brought up to date by the facts that changed since."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, tuple[str, ...]], tuple[int, FactKeys]] = {}

    def keys(self, connection: apsw.Connection, condition: Condition, version: int) -> FactKeys:
        """The facts that the positive form of a condition selects, as of this version, which the connection reads."""
        name = condition.key, condition.operator, condition.encoded
        known = self._found.pop(name, None)
        if known is None:
            keys = _select_keys(connection, condition)
        elif known[0] != version:
            keys = _update_keys(connection, condition, *known)
        else:
            keys = known[1]
        # Of those asked for, the last one stands last.
        self._found[name] = version, keys
        if len(self._found) > MAX_CACHED_CONDITIONS:
            del self._found[next(iter(self._found))]
        return keys


def _select_keys(connection: apsw.Connection, condition: Condition) -> FactKeys:
    matching, values = build_metadata_clause(condition)
    return _collect_keys(connection.execute(f"SELECT m.fact FROM metadata_values m WHERE {matching}", values))


def _update_keys(connection: apsw.Connection, condition: Condition, since: int, keys: FactKeys) -> FactKeys:
    """The keys without the facts that changed, and those of them that match now. Keys of removed facts stay: none is reused."""
    changed = _collect_keys(connection.execute("SELECT key FROM facts WHERE version > ?", (since,)))
    matching, values = build_metadata_clause(condition)
    sql = (
        f"SELECT m.fact FROM facts f CROSS JOIN metadata_values m ON m.fact = f.key WHERE f.version > ? AND {matching}"
    )
    again = _collect_keys(connection.execute(sql, (since, *values)))
    return np.concatenate([keys[~np.isin(keys, changed)], again])


def _collect_keys(rows: Any) -> FactKeys:
    return np.fromiter(chain.from_iterable(rows), np.int64)
