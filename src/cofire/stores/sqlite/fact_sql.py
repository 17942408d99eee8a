"""Facts, metadata and filters as SQL: statements, row encoding and decoding, cached metadata matches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.index.fact_index import IndexRow
from cofire.index.terms import PackedTerms, hash_marks, pack_sentence_bits, pack_terms
from cofire.index.timestamps import DISTANT_FUTURE, to_microseconds, to_microseconds_or_none
from cofire.model import Fact, FactFilter, FactWrite
from cofire.stores.fact_rows import fact_from_row
from cofire.stores.metadata_filter import Condition, Metadata, encode_entries

_TAGS_SUBQUERY = "(SELECT json_group_array(tag) FROM (SELECT tag FROM tags WHERE fact = {} ORDER BY tag))"
_FACT_COLUMNS = f"""
SELECT f.key, f.id, s.name, f.text, f.subject, f.category, f.speaker, f.session, f.position, f.source, f.at, f.stored_at,
  f.valid_from, f.valid_until, f.expires, f.reinforced, f.reinforced_at, f.pinned, f.archived, f.metadata,
  {_TAGS_SUBQUERY.format("f.key")}
"""
SELECT_FACTS = _FACT_COLUMNS + "FROM facts f JOIN scopes s ON s.key = f.scope"
# Joined, since a list to look in would be made and put in order first.
_FROM_VALUES = "FROM carray(?) c CROSS JOIN facts f ON {} = c.value CROSS JOIN scopes s ON s.key = f.scope"
_SELECT_BY_ID, _SELECT_BY_KEY = (_FACT_COLUMNS + _FROM_VALUES.format(column) for column in ("f.id", "f.key"))
_SELECT_TAGS = "SELECT t.fact, t.tag FROM carray(?) c CROSS JOIN tags t ON t.fact = c.value"

SELECT_INDEX_ROWS = """
SELECT f.key, f.id, f.scope, coalesce(f.at, f.stored_at), f.stored_at, f.valid_from,
  min(coalesce(f.valid_until, 4611686018427387904), coalesce(f.expires, 4611686018427387904)),
  f.length, f.archived, f.terms, f.counts, v.vector, f.hash, f.session, f.position, f.speaker
FROM facts f LEFT JOIN vectors v ON v.fact = f.key
WHERE f.version > ? ORDER BY f.version, f.key
"""

INSERT_FACT = """
INSERT INTO facts (id, hash, scope, text, subject, category, speaker, session, position, source, at, stored_at, valid_from,
  valid_until, expires, pinned, archived, metadata, terms, counts, length, active_hours, version, places)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
"""

REINFORCE_FACT = """
UPDATE facts SET category = ?, source = ?, metadata = ?, valid_from = ?, valid_until = ?, expires = ?, reinforced = ?,
  reinforced_at = ?, archived = 0, terms = ?, counts = ?, length = length + ?, active_hours = ?, version = ? WHERE key = ?
