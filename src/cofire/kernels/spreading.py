"""Spreading in C: activation along wires, a round of SYNAPSE, a hop of diffusion or a depth of energy paths at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, function, start, whole
from cofire.kernels.terrain import WIDTH, Wires, WiresInC

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Ties = Sequence[str] | Sequence[int]

# What a function tells when equals were met whose ids decide, and it was given none: to spell them all takes longer than the rest.
TIED = -2


class Words(Structure):
    """Ids as they are told: `words` in spreading.c."""

    _fields_ = (("text", c_char_p), ("width", c_int64), ("places", c_void_p))


class Synapse(Structure):
    """The rule of SYNAPSE: `synapse_rule` in spreading.c."""

    _fields_ = (
        *((name, c_double) for name in ("retention", "spread", "threshold", "slope", "inhibition")),
        ("top_m", c_int64),
    )


class Way(Structure):
    """How far activation has come: `way` in spreading.c."""

    _fields_ = (*((name, c_void_p) for name in ("since", "link", "carried")), ("rows", c_int64))


class Flow(Structure):
    """Diffusion on its way: `flow` in spreading.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("frontier", "trails")),
        *((name, c_int64) for name in ("seeds", "known", "rows", "most")),
        ("decay", c_double),
    )


class Frontier(Structure):
    """Where energy is: `frontier` in spreading.c."""

    _fields_ = (*((name, c_void_p) for name in ("seed", "fact", "energy")), ("many", c_int64))


class Visits(Structure):
    """Who was visited by each seed: `visits` in spreading.c."""

    _fields_ = (
        ("before", c_void_p),
        *((name, c_int64) for name in ("seeds", "known", "rows")),
        ("after", c_void_p),
    )


class Claims(Structure):
    """Who claims whom: `claims` in spreading.c."""

    _fields_ = tuple((name, c_void_p) for name in ("parent", "wire", "child", "seed", "link", "passed"))


_keep_best = function("keep_best", c_void_p, c_int64, c_int64, POINTER(Words), c_void_p)
_synapse_round = function(
    "synapse_round", POINTER(Wires), c_void_p, c_int64, POINTER(Synapse), POINTER(Words), *[c_void_p] * 4
)
_lead_on = function("lead_on", POINTER(Wires), c_void_p, c_void_p, c_int64, POINTER(Words), POINTER(Way), POINTER(Way))
_diffuse_hop = function("diffuse_hop", POINTER(Wires), POINTER(Flow), POINTER(Words), *[c_void_p] * 5)
_refine = function("refine", POINTER(Wires), c_void_p, c_void_p, c_int64, c_double, c_int64, c_void_p)
_branch = function(
    "branch",
    *(POINTER(Wires), POINTER(Frontier), POINTER(Visits), c_double, c_int64, POINTER(Words)),
    *(POINTER(Claims), c_void_p),
)


def best(values: Floats, ties: Ties, *, most: int) -> Masks:
    """Which are the highest of values that are not below 0, and have any."""
    values, kept = whole(values, np.float64), np.empty(len(values), np.bool_)
    _untied(lambda ids: int(_keep_best(start(values), len(values), most, ids, start(kept))), ties)
    return kept


def synapse_round(
    wires: WiresInC, active: Floats, rule: tuple[float, float, float, float, float, int], ties: Ties
) -> tuple[Floats, Floats, Floats, Masks]:
    """What is active after a round, what was arriving, what passed along each wire, and who was silenced. The rule is retention,
    spread, threshold, slope, inhibition (not a number for none) and the many that are left."""
    rows, active = len(active), whole(active, np.float64)
    block, inhibited = np.empty(2 * rows + wires.many), np.empty(rows, np.bool_)
    first, by = start(block), Synapse(*rule)
    arriving, following, passed = first, first + rows * WIDTH, first + 2 * rows * WIDTH

    def call(ids: Any) -> int:
        return int(
            _synapse_round(
                *(byref(wires.in_c), start(active), rows, byref(by), ids),
                *(arriving, following, passed, start(inhibited)),
            )
        )

    _untied(call, ties)
    return block[rows : 2 * rows], block[:rows], block[2 * rows :], inhibited


