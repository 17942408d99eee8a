"""Native activation: rows by position, conductance of links, SYNAPSE, diffusion and energy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int64, c_void_p
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.index.native import address_of, bind_function, check_count, to_native_array

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

ITEM_SIZE = 8
# Room for so many rows, which most walks do not fill, as a power of two.
INITIAL_ROW_BITS = 11
# What is read of links: whole numbers, then others.
_READ_LINK_TYPES: tuple[Any, ...] = (*[np.int64] * 5, *[np.float64] * 3)
# How links become wires, as in terrain.c.
DEGREE_CONDUCTANCE, CONFIDENCE_CONDUCTANCE, SEPARATE_CONDUCTANCE = range(3)


class VisitedRowsStruct(Structure):
    """Who was met: `roster` in roster.h."""

    _fields_ = (*((name, c_void_p) for name in ("places", "slots")), ("bits", c_int64), ("many", c_int64))


class RawLinksStruct(Structure):
    """Links as they are read: `loose` in terrain.c."""

    _fields_ = (*((name, c_void_p) for name in ("source", "target", "weight", "other", "degree")), ("many", c_int64))


class ConductingLinksStruct(Structure):
    """What conducts from row to row: `wires` in wires.h."""

    _fields_ = (
        *((name, c_void_p) for name in ("source", "target", "strongest", "conductance")),
        ("many", c_int64),
    )


class ReadLinksStruct(Structure):
    """What was read: `reading` in terrain.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("places", "source", "target", "degree", "around", "weight", "other", "needs")),
        *((name, c_int64) for name in ("asked", "ids", "links", "first", "way")),
    )


class RowStateStruct(Structure):
    """What is known by row: `land` in terrain.c."""

    _fields_ = (("around", c_void_p), ("least", c_void_p), ("rows", c_int64))


_meet = bind_function("meet", POINTER(VisitedRowsStruct), c_void_p, c_int64, c_void_p)
_fan_wires = bind_function("fan_wires", POINTER(RawLinksStruct), c_void_p)
_merge_wires = bind_function("merge_wires", POINTER(RawLinksStruct), POINTER(ConductingLinksStruct))
_grow = bind_function(
    "grow",
    *(
        POINTER(VisitedRowsStruct),
        POINTER(ReadLinksStruct),
        POINTER(ConductingLinksStruct),
        POINTER(RowStateStruct),
        c_void_p,
        POINTER(RowStateStruct),
        POINTER(ConductingLinksStruct),
    ),
)


class ReadLinksProtocol(Protocol):
    """Links that were read, as `Expansion` in stores/base.py has them."""

    @property
    def source(self) -> IntArray: ...
    @property
    def target(self) -> IntArray: ...
    @property
    def weight(self) -> FloatArray: ...
    @property
    def degree(self) -> IntArray: ...
    @property
    def around(self) -> IntArray | None: ...


class NativeConductingLinks:
    """Wires as C reads them. Holds on to their arrays."""

    __slots__ = ("_kept", "in_c", "many")

    def __init__(self, source: IntArray, target: IntArray, conductance: FloatArray, strongest: IntArray) -> None:
        self.many = len(source)
        numbers = (to_native_array(one, np.int64) for one in (source, target, strongest))
        self._kept: Any = (*numbers, to_native_array(conductance, np.float64))
        self.in_c = ConductingLinksStruct(*map(address_of, self._kept), self.many)

    @classmethod
    def at(cls, block: NDArray[Any], in_c: ConductingLinksStruct) -> NativeConductingLinks:
        """Those that C has written into a block."""
        made = cls.__new__(cls)
        made.many, made._kept, made.in_c = in_c.many, block, in_c
        return made


