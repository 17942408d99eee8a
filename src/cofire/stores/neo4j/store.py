"""The Neo4j store: what drives readings and writings on a server. The protocol is in `methods`, the Cypher in the modules it names.

`Neo4jStore` calls and `AsyncNeo4jStore` awaits. Each reads a query at a time, in transactions that the driver manages and
retries; a change is one such transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from typing import Any, ParamSpec, TypeVar, cast

import neo4j
from neo4j.exceptions import IncompleteCommit

from cofire.errors import StoreError, StoreUnavailable
from cofire.learned import Keeping, Shown
from cofire.stores.neo4j import (
    metadata_values,
    recall_log,
    rewording,
    schema,
)
from cofire.stores.neo4j.connecting import Address, Auth, Neo4jOptions, address, driver_settings
from cofire.stores.neo4j.faults import too_slow, translated
from cofire.stores.neo4j.methods import Methods
from cofire.stores.neo4j.querying import Begun, Query, Querying, Rows, in_step
from cofire.stores.neo4j.sitting import Sitting

T = TypeVar("T")
P = ParamSpec("P")

# What the driver has to say goes to the log of whoever keeps one, not onto the screen: errors say it in our words.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


class Neo4jStore(Methods):
    """Facts on a server, for programs that call. Any number of processes and threads may use it at once."""

    def __init__(self, address: Address, options: Neo4jOptions) -> None:
        super().__init__(address, options)
        self._driver = neo4j.GraphDatabase.driver(address.url, auth=address.auth, **driver_settings(options))
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()

    @classmethod
    def open(cls, url: str, options: Neo4jOptions, auth: Auth | None = None) -> Neo4jStore:
        """Open a store, making the database ready at the first time."""
        where = address(url, auth)
        with translated(where.place):
            store = cls(where, options)
        try:
            store._make_ready()
        except BaseException:
            store._driver.close()
            raise
        return store

    def sitting(self) -> Sitting:
        """The store for one verb."""
        return Sitting(self)

    def together(self, questions: Sequence[Callable[[], Any]], besides: Sequence[Begun[Any]] = ()) -> list[Any]:
        begun = self._gathered(questions)
        try:
            joint = iter(self._read(lambda: _joint(begun, besides)))
        except StoreUnavailable:
            raise
        except StoreError:
            return [question() for question in questions]
        return [next(joint) if one else question() for one, question in zip(begun, questions, strict=True)]

    def close(self) -> None:
        waiting, keeping = self._unlogged.take()
        if waiting and keeping and not self._closed:
            self._note(waiting, keeping)
        self._closed = True
        self._driver.close()

    def _note(self, waiting: Sequence[Shown], keeping: Keeping) -> None:
        try:
            self._write(recall_log.write, waiting, keeping)
        except StoreError as error:
            recall_log.give_up(error)

    def _make_ready(self) -> None:
        known = self._read(schema.version)
        schema.refuse_newer(known, self.place)
        if known == schema.VERSION:
            return
        with translated(self.place), self._session() as session:
            for statement in (*schema.statements(), *schema.upgrades(known)):
                session.run(cast(Any, statement)).consume()
        last_id: str | None = ""
        if schema.lacks_words(known):
            while last_id is not None:
                last_id = self._write(rewording.reword_portion, last_id)
            self._write(rewording.count_reworded)
        if schema.lacks_metadata_values(known):
            last_id = ""
            while last_id is not None:
                last_id = self._write(metadata_values.fill_portion, last_id)
        self._write(schema.mark_ready)

    def _read(self, begun: Begun[T]) -> T:
        reading = begun()
        with translated(self.place), _returning() as answer:
            query = next(reading)
            while True:
                query = reading.send(self._rows(query))
        return cast(T, answer.value)

    def _rows(self, query: Query) -> Rows:
        try:
            return self._asked(query)
        except IncompleteCommit:  # a question has nothing to commit, so it is asked again
            return self._asked(query)

    def _asked(self, query: Query) -> Rows:
        return self._driver.execute_query(
            self._timed(query),
            dict(query.parameters),
            routing_=neo4j.RoutingControl.READ,
            database_=self._address.database,
            bookmark_manager_=self._bookmarks,
            result_transformer_=_rows_of,
        )

    def _write(self, writing: Callable[P, Querying[T]], *args: P.args, **named: P.kwargs) -> T:
        work = neo4j.unit_of_work(timeout=self._options.answer_seconds)(_written)
        with translated(self.place), self._session() as session:
            return cast(T, session.execute_write(work, partial(writing, *args, **named)))

    def _session(self) -> neo4j.Session:
        return self._driver.session(database=self._address.database, bookmark_manager=self._bookmarks)


class AsyncNeo4jStore(Methods):
    """Facts on a server, for programs that await. It belongs to the event loop that it was opened in."""

    awaits = True

    def __init__(self, address: Address, options: Neo4jOptions) -> None:
        super().__init__(address, options)
        self._driver = neo4j.AsyncGraphDatabase.driver(address.url, auth=address.auth, **driver_settings(options))
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()

    @classmethod
    async def open(cls, url: str, options: Neo4jOptions, auth: Auth | None = None) -> AsyncNeo4jStore:
        """Open a store, making the database ready at the first time."""
        where = address(url, auth)
        with translated(where.place):
            store = cls(where, options)
        try:
            await store._make_ready()
        except BaseException:
            await store._driver.close()
            raise
        return store

    def sitting(self) -> Sitting:
        """The store for one verb."""
        return Sitting(self)

    async def together(  # type: ignore[override]
        self, questions: Sequence[Callable[[], Any]], besides: Sequence[Begun[Any]] = ()
    ) -> list[Any]:
        begun = self._gathered(questions)
        try:
            joint = iter(await self._read(lambda: _joint(begun, besides)))
        except StoreUnavailable:
            raise
        except StoreError:
            return [await _awaited(question()) for question in questions]
        pairs = zip(begun, questions, strict=True)
        return [next(joint) if one else await _awaited(question()) for one, question in pairs]

    async def close(self) -> None:  # type: ignore[override]
        waiting, keeping = self._unlogged.take()
        if waiting and keeping and not self._closed:
            await self._note(waiting, keeping)
        self._closed = True
        await self._driver.close()

    async def _note(self, waiting: Sequence[Shown], keeping: Keeping) -> None:  # type: ignore[override]
        try:
            await self._write(recall_log.write, waiting, keeping)
        except StoreError as error:
            recall_log.give_up(error)

    def blocking(self) -> Neo4jStore:
        """The same store for threads that call."""
        return Neo4jStore(self._address, self._options)

    async def _make_ready(self) -> None:
        known = await self._read(schema.version)
        schema.refuse_newer(known, self.place)
        if known == schema.VERSION:
            return
        with translated(self.place):
            async with self._session() as session:
                for statement in (*schema.statements(), *schema.upgrades(known)):
                    await (await session.run(cast(Any, statement))).consume()
        last_id: str | None = ""
        if schema.lacks_words(known):
            while last_id is not None:
                last_id = await self._write(rewording.reword_portion, last_id)
            await self._write(rewording.count_reworded)
        if schema.lacks_metadata_values(known):
            last_id = ""
            while last_id is not None:
                last_id = await self._write(metadata_values.fill_portion, last_id)
        await self._write(schema.mark_ready)

    async def _read(self, begun: Begun[Any]) -> Any:  # type: ignore[override]
        reading = begun()
        with translated(self.place), _returning() as answer:
            query = next(reading)
            while True:
                query = reading.send(await self._rows(query))
        return answer.value

    async def _rows(self, query: Query) -> Rows:
        try:
            return await self._in_time(self._asked(query))
        except IncompleteCommit:  # a question has nothing to commit, so it is asked again
            return await self._in_time(self._asked(query))

    async def _in_time(self, answering: Awaitable[T]) -> T:
        """A server that says nothing at all is not waited for longer than retries and one answer may take."""
        patience = self._options.retry_seconds + self._options.answer_seconds
        try:
            return await asyncio.wait_for(answering, patience)
        except TimeoutError as error:
            raise too_slow(self.place, patience) from error

    async def _asked(self, query: Query) -> Rows:
        return await self._driver.execute_query(
            self._timed(query),
            dict(query.parameters),
            routing_=neo4j.RoutingControl.READ,
            database_=self._address.database,
            bookmark_manager_=self._bookmarks,
            result_transformer_=_arows_of,
        )

    async def _write(self, writing: Callable[P, Querying[Any]], *args: P.args, **named: P.kwargs) -> Any:  # type: ignore[override]
        work = neo4j.unit_of_work(timeout=self._options.answer_seconds)(_awritten)
        with translated(self.place):
            async with self._session() as session:
                return await self._in_time(session.execute_write(work, partial(writing, *args, **named)))

    def _session(self) -> neo4j.AsyncSession:
        return self._driver.session(database=self._address.database, bookmark_manager=self._bookmarks)


def _joint(begun: Sequence[Begun[Any] | None], besides: Sequence[Begun[Any]]) -> Querying[list[Any]]:
    """All of these readings in step; the answers of the first ones."""
    asked = [one for one in begun if one]
    found = yield from in_step([one() for one in (*asked, *besides)])
    return found[: len(asked)]


class _Answer:
    """What a reading came to."""

    value: Any = None


@contextmanager
def _returning() -> Iterator[_Answer]:
    """Inside, a reading is sent on until it returns; what it returns is the value."""
    answer = _Answer()
    try:
        yield answer
    except StopIteration as done:
        answer.value = done.value


def _written(transaction: neo4j.ManagedTransaction, begun: Begun[Any]) -> Any:
    """A change from its beginning: the driver may begin it again."""
    writing = begun()
    with _returning() as answer:
        query = next(writing)
        while True:
            query = writing.send(_rows_of(transaction.run(cast(Any, query.text), dict(query.parameters))))
    return answer.value


async def _awritten(transaction: neo4j.AsyncManagedTransaction, begun: Begun[Any]) -> Any:
    """A change from its beginning: the driver may begin it again."""
    writing = begun()
    with _returning() as answer:
        query = next(writing)
        while True:
            found = await transaction.run(cast(Any, query.text), dict(query.parameters))
            query = writing.send(await _arows_of(found))
    return answer.value


def _rows_of(result: neo4j.Result) -> Rows:
    return [record[0] for record in result]


async def _arows_of(result: neo4j.AsyncResult) -> Rows:
    return [record[0] async for record in result]


async def _awaited(answer: Any | Awaitable[Any]) -> Any:
    return await answer if isawaitable(answer) else answer
