"""The Neo4j stores, blocking and async: run query generators on the driver.

Both read one query at a time, in transactions that the driver manages and retries. A change is one
such transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

import neo4j
from neo4j.exceptions import IncompleteCommit

from cofire.errors import StoreError, StoreUnavailable
from cofire.stores.base import MethodCall, call_method, call_method_async
from cofire.stores.learning_rows import LoggedRecall, RecallLogOptions
from cofire.stores.neo4j import learning, schema
from cofire.stores.neo4j.call_cache import Neo4jCallCache
from cofire.stores.neo4j.connection import Auth, Neo4jOptions, ServerAddress, build_driver_settings, parse_address
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, QueryStepsFactory, Rows
from cofire.stores.neo4j.errors import make_timeout_error, translate_errors
from cofire.stores.neo4j.store_base import Neo4jStoreBase
from cofire.stores.recall_log import warn_log_lost

T = TypeVar("T")
P = ParamSpec("P")

# Messages of the driver go to the program's log, not to the screen.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


class Neo4jStore(Neo4jStoreBase):
    """Facts on a server, for blocking programs. Any number of processes and threads may use it."""

    def __init__(self, address: ServerAddress, options: Neo4jOptions) -> None:
        super().__init__(address, options)
        self._driver = neo4j.GraphDatabase.driver(address.url, auth=address.auth, **build_driver_settings(options))
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()

    @classmethod
    def open(cls, url: str, options: Neo4jOptions, auth: Auth | None = None) -> Neo4jStore:
        """Open a store. The first time, create its schema."""
        where = parse_address(url, auth)
        with translate_errors(where.place):
            store = cls(where, options)
        try:
            store._make_ready()
        except BaseException:
            store._driver.close()
            raise
        return store

    def for_call(self) -> Neo4jCallCache:
        return Neo4jCallCache(self)

    def _read_together(self, view: Neo4jStoreBase, calls: Sequence[MethodCall]) -> list[Any]:
        try:
            return self._read(partial(view._join_calls, calls))
        except StoreUnavailable:
            raise
        except StoreError:
            return [call_method(view, call) for call in calls]

    def close(self) -> None:
        waiting, keeping = self._unlogged.take()
        if waiting and keeping and not self._closed:
            self._log(waiting, keeping)
        self._closed = True
        self._driver.close()

    def _log(self, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> None:
        try:
            self._write(learning.write_recalls, waiting, keeping)
        except StoreError as error:
            warn_log_lost(error)

    def _make_ready(self) -> None:
        known = self._read(schema.fetch_schema_version)
        schema.reject_newer_schema(known, self.server)
        if known == schema.SCHEMA_VERSION:
            return
        with translate_errors(self.server), self._session() as session:
            for statement in (*schema.list_setup_statements(), *schema.list_upgrade_statements(known)):
                session.run(cast(Any, statement)).consume()
        last_id: str | None = ""
        if schema.has_outdated_words(known):
            while last_id is not None:
                last_id = self._write(schema.update_words_batch, last_id)
            self._write(schema.recount_stale_scopes)
        if schema.has_missing_metadata_values(known):
            last_id = ""
            while last_id is not None:
                last_id = self._write(schema.fill_metadata_batch, last_id)
        self._write(schema.write_schema_version)

    def _read(self, start: QueryStepsFactory[T]) -> T:
        steps = start()
        with translate_errors(self.server), _capture_return() as answer:
            query = next(steps)
            while True:
                query = steps.send(self._rows(query))
        return cast(T, answer.value)

    def _rows(self, query: CypherQuery) -> Rows:
        try:
            return self._asked(query)
        except IncompleteCommit:  # a read has nothing to commit, so it can run again
            return self._asked(query)

    def _asked(self, query: CypherQuery) -> Rows:
        return self._driver.execute_query(
            self._timed(query),
            dict(query.parameters),
            routing_=neo4j.RoutingControl.READ,
            database_=self._address.database,
            bookmark_manager_=self._bookmarks,
            result_transformer_=_collect_rows,
        )

    def _write(self, writing: Callable[P, QuerySteps[T]], *args: P.args, **named: P.kwargs) -> T:
        work = neo4j.unit_of_work(timeout=self._options.answer_seconds)(_run_write)
        with translate_errors(self.server), self._session() as session:
            return cast(T, session.execute_write(work, partial(writing, *args, **named)))

    def _session(self) -> neo4j.Session:
        return self._driver.session(database=self._address.database, bookmark_manager=self._bookmarks)


class AsyncNeo4jStore(Neo4jStoreBase):
    """Facts on a server, for async programs. It belongs to the event loop it was opened in."""

    is_async = True

    def __init__(self, address: ServerAddress, options: Neo4jOptions) -> None:
        super().__init__(address, options)
        self._driver = neo4j.AsyncGraphDatabase.driver(address.url, auth=address.auth, **build_driver_settings(options))
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()

    @classmethod
    async def open(cls, url: str, options: Neo4jOptions, auth: Auth | None = None) -> AsyncNeo4jStore:
        """Open a store. The first time, create its schema."""
        where = parse_address(url, auth)
        with translate_errors(where.place):
            store = cls(where, options)
        try:
            await store._make_ready()
        except BaseException:
            await store._driver.close()
            raise
        return store

    def for_call(self) -> Neo4jCallCache:
        return Neo4jCallCache(self)

    async def _read_together(  # type: ignore[override]
        self, view: Neo4jStoreBase, calls: Sequence[MethodCall]
    ) -> list[Any]:
        try:
            return cast(list[Any], await self._read(partial(view._join_calls, calls)))
        except StoreUnavailable:
            raise
        except StoreError:
            return [await call_method_async(view, call) for call in calls]

    async def close(self) -> None:  # type: ignore[override]
        waiting, keeping = self._unlogged.take()
        if waiting and keeping and not self._closed:
            await self._log(waiting, keeping)
        self._closed = True
        await self._driver.close()

    async def _log(self, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> None:  # type: ignore[override]
        try:
            await self._write(learning.write_recalls, waiting, keeping)
        except StoreError as error:
            warn_log_lost(error)

    def blocking(self) -> Neo4jStore:
        """The same store for blocking threads."""
        return Neo4jStore(self._address, self._options)

    async def _make_ready(self) -> None:
        known = await self._read(schema.fetch_schema_version)
        schema.reject_newer_schema(known, self.server)
        if known == schema.SCHEMA_VERSION:
            return
        with translate_errors(self.server):
            async with self._session() as session:
                for statement in (*schema.list_setup_statements(), *schema.list_upgrade_statements(known)):
                    await (await session.run(cast(Any, statement))).consume()
        last_id: str | None = ""
        if schema.has_outdated_words(known):
            while last_id is not None:
                last_id = await self._write(schema.update_words_batch, last_id)
            await self._write(schema.recount_stale_scopes)
        if schema.has_missing_metadata_values(known):
            last_id = ""
            while last_id is not None:
                last_id = await self._write(schema.fill_metadata_batch, last_id)
        await self._write(schema.write_schema_version)

    async def _read(self, start: QueryStepsFactory[Any]) -> Any:  # type: ignore[override]
        steps = start()
        with translate_errors(self.server), _capture_return() as answer:
            query = next(steps)
            while True:
                query = steps.send(await self._rows(query))
        return answer.value

    async def _rows(self, query: CypherQuery) -> Rows:
        try:
            return await self._in_time(self._asked(query))
        except IncompleteCommit:  # a read has nothing to commit, so it can run again
            return await self._in_time(self._asked(query))

    async def _in_time(self, answering: Awaitable[T]) -> T:
        """Wait for a silent server no longer than retries and one answer may take."""
        patience = self._options.retry_seconds + self._options.answer_seconds
        try:
            return await asyncio.wait_for(answering, patience)
        except TimeoutError as error:
            raise make_timeout_error(self.server, patience) from error

    async def _asked(self, query: CypherQuery) -> Rows:
        return await self._driver.execute_query(
            self._timed(query),
            dict(query.parameters),
            routing_=neo4j.RoutingControl.READ,
            database_=self._address.database,
            bookmark_manager_=self._bookmarks,
            result_transformer_=_collect_rows_async,
        )

    async def _write(self, writing: Callable[P, QuerySteps[Any]], *args: P.args, **named: P.kwargs) -> Any:  # type: ignore[override]
        work = neo4j.unit_of_work(timeout=self._options.answer_seconds)(_run_write_async)
        with translate_errors(self.server):
            async with self._session() as session:
                return await self._in_time(session.execute_write(work, partial(writing, *args, **named)))

    def _session(self) -> neo4j.AsyncSession:
        return self._driver.session(database=self._address.database, bookmark_manager=self._bookmarks)


class _ReturnedValue:
    """The value that a query generator returned."""

    value: Any = None


@contextmanager
def _capture_return() -> Iterator[_ReturnedValue]:
    """Catch the return value of a query generator that is resumed inside the block."""
    answer = _ReturnedValue()
    try:
        yield answer
    except StopIteration as done:
        answer.value = done.value


def _run_write(transaction: neo4j.ManagedTransaction, start: QueryStepsFactory[Any]) -> Any:
    """Run a change from its beginning. The driver may run it again."""
    steps = start()
    with _capture_return() as answer:
        query = next(steps)
        while True:
            query = steps.send(_collect_rows(transaction.run(cast(Any, query.text), dict(query.parameters))))
    return answer.value


async def _run_write_async(transaction: neo4j.AsyncManagedTransaction, start: QueryStepsFactory[Any]) -> Any:
    """Run a change from its beginning. The driver may run it again."""
    steps = start()
    with _capture_return() as answer:
        query = next(steps)
        while True:
            found = await transaction.run(cast(Any, query.text), dict(query.parameters))
            query = steps.send(await _collect_rows_async(found))
    return answer.value


def _collect_rows(result: neo4j.Result) -> Rows:
    return [record[0] for record in result]


async def _collect_rows_async(result: neo4j.AsyncResult) -> Rows:
    return [record[0] async for record in result]
