"""Run a verb again: after a write conflict, or when a record it began with turns out to be stale."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cofire.errors import CofireError, Conflict
from cofire.model import StoreRecord
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.stores.base import StaleRecord

T = TypeVar("T")


def retry_on_conflict(attempt: Callable[[], Steps[T]], *, tries: int) -> Steps[T]:
    """Run an attempt again when another process wrote in between."""
    for _ in range(tries - 1):
        try:
            return (yield from attempt())
        except Conflict:
            continue
    return (yield from attempt())


def run_optimistically(name: str, begin: Callable[[StoreRecord | None], Steps[T]]) -> Steps[T]:
    """Run a verb that begins with a record, and run it again until that record was current."""
    while True:
        record = yield from store.read_record(name, optimistic=True)
        try:
            return (yield from _run_then_confirm(begin(record)))
        except StaleRecord:
            continue


def _run_then_confirm(verb: Steps[T]) -> Steps[T]:
    """A result or an error of a verb counts only when the record it began with is confirmed."""
    try:
        result = yield from verb
    except CofireError:
        yield from store.confirm_records()
        raise
    yield from store.confirm_records()
    return result
