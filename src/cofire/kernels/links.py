"""Links in C: which of the stored ones leave facts."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, fitting, function, start, whole

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

COLUMNS = ("source", "target", "code", "at", "others", "around", "weight", "confidence")
WIDTH = 8
# There is room for so many links without counting them first.
FEW = 1_024


class Stored(Structure):
    """Stored links: `adjacency` in links.c."""

    _fields_ = tuple(
        (name, c_void_p) for name in ("starts", "neighbour", "code", "weight", "confidence", "degree", "alive")
    )


class Sieve(Structure):
    """Which of them are wanted: `sieve` in links.c."""

    _fields_ = (*((name, c_void_p) for name in ("places", "admitted", "kinds")), ("floor", c_int64), ("most", c_int64))


class Newer(Structure):
    """Links that came after the base: `newer` in links.c."""

    _fields_ = (("halves", c_void_p), ("many", c_int64), ("ranks", c_void_p), ("contents", c_void_p))


class Asked(Structure):
    """Facts to expand: `asked` in links.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("keys", "positions", "rows", "least")),
        ("many", c_int64),
        ("ids", c_int64),
    )


class Expansion(Structure):
    """Where links are written: `expansion` in links.c."""

    _fields_ = (*((name, c_void_p) for name in (*COLUMNS, "degree", "row_of", "marks")), ("links", c_int64))


_links_at_most = function("links_at_most", POINTER(Stored), c_void_p, c_int64, c_int64)
_expand_links = function(
    "expand_links",
    *(POINTER(Stored), POINTER(Sieve), POINTER(Asked), POINTER(Newer), c_int64, POINTER(Expansion)),
)
_number_links = function("number_links", POINTER(Asked), POINTER(Expansion))


class Wanted(Protocol):
    """Which links are wanted, as `Sieve` in stores/index/base_links.py has it."""

    @property
    def places(self) -> NDArray[np.int32]: ...
    @property
    def admitted(self) -> Masks: ...
    @property
    def kinds(self) -> Masks | None: ...
    @property
    def floor(self) -> int: ...
    @property
    def most(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Late:
    """Links that came after the base, a row each: a place among the asked, in that order, and what `Halves` in stores/index/halves.py
    has besides the owner; and by what they are put in order with others: ranks of kinds, and contents by position."""

    halves: NDArray[np.int32]
    ranks: NDArray[np.int32]
    contents: Numbers


@dataclass(frozen=True, slots=True)
class Expanded:
    """Links that leave facts, a row each: the rows they lead from and to, twice their kind, and where they stand in the base, or for
    newer ones the number of their tags, as -1 - number. `others` are positions of those led to that were not asked for, and `around`
    is how many neighbours each of them has, by links of all kinds; `degree` is by row of those that were asked for."""

    source: Numbers
    target: Numbers
    code: Numbers
    at: Numbers
    others: Numbers
    around: Numbers
    weight: Floats
    confidence: Floats
    degree: Numbers


class StoredLinks:
    """The links of a store as C reads them, with room to work in. Holds on to the arrays."""

    def __init__(self, base: Any, degree: NDArray[np.int32], alive: Masks) -> None:
        """Of a `Base` in stores/index/base_links.py; degrees and who is alive may change later on."""
        self.base = base
        numbers = (base.neighbour, base.code, base.weight, base.confidence)
        self._kept = [whole(base.starts, np.int64), *(whole(one, np.int32) for one in numbers), degree, alive]
        self.in_c = Stored(*map(start, self._kept))
        self._marks = np.zeros(len(degree) + 1, np.bool_)
        self._row_of = np.zeros(0, np.int32)
        self._room = (0, 0)

    def expand(
        self,
        asked: tuple[Numbers, Numbers, Numbers],
        wanted: Wanted,
        late: Late | None,
        *,
        ids: int,
        least: Floats | None,
    ) -> Expanded:
        """The strongest links of facts by key, position and row, which is one of so many ids; `least` is by row, how much one must
        conduct to be of use."""
        marks = self.room_for(len(wanted.admitted))
        many, (keys, positions, rows) = len(asked[0]), map(start, asked)
        room = max(1, many * wanted.most)
        if room > FEW:
            room = max(1, _links_at_most(byref(self.in_c), keys, many, wanted.most))
        newer = newer_links(late)
        room += newer.many
        size = len(COLUMNS) * room
        block = np.empty(size + ids, np.int64)
        first = start(block)
        # The degrees stand after the last column.
        found = Expansion(*range(first, first + WIDTH * (size + 1), WIDTH * room), *marks)
        if least is not None:
            fitting((len(least), ids))
            least = whole(least, np.float64)
        of = Asked(keys, positions, rows, None if least is None else start(least), many, ids)
        others = counted(
            _expand_links(byref(self.in_c), byref(sieve(wanted)), byref(of), byref(newer), room, byref(found))
        )
        table = block[:size].reshape(-1, room)
        source, target, code, place = table[:4, : found.links]
        led, around = table[4:6, :others]
        weight, confidence = table[6:, : found.links].view(np.float64)
        return Expanded(source, target, code, place, led, around, weight, confidence, block[size:])

    def numbered(
        self, positions: Numbers, rows: Numbers, targets: NDArray[Any], *, facts: int, ids: int
    ) -> tuple[Numbers, Numbers]:
        """The rows of targets, which are positions among so many facts, and the positions of those that were not asked for."""
        row_of, _ = self.room_for(facts)
        many = len(targets)
        block = np.empty((2, many), np.int64)
        block[0] = targets
        first = start(block)
        asked = Asked(None, start(positions), start(rows), None, len(positions), ids)
        found = Expansion(target=first, others=first + WIDTH * many, row_of=row_of, links=many)
        others = _number_links(byref(asked), byref(found))
        return block[0], block[1, :others]

    def room_for(self, facts: int) -> tuple[int, int]:
        """Where there is room to note a row for each of so many facts, and a mark for each key; all zero between calls."""
        if len(self._row_of) < facts:
            self._row_of = np.zeros(facts + facts // 8, np.int32)
            self._room = start(self._row_of), start(self._marks)
        return self._room


def sieve(wanted: Wanted) -> Sieve:
    """Which links are wanted, as C reads it."""
    kinds = None if wanted.kinds is None else start(wanted.kinds)
    return Sieve(start(wanted.places), start(wanted.admitted), kinds, wanted.floor, wanted.most)


def newer_links(late: Late | None) -> Newer:
    """Links that came after the base, as C reads them."""
    if late is None:
        return Newer()
    return Newer(start(late.halves), len(late.halves), start(late.ranks), start(late.contents))
