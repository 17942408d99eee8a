"""What a verb may yield: store calls, and effects on clock, ids, embedder, reader and listener.

A verb is a generator: it yields effects and is sent their answers. An error is thrown into the verb where it yielded the
effect, so that a verb can name a failing channel or try again after a conflict.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, TypeVar

from cofire.embedders.base import Embedder, EmbedderInfo, Role, Vectors
from cofire.model import Fact
from cofire.stores.base import Store
from cofire.stores.journal_file import Journal
from cofire.stores.receipt_files import ReceiptFolder
from cofire.text.base import FactReading, Reader, ReadingScope, run_reading_rule

T = TypeVar("T")


@dataclass(frozen=True)
class RunContext:
    """What effects run on. `channels` are those that users added, `session` names the current session."""

    store: Store
    embedder: Embedder | None
    clock: Callable[[], datetime]
    mint: Callable[[datetime, int], list[str]]
    reader: Reader
    channels: dict[str, Any] = field(default_factory=dict)
    journal: Journal = field(default_factory=lambda: Journal(None))
    receipts: ReceiptFolder = field(default_factory=lambda: ReceiptFolder(None))
    session: str | None = None

    def for_call(self) -> RunContext:
        """The context of one verb call, whose store may cache what it prefetches."""
        store = self.store.for_call()
        return self if store is self.store else replace(self, store=store)


class Effect:
    """Something a verb wants to know or have done. In an awaited verb, an effect that `blocks` runs
    in a thread."""

    __slots__ = ()
    blocks: ClassVar[bool] = False

    def run(self, context: RunContext) -> Any:
        raise NotImplementedError

    async def run_async(self, context: RunContext) -> Any:
        return await asyncio.to_thread(self.run, context) if self.blocks else self.run(context)


Steps = Generator[Effect, Any, T]


@dataclass(frozen=True, slots=True)
class StoreCall(Effect):
    """Call one method of the store."""

    method: str
    arguments: tuple[Any, ...] = ()

    def run(self, context: RunContext) -> Any:
        return getattr(context.store, self.method)(*self.arguments)

    async def run_async(self, context: RunContext) -> Any:
        return await _run_on_store(self, context)


@dataclass(frozen=True, slots=True)
class Together(Effect):
    """Call several methods of the store as of one moment, in one round trip where the store can.

    A failing call answers `CallFailure`.
    """

    calls: Sequence[StoreCall]

    def run(self, context: RunContext) -> Any:
        return context.store.together(self.calls)

    async def run_async(self, context: RunContext) -> Any:
        return await _run_on_store(self, context)


async def _run_on_store(effect: Effect, context: RunContext) -> Any:
    """An async store belongs to the event loop it was opened in. Any other store blocks."""
    if not context.store.is_async:
        return await asyncio.to_thread(effect.run, context)
    answer = effect.run(context)
    return await answer if inspect.isawaitable(answer) else answer


@dataclass(frozen=True, slots=True)
class ReadClock(Effect):
    """The current time."""

    def run(self, context: RunContext) -> datetime:
        return context.clock()


@dataclass(frozen=True, slots=True)
class MintIds(Effect):
    """New ids for facts learned at a moment, in growing order."""

    moment: datetime
    count: int

    def run(self, context: RunContext) -> list[str]:
        return context.mint(self.moment, self.count)


@dataclass(frozen=True, slots=True)
class ReadSession(Effect):
    """The name of the current session, or None."""

    def run(self, context: RunContext) -> str | None:
        return context.session


@dataclass(frozen=True, slots=True)
class EmbedTexts(Effect):
    """One unit vector a text, or None where there is no embedder."""

    blocks: ClassVar[bool] = True
    texts: Sequence[str]
    role: Role

    def run(self, context: RunContext) -> Vectors | None:
        return context.embedder.embed(self.texts, self.role) if context.embedder else None


@dataclass(frozen=True, slots=True)
class IdentifyEmbedder(Effect):
    """Name and dimension of the embedder, or None where there is none. A remote one may be asked for them."""

    blocks: ClassVar[bool] = True

    def run(self, context: RunContext) -> EmbedderInfo | None:
        return EmbedderInfo.of(context.embedder) if context.embedder else None


@dataclass(frozen=True, slots=True)
class AnalyseFacts(Effect):
    """What the reader finds in these facts, as far as it is wanted."""

    blocks: ClassVar[bool] = True
    facts: Sequence[Fact]
    wanted: ReadingScope = "all"

    def run(self, context: RunContext) -> list[FactReading]:
        return [self._read(context.reader, fact) for fact in self.facts]

    def _read(self, reader: Reader, fact: Fact) -> FactReading:
        unread = FactReading(sentences=(fact.reading.strip(),), failed=("reader",))
        return run_reading_rule("reader", lambda: reader.read(fact, wanted=self.wanted), unread)


@dataclass(frozen=True, slots=True)
class Emit(Effect):
    """Hand a value to the listener: progress, or the next part of a stream."""

    value: Any

    def run(self, context: RunContext) -> None:
        return None
