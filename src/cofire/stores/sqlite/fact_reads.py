"""Read facts from SQLite: pages of selected facts, and the history of one."""

from __future__ import annotations

import json
from typing import Any

import apsw

from cofire.embedders.base import StoredModel
from cofire.model import Fact
from cofire.stores.base import (
    INCOMING_RECORD,
    MODEL_RECORD,
    FactHistory,
    FactSelection,
    InboxSelection,
    UnembeddedSelection,
)
from cofire.stores.fact_rows import past_from_json
from cofire.stores.sqlite import fact_sql
from cofire.stores.sqlite.curation import fetch_archive_reason
from cofire.stores.sqlite.fact_writes import read_model


def list_facts(connection: apsw.Connection, selection: FactSelection, limit: int, before: str | None) -> list[Fact]:
    """A page of the selected facts."""
    match selection:
        case InboxSelection(scopes):
            clause, bound, order = "f.inbox", [], "f.key"
            if scopes is not None:
                clause += " AND s.name IN (SELECT value FROM json_each(?))"
                bound = [json.dumps(list(scopes))]
        case UnembeddedSelection(model):
            clause, bound, order = _build_unembedded_clause(connection, model), [], "f.id"
        case where:
            clause, bound = fact_sql.build_where_clause(where)
            order = "f.id DESC"
    if before is not None:
        clause += " AND f.id < ?"
        bound = [*bound, before]
    rows = connection.execute(f"{fact_sql.SELECT_FACTS} WHERE {clause} ORDER BY {order} LIMIT ?", (*bound, limit))
    return [fact_sql.decode_fact(row) for row in rows]


def _build_unembedded_clause(connection: apsw.Connection, model: bytes) -> str:
    wanted = StoredModel.decode(model).model
    clauses = ["1"]
    for record, table in ((MODEL_RECORD, "vectors"), (INCOMING_RECORD, "vectors_incoming")):
        if read_model(connection, record) == wanted:
            clauses.append(f"NOT EXISTS (SELECT 1 FROM {table} WHERE fact = f.key)")
    return " AND ".join(clauses)


def read_history(connection: apsw.Connection, id: str) -> FactHistory:
    """Earlier versions and descriptions of a fact, the oldest first, and why curation archived it."""
    row = connection.execute(fact_sql.SELECT_FACTS + " WHERE f.id = ?", (id,)).get
    if row is None:
        return FactHistory()
    key, fact = row[0], fact_sql.decode_fact(row)
    pasts: Any = connection.execute("SELECT until, said FROM fact_history WHERE fact = ? ORDER BY key", (key,))
    descriptions = connection.execute("SELECT text FROM descriptions WHERE fact = ? ORDER BY key", (key,))
    return FactHistory(
        tuple(past_from_json(fact, until, json.loads(past)) for until, past in pasts),
        tuple(str(text) for (text,) in descriptions),
        fetch_archive_reason(connection, id),
    )
