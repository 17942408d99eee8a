"""All rows that go with removed facts, description citations included, and their restoration.

Which tables refer to facts is asked of the schema, so that none can be overlooked. Facts, names and scopes are called by
their own names, since their keys may be others when the rows come back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import apsw
import numpy as np

from cofire.embedders.base import StoredModel
from cofire.errors import InvalidInput
from cofire.index.terms import PackedTerms, set_description_counts, unpack_terms
from cofire.model import CascadeCounts, RemovedCascade, RestoreSummary, SkippedRestore, make_model_skip
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.sqlite import graph_writes, metadata_values
from cofire.stores.sqlite.graph_writes import ensure_name_keys, fetch_fact_keys
from cofire.text.descriptions import find_lowered_term_counts, remove_phrases_from_history

_SELECT_CITED_PHRASES = """
SELECT c.fact, c.gist FROM citations c WHERE c.cited IN (SELECT value FROM carray(?1))
AND c.fact NOT IN (SELECT value FROM carray(?1))
AND NOT EXISTS (SELECT 1 FROM citations o WHERE o.fact = c.fact AND o.gist = c.gist
  AND o.cited NOT IN (SELECT value FROM carray(?1)))
ORDER BY c.fact, c.gist
"""
_SELECT_DESCRIPTION_HISTORY = "SELECT key, text, made, ended FROM descriptions WHERE fact = ? ORDER BY key"


def find_cited_descriptions(connection: apsw.Connection, keys: Sequence[int]) -> list[dict[str, Any]]:
    """The other facts whose descriptions lose something when these go: what they say now, and what will be left of it."""
    gone: dict[int, set[str]] = {}
    for fact, gist in connection.execute(_SELECT_CITED_PHRASES, (apsw.carray(np.array(keys, np.int64)),)):
        gone.setdefault(int(fact), set()).add(str(gist))
    found = [_strip_cited_description(connection, fact, gists) for fact, gists in gone.items()]
    return sorted((one for one in found if one["after"] != one["texts"]), key=lambda one: str(one["fact"]))


def _strip_cited_description(connection: apsw.Connection, fact: int, gone: set[str]) -> dict[str, Any]:
    history = [list(row) for row in connection.execute(_SELECT_DESCRIPTION_HISTORY, (fact,))]
    texts = [row[1] for row in history]
    kept = remove_phrases_from_history(texts, gone)
    after = [text for text in kept if text is not None]
    _, hints = set_description_counts(
        graph_writes.read_description_terms(connection, fact), find_lowered_term_counts(texts, after)
    )
    id = connection.execute("SELECT id FROM facts WHERE key = ?", (fact,)).get
    return {"fact": id, "history": history, "texts": texts, "kept": kept, "after": after, "hints": hints}


def remove_citations(connection: apsw.Connection, cited: Sequence[dict[str, Any]], version: int) -> None:
    """Take the gists out of descriptions, and the words that only they held out of what leads to the fact."""
    for one in cited:
        fact = connection.execute("SELECT key FROM facts WHERE id = ?", (one["fact"],)).get
        held = graph_writes.read_description_terms(connection, fact)
        for (key, *_), text in zip(one["history"], one["kept"], strict=True):
            if text is None:
                connection.execute("DELETE FROM descriptions WHERE key = ?", (key,))
            else:
                connection.execute("UPDATE descriptions SET text = ? WHERE key = ?", (text, key))
        connection.execute(_REOPEN_LAST_DESCRIPTION, (fact,))
        fewer = find_lowered_term_counts(one["texts"], one["after"])
        _write_changed_terms(connection, fact, held, {word: fewer[word] for word in one["hints"]}, version)


# The last description holds, even if it is one that had been replaced.
_REOPEN_LAST_DESCRIPTION = (
    "UPDATE descriptions SET ended = NULL WHERE key = (SELECT max(key) FROM descriptions WHERE fact = ?)"
)


def restore_description(connection: apsw.Connection, fact: int, one: dict[str, Any], version: int) -> bool:
    """Let a fact be described as it was, unless it was described anew since."""
    texts = [text for _, text, _, _ in connection.execute(_SELECT_DESCRIPTION_HISTORY, (fact,))]
    if texts == one["texts"]:
        return True
    if texts != one["after"]:
        return False
    held = graph_writes.read_description_terms(connection, fact)
    connection.execute("DELETE FROM descriptions WHERE fact = ?", (fact,))
    for _, text, made, ended in one["history"]:
        row = (fact, text, made, ended)
        connection.execute("INSERT INTO descriptions(fact, text, made, ended) VALUES (?, ?, ?, ?)", row)
    _write_changed_terms(connection, fact, held, one["hints"], version)
    return True


def _write_changed_terms(
    connection: apsw.Connection, fact: int, held: PackedTerms, counts: dict[str, int], version: int
) -> None:
    graph_writes.write_description_terms(connection, fact, set_description_counts(held, counts)[0], version)


FACTS_TABLE, CITED_KEY, MODELS_KEY = "facts", "cited", "models"
TABLES_WITH_TERMS = (FACTS_TABLE, "descriptions")
EDGE_TABLES = ("graph_edges", "association_edges")
NATURAL_KEYS = {"facts": "id", "scopes": "name", "names": "name", "recall_log": "id", "occasions": "id"}

RowValues = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SqliteTable:
    """A table with its columns, and those of them that refer to other tables."""

    name: str
    columns: tuple[str, ...]
    refers: dict[str, str]

    @property
    def of_facts(self) -> list[str]:
        return [column for column, parent in self.refers.items() if parent == FACTS_TABLE]


def collect_cascade(connection: apsw.Connection, ids: Sequence[str]) -> RemovedCascade:
    """All that would go with these facts; unknown ids have nothing."""
    keys = sorted(fetch_fact_keys(connection, frozenset(ids)).values())
    if not keys:
        return RemovedCascade()
    rows = {table.name: _fetch_rows(connection, table, keys) for table in _list_tables(connection)}
    cited = find_cited_descriptions(connection, keys)
    return RemovedCascade(
        _count_cascade(rows, [one["fact"] for one in cited]),
        rows | {CITED_KEY: cited, MODELS_KEY: read_vector_models(connection)},
    )


def restore_rows(connection: apsw.Connection, rows: Any, version: int) -> RestoreSummary:
    """Put rows back where all that they refer to is there. `rows` are as `collect_cascade` told them."""
    tables, models = {table.name: table for table in _list_tables(connection)}, read_vector_models(connection)
    if rows[MODELS_KEY].keys() != models.keys():
        raise InvalidInput("This was forgotten by a store of another kind.", way_out="Undo it there.")
    rows = _convert_descriptions(rows)
    facts, skipped = _restore_facts(connection, tables[FACTS_TABLE], rows[FACTS_TABLE], version)
    there, back = _fetch_existing_keys(connection, rows), set(facts)
    edges = 0
    foreign = [name for name, model in models.items() if rows[MODELS_KEY][name] != model]
    for table, row in _iterate_dependent_rows(tables, rows, back):
        if table.name in foreign:
            skipped += [make_model_skip(row["fact"])] if table.name == "vectors" else []
            continue
        edges += (
            _restore_row(connection, table, row, there, version) and table.name in EDGE_TABLES and row["ended"] is None
        )
        lost = [row[column] for column in table.of_facts if row[column] not in there]
        if lost and table.name in EDGE_TABLES and row["ended"] is None:
            skipped.append(SkippedRestore("edge", _format_edge(row), f"the fact {lost[0]} is gone"))
    for one in rows[CITED_KEY] if back else ():
        if one["fact"] in there and not restore_description(connection, there[one["fact"]], one, version):
            skipped.append(SkippedRestore("description", one["fact"], "it was described anew"))
    return RestoreSummary(tuple(facts), edges, tuple(sorted(skipped)))


def _convert_descriptions(rows: Any) -> Any:
    """Descriptions in their order, and under new keys, since the last one must have the highest. Those of another store or of an
    older file know of no words that they keep themselves."""
    if not rows.get("descriptions"):
        return rows
    told = sorted(rows["descriptions"], key=lambda one: (one["fact"], one.get("key", one.get("place"))))
    described = [{name: value for name, value in one.items() if name != "key"} for one in told]
    facts, described = graph_writes.split_description_terms(rows[FACTS_TABLE], described)
    return {**rows, FACTS_TABLE: facts, "descriptions": described}


def _iterate_dependent_rows(
    tables: dict[str, SqliteTable], rows: Any, back: set[str]
) -> Iterator[tuple[SqliteTable, RowValues]]:
    """The rows that hang on facts which came back."""
    for name, table in tables.items():
        for row in rows.get(name, ()) if name != FACTS_TABLE else ():
            if any(row[column] in back for column in table.of_facts):
                yield table, row


def read_vector_models(connection: apsw.Connection) -> dict[str, list[Any] | None]:
    """The models whose vectors are kept."""
    names = {"vectors": MODEL_RECORD, "vectors_incoming": INCOMING_RECORD}
    values = {table: connection.execute(_SELECT_RECORD, (name,)).get for table, name in names.items()}
    return {table: list(astuple(StoredModel.decode(value).model)) if value else None for table, value in values.items()}


_SELECT_RECORD = "SELECT value FROM records WHERE name = ?"


def _format_edge(row: RowValues) -> str:
    return f"{row['source']} {row['kind']} {row['target']}"


def _restore_facts(
    connection: apsw.Connection, table: SqliteTable, rows: Sequence[RowValues], version: int
) -> tuple[list[str], list[SkippedRestore]]:
    back, skipped = list[str](), list[SkippedRestore]()
    for row in rows:
        twin = connection.execute("SELECT id FROM facts WHERE id = ? OR hash = ?", (row["id"], row["hash"])).get
        if twin is not None:
            why = "it is there already" if twin == row["id"] else f"the same was told again as {twin}"
            skipped.append(SkippedRestore("fact", row["id"], why))
            continue
        connection.execute("INSERT OR IGNORE INTO scopes(name) VALUES (?)", (row["scope"],))
        scope = connection.execute("SELECT key FROM scopes WHERE name = ?", (row["scope"],)).get
        _insert_row(connection, table, row | {"scope": scope, "version": version})
        key = connection.last_insert_rowid()
        connection.execute("DELETE FROM removed WHERE fact = ?", (key,))
        # Receipts of older files and facts of other stores come without the rows of this table.
        metadata_values.insert_metadata(connection, [(key, json.loads(row.get("metadata") or "{}"))])
        connection.execute("UPDATE scopes SET facts = facts + 1 WHERE key = ?", (scope,))
        back.append(row["id"])
    return back, skipped


def _restore_row(
    connection: apsw.Connection, table: SqliteTable, row: RowValues, there: dict[str, int], version: int
) -> bool:
    """Put one row back, if all that it refers to is there and nothing else has taken its place."""
    found = dict(row)
    for column, parent in table.refers.items():
        found[column] = _resolve_key(connection, parent, row, column, there)
        if found[column] is None and row[column] is not None:
            return False
    if "version" in table.columns:
        found["version"] = version
    return _insert_row(connection, table, found)


def _resolve_key(
    connection: apsw.Connection, parent: str, row: RowValues, column: str, there: dict[str, int]
) -> int | None:
    value = row[column]
    if parent == FACTS_TABLE:
        return there.get(value)
    if parent == "names":
        scope = connection.execute("SELECT scope FROM facts WHERE key = ?", (there.get(row["fact"]),)).get
        return None if scope is None else ensure_name_keys(connection, scope, [value])[value]
    found: int | None = connection.execute(
        f"SELECT key FROM {parent} WHERE {NATURAL_KEYS.get(parent, 'key')} = ?", (value,)
    ).get
    return found


def _insert_row(connection: apsw.Connection, table: SqliteTable, row: RowValues) -> bool:
    """Insert a row; under another key if somebody else has its own by now."""
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
    """The keys of all facts that rows refer to, as far as they are there."""
    named = {row["id"] for row in rows[FACTS_TABLE]} | {one["fact"] for one in rows[CITED_KEY]}
    for table in _list_tables(connection):
        named |= {row[column] for row in rows.get(table.name, ()) for column in table.of_facts}
    return fetch_fact_keys(connection, named)


def _list_tables(connection: apsw.Connection) -> list[SqliteTable]:
    """The facts themselves, then all that refers to them."""
    named = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name <> 'facts', name"
    ).fetchall()
    tables = [_describe_table(connection, str(name)) for (name,) in named]
    return [table for table in tables if table.name == FACTS_TABLE or table.of_facts]


def _describe_table(connection: apsw.Connection, name: str) -> SqliteTable:
    columns = tuple(row[1] for row in connection.execute(f"PRAGMA table_info({name})"))
    refers = {row[3]: row[2] for row in connection.execute(f"PRAGMA foreign_key_list({name})")}
    return SqliteTable(name, columns, refers)


def _fetch_rows(connection: apsw.Connection, table: SqliteTable, keys: Sequence[int]) -> list[RowValues]:
    among = "IN (SELECT value FROM carray(?1))"
    wanted = " OR ".join(f"{column} {among}" for column in (["key"] if table.name == FACTS_TABLE else table.of_facts))
    sql = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {wanted}"
    found = [
        dict(zip(table.columns, row, strict=True)) for row in connection.execute(sql, (apsw.carray(np.array(keys)),))
    ]
    for column, parent in table.refers.items():
        called = _fetch_natural_keys(connection, parent, {row[column] for row in found if row[column] is not None})
        found = [row | {column: called.get(row[column], row[column])} for row in found]
    return found


def _fetch_natural_keys(connection: apsw.Connection, parent: str, keys: Iterable[int]) -> dict[int, Any]:
    """What rows of a table call themselves, by key; nothing where a key is all they have."""
    listed = np.array(sorted(keys), np.int64)
    if parent not in NATURAL_KEYS or not len(listed):
        return {}
    sql = f"SELECT p.key, p.{NATURAL_KEYS[parent]} FROM carray(?) c CROSS JOIN {parent} p ON p.key = c.value"
    found: Any = connection.execute(sql, (apsw.carray(listed),))
    return dict(found)


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
