"""Convert rows to and from the transfer format that all stores share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import groupby
from typing import Any

import apsw

from cofire.model import Change, RemovedCascade, WriteResult
from cofire.stores.edge_kinds import BEHAVIOURAL_TABLE, STRUCTURAL_TABLE, get_edge_kind
from cofire.stores.learning_rows import JudgedRecall
from cofire.stores.sqlite import cascade, graph_writes, learning
from cofire.stores.sqlite.fact_writes import ensure_scope_key
from cofire.stores.sqlite.word_statistics import UPSERT_WORD_STATISTICS
from cofire.stores.transfer_format import (
    TRANSFER_COLUMNS,
    ScopeWordCounts,
    StoreMetadata,
    TransferBatch,
    make_judged_recall,
    make_transfer_row,
    number_rows_by_fact,
)

# What tables call otherwise, and the column that tells when an edge was last observed or strengthened.
TABLE_NAMES = {
    "incoming": "vectors_incoming",
    "importance": "fact_importance",
    "uses": "fact_use",
    "history": "fact_history",
}
LAST_SEEN_COLUMNS = {STRUCTURAL_TABLE: "observed", BEHAVIOURAL_TABLE: "strengthened"}


class SqliteTransferMixin:
    """What copying asks of a store in a file."""

    def _reading(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _writing(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def write(self, change: Change, expects: Mapping[str, int]) -> WriteResult:
        raise NotImplementedError

    def export_facts(self, ids: Sequence[str]) -> TransferBatch:
        with self._reading() as connection:
            return to_transfer_rows(cascade.collect_cascade(connection, ids).rows)

    def import_facts(self, carried: TransferBatch, now: datetime) -> None:
        with self._reading() as connection:
            models = cascade.read_vector_models(connection)
        rows = from_transfer_rows(carried) | {cascade.CITED_KEY: [], cascade.MODELS_KEY: models}
        self.write(Change(now=now, put_back=RemovedCascade(rows=rows)), {})

    def read_metadata(self) -> StoreMetadata:
        with self._reading() as connection:
            return read_store_metadata(connection)

    def write_metadata(self, household: StoreMetadata) -> None:
        with self._writing() as connection:
            write_store_metadata(connection, household)


def to_transfer_rows(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> TransferBatch:
    """Rows as `taking` tells them, in the words of all."""
    tables = {table: rows.get(TABLE_NAMES.get(table, table), ()) for table in TRANSFER_COLUMNS}
    tables |= {
        "edges": [
            _to_transfer_edge(one, seen) for table, seen in LAST_SEEN_COLUMNS.items() for one in rows.get(table, ())
        ],
        "facts": graph_writes.join_description_terms(tables["facts"], tables["descriptions"]),
        "descriptions": list(number_rows_by_fact(tables["descriptions"], by="key")),
        "history": [_to_transfer_history(one) for one in number_rows_by_fact(tables["history"], by="key")],
    }
    return TransferBatch({table: [make_transfer_row(table, one) for one in found] for table, found in tables.items()})


def _to_transfer_edge(one: Mapping[str, Any], seen: str) -> dict[str, Any]:
    return {**one, "seen": one[seen], "tags": tuple(sorted(json.loads(one["tags"] or "[]")))}


def _to_transfer_history(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, "said": json.dumps(json.loads(one["said"]), ensure_ascii=False, sort_keys=True)}


def from_transfer_rows(carried: TransferBatch) -> dict[str, list[dict[str, Any]]]:
    """What was carried, as `taking` puts it back: facts in the order of their ids."""
    rows = {TABLE_NAMES.get(table, table): carried.named(table) for table in TRANSFER_COLUMNS if table != "edges"}
    for table, seen in LAST_SEEN_COLUMNS.items():
        edges = [one for one in carried.named("edges") if get_edge_kind(one["kind"]).table == table]
        rows[table] = [_from_transfer_edge(one, seen) for one in edges]
    rows["facts"].sort(key=lambda one: str(one["id"]))
    rows["descriptions"] = _from_transfer_descriptions(rows["descriptions"])
    rows["fact_history"].sort(key=_row_sort_key)
    rows["exposures"] = [{**one, "last": 0} for one in rows["exposures"]]
    return rows


def _from_transfer_edge(one: Mapping[str, Any], seen: str) -> dict[str, Any]:
    return {**one, seen: one["seen"], "tags": json.dumps(list(one["tags"])) if one["tags"] else None}


def _from_transfer_descriptions(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each ends when the next one is made; the last one holds."""
    made: list[dict[str, Any]] = []
    for _, group in groupby(sorted(rows, key=_row_sort_key), key=lambda one: str(one["fact"])):
        told = list(group)
        ends = [*(one["made"] for one in told[1:]), None]
        made += [{**one, "ended": end} for one, end in zip(told, ends, strict=True)]
    return made


