"""Write names, descriptions with their terms, importance and the active-hours clock."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

import apsw
import numpy as np

from cofire.algorithms.array_ops import sort_order
from cofire.index.terms import PackedTerms, add_description_terms, add_description_terms_to_all, set_description_counts
from cofire.index.timestamps import to_microseconds
from cofire.model import FactDescription, FactImportance, FactWrite, NameMention
from cofire.stores.link_rules import infer_mentions
from cofire.stores.sqlite.bulk import BULK_THRESHOLD, disable_foreign_keys, write_rows
from cofire.stores.sqlite.index_changes import NameRow
from cofire.text.descriptions import max_term_counts, refresh_description

NO_TERMS = PackedTerms(b"", b"")
RowValues = Mapping[str, Any]

_SELECT_TERMS = "SELECT terms, counts FROM descriptions WHERE key = (SELECT max(key) FROM descriptions WHERE fact = ?)"
_UPDATE_TERMS = """
UPDATE descriptions SET terms = ?, counts = ?, version = ? WHERE key = (SELECT max(key) FROM descriptions WHERE fact = ?)
"""
FIRST_VERSION = 1


def read_description_terms(connection: apsw.Connection, fact: int) -> PackedTerms:
    """The words of all descriptions of a fact."""
    found = connection.execute(_SELECT_TERMS, (fact,)).get
    return PackedTerms(*found) if found else NO_TERMS


def write_description_terms(connection: apsw.Connection, fact: int, held: PackedTerms, version: int) -> None:
    """Let these be the words of its descriptions. Fewer than before are seen only by those who look at the fact anew."""
    connection.execute(_UPDATE_TERMS, (held.terms, held.counts, version, fact))
    connection.execute("UPDATE facts SET version = ? WHERE key = ?", (version, fact))


def read_changed_terms(connection: apsw.Connection, version: int, changed: Sequence[int]) -> dict[int, PackedTerms]:
    """The words of descriptions by fact: of those described since a version, and of those that changed otherwise."""
    found: list[Any] = connection.execute(_SELECT_TERMS_SINCE, (version,)).fetchall()
    if version >= FIRST_VERSION and changed:
        found += connection.execute(_SELECT_TERMS_OF_CHANGED, (apsw.carray(array("q", changed)), version)).fetchall()
    return {fact: PackedTerms(terms, counts) for fact, terms, counts in found if terms}


_SELECT_TERMS_SINCE = "SELECT fact, terms, counts FROM descriptions WHERE version > ? AND ended IS NULL"
_SELECT_TERMS_OF_CHANGED = """
SELECT d.fact, d.terms, d.counts FROM carray(?1) c CROSS JOIN descriptions d
ON d.key = (SELECT max(key) FROM descriptions WHERE fact = c.value) WHERE d.version <= ?2
"""


def split_description_terms(
    facts: Sequence[RowValues], descriptions: Sequence[RowValues]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of facts that hold the words of their descriptions too, as other stores and older files have them, with those words
    moved to the last description of each. Descriptions are in the order in which they were made, those of a fact together."""
    told = {id: list(rows) for id, rows in groupby(descriptions, key=lambda one: one["fact"])}
    bare = []
    for row in facts:
        of_this = told.get(row["id"], [])
        if of_this and not any("terms" in one for one in of_this):
            own, hints = separate_terms(PackedTerms(row["terms"], row["counts"]), [one["text"] for one in of_this])
            of_this[-1] = {**of_this[-1], "terms": hints.terms, "counts": hints.counts}
            bare.append({**row, "terms": own.terms, "counts": own.counts})
        else:
            bare.append(dict(row))
    return bare, [{"terms": b"", "counts": b"", **one} for rows in told.values() for one in rows]


def move_description_terms(connection: apsw.Connection) -> None:
    """Move the words of descriptions from the facts to the descriptions, in a file that has them there."""
    found: Any = connection.execute("SELECT key, terms, counts FROM facts WHERE key IN (SELECT fact FROM descriptions)")
    for fact, terms, counts in found.fetchall():
        texts: Any = connection.execute("SELECT text FROM descriptions WHERE fact = ?", (fact,))
        own, hints = separate_terms(PackedTerms(terms, counts), [text for (text,) in texts])
        connection.execute("UPDATE facts SET terms = ?, counts = ? WHERE key = ?", (own.terms, own.counts, fact))
        connection.execute(_UPDATE_TERMS, (hints.terms, hints.counts, FIRST_VERSION, fact))