class NativeVisitedRows:
    """Places that were met, a row each in that order."""

    def __init__(self) -> None:
        self._make_room(INITIAL_ROW_BITS)

    def __len__(self) -> int:
        return int(self._in_c.many)

    @property
    def places(self) -> IntArray:
        """The place of each row."""
        return self._places[: self._in_c.many]

    def meet(self, places: IntArray) -> IntArray:
        """The rows of places; one that was not met before gets the next."""
        self._widen(len(places))
        places, rows = to_native_array(places, np.int64), np.empty(len(places), np.int64)
        _meet(byref(self._in_c), address_of(places), len(places), address_of(rows))
        return rows

    def grow(
        self,
        places: IntArray,
        found: ReadLinksProtocol,
        known: tuple[NativeConductingLinks, IntArray, FloatArray],
        *,
        other: FloatArray | None,
        needs: FloatArray | None,
        first: int,
        way: int,
    ) -> tuple[IntArray, tuple[IntArray, IntArray, FloatArray, IntArray], NativeConductingLinks, IntArray, FloatArray]:
        """What `grown` in verbs/terrain.py makes of links that were read between these places: the rows of the places; wires, those
        that were known and new ones; and by row how many neighbours there are, and what links had to conduct. `other` and `way` say
        how links become wires, `first` is the number of the first one."""
        before, around, least = known
        ids, links, asked = len(places), len(found.source), len(found.degree)
        self._widen(ids)
        rows, room = self._in_c.many + ids, before.many + links
        columns = (places, found.source, found.target, found.degree, found.around, found.weight, other, needs)
        kept = [
            None if one is None else to_native_array(one, kind)
            for one, kind in zip(columns, _READ_LINK_TYPES, strict=True)
        ]
        reading = ReadLinksStruct(
            *[None if one is None else address_of(one) for one in kept], asked, ids, links, first, way
        )
        block = np.empty(4 * room + 2 * rows + ids, np.int64)
        begun = address_of(block)
        column = room * ITEM_SIZE
        wires = ConductingLinksStruct(begun, begun + column, begun + 2 * column, begun + 3 * column, room)
        after = begun + 4 * column
        was = RowStateStruct(address_of(around), address_of(least), len(around))
        now = RowStateStruct(after, after + rows * ITEM_SIZE, 0)
        many = check_count(
            _grow(
                *(byref(self._in_c), byref(reading), byref(before.in_c), byref(was)),
                *(after + 2 * rows * ITEM_SIZE, byref(now), byref(wires)),
            )
        )
        wires.many = many
        source, target, strongest, conductance = block[: 4 * room].reshape(4, room)[:, :many]
        marks = block[4 * room :]
        return (
            marks[2 * rows :],
            (source, target, conductance.view(np.float64), strongest),
            NativeConductingLinks.at(block, wires),
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
        self._in_c = VisitedRowsStruct(address_of(self._places), address_of(self._slots), bits + 1, 0)


def compute_fan_conductance(
    source: IntArray, weight: FloatArray, other: FloatArray | None, degree: IntArray
) -> FloatArray:
    """How well links conduct, each by itself and shared by the root of its source's degree. What is None counts nothing."""
    kept = [to_native_array(source, np.int64), to_native_array(weight, np.float64), to_native_array(degree, np.int64)]
    other, conductance = None if other is None else to_native_array(other, np.float64), np.empty(len(source))
    begun, said, shared = map(address_of, kept)
    loose = RawLinksStruct(begun, None, said, None if other is None else address_of(other), shared, len(source))
    _fan_wires(byref(loose), address_of(conductance))
    return conductance


def merge_parallel_links(
    source: IntArray, target: IntArray, weight: FloatArray, confidence: FloatArray | None, degree: IntArray | None
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Parallel links as one wire each, by source and target: its ends, how well it conducts, and its strongest link. What is None
    counts nothing."""
    many, ends = len(source), np.empty((4, len(source)), np.int64)
    kept = [to_native_array(source, np.int64), to_native_array(target, np.int64), to_native_array(weight, np.float64)]
    other = None if confidence is None else to_native_array(confidence, np.float64)
    loose = RawLinksStruct(
        *map(address_of, kept),
        None if other is None else address_of(other),
        None if degree is None else address_of(degree),
        many,
    )
    first = address_of(ends)
    wires = ConductingLinksStruct(*(first + column * many * ITEM_SIZE for column in range(4)), many)
    found = check_count(_merge_wires(byref(loose), byref(wires)))
    begun, ended, strongest, strengths = ends[:, :found]
    return begun, ended, strengths.view(np.float64), strongest


ActivationIntArray = NDArray[np.int64]
ActivationFloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
TieKeys = Sequence[str] | Sequence[int]

# What a function tells when equals were met whose ids decide, and it was given none: to spell them all takes longer than the rest.
TIES_FOUND = -2


class TieKeysStruct(Structure):
    """Ids as they are told: `words` in spreading.c."""

    _fields_ = (("text", c_char_p), ("width", c_int64), ("places", c_void_p))


class SynapseRuleStruct(Structure):
    """The rule of SYNAPSE: `synapse_rule` in spreading.c."""

    _fields_ = (
        *((name, c_double) for name in ("retention", "spread", "threshold", "slope", "inhibition")),
        ("top_m", c_int64),
    )


class ActivationPathsStruct(Structure):
    """How far activation has come: `way` in spreading.c."""

    _fields_ = (*((name, c_void_p) for name in ("since", "link", "carried")), ("rows", c_int64))


class DiffusionStateStruct(Structure):
    """Diffusion on its way: `flow` in spreading.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("frontier", "trails")),
        *((name, c_int64) for name in ("seeds", "known", "rows", "most")),
        ("decay", c_double),
    )


