"""Tending: copying a live store and looking for damage."""

from __future__ import annotations

from cofire.asks import Asking, Backup, Check


def backup(path: str) -> Asking[None]:
    """Copy the live store to a new file."""
    yield Backup(path)


def check() -> Asking[list[str]]:
    """What is wrong with the store, in words; empty when all is well."""
    problems: list[str] = yield Check()
    return problems
