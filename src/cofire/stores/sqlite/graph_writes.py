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
from cofire.stores.link_rules import infer_mentions, sentence_bits
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
    row = connection.execute(_SELECT_TERMS, (fact,)).get
    return PackedTerms(*row) if row else NO_TERMS


def write_description_terms(connection: apsw.Connection, fact: int, terms: PackedTerms, version: int) -> None:
    """Replace the words of its descriptions. The new version of the fact makes indexes drop words that went."""
    connection.execute(_UPDATE_TERMS, (terms.terms, terms.counts, version, fact))
    connection.execute("UPDATE facts SET version = ? WHERE key = ?", (version, fact))


def read_changed_terms(connection: apsw.Connection, version: int, changed: Sequence[int]) -> dict[int, PackedTerms]:
    """The words of descriptions by fact: of facts described since a version, and of facts that changed otherwise."""
    rows: list[Any] = connection.execute(_SELECT_TERMS_SINCE, (version,)).fetchall()
    if version >= FIRST_VERSION and changed:
        rows += connection.execute(_SELECT_TERMS_OF_CHANGED, (apsw.carray(array("q", changed)), version)).fetchall()
    return {fact: PackedTerms(terms, counts) for fact, terms, counts in rows if terms}


_SELECT_TERMS_SINCE = "SELECT fact, terms, counts FROM descriptions WHERE version > ? AND ended IS NULL"
_SELECT_TERMS_OF_CHANGED = """
SELECT d.fact, d.terms, d.counts FROM carray(?1) c CROSS JOIN descriptions d
ON d.key = (SELECT max(key) FROM descriptions WHERE fact = c.value) WHERE d.version <= ?2
"""


