"""Signs: each vector as one bit a dimension, and the Hamming distance that stands in for the cosine until exact scoring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
from cofire.kernels import signs as compiled
from cofire.kernels.library import LIBRARY

Bits = NDArray[np.uint64]
Mask = NDArray[np.bool_]

# To guess where the nearest end, each sixteenth is looked at, and twice as many as wanted are let in.
SAMPLED, GENEROUS = 16, 2
# Of so many times as many facts as are wanted, most are told by half of their signs to be far; the rest is this many times as many.
MANY_MORE, FIRST_LOOK = 400, 8
# Compiled code passes over all signs in less time than it takes to gather more than this share of them.
SELECTIVE = 20
# It counts differing signs in 16 bits.
MOST_WORDS = 1_024


class Signs:
    """Sign bits of centred vectors, a column a fact, so that one pass over 48 bytes a vector finds the candidates."""

    def __init__(self, dimension: int, bits: Bits | None = None) -> None:
        self._words = -(-dimension // 64)
        self._room: Bits = (
            np.zeros((self._words, 0), np.uint64) if bits is None else np.array(bits, np.uint64, order="C")
        )
        self.size = self._room.shape[1]
        self._working: compiled.Room | None = None

    @property
    def bits(self) -> Bits:
        return self._room[:, : self.size]

    def add(self, vectors: Vectors) -> None:
        """Append the signs of centred vectors, one a position; a fact without a vector has a row of zeros."""
        more = len(vectors)
        self._make_room(self.size + more)
        self._room[:, self.size : self.size + more] = self._signs(vectors)
        self.size += more

    def candidates(self, asked: Vectors, among: Mask, wanted: int) -> NDArray[np.int64]:
        """About `wanted` positions of the nearest by sign, of those allowed; all that are as near as the last one."""
        allowed = int(np.count_nonzero(among))
        if allowed <= wanted:
            return np.flatnonzero(among)
        signs = self._signs(asked[None, :])[:, 0]
        if LIBRARY is not None and self._words < MOST_WORDS and allowed * SELECTIVE >= self.size:
            if self._working is None or self._working.size < self.size:
                self._working = compiled.Room(self._room.shape[1])
            return compiled.nearest(self._room, among, signs, wanted, self._working)
        if allowed * 3 < self.size:
            positions = np.flatnonzero(among)
            return positions[_nearest(_distances(signs, self.bits[:, positions]), wanted)]
        if self._words > 1 and wanted * MANY_MORE <= self.size:
            return self._in_two_looks(signs, among, wanted)
        distances = _distances(signs, self.bits)
        distances[~among] = 64 * self._words + 1
        return _nearest(distances, wanted)

    def _in_two_looks(self, signs: Bits, among: Mask, wanted: int) -> NDArray[np.int64]:
        """The nearest by all signs, of those that are near by half of them."""
        half = self._words // 2
        first = _distances(signs[:half], self.bits[:half])
        first[~among] = 64 * half + 1
        near = _nearest(first, FIRST_LOOK * wanted)
        rest = _distances(signs[half:], self.bits[half:, near]).astype(np.uint16)
        return near[_nearest(first[near] + rest, wanted)]

    def _signs(self, vectors: Vectors) -> Bits:
        packed = np.packbits(vectors > 0, axis=1)
        if packed.shape[1] < self._words * 8:
            packed = np.pad(packed, ((0, 0), (0, self._words * 8 - packed.shape[1])))
        return np.ascontiguousarray(np.ascontiguousarray(packed).view(np.uint64).T)

    def _make_room(self, wanted: int) -> None:
        if wanted <= self._room.shape[1]:
            return
        grown = np.zeros((self._words, max(wanted, 1_024, 2 * self._room.shape[1])), np.uint64)
        grown[:, : self.size] = self.bits
        self._room = grown


def _distances(signs: Bits, bits: Bits) -> NDArray[np.unsignedinteger]:
    """In how many signs each column differs, counted in as small a kind of number as holds them all and one more."""
    total = np.zeros(bits.shape[1], np.min_scalar_type(64 * len(signs) + 1))
    for row, sign in zip(bits, signs, strict=True):
        total += np.bitwise_count(row ^ sign)
    return total


def _nearest(distances: NDArray[np.unsignedinteger], wanted: int) -> NDArray[np.int64]:
    """The places of the smallest distances, all that are as small as the last one. A few of many tell about where they end."""
    guess = _cut(distances[::SAMPLED], GENEROUS * wanted // SAMPLED + 1)
    near = np.flatnonzero(distances <= guess)
    if len(near) < wanted:
        return np.flatnonzero(distances <= _cut(distances, wanted))
    return near[distances[near] <= _cut(distances[near], wanted)]


def _cut(distances: NDArray[np.unsignedinteger], wanted: int) -> int:
    """The smallest distance within which there are enough."""
    reached = np.cumsum(np.bincount(distances, minlength=1))
    return int(np.searchsorted(reached, wanted))
