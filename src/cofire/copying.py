"""Copy a memory to another store, compare two stores, and restore a backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from cofire.errors import InvalidInput, StoreNotOpened
from cofire.runtime.session import make_sqlite_options, open_store
from cofire.settings.sources import load_settings
from cofire.stores.neo4j.connection import parse_address
from cofire.stores.sqlite import backups
from cofire.stores.store_location import is_server_url, strip_credentials
from cofire.stores.transfer_format import TransferableStore
from cofire.verbs import transfer
from cofire.verbs.transfer import CopyResult, ProgressCallback


def copy(source: str, target: str, *, advance: ProgressCallback) -> CopyResult:
    """Copy all of a memory to another place, or go on with it, and compare the two."""
    _refuse_same(source, target)
    with _open_transferable(source) as ours, _open_transferable(target, new=True) as theirs:
        return transfer.copy(ours, theirs, now=datetime.now(UTC), advance=advance)


def compare(source: str, target: str, *, advance: ProgressCallback) -> CopyResult:
    """Compare a memory with its copy, and write nothing."""
    _refuse_same(source, target)
    with _open_transferable(source) as ours, _open_transferable(target) as theirs:
        tally = transfer.compare(ours, theirs, advance=advance)
    return CopyResult(copied=0, there=tally.rows["facts"], tally=tally)


def describe_location(given: str) -> str:
    """Where a store is, for people to read: without a password."""
    return parse_address(given, None).place if is_server_url(given) else given


@contextmanager
def _open_transferable(given: str, *, new: bool = False) -> Iterator[TransferableStore]:
    """A store that lends itself to be carried; a file is made only where a new one may be."""
    if not new and "://" not in given and not Path(given).is_file():
        raise StoreNotOpened(f"There is no store {given}.", way_out="Give the path of a store, or the URL of a server.")
    store = open_store(given, load_settings(record=None, call={}))
    try:
        yield cast(TransferableStore, store)
    finally:
        store.close()


def _refuse_same(source: str, target: str) -> None:
    if describe_location(source) == describe_location(target) or _is_same_file(source, target):
        raise InvalidInput("Source and target are the same store.", way_out="Name another store to copy to.")


def _is_same_file(source: str, target: str) -> bool:
    here, there = Path(source), Path(target)
    return here.exists() and there.exists() and here.samefile(there)


def restore(backup: str, store: str, *, force: bool = False) -> str | None:
    """Put a backup in the place of a store. With `force` also over facts; then the path of a copy of them is returned."""
    if is_server_url(store):
        raise StoreNotOpened(
            f"A server keeps its own backups; nothing was restored to {strip_credentials(store)}.",
            way_out="Load a dump on the server, or restore to a new file, then: cofire copy FILE neo4j://…",
        )
    return backups.restore(backup, store, make_sqlite_options(load_settings(record=None, call={})), force=force)
