"""Tending: copying a live store and looking for damage."""

from __future__ import annotations

from cofire.asks import Asking, Backup, Check
from cofire.errors import InvalidInput, StoreNotOpened, map_exceptions


def backup(path: str) -> Asking[None]:
    """Copy the live store to a new file."""
    with map_exceptions(
        {ValueError: InvalidInput, OSError: StoreNotOpened},
        problem=f"No backup can be made at {path!r}: {{error}}.",
        way_out="Give the path of a new file, in a folder that may be written.",
    ):
        yield Backup(path)


def check() -> Asking[list[str]]:
    """What is wrong with the store, in words; empty when all is well."""
    problems: list[str] = yield Check()
    return problems