def separate_terms(held: PackedTerms, texts: Sequence[str]) -> tuple[PackedTerms, PackedTerms]:
    """What a fact holds itself, and what it holds by its descriptions."""
    own, hints = set_description_counts(held, dict.fromkeys(max_term_counts(texts), 0))
    return own, add_description_terms(NO_TERMS, hints)


def join_description_terms(facts: Sequence[RowValues], descriptions: Sequence[RowValues]) -> list[dict[str, Any]]:
    """Rows of facts with the words of their descriptions, as other stores have them."""
    told = {one["fact"]: one for one in descriptions if one["terms"]}
    return [_append_terms(row, told.get(row["id"])) for row in facts]


def _append_terms(row: RowValues, described: RowValues | None) -> dict[str, Any]:
    if described is None:
        return dict(row)
    return {**row, "terms": row["terms"] + described["terms"], "counts": row["counts"] + described["counts"]}


MAX_SENTENCE_BIT = 31
# What facts mention, and what they are about and how strongly.
WrittenNames = tuple[list[NameRow], list[tuple[int, int, float]]]


def write_names(connection: apsw.Connection, scope: int, written: Sequence[tuple[int, FactWrite]]) -> WrittenNames:
    """What new facts mention and are about, as it was written. `written` pairs each with its key."""
    about = {one.name for _, new in written for one in new.subjects}
    wanted = {one.name for _, new in written for one in new.mentions} | about
    perhaps = set[str]()
    if about or connection.execute("SELECT EXISTS (SELECT 1 FROM subjects)").get:
        perhaps.update(*(new.perhaps for _, new in written))
    stored = _fetch_names(connection, scope, wanted | perhaps)
    keys = {name: stored[name][0] for name in wanted & stored.keys()}
    keys |= _insert_names(connection, scope, wanted - keys.keys())
    # Somebody is about a name now if anybody was, or if one of these is.
    known = {name: stored[name][0] for name in perhaps & stored.keys() if stored[name][1]}
    known |= {name: keys[name] for name in perhaps & about}
    mentions = _build_mention_rows(keys, ((key, new.mentions) for key, new in written))
    if known:
        mentions += _build_mention_rows(known, ((key, infer_mentions(new, known)) for key, new in written))
    subjects = _build_subject_rows(keys, written)
    for sql, rows in ((_INSERT_MENTION, mentions), (_INSERT_SUBJECT, subjects)):
        if rows:
            connection.executemany(sql, rows)
    return mentions, subjects


def add_mentions(connection: apsw.Connection, mentions: Mapping[str, tuple[NameMention, ...]], version: int) -> None:
    """Names that were found later in facts that are stored already, which are thereby changed."""
    for id, named in mentions.items():
        found = connection.execute("SELECT key, scope FROM facts WHERE id = ?", (id,)).get
        if found is not None and named:
            keys, before = (
                ensure_name_keys(connection, found[1], {one.name for one in named}),
                connection.total_changes(),
            )
            connection.executemany(_INSERT_MENTION, _build_mention_rows(keys, [(found[0], named)]))
            if connection.total_changes() > before:
                connection.execute("UPDATE facts SET version = ? WHERE key = ?", (version, found[0]))


def ensure_name_keys(connection: apsw.Connection, scope: int, names: Iterable[str]) -> dict[str, int]:
    """The keys of names, new ones made as needed."""
    wanted = set(names)
    found = {name: key for name, (key, _) in _fetch_names(connection, scope, wanted).items()}
    return found | _insert_names(connection, scope, wanted - found.keys())


def _insert_names(connection: apsw.Connection, scope: int, names: Collection[str]) -> dict[str, int]:
    """The keys of names that are stored now."""
    if not names:
        return {}
    connection.executemany("INSERT INTO names(scope, name) VALUES (?, ?)", [(scope, name) for name in names])
    return {name: key for name, (key, _) in _fetch_names(connection, scope, names).items()}