"""


def fetch_facts(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, Fact]:
    """The facts that have these ids, which are some, by id."""
    return _select_facts(connection, _SELECT_BY_ID, tuple(ids))


def fetch_facts_by_key(connection: apsw.Connection, keys: NDArray[np.int64]) -> dict[str, Fact]:
    """The facts that have these keys, which are some, by id: a search less for each than by id."""
    return _select_facts(connection, _SELECT_BY_KEY, keys)


def fetch_scope_fact_keys(connection: apsw.Connection, scope: int | None) -> NDArray[np.int64]:
    """The keys of a scope in the order in which the file keeps its facts; the index by scope has them in that of their hashes."""
    found: Any = connection.execute("SELECT key FROM facts WHERE scope = ?", (scope,))
    return np.sort(np.fromiter(chain.from_iterable(found), np.int64))


def fetch_tags(connection: apsw.Connection, keys: NDArray[np.int64]) -> dict[int, tuple[str, ...]]:
    """The tags of those of these facts that have any, by key."""
    found: dict[int, tuple[str, ...]] = {}
    for key, tag in connection.execute(_SELECT_TAGS, (apsw.carray(keys),)):
        found[key] = (*found.get(key, ()), tag)
    return found


def _select_facts(connection: apsw.Connection, sql: str, wanted: Any) -> dict[str, Fact]:
    found = connection.execute(sql, (apsw.carray(wanted),))
    return {one.id: one for one in map(decode_fact, found)}


def decode_fact(row: Sequence[Any]) -> Fact:
    """A row of SELECT as a fact."""
    return fact_from_row(row[1:-1], decode_tags(row[-1]))


@lru_cache(maxsize=10_000)
def decode_tags(tags: str) -> tuple[str, ...]:
    """Tags that were written as JSON. Few lists of tags come on many rows, so that each is read once; and as SQLite writes them, where
    none has a letter that JSON writes otherwise, reading is cutting.

    >>> (
    ...     decode_tags('["green","tea pot"]'),
    ...     decode_tags('["\\\\"Pot\\\\""]'),
    ...     decode_tags('["green", "tea"]'),
    ...     decode_tags("[]"),
    ... )
    (('green', 'tea pot'), ('"Pot"',), ('green', 'tea'), ())
    """
    if "\\" in tags or '", "' in tags:
        return tuple(json.loads(tags))
    return tuple(tags[2:-2].split('","')) if len(tags) > len("[]") else ()


def decode_index_row(row: Sequence[Any]) -> IndexRow:
    """A row of SELECT_FOR_INDEX as the index sees it."""
    key, id, scope, time, stored, starts, ends, length, archived, terms, counts, *rest = row
    return IndexRow(
        key, id, scope, time, stored, starts, ends, length, bool(archived), PackedTerms(terms, counts), *rest
    )


def encode_insert_values(
    new: FactWrite, hash: bytes, scope: int, position: int | None, *, hours: float, version: int
) -> tuple[Any, ...]:
    """What INSERT takes of a new fact with this content hash."""
    one = new.fact
    assert one.stored_at is not None, "a fact on its way into the store knows when it is stored"
    held = pack_terms(new.counts, hash_marks(one))
    return (
        one.id,
        hash,
        scope,
        one.text,
        one.subject,
        one.category,
        one.speaker,
        one.session,
        position,
        one.source,
        to_microseconds_or_none(one.at),
        to_microseconds(one.stored_at),
        to_microseconds_or_none(one.valid_from),
        to_microseconds_or_none(one.valid_until),
        to_microseconds_or_none(one.expires),
        int(one.pinned),
        int(one.archived),
        encode_metadata(one),
        held.terms,
        held.counts,
        sum(new.counts.values()),
        hours,
        version,
        pack_sentence_bits(new.places),
    )


def build_index_row(key: int, told: Sequence[Any], vector: bytes | None) -> IndexRow:
    """A fact as the index sees it, by its key and what INSERT took of it."""
    id, hash, scope, _, _, _, speaker, session, position, _, at, stored, starts, until, expires, _, archived = told[:17]
    terms, counts, length = told[18:21]
    ends = min(DISTANT_FUTURE if until is None else until, DISTANT_FUTURE if expires is None else expires)
    time, held = stored if at is None else at, PackedTerms(terms, counts)
    return IndexRow(
        *(key, id, scope, time, stored, starts, ends, length, bool(archived), held),
        *(vector, hash, session, position, speaker),
    )


def encode_metadata(one: Fact) -> str | None:
    return json.dumps(dict(one.metadata), ensure_ascii=False) if one.metadata else None


def build_where_clause(where: FactFilter) -> tuple[str, list[Any]]:
    """A filter as SQL over SELECT, with its bindings."""
    clauses: list[str] = ["1"]
    bound: list[Any] = []

    def require(clause: str, *values: Any) -> None:
        clauses.append(clause)
        bound.extend(values)

    for column, names in (
        ("s.name", where.scopes),
        ("f.category", where.categories),
        ("f.speaker", where.speakers),
        ("f.session", where.sessions),
    ):
        if names or (column == "s.name" and names is not None):
            require(f"{column} IN (SELECT value FROM carray(?))", apsw.carray(tuple(names)) if names else None)
    for tag in sorted(where.tags):
        require("EXISTS (SELECT 1 FROM tags WHERE fact = f.key AND tag = ?)", tag)
    for condition in where.metadata:
        matching, values = build_metadata_clause(condition)
        among = "NOT IN" if condition.negated else "IN"
        require(f"f.key {among} (SELECT m.fact FROM metadata_values m WHERE {matching})", *values)
    if not where.archived:
        require("NOT f.archived")
    if where.pinned:
        require("f.pinned")
    if where.community is not None:
        require("EXISTS (SELECT 1 FROM fact_importance WHERE fact = f.key AND community = ?)", where.community)
    _add_time_clauses(where, require)
    return " AND ".join(clauses), bound


def _add_time_clauses(where: FactFilter, require: Any) -> None:
    when = to_microseconds(where.as_of or where.now)
    if not where.whenever:
        require("(f.valid_from IS NULL OR f.valid_from <= ?)", when)
        require("(f.valid_until IS NULL OR f.valid_until > ?)", when)
        require("(f.expires IS NULL OR f.expires > ?)", when)
    if where.since is not None:
        require("coalesce(f.at, f.stored_at) >= ?", to_microseconds(where.since))
    if where.until is not None:
        require("coalesce(f.at, f.stored_at) <= ?", to_microseconds(where.until))
    if where.as_of is not None:
        require("f.stored_at <= ?", when)


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
