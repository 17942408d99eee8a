"""Terrain: the facts that activation has met, a row each in that order, and the wires between them. Asks for the next links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

import numpy as np

from cofire.asks import Asking
from cofire.dynamics.conductance import NO_WIRES, Floats, Ints, Wires
from cofire.dynamics.runs import widened
from cofire.graph_asks import Expand
from cofire.kernels.terrain import MetInC
from cofire.late import LateIds
from cofire.spreads import Hop, Round, Step
from cofire.stores.base import Conducting, Expansion
from cofire.verbs.roster import ById, ByPlace, Roster

UNREAD = math.inf


@dataclass(frozen=True, slots=True)
class Links:
    """What leaves facts, between rows of a terrain. `degree` is by row, 0 for facts whose links are not among these."""

    source: Ints
    target: Ints
    weight: Floats
    confidence: Floats
    tags: Sequence[frozenset[str]]
    degree: Ints


# A link in words: source, target, kind, weight, confidence, and what it goes through.
Link = tuple[str, str, str, float | None, float | None, str | None]


@dataclass(frozen=True, slots=True)
class Wiring:
    """How well links conduct. All that leave a fact come together, so that each wire is made of links of one reading. Compiled code does
    it in its own `way`, given what counts besides weight and degree."""

    wires: Callable[[Links], Wires]
    way: int
    other: Callable[[Expansion], Floats | None]


@dataclass(frozen=True, slots=True)
class Terrain:
    """Facts by row; for each how many neighbours it is known to have, and how much a link had to conduct when its links were read, more
    than any does where they were not; what was read, with the number of its first link and the rows of its facts, and how many links
    there are."""

    roster: Roster
    around: Ints
    least: Floats
    read: tuple[tuple[int, Expansion, Ints], ...]
    links: int
    wires: Wires
    wiring: Wiring

    @classmethod
    def of(cls, ids: Iterable[str], wiring: Wiring) -> Terrain:
        """Nothing but these facts."""
        met = ById(ids)
        return cls(met, np.zeros(len(met), np.int64), np.full(len(met), UNREAD), (), 0, NO_WIRES, wiring)

    @property
    def ids(self) -> Sequence[str]:
        """The id of each row."""
        return self.roster.ids

    def grown(self, found: Expansion, rows: Ints, needs: Floats | None) -> Terrain:
        """With the links of these rows that conduct as much as each needs. What was known of them before stands there twice, which
        changes nothing: the earlier of equals comes first, and leads to the same fact."""
        roster = self.roster.with_places(found.ids, rows)
        if isinstance(roster, ByPlace) and isinstance(roster.known, MetInC):
            return self._grown_in_c(roster, roster.known, cast(LateIds, found.ids).places, found, needs)
        places = roster.met(found.ids, rows)
        links, least = _placed(found, places, len(roster)), widened(self.least, len(roster), UNREAD)
        least[rows] = 0.0 if needs is None else needs
        around = widened(self.around, len(roster))
        if found.around is not None:
            around[places[len(rows) :]] = found.around
        wires = self.wires.and_those(self.wiring.wires(links), self.links)
        return Terrain(
            roster, around, least, self._with(found, places), self.links + len(found.source), wires, self.wiring
        )

    def _grown_in_c(
        self, roster: ByPlace, known: MetInC, places: Ints, found: Expansion, needs: Floats | None
    ) -> Terrain:
        """The same by compiled code, in one step."""
        rows, columns, in_c, around, least = known.grow(
            places,
            found,
            (self.wires.in_c, self.around, self.least),
            other=self.wiring.other(found),
            needs=needs,
            first=self.links,
            way=self.wiring.way,
        )
        wires, links = Wires.read_by_c(columns, in_c), self.links + len(found.source)
        return Terrain(roster, around, least, self._with(found, rows), links, wires, self.wiring)

    def _with(self, found: Expansion, rows: Ints) -> tuple[tuple[int, Expansion, Ints], ...]:
        return (*self.read, (self.links, found, rows))

    def spelled(self, rows: Ints) -> list[str]:
        """The ids of some rows as text."""
        return self.roster.spelled(rows)

    def named(self, values: Floats) -> dict[str, float]:
        """An array over rows as values by id, those above 0."""
        (rows,) = (values > 0).nonzero()
        return dict(zip(self.spelled(rows), values[rows].tolist(), strict=True))

    def link(self, number: int) -> Link:
        """From whom a link leads to whom, its kind, weight and confidence, and what it goes through."""
        first, found, rows = next(reading for reading in reversed(self.read) if reading[0] <= number)
        at, ids = number - first, self.ids
        ends = ids[rows[found.source.item(at)]], ids[rows[found.target.item(at)]]
        return *ends, found.kind[at], said(found.weight.item(at)), said(found.confidence.item(at)), found.via[at]


class Charted(Protocol):
    """Facts by row and links by number, which are spelled when somebody looks at them."""

    def spelled(self, rows: Ints) -> list[str]: ...

    def link(self, number: int) -> Link: ...


class LateHops(Mapping[str, Hop]):
    """The best link to each of some rows, as `tell` knows them: row, number and what it carried. A hop is made when somebody looks at
    it: few ever are. Copies have them all."""

    def __init__(self, met: Charted, tell: Callable[[], tuple[Ints, Ints, Floats]]) -> None:
        self._met, self._tell = met, tell

    @cached_property
    def _led(self) -> dict[str, tuple[int, float]]:
        rows, link, carried = self._tell()
        best = zip(link.tolist(), carried.tolist(), strict=True)
        return dict(zip(self._met.spelled(rows), best, strict=True))

    def __getitem__(self, id: str) -> Hop:
        link, energy = self._led[id]
        return Hop(*self._met.link(link), energy)

    def __contains__(self, id: object) -> bool:
        return id in self._led

    def __iter__(self) -> Iterator[str]:
        return iter(self._led)

    def __len__(self) -> int:
        return len(self._led)

    def __reduce__(self) -> tuple[type[dict[str, Hop]], tuple[dict[str, Hop]]]:
        return dict, (dict(self),)


class LateRound(Round):
    """A round whose steps are spelled out when somebody looks at them, which takes longer than the round itself."""

    __slots__ = ("_tell",)
    _tell: Callable[[], tuple[Step, ...]]

    def __init__(self, number: int, tell: Callable[[], tuple[Step, ...]]) -> None:
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "_tell", tell)

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._tell()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Round) and (self.number, self.steps) == (other.number, other.steps)

    def __hash__(self) -> int:
        return hash((self.number, self.steps))

    def __reduce__(self) -> tuple[type[Round], tuple[int, tuple[Step, ...]]]:
        return Round, (self.number, self.steps)


def further(terrain: Terrain, rows: Ints, conducting: Conducting) -> Asking[Terrain]:
    """Read the links of these facts in one ask, but for those that were read before. They are asked for in the order of their ids, so
    that sums are the same to the last digit wherever facts stand."""
    unread = rows[terrain.least[rows] == UNREAD]
    if not len(unread):
        return terrain
    asked = unread[terrain.roster.in_order(unread)]
    found: Expansion = yield Expand(terrain.roster.at(asked), conducting)
    return terrain.grown(found, asked, None)


def further_of_use(terrain: Terrain, rows: Ints, needs: Floats, conducting: Conducting) -> Asking[Terrain]:
    """Read the links of these facts in one ask, but for those that conduct less than each of them needs; and for those that were read
    before, unless it needs less now."""
    unread = needs < terrain.least[rows]
    asked, needs = rows[unread], needs[unread]
    if not len(asked):
        return terrain
    found: Expansion = yield Expand(terrain.roster.at(asked), conducting, needs)
    return terrain.grown(found, asked, needs)


def _placed(found: Expansion, rows: Ints, size: int) -> Links:
    degree = np.zeros(size, np.int64)
    degree[rows[: len(found.degree)]] = found.degree
    return Links(rows[found.source], rows[found.target], found.weight, found.confidence, found.tags, degree)


def said(number: float) -> float | None:
    """A number that was ever said, else nothing."""
    return None if math.isnan(number) else number
