"""A sitting: the store as one verb sees it. What comes along with an answer is kept for the next question of that verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

from cofire.learned import Keeping, Shown
from cofire.model import Record
from cofire.stores.neo4j import assumptions
from cofire.stores.neo4j.bringing import Brought
from cofire.stores.neo4j.methods import Methods
from cofire.stores.neo4j.querying import Begun, Querying

T = TypeVar("T")
P = ParamSpec("P")


class Sitting(Methods):
    """Asks the store that it is of, called or awaited as that one is."""

    def __init__(self, store: Methods) -> None:
        super().__init__(store._address, store._options)
        self._store = store
        self._at_hand = Brought()
        self._counts, self._speakers, self._seen = store._counts, store._speakers, store._seen
        self._unlogged = store._unlogged
        self.awaits = store.awaits

    @property
    def _brought(self) -> Brought:
        return self._at_hand

    def assume(self, name: str) -> Record | None:
        """A record as it was last seen. The next answer confirms it, or raises `Overtaken`."""
        self._refuse_closed()
        if name not in self._seen:
            return self.record(name)
        self._at_hand.assumed[name] = self._seen[name]
        return self._seen[name]

    def confirm(self) -> None:
        """Make sure of what no answer has confirmed yet."""
        if self._at_hand.assumed:
            return self._store._read(partial(assumptions.confirm, self._seen, self._at_hand))

    def together(self, questions: Sequence[Callable[[], Any]], besides: Sequence[Begun[Any]] = ()) -> list[Any]:
        sure = [partial(assumptions.confirm, self._seen, self._at_hand)] if self._at_hand.assumed else []
        return self._store.together(questions, [*besides, *sure])

    def close(self) -> None:
        return self._store.close()

    def _refuse_closed(self) -> None:
        self._store._refuse_closed()

    def _read(self, begun: Begun[T]) -> T:
        if self._at_hand.assumed:
            begun = partial(assumptions.with_reading, self._seen, self._at_hand, begun)
        return self._store._read(begun)

    def _write(self, writing: Callable[P, Querying[T]], *args: P.args, **named: P.kwargs) -> T:
        self._at_hand.let_go()
        begun = partial(writing, *args, **named)
        return self._store._write(assumptions.before_writing, self._seen, self._at_hand, begun)

    def _note(self, waiting: Sequence[Shown], keeping: Keeping) -> None:
        return self._store._note(waiting, keeping)
