"""Which facts hold a name, and which names a fact holds, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs
from cofire.index.postings import Postings, PostingSegment

# A fact's position and a name's key in one number, so that all pairs stand in the order of positions.
NAME_KEY_BITS = 32
STRENGTH_SCALE = 1_000.0


@dataclass(frozen=True, slots=True)
class NameEntries:
    """Names that facts hold, a row each: the fact's row in a batch, the name, how strongly (0 to 1), and in which sentences."""

    owner: NDArray[np.int64]
    name: NDArray[np.int64]
    strength: NDArray[np.float64]
    sentences: NDArray[np.int64]


NO_NAME_ENTRIES = NameEntries(
    np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float64), np.zeros(0, np.int64)
)


def join_name_entries(held: Sequence[NameEntries], rows: Sequence[int]) -> NameEntries:
    """What several batches hold as one batch; `rows` tells how many facts each of them has."""
    if len(held) == 1:
        return held[0]
    first = np.cumsum([0, *rows[:-1]])
    return NameEntries(
        np.concatenate([one.owner + at for one, at in zip(held, first, strict=True)]),
        np.concatenate([one.name for one in held]),
        np.concatenate([one.strength for one in held]),
        np.concatenate([one.sentences for one in held]),
    )


class NameTexts(dict[int, str]):
    """Names by key, those that were met; in a process that asks again and again all of them, where they are not too many. `missed` is how
    often some had to be read."""

    missed = 0


class NameIndex:
    """One way of holding names: of mentioning them, or of being about them."""

    def __init__(self, arrays: tuple[NDArray[Any], ...] | None = None, postings: PostingSegment | None = None) -> None:
        self._pairs = _GrowingArray(arrays[0] if arrays else np.zeros(0, np.int64))
        self._strengths = _GrowingArray(arrays[1] if arrays else np.zeros(0, np.uint16))
        self._sentences = _GrowingArray(arrays[2] if arrays else np.zeros(0, np.uint32))
        self._postings = Postings([postings] if postings is not None else None)

    def add(self, held: NameEntries, positions: NDArray[np.int32]) -> None:
        """Take in what newly added positions hold; they come after all that are known."""
        if not len(held.owner):
            return
        owners = positions[held.owner]
        pairs = owners.astype(np.int64) << NAME_KEY_BITS | held.name
        order = np.argsort(pairs)
        strengths = np.round(held.strength * STRENGTH_SCALE).astype(np.uint16)[order]
        self._pairs.add(pairs[order])
        self._strengths.add(strengths)
        self._sentences.add(held.sentences.astype(np.uint32)[order])
        self._postings.add(held.name[order], owners[order], strengths)

    def held_by(self, positions: NDArray[np.integer]) -> NameEntries:
        """The names that these facts hold; the owner is the place of the fact among them."""
        pairs = self._pairs.array
        low = positions.astype(np.int64) << NAME_KEY_BITS
        first, last = pairs.searchsorted(np.concatenate([low, low + (1 << NAME_KEY_BITS)])).reshape(2, -1)
        owner, at = expand_runs(first, last - first)
        names, strengths = pairs[at] & ((1 << NAME_KEY_BITS) - 1), self._strengths.array[at] / STRENGTH_SCALE
        return NameEntries(owner, names, strengths, self._sentences.array[at].astype(np.int64))

    def holders(self, name: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Who holds a name, and how strongly."""
        positions, strengths = self._postings.find(name)
        return positions, strengths / STRENGTH_SCALE

    def all_holders(
        self, names: NDArray[np.int64], most: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
        """Who holds these names: the place of the name, the position and the strength, and how many hold each."""
        places, positions, strengths, sizes = self._postings.find_all(names, most)
        return places, positions, strengths / STRENGTH_SCALE, sizes

    def sentences(self, positions: NDArray[np.integer], names: NDArray[np.int64]) -> NDArray[np.int64]:
        """In which sentences each of these facts holds the name beside it; none where it does not."""
        pairs = self._pairs.array
        if not len(pairs):
            return np.zeros(len(names), np.int64)
        wanted = positions.astype(np.int64) << NAME_KEY_BITS | names
        at = np.minimum(pairs.searchsorted(wanted), len(pairs) - 1)
        return np.asarray(self._sentences.array[at] * (pairs[at] == wanted).astype(np.int64))

    def moved(self, moved: NDArray[np.int64]) -> NameIndex:
        """The same with the living moved together; `moved` has the new position of each old one, -1 for the dead."""
        pairs = self._pairs.array
        new = moved[pairs >> NAME_KEY_BITS]
        kept = new >= 0
        held = NameEntries(
            new[kept],
            pairs[kept] & ((1 << NAME_KEY_BITS) - 1),
            self._strengths.array[kept] / STRENGTH_SCALE,
            self._sentences.array[kept].astype(np.int64),
        )
        fresh = NameIndex()
        fresh.add(held, np.arange(len(moved), dtype=np.int32))
        return fresh

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Pairs, strengths, sentences, and the postings, for a snapshot."""
        mine = (self._pairs.array, self._strengths.array, self._sentences.array)
        return *mine, *self._postings.whole().arrays()

    @classmethod
    def from_arrays(cls, arrays: tuple[NDArray[Any], ...]) -> NameIndex:
        return cls(arrays[:3], PostingSegment(*arrays[3:]))


class _GrowingArray:
    """An array that is appended to now and then."""

    def __init__(self, room: NDArray[Any]) -> None:
        self._room = room
        self._size = len(room)

    @property
    def array(self) -> NDArray[Any]:
        return self._room[: self._size]

    def add(self, more: NDArray[Any]) -> None:
        if not len(more):
            return
        wanted = self._size + len(more)
        if wanted > len(self._room):
            grown = np.zeros(max(wanted, 1_024, 2 * len(self._room)), self._room.dtype)
            grown[: self._size] = self.array
            self._room = grown
        self._room[self._size : wanted] = more
        self._size = wanted
