"""Onward in C: a spread that reads the stored links it comes to by itself, until it ends."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import POINTER, Structure, addressof, byref, c_double, c_int64, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import OUTSIDE, counted, fitting, function, start, whole
from cofire.kernels.links import Late, Newer, StoredLinks, Wanted, newer_links, sieve
from cofire.kernels.spreading import Synapse

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
# Links of these keys that came after the base.
Newest = Callable[[list[int]], Late | None]

# Which dynamics it is, as in journey.h.
SYNAPSE, DIFFUSION, ENERGY = range(3)
# How many columns there are of each.
_OF_FACTS, _OF_LINKS, _OF_FOUND, _OF_ROUNDS, _OF_DEPTHS = 3, 5, 2, 2, 4


class Manner(Structure):
    """Which dynamics it is, and its rule: `manner` in journey.h."""

    _fields_ = (
        *((name, c_int64) for name in ("dynamics", "depths")),
        ("synapse", Synapse),
        *((name, c_double) for name in ("decay", "damping", "least")),
        *((name, c_int64) for name in ("expanded", "iterations", "branches")),
    )


class Country(Structure):
    """All that a store holds: `country` in journey.h."""

    _fields_ = (
        *((name, c_void_p) for name in ("links", "wanted", "keys", "ids")),
        *(("width", c_int64), ("facts", c_int64), ("row_of", c_void_p), ("marks", c_void_p)),
    )


class Outline(Structure):
    """How much there is to tell: `outline` in journey.h."""

    _fields_ = (
        *((name, c_int64) for name in ("facts", "links", "found", "told", "depths", "asked")),
        ("keys", POINTER(c_int64)),
    )


_begin_journey = function(
    "begin_journey", POINTER(Country), POINTER(Manner), c_void_p, c_void_p, c_int64, POINTER(c_void_p)
)
_continue_journey = function("continue_journey", c_void_p, POINTER(Newer))
_tell_journey = function("tell_journey", c_void_p, c_void_p)
_end_journey = function("end_journey", c_void_p)


@dataclass(frozen=True, slots=True)
class Told:
    """A spread from its first facts to its end, in one block of columns. `places` are positions by row, the first facts first; `rows` are
    active at the end, the strongest first, with their `activation`. Of rounds, each stands up to its place in `ends`."""

    block: Numbers
    facts: int
    links: int
    found: int
    ends: list[int]

    @property
    def places(self) -> Numbers:
        return self.block[: self.facts]

    @property
    def best(self) -> tuple[Numbers, Floats]:
        """By row the best link, -1 for none, and what it carried."""
        _, link, carried = self.block[: self._linked].reshape(_OF_FACTS, self.facts)
        return link, carried.view(np.float64)

    @property
    def ways(self) -> tuple[Numbers, Numbers, Numbers, Floats, Floats]:
        """By link the rows it leads from and to, twice its kind, its weight and its confidence."""
        columns = self.block[self._linked : self._ended].reshape(_OF_LINKS, self.links)
        source, target, code, weight, confidence = columns
        return source, target, code, weight.view(np.float64), confidence.view(np.float64)

    @property
    def rows(self) -> Numbers:
        return self.block[self._ended : self._ended + self.found]

    @property
    def activation(self) -> Floats:
        first = self._ended + self.found
        return self.block[first : first + self.found].view(np.float64)

    @property
    def rounds(self) -> Numbers:
        """How active rows were, as bytes of it, and who was silenced; or, of energy paths, fact, seed, link and energy, as bytes
        of it."""
        first, last = self._ended + _OF_FOUND * self.found, len(self.block) - len(self.ends)
        return self.block[first:last].reshape(-1, self.ends[-1])

    @property
    def _linked(self) -> int:
        return _OF_FACTS * self.facts

    @property
    def _ended(self) -> int:
        return _OF_FACTS * self.facts + _OF_LINKS * self.links


def gone_on(
    stored: StoredLinks,
    wanted: Wanted,
    facts: tuple[Numbers, NDArray[np.bytes_]],
    manner: Manner,
    begun: tuple[Numbers, Floats],
    *,
    newest: Newest | None,
) -> Told:
    """Where a spread comes to, over the stored links that are wanted; `facts` are keys and ids by position, `begun` the positions that
    it begins from and how active each is, which is more than nothing."""
    keys, ids = whole(facts[0], np.int64), facts[1]
    positions, active = whole(begun[0], np.int64), whole(begun[1], np.float64)
    fitting((len(positions), len(active)))
    if len(ids) < len(keys) or len(wanted.admitted) > len(keys):
        counted(OUTSIDE)
    passing = sieve(wanted)
    over = Country(
        *(addressof(stored.in_c), addressof(passing), start(keys), start(ids), ids.itemsize, len(keys)),
        *stored.room_for(len(keys)),
    )
    # C itself notes where the journey is: an interrupt between its answer and ours would leave it marked in the room of all others.
    begun_at = c_void_p()
    try:
        counted(
            _begin_journey(
                *(byref(over), byref(manner), start(positions), start(active), len(positions), byref(begun_at))
            )
        )
        journey = begun_at.value or 0
        outline = _at_its_end(journey, newest)
        return _told(journey, outline, _OF_DEPTHS if manner.dynamics == ENERGY else _OF_ROUNDS)
    finally:
        _end_journey(begun_at)


def _at_its_end(journey: int, newest: Newest | None) -> Outline:
    """How much there is to tell when it has gone on until it asks for nobody any more."""
    outline, going = Outline.from_address(journey), 1
    while going:
        late = newest(outline.keys[: outline.asked]) if newest else None
        going = counted(_continue_journey(journey, byref(newer_links(late))))
    return outline


def _told(journey: int, outline: Outline, width: int) -> Told:
    facts, links, found, ends = outline.facts, outline.links, outline.found, outline.depths + 1
    size = _OF_FACTS * facts + _OF_LINKS * links + _OF_FOUND * found + width * outline.told
    block = np.empty(size + ends, np.int64)
    _tell_journey(journey, start(block))
    return Told(block, facts, links, found, block[size:].tolist())
