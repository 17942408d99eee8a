"""Copy a live database to a file, and replace a store by a backup."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import rmtree
from urllib.parse import quote

import apsw

from cofire.errors import StoreCorrupt, StoreError, StoreNotOpened
from cofire.stores.sqlite import schema
from cofire.stores.sqlite.connections import ConnectionPair, SqliteOptions, open_connections, translate_errors
from cofire.stores.sqlite.fact_writes import start_new_epoch

ALL_PAGES = -1


def copy_database(connection: apsw.Connection, path: str) -> None:
    """Copy a live database to a new file; one that cannot be finished is taken away again."""
    target = apsw.Connection(path)
    try:
        # All at once: it would begin anew with each page that another process writes meanwhile.
        with target.backup("main", connection, "main") as backup:
            backup.step(ALL_PAGES)
    except BaseException:
        target.close()
        Path(path).unlink(missing_ok=True)
        raise
    target.close()


def restore(backup: str, path: str, options: SqliteOptions, *, force: bool) -> str | None:
    """Put a backup in the place of a store. Returns where the former content was kept, if there was any."""
    with closing(_open_checked_backup(backup)) as checked:
        moved, lines = _open_target(path, options, force)
        with (
            closing(lines),
            translate_errors(path),
            (line := lines.for_writing()).lock,
            _prepare_backup(checked, path) as source,
        ):
            return _replace_content(source, line.connection, lines.reader.connection, path, force=force) or moved


def _open_target(path: str, options: SqliteOptions, force: bool) -> tuple[str | None, ConnectionPair]:
    """The store to be replaced. One that is damaged is moved aside when that is wanted; returns where to."""
    try:
        return None, open_connections(path, options)
    except StoreCorrupt:
        if not force:
            raise
    kept = _find_free_name(path)
    for end in ("", "-wal", "-shm"):
        if Path(path + end).exists():
            Path(path + end).rename(kept + end)
    return kept, open_connections(path, options)


def _open_checked_backup(backup: str) -> apsw.Connection:
    """A backup that is whole and was made by cofire."""
    if not Path(backup).is_file():
        raise StoreNotOpened(
            f"There is no backup {backup}.", way_out="Give the path of a file made by: cofire backup FILE"
        )
    with translate_errors(backup):
        source = _open_backup(backup)
        try:
            schema.check_owner(source, backup)
            if schema.read_schema_version(source) == 0 or source.execute("PRAGMA integrity_check").get != "ok":
                raise StoreCorrupt(f"The backup {backup} is damaged.", way_out="Use another backup.")
        except BaseException:
            source.close()
            raise
        return source


def _open_backup(backup: str) -> apsw.Connection:
    """A backup for reading. Where nobody writes to it, no file is laid beside it."""
    if Path(backup + "-wal").exists():
        return apsw.Connection(backup, flags=apsw.SQLITE_OPEN_READONLY)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(str(Path(backup).absolute()))}?immutable=1", flags=flags)


@contextmanager
def _prepare_backup(checked: apsw.Connection, path: str) -> Iterator[apsw.Connection]:
    """The backup as the store will be: of this version, and of an epoch of its own, so that it comes all at once. It is made beside
    the store and then taken away."""
    folder = Path(tempfile.mkdtemp(prefix=f"{Path(path).name}.restoring-", dir=Path(path).absolute().parent))
    try:
        copy_database(checked, str(folder / "ready.db"))
        with closing(apsw.Connection(str(folder / "ready.db"))) as ready:
            schema.migrate_schema(ready)
            ready.execute("BEGIN IMMEDIATE")
            start_new_epoch(ready)
            ready.execute("COMMIT")
            yield ready
    finally:
        rmtree(folder, ignore_errors=True)


def _replace_content(
    source: apsw.Connection, target: apsw.Connection, reader: apsw.Connection, path: str, *, force: bool
) -> str | None:
    with target.backup("main", source, "main") as backup:
        # From here on nobody else can write, so that all that was told until now is kept.
        backup.step(0)
        kept = _save_former_content(reader, path, force=force)
        backup.step(ALL_PAGES)
    return kept


def _save_former_content(reader: apsw.Connection, path: str, *, force: bool) -> str | None:
    """Where the content of the store is kept, if it has any."""
    held = reader.execute("SELECT count(*) FROM facts").get
    if held and not force:
        raise StoreError(
            f"The store {path} holds {held:,} {'fact' if held == 1 else 'facts'}.",
            way_out="Add --force to replace it; a copy of it will be kept beside it.",
        )
    if not held:
        return None
    kept = _find_free_name(path)
    copy_database(reader, kept)
    return kept


def _find_free_name(path: str) -> str:
    number = 1
    while Path(f"{path}.before-restore-{number}").exists():
        number += 1
    return f"{path}.before-restore-{number}"