class EnergyFrontierStruct(Structure):
    """Where energy is: `frontier` in spreading.c."""

    _fields_ = (*((name, c_void_p) for name in ("seed", "fact", "energy")), ("many", c_int64))


class SeedVisitsStruct(Structure):
    """Who was visited by each seed: `visits` in spreading.c."""

    _fields_ = (
        ("before", c_void_p),
        *((name, c_int64) for name in ("seeds", "known", "rows")),
        ("after", c_void_p),
    )


class EnergyClaimsStruct(Structure):
    """Who claims whom: `claims` in spreading.c."""

    _fields_ = tuple((name, c_void_p) for name in ("parent", "wire", "child", "seed", "link", "passed"))


_keep_best = bind_function("keep_best", c_void_p, c_int64, c_int64, POINTER(TieKeysStruct), c_void_p)
_synapse_round = bind_function(
    "synapse_round",
    POINTER(ConductingLinksStruct),
    c_void_p,
    c_int64,
    POINTER(SynapseRuleStruct),
    POINTER(TieKeysStruct),
    *[c_void_p] * 4,
)
_lead_on = bind_function(
    "lead_on",
    POINTER(ConductingLinksStruct),
    c_void_p,
    c_void_p,
    c_int64,
    POINTER(TieKeysStruct),
    POINTER(ActivationPathsStruct),
    POINTER(ActivationPathsStruct),
)
_diffuse_hop = bind_function(
    "diffuse_hop",
    POINTER(ConductingLinksStruct),
    POINTER(DiffusionStateStruct),
    POINTER(TieKeysStruct),
    *[c_void_p] * 5,
)
_refine = bind_function(
    "refine", POINTER(ConductingLinksStruct), c_void_p, c_void_p, c_int64, c_double, c_int64, c_void_p
)
_branch = bind_function(
    "branch",
    *(
        POINTER(ConductingLinksStruct),
        POINTER(EnergyFrontierStruct),
        POINTER(SeedVisitsStruct),
        c_double,
        c_int64,
        POINTER(TieKeysStruct),
    ),
    *(POINTER(EnergyClaimsStruct), c_void_p),
)


def select_highest(values: ActivationFloatArray, ties: TieKeys, *, most: int) -> BoolArray:
    """Which are the highest of values that are not below 0, and have any."""
    values, kept = to_native_array(values, np.float64), np.empty(len(values), np.bool_)
    _call_with_ties(lambda ids: int(_keep_best(address_of(values), len(values), most, ids, address_of(kept))), ties)
    return kept


def run_synapse_round(
    wires: NativeConductingLinks,
    active: ActivationFloatArray,
    rule: tuple[float, float, float, float, float, int],
    ties: TieKeys,
) -> tuple[ActivationFloatArray, ActivationFloatArray, ActivationFloatArray, BoolArray]:
    """What is active after a round, what was arriving, what passed along each wire, and who was silenced. The rule is retention,
    spread, threshold, slope, inhibition (not a number for none) and the many that are left."""
    rows, active = len(active), to_native_array(active, np.float64)
    block, inhibited = np.empty(2 * rows + wires.many), np.empty(rows, np.bool_)
    first, by = address_of(block), SynapseRuleStruct(*rule)
    arriving, following, passed = first, first + rows * ITEM_SIZE, first + 2 * rows * ITEM_SIZE

    def call(ids: Any) -> int:
        return int(
            _synapse_round(
                *(byref(wires.in_c), address_of(active), rows, byref(by), ids),
                *(arriving, following, passed, address_of(inhibited)),
            )
        )

    _call_with_ties(call, ties)
    return block[rows : 2 * rows], block[:rows], block[2 * rows :], inhibited


def update_best_links(
    wires: NativeConductingLinks,
    known: tuple[ActivationIntArray, ActivationIntArray, ActivationFloatArray],
    ties: TieKeys,
    *,
    passed: ActivationFloatArray,
    reached: ActivationFloatArray,
    number: int,
) -> tuple[ActivationIntArray, ActivationIntArray, ActivationFloatArray]:
    """Since when rows are active, the best link to each and what it carried, after the round of this number."""
    rows, before = len(reached), len(known[0])
    passed, reached = to_native_array(passed, np.float64), to_native_array(reached, np.float64)
    block = np.empty((3, rows), np.int64)
    came, first = ActivationPathsStruct(*map(address_of, known), before), address_of(block)
    goes = ActivationPathsStruct(first, first + rows * ITEM_SIZE, first + 2 * rows * ITEM_SIZE, rows)
    _call_with_ties(
        lambda ids: int(
            _lead_on(byref(wires.in_c), address_of(passed), address_of(reached), number, ids, byref(came), byref(goes))
        ),
        ties,
    )
    return block[0], block[1], block[2].view(np.float64)


