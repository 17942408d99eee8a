"""Per-call cache: the store as one verb call sees it, with prefetched rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

from cofire.model import StoreRecord
from cofire.stores.base import MethodCall
from cofire.stores.learning_rows import LoggedRecall, RecallLogOptions
from cofire.stores.neo4j import records
from cofire.stores.neo4j.cypher import QuerySteps, QueryStepsFactory
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.neo4j.store_base import Neo4jStoreBase

T = TypeVar("T")
P = ParamSpec("P")


class Neo4jCallCache(Neo4jStoreBase):
    """A view of a store for one verb call, called or awaited like that store.

    Rows that came along with an answer are reused by later steps, and records are read optimistically: as last seen, and
    confirmed with the next answer.
    """

    def __init__(self, store: Neo4jStoreBase) -> None:
        super().__init__(store._address, store._options)
        self._store = store
        self._prefetched = Prefetch()
        self._counts, self._speakers, self._seen = store._counts, store._speakers, store._seen
        self._unlogged = store._unlogged
        self.is_async = store.is_async

    @property
    def _prefetch(self) -> Prefetch:
        return self._prefetched

    def for_call(self) -> Neo4jCallCache:
        return self

    def read_record(self, name: str, optimistic: bool = False) -> StoreRecord | None:
        """A record; optimistically as it was last seen, which the next answer confirms or
        refutes with StaleRecord."""
        if not optimistic or name not in self._seen:
            return super().read_record(name)
        self._refuse_closed()
        self._prefetched.assumed[name] = self._seen[name]
        return self._seen[name]

    def confirm_records(self) -> None:
        """Check the records that no answer has confirmed yet."""
        if self._prefetched.assumed:
            return self._store._read(self._confirm)

    def close(self) -> None:
        return self._store.close()

    def _refuse_closed(self) -> None:
        self._store._refuse_closed()

    def _confirm(self) -> QuerySteps[None]:
        return records.confirm_records(self._seen, self._prefetched)

    def _confirmations(self) -> list[QuerySteps[None]]:
        return [self._confirm()] if self._prefetched.assumed else []

    def _read(self, start: QueryStepsFactory[T]) -> T:
        if self._prefetched.assumed:
            start = partial(records.confirm_with_read, self._seen, self._prefetched, start)
        return self._store._read(start)

    def _read_together(self, view: Neo4jStoreBase, calls: Sequence[MethodCall]) -> list[Any]:
        return self._store._read_together(view, calls)

    def _write(self, writing: Callable[P, QuerySteps[T]], *args: P.args, **named: P.kwargs) -> T:
        self._prefetched.clear_rows()
        start = partial(writing, *args, **named)
        return self._store._write(records.confirm_before_write, self._seen, self._prefetched, start)

    def _log(self, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> None:
        return self._store._log(waiting, keeping)
