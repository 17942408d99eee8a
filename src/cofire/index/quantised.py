"""Nearest vectors by sign bits or an HNSW graph, and stored vectors cached in memory."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import widen_half_floats
from cofire.algorithms.vector_similarity import VectorRows
from cofire.embedders.base import Vectors
from cofire.errors import EmbedderUnavailable, install_command
from cofire.index.native import IS_COMPILED, MAX_SIGN_WORDS, count_differing_signs, count_differing_signs_numpy

BitArray = NDArray[np.uint64]
Mask = NDArray[np.bool_]

# To guess where the nearest end, each sixteenth is looked at, and twice as many as wanted are let in.
SAMPLING_STEP, SAMPLE_MARGIN = 16, 2
# Of so many times as many facts as are wanted, most are told by half of their signs to be far; the rest is this many times as many.
TWO_PASS_RATIO, FIRST_PASS_FACTOR = 400, 8
# A pass over all signs takes less time than gathering more than this share of them.
SCAN_RATIO = 20 if IS_COMPILED else 3


class SignBitIndex:
    """Sign bits of centred vectors, a column a fact, so that one pass over 48 bytes a vector finds the candidates."""

    def __init__(self, dimension: int, bits: BitArray | None = None) -> None:
        self._words = -(-dimension // 64)
        self._room: BitArray = (
            np.zeros((self._words, 0), np.uint64) if bits is None else np.array(bits, np.uint64, order="C")
        )
        self.size = self._room.shape[1]

    @property
    def bits(self) -> BitArray:
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
        if allowed * SCAN_RATIO < self.size:
            positions = np.flatnonzero(among)
            some = np.ascontiguousarray(self.bits[:, positions])
            return positions[_select_nearest(self._count(some, signs, allowed), wanted)]
        if not IS_COMPILED and self._words > 1 and wanted * TWO_PASS_RATIO <= self.size:
            return self._in_two_passes(signs, among, wanted)
        distances = self._count(self._room, signs, self.size)
        distances[~among] = 64 * self._words + 1
        return _select_nearest(distances, wanted)

    def _count(self, bits: BitArray, signs: BitArray, size: int) -> NDArray[np.unsignedinteger]:
        count = count_differing_signs if self._words <= MAX_SIGN_WORDS else count_differing_signs_numpy
        return count(bits, signs, size)

    def _in_two_passes(self, signs: BitArray, among: Mask, wanted: int) -> NDArray[np.int64]:
        """The nearest by all signs, of those that are near by half of them."""
        half = self._words // 2
        first = count_differing_signs(self._room[:half], signs[:half], self.size)
        first[~among] = 64 * half + 1
        near = _select_nearest(first, FIRST_PASS_FACTOR * wanted)
        rest = count_differing_signs(self.bits[half:, near], signs[half:], len(near)).astype(np.uint16)
        return near[_select_nearest(first[near] + rest, wanted)]

    def _signs(self, vectors: Vectors) -> BitArray:
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


def _select_nearest(distances: NDArray[np.unsignedinteger], wanted: int) -> NDArray[np.int64]:
    """The places of the smallest distances, all that are as small as the last one. A few of many tell about where they end."""
    guess = _find_cutoff(distances[::SAMPLING_STEP], SAMPLE_MARGIN * wanted // SAMPLING_STEP + 1)
    near = np.flatnonzero(distances <= guess)
    if len(near) < wanted:
        return np.flatnonzero(distances <= _find_cutoff(distances, wanted))
    return near[distances[near] <= _find_cutoff(distances[near], wanted)]


def _find_cutoff(distances: NDArray[np.unsignedinteger], wanted: int) -> int:
    """The smallest distance within which there are enough."""
    reached = np.cumsum(np.bincount(distances, minlength=1))
    return int(np.searchsorted(reached, wanted))


MIN_FILTER_SHARE = 0.2


class HnswIndex:
    """HNSW over positions. Facts come and are never taken out; the dead are passed over, and go when the index is compacted."""

    def __init__(self, dimension: int, saved: NDArray[np.uint8] | None = None) -> None:
        index = _import_usearch().Index
        if saved is not None and len(saved):
            self._graph = index.restore(saved.tobytes())
        else:
            self._graph = index(ndim=dimension, metric="ip", dtype="f16", expansion_search=128)

    def add(self, positions: NDArray[np.integer], vectors: Vectors) -> None:
        """Take in centred vectors under their positions."""
        if len(positions):
            self._graph.add(np.asarray(positions, np.uint64), vectors, threads=1)

    def candidates(self, asked: Vectors, among: NDArray[np.bool_], wanted: int) -> NDArray[np.int64] | None:
        """The nearest positions of those allowed; None where a filter leaves so few that another index must look."""
        share = np.count_nonzero(among) / max(1, len(among))
        if share < MIN_FILTER_SHARE:
            return None
        found = self._graph.search(asked, min(len(self._graph), int(wanted / share) + 1), threads=1)
        positions = np.asarray(found.keys, np.int64)
        return np.sort(positions[among[positions]][:wanted])

    def saved(self) -> NDArray[np.uint8]:
        """The graph as bytes, for a snapshot."""
        return np.frombuffer(self._graph.save(), np.uint8) if len(self._graph) else np.zeros(0, np.uint8)


def _import_usearch() -> Any:
    # The bundled embedder's library ends the process if it is loaded after usearch.
    import_module("onnxruntime")
    try:
        from usearch import index
    except ImportError as error:
        raise EmbedderUnavailable(
            "The vector index usearch is not installed.",
            way_out=f"Install it with: {install_command('usearch')}, or set semantic.index to signs.",
        ) from error
    return index


Float16Array = NDArray[np.float16]

# A process that asks once reads the few vectors it needs; one that goes on gathers them all, up to this many.
READS_BEFORE_CACHING = 3
MAX_CACHED_VECTORS = 200_000
# Without compiled code, so few are kept at single precision, which needs twice the room and no widening.
MAX_SINGLE_PRECISION_VECTORS = 0 if IS_COMPILED else 128_000


class VectorCache:
    """The stored vectors by position, in an array that grows as facts come. A fact without a vector has a row of zeros."""

    def __init__(self, rows: Float16Array) -> None:
        self._room: NDArray[Any] = widen_half_floats(rows) if len(rows) <= MAX_SINGLE_PRECISION_VECTORS else rows
        self._size = len(rows)

    def add(self, rows: Float16Array) -> None:
        """Append rows for new positions."""
        wanted, size = self._size + len(rows), self._size
        if wanted > len(self._room):
            room, is_single = max(wanted, 2 * len(self._room)), wanted <= MAX_SINGLE_PRECISION_VECTORS
            if is_single:
                room = min(room, MAX_SINGLE_PRECISION_VECTORS)
            grown = np.zeros((room, rows.shape[1]), np.float32 if is_single else np.float16)
            grown[:size] = self._room[:size]
            self._room = grown
        self._room[size:wanted] = rows
        self._size = wanted

    def at(self, positions: NDArray[np.int64]) -> VectorRows:
        """The rows at these positions, not copied: a row never changes."""
        return VectorRows(self._room, positions)
