"""Native functions on names: links through names, and the facts about a name."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_int64, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.index.native import address_of, bind_function, check_count, to_native_array
from cofire.index.native_words import NativeSegments, SegmentArrays

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Names of seeds and links over them that there is room for at first.
INITIAL_NAME_ROWS, INITIAL_LINK_ROWS = 1_024, 8_192
BUFFERS_TOO_SMALL = -2

NAME_COLUMNS = ("holder", "name", "count", "sentences", "own", "sure")
LINK_COLUMNS = ("step", "target", "there", "strength")


class NameHoldingStruct(Structure):
    """One way of holding names: `holding` in names.c."""

    _fields_ = (
        *(("pairs", c_void_p), ("size", c_int64), ("strengths", c_void_p), ("sentences", c_void_p)),
        *(("segments", c_void_p), ("many", c_int64)),
    )


class FactTableStruct(Structure):
    """All facts: `crowd` in names.c."""

    _fields_ = tuple((name, c_void_p) for name in ("alive", "admitted", "hashes", "marks"))


class NamePathLimitsStruct(Structure):
    """How far names lead: `limits` in names.c."""

    _fields_ = tuple((name, c_int64) for name in ("common", "most", "leading"))


class NamePathTableStruct(Structure):
    """Rows of names, links and facts: `trace_name_paths` in names.c."""

    _fields_ = (
        *((name, c_void_p) for name in NAME_COLUMNS),
        ("steps_room", c_int64),
        *((name, c_void_p) for name in LINK_COLUMNS),
        *(("links_room", c_int64), ("positions", c_void_p)),
        *((name, c_int64) for name in ("steps", "links", "facts")),
    )


_paths_over_names = bind_function(
    "paths_over_names",
    *(POINTER(NameHoldingStruct), POINTER(NameHoldingStruct), c_void_p, c_int64),
    *(POINTER(FactTableStruct), POINTER(NamePathLimitsStruct), POINTER(NamePathTableStruct)),
)


_owners_of_names = bind_function(
    "owners_of_names",
    POINTER(NameHoldingStruct),
    c_void_p,
    c_int64,
    POINTER(FactTableStruct),
    c_int64,
    c_void_p,
    c_void_p,
    c_void_p,
)

# Who is there, who may be led to, the order of contents, and room for marks, all -1 between two questions.
FactArrays = tuple[NDArray[np.bool_], NDArray[np.bool_], IntArray, NDArray[np.int32]]


class NativeNames:
    """One way of holding names as C reads it. Holds on to the arrays."""

    def __init__(
        self,
        pairs: IntArray,
        strengths: NDArray[np.uint16],
        sentences: NDArray[np.uint32],
        segments: Sequence[SegmentArrays],
    ) -> None:
        self._kept = (
            to_native_array(pairs, np.int64),
            to_native_array(strengths, np.uint16),
            to_native_array(sentences, np.uint32),
        )
        self._segments = NativeSegments(segments)
        held, strong, told = map(address_of, self._kept)
        table = self._segments.table
        self.in_c = NameHoldingStruct(held, len(pairs), strong, told, address_of(table), len(table))


@dataclass(frozen=True)
class NamePathColumns:
    """Names that some facts hold and where they lead, by the keys of names; `target` are rows of `positions`, the seeds first."""

    positions: IntArray
    holder: IntArray
    name: IntArray
    count: IntArray
    sentences: IntArray
    own: FloatArray
    sure: FloatArray
    step: IntArray
    target: IntArray
    strength: FloatArray
    there: IntArray


class NamePathBuffers:
    """Room for names of seeds, for links over them and for all facts on these; more is made when it does not suffice."""

    def __init__(self, steps: int, links: int) -> None:
        self.steps, self.links = steps, links
        self._names, self._shares = np.empty((4, steps), np.int64), np.empty((2, steps))
        self._links, self._strength = np.empty((3, links), np.int64), np.empty(links)
        self._positions = np.empty(links + steps, np.int64)
        of_steps, of_links = (*self._names, *self._shares), (*self._links, self._strength)
        self.in_c = NamePathTableStruct(
            *map(address_of, of_steps), steps, *map(address_of, of_links), links, address_of(self._positions)
        )

    def found(self) -> NamePathColumns:
        """What was written there last, in arrays of its own."""
        steps, links, facts = self.in_c.steps, self.in_c.links, self.in_c.facts
        holder, name, count, sentences = self._names[:, :steps].copy()
        own, sure = self._shares[:, :steps].copy()
        step, target, there = self._links[:, :links].copy()
        return NamePathColumns(
            *(self._positions[:facts].copy(), holder, name, count, sentences, own, sure),
            *(step, target, self._strength[:links].copy(), there),
        )


def trace_name_paths(
    mentions: NativeNames,
    subjects: NativeNames,
    seeds: IntArray,
    facts: FactArrays,
    room: NamePathBuffers,
    *,
    common: int,
    most: int,
    leading: int,
) -> tuple[NamePathColumns, NamePathBuffers]:
    """From facts over their names to others, and the room that sufficed."""
    alive, admitted, hashes, marks = facts
    seeds, admitted = to_native_array(seeds, np.int64), to_native_array(admitted, np.bool_)
    crowd, limits = (
        FactTableStruct(*map(address_of, (alive, admitted, hashes, marks))),
        NamePathLimitsStruct(common, most, leading),
    )
    while True:
        # A seed has a name at least, or leads nowhere.
        room = room if room.steps >= len(seeds) else NamePathBuffers(4 * len(seeds), room.links)
        ended = _paths_over_names(
            *(byref(mentions.in_c), byref(subjects.in_c), address_of(seeds), len(seeds)),
            *(byref(crowd), byref(limits), byref(room.in_c)),
        )
        if ended != BUFFERS_TOO_SMALL:
            check_count(ended)
            return room.found(), room
        room = NamePathBuffers(4 * room.steps, 4 * room.links)


def rank_name_owners(
    subjects: NativeNames, names: Sequence[int], facts: FactArrays, most: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Who is about each of these names, at most so many, the strongest first: the place of the name, the position and how strongly."""
    alive, admitted, hashes, marks = facts
    asked, admitted = np.array(names, np.int64), to_native_array(admitted, np.bool_)
    crowd, room = FactTableStruct(*map(address_of, (alive, admitted, hashes, marks))), len(asked) * most
    places, positions, strengths = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    many = check_count(
        _owners_of_names(
            *(byref(subjects.in_c), address_of(asked), len(asked), byref(crowd), most),
            *(address_of(places), address_of(positions), address_of(strengths)),
        )
    )
    return places[:many], positions[:many], strengths[:many]
