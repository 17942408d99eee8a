"""Restoring a store from a backup, for programs and doors."""

from __future__ import annotations

from cofire.configuration import gather
from cofire.opening import store_options
from cofire.stores.sqlite import restoring


def restore(backup: str, store: str, *, force: bool = False) -> str | None:
    """Put a backup in the place of a store. With `force` also over facts; then the path of a copy of them is returned."""
    return restoring.restore(backup, store, store_options(gather(record=None, call={})), force=force)
