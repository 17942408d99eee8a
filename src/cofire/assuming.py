"""Assuming: a verb begins with a record as the store saw it last, and anew if that holds no more. It saves a server a round trip a verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from cofire.asks import Asking, World
from cofire.errors import CofireError
from cofire.model import Record
from cofire.stores.base import Overtaken

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Assumed:
    """A named record as the store saw it last, where it can confirm that with its next answer; else as it is."""

    name: str

    def put(self, world: World) -> Any:
        return getattr(world.store, "assume", world.store.record)(self.name)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Is everything as it was assumed to be? Costs nothing where a later answer has confirmed it."""

    def put(self, world: World) -> Any:
        return getattr(world.store, "confirm", lambda: None)()


def assuming(name: str, begin: Callable[[Record | None], Asking[T]]) -> Asking[T]:
    """A verb that begins with a record as it is at this moment, whoever changed it."""
    while True:
        record: Record | None = yield Assumed(name)
        try:
            return (yield from _confirmed(begin(record)))
        except Overtaken:
            continue


def _confirmed(verb: Asking[T]) -> Asking[T]:
    """A verb that ends, well or in an error of its own, only when what it assumed is sure."""
    try:
        found = yield from verb
    except CofireError:
        yield Confirmed()
        raise
    yield Confirmed()
    return found
