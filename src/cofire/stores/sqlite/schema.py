"""The SQL of all tables, the migrations in order, and the version checks."""

from __future__ import annotations

import secrets
from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import apsw
import numpy as np

from cofire.errors import StoreCorrupt, StoreReadOnly, StoreTooNew, upgrade_command
from cofire.index.terms import PackedTerms, add_description_terms, is_tokenised_differently, retokenise_fact
from cofire.model import Fact
from cofire.stores.sqlite import fact_sql, graph_writes
from cofire.text.descriptions import max_term_counts

FACT_TABLES = """
CREATE TABLE scopes (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  facts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE facts (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  hash BLOB NOT NULL UNIQUE,
  scope INTEGER NOT NULL REFERENCES scopes(key),
  text TEXT NOT NULL,
  subject TEXT,
  category TEXT,
  speaker TEXT,
  session TEXT,
  position INTEGER,
  source TEXT,
  at INTEGER,
  stored_at INTEGER NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  expires INTEGER,
  reinforced INTEGER NOT NULL DEFAULT 0,
  reinforced_at INTEGER,
  active_hours REAL NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0,
  inbox INTEGER NOT NULL DEFAULT 1,
  metadata TEXT,
  terms BLOB NOT NULL,
  counts BLOB NOT NULL,
  length INTEGER NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX facts_by_version ON facts(version);
CREATE INDEX facts_by_scope ON facts(scope, hash);
CREATE INDEX facts_by_session ON facts(scope, session, position) WHERE session IS NOT NULL;
CREATE INDEX facts_waiting ON facts(key) WHERE inbox;
CREATE TABLE tags (
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (fact, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags(tag, fact);
CREATE TABLE vectors (
  fact INTEGER PRIMARY KEY REFERENCES facts(key) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;
CREATE TABLE vectors_incoming (
  fact INTEGER PRIMARY KEY REFERENCES facts(key) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;
"""

SEARCH_TABLES = """
CREATE TABLE state (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  epoch TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE TABLE removed (
  version INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  PRIMARY KEY (version, fact)
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  value BLOB NOT NULL
) STRICT;
CREATE TABLE word_statistics (
  scope INTEGER PRIMARY KEY REFERENCES scopes(key) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  facts INTEGER NOT NULL,
  length INTEGER NOT NULL,
  terms BLOB NOT NULL,
  holding BLOB NOT NULL,
  sample BLOB NOT NULL
) STRICT;
CREATE TABLE snapshots (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  epoch TEXT NOT NULL,
  version INTEGER NOT NULL,
  facts INTEGER NOT NULL,
  parts INTEGER NOT NULL
) STRICT;
CREATE TABLE snapshot_parts (
  part INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
"""

GRAPH_TABLES = """
CREATE TABLE names (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  scope INTEGER NOT NULL REFERENCES scopes(key),
  name TEXT NOT NULL,
  mentioned INTEGER NOT NULL DEFAULT 0,
  about INTEGER NOT NULL DEFAULT 0,
  UNIQUE (scope, name)
) STRICT;
CREATE TABLE mentions (
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  name INTEGER NOT NULL REFERENCES names(key),
  sentences INTEGER NOT NULL,
  confidence REAL NOT NULL,
  PRIMARY KEY (fact, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_name ON mentions(name, fact);
CREATE TABLE subjects (
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  name INTEGER NOT NULL REFERENCES names(key),
  strength REAL NOT NULL,
  PRIMARY KEY (fact, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX subjects_by_name ON subjects(name, fact);
CREATE TRIGGER mention_comes AFTER INSERT ON mentions BEGIN
  UPDATE names SET mentioned = mentioned + 1 WHERE key = NEW.name;
END;
CREATE TRIGGER mention_goes AFTER DELETE ON mentions BEGIN
  UPDATE names SET mentioned = mentioned - 1 WHERE key = OLD.name;
  DELETE FROM names WHERE key = OLD.name AND mentioned = 0 AND about = 0;
END;
CREATE TRIGGER subject_comes AFTER INSERT ON subjects BEGIN
  UPDATE names SET about = about + 1 WHERE key = NEW.name;
END;
CREATE TRIGGER subject_goes AFTER DELETE ON subjects BEGIN
  UPDATE names SET about = about - 1 WHERE key = OLD.name;
  DELETE FROM names WHERE key = OLD.name AND mentioned = 0 AND about = 0;
END;
CREATE TABLE graph_edges (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  source INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  weight REAL,
  confidence REAL,
  tags TEXT,
  origin TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  ended INTEGER,
  observed INTEGER,
  version INTEGER NOT NULL,
  UNIQUE (source, target, kind)
) STRICT;
CREATE INDEX graph_edges_by_target ON graph_edges(target);
CREATE INDEX graph_edges_by_version ON graph_edges(version);
CREATE TABLE association_edges (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  source INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  weight REAL,
  confidence REAL,
  tags TEXT,
  origin TEXT NOT NULL DEFAULT '',
  co_access_count INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,
  ended INTEGER,
  strengthened INTEGER,
  version INTEGER NOT NULL,
  UNIQUE (source, target, kind)
) STRICT;
CREATE INDEX association_edges_by_target ON association_edges(target);
CREATE INDEX association_edges_by_version ON association_edges(version);
"""

