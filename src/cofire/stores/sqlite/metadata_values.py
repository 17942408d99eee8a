"""The table of metadata values, which filters by metadata look up. The caller owns the transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.metadata_filter import Condition, Metadata, encoded_entries

Keys = NDArray[np.int64]

# Conditions whose facts are remembered, eight bytes a fact each.
MOST_CONDITIONS = 32
_INSERT = "INSERT OR IGNORE INTO metadata_values(fact, key, value) VALUES (?, ?, ?)"
_PORTION = 10_000


def write(connection: apsw.Connection, facts: Iterable[tuple[int, Metadata]]) -> None:
    """Insert the metadata of facts, by their keys."""
    rows = [(fact, key, value) for fact, metadata in facts if metadata for key, value in encoded_entries(metadata)]
    if rows:
        connection.executemany(_INSERT, rows)


def rewrite(connection: apsw.Connection, fact: int, metadata: Metadata) -> None:
    """Replace the metadata of a fact."""
    connection.execute("DELETE FROM metadata_values WHERE fact = ?", (fact,))
    write(connection, [(fact, metadata)])


def fill(connection: apsw.Connection) -> None:
    """Fill the table from the metadata of all facts, a portion at a time."""
    last_key = 0
    while True:
        rows: Any = connection.execute(_STORED, (last_key, _PORTION)).fetchall()
        if not rows:
            return
        write(connection, [(key, json.loads(metadata)) for key, metadata in rows])
        last_key = rows[-1][0]


_STORED = "SELECT key, metadata FROM facts WHERE key > ? AND metadata IS NOT NULL ORDER BY key LIMIT ?"


def clause(condition: Condition) -> tuple[str, list[Any]]:
    """The rows that the positive form of a condition selects, as SQL over the table `metadata_values m` with its bindings."""
    if condition.operator in ("eq", "ne"):
        return "m.key = ? AND m.value IN (SELECT value FROM carray(?))", [condition.key, apsw.carray(condition.encoded)]
    return "m.key = ? AND m.value >= ? AND m.value < ?", [condition.key, *condition.span]


class MetadataMatches:
    """The keys of the facts that conditions select, remembered and brought up to date by the facts that changed since."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, tuple[str, ...]], tuple[int, Keys]] = {}

    def keys(self, connection: apsw.Connection, condition: Condition, version: int) -> Keys:
        """The facts that the positive form of a condition selects, as of this version, which the connection reads."""
        name = condition.key, condition.operator, condition.encoded
        known = self._found.pop(name, None)
        if known is None:
            keys = _selected(connection, condition)
        elif known[0] != version:
            keys = _updated(connection, condition, *known)
        else:
            keys = known[1]
        # Of those asked for, the last one stands last.
        self._found[name] = version, keys
        if len(self._found) > MOST_CONDITIONS:
            del self._found[next(iter(self._found))]
        return keys


def _selected(connection: apsw.Connection, condition: Condition) -> Keys:
    matching, values = clause(condition)
    return _keys(connection.execute(f"SELECT m.fact FROM metadata_values m WHERE {matching}", values))


def _updated(connection: apsw.Connection, condition: Condition, since: int, keys: Keys) -> Keys:
    """The keys without the facts that changed, and those of them that match now. Keys of removed facts stay: none is reused."""
    changed = _keys(connection.execute("SELECT key FROM facts WHERE version > ?", (since,)))
    matching, values = clause(condition)
    sql = (
        f"SELECT m.fact FROM facts f CROSS JOIN metadata_values m ON m.fact = f.key WHERE f.version > ? AND {matching}"
    )
    again = _keys(connection.execute(sql, (since, *values)))
    return np.concatenate([keys[~np.isin(keys, changed)], again])


def _keys(rows: Any) -> Keys:
    return np.fromiter(chain.from_iterable(rows), np.int64)