def run_diffusion_hop(
    wires: NativeConductingLinks,
    frontier: ActivationFloatArray,
    trails: ActivationFloatArray,
    rows: int,
    ties: TieKeys,
    *,
    decay: float,
    most: int,
) -> tuple[ActivationFloatArray, ActivationFloatArray, ActivationFloatArray, ActivationFloatArray, BoolArray]:
    """What arrives one hop on and is kept, by seed; what has come about in all, by seed; what passed along each wire; what was
    reached; and who was kept out. `frontier` and `trails` may have fewer columns than there are rows now."""
    seeds, known = frontier.shape
    arrived, both = np.empty((2, seeds, rows)), np.empty(wires.many + rows)
    kept_out = np.empty(rows, np.bool_)
    frontier, trails = to_native_array(frontier, np.float64), to_native_array(trails, np.float64)
    of, first = (
        DiffusionStateStruct(address_of(frontier), address_of(trails), seeds, known, rows, most, decay),
        address_of(both),
    )
    _call_with_ties(
        lambda ids: int(
            _diffuse_hop(
                *(byref(wires.in_c), byref(of), ids, address_of(arrived[0]), address_of(arrived[1])),
                *(first, first + wires.many * ITEM_SIZE, address_of(kept_out)),
            )
        ),
        ties,
    )
    return arrived[0], arrived[1], both[: wires.many], both[wires.many :], kept_out


def refine_by_pagerank(
    wires: NativeConductingLinks, kept: BoolArray, found: ActivationFloatArray, *, damping: float, iterations: int
) -> ActivationFloatArray:
    """PageRank among what is kept, begun anew at what was found, which is 0 for all else."""
    kept, found = to_native_array(kept, np.bool_), to_native_array(found, np.float64)
    settled = np.empty(len(found))
    check_count(
        _refine(
            byref(wires.in_c), address_of(kept), address_of(found), len(found), damping, iterations, address_of(settled)
        )
    )
    return settled


def branch_energy(
    wires: NativeConductingLinks,
    frontier: tuple[ActivationIntArray, ActivationIntArray, ActivationFloatArray],
    visited: BoolArray,
    ties: TieKeys,
    *,
    threshold: float,
    branches: int,
) -> tuple[tuple[ActivationIntArray, ...], ActivationFloatArray, NDArray[np.uint8], BoolArray]:
    """Who claims somebody along which wire, whom, for which seed and by which link, and what that gets; why rows of the frontier pass
    nothing on; and who is visited then. The frontier is seeds, facts and energies."""
    seed, fact, energy = (to_native_array(one, kind) for one, kind in zip(frontier, _FRONTIER_TYPES, strict=True))
    many, rows, (seeds, known) = len(seed), len(ties), visited.shape
    most = min(many * branches, many * rows)
    block, reason, after = np.empty((6, most), np.int64), np.empty(many, np.uint8), np.empty((seeds, rows), np.bool_)
    of, visited, begun = (
        EnergyFrontierStruct(address_of(seed), address_of(fact), address_of(energy), many),
        to_native_array(visited, np.bool_),
        address_of(block),
    )
    seen = SeedVisitsStruct(address_of(visited), seeds, known, rows, address_of(after))
    claims = EnergyClaimsStruct(*[begun + column * most * ITEM_SIZE for column in range(6)])
    found = _call_with_ties(
        lambda ids: int(
            _branch(
                *(byref(wires.in_c), byref(of), byref(seen), threshold, branches, ids),
                *(byref(claims), address_of(reason)),
            )
        ),
        ties,
    )
    *columns, passed = block[:, :found]
    return tuple(columns), passed.view(np.float64), reason, after


_FRONTIER_TYPES: tuple[Any, ...] = (np.int64, np.int64, np.float64)


def _call_with_ties(call: Callable[[Any], int], ties: Any) -> int:
    """What a function counts; of equals the smaller of `ties` come first. Late ids, which have places in a table of all, are compared
    there; others are spelled only if it meets any."""
    if hasattr(ties, "in_c"):
        ties.in_c = ties.in_c or TieKeysStruct(address_of(ties.table), ties.table.itemsize, address_of(ties.places))
        return check_count(call(byref(ties.in_c)))
    found = call(None)
    if found == TIES_FOUND:
        text = encode_ties(ties)
        found = call(byref(TieKeysStruct(text, 0, None)))
    return check_count(found)


def encode_ties(ties: TieKeys) -> bytes:
    """Words, or numbers that are not below 0, so that comparing bytes compares them: one after the other, each ended by a zero.

    >>> encode_ties(["b", "a"])
    b'b\\x00a\\x00'
    """
    numbers = isinstance(ties, range)
    words: Iterable[Any] = (f"{tie:020}" for tie in ties) if numbers else ties
    return "\0".join((*words, "")).encode("utf-8", "surrogatepass")
