"""Degree cap: which similarity edges are written, and which they displace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import first_unique_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
UndirectedEdgeKey = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class UndirectedEdge:
    """An undirected edge, which takes a slot at both ends. A `lasting` edge, made by a user, never changes."""

    kind: str
    pair: tuple[int, int]
    weight: float
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class CandidateEdges:
    """New edges of one kind, as arrays: each pair of nodes once and sorted, `one` the smaller node."""

    kind: str
    one: Ints
    other: Ints
    weight: Floats

    @classmethod
    def of(cls, kind: str, ends: tuple[Ints, Ints], weight: Floats) -> CandidateEdges:
        """Candidates from pairs in any order. Of equal pairs the first counts; self-loops are left out.

        >>> CandidateEdges.of(
        ...     "similar", (np.array([2, 3, 1, 0]), np.array([1, 3, 2, 1])), np.array([0.5, 1.0, 0.4, 0.3])
        ... )
        CandidateEdges(kind='similar', one=array([0, 1]), other=array([1, 2]), weight=array([0.3, 0.5]))
        """
        one, other = np.minimum(*ends), np.maximum(*ends)
        first = first_unique_rows(one, other)
        first = first[one[first] != other[first]]
        return cls(kind, one[first], other[first], weight[first])

    def at(self, rows: Any) -> CandidateEdges:
        return CandidateEdges(self.kind, self.one[rows], self.other[rows], self.weight[rows])


@dataclass(frozen=True, slots=True)
class DegreeCapResult:
    """The changes: new edges, existing edges with a new weight, and existing edges that are removed. Sorted by ends."""

    written: CandidateEdges
    refreshed: tuple[UndirectedEdge, ...]
    displaced: tuple[UndirectedEdge, ...]


def apply_degree_cap(
    held: Iterable[UndirectedEdge], offers: CandidateEdges, *, cap: int, displaceable: Sequence[str]
) -> DegreeCapResult:
    """Write offered edges while no node has more than `cap` edges (002 §10, Degree cap; §16, eviction order).

    Offers are processed by descending weight, then by their ends. An offer that exists already updates the
    weight and needs no slot. At a full node an offer displaces the first displaceable edge of lower weight:
    kinds in the given order, within a kind the lightest. Edges of other kinds count but stay. At a node over
    the cap (users may add edges, and a cap may be lowered) enough edges must be displaced to reach the cap,
    otherwise the offer is dropped.

    >>> held = [UndirectedEdge("similar", (1, 2), 0.4), UndirectedEdge("supports", (1, 3), 0.1)]
    >>> offers = CandidateEdges.of("similar", (np.array([1, 1]), np.array([4, 5])), np.array([0.5, 0.6]))
    >>> change = apply_degree_cap(held, offers, cap=2, displaceable=["similar", "co_occurs"])
    >>> change.written.other.tolist(), [tie.pair for tie in change.displaced]
    ([5], [(1, 2)])
    """
    before = _index_by_key(held)
    again = _match_existing_edges(before, offers)
    rescored = before | {
        place: replace(before[place], weight=float(offers.weight[row]))
        for row, place in again.items()
        if not before[place].lasting
    }
    seated, left = _assign_slots(rescored, offers, again, cap=cap, displaceable=displaceable)
    gone = left - {again[row] for row in seated if row in again}
    return DegreeCapResult(
        written=offers.at(np.array(sorted(row for row in seated if row not in again), np.int64)),
        refreshed=tuple(rescored[at] for at in sorted(before.keys() - gone) if rescored[at] != before[at]),
        displaced=tuple(before[place] for place in sorted(gone)),
    )


def _index_by_key(ties: Iterable[UndirectedEdge]) -> dict[UndirectedEdgeKey, UndirectedEdge]:
    """The edges by ends and kind. Of duplicates the lasting or heaviest one counts; self-loops are left out."""
    places: dict[UndirectedEdgeKey, UndirectedEdge] = {}
    for tie in ties:
        one, other = tie.pair
        place = (one, other, tie.kind) if one < other else (other, one, tie.kind)
        known = places.get(place)
        if one != other and (known is None or _edge_precedence(tie) > _edge_precedence(known)):
            places[place] = tie
    return places


def _edge_precedence(tie: UndirectedEdge) -> tuple[bool, float, tuple[int, int]]:
    return tie.lasting, tie.weight, tie.pair


def _match_existing_edges(
    before: Mapping[UndirectedEdgeKey, UndirectedEdge], offers: CandidateEdges
) -> dict[int, UndirectedEdgeKey]:
    """The rows of offers that exist already, with the keys of their edges."""
    sitting = [place for place in before if place[2] == offers.kind]
    if not sitting or not len(offers.one):
        return {}
    room = max(int(offers.other.max()), *(place[1] for place in sitting)) + 1
    asked = offers.one * room + offers.other
    wanted = np.array([one * room + other for one, other, _ in sitting], np.int64)
    row = np.minimum(np.searchsorted(asked, wanted), len(asked) - 1)
    return {int(row[at]): sitting[at] for at in np.flatnonzero(asked[row] == wanted)}


@dataclass
class _NodeSlots:
    """Slots while offers are processed: the number taken per node, closed nodes, existing edges per node, and removed edges."""

    taken: list[int]
    closed: bytearray
    held: defaultdict[int, dict[UndirectedEdgeKey, UndirectedEdge]] = field(default_factory=lambda: defaultdict(dict))
    left: set[UndirectedEdgeKey] = field(default_factory=set)


def _assign_slots(
    rescored: Mapping[UndirectedEdgeKey, UndirectedEdge],
    offers: CandidateEdges,
    again: Mapping[int, UndirectedEdgeKey],
    *,
    cap: int,
    displaceable: Sequence[str],
) -> tuple[list[int], set[UndirectedEdgeKey]]:
    """The rows of offers that took a slot, and the existing edges that lost theirs.

    An existing edge that was displaced before its own offer is processed competes again with it. Offers are
    processed by descending weight, so that only existing edges are displaced, never offers.
    """
    seats, seated = _create_slots(rescored, int(offers.other.max(initial=-1))), list[int]()
    taken, closed = seats.taken, seats.closed
    order = np.argsort(-offers.weight, kind="stable")
    for row, one, other in zip(order.tolist(), offers.one[order].tolist(), offers.other[order].tolist(), strict=True):
        if closed[one] or closed[other] or (row in again and again[row] not in seats.left):
            continue
        if (taken[one] >= cap or taken[other] >= cap) and not _displace_lighter_edges(
            seats, (one, other), float(offers.weight[row]), cap, displaceable
        ):
            continue
        taken[one] += 1
        taken[other] += 1
        seated.append(row)
    return seated, seats.left


def _create_slots(held: Mapping[UndirectedEdgeKey, UndirectedEdge], highest: int) -> _NodeSlots:
    room = 1 + max(highest, *(place[1] for place in held)) if held else 1 + highest
    seats = _NodeSlots([0] * room, bytearray(room))
    for place, tie in held.items():
        for node in place[:2]:
            seats.held[node][place] = tie
            seats.taken[node] += 1
    return seats


def _displace_lighter_edges(
    seats: _NodeSlots, ends: tuple[int, int], weight: float, cap: int, displaceable: Sequence[str]
) -> bool:
    """Displace lighter edges at both ends. Returns False, and displaces none, if there are too few."""
    ways = [
        _choose_displaced_edges(seats.held[node], seats.taken[node] + 1 - cap, weight, displaceable) for node in ends
    ]
    # A node with too few edges lighter than this offer has too few for all later offers.
    for node in (node for node, leaving in zip(ends, ways, strict=True) if leaving is None):
        seats.closed[node] = True
    if None in ways:
        return False
    for place in {place for leaving in ways for place in leaving or ()}:
        seats.left.add(place)
        for node in place[:2]:
            del seats.held[node][place]
            seats.taken[node] -= 1
    return True


def _choose_displaced_edges(
    seats: Mapping[UndirectedEdgeKey, UndirectedEdge], surplus: int, weight: float, displaceable: Sequence[str]
) -> list[UndirectedEdgeKey] | None:
    """The edges of a node that an edge of this weight displaces; None if there are too few."""
    if surplus <= 0:
        return []
    lighter = [
        (displaceable.index(tie.kind), tie.weight, place)
        for place, tie in seats.items()
        if tie.weight < weight and tie.kind in displaceable and not tie.lasting
    ]
    return [place for _, _, place in nsmallest(surplus, lighter)] if len(lighter) >= surplus else None
