"""A store that is watched: how often each method was called, and methods that fail on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from cofire.stores.base import MethodCall, Store, call_method

# What recall asks of the graph, beyond the names that a question itself holds.
GRAPH_WORK = (
    "expand_links",
    "fetch_name_links",
    "locate_words",
    "fetch_importance",
    "list_links",
    "list_edges",
    "fetch_scope_graph",
)


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

    def together(self, calls: Sequence[MethodCall]) -> list[Any]:
        return [call_method(self, call) for call in calls]

    def for_call(self) -> Any:
        return self

    def close(self) -> None:
        """Whoever lent it closes it."""
