"""Native functions on stored links: expansion of facts, and traversal until activation ends."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import POINTER, Structure, addressof, byref, c_double, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.index.native import OUT_OF_RANGE, address_of, bind_function, check_count, check_sizes, to_native_array
from cofire.index.native_activation import SynapseRuleStruct

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LINK_COLUMNS = ("source", "target", "code", "at", "others", "around", "weight", "confidence")
ITEM_SIZE = 8
# There is room for so many links without counting them first.
UNCOUNTED_LINK_ROOM = 1_024


class AdjacencyStruct(Structure):
    """Stored links: `adjacency` in links.c."""

    _fields_ = tuple(
        (name, c_void_p) for name in ("starts", "neighbour", "code", "weight", "confidence", "degree", "alive")
    )


class LinkFilterStruct(Structure):
    """Which of them are wanted: `build_filter_struct` in links.c."""

    _fields_ = (*((name, c_void_p) for name in ("places", "admitted", "kinds")), ("floor", c_int64), ("most", c_int64))


class NewerLinksStruct(Structure):
    """Links that came after the base: `newer` in links.c."""

    _fields_ = (("halves", c_void_p), ("many", c_int64), ("ranks", c_void_p), ("contents", c_void_p))


class ExpansionSeedsStruct(Structure):
    """Facts to expand: `asked` in links.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("keys", "positions", "rows", "least")),
        ("many", c_int64),
        ("ids", c_int64),
    )


class ExpansionStruct(Structure):
    """Where links are written: `expansion` in links.c."""

    _fields_ = (*((name, c_void_p) for name in (*LINK_COLUMNS, "degree", "row_of", "marks")), ("links", c_int64))


_links_at_most = bind_function("links_at_most", POINTER(AdjacencyStruct), c_void_p, c_int64, c_int64)
_expand_links = bind_function(
    "expand_links",
    *(
        POINTER(AdjacencyStruct),
        POINTER(LinkFilterStruct),
        POINTER(ExpansionSeedsStruct),
        POINTER(NewerLinksStruct),
        c_int64,
        POINTER(ExpansionStruct),
    ),
)
_number_links = bind_function("number_links", POINTER(ExpansionSeedsStruct), POINTER(ExpansionStruct))


class LinkFilterProtocol(Protocol):
    """Which links are wanted, as `LinkFilterStruct` in stores/index/base_links.py has it."""

    @property
    def places(self) -> NDArray[np.int32]: ...
    @property
    def admitted(self) -> BoolArray: ...
    @property
    def kinds(self) -> BoolArray | None: ...
    @property
    def floor(self) -> int: ...
    @property
    def most(self) -> int: ...


@dataclass(frozen=True, slots=True)
class NewerLinks:
    """Links that came after the base, a row each: a place among the asked, in that order, and what `Halves` in stores/index/halves.py
    has besides the owner; and by what they are put in order with others: ranks of kinds, and contents by position."""

    halves: NDArray[np.int32]
    ranks: NDArray[np.int32]
    contents: IntArray


@dataclass(frozen=True, slots=True)
class ExpandedLinks:
    """Links that leave facts, a row each: the rows they lead from and to, twice their kind, and where they stand in the base, or for
    newer ones the number of their tags, as -1 - number. `others` are positions of those led to that were not asked for, and `around`
    is how many neighbours each of them has, by links of all kinds; `degree` is by row of those that were asked for."""

    source: IntArray
    target: IntArray
    code: IntArray
    at: IntArray
    others: IntArray
    around: IntArray
    weight: FloatArray
    confidence: FloatArray
    degree: IntArray


