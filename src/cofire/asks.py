"""What a verb may ask for. No verb ever waits itself: whoever drives it does.

A verb is a generator: it yields asks and is sent their answers. An answer that is an error is thrown into the verb at the
place where it asked, so that a verb can name a failing channel or try again after a conflict.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

from cofire.embedders.base import Embedder, Resident, Role, Vectors
from cofire.errors import Conflict
from cofire.journal import Journal
from cofire.model import Change, Fact, Where
from cofire.reading.base import Reader, Reading, Wanted
from cofire.reading.failures import attempt
from cofire.receipts import Receipts
from cofire.stores.base import Store, WordCue

T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """What asks are answered from: a store, an embedder or none, a clock, a source of new ids, a reader of texts, channels
    that were added, a journal, and the session that is going on, if it has a name."""

    store: Store
    embedder: Embedder | None
    clock: Callable[[], datetime]
    mint: Callable[[datetime, int], list[str]]
    reader: Reader
    channels: dict[str, Any] = field(default_factory=dict)
    journal: Journal = field(default_factory=lambda: Journal(None))
    receipts: Receipts = field(default_factory=lambda: Receipts(None))
    session: str | None = None

    @property
    def store_awaits(self) -> bool:
        """Whether the store answers with what is to be awaited, and must be asked in the event loop that it belongs to."""
        return bool(getattr(self.store, "awaits", False))

    def seated(self) -> World:
        """The same for one verb: a store far away keeps at hand for it what comes along with its answers."""
        sitting = getattr(self.store, "sitting", None)
        return replace(self, store=sitting()) if sitting else self


class Ask(Protocol):
    """Something a verb wants to know or have done. One that `blocks` by itself, whatever the store, is answered in a thread."""

    def put(self, world: World) -> Any: ...


Asking = Generator[Ask, Any, T]


@dataclass(frozen=True, slots=True)
class Now:
    """What time is it?"""

    def put(self, world: World) -> datetime:
        return world.clock()


@dataclass(frozen=True, slots=True)
class Mint:
    """New ids for facts learned at a moment, in growing order."""

    moment: datetime
    count: int

    def put(self, world: World) -> list[str]:
        return world.mint(self.moment, self.count)


@dataclass(frozen=True, slots=True)
class Embed:
    """One unit vector a text, or None where there is no embedder."""

    blocks: ClassVar[bool] = True
    texts: Sequence[str]
    role: Role

    def put(self, world: World) -> Vectors | None:
        return world.embedder.embed(self.texts, self.role) if world.embedder else None


@dataclass(frozen=True, slots=True)
class WhichModel:
    """Which embedder is at hand? None where there is none."""

    def put(self, world: World) -> Resident | None:
        embedder = world.embedder
        return Resident.of(embedder) if embedder else None


@dataclass(frozen=True, slots=True)
class Understand:
    """What these facts say, as far as it is wanted."""

    blocks: ClassVar[bool] = True
    facts: Sequence[Fact]
    wanted: Wanted = "all"

    def put(self, world: World) -> list[Reading]:
        return [self._read(world.reader, fact) for fact in self.facts]

    def _read(self, reader: Reader, fact: Fact) -> Reading:
        unread = Reading(sentences=(fact.reading.strip(),), failed=("reader",))
        return attempt("reader", lambda: reader.read(fact, wanted=self.wanted), unread)


@dataclass(frozen=True, slots=True)
class Recognise:
    """Which of these content hashes are stored already, and under which id?"""

    hashes: Sequence[bytes]

    def put(self, world: World) -> Any:
        return world.store.recognise(self.hashes)


@dataclass(frozen=True, slots=True)
class Read:
    """The facts with these ids, None for an unknown one."""

    ids: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.read(self.ids)


@dataclass(frozen=True, slots=True)
class Scan:
    """Facts that pass a filter, newest first, a page at a time."""

    where: Where
    limit: int
    before: str | None = None

    def put(self, world: World) -> Any:
        return world.store.scan(self.where, self.limit, self.before)


@dataclass(frozen=True, slots=True)
class Nearest:
    """Ids that the vector index proposes."""

    vector: Vectors
    k: int
    where: Where
    candidates: int

    def put(self, world: World) -> Any:
        return world.store.nearest(self.vector, self.k, self.where, self.candidates)


@dataclass(frozen=True, slots=True)
class Alike:
    """The facts nearest to a vector that are no farther than this, with what linking looks at."""

    vector: Vectors
    k: int
    where: Where
    candidates: int
    least: float

    def put(self, world: World) -> Any:
        return world.store.alike(self.vector, self.k, self.where, self.candidates, self.least)


@dataclass(frozen=True, slots=True)
class Matching:
    """Ids that the word index proposes."""

    cue: WordCue
    k: int
    where: Where

    def put(self, world: World) -> Any:
        return world.store.matching(self.cue, self.k, self.where)


@dataclass(frozen=True, slots=True)
class Weigh:
    """What scoring needs to know of these facts, their vectors and how often they hold these words, and of the turns around them."""

    ids: Sequence[str]
    words: Sequence[str]
    reach: int = 0
    near: int = 0

    def put(self, world: World) -> Any:
        return world.store.weigh(self.ids, self.words, self.reach, self.near)


@dataclass(frozen=True, slots=True)
class Statistics:
    """How common these words are in these scopes, as last counted."""

    scopes: Sequence[str]
    words: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.statistics(self.scopes, self.words)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A named record of the store, or None."""

    name: str

    def put(self, world: World) -> Any:
        return world.store.record(self.name)


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Facts that still want a vector of the model that is moving in, a batch at a time."""

    model: bytes
    limit: int

    def put(self, world: World) -> Any:
        return world.store.unembedded(self.model, self.limit)


@dataclass(frozen=True, slots=True)
class Size:
    """What the store holds: counts, bytes, versions."""

    def put(self, world: World) -> Any:
        return world.store.size()


@dataclass(frozen=True, slots=True)
class Backup:
    """Copy the live store to a new file."""

    path: str

    def put(self, world: World) -> Any:
        return world.store.backup(self.path)


@dataclass(frozen=True, slots=True)
class Check:
    """What is wrong with the store?"""

    def put(self, world: World) -> Any:
        return world.store.check()


@dataclass(frozen=True, slots=True)
class Write:
    """Write a change in one transaction; refused with a Conflict when a record it expects has another version by now."""

    change: Change
    expects: Mapping[str, int] = field(default_factory=dict)

    def put(self, world: World) -> Any:
        return world.store.write(self.change, self.expects)


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer of a part of `Together` that went wrong, where the others did not."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Together:
    """Several asks of the store answered as of one moment, in one round trip where the store can. A failing part answers `Failure`."""

    asks: Sequence[Ask]

    def put(self, world: World) -> Any:
        settled = _settled_when_awaited if world.store_awaits else _settled
        return world.store.together([partial(settled, ask, world) for ask in self.asks])


@dataclass(frozen=True, slots=True)
class Emit:
    """Tell whoever listens: progress, or the next part of a stream."""

    value: Any

    def put(self, world: World) -> None:
        return None


def _settled(ask: Ask, world: World) -> Any:
    try:
        return ask.put(world)
    except Exception as error:  # noqa: BLE001 - handed to the verb, which says which part failed
        return Failure(error)


def _settled_when_awaited(ask: Ask, world: World) -> Any:
    found = _settled(ask, world)
    return _awaited(found) if inspect.isawaitable(found) else found


async def _awaited(found: Awaitable[Any]) -> Any:
    try:
        return await found
    except Exception as error:  # noqa: BLE001 - handed to the verb, which says which part failed
        return Failure(error)


def at_one_moment(asks: Sequence[Ask]) -> Asking[list[Any]]:
    """The answers to several asks of the store as of one moment; the first that failed is raised."""
    if len(asks) == 1:
        return [(yield asks[0])]
    answers: list[Any] = (yield Together(asks)) if asks else []
    for answer in answers:
        if isinstance(answer, Failure):
            raise answer.error
    return answers


def again_on_conflict(attempt: Callable[[], Asking[T]], *, tries: int) -> Asking[T]:
    """Run an attempt anew when somebody else wrote in between."""
    for _ in range(tries - 1):
        try:
            return (yield from attempt())
        except Conflict:
            continue
    return (yield from attempt())
