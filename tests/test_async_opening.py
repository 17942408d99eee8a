"""Opening an AsyncMemory: once for all who await it, in whatever event loop, and closed whoever is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event, Thread
from threading import enumerate as threads
from typing import Any

import pytest

from cofire import AsyncMemory
from cofire.errors import StoreClosed
from cofire.runtime import session
from cofire.runtime.runner import SharedResource
from cofire.stores.base import Store

DREAMS = {"dream.after_facts": 100}


class Door:
    """Where stores are opened: it tells that somebody stands in it, and lets nobody through before it is told to."""

    def __init__(self) -> None:
        self.entered, self.released = Event(), Event()
        self.stores: list[Store] = []

    def open(self, *given: Any) -> Store:
        self.entered.set()
        assert self.released.wait(60)
        self.stores.append(_open_store(*given))
        return self.stores[-1]

    async def was_entered(self) -> None:
        await asyncio.to_thread(self.entered.wait, 60)


_open_store = session.open_store


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    door = Door()
    monkeypatch.setattr(session, "open_store", door.open)
    return door


def is_closed(store: Store) -> bool:
    try:
        store.read_size()
    except StoreClosed:
        return True
    return False


async def entered(memory: AsyncMemory) -> None:
    async with memory:
        raise AssertionError("never entered")


def test_entering_that_is_cancelled_leaves_nothing_open(tmp_path: Path, door: Door) -> None:
    async def story() -> None:
        memory = AsyncMemory(tmp_path / "team.db", embedder=None, settings=DREAMS)
        entering = asyncio.ensure_future(entered(memory))
        await door.was_entered()
        entering.cancel()
        door.released.set()
        with pytest.raises(asyncio.CancelledError):
            await entering

    asyncio.run(story())
    assert [is_closed(store) for store in door.stores] == [True]
    assert "cofire dreams" not in {thread.name for thread in threads()}


def test_entering_that_takes_too_long_leaves_nothing_open(tmp_path: Path, door: Door) -> None:
    async def story() -> None:
        asyncio.get_running_loop().call_later(0.1, door.released.set)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await entered(AsyncMemory(tmp_path / "team.db", embedder=None))

    asyncio.run(story())
    assert [is_closed(store) for store in door.stores] == [True]


def test_closing_that_is_cancelled_cancels_nobody_else_and_goes_on(tmp_path: Path, door: Door) -> None:
    async def story() -> Any:
        memory = AsyncMemory(tmp_path / "team.db", embedder=None)
        asking = asyncio.ensure_future(memory.facts())
        await door.was_entered()
        closing = asyncio.ensure_future(memory.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        door.released.set()
        [answer] = await asyncio.gather(asking, return_exceptions=True)
        await memory.close()
        return answer

    answer = asyncio.run(story())
    assert answer == [] or isinstance(answer, StoreClosed)
    assert [is_closed(store) for store in door.stores] == [True]


def test_a_verb_that_is_cancelled_while_opening_cancels_nobody_else(tmp_path: Path, door: Door) -> None:
    async def story() -> Any:
        memory = AsyncMemory(tmp_path / "team.db", embedder=None)
        first, second = (asyncio.ensure_future(memory.facts()) for _ in range(2))
        await door.was_entered()
        first.cancel()
        door.released.set()
        try:
            return await second
        finally:
            await memory.close()

    assert asyncio.run(story()) == []


def test_the_first_verbs_may_come_from_several_event_loops_at_once(tmp_path: Path) -> None:
    memory, together = AsyncMemory(tmp_path / "team.db", embedder=None), Barrier(8)

    def remember(number: int) -> str:
        together.wait(60)
        return asyncio.run(memory.remember(f"tea number {number}"))

    with ThreadPoolExecutor(8) as pool:
        assert len({*pool.map(remember, range(8))}) == 8
    asyncio.run(memory.close())


def test_when_the_event_loop_that_opens_ends_another_opens_anew() -> None:
    begun, beginnings = Event(), []

    async def begin() -> int:
        beginnings.append(1)
        if len(beginnings) == 1:
            begun.set()
            await asyncio.sleep(60)
        return len(beginnings)

    shared = SharedResource(begin)

    async def impatient() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(shared.opened(), 0.2)

    first = Thread(target=lambda: asyncio.run(impatient()))
    first.start()
    assert begun.wait(60)
    assert asyncio.run(shared.opened()) == 2
    first.join(60)


def test_what_was_closed_before_its_first_verb_stays_closed(tmp_path: Path) -> None:
    async def story() -> None:
        memory = AsyncMemory(tmp_path / "team.db", embedder=None)
        await memory.close()
        with pytest.raises(StoreClosed, match="Open it again"):
            await memory.facts()
        with pytest.raises(StoreClosed):
            await memory.remember("Tea.")

    asyncio.run(story())
    assert not (tmp_path / "team.db").exists()


def test_what_could_not_be_opened_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "team.db").mkdir()

    async def story() -> None:
        memory = AsyncMemory(tmp_path / "team.db", embedder=None)
        with pytest.raises(Exception, match="team"):
            await memory.facts()
        (tmp_path / "team.db").rmdir()
        assert await memory.facts() == []
        await memory.close()

    asyncio.run(story())


def test_a_memory_of_another_session_closes_with_the_first(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(tmp_path / "team.db", embedder=None) as memory:
            other = await memory.in_session("other")
        with pytest.raises(StoreClosed):
            await other.facts()

    asyncio.run(story())
