"""Per-call cache: the store as one verb call sees it, with prefetched rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

from cofire.model import StoreRecord
from cofire.stores.learning_protocol import LoggedRecall, RecallLogOptions
from cofire.stores.neo4j import records
from cofire.stores.neo4j.cypher import QuerySteps, QueryStepsFactory
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.neo4j.store_base import Neo4jStoreBase

T = TypeVar("T")
P = ParamSpec("P")


class Neo4jCallCache(Neo4jStoreBase):
    """Asks the store that it is of, called or awaited as that one is."""

    def __init__(self, store: Neo4jStoreBase) -> None:
        super().__init__(store._address, store._options)
        self._store = store
        self._at_hand = Prefetch()
        self._counts, self._speakers, self._seen = store._counts, store._speakers, store._seen
        self._unlogged = store._unlogged
        self.awaits = store.awaits

    @property
    def _brought(self) -> Prefetch:
        return self._at_hand

    def assume(self, name: str) -> StoreRecord | None:
        """A record as it was last seen. The next answer confirms it, or raises `Overtaken`."""
        self._refuse_closed()
        if name not in self._seen:
            return self.record(name)
        self._at_hand.assumed[name] = self._seen[name]
        return self._seen[name]

    def confirm(self) -> None:
        """Make sure of what no answer has confirmed yet."""
        if self._at_hand.assumed:
            return self._store._read(partial(records.confirm_records, self._seen, self._at_hand))

    def together(
        self, questions: Sequence[Callable[[], Any]], besides: Sequence[QueryStepsFactory[Any]] = ()
    ) -> list[Any]:
        sure = [partial(records.confirm_records, self._seen, self._at_hand)] if self._at_hand.assumed else []
        return self._store.together(questions, [*besides, *sure])

    def close(self) -> None:
        return self._store.close()

    def _refuse_closed(self) -> None:
        self._store._refuse_closed()

    def _read(self, begun: QueryStepsFactory[T]) -> T:
        if self._at_hand.assumed:
            begun = partial(records.confirm_with_read, self._seen, self._at_hand, begun)
        return self._store._read(begun)

    def _write(self, writing: Callable[P, QuerySteps[T]], *args: P.args, **named: P.kwargs) -> T:
        self._at_hand.let_go()
        begun = partial(writing, *args, **named)
        return self._store._write(records.confirm_before_write, self._seen, self._at_hand, begun)

    def _note(self, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> None:
        return self._store._note(waiting, keeping)
