"""Words in C: the best facts by BM25 out of the postings, and which facts hold which words."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int64, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, function, start, whole

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
SegmentArrays = tuple[NDArray[Any], ...]


class Shelf(Structure):
    """The segments of texts and of descriptions: `shelf` in postings.h."""

    _fields_ = (("texts", c_void_p), ("text_segments", c_int64), ("hints", c_void_p), ("hint_segments", c_int64))


class Wording(Structure):
    """The words of a question: `wording` in postings.h."""

    _fields_ = (("terms", c_void_p), ("hints", c_void_p), ("weights", c_void_p), ("lent", c_void_p), ("many", c_int64))


class Weights(Structure):
    """The constants of BM25 and of lending: `constants` in postings.h."""

    _fields_ = tuple((name, c_double) for name in ("hint_weight", "k1", "b", "mean_length", "short", "usual", "total"))


class FactColumns(Structure):
    """The facts of an index: `columns` in postings.h."""

    _fields_ = (*((name, c_void_p) for name in ("lengths", "alive", "before", "after")), ("size", c_int64))


class Scratch(Structure):
    """Room for all facts: `scratch` in words.c."""

    _fields_ = (*((name, c_void_p) for name in ("place_of", "holders", "met", "rivals")), ("many", c_int64))


class Circle(Structure):
    """Facts with the turns around them: `circle` in evidence.c."""

    _fields_ = (
        *(("positions", c_void_p), ("facts", c_int64), ("reach", c_int64), ("near", c_int64)),
        *(("marks", c_void_p), ("many_marks", c_int64)),
    )


class Gathering(Structure):
    """What is gathered: `gathered` in evidence.c."""

    _fields_ = tuple((name, c_void_p) for name in ("rows", "lengths", "around", "counts", "hints", "bears"))


_best_by_words = function(
    "best_by_words",
    *(POINTER(Shelf), POINTER(Wording), POINTER(Weights), POINTER(FactColumns)),
    *(c_void_p, c_int64, c_void_p, c_int64, POINTER(Scratch), c_void_p, c_void_p),
)
_gather_evidence = function(
    "gather_evidence",
    *(POINTER(Shelf), POINTER(Wording), POINTER(FactColumns), POINTER(Circle)),
    *(c_void_p, POINTER(Gathering), c_void_p),
)
_sentences_of_words = function("sentences_of_words", c_char_p, c_void_p, c_int64, c_void_p, c_int64, c_void_p)


class Segments:
    """Postings as C reads them. Holds on to their arrays."""

    def __init__(self, segments: Sequence[SegmentArrays]) -> None:
        kinds: tuple[Any, ...] = (np.int64, np.int64, np.int32, np.uint16)
        self._arrays = [[whole(one, kind) for one, kind in zip(part, kinds, strict=True)] for part in segments]
        rows = [
            (start(terms), len(terms), start(starts), start(positions), start(counts))
            for terms, starts, positions, counts in self._arrays
        ]
        self.table = np.array(rows, np.int64).reshape(-1, 5)


class Holdings:
    """All facts of an index as C reads them: postings, lengths and turns, with room to work in. Made anew when they change."""

    def __init__(
        self,
        texts: Segments,
        hints: Segments,
        *,
        lengths: NDArray[np.int32],
        alive: NDArray[np.bool_],
        turns: tuple[NDArray[np.int32], NDArray[np.int32]] | None,
        room: Room,
    ) -> None:
        self._kept = (texts, hints, lengths, alive, turns)
        self._shelf = Shelf(start(texts.table), len(texts.table), start(hints.table), len(hints.table))
        before, after = (start(turns[0]), start(turns[1])) if turns else (None, None)
        self._facts = FactColumns(start(lengths), start(alive), before, after, len(lengths))
        self._room = room

    @property
    def marks(self) -> NDArray[np.int32]:
        """Room to number facts by position, all -1; whoever uses it leaves it so."""
        return self._room.row_of

    def best(
        self, words: AskedWords, weights: Weights, lends: Floats, among: NDArray[np.bool_], k: int
    ) -> tuple[Numbers, Floats]:
        """Positions of the k best above 0 with their scores, and of all that equal the last of them, in any order. The words come in
        the order of weight, the heaviest first; `lends` tells what turns before and after are lent."""
        room, among = self._room, whole(among, np.bool_)
        count = counted(
            _best_by_words(
                *(byref(self._shelf), byref(words.in_c), byref(weights), byref(self._facts)),
                *(start(lends), len(lends) // 2, start(among), k, byref(room.in_c), start(room.found)),
                start(room.scores),
            )
        )
        return room.found[:count].copy(), room.scores[:count].copy()

    def gather(self, words: AskedWords, positions: Numbers, marks: Sequence[int], reach: int, near: int) -> Gathered:
        """Facts and the turns around them as rows, how often each row holds each word, and which facts bear which mark."""
        facts, many = len(positions), words.many
        positions, wanted = whole(positions, np.int64), np.array(marks, np.int64)
        most = facts * (1 + 2 * reach)
        rows, lengths = np.empty(most, np.int64), np.empty(most, np.float32)
        around = np.empty((facts, 2 * reach), np.int32)
        around.fill(-1)
        counts, hints = np.empty((most, many), np.float32), np.zeros((facts, many), np.float32)
        bears, first = np.empty((len(marks), facts), np.bool_), np.zeros(1, np.int64)
        circle = Circle(start(positions), facts, reach, near, start(wanted), len(marks))
        out = Gathering(*map(start, (rows, lengths, around, counts, hints, bears)))
        found = counted(
            _gather_evidence(
                *(byref(self._shelf), byref(words.in_c), byref(self._facts), byref(circle)),
                *(start(self._room.row_of), byref(out), start(first)),
            )
        )
        return Gathered(rows[:found], int(first[0]), lengths[:found], around, counts[:found], hints, bears)


class AskedWords:
    """The words of a question as C reads them."""

    def __init__(
        self,
        terms: tuple[int, ...],
        hints: tuple[int, ...],
        weights: tuple[float, ...] = (),
        lent: tuple[bool, ...] = (),
    ) -> None:
        self.many = max(len(terms), len(weights))
        self._kept = (
            np.array(terms, np.int64),
            np.array(hints, np.int64),
            np.array(weights, np.float64),
            np.array(lent, np.bool_) if lent else None,
        )
        numbers, hinted, heavy, turned = self._kept
        self.in_c = Wording(
            start(numbers), start(hinted), start(heavy), None if turned is None else start(turned), self.many
        )


# A recall looks several times for the same words.
asked_words = lru_cache(maxsize=16)(AskedWords)


class Room:
    """Room for as many facts as there may be. By `row_of` nobody has a number between two questions."""

    def __init__(self, size: int) -> None:
        self.size = size
        # `holder` in words.c has three words of 64 bits.
        self._holders = np.empty((size, 3))
        self._marks = np.zeros((2, size), np.int32)
        self.row_of = np.full(size + 1, -1, np.int32)
        self.found = np.empty(size, np.int64)
        self.scores = np.empty(size)
        self.in_c = Scratch(start(self.row_of), start(self._holders), *map(start, self._marks))


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rows by position: facts, the turns near them (`first` in all), then all other turns around; see `stores.base.Evidence`. `bears`
    has a row a mark."""

    rows: Numbers
    first: int
    lengths: NDArray[np.float32]
    around: NDArray[np.int32]
    counts: NDArray[np.float32]
    hints: NDArray[np.float32]
    bears: NDArray[np.bool_]


def sentences(stored: Sequence[bytes | None], words: NDArray[np.int32]) -> Numbers:
    """The sentences of words in facts, a bit each: a row a fact, a column a word; see `stores.index.terms.places_of`."""
    table = np.zeros((len(stored), len(words)), np.int64)
    many = np.array([len(one) // 8 if one else 0 for one in stored], np.int64)
    together, words = b"".join([one for one in stored if one]), whole(words, np.int32)
    counted(_sentences_of_words(together, start(many), len(many), start(words), len(words), start(table)))
    return table
