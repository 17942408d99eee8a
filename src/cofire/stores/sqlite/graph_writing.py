"""Writing the graph: names, descriptions, importance and the active-hours clock, inside somebody else's transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

import apsw
import numpy as np

from cofire.dynamics.ordering import in_order
from cofire.model import Description, Importance, Mentioned, NewFact
from cofire.reading.descriptions import renewed
from cofire.stores.index.moments import stamp
from cofire.stores.index.terms import Held, all_described
from cofire.stores.linking import supposed
from cofire.stores.sqlite.hinting import NOTHING
from cofire.stores.sqlite.in_bulk import MANY, trusted, write_rows
from cofire.stores.sqlite.noting import Named

LAST_SENTENCE = 31
# What facts mention, and what they are about and how strongly.
NamesTold = tuple[list[Named], list[tuple[int, int, float]]]


def write_names(connection: apsw.Connection, scope: int, written: Sequence[tuple[int, NewFact]]) -> NamesTold:
    """What new facts mention and are about, as it was written. `written` pairs each with its key."""
    about = {one.name for _, new in written for one in new.subjects}
    wanted = {one.name for _, new in written for one in new.mentions} | about
    perhaps = set[str]()
    if about or connection.execute("SELECT EXISTS (SELECT 1 FROM subjects)").get:
        perhaps.update(*(new.perhaps for _, new in written))
    stored = _stored_names(connection, scope, wanted | perhaps)
    keys = {name: stored[name][0] for name in wanted & stored.keys()}
    keys |= _new_names(connection, scope, wanted - keys.keys())
    # Somebody is about a name now if anybody was, or if one of these is.
    known = {name: stored[name][0] for name in perhaps & stored.keys() if stored[name][1]}
    known |= {name: keys[name] for name in perhaps & about}
    mentions = _mention_rows(keys, ((key, new.mentions) for key, new in written))
    if known:
        mentions += _mention_rows(known, ((key, supposed(new, known)) for key, new in written))
    subjects = _subject_rows(keys, written)
    for sql, rows in ((_MENTION, mentions), (_SUBJECT, subjects)):
        if rows:
            connection.executemany(sql, rows)
    return mentions, subjects


def add_mentions(connection: apsw.Connection, mentions: Mapping[str, tuple[Mentioned, ...]], version: int) -> None:
    """Names that were found later in facts that are stored already, which are thereby changed."""
    for id, named in mentions.items():
        found = connection.execute("SELECT key, scope FROM facts WHERE id = ?", (id,)).get
        if found is not None and named:
            keys, before = name_keys(connection, found[1], {one.name for one in named}), connection.total_changes()
            connection.executemany(_MENTION, _mention_rows(keys, [(found[0], named)]))
            if connection.total_changes() > before:
                connection.execute("UPDATE facts SET version = ? WHERE key = ?", (version, found[0]))


def name_keys(connection: apsw.Connection, scope: int, names: Iterable[str]) -> dict[str, int]:
    """The keys of names, new ones made as needed."""
    wanted = set(names)
    found = {name: key for name, (key, _) in _stored_names(connection, scope, wanted).items()}
    return found | _new_names(connection, scope, wanted - found.keys())


def _new_names(connection: apsw.Connection, scope: int, names: Collection[str]) -> dict[str, int]:
    """The keys of names that are stored now."""
    if not names:
        return {}
    connection.executemany("INSERT INTO names(scope, name) VALUES (?, ?)", [(scope, name) for name in names])
    return {name: key for name, (key, _) in _stored_names(connection, scope, names).items()}


def _stored_names(connection: apsw.Connection, scope: int, names: Collection[str]) -> dict[str, tuple[int, int]]:
    """Those of these names that are stored, with their keys, and how many facts are about each."""
    if not names:
        return {}
    found: Any = connection.execute(_STORED_NAMES, (apsw.carray(tuple(names)), scope))
    return {name: (key, about) for name, key, about in found}


_STORED_NAMES = """
SELECT n.name, n.key, n.about FROM carray(?) c CROSS JOIN names n ON n.scope = ? AND n.name = c.value
"""


def fact_keys(connection: apsw.Connection, ids: Collection[str]) -> dict[str, int]:
    """The keys of facts by id; those that are not there have none."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    found: Any = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return dict(found)


def _mention_rows(keys: Mapping[str, int], mentions: Iterable[tuple[int, tuple[Mentioned, ...]]]) -> list[Named]:
    return [
        (fact, keys[one.name], one.confidence, sum(1 << at for at in {min(at, LAST_SENTENCE) for at in one.sentences}))
        for fact, named in mentions
        for one in named
    ]


def _subject_rows(keys: Mapping[str, int], written: Sequence[tuple[int, NewFact]]) -> list[tuple[int, int, float]]:
    return [(fact, keys[one.name], one.strength) for fact, new in written for one in new.subjects]


_SUBJECT = "INSERT OR IGNORE INTO subjects(fact, name, strength) VALUES (?, ?, ?)"
_MENTION = "INSERT OR IGNORE INTO mentions(fact, name, confidence, sentences) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class SoFar:
    """A fact as it was described until now: its key, its scope and its words, the key and the text of its last description, None
    without one, and the words that this leads by."""

    key: int
    scope: int
    terms: bytes
    last: int | None
    text: str | None
    held: Held


