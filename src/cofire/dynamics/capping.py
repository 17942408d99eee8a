"""The degree cap: which similarity edges are written, and which give way to them. No I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from heapq import nsmallest

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Tie:
    """An edge without direction, which takes a place at both ends. A lasting one, made by somebody, neither moves nor changes."""

    kind: str
    pair: tuple[str, str]
    weight: float
    lasting: bool = False


Seats = defaultdict[str, dict[Place, Tie]]


@dataclass(frozen=True, slots=True)
class Capping:
    """What changes: ties that are new, held ones with a new weight, held ones that gave way. By their ends; the rest stays."""

    written: tuple[Tie, ...]
    refreshed: tuple[Tie, ...]
    displaced: tuple[Tie, ...]


def capped(held: Iterable[Tie], candidates: Iterable[Tie], *, cap: int, displaceable: Sequence[str]) -> Capping:
    """Candidates that find a place at both ends, no node having more than `cap` (002 §10, Degree cap; §16, eviction order).

    They come by falling weight, then by their ends. One that is held already takes its new weight and no new place. At a
    full node a candidate takes the place of the first displaceable tie that weighs less: kinds in the order given, within
    a kind the lightest. All others count but stay, so a node full of them takes nothing. Where a node is over the cap
    (people link what they like, and a cap may be lowered) enough must give way to come down to it, or nothing is written.

    >>> held = [Tie("similar", ("a", "b"), 0.4), Tie("supports", ("a", "c"), 0.1)]
    >>> candidates = [Tie("similar", ("a", "d"), 0.5), Tie("similar", ("a", "e"), 0.6)]
    >>> change = capped(held, candidates, cap=2, displaceable=["similar", "co_occurs"])
    >>> [tie.pair for tie in change.written], [tie.pair for tie in change.displaced]
    ([('a', 'e')], [('a', 'b')])
    """
    before, offers = _by_place(held), _by_place(candidates)
    after = _seated(_rescored(before, offers), offers, cap=cap, displaceable=displaceable)
    return Capping(
        written=tuple(after[place] for place in sorted(after.keys() - before.keys())),
        refreshed=tuple(
            after[place] for place in sorted(after.keys() & before.keys()) if after[place] != before[place]
        ),
        displaced=tuple(before[place] for place in sorted(before.keys() - after.keys())),
    )


def _by_place(ties: Iterable[Tie]) -> dict[Place, Tie]:
    """Each tie by its ends and kind, of several the lasting or else the heaviest; a node is not tied to itself."""
    places: dict[Place, Tie] = {}
    for tie in ties:
        one, other = tie.pair
        place = (one, other, tie.kind) if one < other else (other, one, tie.kind)
        known = places.get(place)
        if one != other and (known is None or _rank(tie) > _rank(known)):
            places[place] = tie
    return places


def _rank(tie: Tie) -> tuple[bool, float, tuple[str, str]]:
    return tie.lasting, tie.weight, tie.pair


def _rescored(before: Mapping[Place, Tie], offers: Mapping[Place, Tie]) -> dict[Place, Tie]:
    """Held ties with the weight at which they are offered again."""
    return {
        place: tie if tie.lasting or place not in offers else replace(tie, weight=offers[place].weight)
        for place, tie in before.items()
    }


def _seated(
    rescored: Mapping[Place, Tie], offers: Mapping[Place, Tie], *, cap: int, displaceable: Sequence[str]
) -> dict[Place, Tie]:
    """All ties after every offer had its try. A held one that gave way before its own weight was called tries again then."""
    at: Seats = defaultdict(dict)
    for place, tie in rescored.items():
        _sit(at, place, tie)
    closed: set[str] = set()
    for place in sorted(offers, key=lambda place: (-offers[place].weight, place)):
        ends = place[:2]
        if place in at[ends[0]] or not closed.isdisjoint(ends):
            continue
        leaving = [_giving_way(at[node], offers[place].weight, cap=cap, displaceable=displaceable) for node in ends]
        refusing = [node for node, ways in zip(ends, leaving, strict=True) if ways is None]
        # Who has too few ties lighter than this one has too few for all that follow.
        closed.update(refusing)
        if not refusing:
            _leave(at, {gone for ways in leaving for gone in ways or ()})
            _sit(at, place, rescored.get(place, offers[place]))
    return {place: tie for seats in at.values() for place, tie in seats.items()}


def _sit(at: Seats, place: Place, tie: Tie) -> None:
    for node in place[:2]:
        at[node][place] = tie


def _leave(at: Seats, leaving: Set[Place]) -> None:
    for place in leaving:
        for node in place[:2]:
            del at[node][place]


def _giving_way(
    seats: Mapping[Place, Tie], weight: float, *, cap: int, displaceable: Sequence[str]
) -> list[Place] | None:
    """Who leaves a node for a tie of this weight; None where too few may."""
    surplus = len(seats) + 1 - cap
    if surplus <= 0:
        return []
    lighter = [
        (displaceable.index(tie.kind), tie.weight, place)
        for place, tie in seats.items()
        if tie.weight < weight and tie.kind in displaceable and not tie.lasting
    ]
    return [place for _, _, place in nsmallest(surplus, lighter)] if len(lighter) >= surplus else None
