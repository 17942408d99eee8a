"""Driving a verb: everything it asks for is answered, one thing after the other, until it ends. Waits, or awaits."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from typing import Any, Generic, TypeVar, cast

from cofire.asks import Ask, Asking, Emit, Mint, Now, World

T = TypeVar("T")


class _Drive(Generic[T]):
    """A verb on its way: the ask it stands at, or the value it ended with."""

    def __init__(self, verb: Asking[T]) -> None:
        self.verb = verb
        self.done = False
        self.value: Any = None
        self.ask: Any = None
        self.move(next, verb)

    def move(self, step: Callable[..., Ask], *given: Any) -> None:
        try:
            self.ask = step(*given)
        except StopIteration as end:
            self.done, self.value = True, end.value


def run(verb: Asking[T], world: World, listen: Callable[[Any], None] | None = None) -> T:
    """Drive a verb to its end, answering each thing it asks for. One that is interrupted is ended too."""
    with closing(verb):
        drive, world = _Drive(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit) and listen is not None:
                listen(drive.ask.value)
            _step(drive, world)
        return cast(T, drive.value)


def stream(verb: Asking[Any], world: World) -> Iterator[Any]:
    """What a verb emits, as it goes."""
    with closing(verb):
        drive, world = _Drive(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit):
                yield drive.ask.value
            _step(drive, world)


async def arun(verb: Asking[T], world: World, listen: Callable[[Any], None] | None = None) -> T:
    """Drive a verb to its end, awaiting each answer."""
    with closing(verb):
        drive, world = _Drive(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit) and listen is not None:
                listen(drive.ask.value)
            await _astep(drive, world)
        return cast(T, drive.value)


async def astream(verb: Asking[Any], world: World) -> AsyncIterator[Any]:
    """What a verb emits, as it goes, between awaits."""
    with closing(verb):
        drive, world = _Drive(verb), world.seated()
        while not drive.done:
            if isinstance(drive.ask, Emit):
                yield drive.ask.value
            await _astep(drive, world)


def _step(drive: _Drive[Any], world: World) -> None:
    try:
        answer = drive.ask.put(world)
    except Exception as error:  # noqa: BLE001 - the verb decides what an error means
        return drive.move(drive.verb.throw, error)
    drive.move(drive.verb.send, answer)


async def _astep(drive: _Drive[Any], world: World) -> None:
    try:
        answer = await _answer(drive.ask, world)
    except Exception as error:  # noqa: BLE001 - the verb decides what an error means
        return drive.move(drive.verb.throw, error)
    drive.move(drive.verb.send, answer)


async def _answer(ask: Ask, world: World) -> Any:
    """A store or model that blocks answers in a thread; one that is asynchronous by nature is awaited where it lives. So is an
    ask that has an `aput` of its own."""
    if isinstance(ask, Emit | Now | Mint):
        return ask.put(world)
    if (awaited := getattr(ask, "aput", None)) is not None:
        return await awaited(world)
    at_once = world.store_awaits and not getattr(ask, "blocks", False)
    answer = ask.put(world) if at_once else await asyncio.to_thread(ask.put, world)
    return await answer if inspect.isawaitable(answer) else answer