class NativeAdjacency:
    """The links of a store as C reads them, with room to work in. Holds on to the arrays."""

    def __init__(self, base: Any, degree: NDArray[np.int32], alive: BoolArray) -> None:
        """Of a `Base` in stores/index/base_links.py; degrees and who is alive may change later on."""
        self.base = base
        numbers = (base.neighbour, base.code, base.weight, base.confidence)
        self._kept = [
            to_native_array(base.starts, np.int64),
            *(to_native_array(one, np.int32) for one in numbers),
            degree,
            alive,
        ]
        self.in_c = AdjacencyStruct(*map(address_of, self._kept))
        self._marks = np.zeros(len(degree) + 1, np.bool_)
        self._row_of = np.zeros(0, np.int32)
        self._room = (0, 0)

    def expand(
        self,
        asked: tuple[IntArray, IntArray, IntArray],
        wanted: LinkFilterProtocol,
        late: NewerLinks | None,
        *,
        ids: int,
        least: FloatArray | None,
    ) -> ExpandedLinks:
        """The strongest links of facts by key, position and row, which is one of so many ids; `least` is by row, how much one must
        conduct to be of use."""
        marks = self.room_for(len(wanted.admitted))
        many, (keys, positions, rows) = len(asked[0]), map(address_of, asked)
        room = max(1, many * wanted.most)
        if room > UNCOUNTED_LINK_ROOM:
            room = max(1, _links_at_most(byref(self.in_c), keys, many, wanted.most))
        newer = build_newer_struct(late)
        room += newer.many
        size = len(LINK_COLUMNS) * room
        block = np.empty(size + ids, np.int64)
        first = address_of(block)
        # The degrees stand after the last column.
        found = ExpansionStruct(*range(first, first + ITEM_SIZE * (size + 1), ITEM_SIZE * room), *marks)
        if least is not None:
            check_sizes((len(least), ids))
            least = to_native_array(least, np.float64)
        of = ExpansionSeedsStruct(keys, positions, rows, None if least is None else address_of(least), many, ids)
        others = check_count(
            _expand_links(
                byref(self.in_c), byref(build_filter_struct(wanted)), byref(of), byref(newer), room, byref(found)
            )
        )
        table = block[:size].reshape(-1, room)
        source, target, code, place = table[:4, : found.links]
        led, around = table[4:6, :others]
        weight, confidence = table[6:, : found.links].view(np.float64)
        return ExpandedLinks(source, target, code, place, led, around, weight, confidence, block[size:])

    def numbered(
        self, positions: IntArray, rows: IntArray, targets: NDArray[Any], *, facts: int, ids: int
    ) -> tuple[IntArray, IntArray]:
        """The rows of targets, which are positions among so many facts, and the positions of those that were not asked for."""
        row_of, _ = self.room_for(facts)
        many = len(targets)
        block = np.empty((2, many), np.int64)
        block[0] = targets
        first = address_of(block)
        asked = ExpansionSeedsStruct(None, address_of(positions), address_of(rows), None, len(positions), ids)
        found = ExpansionStruct(target=first, others=first + ITEM_SIZE * many, row_of=row_of, links=many)
        others = _number_links(byref(asked), byref(found))
        return block[0], block[1, :others]

    def room_for(self, facts: int) -> tuple[int, int]:
        """Where there is room to note a row for each of so many facts, and a mark for each key; all zero between calls."""
        if len(self._row_of) < facts:
            self._row_of = np.zeros(facts + facts // 8, np.int32)
            self._room = address_of(self._row_of), address_of(self._marks)
        return self._room


def build_filter_struct(wanted: LinkFilterProtocol) -> LinkFilterStruct:
    """Which links are wanted, as C reads it."""
    kinds = None if wanted.kinds is None else address_of(wanted.kinds)
    return LinkFilterStruct(address_of(wanted.places), address_of(wanted.admitted), kinds, wanted.floor, wanted.most)


def build_newer_struct(late: NewerLinks | None) -> NewerLinksStruct:
    """Links that came after the base, as C reads them."""
    if late is None:
        return NewerLinksStruct()
    return NewerLinksStruct(
        address_of(late.halves), len(late.halves), address_of(late.ranks), address_of(late.contents)
    )


TraversalIntArray = NDArray[np.int64]
TraversalFloatArray = NDArray[np.float64]
# Links of these keys that came after the base.
NewerLinksLookup = Callable[[list[int]], NewerLinks | None]

# Which dynamics it is, as in journey.h.
SYNAPSE, DIFFUSION, ENERGY = range(3)
# How many columns there are of each.
_FACT_COLUMN_COUNT, _LINK_COLUMN_COUNT, _RESULT_COLUMN_COUNT, _ROUND_COLUMN_COUNT, _DEPTH_COLUMN_COUNT = 3, 5, 2, 2, 4


class TraversalRuleStruct(Structure):
    """Which dynamics it is, and its rule: `manner` in journey.h."""

    _fields_ = (
        *((name, c_int64) for name in ("dynamics", "depths")),
        ("synapse", SynapseRuleStruct),
        *((name, c_double) for name in ("decay", "damping", "least")),
        *((name, c_int64) for name in ("expanded", "iterations", "branches")),
    )


class TraversalGraphStruct(Structure):
    """All that a store holds: `country` in journey.h."""

    _fields_ = (
        *((name, c_void_p) for name in ("links", "wanted", "keys", "ids")),
        *(("width", c_int64), ("facts", c_int64), ("row_of", c_void_p), ("marks", c_void_p)),
    )


class TraversalOutlineStruct(Structure):
    """How much there is to tell: `outline` in journey.h."""

    _fields_ = (
        *((name, c_int64) for name in ("facts", "links", "found", "told", "depths", "asked")),
        ("keys", POINTER(c_int64)),
    )


_begin_journey = bind_function(
    "begin_journey",
    POINTER(TraversalGraphStruct),
    POINTER(TraversalRuleStruct),
    c_void_p,
    c_void_p,
    c_int64,
    POINTER(c_void_p),
)
_continue_journey = bind_function("continue_journey", c_void_p, POINTER(NewerLinksStruct))
_tell_journey = bind_function("tell_journey", c_void_p, c_void_p)
_end_journey = bind_function("end_journey", c_void_p)


@dataclass(frozen=True, slots=True)
class NativeTraversal:
    """A spread from its first facts to its end, in one block of columns. `places` are positions by row, the first facts first; `rows` are
    active at the end, the strongest first, with their `activation`. Of rounds, each stands up to its place in `ends`."""

    block: TraversalIntArray
    facts: int
    links: int
    found: int
    ends: list[int]

    @property
    def places(self) -> TraversalIntArray:
        return self.block[: self.facts]

    @property
    def best(self) -> tuple[TraversalIntArray, TraversalFloatArray]:
        """By row the best link, -1 for none, and what it carried."""
        _, link, carried = self.block[: self._linked].reshape(_FACT_COLUMN_COUNT, self.facts)
        return link, carried.view(np.float64)

    @property
    def ways(
        self,
    ) -> tuple[TraversalIntArray, TraversalIntArray, TraversalIntArray, TraversalFloatArray, TraversalFloatArray]:
        """By link the rows it leads from and to, twice its kind, its weight and its confidence."""
        columns = self.block[self._linked : self._ended].reshape(_LINK_COLUMN_COUNT, self.links)
        source, target, code, weight, confidence = columns
        return source, target, code, weight.view(np.float64), confidence.view(np.float64)

    @property
    def rows(self) -> TraversalIntArray:
        return self.block[self._ended : self._ended + self.found]

    @property
    def activation(self) -> TraversalFloatArray:
        first = self._ended + self.found
        return self.block[first : first + self.found].view(np.float64)

    @property
    def rounds(self) -> TraversalIntArray:
        """How active rows were, as bytes of it, and who was silenced; or, of energy paths, fact, seed, link and energy, as bytes
        of it."""
        first, last = self._ended + _RESULT_COLUMN_COUNT * self.found, len(self.block) - len(self.ends)
        return self.block[first:last].reshape(-1, self.ends[-1])

    @property
    def _linked(self) -> int:
        return _FACT_COLUMN_COUNT * self.facts

    @property
    def _ended(self) -> int:
        return _FACT_COLUMN_COUNT * self.facts + _LINK_COLUMN_COUNT * self.links


def traverse_links(
    stored: NativeAdjacency,
    wanted: LinkFilterProtocol,
    facts: tuple[TraversalIntArray, NDArray[np.bytes_]],
    manner: TraversalRuleStruct,
    begun: tuple[TraversalIntArray, TraversalFloatArray],
    *,
    newest: NewerLinksLookup | None,
) -> NativeTraversal:
    """Where a spread comes to, over the stored links that are wanted; `facts` are keys and ids by position, `begun` the positions that
    it begins from and how active each is, which is more than nothing."""
    keys, ids = to_native_array(facts[0], np.int64), facts[1]
    positions, active = to_native_array(begun[0], np.int64), to_native_array(begun[1], np.float64)
    check_sizes((len(positions), len(active)))
    if len(ids) < len(keys) or len(wanted.admitted) > len(keys):
        check_count(OUT_OF_RANGE)
    passing = build_filter_struct(wanted)
    over = TraversalGraphStruct(
        *(addressof(stored.in_c), addressof(passing), address_of(keys), address_of(ids), ids.itemsize, len(keys)),
        *stored.room_for(len(keys)),
    )
    # C itself notes where the journey is: an interrupt between its answer and ours would leave it marked in the room of all others.
    begun_at = c_void_p()
    try:
        check_count(
            _begin_journey(
                *(
                    byref(over),
                    byref(manner),
                    address_of(positions),
                    address_of(active),
                    len(positions),
                    byref(begun_at),
                )
            )
        )
        journey = begun_at.value or 0
        outline = _run_to_end(journey, newest)
        return _copy_traversal(
            journey, outline, _DEPTH_COLUMN_COUNT if manner.dynamics == ENERGY else _ROUND_COLUMN_COUNT
        )
    finally:
        _end_journey(begun_at)


def _run_to_end(journey: int, newest: NewerLinksLookup | None) -> TraversalOutlineStruct:
    """How much there is to tell when it has gone on until it asks for nobody any more."""
    outline, going = TraversalOutlineStruct.from_address(journey), 1
    while going:
        late = newest(outline.keys[: outline.asked]) if newest else None
        going = check_count(_continue_journey(journey, byref(build_newer_struct(late))))
    return outline


def _copy_traversal(journey: int, outline: TraversalOutlineStruct, width: int) -> NativeTraversal:
    facts, links, found, ends = outline.facts, outline.links, outline.found, outline.depths + 1
    size = _FACT_COLUMN_COUNT * facts + _LINK_COLUMN_COUNT * links + _RESULT_COLUMN_COUNT * found + width * outline.told
    block = np.empty(size + ends, np.int64)
    _tell_journey(journey, address_of(block))
    return NativeTraversal(block, facts, links, found, block[size:].tolist())
