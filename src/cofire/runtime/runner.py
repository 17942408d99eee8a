"""Run a verb: answer its effects until it ends, synchronously or asynchronously.

What verbs are driven in may have to be opened first, once for all who await it: `SharedResource`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import closing
from threading import Lock
from typing import Any, Generic, TypeVar, cast

from cofire.runtime.effects import Effect, Emit, RunContext, Steps

T = TypeVar("T")


class _StepsRun(Generic[T]):
    """A verb under way: the effect it waits for, or the value it returned."""

    def __init__(self, steps: Steps[T]) -> None:
        self.steps = steps
        self.done = False
        self.value: Any = None
        self.effect: Any = None
        self.advance(next, steps)

    def advance(self, resume: Callable[..., Effect], *arguments: Any) -> None:
        """Resume the verb up to its next effect or its end."""
        try:
            self.effect = resume(*arguments)
        except StopIteration as end:
            self.done, self.value = True, end.value

    def step(self, context: RunContext) -> None:
        """Run the current effect and send its answer, or throw its error, into the verb."""
        try:
            answer = self.effect.run(context)
        except Exception as error:  # noqa: BLE001 - the verb decides what an error means
            return self.advance(self.steps.throw, error)
        self.advance(self.steps.send, answer)

    async def step_async(self, context: RunContext) -> None:
        """The same, awaited."""
        try:
            answer = await self.effect.run_async(context)
        except Exception as error:  # noqa: BLE001 - the verb decides what an error means
            return self.advance(self.steps.throw, error)
        self.advance(self.steps.send, answer)


def run_steps(steps: Steps[T], context: RunContext, listen: Callable[[Any], None] | None = None) -> T:
    """Run a verb to its end, answering each effect. An interrupted verb is closed."""
    with closing(steps):
        run, context = _StepsRun(steps), context.for_call()
        while not run.done:
            if isinstance(run.effect, Emit) and listen is not None:
                listen(run.effect.value)
            run.step(context)
        return cast(T, run.value)


def stream_steps(steps: Steps[Any], context: RunContext) -> Iterator[Any]:
    """The values that a verb emits, as it runs."""
    with closing(steps):
        run, context = _StepsRun(steps), context.for_call()
        while not run.done:
            if isinstance(run.effect, Emit):
                yield run.effect.value
            run.step(context)


async def run_steps_async(steps: Steps[T], context: RunContext, listen: Callable[[Any], None] | None = None) -> T:
    """Run a verb to its end, awaiting each answer."""
    with closing(steps):
        run, context = _StepsRun(steps), context.for_call()
        while not run.done:
            if isinstance(run.effect, Emit) and listen is not None:
                listen(run.effect.value)
            await run.step_async(context)
        return cast(T, run.value)


async def stream_steps_async(steps: Steps[Any], context: RunContext) -> AsyncIterator[Any]:
    """The values that a verb emits, as it runs, between awaits."""
    with closing(steps):
        run, context = _StepsRun(steps), context.for_call()
        while not run.done:
            if isinstance(run.effect, Emit):
                yield run.effect.value
            await run.step_async(context)


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
