"""What a verb may ask of what use has taught: log what is shown, look it up, how facts fared, and communities. Answered like all asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cofire.asks import World
from cofire.learned import Keeping, Shown, Way


@dataclass(frozen=True, slots=True)
class LogShown:
    """Note what a recall shows now, in the session that is going on. The answer is the id by which it can be named."""

    ids: tuple[str, ...]
    ways: Mapping[str, tuple[Way, ...]]
    keeping: Keeping

    def put(self, world: World) -> str:
        now = world.clock()
        [id] = world.mint(now, 1)
        world.store.log(Shown(id, now, world.session, self.ids, self.ways), self.keeping)
        return id


@dataclass(frozen=True, slots=True)
class ShownBy:
    """What did the recall with this id show?"""

    id: str

    def put(self, world: World) -> Any:
        return world.store.shown(self.id)


@dataclass(frozen=True, slots=True)
class Uses:
    """How often did these facts help and hurt?"""

    ids: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.uses(self.ids)


@dataclass(frozen=True, slots=True)
class Occasions:
    """Which judged recalls had several of these facts at their first places?"""

    ids: Sequence[str]
    limit: int

    def put(self, world: World) -> Any:
        return world.store.occasions(self.ids, self.limit)


@dataclass(frozen=True, slots=True)
class Groups:
    """Which communities are there, the largest first, with the most central facts of each?"""

    scopes: Sequence[str] | None
    limit: int
    most: int

    def put(self, world: World) -> Any:
        return world.store.groups(self.scopes, self.limit, self.most)
