"""All rows that go with removed facts, description citations included, and their restoration.

The schema tells which tables refer to facts, so that none is overlooked. Rows refer to facts, names and scopes by id or name,
since their keys may differ when the rows come back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import apsw
import numpy as np

from cofire.embedders.base import StoredModel
from cofire.index.terms import PackedTerms, set_description_counts, unpack_terms
from cofire.model import CascadeCounts, RemovedCascade, RestoreSummary, SkippedRestore, make_model_skip
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.rules import (
    foreign_receipt_error,
    skip_lost_edge,
    skip_new_description,
    skip_repeated_fact,
    skip_stored_fact,
    strip_descriptions,
)
from cofire.stores.sqlite import fact_sql, graph_writes
from cofire.stores.sqlite.graph_writes import ensure_name_keys, fetch_fact_keys
from cofire.text.descriptions import find_lowered_term_counts

_SELECT_CITED_PHRASES = """
SELECT c.fact, c.gist FROM citations c WHERE c.cited IN (SELECT value FROM carray(?1))
AND c.fact NOT IN (SELECT value FROM carray(?1))
AND NOT EXISTS (SELECT 1 FROM citations o WHERE o.fact = c.fact AND o.gist = c.gist
  AND o.cited NOT IN (SELECT value FROM carray(?1)))