def _fetch_names(connection: apsw.Connection, scope: int, names: Collection[str]) -> dict[str, tuple[int, int]]:
    """Those of these names that are stored, with their keys, and how many facts are about each."""
    if not names:
        return {}
    found: Any = connection.execute(_SELECT_NAMES, (apsw.carray(tuple(names)), scope))
    return {name: (key, about) for name, key, about in found}


_SELECT_NAMES = """
SELECT n.name, n.key, n.about FROM carray(?) c CROSS JOIN names n ON n.scope = ? AND n.name = c.value
"""


def fetch_fact_keys(connection: apsw.Connection, ids: Collection[str]) -> dict[str, int]:
    """The keys of facts by id; those that are not there have none."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    found: Any = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return dict(found)


def _build_mention_rows(
    keys: Mapping[str, int], mentions: Iterable[tuple[int, tuple[NameMention, ...]]]
) -> list[NameRow]:
    return [
        (
            fact,
            keys[one.name],
            one.confidence,
            sum(1 << at for at in {min(at, MAX_SENTENCE_BIT) for at in one.sentences}),
        )
        for fact, named in mentions
        for one in named
    ]


def _build_subject_rows(
    keys: Mapping[str, int], written: Sequence[tuple[int, FactWrite]]
) -> list[tuple[int, int, float]]:
    return [(fact, keys[one.name], one.strength) for fact, new in written for one in new.subjects]


_INSERT_SUBJECT = "INSERT OR IGNORE INTO subjects(fact, name, strength) VALUES (?, ?, ?)"
_INSERT_MENTION = "INSERT OR IGNORE INTO mentions(fact, name, confidence, sentences) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class DescriptionState:
    """A fact as it was described until now: its key, its scope and its words, the key and the text of its last description, None
    without one, and the words that this leads by."""

    key: int
    scope: int
    terms: bytes
    last: int | None
    text: str | None
    held: PackedTerms


@dataclass(frozen=True, slots=True)
class DescriptionRows:
    """What is written of descriptions, table by table."""

    leading: list[tuple[Any, ...]] = field(default_factory=list)
    replaced: list[tuple[Any, ...]] = field(default_factory=list)
    new: list[tuple[Any, ...]] = field(default_factory=list)
    cites: list[tuple[int, int, str]] = field(default_factory=list)

    def write(self, connection: apsw.Connection) -> None:
        """Each table in the order in which the file keeps it, so that its pages are filled one after the other."""
        with disable_foreign_keys(connection) if len(self.cites) >= BULK_THRESHOLD else nullcontext():
            for sql, rows in ((_UPDATE_DESCRIPTION_TERMS, self.leading), (_END_DESCRIPTION, self.replaced)):
                if rows:
                    connection.executemany(sql, rows)
            write_rows(connection, _INSERT_DESCRIPTIONS, self.new)
            write_rows(connection, _INSERT_CITATIONS, self._cited())

    def _cited(self) -> Iterable[tuple[int, int, str]]:
        """Of very many the numbers are sorted, which is many times as fast as rows."""
        if len(self.cites) < BULK_THRESHOLD:
            return sorted(self.cites)
        fact, cited = (np.fromiter(map(itemgetter(end), self.cites), np.int64, len(self.cites)) for end in (0, 1))
        return map(self.cites.__getitem__, sort_order(fact, cited).tolist())


def write_descriptions(
    connection: apsw.Connection,
    descriptions: Sequence[FactDescription],
    known: Mapping[str, DescriptionState],
    there: Mapping[str, tuple[int, int]],
    *,
    version: int,
    now: datetime,
) -> dict[int, PackedTerms]:
    """A new description holds from now on; the one before is kept as history. Its words lead to the fact, more weakly. `known` are those
    that are described, and `there` are the keys, and scopes, of those that are cited. Returns the words by fact where they are others
    than before."""
    if not known:
        return {}
    told = [
        (one, known[one.fact])
        for made in descriptions
        if made.fact in known and (one := refresh_description(made, known[made.fact].text or "", there)) is not None
    ]
    rows, moment, hints = DescriptionRows(), to_microseconds(now), dict[int, PackedTerms]()
    before, counts = [so_far.held for _, so_far in told], [one.counts for one, _ in told]
    after = add_description_terms_to_all(before, counts, [so_far.terms for _, so_far in told])
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


def read_description_states(connection: apsw.Connection, ids: Collection[str]) -> dict[str, DescriptionState]:
    """How facts are described until now; those that are not there are left out."""
    if not ids:
        return {}
    found: Any = connection.execute(_SELECT_DESCRIPTION_STATES, (apsw.carray(tuple(sorted(ids))),))
    return {
        id: DescriptionState(key, scope, terms, last, text, NO_TERMS if last is None else PackedTerms(*held))
        for id, key, scope, terms, last, text, *held in found
    }


_SELECT_DESCRIPTION_STATES = """
SELECT f.id, f.key, f.scope, f.terms, d.key, d.text, d.terms, d.counts
FROM carray(?) c CROSS JOIN facts f ON f.id = c.value
LEFT JOIN descriptions d ON d.key = (SELECT max(key) FROM descriptions WHERE fact = f.key)
"""
_END_DESCRIPTION = "UPDATE descriptions SET ended = ?, terms = x'', counts = x'' WHERE key = ?"
_UPDATE_DESCRIPTION_TERMS = "UPDATE descriptions SET terms = ?, counts = ?, version = ? WHERE key = ?"
_INSERT_CITATIONS = "INSERT OR IGNORE INTO citations(fact, cited, gist) VALUES {}"
_INSERT_DESCRIPTIONS = "INSERT INTO descriptions(text, made, fact, terms, counts, version) VALUES {}"


def mark_dreamed(connection: apsw.Connection, ids: Iterable[str]) -> None:
    connection.execute(_CLEAR_INBOX, (apsw.carray(tuple(ids)),))


_CLEAR_INBOX = """
UPDATE facts SET inbox = 0 WHERE key IN (SELECT f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value)
"""


def write_importance(connection: apsw.Connection, rated: Sequence[FactImportance]) -> None:
    """Replace what was known of the scopes that these facts are of."""
    if not rated:
        return
    connection.execute(
        "DELETE FROM fact_importance WHERE fact IN (SELECT key FROM facts WHERE scope IN "
        "(SELECT scope FROM facts WHERE id IN (SELECT value FROM carray(?))))",
        (apsw.carray(tuple(one.fact for one in rated)),),
    )
    keys = fetch_fact_keys(connection, [one.fact for one in rated])
    known = ((keys[one.fact], one.pagerank, one.community) for one in rated if one.fact in keys)
    write_rows(connection, "INSERT INTO fact_importance(fact, pagerank, community) VALUES {}", known)


def advance_clock(connection: apsw.Connection, now: datetime, idle_minutes: float) -> float:
    """The memory is used now: the clock of active hours runs on, or starts again after a pause. Returns the hours so far."""
    idle = timedelta(minutes=idle_minutes) // timedelta(microseconds=1)
    hours = connection.execute(_EXTEND_SPAN, (to_microseconds(now), to_microseconds(now) - idle)).get
    if hours is None:
        hours = connection.execute(_INSERT_SPAN, (to_microseconds(now),)).get
    return float(hours)


# A use within the pause belongs to the last span, as `extended` says; usually that is all there is to do.
_EXTEND_SPAN = """
UPDATE active_spans SET ended = max(ended, ?1)
WHERE key = (SELECT key FROM active_spans ORDER BY ended DESC LIMIT 1) AND ended >= ?2
RETURNING hours_before + (ended - begun) / 3600000000.0
"""
_INSERT_SPAN = """
INSERT INTO active_spans(begun, ended, hours_before) SELECT ?1, ?1, coalesce(
  (SELECT hours_before + (ended - begun) / 3600000000.0 FROM active_spans ORDER BY ended DESC LIMIT 1), 0.0)
RETURNING hours_before
"""