def split_description_terms(
    facts: Sequence[RowValues], descriptions: Sequence[RowValues]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Move the words of descriptions from the rows of facts to the last description of each.

    Other stores and older files keep them with the words of the fact. `descriptions` are in the order in which they were
    made, those of a fact together.
    """
    by_fact = {id: list(rows) for id, rows in groupby(descriptions, key=lambda row: row["fact"])}
    plain_facts = []
    for row in facts:
        of_fact = by_fact.get(row["id"], [])
        if not of_fact or any("terms" in description for description in of_fact):
            plain_facts.append(dict(row))
            continue
        texts = [description["text"] for description in of_fact]
        own, hints = separate_terms(PackedTerms(row["terms"], row["counts"]), texts)
        of_fact[-1] = {**of_fact[-1], "terms": hints.terms, "counts": hints.counts}
        plain_facts.append({**row, "terms": own.terms, "counts": own.counts})
    without_terms = {"terms": b"", "counts": b""}
    return plain_facts, [without_terms | dict(description) for rows in by_fact.values() for description in rows]


def move_description_terms(connection: apsw.Connection) -> None:
    """Move the words of descriptions from the facts to the descriptions, in an older file."""
    rows: Any = connection.execute("SELECT key, terms, counts FROM facts WHERE key IN (SELECT fact FROM descriptions)")
    for fact, terms, counts in rows.fetchall():
        texts: Any = connection.execute("SELECT text FROM descriptions WHERE fact = ?", (fact,))
        own, hints = separate_terms(PackedTerms(terms, counts), [text for (text,) in texts])
        connection.execute("UPDATE facts SET terms = ?, counts = ? WHERE key = ?", (own.terms, own.counts, fact))
        connection.execute(_UPDATE_TERMS, (hints.terms, hints.counts, FIRST_VERSION, fact))


def separate_terms(terms: PackedTerms, texts: Sequence[str]) -> tuple[PackedTerms, PackedTerms]:
    """The own terms of a fact, and those of its descriptions."""
    own, hints = set_description_counts(terms, dict.fromkeys(max_term_counts(texts), 0))
    return own, add_description_terms(NO_TERMS, hints)


def join_description_terms(facts: Sequence[RowValues], descriptions: Sequence[RowValues]) -> list[dict[str, Any]]:
    """Rows of facts with the words of their descriptions, as other stores keep them."""
    by_fact = {row["fact"]: row for row in descriptions if row["terms"]}
    joined = []
    for fact in facts:
        row = dict(fact)
        description = by_fact.get(fact["id"])
        if description is not None:
            row["terms"] += description["terms"]
            row["counts"] += description["counts"]
        joined.append(row)
    return joined


# Rows of mentions, and of subjects with their strength.
WrittenNames = tuple[list[NameRow], list[tuple[int, int, float]]]


def write_names(connection: apsw.Connection, scope: int, written: Sequence[tuple[int, FactWrite]]) -> WrittenNames:
    """Write what new facts, paired with their keys, mention and are about. Returns the rows."""
    about = {subject.name for _, new in written for subject in new.subjects}
    wanted = {mention.name for _, new in written for mention in new.mentions} | about
    perhaps: set[str] = set()
    if about or connection.execute("SELECT EXISTS (SELECT 1 FROM subjects)").get:
        perhaps.update(*(new.perhaps for _, new in written))
    stored = _fetch_names(connection, scope, wanted | perhaps)
    keys = {name: stored[name][0] for name in wanted & stored.keys()}
    keys |= _insert_names(connection, scope, wanted - keys.keys())
    # Names that stored facts are about, or that these are about.
    known = {name: stored[name][0] for name in perhaps & stored.keys() if stored[name][1]}
    known |= {name: keys[name] for name in perhaps & about}
    mentions = _build_mention_rows(keys, ((key, new.mentions) for key, new in written))
    if known:
        mentions += _build_mention_rows(known, ((key, infer_mentions(new, known)) for key, new in written))
    subjects = [(key, keys[subject.name], subject.strength) for key, new in written for subject in new.subjects]
    for sql, rows in ((_INSERT_MENTION, mentions), (_INSERT_SUBJECT, subjects)):
        if rows:
            connection.executemany(sql, rows)
    return mentions, subjects


def add_mentions(connection: apsw.Connection, mentions: Mapping[str, tuple[NameMention, ...]], version: int) -> None:
    """Write names that were found later in stored facts. A new mention changes the fact."""
    for id, names in mentions.items():
        row: Any = connection.execute("SELECT key, scope FROM facts WHERE id = ?", (id,)).get
        if row is None or not names:
            continue
        fact, scope = row
        keys = ensure_name_keys(connection, scope, {mention.name for mention in names})
        before = connection.total_changes()
        connection.executemany(_INSERT_MENTION, _build_mention_rows(keys, [(fact, names)]))
        if connection.total_changes() > before:
            connection.execute("UPDATE facts SET version = ? WHERE key = ?", (version, fact))


def ensure_name_keys(connection: apsw.Connection, scope: int, names: Iterable[str]) -> dict[str, int]:
    """The keys of names, new ones made as needed."""
    wanted = set(names)
    stored = {name: key for name, (key, _) in _fetch_names(connection, scope, wanted).items()}
    return stored | _insert_names(connection, scope, wanted - stored.keys())


def _insert_names(connection: apsw.Connection, scope: int, names: Collection[str]) -> dict[str, int]:
    """Insert names, and return their keys."""
    if not names:
        return {}
    connection.executemany("INSERT INTO names(scope, name) VALUES (?, ?)", [(scope, name) for name in names])
    return {name: key for name, (key, _) in _fetch_names(connection, scope, names).items()}


def _fetch_names(connection: apsw.Connection, scope: int, names: Collection[str]) -> dict[str, tuple[int, int]]:
    """The keys of those names that are stored, and how many facts are about each."""
    if not names:
        return {}
    rows: Any = connection.execute(_SELECT_NAMES, (apsw.carray(tuple(names)), scope))
    return {name: (key, about) for name, key, about in rows}


_SELECT_NAMES = """
SELECT n.name, n.key, n.about FROM carray(?) c CROSS JOIN names n ON n.scope = ? AND n.name = c.value
"""


def fetch_fact_keys(connection: apsw.Connection, ids: Collection[str]) -> dict[str, int]:
    """The keys of facts by id; unknown ids are left out."""
    if not ids:
        return {}
    sql = "SELECT f.id, f.key FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    rows: Any = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return dict(rows)


def _build_mention_rows(
    keys: Mapping[str, int], mentions: Iterable[tuple[int, tuple[NameMention, ...]]]
) -> list[NameRow]:
    return [
        (fact, keys[mention.name], mention.confidence, sentence_bits(mention.sentences))
        for fact, names in mentions
        for mention in names
    ]


_INSERT_SUBJECT = "INSERT OR IGNORE INTO subjects(fact, name, strength) VALUES (?, ?, ?)"
_INSERT_MENTION = "INSERT OR IGNORE INTO mentions(fact, name, confidence, sentences) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class DescriptionState:
    """A fact as it is described before a change.

    key, scope, terms   of the fact
    last, text          key and text of its last description, None without one
    description_terms   the terms of its descriptions
    """

    key: int
    scope: int
    terms: bytes
    last: int | None
    text: str | None
    description_terms: PackedTerms


@dataclass(frozen=True, slots=True)
class DescriptionRows:
    """The rows that a change writes, by table."""

    updated_terms: list[tuple[Any, ...]] = field(default_factory=list)
    ended: list[tuple[Any, ...]] = field(default_factory=list)
    new: list[tuple[Any, ...]] = field(default_factory=list)
    citations: list[tuple[int, int, str]] = field(default_factory=list)

    def write(self, connection: apsw.Connection) -> None:
        """Write each table in the order of its key, so that its pages are filled one after the other."""
        is_bulk = len(self.citations) >= BULK_THRESHOLD
        with disable_foreign_keys(connection) if is_bulk else nullcontext():
            for sql, rows in ((_UPDATE_DESCRIPTION_TERMS, self.updated_terms), (_END_DESCRIPTION, self.ended)):
                if rows:
                    connection.executemany(sql, rows)
            write_rows(connection, _INSERT_DESCRIPTIONS, self.new)
            write_rows(connection, _INSERT_CITATIONS, self._sort_citations())

    def _sort_citations(self) -> Iterable[tuple[int, int, str]]:
        """Arrays of keys are sorted many times as fast as rows."""
        if len(self.citations) < BULK_THRESHOLD:
            return sorted(self.citations)
        fact, cited = (np.fromiter(map(itemgetter(end), self.citations), np.int64) for end in (0, 1))
        return map(self.citations.__getitem__, sort_order(fact, cited).tolist())


def write_descriptions(
    connection: apsw.Connection,
    descriptions: Sequence[FactDescription],
    states: Mapping[str, DescriptionState],
    facts: Mapping[str, tuple[int, int]],
    *,
    version: int,
    now: datetime,
) -> dict[int, PackedTerms]:
    """Write new descriptions, and keep earlier ones as history. The words of a description lead to the fact, more weakly.

    `states` are the described facts, `facts` the keys and scopes of the cited ones. Returns the terms that changed, by fact.
    """
    if not states:
        return {}
    refreshed: list[tuple[FactDescription, DescriptionState]] = []
    for new in descriptions:
        state = states.get(new.fact)
        description = refresh_description(new, state.text or "", facts) if state else None
        if state is not None and description is not None:
            refreshed.append((description, state))
    terms_after = add_description_terms_to_all(
        [state.description_terms for _, state in refreshed],
        [description.counts for description, _ in refreshed],
        [state.terms for _, state in refreshed],
    )
    rows, moment = DescriptionRows(), to_microseconds(now)
    changed_terms: dict[int, PackedTerms] = {}
    for (description, state), terms in zip(refreshed, terms_after, strict=True):
        is_new_text = state.text != description.text
        is_changed = terms != state.description_terms
        if is_new_text:
            if state.last is not None:
                rows.ended.append((moment, state.last))
            rows.new.append((description.text, moment, state.key, terms.terms, terms.counts, version))
        elif is_changed:
            rows.updated_terms.append((terms.terms, terms.counts, version, state.last))
        if terms.terms and (is_new_text or is_changed):
            changed_terms[state.key] = terms
        rows.citations.extend(
            (state.key, facts[id][0], phrase) for id, phrase in description.cites.items() if id != description.fact
        )
    rows.write(connection)
    return changed_terms


def read_description_states(connection: apsw.Connection, ids: Collection[str]) -> dict[str, DescriptionState]:
    """How facts are described; unknown ids are left out."""
    if not ids:
        return {}
    rows: Any = connection.execute(_SELECT_DESCRIPTION_STATES, (apsw.carray(tuple(sorted(ids))),))
    return {
        id: DescriptionState(key, scope, terms, last, text, NO_TERMS if last is None else PackedTerms(*packed))
        for id, key, scope, terms, last, text, *packed in rows
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
    """Replace the importance of all facts in the scopes of these facts."""
    if not rated:
        return
    connection.execute(
        "DELETE FROM fact_importance WHERE fact IN (SELECT key FROM facts WHERE scope IN "
        "(SELECT scope FROM facts WHERE id IN (SELECT value FROM carray(?))))",
        (apsw.carray(tuple(importance.fact for importance in rated)),),
    )
    keys = fetch_fact_keys(connection, [importance.fact for importance in rated])
    rows = [(keys[row.fact], row.pagerank, row.community) for row in rated if row.fact in keys]
    write_rows(connection, "INSERT INTO fact_importance(fact, pagerank, community) VALUES {}", rows)


def advance_clock(connection: apsw.Connection, now: datetime, idle_minutes: float) -> float:
    """Advance the clock of active hours; after a pause a new span begins. Returns the hours so far."""
    idle = timedelta(minutes=idle_minutes) // timedelta(microseconds=1)
    hours = connection.execute(_EXTEND_SPAN, (to_microseconds(now), to_microseconds(now) - idle)).get
    if hours is None:
        hours = connection.execute(_INSERT_SPAN, (to_microseconds(now),)).get
    return float(hours)


# A use within the pause extends the last span, as in `decay.extend_usage_period`; usually that is all there is to do.
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
