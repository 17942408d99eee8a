"""Run a verb: answer its effects until it ends, synchronously or asynchronously.

What verbs are driven in may have to be opened first, once for all who await it: `SharedResource`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import closing
from threading import Lock
from typing import Any, Generic, TypeVar, cast

from cofire.runtime.effects import Effect, Emit, MintIds, ReadClock, RunContext, Steps

T = TypeVar("T")


class _StepsRun(Generic[T]):
    """A verb on its way: the ask it stands at, or the value it ended with."""

    def __init__(self, verb: Steps[T]) -> None:
        self.verb = verb
        self.done = False
        self.value: Any = None
        self.ask: Any = None
        self.move(next, verb)

    def move(self, step: Callable[..., Effect], *given: Any) -> None:
        try:
            self.ask = step(*given)
        except StopIteration as end:
            self.done, self.value = True, end.value


def run_steps(verb: Steps[T], world: RunContext, listen: Callable[[Any], None] | None = None) -> T:
    """Drive a verb to its end, answering each thing it asks for. One that is interrupted is ended too."""
    with closing(verb):
        drive, world = _StepsRun(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit) and listen is not None:
                listen(drive.ask.value)
            _advance(drive, world)
        return cast(T, drive.value)


def stream_steps(verb: Steps[Any], world: RunContext) -> Iterator[Any]:
    """What a verb emits, as it goes."""
    with closing(verb):
        drive, world = _StepsRun(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit):
                yield drive.ask.value
            _advance(drive, world)


async def run_steps_async(verb: Steps[T], world: RunContext, listen: Callable[[Any], None] | None = None) -> T:
    """Drive a verb to its end, awaiting each answer."""
    with closing(verb):
        drive, world = _StepsRun(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit) and listen is not None:
                listen(drive.ask.value)
            await _advance_async(drive, world)
        return cast(T, drive.value)


async def stream_steps_async(verb: Steps[Any], world: RunContext) -> AsyncIterator[Any]:
    """What a verb emits, as it goes, between awaits."""
    with closing(verb):
        drive, world = _StepsRun(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit):
                yield drive.ask.value
            await _advance_async(drive, world)


def _advance(drive: _StepsRun[Any], world: RunContext) -> None:
    try:
        answer = drive.ask.put(world)
    except Exception as error:  # noqa: BLE001 - the verb decides what an error means
        return drive.move(drive.verb.throw, error)
    drive.move(drive.verb.send, answer)


async def _advance_async(drive: _StepsRun[Any], world: RunContext) -> None:
    try:
        answer = await _run_effect_async(drive.ask, world)
    except Exception as error:  # noqa: BLE001 - the verb decides what an error means
        return drive.move(drive.verb.throw, error)
    drive.move(drive.verb.send, answer)


async def _run_effect_async(ask: Effect, world: RunContext) -> Any:
    """A store or model that blocks answers in a thread; one that is asynchronous by nature is awaited where it lives. So is an
    ask that has an `aput` of its own."""
    if isinstance(ask, Emit | ReadClock | MintIds):
        return ask.put(world)
    if (awaited := getattr(ask, "aput", None)) is not None:
        return await awaited(world)
    at_once = world.store_awaits and not getattr(ask, "blocks", False)
    answer = ask.put(world) if at_once else await asyncio.to_thread(ask.put, world)
    return await answer if inspect.isawaitable(answer) else answer


class SharedResource(Generic[T]):
    """Something that is opened once for all who await it, whatever their event loop. What could not be opened is tried again."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._begin = begin
        self._begun: Future[T] | None = None
        self._lock = Lock()

    def holding(self, opened: T) -> SharedResource[T]:
        """Another, of something that is open already."""
        other = SharedResource(self._begin)
        other._begun = Future()
        other._begun.set_result(opened)
        return other

    async def opened(self) -> T:
        """What is open. When the event loop that began to open it ends too soon, another begins anew."""
        while True:
            begun = self._beginning()
            try:
                return begun.result() if begun.done() else await asyncio.wrap_future(begun)
            except _LoopEndedError:
                continue

    async def close(self, by: Callable[[T], Awaitable[None]]) -> None:
        """Close what was opened, or is being opened. Whoever is cancelled meanwhile leaves the closing to go on."""
        if self._begun is not None:
            await asyncio.shield(asyncio.ensure_future(_close_when_open(self._begun, by)))

    def _beginning(self) -> Future[T]:
        with self._lock:
            if self._begun is None or (self._begun.done() and self._begun.exception() is not None):
                self._begun = _start_shared(self._begin())
            return self._begun


class _LoopEndedError(Exception):
    """The event loop that did it has ended."""


def _start_shared(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Work of this event loop that any may await. It counts as running, so that whoever is cancelled cancels it for nobody else."""
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()
    asyncio.ensure_future(work).add_done_callback(lambda done: _copy_outcome(done, outcome))
    return outcome


def _copy_outcome(done: asyncio.Future[T], outcome: Future[T]) -> None:
    error = _LoopEndedError() if done.cancelled() else done.exception()
    if error is None:
        outcome.set_result(done.result())
    else:
        outcome.set_exception(error)


async def _close_when_open(begun: Future[T], by: Callable[[T], Awaitable[None]]) -> None:
    try:
        opened = await asyncio.wrap_future(begun)
    except Exception:  # noqa: BLE001 - what could not be opened needs no closing, and whoever opened it was told
        return
    await by(opened)
