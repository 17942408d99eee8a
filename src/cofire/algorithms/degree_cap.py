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
    """An edge without direction, which takes a place at both ends. A lasting one, made by somebody, neither moves nor changes."""

    kind: str
    pair: tuple[int, int]
    weight: float
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class CandidateEdges:
    """Ties of one kind that look for a place, as arrays: each pair of nodes once and in order, its smaller one first."""

    kind: str
    one: Ints
    other: Ints
    weight: Floats

    @classmethod
    def of(cls, kind: str, ends: tuple[Ints, Ints], weight: Floats) -> CandidateEdges:
        """Of any pairs, of which several may be the same: then the first counts. A node is not tied to itself.

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
    """What changes: offers that found a place, held ties with a new weight, held ones that gave way. By their ends; the rest stays."""

    written: CandidateEdges
    refreshed: tuple[UndirectedEdge, ...]
    displaced: tuple[UndirectedEdge, ...]


def apply_degree_cap(
    held: Iterable[UndirectedEdge], offers: CandidateEdges, *, cap: int, displaceable: Sequence[str]
) -> DegreeCapResult:
    """Offers that find a place at both ends, no node having more than `cap` (002 §10, Degree cap; §16, eviction order).

    They come by falling weight, then by their ends. One that is held already takes its new weight and no new place. At a
    full node an offer takes the place of the first displaceable tie that weighs less: kinds in the order given, within
    a kind the lightest. All others count but stay, so a node full of them takes nothing. Where a node is over the cap
    (people link what they like, and a cap may be lowered) enough must give way to come down to it, or nothing is written.

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
    """Each tie by its ends and kind, of several the lasting or else the heaviest; a node is not tied to itself."""
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
    """The rows of offers that are held already, and where they sit."""
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
    """Who sits where while offers come: how many at each node, which nodes take no more, who was held there, and who left."""

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
    """The rows of offers that took a place, and the held ties that lost theirs. One that gave way before its own weight was called
    tries again then. As offers come by falling weight, none of them gives way to a later one: only who was held does."""
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
    """Let the lighter give way at both ends; whether enough could, else nobody does."""
    ways = [
        _choose_displaced_edges(seats.held[node], seats.taken[node] + 1 - cap, weight, displaceable) for node in ends
    ]
    # Who has too few ties lighter than this one has too few for all that follow.
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
    """Who leaves a node for a tie of this weight; None where too few may."""
    if surplus <= 0:
        return []
    lighter = [
        (displaceable.index(tie.kind), tie.weight, place)
        for place, tie in seats.items()
        if tie.weight < weight and tie.kind in displaceable and not tie.lasting
    ]
    return [place for _, _, place in nsmallest(surplus, lighter)] if len(lighter) >= surplus else None
