"""What a verb may ask of what use has taught: log what is shown, look it up, how facts fared, and communities. Answered like all asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cofire.asks import World
from cofire.learned import Keeping, Shown, Way


@dataclass(frozen=True, slots=True)
class LogShown:
    """Note what a recall shows, in the session that is going on."""

    id: str
    at: datetime
    ids: tuple[str, ...]
    ways: Mapping[str, tuple[Way, ...]]
    keeping: Keeping

    def put(self, world: World) -> None:
        world.store.log(Shown(self.id, self.at, world.session, self.ids, self.ways), self.keeping)


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
class Groups:
    """Which communities are there, the largest first, with the most central facts of each?"""

    scopes: Sequence[str] | None
    limit: int
    most: int

    def put(self, world: World) -> Any:
        return world.store.groups(self.scopes, self.limit, self.most)
