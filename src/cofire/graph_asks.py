"""What a verb may ask of the graph: edges, links, the inbox, kin, and whole scopes as arrays. Answered like all asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.asks import World
from cofire.model import Where
from cofire.stores.base import Conducting, EdgeFilter


@dataclass(frozen=True, slots=True)
class Edges:
    """Stored edges."""

    wanted: EdgeFilter
    limit: int

    def put(self, world: World) -> Any:
        return world.store.edges(self.wanted, self.limit)


@dataclass(frozen=True, slots=True)
class Links:
    """All that a fact is linked with, and what the links go through."""

    id: str
    limit: int

    def put(self, world: World) -> Any:
        return world.store.links(self.id, self.limit)


@dataclass(frozen=True, slots=True)
class Expand:
    """Where do these facts lead, along links that conduct enough to be of use?"""

    ids: Sequence[str]
    conducting: Conducting
    least: NDArray[np.float64] | None = None

    def put(self, world: World) -> Any:
        return world.store.expand(self.ids, self.conducting, self.least)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Which of these names does memory know, and who is about them?"""

    names: Sequence[str]
    where: Where
    most: int

    def put(self, world: World) -> Any:
        return world.store.known(self.names, self.where, self.most)


@dataclass(frozen=True, slots=True)
class Speaking:
    """Which facts hold all the words of a name, and do not mention it? With `anew` also of names that a fact is about already."""

    scope: str
    names: Mapping[str, Sequence[str]]
    most: int
    anew: bool

    def put(self, world: World) -> Any:
        return world.store.speaking(self.scope, self.names, self.most, self.anew)


@dataclass(frozen=True, slots=True)
class Timely:
    """Which facts are of these times?"""

    spans: Sequence[tuple[datetime, datetime]]
    k: int
    where: Where

    def put(self, world: World) -> Any:
        return world.store.timely(self.spans, self.k, self.where)


@dataclass(frozen=True, slots=True)
class Admitted:
    """Which of these facts may be seen?"""

    ids: Sequence[str]
    where: Where

    def put(self, world: World) -> Any:
        return world.store.admitted(self.ids, self.where)


@dataclass(frozen=True, slots=True)
class Voices:
    """Which speakers do these words name?"""

    scopes: Sequence[str]
    words: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.voices(self.scopes, self.words)


@dataclass(frozen=True, slots=True)
class KnownTags:
    """Which of these are tags in these scopes?"""

    scopes: Sequence[str]
    names: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.tags(self.scopes, self.names)


@dataclass(frozen=True, slots=True)
class Paths:
    """Where do the names of these facts lead?"""

    ids: Sequence[str]
    where: Where
    common: int
    most: int

    def put(self, world: World) -> Any:
        return world.store.paths(self.ids, self.where, self.common, self.most)


@dataclass(frozen=True, slots=True)
class Places:
    """In which sentences of these facts do these words stand?"""

    ids: Sequence[str]
    words: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.places(self.ids, self.words)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Facts that wait in the inbox for a dream."""

    scopes: Sequence[str] | None
    limit: int

    def put(self, world: World) -> Any:
        return world.store.waiting(self.scopes, self.limit)


@dataclass(frozen=True, slots=True)
class FindKin:
    """Pairs of facts that may belong together."""

    ids: Sequence[str]
    k: int
    sharing: int

    def put(self, world: World) -> Any:
        return world.store.kin(self.ids, self.k, self.sharing)


@dataclass(frozen=True, slots=True)
class Profiles:
    """What the edge score looks at in facts, in one reading."""

    ids: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.profiles(self.ids)


@dataclass(frozen=True, slots=True)
class TheNetwork:
    """The graph of a scope as arrays."""

    scope: str

    def put(self, world: World) -> Any:
        return world.store.network(self.scope)


@dataclass(frozen=True, slots=True)
class ActiveHours:
    """How long has the memory been in use?"""

    def put(self, world: World) -> Any:
        return world.store.active_hours()


@dataclass(frozen=True, slots=True)
class Rated:
    """PageRank and community of facts."""

    ids: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.importance(self.ids)


@dataclass(frozen=True, slots=True)
class Described:
    """How a fact was described over time."""

    id: str

    def put(self, world: World) -> Any:
        return world.store.descriptions(self.id)
