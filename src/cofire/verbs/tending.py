"""Tending: copying a live store and looking for damage."""

from __future__ import annotations

from os import PathLike

from cofire.asks import Asking, Backup, Check
from cofire.errors import InvalidInput, StoreNotOpened, map_exceptions
from cofire.verbs import accepting


def backup(path: str | PathLike[str]) -> Asking[None]:
    """Copy the live store to a new file."""
    target = accepting.path(path)
    with map_exceptions(
        {ValueError: InvalidInput, OSError: StoreNotOpened},
        problem=f"No backup can be made at {target!r}: {{error}}.",
        way_out="Give the path of a new file, in a folder that may be written.",
    ):
        yield Backup(target)


def check() -> Asking[list[str]]:
    """What is wrong with the store, in words; empty when all is well."""
    problems: list[str] = yield Check()
    return problems
