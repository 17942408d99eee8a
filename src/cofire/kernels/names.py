"""Names in C: where the names that facts hold lead."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, function, start, whole
from cofire.kernels.words import SegmentArrays, Segments

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Names of seeds and links over them that there is room for at first.
STEPS, LINKS = 1_024, 8_192
TOO_MANY = -2


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


class Paths(Structure):
    """Rows of names, links and facts: `paths` in names.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("holder", "name", "count", "sentences", "own", "sure")),
        ("steps_room", c_int64),
        *((name, c_void_p) for name in ("step", "target", "there", "strength")),
        *(("links_room", c_int64), ("positions", c_void_p)),
        *((name, c_int64) for name in ("steps", "links", "facts")),
    )


_paths_over_names = function(
    "paths_over_names",
    *(POINTER(Holding), POINTER(Holding), c_void_p, c_int64),
    *(POINTER(Crowd), POINTER(Limits), POINTER(Paths)),
)


class NamesInC:
    """One way of holding names as C reads it. Holds on to the arrays."""

    def __init__(
        self,
        pairs: Numbers,
        strengths: NDArray[np.uint16],
        sentences: NDArray[np.uint32],
        segments: list[SegmentArrays],
    ) -> None:
        self._kept = (whole(pairs, np.int64), whole(strengths, np.uint16), whole(sentences, np.uint32))
        self._segments = Segments(segments)
        held, strong, told = map(start, self._kept)
        table = self._segments.table
        self.in_c = Holding(held, len(pairs), strong, told, start(table), len(table))


@dataclass(frozen=True, slots=True)
class Led:
    """Names that seeds hold, a row each, and links over them, a row each; `holder` and `target` are rows of `positions`, which are
    the seeds, then those led to. See `stores.index.looking.Paths`."""

    holder: Numbers
    name: Numbers
    count: Numbers
    sentences: Numbers
    own: Floats
    sure: Floats
    step: Numbers
    target: Numbers
    there: Numbers
    strength: Floats
    positions: Numbers


def paths(
    mentions: NamesInC,
    subjects: NamesInC,
    seeds: Numbers,
    facts: tuple[NDArray[np.bool_], NDArray[np.bool_], Numbers, NDArray[np.int32]],
    *,
    common: int,
    most: int,
    leading: int,
) -> Led:
    """From facts over their names to others. `facts` tells of all who is there, who may be led to, the order of contents, and has room
    for marks, all -1 between two questions."""
    alive, admitted, hashes, marks = facts
    seeds, admitted = whole(seeds, np.int64), whole(admitted, np.bool_)
    crowd, limits = Crowd(*map(start, (alive, admitted, hashes, marks))), Limits(common, most, leading)
    steps, links = STEPS, LINKS
    while True:
        room, out = _room(steps, links, len(seeds))
        ended = _paths_over_names(
            byref(mentions.in_c),
            byref(subjects.in_c),
            start(seeds),
            len(seeds),
            byref(crowd),
            byref(limits),
            byref(out),
        )
        if ended != TOO_MANY:
            counted(ended)
            return _led(room, out)
        steps, links = 4 * steps, 4 * links


def _room(steps: int, links: int, seeds: int) -> tuple[dict[str, NDArray[Any]], Paths]:
    """Arrays with room for so many, and how C knows them."""
    sizes = dict.fromkeys(("holder", "name", "count", "sentences", "own", "sure"), steps)
    sizes |= dict.fromkeys(("step", "target", "there", "strength"), links) | {"positions": links + seeds}
    room: dict[str, NDArray[Any]] = {
        name: np.empty(size, np.float64 if name in ("own", "sure", "strength") else np.int64)
        for name, size in sizes.items()
    }
    return room, Paths(steps_room=steps, links_room=links, **{name: start(array) for name, array in room.items()})


def _led(room: dict[str, NDArray[Any]], out: Paths) -> Led:
    used = {
        name: out.facts
        if name == "positions"
        else out.links
        if name in ("step", "target", "there", "strength")
        else out.steps
        for name in room
    }
    return Led(**{name: array[: used[name]].copy() for name, array in room.items()})
