"""A store that is watched: how often each method was called, and methods that fail on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from cofire.stores.base import Store

# What recall asks of the graph, beyond the names that a question itself holds.
GRAPH_WORK = ("expand", "paths", "places", "importance", "links", "edges", "network")


class Watched:
    """Passes everything on, counts it, and fails where it was told to."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.calls: Counter[str] = Counter()
        self.failing: dict[str, Exception] = {}

    def __getattr__(self, name: str) -> Any:
        found: Callable[..., Any] = getattr(self.store, name)
        if not callable(found):
            return found

        def watched(*arguments: Any, **others: Any) -> Any:
            self.calls[name] += 1
            if name in self.failing:
                raise self.failing[name]
            return found(*arguments, **others)

        return watched

    def close(self) -> None:
        """Whoever lent it closes it."""
