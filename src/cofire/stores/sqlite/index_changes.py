"""Changes of one transaction in the form the in-memory index takes in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import numpy as np

from cofire.index.fact_index import IndexRow
from cofire.index.names import NO_NAME_ENTRIES, NameEntries
from cofire.index.terms import PackedTerms as Words
from cofire.model import Change

# So few are likely to be looked at before the next are told, by one who tells them one by one.
MAX_TRACKED_FACTS = 8
# All that a change may tell besides a few facts and what these are linked with.
_TRACKED_FIELDS = {"now", "facts", "edges", "reach", "descriptions", "idle_minutes"}
_GET_UNTRACKED_VALUES = attrgetter(*(one.name for one in fields(Change) if one.name not in _TRACKED_FIELDS))
_NO_UNTRACKED_VALUES = _GET_UNTRACKED_VALUES(Change(now=datetime.min.replace(tzinfo=UTC)))
# A fact and a name by their keys, how strongly it is held, and in which sentences.
NameRow = tuple[int, int, float, int]


@dataclass(frozen=True, slots=True)
class IndexChanges:
    """What the tables tell an index that knows them up to a version: facts that changed since with the names they hold, keys of
    those that are gone, and the words of descriptions by fact. What a version of an epoch says never changes."""

    epoch: str
    since: int
    version: int
    changed: Sequence[IndexRow]
    gone: Sequence[int]
    mentions: NameEntries
    subjects: NameEntries
    hints: Mapping[int, Words]


@dataclass(slots=True)
class PendingIndexChanges:
    """What was written so far: new facts, the names that they mention and are about, and the words of descriptions by fact. They are
    not `whole` where anything else was written that an index must know; then there is no need to go on with them."""

    whole: bool
    rows: list[IndexRow] = field(default_factory=list)
    mentions: dict[tuple[int, int], NameRow] = field(default_factory=dict)
    subjects: dict[tuple[int, int], NameRow] = field(default_factory=dict)
    hints: dict[int, Words] = field(default_factory=dict)

    def names(self, mentions: Iterable[NameRow], subjects: Iterable[tuple[int, int, float]]) -> None:
        """Note names that facts mention and are about. What a fact holds already it holds as it was written first."""
        for row in mentions:
            self.mentions.setdefault(row[:2], row)
        for fact, name, strength in subjects:
            self.subjects.setdefault((fact, name), (fact, name, strength, 0))

    def news(self, epoch: str, version: int) -> IndexChanges:
        """The news of the one version that was written."""
        place = {row.key: at for at, row in enumerate(self.rows)}
        mentions, subjects = (
            build_name_columns(self.mentions.values(), place),
            build_name_columns(self.subjects.values(), place),
        )
        return IndexChanges(epoch, version - 1, version, self.rows, (), mentions, subjects, self.hints)


def is_small_change(change: Change) -> bool:
    """Whether so few facts are told that somebody is likely to look before the next are."""
    return 0 < len(change.facts) <= MAX_TRACKED_FACTS


def begin_index_changes(change: Change) -> PendingIndexChanges:
    """Notes to be taken of a change. They suffice where it tells of a few facts and what these are linked with, and of nothing else."""
    if not is_small_change(change):
        return PendingIndexChanges(whole=False)
    return PendingIndexChanges(whole=_GET_UNTRACKED_VALUES(change) == _NO_UNTRACKED_VALUES)


def build_name_columns(found: Any, place: Mapping[int, int]) -> NameEntries:
    """Names that facts hold, by the place of the fact among those that changed. Each is found as a `NameRow`."""
    columns = list(zip(*found, strict=True))
    if not columns:
        return NO_NAME_ENTRIES
    return NameEntries(
        np.array([place[fact] for fact in columns[0]], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.float64),
        np.array(columns[3], np.int64),
    )
