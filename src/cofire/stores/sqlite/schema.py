"""Schema: the steps that bring a file up to date, from an empty one to the latest, and who may open it."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import apsw

from cofire.errors import StoreCorrupt, StoreReadOnly, StoreTooNew
from cofire.installation import upgrade_command
from cofire.stores.sqlite import hinting, metadata_values, rewording, tables

APPLICATION_ID = 0x0C0F14E0

Migration = Callable[[apsw.Connection], None]
MIGRATIONS: list[Migration] = []


def migration(step: Migration) -> Migration:
    """Mark a function as the next step; its place in the file is its version."""
    MIGRATIONS.append(step)
    return step


@migration
def _first_tables(connection: apsw.Connection) -> None:
    connection.execute(tables.FACTS + tables.SEARCH + tables.GRAPH + tables.LIFE)
    connection.execute("INSERT INTO state(only, epoch, version) VALUES (1, ?, 0)", (secrets.token_hex(8),))


@migration
def _sentences_of_words(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE facts ADD COLUMN places BLOB NOT NULL DEFAULT x''")


@migration
def _fading_and_review(connection: apsw.Connection) -> None:
    """An anchor holds as long as the edge was not strengthened since it was taken, at `anchored`."""
    connection.execute(tables.CURATION)


@migration
def _citations_and_history(connection: apsw.Connection) -> None:
    """Who gave which words to a description, what a fact said before, and up to which fact words were counted."""
    connection.execute(tables.REVISING)
    connection.execute("UPDATE word_statistics SET counted_to = (SELECT coalesce(max(key), 0) FROM facts)")


@migration
def _what_use_teaches(connection: apsw.Connection) -> None:
    connection.execute(tables.LEARNING)


@migration
def _judged_recalls(connection: apsw.Connection) -> None:
    connection.execute(tables.OCCASIONS)


@migration
def _words_of_descriptions(connection: apsw.Connection) -> None:
    """They were kept among those of the fact, in snapshots too."""
    connection.execute(tables.DESCRIBED)
    hinting.move(connection)


@migration
def _elisions_and_second_spellings(connection: apsw.Connection) -> None:
    """Words behind an elision (l'école) and words with a second spelling (Müller, Mueller) were not found."""
    rewording.reword_file(connection)


@migration
def _filters_by_metadata(connection: apsw.Connection) -> None:
    connection.execute(tables.METADATA)
    metadata_values.fill(connection)


def version_of(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def check_owner(connection: apsw.Connection, path: str) -> None:
    """Refuse a file that another program or a newer cofire made."""
    owner = connection.pragma("application_id")
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if owner != APPLICATION_ID and not (owner == 0 and empty):
        raise StoreCorrupt(f"{path} is a database, but not a cofire store.", way_out="Give the path of a cofire store.")
    if version_of(connection) > len(MIGRATIONS):
        raise StoreTooNew(
            f"{path} was written by a newer cofire (schema {version_of(connection)}, this one knows {len(MIGRATIONS)}).",
            way_out=f"Upgrade with: {upgrade_command()}",
        )


def check_age(connection: apsw.Connection, path: str) -> None:
    """Refuse a file that an older cofire made, where it cannot be brought up to date."""
    if version_of(connection) < len(MIGRATIONS):
        raise StoreReadOnly(
            f"{path} was written by an older cofire, and may not be written to bring it up to date.",
            way_out="Give write permission on the file and its folder once, or open a copy of it.",
        )


def migrate(connection: apsw.Connection) -> None:
    """Take all steps that are missing, in one transaction."""
    if version_of(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[version_of(connection) :]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
