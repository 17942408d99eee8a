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
from cofire.stores.edge_kinds import get_edge_kind
from cofire.stores.learning_rows import JudgedRecall
from cofire.stores.recall_log import make_judged_recall
from cofire.stores.sqlite import cascade, graph_writes, learning
from cofire.stores.sqlite.edge_writes import LAST_SEEN_COLUMNS, encode_tags
from cofire.stores.sqlite.fact_writes import ensure_scope_key
from cofire.stores.sqlite.word_statistics import UPSERT_WORD_STATISTICS
from cofire.stores.transfer_format import (
    TRANSFER_COLUMNS,
    ScopeWordCounts,
    StoreMetadata,
    TransferBatch,
    make_transfer_row,
    number_rows_by_fact,
)

# The tables with another name than in the transfer format.
TABLE_NAMES = {
    "incoming": "vectors_incoming",
    "importance": "fact_importance",
    "uses": "fact_use",
    "history": "fact_history",
}


class SqliteTransferMixin:
    """The part of the store protocol that copies facts and metadata to another store."""

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

    def write_metadata(self, metadata: StoreMetadata) -> None:
        with self._writing() as connection:
            write_store_metadata(connection, metadata)


def to_transfer_rows(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> TransferBatch:
    """Rows of `cascade.collect_cascade` in the transfer format."""
    tables = {table: rows.get(TABLE_NAMES.get(table, table), ()) for table in TRANSFER_COLUMNS}
    descriptions = tables["descriptions"]
    tables |= {
        "edges": [
            {**edge, "seen": edge[seen], "tags": tuple(sorted(json.loads(edge["tags"] or "[]")))}
            for table, seen in LAST_SEEN_COLUMNS.items()
            for edge in rows.get(table, ())
        ],
        "facts": graph_writes.join_description_terms(tables["facts"], descriptions),
        "descriptions": list(number_rows_by_fact(descriptions, by="key")),
        "history": [_sort_past_values(past) for past in number_rows_by_fact(tables["history"], by="key")],
    }
    return TransferBatch(
        {table: [make_transfer_row(table, values) for values in table_rows] for table, table_rows in tables.items()}
    )


def _sort_past_values(past: Mapping[str, Any]) -> dict[str, Any]:
    return {**past, "said": json.dumps(json.loads(past["said"]), ensure_ascii=False, sort_keys=True)}


def from_transfer_rows(carried: TransferBatch) -> dict[str, list[dict[str, Any]]]:
    """Transferred rows as `cascade.restore_rows` takes them: facts in the order of their ids."""
    rows = {TABLE_NAMES.get(table, table): carried.named(table) for table in TRANSFER_COLUMNS if table != "edges"}
    for table, seen in LAST_SEEN_COLUMNS.items():
        rows[table] = [
            {**edge, seen: edge["seen"], "tags": encode_tags(edge["tags"])}
            for edge in carried.named("edges")
            if get_edge_kind(edge["kind"]).table == table
        ]
    rows["facts"].sort(key=lambda row: str(row["id"]))
    rows["descriptions"] = _add_description_ends(rows["descriptions"])
    rows["fact_history"].sort(key=_row_sort_key)
    rows["exposures"] = [{**row, "last": 0} for row in rows["exposures"]]
    return rows


def _add_description_ends(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each description ends when the next one is made; the last one holds."""
    with_ends: list[dict[str, Any]] = []
    for _, group in groupby(sorted(rows, key=_row_sort_key), key=lambda row: str(row["fact"])):
        descriptions = list(group)
        ends = [*(row["made"] for row in descriptions[1:]), None]
        with_ends += [{**row, "ended": end} for row, end in zip(descriptions, ends, strict=True)]
    return with_ends


def _row_sort_key(row: Mapping[str, Any]) -> tuple[str, int]:
    return row["fact"], row["place"]


def read_store_metadata(connection: apsw.Connection) -> StoreMetadata:
    """Everything that belongs to the store as a whole."""
    records: Any = connection.execute("SELECT name, value FROM records ORDER BY name")
    spans: Any = connection.execute("SELECT begun, ended, hours_before FROM active_spans ORDER BY begun")
    return StoreMetadata(dict(records), tuple(spans), _read_judged_recalls(connection), _read_word_counts(connection))


def _read_judged_recalls(connection: apsw.Connection) -> tuple[JudgedRecall, ...]:
    rows: Any = connection.execute(_SELECT_JUDGED_RECALLS)
    return tuple(
        make_judged_recall(id, [row[1:] for row in judgements])
        for id, judgements in groupby(rows, key=lambda row: str(row[0]))
    )


_SELECT_JUDGED_RECALLS = """
SELECT o.id, f.id, j.first, j.verdict FROM occasions o CROSS JOIN occasion_facts j ON j.occasion = o.key
CROSS JOIN facts f ON f.key = j.fact ORDER BY o.key
"""


def _read_word_counts(connection: apsw.Connection) -> tuple[ScopeWordCounts, ...]:
    rows: Any = connection.execute(_SELECT_WORD_COUNTS)
    return tuple(ScopeWordCounts(*row) for row in rows)


_SELECT_WORD_COUNTS = """
SELECT s.name, w.facts, w.length, w.terms, w.holding, w.sample, w.sampled,
  (SELECT count(*) FROM facts f WHERE f.scope = w.scope AND f.key <= w.counted_to)
FROM word_statistics w JOIN scopes s ON s.key = w.scope ORDER BY s.name
"""


def write_store_metadata(connection: apsw.Connection, metadata: StoreMetadata) -> None:
    """Write times of use, judged recalls and word counts as they were in another store."""
    for begun, ended, before in metadata.spans:
        connection.execute("DELETE FROM active_spans WHERE begun = ?", (begun,))
        connection.execute(
            "INSERT INTO active_spans(begun, ended, hours_before) VALUES (?, ?, ?)", (begun, ended, before)
        )
    learning.write_judged_recalls(connection, metadata.occasions)
    # Another version makes processes read cached word counts again.
    connection.execute("UPDATE state SET version = version + 1")
    for count in metadata.words:
        _write_word_count(connection, count)


def _write_word_count(connection: apsw.Connection, count: ScopeWordCounts) -> None:
    scope = ensure_scope_key(connection, count.scope)
    last = 0
    if count.counted:
        last = connection.execute(_SELECT_LAST_COUNTED_KEY, (scope, count.counted - 1)).get or 0
    values = (count.facts, count.length, count.terms, count.holding, count.sample, last, count.sampled)
    connection.execute(UPSERT_WORD_STATISTICS, (scope, *values))


_SELECT_LAST_COUNTED_KEY = "SELECT key FROM facts WHERE scope = ? ORDER BY key LIMIT 1 OFFSET ?"
