"""Hinting: the words of descriptions, which lead to a fact more weakly than its own. Its last description keeps them all, so that
to describe a fact anew leaves the fact itself as it is."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import apsw

from cofire.reading.descriptions import hint_counts
from cofire.stores.index.terms import Held, described, redescribed

NOTHING = Held(b"", b"")
Row = Mapping[str, Any]

_HELD = "SELECT terms, counts FROM descriptions WHERE key = (SELECT max(key) FROM descriptions WHERE fact = ?)"
_KEEP = """
UPDATE descriptions SET terms = ?, counts = ?, version = ? WHERE key = (SELECT max(key) FROM descriptions WHERE fact = ?)
"""
FIRST_VERSION = 1


def of_fact(connection: apsw.Connection, fact: int) -> Held:
    """The words of all descriptions of a fact."""
    found = connection.execute(_HELD, (fact,)).get
    return Held(*found) if found else NOTHING


def keep(connection: apsw.Connection, fact: int, held: Held, version: int) -> None:
    """Let these be the words of its descriptions. Fewer than before are seen only by those who look at the fact anew."""
    connection.execute(_KEEP, (held.terms, held.counts, version, fact))
    connection.execute("UPDATE facts SET version = ? WHERE key = ?", (version, fact))


def since(connection: apsw.Connection, version: int, changed: Sequence[int]) -> dict[int, Held]:
    """The words of descriptions by fact: of those described since a version, and of those that changed otherwise."""
    found: list[Any] = connection.execute(_SINCE, (version,)).fetchall()
    if version >= FIRST_VERSION and changed:
        found += connection.execute(_OF_CHANGED, (apsw.carray(array("q", changed)), version)).fetchall()
    return {fact: Held(terms, counts) for fact, terms, counts in found if terms}


_SINCE = "SELECT fact, terms, counts FROM descriptions WHERE version > ? AND ended IS NULL"
_OF_CHANGED = """
SELECT d.fact, d.terms, d.counts FROM carray(?1) c CROSS JOIN descriptions d
ON d.key = (SELECT max(key) FROM descriptions WHERE fact = c.value) WHERE d.version <= ?2
"""


def apart(facts: Sequence[Row], descriptions: Sequence[Row]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of facts that hold the words of their descriptions too, as other stores and older files have them, with those words
    moved to the last description of each. Descriptions are in the order in which they were made, those of a fact together."""
    told = {id: list(rows) for id, rows in groupby(descriptions, key=lambda one: one["fact"])}
    bare = []
    for row in facts:
        of_this = told.get(row["id"], [])
        if of_this and not any("terms" in one for one in of_this):
            own, hints = separated(Held(row["terms"], row["counts"]), [one["text"] for one in of_this])
            of_this[-1] = {**of_this[-1], "terms": hints.terms, "counts": hints.counts}
            bare.append({**row, "terms": own.terms, "counts": own.counts})
        else:
            bare.append(dict(row))
    return bare, [{"terms": b"", "counts": b"", **one} for rows in told.values() for one in rows]


def move(connection: apsw.Connection) -> None:
    """Move the words of descriptions from the facts to the descriptions, in a file that has them there."""
    found: Any = connection.execute("SELECT key, terms, counts FROM facts WHERE key IN (SELECT fact FROM descriptions)")
    for fact, terms, counts in found.fetchall():
        texts: Any = connection.execute("SELECT text FROM descriptions WHERE fact = ?", (fact,))
        own, hints = separated(Held(terms, counts), [text for (text,) in texts])
        connection.execute("UPDATE facts SET terms = ?, counts = ? WHERE key = ?", (own.terms, own.counts, fact))
        connection.execute(_KEEP, (hints.terms, hints.counts, FIRST_VERSION, fact))


def separated(held: Held, texts: Sequence[str]) -> tuple[Held, Held]:
    """What a fact holds itself, and what it holds by its descriptions."""
    own, hints = redescribed(held, dict.fromkeys(hint_counts(texts), 0))
    return own, described(NOTHING, hints)


def together(facts: Sequence[Row], descriptions: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of facts with the words of their descriptions, as other stores have them."""
    told = {one["fact"]: one for one in descriptions if one["terms"]}
    return [_with_hints(row, told.get(row["id"])) for row in facts]


def _with_hints(row: Row, described: Row | None) -> dict[str, Any]:
    if described is None:
        return dict(row)
    return {**row, "terms": row["terms"] + described["terms"], "counts": row["counts"] + described["counts"]}