ACTIVITY_TABLES = """
CREATE TABLE fact_importance (
  fact INTEGER PRIMARY KEY REFERENCES facts(key) ON DELETE CASCADE,
  pagerank REAL NOT NULL,
  community INTEGER
) STRICT;
CREATE TABLE descriptions (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  text TEXT NOT NULL,
  made INTEGER NOT NULL,
  ended INTEGER
) STRICT;
CREATE INDEX descriptions_by_fact ON descriptions(fact);
CREATE TABLE active_spans (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  begun INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  hours_before REAL NOT NULL
) STRICT;
CREATE TABLE recall_log (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  session TEXT
) STRICT;
CREATE TABLE recall_log_facts (
  recall INTEGER NOT NULL REFERENCES recall_log(key) ON DELETE CASCADE,
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  PRIMARY KEY (recall, fact)
) STRICT, WITHOUT ROWID;
CREATE INDEX recall_log_facts_by_fact ON recall_log_facts(fact);
"""

CURATION_TABLES = """
ALTER TABLE graph_edges ADD COLUMN anchor REAL;
ALTER TABLE graph_edges ADD COLUMN anchored INTEGER;
ALTER TABLE association_edges ADD COLUMN anchor REAL;
ALTER TABLE association_edges ADD COLUMN anchored INTEGER;
CREATE TABLE archived_because (
  fact INTEGER PRIMARY KEY REFERENCES facts(key) ON DELETE CASCADE,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE TABLE superseded (
  old INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  new INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  valid_until INTEGER,
  PRIMARY KEY (old, new)
) STRICT, WITHOUT ROWID;
CREATE INDEX superseded_by_new ON superseded(new);
CREATE TABLE reviews (
  old INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  new INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  why TEXT NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (old, new)
) STRICT, WITHOUT ROWID;
CREATE INDEX reviews_by_new ON reviews(new);
"""

REVISION_TABLES = """
CREATE TABLE citations (
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  cited INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  gist TEXT NOT NULL,
  PRIMARY KEY (fact, cited, gist)
) STRICT, WITHOUT ROWID;
CREATE INDEX citations_by_cited ON citations(cited);
CREATE TABLE fact_history (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  until INTEGER NOT NULL,
  said TEXT NOT NULL
) STRICT;
CREATE INDEX fact_history_by_fact ON fact_history(fact);
ALTER TABLE word_statistics ADD COLUMN counted_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE word_statistics ADD COLUMN sampled INTEGER NOT NULL DEFAULT 256;
"""

LEARNING_TABLES = """
ALTER TABLE recall_log ADD COLUMN ways TEXT;
ALTER TABLE graph_edges ADD COLUMN co_access_count INTEGER NOT NULL DEFAULT 0;
CREATE INDEX fact_importance_by_community ON fact_importance(community);
CREATE TABLE fact_use (
  fact INTEGER PRIMARY KEY REFERENCES facts(key) ON DELETE CASCADE,
  helped INTEGER NOT NULL DEFAULT 0,
  hurt INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE recall_sessions (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT,
  ended INTEGER NOT NULL
) STRICT;
CREATE INDEX recall_sessions_by_name ON recall_sessions(name, key);
CREATE TABLE exposures (
  a INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  b INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  sessions INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (a, b)
) STRICT, WITHOUT ROWID;
CREATE INDEX exposures_by_other ON exposures(b);
CREATE INDEX exposures_that_earn ON exposures(sessions) WHERE sessions >= 3;
"""

