"""Names in C: where the names that facts hold lead, and who is about a name."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_int64, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, function, start, whole
from cofire.kernels.words import SegmentArrays, Segments

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Names of seeds and links over them that there is room for at first.
STEPS, LINKS = 1_024, 8_192
TOO_MANY = -2

OF_STEPS = ("holder", "name", "count", "sentences", "own", "sure")
OF_LINKS = ("step", "target", "there", "strength")


class Holding(Structure):
    """One way of holding names: `holding` in names.c."""

    _fields_ = (
        *(("pairs", c_void_p), ("size", c_int64), ("strengths", c_void_p), ("sentences", c_void_p)),
        *(("segments", c_void_p), ("many", c_int64)),
    )


class Crowd(Structure):
    """All facts: `crowd` in names.c."""

    _fields_ = tuple((name, c_void_p) for name in ("alive", "admitted", "hashes", "marks"))


class Limits(Structure):
    """How far names lead: `limits` in names.c."""

    _fields_ = tuple((name, c_int64) for name in ("common", "most", "leading"))


class Table(Structure):
    """Rows of names, links and facts: `paths` in names.c."""

    _fields_ = (
        *((name, c_void_p) for name in OF_STEPS),
        ("steps_room", c_int64),
        *((name, c_void_p) for name in OF_LINKS),
        *(("links_room", c_int64), ("positions", c_void_p)),
        *((name, c_int64) for name in ("steps", "links", "facts")),
    )


_paths_over_names = function(
    "paths_over_names",
    *(POINTER(Holding), POINTER(Holding), c_void_p, c_int64),
    *(POINTER(Crowd), POINTER(Limits), POINTER(Table)),
)


_owners_of_names = function(
    "owners_of_names", POINTER(Holding), c_void_p, c_int64, POINTER(Crowd), c_int64, c_void_p, c_void_p, c_void_p
)

# Who is there, who may be led to, the order of contents, and room for marks, all -1 between two questions.
Facts = tuple[NDArray[np.bool_], NDArray[np.bool_], Numbers, NDArray[np.int32]]


class NamesInC:
    """One way of holding names as C reads it. Holds on to the arrays."""

    def __init__(
        self,
        pairs: Numbers,
        strengths: NDArray[np.uint16],
        sentences: NDArray[np.uint32],
        segments: Sequence[SegmentArrays],
    ) -> None:
        self._kept = (whole(pairs, np.int64), whole(strengths, np.uint16), whole(sentences, np.uint32))
        self._segments = Segments(segments)
        held, strong, told = map(start, self._kept)
        table = self._segments.table
        self.in_c = Holding(held, len(pairs), strong, told, start(table), len(table))


@dataclass(frozen=True)
class Paths:
    """Names that some facts hold and where they lead, by the keys of names; `target` are rows of `positions`, the seeds first."""

    positions: Numbers
    holder: Numbers
    name: Numbers
    count: Numbers
    sentences: Numbers
    own: Floats
    sure: Floats
    step: Numbers
    target: Numbers
    strength: Floats
    there: Numbers


class Room:
    """Room for names of seeds, for links over them and for all facts on these; more is made when it does not suffice."""

    def __init__(self, steps: int, links: int) -> None:
        self.steps, self.links = steps, links
        self._names, self._shares = np.empty((4, steps), np.int64), np.empty((2, steps))
        self._links, self._strength = np.empty((3, links), np.int64), np.empty(links)
        self._positions = np.empty(links + steps, np.int64)
        of_steps, of_links = (*self._names, *self._shares), (*self._links, self._strength)
        self.in_c = Table(*map(start, of_steps), steps, *map(start, of_links), links, start(self._positions))

    def found(self) -> Paths:
        """What was written there last, in arrays of its own."""
        steps, links, facts = self.in_c.steps, self.in_c.links, self.in_c.facts
        holder, name, count, sentences = self._names[:, :steps].copy()
        own, sure = self._shares[:, :steps].copy()
        step, target, there = self._links[:, :links].copy()
        return Paths(
            *(self._positions[:facts].copy(), holder, name, count, sentences, own, sure),
            *(step, target, self._strength[:links].copy(), there),
        )


def paths(
    mentions: NamesInC,
    subjects: NamesInC,
    seeds: Numbers,
    facts: Facts,
    room: Room,
    *,
    common: int,
    most: int,
    leading: int,
) -> tuple[Paths, Room]:
    """From facts over their names to others, and the room that sufficed."""
    alive, admitted, hashes, marks = facts
    seeds, admitted = whole(seeds, np.int64), whole(admitted, np.bool_)
    crowd, limits = Crowd(*map(start, (alive, admitted, hashes, marks))), Limits(common, most, leading)
    while True:
        # A seed has a name at least, or leads nowhere.
        room = room if room.steps >= len(seeds) else Room(4 * len(seeds), room.links)
        ended = _paths_over_names(
            *(byref(mentions.in_c), byref(subjects.in_c), start(seeds), len(seeds)),
            *(byref(crowd), byref(limits), byref(room.in_c)),
        )
        if ended != TOO_MANY:
            counted(ended)
            return room.found(), room
        room = Room(4 * room.steps, 4 * room.links)


def owners(subjects: NamesInC, names: Sequence[int], facts: Facts, most: int) -> tuple[Numbers, Numbers, Floats]:
    """Who is about each of these names, at most so many, the strongest first: the place of the name, the position and how strongly."""
    alive, admitted, hashes, marks = facts
    asked, admitted = np.array(names, np.int64), whole(admitted, np.bool_)
    crowd, room = Crowd(*map(start, (alive, admitted, hashes, marks))), len(asked) * most
    places, positions, strengths = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    many = counted(
        _owners_of_names(
            *(byref(subjects.in_c), start(asked), len(asked), byref(crowd), most),
            *(start(places), start(positions), start(strengths)),
        )
    )
    return places[:many], positions[:many], strengths[:many]
