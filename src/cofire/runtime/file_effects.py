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
    """Save the rows to be removed. Answers the receipt with its path."""

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
    """All receipts except this one, the latest first."""

    blocks: ClassVar[bool] = True
    receipt: ForgetReceipt

    def run(self, context: RunContext) -> list[KeptReceipt]:
        return context.receipts.others(self.receipt)


@dataclass(frozen=True, slots=True)
class MarkReceiptUndone(Effect):
    """Record when a receipt was undone."""

    blocks: ClassVar[bool] = True
    kept: KeptReceipt
    now: datetime

    def run(self, context: RunContext) -> None:
        context.receipts.mark_undone(self.kept, self.now)


@dataclass(frozen=True, slots=True)
class DeleteExpiredReceipts(Effect):
    """Delete receipts past their expiry. Answers how many."""

    blocks: ClassVar[bool] = True
    now: datetime

    def run(self, context: RunContext) -> int:
        return context.receipts.sweep(self.now)


@dataclass(frozen=True, slots=True)
class RemoveFactsFromReceipts(Effect):
    """Remove these facts from every receipt."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str]

    def run(self, context: RunContext) -> None:
        context.receipts.strike(self.ids)


@dataclass(frozen=True, slots=True)
class AppendJournalLine(Effect):
    """Append a line to a journal file, which keeps its newest `most` lines."""

    blocks: ClassVar[bool] = True
    name: str
    line: Mapping[str, Any]
    folder: str
    most: int

    def run(self, context: RunContext) -> None:
        context.journal.append(self.name, self.line, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class FetchJournalLines(Effect):
    """The newest lines of a journal file, in the order they were written."""

    blocks: ClassVar[bool] = True
    name: str
    folder: str
    most: int

    def run(self, context: RunContext) -> list[dict[str, Any]]:
        return context.journal.lines(self.name, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class LocateJournal(Effect):
    """The folder of the journal; empty for a journal in memory."""

    folder: str

    def run(self, context: RunContext) -> str:
        return str(context.journal.place(self.folder) or "")


@dataclass(frozen=True, slots=True)
class DeleteJournalLines(Effect):
    """Delete the journal lines that mention these ids, or all lines. Answers how many."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str] | None
    folder: str

    def run(self, context: RunContext) -> int:
        if self.ids is None:
            return context.journal.clear(folder=self.folder)
        return context.journal.drop(self.ids, folder=self.folder)
