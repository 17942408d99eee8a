"""What a verb may ask about forgetting and changing: what would go, receipts, what a fact said before. Answered like all asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from cofire.asks import World
from cofire.revising import Kept, Receipt, Taken


@dataclass(frozen=True, slots=True)
class WhatGoes:
    """What would go with these facts?"""

    ids: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.taken(self.ids)


@dataclass(frozen=True, slots=True)
class KeepReceipt:
    """Keep what is about to go. Answers the receipt with its path."""

    blocks: ClassVar[bool] = True
    receipt: Receipt
    taken: Taken

    def put(self, world: World) -> Receipt:
        return world.receipts.keep(self.receipt, self.taken)


@dataclass(frozen=True, slots=True)
class DropReceipt:
    """Remove a receipt."""

    blocks: ClassVar[bool] = True
    receipt: Receipt

    def put(self, world: World) -> None:
        world.receipts.drop(self.receipt)


@dataclass(frozen=True, slots=True)
class FindReceipt:
    """The receipt with this id or at this path, or None."""

    blocks: ClassVar[bool] = True
    given: str

    def put(self, world: World) -> Kept | None:
        return world.receipts.find(self.given)


@dataclass(frozen=True, slots=True)
class OtherReceipts:
    """All receipts but this one, the latest first."""

    blocks: ClassVar[bool] = True
    receipt: Receipt

    def put(self, world: World) -> list[Kept]:
        return world.receipts.others(self.receipt)


@dataclass(frozen=True, slots=True)
class NoteUndone:
    """Note when a receipt was undone."""

    blocks: ClassVar[bool] = True
    kept: Kept
    now: datetime

    def put(self, world: World) -> None:
        world.receipts.mark_undone(self.kept, self.now)


@dataclass(frozen=True, slots=True)
class SweepReceipts:
    """Remove the receipts that have run out."""

    blocks: ClassVar[bool] = True
    now: datetime

    def put(self, world: World) -> int:
        return world.receipts.sweep(self.now)


@dataclass(frozen=True, slots=True)
class StrikeFromReceipts:
    """Take these facts out of every receipt."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str]

    def put(self, world: World) -> None:
        world.receipts.strike(self.ids)


@dataclass(frozen=True, slots=True)
class WriteAnew:
    """Let nothing of what was removed be left between the lines, in a store that has such."""

    blocks: ClassVar[bool] = True

    def put(self, world: World) -> None:
        getattr(world.store, "write_anew", lambda: None)()


@dataclass(frozen=True, slots=True)
class HistoryOf:
    """What did a fact say before?"""

    id: str

    def put(self, world: World) -> Any:
        return world.store.history(self.id)
