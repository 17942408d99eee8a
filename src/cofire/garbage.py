"""Garbage: Python looks for it among all it has made. While very much is made that stays, it need not look so often."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

# So many things are made between two looks, where Python's own habit is a few hundred or thousand.
MADE_BETWEEN_LOOKS = 4_000_000

_turn = RLock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def looked_for_seldom() -> Iterator[None]:
    """Look seldom until this ends, in whichever of several threads it ends last. Who never looks, or seldomer, is left alone, and so
    is a habit that was changed meanwhile."""
    with _turn:
        habit = gc.get_threshold()
        _before.append(habit)
        if 0 < habit[0] < MADE_BETWEEN_LOOKS:
            gc.set_threshold(MADE_BETWEEN_LOOKS, *habit[1:])
    try:
        yield
    finally:
        with _turn:
            first = _before[0]
            _before.pop()
            if not _before and gc.get_threshold()[0] == MADE_BETWEEN_LOOKS:
                gc.set_threshold(*first)
