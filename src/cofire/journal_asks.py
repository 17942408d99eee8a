"""What a verb may ask of the journal: add a line, read the lines, take some out. Answered like all asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cofire.asks import World


@dataclass(frozen=True, slots=True)
class Note:
    """Add a line to a file of the journal, of which the newest so many are kept."""

    blocks: ClassVar[bool] = True
    name: str
    line: Mapping[str, Any]
    folder: str
    most: int

    def put(self, world: World) -> None:
        world.journal.append(self.name, self.line, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class Noted:
    """The newest lines of a file of the journal, the oldest of them first."""

    blocks: ClassVar[bool] = True
    name: str
    folder: str
    most: int

    def put(self, world: World) -> list[dict[str, Any]]:
        return world.journal.lines(self.name, folder=self.folder, most=self.most)


@dataclass(frozen=True, slots=True)
class WhereNoted:
    """In which folder is the journal? Empty where it lives in this process alone."""

    folder: str

    def put(self, world: World) -> str:
        return str(world.journal.place(self.folder) or "")


@dataclass(frozen=True, slots=True)
class Unnote:
    """Take out of the journal what mentions these ids, or everything; tells how many lines that were."""

    blocks: ClassVar[bool] = True
    ids: Sequence[str] | None
    folder: str

    def put(self, world: World) -> int:
        if self.ids is None:
            return world.journal.clear(folder=self.folder)
        return world.journal.drop(self.ids, folder=self.folder)
