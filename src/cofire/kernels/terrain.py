"""Terrain in C: which row a fact has, by where it stands in an index, and how well links conduct between rows."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_int64, c_void_p
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, function, start, whole

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

WIDTH = 8
# Room for so many rows, which most walks do not fill, as a power of two.
FEW_BITS = 11
# What is read of links: whole numbers, then others.
_READ: tuple[Any, ...] = (*[np.int64] * 5, *[np.float64] * 3)
# How links become wires, as in terrain.c.
SHARED, TRUSTED, ALONE = range(3)


class Roster(Structure):
    """Who was met: `roster` in roster.h."""

    _fields_ = (*((name, c_void_p) for name in ("places", "slots")), ("bits", c_int64), ("many", c_int64))


class Loose(Structure):
    """Links as they are read: `loose` in terrain.c."""

    _fields_ = (*((name, c_void_p) for name in ("source", "target", "weight", "other", "degree")), ("many", c_int64))


class Wires(Structure):
    """What conducts from row to row: `wires` in wires.h."""

    _fields_ = (
        *((name, c_void_p) for name in ("source", "target", "strongest", "conductance")),
        ("many", c_int64),
    )


class Reading(Structure):
    """What was read: `reading` in terrain.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("places", "source", "target", "degree", "around", "weight", "other", "needs")),
        *((name, c_int64) for name in ("asked", "ids", "links", "first", "way")),
    )


class Land(Structure):
    """What is known by row: `land` in terrain.c."""

    _fields_ = (("around", c_void_p), ("least", c_void_p), ("rows", c_int64))


_meet = function("meet", POINTER(Roster), c_void_p, c_int64, c_void_p)
_fan_wires = function("fan_wires", POINTER(Loose), c_void_p)
_merge_wires = function("merge_wires", POINTER(Loose), POINTER(Wires))
_grow = function(
    "grow",
    *(POINTER(Roster), POINTER(Reading), POINTER(Wires), POINTER(Land), c_void_p, POINTER(Land), POINTER(Wires)),
)


class Found(Protocol):
    """Links that were read, as `Expansion` in stores/base.py has them."""

    @property
    def source(self) -> Numbers: ...
    @property
    def target(self) -> Numbers: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def degree(self) -> Numbers: ...
    @property
    def around(self) -> Numbers | None: ...


class WiresInC:
    """Wires as C reads them. Holds on to their arrays."""

    __slots__ = ("_kept", "in_c", "many")

    def __init__(self, source: Numbers, target: Numbers, conductance: Floats, strongest: Numbers) -> None:
        self.many = len(source)
        numbers = (whole(one, np.int64) for one in (source, target, strongest))
        self._kept: Any = (*numbers, whole(conductance, np.float64))
        self.in_c = Wires(*map(start, self._kept), self.many)

    @classmethod
    def at(cls, block: NDArray[Any], in_c: Wires) -> WiresInC:
        """Those that C has written into a block."""
        made = cls.__new__(cls)
        made.many, made._kept, made.in_c = in_c.many, block, in_c
        return made


class MetInC:
    """Places that were met, a row each in that order."""

    def __init__(self) -> None:
        self._make_room(FEW_BITS)

    def __len__(self) -> int:
        return int(self._in_c.many)

    @property
    def places(self) -> Numbers:
        """The place of each row."""
        return self._places[: self._in_c.many]

    def meet(self, places: Numbers) -> Numbers:
        """The rows of places; one that was not met before gets the next."""
        self._widen(len(places))
        places, rows = whole(places, np.int64), np.empty(len(places), np.int64)
        _meet(byref(self._in_c), start(places), len(places), start(rows))
        return rows

    def grow(
        self,
        places: Numbers,
        found: Found,
        known: tuple[WiresInC, Numbers, Floats],
        *,
        other: Floats | None,
        needs: Floats | None,
        first: int,
        way: int,
    ) -> tuple[Numbers, tuple[Numbers, Numbers, Floats, Numbers], WiresInC, Numbers, Floats]:
        """What `grown` in verbs/terrain.py makes of links that were read between these places: the rows of the places; wires, those
        that were known and new ones; and by row how many neighbours there are, and what links had to conduct. `other` and `way` say
        how links become wires, `first` is the number of the first one."""
        before, around, least = known
        ids, links, asked = len(places), len(found.source), len(found.degree)
        self._widen(ids)
        rows, room = self._in_c.many + ids, before.many + links
        columns = (places, found.source, found.target, found.degree, found.around, found.weight, other, needs)
        kept = [None if one is None else whole(one, kind) for one, kind in zip(columns, _READ, strict=True)]
        reading = Reading(*[None if one is None else start(one) for one in kept], asked, ids, links, first, way)
        block = np.empty(4 * room + 2 * rows + ids, np.int64)
        begun = start(block)
        column = room * WIDTH
        wires = Wires(begun, begun + column, begun + 2 * column, begun + 3 * column, room)
        after = begun + 4 * column
        was = Land(start(around), start(least), len(around))
        now = Land(after, after + rows * WIDTH, 0)
        many = counted(
            _grow(
                *(byref(self._in_c), byref(reading), byref(before.in_c), byref(was)),
                *(after + 2 * rows * WIDTH, byref(now), byref(wires)),
            )
        )
        wires.many = many
        source, target, strongest, conductance = block[: 4 * room].reshape(4, room)[:, :many]
        marks = block[4 * room :]
        return (
            marks[2 * rows :],
            (source, target, conductance.view(np.float64), strongest),
            WiresInC.at(block, wires),
            marks[: now.rows],
            marks[rows : rows + now.rows].view(np.float64),
        )

    def _widen(self, more: int) -> None:
        wanted = self._in_c.many + more
        if wanted > len(self._places):
            known = self.places
            self._make_room(int(wanted).bit_length() + 1)
            self.meet(known)

    def _make_room(self, bits: int) -> None:
        """For 2^bits rows, in twice as many slots."""
        self._places, self._slots = np.empty(1 << bits, np.int64), np.zeros(2 << bits, np.int32)
        self._in_c = Roster(start(self._places), start(self._slots), bits + 1, 0)


def fanned(source: Numbers, weight: Floats, other: Floats | None, degree: Numbers) -> Floats:
    """How well links conduct, each by itself and shared by the root of its source's degree. What is None counts nothing."""
    kept = [whole(source, np.int64), whole(weight, np.float64), whole(degree, np.int64)]
    other, conductance = None if other is None else whole(other, np.float64), np.empty(len(source))
    begun, said, shared = map(start, kept)
    loose = Loose(begun, None, said, None if other is None else start(other), shared, len(source))
    _fan_wires(byref(loose), start(conductance))
    return conductance


def merged(
    source: Numbers, target: Numbers, weight: Floats, confidence: Floats | None, degree: Numbers | None
) -> tuple[Numbers, Numbers, Floats, Numbers]:
    """Parallel links as one wire each, by source and target: its ends, how well it conducts, and its strongest link. What is None
    counts nothing."""
    many, ends = len(source), np.empty((4, len(source)), np.int64)
    kept = [whole(source, np.int64), whole(target, np.int64), whole(weight, np.float64)]
    other = None if confidence is None else whole(confidence, np.float64)
    loose = Loose(
        *map(start, kept), None if other is None else start(other), None if degree is None else start(degree), many
    )
    first = start(ends)
    wires = Wires(*(first + column * many * WIDTH for column in range(4)), many)
    found = counted(_merge_wires(byref(loose), byref(wires)))
    begun, ended, strongest, strengths = ends[:, :found]
    return begun, ended, strengths.view(np.float64), strongest
