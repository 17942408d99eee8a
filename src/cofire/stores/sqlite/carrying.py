"""Carrying in SQL: rows of the tables in words that every store knows, there and back, and what belongs to the store as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import groupby
from typing import Any

import apsw

from cofire.carrying import COLUMNS, Carried, Household, WordCount, numbered, occasion, row
from cofire.kinds import BEHAVIOURAL, STRUCTURAL, kind_of
from cofire.learned import Occasion
from cofire.model import Change, Written
from cofire.revising import Taken
from cofire.stores.sqlite import hinting, occasions, taking
from cofire.stores.sqlite.counting import KEEP
from cofire.stores.sqlite.writing import scope_key

# What tables call otherwise, and the column that tells when an edge was last observed or strengthened.
OWN_TABLES = {
    "incoming": "vectors_incoming",
    "importance": "fact_importance",
    "uses": "fact_use",
    "history": "fact_history",
}
SEEN = {STRUCTURAL: "observed", BEHAVIOURAL: "strengthened"}


class Carrying:
    """What copying asks of a store in a file."""

    def _reading(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _writing(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def write(self, change: Change, expects: Mapping[str, int]) -> Written:
        raise NotImplementedError

    def carried(self, ids: Sequence[str]) -> Carried:
        with self._reading() as connection:
            return as_carried(taking.taken(connection, ids).rows)

    def take_in(self, carried: Carried, now: datetime) -> None:
        with self._reading() as connection:
            models = taking.kept_models(connection)
        rows = as_rows(carried) | {taking.CITED: [], taking.MODELS: models}
        self.write(Change(now=now, put_back=Taken(rows=rows)), {})

    def household(self) -> Household:
        with self._reading() as connection:
            return household(connection)

    def furnish(self, household: Household) -> None:
        with self._writing() as connection:
            furnish(connection, household)


def as_carried(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Carried:
    """Rows as `taking` tells them, in the words of all."""
    tables = {table: rows.get(OWN_TABLES.get(table, table), ()) for table in COLUMNS}
    tables |= {
        "edges": [_edge(one, seen) for table, seen in SEEN.items() for one in rows.get(table, ())],
        "facts": hinting.together(tables["facts"], tables["descriptions"]),
        "descriptions": list(numbered(tables["descriptions"], by="key")),
        "history": [_past(one) for one in numbered(tables["history"], by="key")],
    }
    return Carried({table: [row(table, one) for one in found] for table, found in tables.items()})


def _edge(one: Mapping[str, Any], seen: str) -> dict[str, Any]:
    return {**one, "seen": one[seen], "tags": tuple(sorted(json.loads(one["tags"] or "[]")))}


def _past(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, "said": json.dumps(json.loads(one["said"]), ensure_ascii=False, sort_keys=True)}


def as_rows(carried: Carried) -> dict[str, list[dict[str, Any]]]:
    """What was carried, as `taking` puts it back: facts in the order of their ids."""
    rows = {OWN_TABLES.get(table, table): carried.named(table) for table in COLUMNS if table != "edges"}
    for table, seen in SEEN.items():
        edges = [one for one in carried.named("edges") if kind_of(one["kind"]).table == table]
        rows[table] = [_own_edge(one, seen) for one in edges]
    rows["facts"].sort(key=lambda one: str(one["id"]))
    rows["descriptions"] = _own_descriptions(rows["descriptions"])
    rows["fact_history"].sort(key=_placed)
    rows["exposures"] = [{**one, "last": 0} for one in rows["exposures"]]
    return rows


def _own_edge(one: Mapping[str, Any], seen: str) -> dict[str, Any]:
    return {**one, seen: one["seen"], "tags": json.dumps(list(one["tags"])) if one["tags"] else None}


def _own_descriptions(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each ends when the next one is made; the last one holds."""
    made: list[dict[str, Any]] = []
    for _, group in groupby(sorted(rows, key=_placed), key=lambda one: str(one["fact"])):
        told = list(group)
        ends = [*(one["made"] for one in told[1:]), None]
        made += [{**one, "ended": end} for one, end in zip(told, ends, strict=True)]
    return made


def _placed(one: Mapping[str, Any]) -> tuple[str, int]:
    return one["fact"], one["place"]


def household(connection: apsw.Connection) -> Household:
    """What belongs to the store as a whole."""
    records: Any = connection.execute("SELECT name, value FROM records ORDER BY name")
    spans: Any = connection.execute("SELECT begun, ended, hours_before FROM active_spans ORDER BY begun")
    return Household(dict(records), tuple(spans), _occasions(connection), _words(connection))


def _occasions(connection: apsw.Connection) -> tuple[Occasion, ...]:
    found: Any = connection.execute(_JUDGED)
    return tuple(
        occasion(id, [(fact, bool(first), verdict) for _, fact, first, verdict in said])
        for id, said in groupby(found, key=lambda one: str(one[0]))
    )


_JUDGED = """
SELECT o.id, f.id, j.first, j.verdict FROM occasions o CROSS JOIN occasion_facts j ON j.occasion = o.key
CROSS JOIN facts f ON f.key = j.fact ORDER BY o.key
"""


def _words(connection: apsw.Connection) -> tuple[WordCount, ...]:
    found: Any = connection.execute(_COUNTED)
    return tuple(WordCount(*one) for one in found)


_COUNTED = """
SELECT s.name, w.facts, w.length, w.terms, w.holding, w.sample, w.sampled,
  (SELECT count(*) FROM facts f WHERE f.scope = w.scope AND f.key <= w.counted_to)
FROM word_statistics w JOIN scopes s ON s.key = w.scope ORDER BY s.name
"""


def furnish(connection: apsw.Connection, household: Household) -> None:
    """Times of use, judged recalls and counted words as they were elsewhere."""
    for begun, ended, before in household.spans:
        connection.execute("DELETE FROM active_spans WHERE begun = ?", (begun,))
        connection.execute(
            "INSERT INTO active_spans(begun, ended, hours_before) VALUES (?, ?, ?)", (begun, ended, before)
        )
    occasions.write(connection, household.occasions)
    # Who has counted words in mind looks at them again.
    connection.execute("UPDATE state SET version = version + 1")
    for one in household.words:
        _count(connection, one)


def _count(connection: apsw.Connection, one: WordCount) -> None:
    scope = scope_key(connection, one.scope)
    last = connection.execute(_LAST_COUNTED, (scope, one.counted - 1)).get if one.counted else 0
    values = (one.facts, one.length, one.terms, one.holding, one.sample, last or 0, one.sampled)
    connection.execute(KEEP, (scope, *values))


_LAST_COUNTED = "SELECT key FROM facts WHERE scope = ? ORDER BY key LIMIT 1 OFFSET ?"