def _row_sort_key(one: Mapping[str, Any]) -> tuple[str, int]:
    return one["fact"], one["place"]


def read_store_metadata(connection: apsw.Connection) -> StoreMetadata:
    """What belongs to the store as a whole."""
    records: Any = connection.execute("SELECT name, value FROM records ORDER BY name")
    spans: Any = connection.execute("SELECT begun, ended, hours_before FROM active_spans ORDER BY begun")
    return StoreMetadata(dict(records), tuple(spans), _read_judged_recalls(connection), _read_word_counts(connection))


def _read_judged_recalls(connection: apsw.Connection) -> tuple[JudgedRecall, ...]:
    found: Any = connection.execute(_SELECT_JUDGED_RECALLS)
    return tuple(
        make_judged_recall(id, [(fact, bool(first), verdict) for _, fact, first, verdict in said])
        for id, said in groupby(found, key=lambda one: str(one[0]))
    )


_SELECT_JUDGED_RECALLS = """
SELECT o.id, f.id, j.first, j.verdict FROM occasions o CROSS JOIN occasion_facts j ON j.occasion = o.key
CROSS JOIN facts f ON f.key = j.fact ORDER BY o.key
"""


def _read_word_counts(connection: apsw.Connection) -> tuple[ScopeWordCounts, ...]:
    found: Any = connection.execute(_SELECT_WORD_COUNTS)
    return tuple(ScopeWordCounts(*one) for one in found)


_SELECT_WORD_COUNTS = """
SELECT s.name, w.facts, w.length, w.terms, w.holding, w.sample, w.sampled,
  (SELECT count(*) FROM facts f WHERE f.scope = w.scope AND f.key <= w.counted_to)
FROM word_statistics w JOIN scopes s ON s.key = w.scope ORDER BY s.name
"""


def write_store_metadata(connection: apsw.Connection, household: StoreMetadata) -> None:
    """Times of use, judged recalls and counted words as they were elsewhere."""
    for begun, ended, before in household.spans:
        connection.execute("DELETE FROM active_spans WHERE begun = ?", (begun,))
        connection.execute(
            "INSERT INTO active_spans(begun, ended, hours_before) VALUES (?, ?, ?)", (begun, ended, before)
        )
    learning.write_judged_recalls(connection, household.occasions)
    # Who has counted words in mind looks at them again.
    connection.execute("UPDATE state SET version = version + 1")
    for one in household.words:
        _write_word_count(connection, one)


def _write_word_count(connection: apsw.Connection, one: ScopeWordCounts) -> None:
    scope = ensure_scope_key(connection, one.scope)
    last = connection.execute(_SELECT_LAST_COUNTED_KEY, (scope, one.counted - 1)).get if one.counted else 0
    values = (one.facts, one.length, one.terms, one.holding, one.sample, last or 0, one.sampled)
    connection.execute(UPSERT_WORD_STATISTICS, (scope, *values))


_SELECT_LAST_COUNTED_KEY = "SELECT key FROM facts WHERE scope = ? ORDER BY key LIMIT 1 OFFSET ?"
