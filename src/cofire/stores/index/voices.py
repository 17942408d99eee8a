"""Voices: who speaks, as small numbers in a column, and the words by which a question may name them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.late import Indexed
from cofire.reading.words import fold
from cofire.stores.index.columns import Columns

NOBODY = -1


class Spoken(Protocol):
    """A row with a speaker."""

    @property
    def scope(self) -> int: ...
    @property
    def speaker(self) -> str | None: ...


class Voices:
    """The speakers of a store, each under a number, and how many facts of theirs each scope holds."""

    def __init__(self, saved: NDArray[np.uint8] | None = None, columns: Columns | None = None) -> None:
        self._speakers: list[str] = []
        self._spelled: list[str | None] = [None]
        self._numbers: dict[str | None, int] = {}
        self._by_word: dict[str, set[int]] = {}
        self._heard: Counter[tuple[int, int]] = Counter()
        for speaker in json.loads(saved.tobytes()) if saved is not None else ():
            self._number(speaker) if speaker else self._speakers.append("")
        if columns is not None:
            self._heard = _counted(columns)

    def add(self, rows: Sequence[Spoken]) -> list[int]:
        """The numbers of these rows' speakers, for the column."""
        numbers = [NOBODY if row.speaker is None else self._number(row.speaker) for row in rows]
        for row, number in zip(rows, numbers, strict=True):
            self._heard[row.scope, number] += 1
        return numbers

    def leave(self, scopes: NDArray[np.int32], numbers: NDArray[np.int32]) -> None:
        """Facts of these speakers are gone from these scopes."""
        self._heard.subtract(zip(scopes.tolist(), numbers.tolist(), strict=True))

    def named(self, numbers: NDArray[np.int32]) -> Indexed[str | None]:
        """Speakers by number."""
        if len(self._spelled) <= len(self._speakers):
            # Nobody is the last one.
            self._spelled = [*self._speakers, None]
        return Indexed(self._spelled, numbers, self._numbers)

    def asked(self, scopes: Collection[int], words: Iterable[str]) -> frozenset[str]:
        """The speakers of these scopes whose names hold one of these words."""
        found = set().union(*(self._by_word.get(word, ()) for word in words))
        return frozenset(
            self._speakers[number] for number in found if any(self._heard[scope, number] > 0 for scope in scopes)
        )

    def saved(self) -> NDArray[np.uint8]:
        """All speakers as bytes, for a snapshot. One who is heard no more leaves an empty place."""
        heard = {number for (_, number), times in self._heard.items() if times > 0}
        kept = [speaker if number in heard else "" for number, speaker in enumerate(self._speakers)]
        return np.frombuffer(json.dumps(kept).encode("ascii"), np.uint8)

    def _number(self, speaker: str) -> int:
        if speaker not in self._numbers:
            self._numbers[speaker] = len(self._speakers)
            self._speakers.append(speaker)
            for word in name_words(speaker):
                self._by_word.setdefault(word, set()).add(self._numbers[speaker])
        return self._numbers[speaker]


def _counted(columns: Columns) -> Counter[tuple[int, int]]:
    """How many living facts each speaker has in each scope."""
    alive = columns["alive"]
    scopes, numbers = columns["scope"][alive].astype(np.int64), columns["speaker"][alive].astype(np.int64)
    pairs, often = np.unique(scopes << 32 | numbers - NOBODY, return_counts=True)
    both = ((pair >> 32, (pair & 0xFFFFFFFF) + NOBODY) for pair in pairs.tolist())
    return Counter(dict(zip(both, often.tolist(), strict=True)))


def name_words(speaker: str) -> list[str]:
    """The words of a speaker's name, in small letters and without accents.

    >>> name_words("Søren Hua")
    ['soren', 'hua']
    """
    return fold(speaker).casefold().split()
