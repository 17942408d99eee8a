"""Taking: every row that hangs on some facts, of whatever table, as plain values; and putting such rows back.

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
from cofire.revising import PutBack, Radius, Skipped, Taken, other_model
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.index.terms import Held, unpacked
from cofire.stores.sqlite import citing, hinting, metadata_values
from cofire.stores.sqlite.graph_writing import fact_keys, name_keys

FACTS, CITED, MODELS = "facts", "cited", "models"
WORDED = (FACTS, "descriptions")
EDGES = ("graph_edges", "association_edges")
OWN_NAMES = {"facts": "id", "scopes": "name", "names": "name", "recall_log": "id", "occasions": "id"}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its columns, and those of them that refer to other tables."""

    name: str
    columns: tuple[str, ...]
    refers: dict[str, str]

    @property
    def of_facts(self) -> list[str]:
        return [column for column, parent in self.refers.items() if parent == FACTS]


def taken(connection: apsw.Connection, ids: Sequence[str]) -> Taken:
    """All that would go with these facts; unknown ids have nothing."""
    keys = sorted(fact_keys(connection, frozenset(ids)).values())
    if not keys:
        return Taken()
    rows = {table.name: _rows(connection, table, keys) for table in _tables(connection)}
    cited = citing.cited(connection, keys)
    return Taken(_radius(rows, [one["fact"] for one in cited]), rows | {CITED: cited, MODELS: kept_models(connection)})


def put_back(connection: apsw.Connection, rows: Any, version: int) -> PutBack:
    """Put rows back where all that they refer to is there. `rows` are as `taken` told them."""
    tables, models = {table.name: table for table in _tables(connection)}, kept_models(connection)
    if rows[MODELS].keys() != models.keys():
        raise InvalidInput("This was forgotten by a store of another kind.", way_out="Undo it there.")
    rows = _in_our_tables(rows)
    facts, skipped = _put_facts(connection, tables[FACTS], rows[FACTS], version)
    there, back = _there(connection, rows), set(facts)
    edges = 0
    foreign = [name for name, model in models.items() if rows[MODELS][name] != model]
    for table, row in _hanging(tables, rows, back):
        if table.name in foreign:
            skipped += [other_model(row["fact"])] if table.name == "vectors" else []
            continue
        edges += _put_row(connection, table, row, there, version) and table.name in EDGES and row["ended"] is None
        lost = [row[column] for column in table.of_facts if row[column] not in there]
        if lost and table.name in EDGES and row["ended"] is None:
            skipped.append(Skipped("edge", _called(row), f"the fact {lost[0]} is gone"))
    for one in rows[CITED] if back else ():
        if one["fact"] in there and not citing.put_back(connection, there[one["fact"]], one, version):
            skipped.append(Skipped("description", one["fact"], "it was described anew"))
    return PutBack(tuple(facts), edges, tuple(sorted(skipped)))


def _in_our_tables(rows: Any) -> Any:
    """Descriptions in their order, and under new keys, since the last one must have the highest. Those of another store or of an
    older file know of no words that they keep themselves."""
    if not rows.get("descriptions"):
        return rows
    told = sorted(rows["descriptions"], key=lambda one: (one["fact"], one.get("key", one.get("place"))))
    described = [{name: value for name, value in one.items() if name != "key"} for one in told]
    facts, described = hinting.apart(rows[FACTS], described)
    return {**rows, FACTS: facts, "descriptions": described}


def _hanging(tables: dict[str, Table], rows: Any, back: set[str]) -> Iterator[tuple[Table, Row]]:
    """The rows that hang on facts which came back."""
    for name, table in tables.items():
        for row in rows.get(name, ()) if name != FACTS else ():
            if any(row[column] in back for column in table.of_facts):
                yield table, row


def kept_models(connection: apsw.Connection) -> dict[str, list[Any] | None]:
    """The models whose vectors are kept."""
    names = {"vectors": MODEL_RECORD, "vectors_incoming": INCOMING_RECORD}
    values = {table: connection.execute(_RECORD, (name,)).get for table, name in names.items()}
    return {table: list(astuple(StoredModel.decode(value).model)) if value else None for table, value in values.items()}


_RECORD = "SELECT value FROM records WHERE name = ?"


def _called(row: Row) -> str:
    return f"{row['source']} {row['kind']} {row['target']}"