def lead_on(
    wires: WiresInC,
    known: tuple[Numbers, Numbers, Floats],
    ties: Ties,
    *,
    passed: Floats,
    reached: Floats,
    number: int,
) -> tuple[Numbers, Numbers, Floats]:
    """Since when rows are active, the best link to each and what it carried, after the round of this number."""
    rows, before = len(reached), len(known[0])
    passed, reached = whole(passed, np.float64), whole(reached, np.float64)
    block = np.empty((3, rows), np.int64)
    came, first = Way(*map(start, known), before), start(block)
    goes = Way(first, first + rows * WIDTH, first + 2 * rows * WIDTH, rows)
    _untied(
        lambda ids: int(
            _lead_on(byref(wires.in_c), start(passed), start(reached), number, ids, byref(came), byref(goes))
        ),
        ties,
    )
    return block[0], block[1], block[2].view(np.float64)


def diffuse_hop(
    wires: WiresInC, frontier: Floats, trails: Floats, rows: int, ties: Ties, *, decay: float, most: int
) -> tuple[Floats, Floats, Floats, Floats, Masks]:
    """What arrives one hop on and is kept, by seed; what has come about in all, by seed; what passed along each wire; what was
    reached; and who was kept out. `frontier` and `trails` may have fewer columns than there are rows now."""
    seeds, known = frontier.shape
    arrived, both = np.empty((2, seeds, rows)), np.empty(wires.many + rows)
    kept_out = np.empty(rows, np.bool_)
    frontier, trails = whole(frontier, np.float64), whole(trails, np.float64)
    of, first = Flow(start(frontier), start(trails), seeds, known, rows, most, decay), start(both)
    _untied(
        lambda ids: int(
            _diffuse_hop(
                *(byref(wires.in_c), byref(of), ids, start(arrived[0]), start(arrived[1])),
                *(first, first + wires.many * WIDTH, start(kept_out)),
            )
        ),
        ties,
    )
    return arrived[0], arrived[1], both[: wires.many], both[wires.many :], kept_out


def refined(wires: WiresInC, kept: Masks, found: Floats, *, damping: float, iterations: int) -> Floats:
    """PageRank among what is kept, begun anew at what was found, which is 0 for all else."""
    kept, found = whole(kept, np.bool_), whole(found, np.float64)
    settled = np.empty(len(found))
    counted(_refine(byref(wires.in_c), start(kept), start(found), len(found), damping, iterations, start(settled)))
    return settled


def branched(
    wires: WiresInC,
    frontier: tuple[Numbers, Numbers, Floats],
    visited: Masks,
    ties: Ties,
    *,
    threshold: float,
    branches: int,
) -> tuple[tuple[Numbers, ...], Floats, NDArray[np.uint8], Masks]:
    """Who claims somebody along which wire, whom, for which seed and by which link, and what that gets; why rows of the frontier pass
    nothing on; and who is visited then. The frontier is seeds, facts and energies."""
    seed, fact, energy = (whole(one, kind) for one, kind in zip(frontier, _FRONTIER, strict=True))
    many, rows, (seeds, known) = len(seed), len(ties), visited.shape
    most = min(many * branches, many * rows)
    block, reason, after = np.empty((6, most), np.int64), np.empty(many, np.uint8), np.empty((seeds, rows), np.bool_)
    of, visited, begun = Frontier(start(seed), start(fact), start(energy), many), whole(visited, np.bool_), start(block)
    seen = Visits(start(visited), seeds, known, rows, start(after))
    claims = Claims(*[begun + column * most * WIDTH for column in range(6)])
    found = _untied(
        lambda ids: int(
            _branch(
                *(byref(wires.in_c), byref(of), byref(seen), threshold, branches, ids),
                *(byref(claims), start(reason)),
            )
        ),
        ties,
    )
    *columns, passed = block[:, :found]
    return tuple(columns), passed.view(np.float64), reason, after


_FRONTIER: tuple[Any, ...] = (np.int64, np.int64, np.float64)


def _untied(call: Callable[[Any], int], ties: Any) -> int:
    """What a function counts; of equals the smaller of `ties` come first. Late ids, which have places in a table of all, are compared
    there; others are spelled only if it meets any."""
    if hasattr(ties, "in_c"):
        ties.in_c = ties.in_c or Words(start(ties.table), ties.table.itemsize, start(ties.places))
        return counted(call(byref(ties.in_c)))
    found = call(None)
    if found == TIED:
        text = spelled(ties)
        found = call(byref(Words(text, 0, None)))
    return counted(found)


def spelled(ties: Ties) -> bytes:
    """Words, or numbers that are not below 0, so that comparing bytes compares them: one after the other, each ended by a zero.

    >>> spelled(["b", "a"])
    b'b\\x00a\\x00'
    """
    numbers = isinstance(ties, range)
    words: Iterable[Any] = (f"{tie:020}" for tie in ties) if numbers else ties
    return "\0".join((*words, "")).encode("utf-8", "surrogatepass")
