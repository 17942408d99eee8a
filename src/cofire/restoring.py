"""Restoring a store from a backup, for programs and doors."""

from __future__ import annotations

from cofire.configuration import gather
from cofire.errors import StoreNotOpened
from cofire.opening import store_options
from cofire.places import is_served, without_password
from cofire.stores.sqlite import restoring


def restore(backup: str, store: str, *, force: bool = False) -> str | None:
    """Put a backup in the place of a store. With `force` also over facts; then the path of a copy of them is returned."""
    if is_served(store):
        raise StoreNotOpened(
            f"A server keeps its own backups; nothing was restored to {without_password(store)}.",
            way_out="Load a dump on the server, or restore to a new file, then: cofire copy FILE neo4j://…",
        )
    return restoring.restore(backup, store, store_options(gather(record=None, call={})), force=force)