DESCRIPTION_TERM_COLUMNS = """
ALTER TABLE descriptions ADD COLUMN terms BLOB NOT NULL DEFAULT x'';
ALTER TABLE descriptions ADD COLUMN counts BLOB NOT NULL DEFAULT x'';
ALTER TABLE descriptions ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX descriptions_by_version ON descriptions(version);
DELETE FROM snapshot_parts;
DELETE FROM snapshots;
"""

# `value` is encoded by metadata_filter.encode: text that compares like the value.
METADATA_TABLE = """
CREATE TABLE metadata_values (
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (fact, key, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_values_by_key ON metadata_values(key, value, fact);
"""

# `verdict` is 1 where the fact helped, -1 where it hurt.
JUDGED_RECALL_TABLES = """
CREATE TABLE occasions (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE occasion_facts (
  occasion INTEGER NOT NULL REFERENCES occasions(key) ON DELETE CASCADE,
  fact INTEGER NOT NULL REFERENCES facts(key) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  verdict INTEGER NOT NULL,
  PRIMARY KEY (occasion, fact)
) STRICT, WITHOUT ROWID;
CREATE INDEX occasion_facts_by_fact ON occasion_facts(fact);
"""


APPLICATION_ID = 0x0C0F14E0

Migration = Callable[[apsw.Connection], None]
MIGRATIONS: list[Migration] = []


def migration(step: Migration) -> Migration:
    """Mark a function as the next step; its place in the file is its version."""
    MIGRATIONS.append(step)
    return step


@migration
def _create_first_tables(connection: apsw.Connection) -> None:
    connection.execute(FACT_TABLES + SEARCH_TABLES + GRAPH_TABLES + ACTIVITY_TABLES)
    connection.execute("INSERT INTO state(only, epoch, version) VALUES (1, ?, 0)", (secrets.token_hex(8),))