@dataclass(frozen=True, slots=True)
class Rows:
    """What is written of descriptions, table by table."""

    leading: list[tuple[Any, ...]] = field(default_factory=list)
    replaced: list[tuple[Any, ...]] = field(default_factory=list)
    new: list[tuple[Any, ...]] = field(default_factory=list)
    cites: list[tuple[int, int, str]] = field(default_factory=list)

    def write(self, connection: apsw.Connection) -> None:
        """Each table in the order in which the file keeps it, so that its pages are filled one after the other."""
        with trusted(connection) if len(self.cites) >= MANY else nullcontext():
            for sql, rows in ((_LEADING, self.leading), (_REPLACED, self.replaced)):
                if rows:
                    connection.executemany(sql, rows)
            write_rows(connection, _DESCRIBE, self.new)
            write_rows(connection, _CITE, self._cited())

    def _cited(self) -> Iterable[tuple[int, int, str]]:
        """Of very many the numbers are sorted, which is many times as fast as rows."""
        if len(self.cites) < MANY:
            return sorted(self.cites)
        fact, cited = (np.fromiter(map(itemgetter(end), self.cites), np.int64, len(self.cites)) for end in (0, 1))
        return map(self.cites.__getitem__, in_order(fact, cited).tolist())


def write_descriptions(
    connection: apsw.Connection,
    descriptions: Sequence[Description],
    known: Mapping[str, SoFar],
    there: Mapping[str, tuple[int, int]],
    *,
    version: int,
    now: datetime,
) -> dict[int, Held]:
    """A new description holds from now on; the one before is kept as history. Its words lead to the fact, more weakly. `known` are those
    that are described, and `there` are the keys, and scopes, of those that are cited. Returns the words by fact where they are others
    than before."""
    if not known:
        return {}
    told = [
        (one, known[one.fact])
        for made in descriptions
        if made.fact in known and (one := renewed(made, known[made.fact].text or "", there)) is not None
    ]
    rows, moment, hints = Rows(), stamp(now), dict[int, Held]()
    before, counts = [so_far.held for _, so_far in told], [one.counts for one, _ in told]
    after = all_described(before, counts, [so_far.terms for _, so_far in told])
    for (one, so_far), held in zip(told, after, strict=True):
        if so_far.text != one.text:
            if so_far.last is not None:
                rows.replaced.append((moment, so_far.last))
            rows.new.append((one.text, moment, so_far.key, held.terms, held.counts, version))
        elif held != so_far.held:
            rows.leading.append((held.terms, held.counts, version, so_far.last))
        if held.terms and (so_far.text != one.text or held != so_far.held):
            hints[so_far.key] = held
        rows.cites.extend((so_far.key, there[id][0], gist) for id, gist in one.cites.items() if id != one.fact)
    rows.write(connection)
    return hints


def so_far(connection: apsw.Connection, ids: Collection[str]) -> dict[str, SoFar]:
    """How facts are described until now; those that are not there are left out."""
    if not ids:
        return {}
    found: Any = connection.execute(_SO_FAR, (apsw.carray(tuple(sorted(ids))),))
    return {
        id: SoFar(key, scope, terms, last, text, NOTHING if last is None else Held(*held))
        for id, key, scope, terms, last, text, *held in found
    }


_SO_FAR = """
SELECT f.id, f.key, f.scope, f.terms, d.key, d.text, d.terms, d.counts
FROM carray(?) c CROSS JOIN facts f ON f.id = c.value
LEFT JOIN descriptions d ON d.key = (SELECT max(key) FROM descriptions WHERE fact = f.key)
"""
_REPLACED = "UPDATE descriptions SET ended = ?, terms = x'', counts = x'' WHERE key = ?"
_LEADING = "UPDATE descriptions SET terms = ?, counts = ?, version = ? WHERE key = ?"
_CITE = "INSERT OR IGNORE INTO citations(fact, cited, gist) VALUES {}"
_DESCRIBE = "INSERT INTO descriptions(text, made, fact, terms, counts, version) VALUES {}"


def mark_dreamed(connection: apsw.Connection, ids: Iterable[str]) -> None:
    connection.execute(_DREAMED, (apsw.carray(tuple(ids)),))


_DREAMED = """
UPDATE facts SET inbox = 0 WHERE key IN (SELECT f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value)
"""


def write_importance(connection: apsw.Connection, rated: Sequence[Importance]) -> None:
    """Replace what was known of the scopes that these facts are of."""
    if not rated:
        return
    connection.execute(
        "DELETE FROM fact_importance WHERE fact IN (SELECT key FROM facts WHERE scope IN "
        "(SELECT scope FROM facts WHERE id IN (SELECT value FROM carray(?))))",
        (apsw.carray(tuple(one.fact for one in rated)),),
    )
    keys = fact_keys(connection, [one.fact for one in rated])
    known = ((keys[one.fact], one.pagerank, one.community) for one in rated if one.fact in keys)
    write_rows(connection, "INSERT INTO fact_importance(fact, pagerank, community) VALUES {}", known)


def run_clock(connection: apsw.Connection, now: datetime, idle_minutes: float) -> float:
    """The memory is used now: the clock of active hours runs on, or starts again after a pause. Returns the hours so far."""
    idle = timedelta(minutes=idle_minutes) // timedelta(microseconds=1)
    hours = connection.execute(_RUN_ON, (stamp(now), stamp(now) - idle)).get
    if hours is None:
        hours = connection.execute(_NEW_SPAN, (stamp(now),)).get
    return float(hours)


# A use within the pause belongs to the last span, as `extended` says; usually that is all there is to do.
_RUN_ON = """
UPDATE active_spans SET ended = max(ended, ?1)
WHERE key = (SELECT key FROM active_spans ORDER BY ended DESC LIMIT 1) AND ended >= ?2
RETURNING hours_before + (ended - begun) / 3600000000.0
"""
_NEW_SPAN = """
INSERT INTO active_spans(begun, ended, hours_before) SELECT ?1, ?1, coalesce(
  (SELECT hours_before + (ended - begun) / 3600000000.0 FROM active_spans ORDER BY ended DESC LIMIT 1), 0.0)
RETURNING hours_before
"""