ORDER BY c.fact, c.gist
"""
_SELECT_DESCRIPTION_HISTORY = "SELECT key, text, made, ended FROM descriptions WHERE fact = ? ORDER BY key"


def find_cited_descriptions(connection: apsw.Connection, keys: Sequence[int]) -> list[dict[str, Any]]:
    """The descriptions of other facts that lose phrases when these facts go: as they are, and what will be left."""
    gone: dict[int, set[str]] = {}
    for fact, phrase in connection.execute(_SELECT_CITED_PHRASES, (apsw.carray(np.array(keys, np.int64)),)):
        gone.setdefault(int(fact), set()).add(str(phrase))
    losses = [_describe_loss(connection, fact, phrases) for fact, phrases in gone.items()]
    return sorted((loss for loss in losses if loss["after"] != loss["texts"]), key=lambda loss: str(loss["fact"]))


def _describe_loss(connection: apsw.Connection, fact: int, gone: set[str]) -> dict[str, Any]:
    history = [list(row) for row in connection.execute(_SELECT_DESCRIPTION_HISTORY, (fact,))]
    texts = [row[1] for row in history]
    stripped = strip_descriptions(texts, gone)
    terms = graph_writes.read_description_terms(connection, fact)
    _, hints = set_description_counts(terms, stripped.lowered)
    return {
        "fact": connection.execute("SELECT id FROM facts WHERE key = ?", (fact,)).get,
        "history": history,
        "texts": texts,
        "kept": stripped.kept,
        "after": stripped.after,
        "hints": hints,
    }


def remove_citations(connection: apsw.Connection, losses: Sequence[dict[str, Any]], version: int) -> None:
    """Remove phrases from descriptions, and the words that only they had from the search terms of the fact."""
    for loss in losses:
        fact = connection.execute("SELECT key FROM facts WHERE id = ?", (loss["fact"],)).get
        terms = graph_writes.read_description_terms(connection, fact)
        for (key, *_), text in zip(loss["history"], loss["kept"], strict=True):
            if text is None:
                connection.execute("DELETE FROM descriptions WHERE key = ?", (key,))
            else:
                connection.execute("UPDATE descriptions SET text = ? WHERE key = ?", (text, key))
        connection.execute(_REOPEN_LAST_DESCRIPTION, (fact,))
        lowered = find_lowered_term_counts(loss["texts"], loss["after"])
        counts = {word: lowered[word] for word in loss["hints"]}
        _write_changed_terms(connection, fact, terms, counts, version)


# The last description holds, even if it is one that had been replaced.
_REOPEN_LAST_DESCRIPTION = (
    "UPDATE descriptions SET ended = NULL WHERE key = (SELECT max(key) FROM descriptions WHERE fact = ?)"
)


def restore_description(connection: apsw.Connection, fact: int, loss: dict[str, Any], version: int) -> bool:
    """Restore the descriptions of a fact, unless it got another one since."""
    texts = [text for _, text, _, _ in connection.execute(_SELECT_DESCRIPTION_HISTORY, (fact,))]
    if texts == loss["texts"]:
        return True
    if texts != loss["after"]:
        return False
    terms = graph_writes.read_description_terms(connection, fact)
    connection.execute("DELETE FROM descriptions WHERE fact = ?", (fact,))
    for _, text, made, ended in loss["history"]:
        row = (fact, text, made, ended)
        connection.execute("INSERT INTO descriptions(fact, text, made, ended) VALUES (?, ?, ?, ?)", row)
    _write_changed_terms(connection, fact, terms, loss["hints"], version)
    return True


def _write_changed_terms(
    connection: apsw.Connection, fact: int, terms: PackedTerms, counts: dict[str, int], version: int
) -> None:
    graph_writes.write_description_terms(connection, fact, set_description_counts(terms, counts)[0], version)


FACTS_TABLE, CITED_KEY, MODELS_KEY = "facts", "cited", "models"
TABLES_WITH_TERMS = (FACTS_TABLE, "descriptions")
EDGE_TABLES = ("graph_edges", "association_edges")
NATURAL_KEYS = {"facts": "id", "scopes": "name", "names": "name", "recall_log": "id", "occasions": "id"}

RowValues = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SqliteTable:
    """A table with its columns, and the tables that some of them refer to."""

    name: str
    columns: tuple[str, ...]
    refers: dict[str, str]

    @property
    def of_facts(self) -> list[str]:
        return [column for column, parent in self.refers.items() if parent == FACTS_TABLE]


def collect_cascade(connection: apsw.Connection, ids: Sequence[str]) -> RemovedCascade:
    """All rows that go with these facts: every row that refers to one, in whatever table."""
    keys = sorted(fetch_fact_keys(connection, frozenset(ids)).values())
    if not keys:
        return RemovedCascade()
    rows = {table.name: _fetch_rows(connection, table, keys) for table in _list_tables(connection)}
    losses = find_cited_descriptions(connection, keys)
    return RemovedCascade(
        _count_cascade(rows, [loss["fact"] for loss in losses]),
        rows | {CITED_KEY: losses, MODELS_KEY: read_vector_models(connection)},
    )


def restore_rows(connection: apsw.Connection, rows: Any, version: int) -> RestoreSummary:
    """Restore rows of `collect_cascade`, as far as everything that they refer to is stored."""
    tables = {table.name: table for table in _list_tables(connection)}
    models = read_vector_models(connection)
    if rows[MODELS_KEY].keys() != models.keys():
        raise foreign_receipt_error()
    rows = _convert_descriptions(rows)
    restored, skipped = _restore_facts(connection, tables[FACTS_TABLE], rows[FACTS_TABLE], version)
    keys = _fetch_existing_keys(connection, rows)
    edges = 0
    foreign_tables = [name for name, model in models.items() if rows[MODELS_KEY][name] != model]
    for table, row in _iterate_dependent_rows(tables, rows, set(restored)):
        if table.name in foreign_tables:
            skipped += [make_model_skip(row["fact"])] if table.name == "vectors" else []
            continue
        is_open_edge = table.name in EDGE_TABLES and row["ended"] is None
        edges += _restore_row(connection, table, row, keys, version) and is_open_edge
        lost = [row[column] for column in table.of_facts if row[column] not in keys]
        if lost and is_open_edge:
            skipped.append(skip_lost_edge((row["source"], row["target"], row["kind"]), lost[0]))
    for loss in rows[CITED_KEY] if restored else ():
        if loss["fact"] in keys and not restore_description(connection, keys[loss["fact"]], loss, version):
            skipped.append(skip_new_description(loss["fact"]))
    return RestoreSummary(tuple(restored), edges, tuple(sorted(skipped)))


def _convert_descriptions(rows: Any) -> Any:
    """Put descriptions in their order, without keys: the last one must get the highest.

    In receipts of other stores and of older files the terms of descriptions are with the facts.
    """
    if not rows.get("descriptions"):
        return rows
    ordered = sorted(rows["descriptions"], key=lambda row: (row["fact"], row.get("key", row.get("place"))))
    without_keys = [{name: value for name, value in row.items() if name != "key"} for row in ordered]
    facts, descriptions = graph_writes.split_description_terms(rows[FACTS_TABLE], without_keys)
    return {**rows, FACTS_TABLE: facts, "descriptions": descriptions}


def _iterate_dependent_rows(
    tables: dict[str, SqliteTable], rows: Any, restored: set[str]
) -> Iterator[tuple[SqliteTable, RowValues]]:
    """The rows that refer to restored facts."""
    for name, table in tables.items():
        for row in rows.get(name, ()) if name != FACTS_TABLE else ():
            if any(row[column] in restored for column in table.of_facts):
                yield table, row


def read_vector_models(connection: apsw.Connection) -> dict[str, list[Any] | None]:
    """The models whose vectors are kept."""
    names = {"vectors": MODEL_RECORD, "vectors_incoming": INCOMING_RECORD}
    values = {table: connection.execute(_SELECT_RECORD, (name,)).get for table, name in names.items()}
    return {table: list(astuple(StoredModel.decode(value).model)) if value else None for table, value in values.items()}


_SELECT_RECORD = "SELECT value FROM records WHERE name = ?"


def _restore_facts(
    connection: apsw.Connection, table: SqliteTable, rows: Sequence[RowValues], version: int
) -> tuple[list[str], list[SkippedRestore]]:
    restored: list[str] = []
    skipped: list[SkippedRestore] = []
    for row in rows:
        id = row["id"]
        twin = connection.execute("SELECT id FROM facts WHERE id = ? OR hash = ?", (id, row["hash"])).get
        if twin is not None:
            skipped.append(skip_stored_fact(id) if twin == id else skip_repeated_fact(id, twin))
            continue
        connection.execute("INSERT OR IGNORE INTO scopes(name) VALUES (?)", (row["scope"],))
        scope = connection.execute("SELECT key FROM scopes WHERE name = ?", (row["scope"],)).get
        _insert_row(connection, table, row | {"scope": scope, "version": version})
        key = connection.last_insert_rowid()
        connection.execute("DELETE FROM removed WHERE fact = ?", (key,))
        # Receipts of older files and facts of other stores come without the rows of this table.
        fact_sql.insert_metadata(connection, [(key, json.loads(row.get("metadata") or "{}"))])
        connection.execute("UPDATE scopes SET facts = facts + 1 WHERE key = ?", (scope,))
        restored.append(id)
    return restored, skipped


def _restore_row(
    connection: apsw.Connection, table: SqliteTable, row: RowValues, keys: dict[str, int], version: int
) -> bool:
    """Restore one row, if everything that it refers to is stored and no other row has taken its place."""
    restored = dict(row)
    for column, parent in table.refers.items():
        restored[column] = _resolve_key(connection, parent, row, column, keys)
        if restored[column] is None and row[column] is not None:
            return False
    if "version" in table.columns:
        restored["version"] = version
    return _insert_row(connection, table, restored)


def _resolve_key(
    connection: apsw.Connection, parent: str, row: RowValues, column: str, keys: dict[str, int]
) -> int | None:
    value = row[column]
    if parent == FACTS_TABLE:
        return keys.get(value)
    if parent == "names":
        scope = connection.execute("SELECT scope FROM facts WHERE key = ?", (keys.get(row["fact"]),)).get
        return None if scope is None else ensure_name_keys(connection, scope, [value])[value]
    key: int | None = connection.execute(
        f"SELECT key FROM {parent} WHERE {NATURAL_KEYS.get(parent, 'key')} = ?", (value,)
    ).get
    return key


def _insert_row(connection: apsw.Connection, table: SqliteTable, row: RowValues) -> bool:
    """Insert a row, under another key if its own is taken."""
    columns = [column for column in table.columns if column in row]
    if "key" in columns and connection.execute(f"SELECT 1 FROM {table.name} WHERE key = ?", (row["key"],)).get:
        columns.remove("key")
    marks = ", ".join("?" for _ in columns)
    connection.execute(
        f"INSERT OR IGNORE INTO {table.name}({', '.join(columns)}) VALUES ({marks})",
        [row[column] for column in columns],
    )
    return bool(connection.changes())


def _fetch_existing_keys(connection: apsw.Connection, rows: Any) -> dict[str, int]:
    """The keys of all facts that rows refer to, as far as these are stored."""
    ids = {row["id"] for row in rows[FACTS_TABLE]} | {loss["fact"] for loss in rows[CITED_KEY]}
    for table in _list_tables(connection):
        ids |= {row[column] for row in rows.get(table.name, ()) for column in table.of_facts}
    return fetch_fact_keys(connection, ids)


def _list_tables(connection: apsw.Connection) -> list[SqliteTable]:
    """The facts themselves, then all that refers to them."""
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name <> 'facts', name"
    ).fetchall()
    tables = [_describe_table(connection, str(name)) for (name,) in names]
    return [table for table in tables if table.name == FACTS_TABLE or table.of_facts]


def _describe_table(connection: apsw.Connection, name: str) -> SqliteTable:
    columns = tuple(row[1] for row in connection.execute(f"PRAGMA table_info({name})"))
    refers = {row[3]: row[2] for row in connection.execute(f"PRAGMA foreign_key_list({name})")}
    return SqliteTable(name, columns, refers)


def _fetch_rows(connection: apsw.Connection, table: SqliteTable, keys: Sequence[int]) -> list[RowValues]:
    """The rows that refer to these facts, with references by natural keys instead of keys of this file."""
    columns = ["key"] if table.name == FACTS_TABLE else table.of_facts
    condition = " OR ".join(f"{column} IN (SELECT value FROM carray(?1))" for column in columns)
    sql = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {condition}"
    stored = connection.execute(sql, (apsw.carray(np.array(keys)),))
    rows = [dict(zip(table.columns, row, strict=True)) for row in stored]
    for column, parent in table.refers.items():
        references = {row[column] for row in rows if row[column] is not None}
        natural = _fetch_natural_keys(connection, parent, references)
        rows = [row | {column: natural.get(row[column], row[column])} for row in rows]
    return rows


def _fetch_natural_keys(connection: apsw.Connection, parent: str, keys: Iterable[int]) -> dict[int, Any]:
    """The id or name of rows of a table by key; nothing for a table without one."""
    listed = np.array(sorted(keys), np.int64)
    if parent not in NATURAL_KEYS or not len(listed):
        return {}
    sql = f"SELECT p.key, p.{NATURAL_KEYS[parent]} FROM carray(?) c CROSS JOIN {parent} p ON p.key = c.value"
    rows: Any = connection.execute(sql, (apsw.carray(listed),))
    return dict(rows)


def _count_cascade(rows: dict[str, list[RowValues]], cited: Sequence[str]) -> CascadeCounts:
    _, counts, _ = unpack_terms(
        [PackedTerms(row["terms"], row["counts"]) for table in TABLES_WITH_TERMS for row in rows[table]]
    )
    return CascadeCounts(
        facts=len(rows[FACTS_TABLE]),
        edges=sum(row["ended"] is None for name in EDGE_TABLES for row in rows[name]),
        mentions=len(rows["mentions"]),
        subjects=len(rows["subjects"]),
        vectors=len(rows["vectors"]),
        words=int(np.count_nonzero(counts)),
        descriptions=len(rows["descriptions"]),
        cited=tuple(cited),
    )
