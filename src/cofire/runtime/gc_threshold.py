"""Raise the garbage collector's threshold while many long-lived objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

# So many things are made between two looks, where Python's own habit is a few hundred or thousand.
BULK_THRESHOLD = 4_000_000

_lock = RLock()
_saved_thresholds: list[tuple[int, int, int]] = []


@contextmanager
def relaxed_gc() -> Iterator[None]:
    """Look seldom until this ends, in whichever of several threads it ends last. Who never looks, or seldomer, is left alone, and so
    is a habit that was changed meanwhile."""
    with _lock:
        habit = gc.get_threshold()
        _saved_thresholds.append(habit)
        if 0 < habit[0] < BULK_THRESHOLD:
            gc.set_threshold(BULK_THRESHOLD, *habit[1:])
    try:
        yield
    finally:
        with _lock:
            first = _saved_thresholds[0]
            _saved_thresholds.pop()
            if not _saved_thresholds and gc.get_threshold()[0] == BULK_THRESHOLD:
                gc.set_threshold(*first)
