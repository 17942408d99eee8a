"""Effects on files beside the store: receipts of removals, and the journal of recall snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from cofire.model import ForgetReceipt, KeptReceipt, RemovedCascade
from cofire.runtime.effects import Effect, RunContext


@dataclass(frozen=True, slots=True)
class SaveReceipt(Effect):
    """Keep what is about to go. Answers the receipt with its path."""

    blocks: ClassVar[bool] = True
    receipt: ForgetReceipt
    taken: RemovedCascade

    def run(self, context: RunContext) -> ForgetReceipt:
        return context.receipts.keep(self.receipt, self.taken)


@dataclass(frozen=True, slots=True)
class DeleteReceipt(Effect):
    """Remove a receipt."""

    blocks: ClassVar[bool] = True
    receipt: ForgetReceipt

    def run(self, context: RunContext) -> None:
        context.receipts.drop(self.receipt)


@dataclass(frozen=True, slots=True)
class FindReceipt(Effect):
    """The receipt with this id or at this path, or None."""

    blocks: ClassVar[bool] = True
    given: str

    def run(self, context: RunContext) -> KeptReceipt | None:
        return context.receipts.find(self.given)


@dataclass(frozen=True, slots=True)
class ListOtherReceipts(Effect):
    """All receipts but this one, the latest first."""

    blocks: ClassVar[bool] = True
    receipt: ForgetReceipt

    def run(self, context: RunContext) -> list[KeptReceipt]:
        return context.receipts.others(self.receipt)


@dataclass(frozen=True, slots=True)
class MarkReceiptUndone(Effect):
    """Note when a receipt was undone."""

    blocks: ClassVar[bool] = True
    kept: KeptReceipt
    now: datetime

    def run(self, context: RunContext) -> None:
        context.receipts.mark_undone(self.kept, self.now)


@dataclass(frozen=True, slots=True)
class DeleteExpiredReceipts(Effect):
    """Remove the receipts that have run out."""

    blocks: ClassVar[bool] = True
    now: datetime

    def run(self, context: RunContext) -> int:
        return context.receipts.sweep(self.now)


@dataclass(frozen=True, slots=True)
class RemoveFactsFromReceipts(Effect):
    """Take these facts out of every receipt."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str]

    def run(self, context: RunContext) -> None:
        context.receipts.strike(self.ids)


@dataclass(frozen=True, slots=True)
class AppendJournalLine(Effect):
    """Add a line to a file of the journal, of which the newest so many are kept."""

    blocks: ClassVar[bool] = True
    name: str
    line: Mapping[str, Any]
    folder: str
    most: int

    def run(self, context: RunContext) -> None:
        context.journal.append(self.name, self.line, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class FetchJournalLines(Effect):
    """The newest lines of a file of the journal, the oldest of them first."""

    blocks: ClassVar[bool] = True
    name: str
    folder: str
    most: int

    def run(self, context: RunContext) -> list[dict[str, Any]]:
        return context.journal.lines(self.name, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class LocateJournal(Effect):
    """In which folder is the journal? Empty where it lives in this process alone."""

    folder: str

    def run(self, context: RunContext) -> str:
        return str(context.journal.place(self.folder) or "")


@dataclass(frozen=True, slots=True)
class DeleteJournalLines(Effect):
    """Take out of the journal what mentions these ids, or everything; tells how many lines that were."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str] | None
    folder: str

    def run(self, context: RunContext) -> int:
        if self.ids is None:
            return context.journal.clear(folder=self.folder)
        return context.journal.drop(self.ids, folder=self.folder)