def _put_facts(
    connection: apsw.Connection, table: Table, rows: Sequence[Row], version: int
) -> tuple[list[str], list[Skipped]]:
    back, skipped = list[str](), list[Skipped]()
    for row in rows:
        twin = connection.execute("SELECT id FROM facts WHERE id = ? OR hash = ?", (row["id"], row["hash"])).get
        if twin is not None:
            why = "it is there already" if twin == row["id"] else f"the same was told again as {twin}"
            skipped.append(Skipped("fact", row["id"], why))
            continue
        connection.execute("INSERT OR IGNORE INTO scopes(name) VALUES (?)", (row["scope"],))
        scope = connection.execute("SELECT key FROM scopes WHERE name = ?", (row["scope"],)).get
        _insert(connection, table, row | {"scope": scope, "version": version})
        key = connection.last_insert_rowid()
        connection.execute("DELETE FROM removed WHERE fact = ?", (key,))
        # Receipts of older files and facts of other stores come without the rows of this table.
        metadata_values.write(connection, [(key, json.loads(row.get("metadata") or "{}"))])
        connection.execute("UPDATE scopes SET facts = facts + 1 WHERE key = ?", (scope,))
        back.append(row["id"])
    return back, skipped


def _put_row(connection: apsw.Connection, table: Table, row: Row, there: dict[str, int], version: int) -> bool:
    """Put one row back, if all that it refers to is there and nothing else has taken its place."""
    found = dict(row)
    for column, parent in table.refers.items():
        found[column] = _key(connection, parent, row, column, there)
        if found[column] is None and row[column] is not None:
            return False
    if "version" in table.columns:
        found["version"] = version
    return _insert(connection, table, found)


def _key(connection: apsw.Connection, parent: str, row: Row, column: str, there: dict[str, int]) -> int | None:
    value = row[column]
    if parent == FACTS:
        return there.get(value)
    if parent == "names":
        scope = connection.execute("SELECT scope FROM facts WHERE key = ?", (there.get(row["fact"]),)).get
        return None if scope is None else name_keys(connection, scope, [value])[value]
    found: int | None = connection.execute(
        f"SELECT key FROM {parent} WHERE {OWN_NAMES.get(parent, 'key')} = ?", (value,)
    ).get
    return found


def _insert(connection: apsw.Connection, table: Table, row: Row) -> bool:
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


def _there(connection: apsw.Connection, rows: Any) -> dict[str, int]:
    """The keys of all facts that rows refer to, as far as they are there."""
    named = {row["id"] for row in rows[FACTS]} | {one["fact"] for one in rows[CITED]}
    for table in _tables(connection):
        named |= {row[column] for row in rows.get(table.name, ()) for column in table.of_facts}
    return fact_keys(connection, named)


def _tables(connection: apsw.Connection) -> list[Table]:
    """The facts themselves, then all that refers to them."""
    named = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name <> 'facts', name"
    ).fetchall()
    tables = [_table(connection, str(name)) for (name,) in named]
    return [table for table in tables if table.name == FACTS or table.of_facts]


def _table(connection: apsw.Connection, name: str) -> Table:
    columns = tuple(row[1] for row in connection.execute(f"PRAGMA table_info({name})"))
    refers = {row[3]: row[2] for row in connection.execute(f"PRAGMA foreign_key_list({name})")}
    return Table(name, columns, refers)


def _rows(connection: apsw.Connection, table: Table, keys: Sequence[int]) -> list[Row]:
    among = "IN (SELECT value FROM carray(?1))"
    wanted = " OR ".join(f"{column} {among}" for column in (["key"] if table.name == FACTS else table.of_facts))
    sql = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {wanted}"
    found = [
        dict(zip(table.columns, row, strict=True)) for row in connection.execute(sql, (apsw.carray(np.array(keys)),))
    ]
    for column, parent in table.refers.items():
        called = _own_names(connection, parent, {row[column] for row in found if row[column] is not None})
        found = [row | {column: called.get(row[column], row[column])} for row in found]
    return found


def _own_names(connection: apsw.Connection, parent: str, keys: Iterable[int]) -> dict[int, Any]:
    """What rows of a table call themselves, by key; nothing where a key is all they have."""
    listed = np.array(sorted(keys), np.int64)
    if parent not in OWN_NAMES or not len(listed):
        return {}
    sql = f"SELECT p.key, p.{OWN_NAMES[parent]} FROM carray(?) c CROSS JOIN {parent} p ON p.key = c.value"
    found: Any = connection.execute(sql, (apsw.carray(listed),))
    return dict(found)


def _radius(rows: dict[str, list[Row]], cited: Sequence[str]) -> Radius:
    _, counts, _ = unpacked([Held(row["terms"], row["counts"]) for table in WORDED for row in rows[table]])
    return Radius(
        facts=len(rows[FACTS]),
        edges=sum(row["ended"] is None for name in EDGES for row in rows[name]),
        mentions=len(rows["mentions"]),
        subjects=len(rows["subjects"]),
        vectors=len(rows["vectors"]),
        words=int(np.count_nonzero(counts)),
        descriptions=len(rows["descriptions"]),
        cited=tuple(cited),
    )
