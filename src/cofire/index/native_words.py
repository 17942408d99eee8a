"""Native functions on postings: BM25 search and word counts."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int64, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.index.native import address_of, bind_function, check_count, to_native_array

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
SegmentArrays = tuple[NDArray[Any], ...]


class PostingsStruct(Structure):
    """The segments of texts and of descriptions: `shelf` in postings.h."""

    _fields_ = (("texts", c_void_p), ("text_segments", c_int64), ("hints", c_void_p), ("hint_segments", c_int64))


class QueryTermsStruct(Structure):
    """The words of a question: `wording` in postings.h."""

    _fields_ = (("terms", c_void_p), ("hints", c_void_p), ("weights", c_void_p), ("lent", c_void_p), ("many", c_int64))


class Bm25ParametersStruct(Structure):
    """The constants of BM25 and of lending: `constants` in postings.h."""

    _fields_ = tuple((name, c_double) for name in ("hint_weight", "k1", "b", "mean_length", "short", "usual", "total"))


class FactColumnsStruct(Structure):
    """The facts of an index: `columns` in postings.h."""

    _fields_ = (*((name, c_void_p) for name in ("lengths", "alive", "before", "after")), ("size", c_int64))


class WordScratchStruct(Structure):
    """Room for all facts: `scratch` in words.c."""

    _fields_ = (*((name, c_void_p) for name in ("place_of", "holders", "met", "rivals")), ("many", c_int64))


class TurnWindowStruct(Structure):
    """Facts with the turns around them: `circle` in evidence.c."""

    _fields_ = (
        *(("positions", c_void_p), ("facts", c_int64), ("reach", c_int64), ("near", c_int64)),
        *(("marks", c_void_p), ("many_marks", c_int64)),
    )


class GatheredRowsStruct(Structure):
    """What is gathered: `gathered` in evidence.c."""

    _fields_ = tuple((name, c_void_p) for name in ("rows", "lengths", "around", "counts", "hints", "bears"))


_best_by_words = bind_function(
    "best_by_words",
    *(POINTER(PostingsStruct), POINTER(QueryTermsStruct), POINTER(Bm25ParametersStruct), POINTER(FactColumnsStruct)),
    *(c_void_p, c_int64, c_void_p, c_int64, POINTER(WordScratchStruct), c_void_p, c_void_p),
)
_gather_evidence = bind_function(
    "gather_evidence",
    *(POINTER(PostingsStruct), POINTER(QueryTermsStruct), POINTER(FactColumnsStruct), POINTER(TurnWindowStruct)),
    *(c_void_p, POINTER(GatheredRowsStruct), c_void_p),
)
_sentences_of_words = bind_function("sentences_of_words", c_char_p, c_void_p, c_int64, c_void_p, c_int64, c_void_p)


class NativeSegments:
    """Postings as C reads them. Holds on to their arrays."""

    def __init__(self, segments: Sequence[SegmentArrays]) -> None:
        kinds: tuple[Any, ...] = (np.int64, np.int64, np.int32, np.uint16)
        self._arrays = [
            [to_native_array(one, kind) for one, kind in zip(part, kinds, strict=True)] for part in segments
        ]
        rows = [
            (address_of(terms), len(terms), address_of(starts), address_of(positions), address_of(counts))
            for terms, starts, positions, counts in self._arrays
        ]
        self.table = np.array(rows, np.int64).reshape(-1, 5)


class NativePostings:
    """All facts of an index as C reads them: postings, lengths and turns, with room to work in. Made anew when they change."""

    def __init__(
        self,
        texts: NativeSegments,
        hints: NativeSegments,
        *,
        lengths: NDArray[np.int32],
        alive: NDArray[np.bool_],
        turns: tuple[NDArray[np.int32], NDArray[np.int32]] | None,
        room: WordBuffers,
    ) -> None:
        self._kept = (texts, hints, lengths, alive, turns)
        self._shelf = PostingsStruct(
            address_of(texts.table), len(texts.table), address_of(hints.table), len(hints.table)
        )
        before, after = (address_of(turns[0]), address_of(turns[1])) if turns else (None, None)
        self._facts = FactColumnsStruct(address_of(lengths), address_of(alive), before, after, len(lengths))
        self._room = room

    @property
    def marks(self) -> NDArray[np.int32]:
        """Room to number facts by position, all -1; whoever uses it leaves it so."""
        return self._room.row_of

    def best(
        self,
        words: NativeQueryTerms,
        weights: Bm25ParametersStruct,
        lends: FloatArray,
        among: NDArray[np.bool_],
        k: int,
    ) -> tuple[IntArray, FloatArray]:
        """Positions of the k best above 0 with their scores, and of all that equal the last of them, in any order. The words come in
        the order of weight, the heaviest first; `lends` tells what turns before and after are lent."""
        room, among = self._room, to_native_array(among, np.bool_)
        count = check_count(
            _best_by_words(
                *(byref(self._shelf), byref(words.in_c), byref(weights), byref(self._facts)),
                *(address_of(lends), len(lends) // 2, address_of(among), k, byref(room.in_c), address_of(room.found)),
                address_of(room.scores),
            )
        )
        return room.found[:count].copy(), room.scores[:count].copy()

    def gather(
        self, words: NativeQueryTerms, positions: IntArray, marks: Sequence[int], reach: int, near: int
    ) -> GatheredRows:
        """Facts and the turns around them as rows, how often each row holds each word, and which facts bear which mark."""
        facts, many = len(positions), words.many
        positions, wanted = to_native_array(positions, np.int64), np.array(marks, np.int64)
        most = facts * (1 + 2 * reach)
        rows, lengths = np.empty(most, np.int64), np.empty(most, np.float32)
        around = np.empty((facts, 2 * reach), np.int32)
        around.fill(-1)
        counts, hints = np.empty((most, many), np.float32), np.zeros((facts, many), np.float32)
        bears, first = np.empty((len(marks), facts), np.bool_), np.zeros(1, np.int64)
        circle = TurnWindowStruct(address_of(positions), facts, reach, near, address_of(wanted), len(marks))
        out = GatheredRowsStruct(*map(address_of, (rows, lengths, around, counts, hints, bears)))
        found = check_count(
            _gather_evidence(
                *(byref(self._shelf), byref(words.in_c), byref(self._facts), byref(circle)),
                *(address_of(self._room.row_of), byref(out), address_of(first)),
            )
        )
        return GatheredRows(rows[:found], int(first[0]), lengths[:found], around, counts[:found], hints, bears)


class NativeQueryTerms:
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
        self.in_c = QueryTermsStruct(
            address_of(numbers),
            address_of(hinted),
            address_of(heavy),
            None if turned is None else address_of(turned),
            self.many,
        )


# A recall looks several times for the same words.
get_query_terms = lru_cache(maxsize=16)(NativeQueryTerms)


class WordBuffers:
    """Room for as many facts as there may be. By `row_of` nobody has a number between two questions."""

    def __init__(self, size: int) -> None:
        self.size = size
        # `holder` in words.c has three words of 64 bits.
        self._holders = np.empty((size, 3))
        self._marks = np.zeros((2, size), np.int32)
        self.row_of = np.full(size + 1, -1, np.int32)
        self.found = np.empty(size, np.int64)
        self.scores = np.empty(size)
        self.in_c = WordScratchStruct(address_of(self.row_of), address_of(self._holders), *map(address_of, self._marks))


@dataclass(frozen=True, slots=True)
class GatheredRows:
    """Rows by position: facts, the turns near them (`first` in all), then all other turns around; see `stores.base.Evidence`. `bears`
    has a row a mark."""

    rows: IntArray
    first: int
    lengths: NDArray[np.float32]
    around: NDArray[np.int32]
    counts: NDArray[np.float32]
    hints: NDArray[np.float32]
    bears: NDArray[np.bool_]


def find_word_sentences(stored: Sequence[bytes | None], words: NDArray[np.int32]) -> IntArray:
    """The sentences of words in facts, a bit each: a row a fact, a column a word; see `stores.index.terms.places_of`."""
    table = np.zeros((len(stored), len(words)), np.int64)
    many = np.array([len(one) // 8 if one else 0 for one in stored], np.int64)
    together, words = b"".join([one for one in stored if one]), to_native_array(words, np.int32)
    check_count(
        _sentences_of_words(together, address_of(many), len(many), address_of(words), len(words), address_of(table))
    )
    return table
