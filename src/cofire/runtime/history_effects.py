"""Effects on removals: receipts, fact history, and the journal of recall snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from cofire.model import ForgetReceipt, KeptReceipt, RemovedCascade
from cofire.runtime.effects import RunContext


@dataclass(frozen=True, slots=True)
class FetchCascade:
    """What would go with these facts?"""

    ids: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.taken(self.ids)


@dataclass(frozen=True, slots=True)
class SaveReceipt:
    """Keep what is about to go. Answers the receipt with its path."""

    blocks: ClassVar[bool] = True
    receipt: ForgetReceipt
    taken: RemovedCascade

    def put(self, world: RunContext) -> ForgetReceipt:
        return world.receipts.keep(self.receipt, self.taken)


@dataclass(frozen=True, slots=True)
class DeleteReceipt:
    """Remove a receipt."""

    blocks: ClassVar[bool] = True
    receipt: ForgetReceipt

    def put(self, world: RunContext) -> None:
        world.receipts.drop(self.receipt)


@dataclass(frozen=True, slots=True)
class FindReceipt:
    """The receipt with this id or at this path, or None."""

    blocks: ClassVar[bool] = True
    given: str

    def put(self, world: RunContext) -> KeptReceipt | None:
        return world.receipts.find(self.given)


@dataclass(frozen=True, slots=True)
class ListOtherReceipts:
    """All receipts but this one, the latest first."""

    blocks: ClassVar[bool] = True
    receipt: ForgetReceipt

    def put(self, world: RunContext) -> list[KeptReceipt]:
        return world.receipts.others(self.receipt)


@dataclass(frozen=True, slots=True)
class MarkReceiptUndone:
    """Note when a receipt was undone."""

    blocks: ClassVar[bool] = True
    kept: KeptReceipt
    now: datetime

    def put(self, world: RunContext) -> None:
        world.receipts.mark_undone(self.kept, self.now)


@dataclass(frozen=True, slots=True)
class DeleteExpiredReceipts:
    """Remove the receipts that have run out."""

    blocks: ClassVar[bool] = True
    now: datetime

    def put(self, world: RunContext) -> int:
        return world.receipts.sweep(self.now)


@dataclass(frozen=True, slots=True)
class RemoveFactsFromReceipts:
    """Take these facts out of every receipt."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str]

    def put(self, world: RunContext) -> None:
        world.receipts.strike(self.ids)


@dataclass(frozen=True, slots=True)
class RewriteStore:
    """Let nothing of what was removed be left between the lines, in a store that has such."""

    blocks: ClassVar[bool] = True

    def put(self, world: RunContext) -> None:
        getattr(world.store, "write_anew", lambda: None)()


@dataclass(frozen=True, slots=True)
class FetchFactHistory:
    """What did a fact say before?"""

    id: str

    def put(self, world: RunContext) -> Any:
        return world.store.history(self.id)


@dataclass(frozen=True, slots=True)
class AppendJournalLine:
    """Add a line to a file of the journal, of which the newest so many are kept."""

    blocks: ClassVar[bool] = True
    name: str
    line: Mapping[str, Any]
    folder: str
    most: int

    def put(self, world: RunContext) -> None:
        world.journal.append(self.name, self.line, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class FetchJournalLines:
    """The newest lines of a file of the journal, the oldest of them first."""

    blocks: ClassVar[bool] = True
    name: str
    folder: str
    most: int

    def put(self, world: RunContext) -> list[dict[str, Any]]:
        return world.journal.lines(self.name, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class LocateJournal:
    """In which folder is the journal? Empty where it lives in this process alone."""

    folder: str

    def put(self, world: RunContext) -> str:
        return str(world.journal.place(self.folder) or "")


@dataclass(frozen=True, slots=True)
class DeleteJournalLines:
    """Take out of the journal what mentions these ids, or everything; tells how many lines that were."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str] | None
    folder: str

    def put(self, world: RunContext) -> int:
        if self.ids is None:
            return world.journal.clear(folder=self.folder)
        return world.journal.drop(self.ids, folder=self.folder)