@migration
def _add_word_sentences(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE facts ADD COLUMN places BLOB NOT NULL DEFAULT x''")


@migration
def _add_curation_tables(connection: apsw.Connection) -> None:
    """An anchor holds as long as the edge was not strengthened since it was taken, at `anchored`."""
    connection.execute(CURATION_TABLES)


@migration
def _add_revision_tables(connection: apsw.Connection) -> None:
    """Who gave which words to a description, what a fact said before, and up to which fact words were counted."""
    connection.execute(REVISION_TABLES)
    connection.execute("UPDATE word_statistics SET counted_to = (SELECT coalesce(max(key), 0) FROM facts)")


@migration
def _add_learning_tables(connection: apsw.Connection) -> None:
    connection.execute(LEARNING_TABLES)


@migration
def _add_judged_recall_tables(connection: apsw.Connection) -> None:
    connection.execute(JUDGED_RECALL_TABLES)


@migration
def _move_description_terms(connection: apsw.Connection) -> None:
    """They were kept among those of the fact, in snapshots too."""
    connection.execute(DESCRIPTION_TERM_COLUMNS)
    graph_writes.move_description_terms(connection)


@migration
def _retokenise_stored_text(connection: apsw.Connection) -> None:
    """Words behind an elision (l'école) and words with a second spelling (Müller, Mueller) were not found."""
    retokenise_file(connection)


@migration
def _add_metadata_table(connection: apsw.Connection) -> None:
    connection.execute(METADATA_TABLE)
    fact_sql.fill_metadata_table(connection)


def read_schema_version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def check_owner(connection: apsw.Connection, path: str) -> None:
    """Refuse a file that another program or a newer cofire made."""
    owner = connection.pragma("application_id")
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if owner != APPLICATION_ID and not (owner == 0 and empty):
        raise StoreCorrupt(f"{path} is a database, but not a cofire store.", way_out="Give the path of a cofire store.")
    if read_schema_version(connection) > len(MIGRATIONS):
        raise StoreTooNew(
            f"{path} was written by a newer cofire (schema {read_schema_version(connection)}, this one knows {len(MIGRATIONS)}).",
            way_out=f"Upgrade with: {upgrade_command()}",
        )


def check_current_version(connection: apsw.Connection, path: str) -> None:
    """Refuse a file that an older cofire made, where it cannot be brought up to date."""
    if read_schema_version(connection) < len(MIGRATIONS):
        raise StoreReadOnly(
            f"{path} was written by an older cofire, and may not be written to bring it up to date.",
            way_out="Give write permission on the file and its folder once, or open a copy of it.",
        )


def migrate_schema(connection: apsw.Connection) -> None:
    """Take all steps that are missing, in one transaction."""
    if read_schema_version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[read_schema_version(connection) :]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


_SELECT_FACTS = "SELECT key, id, scope, text, subject, terms, counts, places FROM facts"
_SELECT_TAGS = "SELECT tag FROM tags WHERE fact = ?"
_UPDATE_FACT_TERMS = "UPDATE facts SET terms = ?, counts = ?, length = length + ?, places = ? WHERE key = ?"
_SELECT_STATISTICS = "SELECT scope, counted_to, length, terms, holding FROM word_statistics"
_UPDATE_STATISTICS = (
    "UPDATE word_statistics SET version = version + 1, length = ?, terms = ?, holding = ? WHERE scope = ?"
)
_SELECT_DESCRIPTIONS = "SELECT key, text, terms, counts FROM descriptions WHERE fact = ? ORDER BY key"
_SELECT_DESCRIBED_FACTS = "SELECT DISTINCT fact FROM descriptions"


class _StatisticsGrowth:
    """What the facts of a scope gained: words in all, and facts by new term, of those that were counted."""

    def __init__(self) -> None:
        self.length = 0
        self.holding: dict[int, int] = defaultdict(int)


def retokenise_file(connection: apsw.Connection) -> None:
    """Reword all facts and descriptions. Snapshots of the index are dropped, since they hold the words as they were."""
    counted_to: dict[int, int] = {scope: last for scope, last, *_ in connection.execute(_SELECT_STATISTICS)}
    growth: dict[int, _StatisticsGrowth] = defaultdict(_StatisticsGrowth)
    changed = 0
    for row in connection.cursor().execute(_SELECT_FACTS):
        added, new_terms = _retokenise_fact(connection, row)
        changed += bool(new_terms)
        key, _, scope, *_ = row
        if key <= counted_to.get(scope, 0):
            growth[scope].length += added
            for number in new_terms:
                growth[scope].holding[number] += 1
    _update_statistics(connection, growth)
    changed += _retokenise_descriptions(connection)
    if changed:
        connection.execute("DELETE FROM snapshot_parts; DELETE FROM snapshots")


def _retokenise_fact(connection: apsw.Connection, row: tuple[Any, ...]) -> tuple[int, set[int]]:
    """Store the words of a fact anew; what that adds to its length, and the terms that are new."""
    key, id, _, text, subject, terms, counts, places = row
    tags = [tag for (tag,) in connection.execute(_SELECT_TAGS, (key,))]
    if not is_tokenised_differently(text, subject, *tags):
        return 0, set()
    reworded = retokenise_fact(
        Fact(id=id, text=text, subject=subject).reading, tags, PackedTerms(terms, counts), places
    )
    if reworded is None:
        return 0, set()
    held = reworded.held
    connection.execute(_UPDATE_FACT_TERMS, (held.terms, held.counts, reworded.added, reworded.places, key))
    return reworded.added, set(array("q", held.terms)) - set(array("q", terms))


def _retokenise_descriptions(connection: apsw.Connection) -> int:
    """Store the words of descriptions anew; how many facts have others now."""
    changed = 0
    for (fact,) in connection.execute(_SELECT_DESCRIBED_FACTS).fetchall():
        descriptions: list[Any] = connection.execute(_SELECT_DESCRIPTIONS, (fact,)).fetchall()
        texts = [str(text) for _, text, _, _ in descriptions]
        if not is_tokenised_differently(*texts):
            continue
        key, _, terms, counts = descriptions[-1]
        held = add_description_terms(PackedTerms(terms, counts), max_term_counts(texts))
        if held.terms != terms:
            connection.execute(
                "UPDATE descriptions SET terms = ?, counts = ? WHERE key = ?", (held.terms, held.counts, key)
            )
            changed += 1
    return changed


def _update_statistics(connection: apsw.Connection, growth: Mapping[int, _StatisticsGrowth]) -> None:
    rows: list[Any] = connection.execute(_SELECT_STATISTICS).fetchall()
    for scope, _, length, stored_terms, stored_holding in rows:
        grown = growth.get(scope)
        if grown is None or not grown.holding:
            continue
        holding = dict(zip(array("q", stored_terms), array("i", stored_holding), strict=True))
        for number, facts in grown.holding.items():
            holding[number] = holding.get(number, 0) + facts
        terms = np.array(sorted(holding), np.int64)
        numbers = np.array([holding[number] for number in terms.tolist()], np.int32)
        values = (length + grown.length, terms.tobytes(), numbers.tobytes(), scope)
        connection.execute(_UPDATE_STATISTICS, values)
