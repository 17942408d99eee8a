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
    """Copy a memory to another store, or continue an interrupted copy, then compare the two."""
    _refuse_same(source, target)
    with _open_transferable(source) as source_store, _open_transferable(target, new=True) as target_store:
        return transfer.copy(source_store, target_store, now=datetime.now(UTC), advance=advance)


def compare(source: str, target: str, *, advance: ProgressCallback) -> CopyResult:
    """Compare a memory with its copy. Nothing is written."""
    _refuse_same(source, target)
    with _open_transferable(source) as source_store, _open_transferable(target) as target_store:
        summary = transfer.compare(source_store, target_store, advance=advance)
    return CopyResult(copied=0, there=summary.rows["facts"], tally=summary)


def describe_location(location: str) -> str:
    """The path or URL of a store for display, without credentials."""
    return parse_address(location, None).place if is_server_url(location) else location


@contextmanager
def _open_transferable(location: str, *, new: bool = False) -> Iterator[TransferableStore]:
    """Open a store, and close it at the end of the block. A missing file is created only with `new`."""
    if not new and "://" not in location and not Path(location).is_file():
        raise StoreNotOpened(
            f"There is no store {location}.", way_out="Give the path of a store, or the URL of a server."
        )
    store = open_store(location, load_settings(record=None, call={}))
    try:
        yield cast(TransferableStore, store)
    finally:
        store.close()


def _refuse_same(source: str, target: str) -> None:
    if describe_location(source) == describe_location(target) or _is_same_file(source, target):
        raise InvalidInput("Source and target are the same store.", way_out="Name another store to copy to.")


def _is_same_file(source: str, target: str) -> bool:
    source_path = Path(source)
    target_path = Path(target)
    return source_path.exists() and target_path.exists() and source_path.samefile(target_path)


def restore(backup: str, store: str, *, force: bool = False) -> str | None:
    """Replace a store with a backup. A store with facts is replaced only with `force`.

    Returns the path of a copy of the replaced store, if it had facts.
    """
    if is_server_url(store):
        raise StoreNotOpened(
            f"A server keeps its own backups; nothing was restored to {strip_credentials(store)}.",
            way_out="Load a dump on the server, or restore to a new file, then: cofire copy FILE neo4j://…",
        )
    options = make_sqlite_options(load_settings(record=None, call={}))
    return backups.restore(backup, store, options, force=force)
