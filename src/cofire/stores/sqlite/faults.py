"""Faults: what SQLite complains about, in cofire's words and with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from cofire.errors import (
    CofireError,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreNotOpened,
    StoreReadOnly,
)

_FAULTS: tuple[tuple[type[apsw.Error], type[CofireError], str, str], ...] = (
    (apsw.BusyError, StoreBusy, "is locked by another process", "Try again, or raise the setting store.busy_seconds."),
    (
        apsw.LockedError,
        StoreBusy,
        "is locked by another process",
        "Try again, or raise the setting store.busy_seconds.",
    ),
    (
        apsw.FullError,
        StoreFull,
        "cannot grow: the disk is full",
        "Free some space; nothing of this write was kept, nothing else was lost.",
    ),
    (
        apsw.ReadOnlyError,
        StoreReadOnly,
        "may be read but not written",
        "Give write permission on the file and its folder, or use another store.",
    ),
    (
        apsw.PermissionsError,
        StoreReadOnly,
        "may not be written",
        "Give write permission on the file and its folder, or use another store.",
    ),
    (
        apsw.CantOpenError,
        StoreNotOpened,
        "cannot be opened",
        "Check that the folder exists and may be read and written.",
    ),
    (apsw.AuthError, StoreNotOpened, "cannot be opened", "Check the permissions of the file."),
    (
        apsw.NotADBError,
        StoreCorrupt,
        "is not a cofire store",
        "Give the path of a cofire store, or of a file that does not exist yet.",
    ),
    (apsw.CorruptError, StoreCorrupt, "is damaged", "Restore a backup with: cofire restore FILE"),
    (apsw.IOError, StoreError, "cannot be read or written", "Check the disk, then run: cofire doctor"),
    (apsw.ConnectionClosedError, StoreClosed, "was closed", "Open the memory again."),
    (apsw.Error, StoreError, "refused", "Run: cofire doctor"),
)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn what apsw raises into a StoreError that names the file."""
    try:
        yield
    except apsw.Error as error:
        raise in_our_words(error, path) from error


def in_our_words(error: apsw.Error, path: str) -> CofireError:
    """What apsw complains about, as an error of the store at a path."""
    ours, what, way_out = next((ours, what, way) for theirs, ours, what, way in _FAULTS if isinstance(error, theirs))
    return ours(f"The store {path} {what} ({error}).", way_out=way_out)
