"""Garbage: Python looks for it among all it has made. While very much is made that stays, it need not look so often."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# So many things are made between two looks, where Python's own habit is 700.
MADE_BETWEEN_LOOKS = 100_000

_turn = Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def looked_for_seldom() -> Iterator[None]:
    """Look seldom until this ends, in whichever of several threads it ends last. Who never looks, or seldomer, is left alone."""
    with _turn:
        _before.append(gc.get_threshold())
        if 0 < gc.get_threshold()[0] < MADE_BETWEEN_LOOKS:
            gc.set_threshold(MADE_BETWEEN_LOOKS, *gc.get_threshold()[1:])
    try:
        yield
    finally:
        with _turn:
            first = _before[0]
            _before.pop()
            if not _before:
                gc.set_threshold(*first)
