"""What a verb may yield: effects on clock, embedder, reader and store; snapshots and retries.

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

from cofire.embedders.base import Embedder, EmbedderInfo, Role, Vectors
from cofire.errors import CofireError, Conflict
from cofire.model import Change, Fact, FactFilter, StoreRecord
from cofire.stores.base import KeywordQuery, StaleRecord, Store
from cofire.stores.journal_file import Journal
from cofire.stores.receipt_files import ReceiptFolder
from cofire.text.base import FactReading, Reader, ReadingScope, run_reading_rule

T = TypeVar("T")


@dataclass(frozen=True)
class RunContext:
    """What asks are answered from: a store, an embedder or none, a clock, a source of new ids, a reader of texts, channels
    that were added, a journal, and the session that is going on, if it has a name."""

    store: Store
    embedder: Embedder | None
    clock: Callable[[], datetime]
    mint: Callable[[datetime, int], list[str]]
    reader: Reader
    channels: dict[str, Any] = field(default_factory=dict)
    journal: Journal = field(default_factory=lambda: Journal(None))
    receipts: ReceiptFolder = field(default_factory=lambda: ReceiptFolder(None))
    session: str | None = None

    @property
    def store_awaits(self) -> bool:
        """Whether the store answers with what is to be awaited, and must be asked in the event loop that it belongs to."""
        return bool(getattr(self.store, "awaits", False))

    def seated(self) -> RunContext:
        """The same for one verb: a store far away keeps at hand for it what comes along with its answers."""
        sitting = getattr(self.store, "sitting", None)
        return replace(self, store=sitting()) if sitting else self


class Effect(Protocol):
    """Something a verb wants to know or have done. One that `blocks` by itself, whatever the store, is answered in a thread."""

    def put(self, world: RunContext) -> Any: ...


Steps = Generator[Effect, Any, T]


@dataclass(frozen=True, slots=True)
class ReadClock:
    """What time is it?"""

    def put(self, world: RunContext) -> datetime:
        return world.clock()


@dataclass(frozen=True, slots=True)
class MintIds:
    """New ids for facts learned at a moment, in growing order."""

    moment: datetime
    count: int

    def put(self, world: RunContext) -> list[str]:
        return world.mint(self.moment, self.count)


@dataclass(frozen=True, slots=True)
class EmbedTexts:
    """One unit vector a text, or None where there is no embedder."""

    blocks: ClassVar[bool] = True
    texts: Sequence[str]
    role: Role

    def put(self, world: RunContext) -> Vectors | None:
        return world.embedder.embed(self.texts, self.role) if world.embedder else None


@dataclass(frozen=True, slots=True)
class IdentifyEmbedder:
    """Which embedder is at hand? None where there is none."""

    def put(self, world: RunContext) -> EmbedderInfo | None:
        embedder = world.embedder
        return EmbedderInfo.of(embedder) if embedder else None


@dataclass(frozen=True, slots=True)
class AnalyseFacts:
    """What these facts say, as far as it is wanted."""

    blocks: ClassVar[bool] = True
    facts: Sequence[Fact]
    wanted: ReadingScope = "all"

    def put(self, world: RunContext) -> list[FactReading]:
        return [self._read(world.reader, fact) for fact in self.facts]

    def _read(self, reader: Reader, fact: Fact) -> FactReading:
        unread = FactReading(sentences=(fact.reading.strip(),), failed=("reader",))
        return run_reading_rule("reader", lambda: reader.read(fact, wanted=self.wanted), unread)


@dataclass(frozen=True, slots=True)
class FindByHash:
    """Which of these content hashes are stored already, and under which id?"""

    hashes: Sequence[bytes]

    def put(self, world: RunContext) -> Any:
        return world.store.recognise(self.hashes)


@dataclass(frozen=True, slots=True)
class FetchFacts:
    """The facts with these ids, None for an unknown one."""

    ids: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.read(self.ids)


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """Facts that pass a filter, newest first, a page at a time."""

    where: FactFilter
    limit: int
    before: str | None = None

    def put(self, world: RunContext) -> Any:
        return world.store.scan(self.where, self.limit, self.before)


@dataclass(frozen=True, slots=True)
class SearchVectors:
    """Ids that the vector index proposes."""

    vector: Vectors
    k: int
    where: FactFilter
    candidates: int

    def put(self, world: RunContext) -> Any:
        return world.store.nearest(self.vector, self.k, self.where, self.candidates)


@dataclass(frozen=True, slots=True)
class SearchSimilarFacts:
    """The facts nearest to a vector that are no farther than this, with what linking looks at."""

    vector: Vectors
    k: int
    where: FactFilter
    candidates: int
    least: float

    def put(self, world: RunContext) -> Any:
        return world.store.alike(self.vector, self.k, self.where, self.candidates, self.least)


@dataclass(frozen=True, slots=True)
class SearchWords:
    """Ids that the word index proposes."""

    cue: KeywordQuery
    k: int
    where: FactFilter

    def put(self, world: RunContext) -> Any:
        return world.store.matching(self.cue, self.k, self.where)


@dataclass(frozen=True, slots=True)
class FetchFeatures:
    """What scoring needs to know of these facts, their vectors and how often they hold these words, and of the turns around them."""

    ids: Sequence[str]
    words: Sequence[str]
    reach: int = 0
    near: int = 0

    def put(self, world: RunContext) -> Any:
        return world.store.weigh(self.ids, self.words, self.reach, self.near)


@dataclass(frozen=True, slots=True)
class FetchWordStatistics:
    """How common these words are in these scopes, as last counted."""

    scopes: Sequence[str]
    words: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.statistics(self.scopes, self.words)


@dataclass(frozen=True, slots=True)
class FetchRecord:
    """A named record of the store, or None."""

    name: str

    def put(self, world: RunContext) -> Any:
        return world.store.record(self.name)


@dataclass(frozen=True, slots=True)
class FetchUnembedded:
    """Facts that still want a vector of the model that is moving in, a batch at a time."""

    model: bytes
    limit: int

    def put(self, world: RunContext) -> Any:
        return world.store.unembedded(self.model, self.limit)


@dataclass(frozen=True, slots=True)
class FetchStoreSize:
    """What the store holds: counts, bytes, versions."""

    def put(self, world: RunContext) -> Any:
        return world.store.size()


@dataclass(frozen=True, slots=True)
class BackUpStore:
    """Copy the live store to a new file."""

    path: str

    def put(self, world: RunContext) -> Any:
        return world.store.backup(self.path)


@dataclass(frozen=True, slots=True)
class CheckStore:
    """What is wrong with the store?"""

    def put(self, world: RunContext) -> Any:
        return world.store.check()


@dataclass(frozen=True, slots=True)
class WriteChange:
    """Write a change in one transaction; refused with a Conflict when a record it expects has another version by now."""

    change: Change
    expects: Mapping[str, int] = field(default_factory=dict)

    def put(self, world: RunContext) -> Any:
        return world.store.write(self.change, self.expects)


@dataclass(frozen=True, slots=True)
class EffectFailure:
    """The answer of a part of `RunTogether` that went wrong, where the others did not."""

    error: Exception


@dataclass(frozen=True, slots=True)
class RunTogether:
    """Several asks of the store answered as of one moment, in one round trip where the store can. A failing part answers `EffectFailure`."""

    asks: Sequence[Effect]

    def put(self, world: RunContext) -> Any:
        settled = _run_catching_async if world.store_awaits else _run_catching
        return world.store.together([partial(settled, ask, world) for ask in self.asks])


@dataclass(frozen=True, slots=True)
class Emit:
    """Tell whoever listens: progress, or the next part of a stream."""

    value: Any

    def put(self, world: RunContext) -> None:
        return None


def _run_catching(ask: Effect, world: RunContext) -> Any:
    try:
        return ask.put(world)
    except Exception as error:  # noqa: BLE001 - handed to the verb, which says which part failed
        return EffectFailure(error)


def _run_catching_async(ask: Effect, world: RunContext) -> Any:
    found = _run_catching(ask, world)
    return _await_catching(found) if inspect.isawaitable(found) else found


async def _await_catching(found: Awaitable[Any]) -> Any:
    try:
        return await found
    except Exception as error:  # noqa: BLE001 - handed to the verb, which says which part failed
        return EffectFailure(error)


def run_in_snapshot(asks: Sequence[Effect]) -> Steps[list[Any]]:
    """The answers to several asks of the store as of one moment; the first that failed is raised."""
    if len(asks) == 1:
        return [(yield asks[0])]
    answers: list[Any] = (yield RunTogether(asks)) if asks else []
    for answer in answers:
        if isinstance(answer, EffectFailure):
            raise answer.error
    return answers


def retry_on_conflict(attempt: Callable[[], Steps[T]], *, tries: int) -> Steps[T]:
    """Run an attempt anew when somebody else wrote in between."""
    for _ in range(tries - 1):
        try:
            return (yield from attempt())
        except Conflict:
            continue
    return (yield from attempt())


@dataclass(frozen=True, slots=True)
class FetchRecordOptimistically:
    """A named record as the store saw it last, where it can confirm that with its next answer; else as it is."""

    name: str

    def put(self, world: RunContext) -> Any:
        return getattr(world.store, "assume", world.store.record)(self.name)


@dataclass(frozen=True, slots=True)
class ConfirmRecords:
    """Is everything as it was assumed to be? Costs nothing where a later answer has confirmed it."""

    def put(self, world: RunContext) -> Any:
        return getattr(world.store, "confirm", lambda: None)()


def run_optimistically(name: str, begin: Callable[[StoreRecord | None], Steps[T]]) -> Steps[T]:
    """A verb that begins with a record as it is at this moment, whoever changed it."""
    while True:
        record: StoreRecord | None = yield FetchRecordOptimistically(name)
        try:
            return (yield from _run_then_confirm(begin(record)))
        except StaleRecord:
            continue


def _run_then_confirm(verb: Steps[T]) -> Steps[T]:
    """A verb that ends, well or in an error of its own, only when what it assumed is sure."""
    try:
        found = yield from verb
    except CofireError:
        yield ConfirmRecords()
        raise
    yield ConfirmRecords()
    return found
