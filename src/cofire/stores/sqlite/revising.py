"""Revising: a fact says something else from now on; what it said before is kept as its history. Inside somebody's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import apsw

from cofire.model import Fact, NewFact, Past
from cofire.stores.index.moments import moment, stamp, stamp_or_none
from cofire.stores.index.terms import marks, packed, packed_places
from cofire.stores.refusing import refuse_twin
from cofire.stores.sqlite import citing, metadata_values, rows
from cofire.stores.sqlite import graph_writing as graph

MOMENTS = ("at", "valid_from", "valid_until", "expires")
PLAIN = ("text", "subject", "category", "source", "metadata")

_UPDATE = """
UPDATE facts SET hash = ?, text = ?, subject = ?, category = ?, at = ?, valid_from = ?, valid_until = ?, expires = ?,
  metadata = ?, terms = ?, counts = ?, length = ?, places = ?, inbox = 1, version = ? WHERE key = ?
"""
# What a fact has by what it says: its names, its vectors, its descriptions and those it gave words to.
_BY_TEXT = (
    "DELETE FROM mentions WHERE fact = ?",
    "DELETE FROM subjects WHERE fact = ?",
    "DELETE FROM vectors WHERE fact = ?",
    "DELETE FROM vectors_incoming WHERE fact = ?",
    "DELETE FROM descriptions WHERE fact = ?",
    "DELETE FROM citations WHERE fact = ?1 OR cited = ?1",
)


def revise(connection: apsw.Connection, new: NewFact, now: datetime, version: int) -> None:
    """Put a fact in the place of the one with its id. One that is gone meanwhile stays so."""
    found = connection.execute(rows.SELECT + " WHERE f.id = ?", (new.fact.id,)).get
    if found is None:
        return
    key, before, after = int(found[0]), rows.fact(found), new.fact
    refuse_twin(connection.execute("SELECT id FROM facts WHERE hash = ?", (after.hash,)).get, after.id)
    connection.execute(
        "INSERT INTO fact_history(fact, until, said) VALUES (?, ?, ?)", (key, stamp(now), _encoded(before))
    )
    if before.valid_until != after.valid_until:
        # An end that is given holds also where the fact comes back from those that took its place.
        connection.execute(
            "UPDATE superseded SET valid_until = ? WHERE old = ?", (stamp_or_none(after.valid_until), key)
        )
    anew = before.reading != after.reading
    connection.execute(_UPDATE, (*_values(after), *_search(new), version, key))
    connection.execute("DELETE FROM tags WHERE fact = ?", (key,))
    connection.executemany("INSERT INTO tags(fact, tag) VALUES (?, ?)", [(key, tag) for tag in after.tags])
    metadata_values.rewrite(connection, key, after.metadata)
    if anew:
        _begin_anew(connection, key, new, version)


def _begin_anew(connection: apsw.Connection, key: int, new: NewFact, version: int) -> None:
    """What hung on the old text goes, the words it gave to descriptions of others included."""
    citing.scrub(connection, citing.cited(connection, [key]), version)
    for statement in _BY_TEXT:
        connection.execute(statement, (key,))
    scope = connection.execute("SELECT scope FROM facts WHERE key = ?", (key,)).get
    graph.write_names(connection, scope, [(key, new)])
    if new.vector is not None:
        connection.execute("INSERT INTO vectors(fact, vector) VALUES (?, ?)", (key, new.vector))


def _values(after: Fact) -> tuple[Any, ...]:
    times = [stamp_or_none(getattr(after, label)) for label in MOMENTS]
    return after.hash, after.text, after.subject, after.category, *times, rows.metadata(after)


def _search(new: NewFact) -> tuple[bytes, bytes, int, bytes]:
    """What search looks at."""
    held = packed(new.counts, marks(new.fact))
    return held.terms, held.counts, sum(new.counts.values()), packed_places(new.places)


def history(connection: apsw.Connection, id: str) -> list[Past]:
    """What a fact said before, and until when, the oldest first."""
    now = connection.execute(rows.SELECT + " WHERE f.id = ?", (id,)).get
    if now is None:
        return []
    sql = "SELECT until, said FROM fact_history WHERE fact = ? ORDER BY key"
    return [_past(rows.fact(now), until, json.loads(said)) for until, said in connection.execute(sql, (now[0],))]


def _encoded(fact: Fact) -> str:
    said: dict[str, Any] = {label: getattr(fact, label) for label in PLAIN} | {"tags": fact.tags}
    times = {label: stamp_or_none(getattr(fact, label)) for label in MOMENTS}
    return json.dumps(said | times, ensure_ascii=False)


def _past(fact: Fact, until: int, said: Mapping[str, Any]) -> Past:
    told = dict(said) | {label: moment(said[label]) for label in MOMENTS} | {"tags": tuple(said["tags"])}
    ended = moment(until)
    assert ended is not None, "what was said has an end"
    return Past(ended, replace(fact, **told))
