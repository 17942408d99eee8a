"""Raise the garbage collector's threshold while many long-lived objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

# Allocations between collections; CPython's default is in the hundreds or low thousands.
BULK_THRESHOLD = 4_000_000

_lock = RLock()
_saved_thresholds: list[tuple[int, int, int]] = []


@contextmanager
def relaxed_gc() -> Iterator[None]:
    """Collect rarely inside this block. Nested or concurrent blocks share one raised threshold; the
    last one restores it. A higher threshold, or one changed meanwhile, is left alone."""
    with _lock:
        thresholds = gc.get_threshold()
        _saved_thresholds.append(thresholds)
        if 0 < thresholds[0] < BULK_THRESHOLD:
            gc.set_threshold(BULK_THRESHOLD, *thresholds[1:])
    try:
        yield
    finally:
        with _lock:
            first = _saved_thresholds[0]
            _saved_thresholds.pop()
            if not _saved_thresholds and gc.get_threshold()[0] == BULK_THRESHOLD:
                gc.set_threshold(*first)
