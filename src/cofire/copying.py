"""Copying a memory from one place to another, for programs and doors: a file or a server, either way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from cofire.carrying import Portable
from cofire.configuration import gather
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.opening import open_store
from cofire.places import is_served
from cofire.stores.neo4j.connecting import address
from cofire.verbs import copying
from cofire.verbs.copying import Advance, Copied


def copy(source: str, target: str, *, advance: Advance) -> Copied:
    """Copy all of a memory to another place, or go on with it, and compare the two."""
    _refuse_same(source, target)
    with _opened(source) as ours, _opened(target, new=True) as theirs:
        return copying.copy(ours, theirs, now=datetime.now(UTC), advance=advance)


def compare(source: str, target: str, *, advance: Advance) -> Copied:
    """Compare a memory with its copy, and write nothing."""
    _refuse_same(source, target)
    with _opened(source) as ours, _opened(target) as theirs:
        tally = copying.compare(ours, theirs, advance=advance)
    return Copied(copied=0, there=tally.rows["facts"], tally=tally)


def place(given: str) -> str:
    """Where a store is, for people to read: without a password."""
    return address(given, None).place if is_served(given) else given


@contextmanager
def _opened(given: str, *, new: bool = False) -> Iterator[Portable]:
    """A store that lends itself to be carried; a file is made only where a new one may be."""
    if not new and "://" not in given and not Path(given).is_file():
        raise StoreNotOpened(f"There is no store {given}.", way_out="Give the path of a store, or the URL of a server.")
    store = open_store(given, gather(record=None, call={}))
    try:
        yield cast(Portable, store)
    finally:
        store.close()


def _refuse_same(source: str, target: str) -> None:
    if place(source) == place(target) or _is_same_file(source, target):
        raise InvalidInput("Source and target are the same store.", way_out="Name another store to copy to.")


def _is_same_file(source: str, target: str) -> bool:
    here, there = Path(source), Path(target)
    return here.exists() and there.exists() and here.samefile(there)
