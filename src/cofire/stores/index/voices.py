"""Voices: who speaks, as small numbers in a column, and the words by which a question may name them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.stores.index.columns import Columns

NOBODY = -1
_BETWEEN = "\0"


class Spoken(Protocol):
    """A row with a speaker."""

    @property
    def scope(self) -> int: ...
    @property
    def speaker(self) -> str | None: ...


class Voices:
    """The speakers of a store, each under a number, with the scopes they were heard in."""

    def __init__(self, saved: NDArray[np.uint8] | None = None, columns: Columns | None = None) -> None:
        self._speakers: list[str] = []
        self._numbers: dict[str, int] = {}
        self._by_word: dict[str, set[int]] = {}
        self._heard: set[tuple[int, int]] = set()
        if saved is not None and len(saved):
            for speaker in saved.tobytes().decode("utf-8").split(_BETWEEN):
                self._number(speaker)
        if columns is not None and self._speakers:
            both = np.unique(columns["scope"].astype(np.int64) << 32 | (columns["speaker"] + 1).astype(np.int64))
            self._heard = {(pair >> 32, (pair & 0xFFFFFFFF) - 1) for pair in both.tolist()}

    def add(self, rows: Sequence[Spoken]) -> NDArray[np.int32]:
        """The numbers of these rows' speakers, for the column."""
        numbers = [NOBODY if row.speaker is None else self._number(row.speaker) for row in rows]
        self._heard.update((row.scope, number) for row, number in zip(rows, numbers, strict=True))
        return np.array(numbers, np.int32)

    def named(self, numbers: Iterable[int]) -> tuple[str | None, ...]:
        """Speakers by number."""
        return tuple(None if number == NOBODY else self._speakers[number] for number in numbers)

    def asked(self, scopes: Collection[int], words: Iterable[str]) -> frozenset[str]:
        """The speakers of these scopes whose names hold one of these words."""
        found = set().union(*(self._by_word.get(word, ()) for word in words))
        return frozenset(
            self._speakers[number] for number in found if any((scope, number) in self._heard for scope in scopes)
        )

    def saved(self) -> NDArray[np.uint8]:
        """All speakers as bytes, for a snapshot."""
        return np.frombuffer(_BETWEEN.join(self._speakers).encode("utf-8"), np.uint8)

    def _number(self, speaker: str) -> int:
        if speaker not in self._numbers:
            self._numbers[speaker] = len(self._speakers)
            self._speakers.append(speaker)
            for word in name_words(speaker):
                self._by_word.setdefault(word, set()).add(self._numbers[speaker])
        return self._numbers[speaker]


def name_words(speaker: str) -> list[str]:
    """The words of a speaker's name, in small letters.

    >>> name_words("Li Hua")
    ['li', 'hua']
    """
    return speaker.casefold().split()
