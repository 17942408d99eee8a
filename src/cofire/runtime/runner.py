"""Run a verb: answer its effects until it ends, synchronously or asynchronously.

`SharedResource` opens what verbs run in once, for all tasks that await it.
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
    """A resource opened once for all tasks that await it, in any event loop. A failure to open is
    retried by the next task."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._begin = begin
        self._begun: Future[T] | None = None
        self._lock = Lock()

    def holding(self, opened: T) -> SharedResource[T]:
        """The same resource, already open."""
        other = SharedResource(self._begin)
        other._begun = Future()
        other._begun.set_result(opened)
        return other

    async def opened(self) -> T:
        """The open resource. If the event loop that began to open it ended, this one begins again."""
        while True:
            begun = self._beginning()
            try:
                return begun.result() if begun.done() else await asyncio.wrap_future(begun)
            except _LoopEndedError:
                continue

    async def close(self, by: Callable[[T], Awaitable[None]]) -> None:
        """Close the resource, also when it is still being opened. Cancelling the caller does not stop
        the closing."""
        if self._begun is not None:
            await asyncio.shield(asyncio.ensure_future(_close_when_open(self._begun, by)))

    def _beginning(self) -> Future[T]:
        with self._lock:
            if self._begun is None or (self._begun.done() and self._begun.exception() is not None):
                self._begun = _start_shared(self._begin())
            return self._begun


class _LoopEndedError(Exception):
    """The event loop that did the work has ended."""


def _start_shared(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Work of this event loop that any loop may await. It counts as running, so that one cancelled
    caller does not cancel it for the others."""
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
    except Exception:  # noqa: BLE001 - it was never open, and the opener got the error
        return
    await by(opened)
