"""Noting: what a transaction writes of new facts, put down as the index takes it in, so that nobody need read it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import numpy as np

from cofire.model import Change
from cofire.stores.index.index import Row
from cofire.stores.index.names import NOTHING_HELD, Held
from cofire.stores.index.terms import Held as Words

# So few are likely to be looked at before the next are told, by one who tells them one by one.
FEW_FACTS = 8
# All that a change may tell besides a few facts and what these are linked with.
_NOTED = {"now", "facts", "edges", "reach", "descriptions", "idle_minutes"}
_BESIDES = attrgetter(*(one.name for one in fields(Change) if one.name not in _NOTED))
_NOTHING_BESIDES = _BESIDES(Change(now=datetime.min.replace(tzinfo=UTC)))
# A fact and a name by their keys, how strongly it is held, and in which sentences.
Named = tuple[int, int, float, int]


@dataclass(frozen=True, slots=True)
class News:
    """What the tables tell an index that knows them up to a version: facts that changed since with the names they hold, keys of
    those that are gone, and the words of descriptions by fact. What a version of an epoch says never changes."""

    epoch: str
    since: int
    version: int
    changed: Sequence[Row]
    gone: Sequence[int]
    mentions: Held
    subjects: Held
    hints: Mapping[int, Words]


@dataclass(slots=True)
class Notes:
    """What was written so far: new facts, the names that they mention and are about, and the words of descriptions by fact. They are
    not `whole` where anything else was written that an index must know; then there is no need to go on with them."""

    whole: bool
    rows: list[Row] = field(default_factory=list)
    mentions: dict[tuple[int, int], Named] = field(default_factory=dict)
    subjects: dict[tuple[int, int], Named] = field(default_factory=dict)
    hints: dict[int, Words] = field(default_factory=dict)

    def names(self, mentions: Iterable[Named], subjects: Iterable[tuple[int, int, float]]) -> None:
        """Note names that facts mention and are about. What a fact holds already it holds as it was written first."""
        for row in mentions:
            self.mentions.setdefault(row[:2], row)
        for fact, name, strength in subjects:
            self.subjects.setdefault((fact, name), (fact, name, strength, 0))

    def news(self, epoch: str, version: int) -> News:
        """The news of the one version that was written."""
        place = {row.key: at for at, row in enumerate(self.rows)}
        mentions, subjects = held(self.mentions.values(), place), held(self.subjects.values(), place)
        return News(epoch, version - 1, version, self.rows, (), mentions, subjects, self.hints)


def tells_few(change: Change) -> bool:
    """Whether so few facts are told that somebody is likely to look before the next are."""
    return 0 < len(change.facts) <= FEW_FACTS


def notes_of(change: Change) -> Notes:
    """Notes to be taken of a change. They suffice where it tells of a few facts and what these are linked with, and of nothing else."""
    if not tells_few(change):
        return Notes(whole=False)
    return Notes(whole=_BESIDES(change) == _NOTHING_BESIDES)


def held(found: Any, place: Mapping[int, int]) -> Held:
    """Names that facts hold, by the place of the fact among those that changed. Each is found as a `Named`."""
    columns = list(zip(*found, strict=True))
    if not columns:
        return NOTHING_HELD
    return Held(
        np.array([place[fact] for fact in columns[0]], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.float64),
        np.array(columns[3], np.int64),
    )
