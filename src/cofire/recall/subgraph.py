"""The subgraph that an activation has visited: facts by row, their links, and reading more links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from cofire.activation_paths import ActivationHop, ActivationRound, ActivationStep
from cofire.algorithms.array_ops import pad_last_axis
from cofire.algorithms.conductance import NO_CONDUCTANCE_EDGES, ConductanceEdges, Floats, Ints
from cofire.algorithms.traversal import TraversalResult
from cofire.index.native import LIBRARY
from cofire.index.native_activation import NativeVisitedRows
from cofire.runtime.effects import Steps
from cofire.runtime.store_effects import ExpandLinks
from cofire.stores.base import ExpansionOptions, LinkExpansion
from cofire.stores.lazy_ids import IdTable, LazyIds, select_ids

# Comes after every id, so that nobody is ahead of no fact.
UNUSED_ROW_ID = "\U0010ffff"


class VisitedFacts(Protocol):
    """A row that was given is never given to another, so that all who hold a roster may go on from it. Some rows are nobody's."""

    @property
    def ids(self) -> Sequence[str]:
        """The id of each row."""

    def __len__(self) -> int: ...

    def at(self, rows: Ints) -> Sequence[str]:
        """The ids of some rows, to ask for them."""

    def in_order(self, rows: Ints) -> Ints:
        """The order in which the ids of some rows stand."""

    def spelled(self, rows: Ints) -> list[str]:
        """The ids of some rows as text."""

    def with_places(self, ids: Sequence[str], rows: Ints) -> VisitedFacts:
        """The same rows as a roster that may meet these facts, of which the first have these rows: by where they stand if the store told
        that of all that were met, else by their ids."""

    def met(self, ids: Sequence[str], rows: Ints) -> Ints:
        """The rows of these facts, of which the first have these; of a roster `with_places` of them."""


class VisitedById:
    """Facts by their ids."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids: list[str] = list(ids)
        self._row = dict(zip(self.ids, range(len(self.ids)), strict=True))

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, rows: Ints) -> list[str]:
        return self.spelled(rows)

    def in_order(self, rows: Ints) -> Ints:
        return np.array(sorted(range(len(rows)), key=self.spelled(rows).__getitem__), np.int64)

    def spelled(self, rows: Ints) -> list[str]:
        return [self.ids[row] for row in rows.tolist()]

    def with_places(self, ids: Sequence[str], rows: Ints) -> VisitedFacts:
        if not isinstance(ids, LazyIds) or len(rows) < len(self.ids):
            return self
        places = np.empty(len(rows), np.int64)
        places[rows] = ids.places[: len(rows)]
        return VisitedByPosition(ids.ground, places)

    def met(self, ids: Sequence[str], rows: Ints) -> Ints:
        return np.concatenate([rows, self._numbered(ids[len(rows) :])])

    def _numbered(self, ids: Sequence[str]) -> Ints:
        """Each is offered the next row; that of an id which was met before has its row, so that nobody takes it."""
        offered = range(len(self.ids), len(self.ids) + len(ids))
        rows = np.fromiter(map(self._row.setdefault, ids, offered), np.int64, len(ids))
        self.ids += ids
        for declined in (rows != np.arange(offered.start, offered.stop)).nonzero()[0].tolist():
            self.ids[offered[declined]] = UNUSED_ROW_ID
        return rows


class VisitedByPosition:
    """Facts by where they stand. Where they do so no more, they are known by their ids again."""

    def __init__(self, ground: IdTable, places: Ints) -> None:
        self.ground = ground
        self.known: NativeVisitedRows | FallbackPositionRows = (
            FallbackPositionRows() if LIBRARY is None else NativeVisitedRows()
        )
        self.known.meet(places)
        self._ids = LazyIds(ground, self.known.places)

    @property
    def ids(self) -> LazyIds:
        if len(self._ids.places) < len(self.known):
            self._ids = LazyIds(self.ground, self.known.places)
        return self._ids

    def __len__(self) -> int:
        return len(self.known)

    def at(self, rows: Ints) -> LazyIds:
        return LazyIds(self.ground, self.known.places[rows])

    def in_order(self, rows: Ints) -> Ints:
        return np.argsort(self.ground.table[self.known.places[rows]])

    def spelled(self, rows: Ints) -> list[str]:
        return self.ground.ids(self.known.places[rows])

    def with_places(self, ids: Sequence[str], rows: Ints) -> VisitedFacts:
        stands = isinstance(ids, LazyIds) and ids.ground is self.ground
        return self if stands else VisitedById(self.ids).with_places(ids, rows)

    def met(self, ids: Sequence[str], rows: Ints) -> Ints:
        return self.known.meet(cast(LazyIds, ids).places)


class FallbackPositionRows:
    """Places that were met, a row each in that order, where there is no compiled code."""

    def __init__(self) -> None:
        self._row: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._row)

    @property
    def places(self) -> NDArray[np.int64]:
        return np.fromiter(self._row, np.int64, len(self._row))

    def meet(self, places: NDArray[np.int64]) -> Ints:
        return np.array([self._row.setdefault(place, len(self._row)) for place in places.tolist()], np.int64)


LINKS_UNREAD = math.inf


@dataclass(frozen=True, slots=True)
class SubgraphLinks:
    """What leaves facts, between rows of a terrain. `degree` is by row, 0 for facts whose links are not among these."""

    source: Ints
    target: Ints
    weight: Floats
    confidence: Floats
    tags: Sequence[frozenset[str]]
    degree: Ints


# A link in words: source, target, kind, weight, confidence, and what it goes through.
LinkTuple = tuple[str, str, str, float | None, float | None, str | None]


@dataclass(frozen=True, slots=True)
class ConductanceRule:
    """How well links conduct. All that leave a fact come together, so that each wire is made of links of one reading. Compiled code does
    it in its own `way`, given what counts besides weight and degree."""

    wires: Callable[[SubgraphLinks], ConductanceEdges]
    way: int
    other: Callable[[LinkExpansion], Floats | None]


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Facts by row; for each how many neighbours it is known to have, and how much a link had to conduct when its links were read, more
    than any does where they were not; what was read, with the number of its first link and the rows of its facts, and how many links
    there are."""

    roster: VisitedFacts
    around: Ints
    least: Floats
    read: tuple[tuple[int, LinkExpansion, Ints], ...]
    links: int
    wires: ConductanceEdges
    wiring: ConductanceRule

    @classmethod
    def of(cls, ids: Iterable[str], wiring: ConductanceRule) -> Subgraph:
        """Nothing but these facts."""
        met = VisitedById(ids)
        return cls(
            met, np.zeros(len(met), np.int64), np.full(len(met), LINKS_UNREAD), (), 0, NO_CONDUCTANCE_EDGES, wiring
        )

    @property
    def ids(self) -> Sequence[str]:
        """The id of each row."""
        return self.roster.ids

    def grown(self, found: LinkExpansion, rows: Ints, needs: Floats | None) -> Subgraph:
        """With the links of these rows that conduct as much as each needs. What was known of them before stands there twice, which
        changes nothing: the earlier of equals comes first, and leads to the same fact."""
        roster = self.roster.with_places(found.ids, rows)
        if isinstance(roster, VisitedByPosition) and isinstance(roster.known, NativeVisitedRows):
            return self._grown_in_c(roster, roster.known, cast(LazyIds, found.ids).places, found, needs)
        places = roster.met(found.ids, rows)
        links, least = _build_links(found, places, len(roster)), pad_last_axis(self.least, len(roster), LINKS_UNREAD)
        least[rows] = 0.0 if needs is None else needs
        around = pad_last_axis(self.around, len(roster))
        if found.around is not None:
            around[places[len(rows) :]] = found.around
        wires = self.wires.and_those(self.wiring.wires(links), self.links)
        return Subgraph(
            roster, around, least, self._with(found, places), self.links + len(found.source), wires, self.wiring
        )

    def _grown_in_c(
        self,
        roster: VisitedByPosition,
        known: NativeVisitedRows,
        places: Ints,
        found: LinkExpansion,
        needs: Floats | None,
    ) -> Subgraph:
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
        wires, links = ConductanceEdges.read_by_c(columns, in_c), self.links + len(found.source)
        return Subgraph(roster, around, least, self._with(found, rows), links, wires, self.wiring)

    def _with(self, found: LinkExpansion, rows: Ints) -> tuple[tuple[int, LinkExpansion, Ints], ...]:
        return (*self.read, (self.links, found, rows))

    def spelled(self, rows: Ints) -> list[str]:
        """The ids of some rows as text."""
        return self.roster.spelled(rows)

    def named(self, values: Floats) -> dict[str, float]:
        """An array over rows as values by id, those above 0."""
        (rows,) = (values > 0).nonzero()
        return dict(zip(self.spelled(rows), values[rows].tolist(), strict=True))

    def link(self, number: int) -> LinkTuple:
        """From whom a link leads to whom, its kind, weight and confidence, and what it goes through."""
        first, found, rows = next(reading for reading in reversed(self.read) if reading[0] <= number)
        at, ids = number - first, self.ids
        ends = ids[rows[found.source.item(at)]], ids[rows[found.target.item(at)]]
        return (
            *ends,
            found.kind[at],
            nan_to_none(found.weight.item(at)),
            nan_to_none(found.confidence.item(at)),
            found.via[at],
        )


class LinkLookup(Protocol):
    """Facts by row and links by number, which are spelled when somebody looks at them."""

    def spelled(self, rows: Ints) -> list[str]: ...

    def link(self, number: int) -> LinkTuple: ...


class LazyHops(Mapping[str, ActivationHop]):
    """The best link to each of some rows, as `tell` knows them: row, number and what it carried. A hop is made when somebody looks at
    it: few ever are. Copies have them all."""

    def __init__(self, met: LinkLookup, tell: Callable[[], tuple[Ints, Ints, Floats]]) -> None:
        self._met, self._tell = met, tell

    @cached_property
    def _led(self) -> dict[str, tuple[int, float]]:
        rows, link, carried = self._tell()
        best = zip(link.tolist(), carried.tolist(), strict=True)
        return dict(zip(self._met.spelled(rows), best, strict=True))

    def __getitem__(self, id: str) -> ActivationHop:
        link, energy = self._led[id]
        return ActivationHop(*self._met.link(link), energy)

    def __contains__(self, id: object) -> bool:
        return id in self._led

    def __iter__(self) -> Iterator[str]:
        return iter(self._led)

    def __len__(self) -> int:
        return len(self._led)

    def __reduce__(self) -> tuple[type[dict[str, ActivationHop]], tuple[dict[str, ActivationHop]]]:
        return dict, (dict(self),)


class LazyRound(ActivationRound):
    """A round whose steps are spelled out when somebody looks at them, which takes longer than the round itself."""

    __slots__ = ("_tell",)
    _tell: Callable[[], tuple[ActivationStep, ...]]

    def __init__(self, number: int, tell: Callable[[], tuple[ActivationStep, ...]]) -> None:
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "_tell", tell)

    @property
    def steps(self) -> tuple[ActivationStep, ...]:
        return self._tell()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActivationRound) and (self.number, self.steps) == (other.number, other.steps)

    def __hash__(self) -> int:
        return hash((self.number, self.steps))

    def __reduce__(self) -> tuple[type[ActivationRound], tuple[int, tuple[ActivationStep, ...]]]:
        return ActivationRound, (self.number, self.steps)


def read_links(terrain: Subgraph, rows: Ints, conducting: ExpansionOptions) -> Steps[Subgraph]:
    """Read the links of these facts in one ask, but for those that were read before. They are asked for in the order of their ids, so
    that sums are the same to the last digit wherever facts stand."""
    unread = rows[terrain.least[rows] == LINKS_UNREAD]
    if not len(unread):
        return terrain
    asked = unread[terrain.roster.in_order(unread)]
    found: LinkExpansion = yield ExpandLinks(terrain.roster.at(asked), conducting)
    return terrain.grown(found, asked, None)


def read_strong_links(terrain: Subgraph, rows: Ints, needs: Floats, conducting: ExpansionOptions) -> Steps[Subgraph]:
    """Read the links of these facts in one ask, but for those that conduct less than each of them needs; and for those that were read
    before, unless it needs less now."""
    unread = needs < terrain.least[rows]
    asked, needs = rows[unread], needs[unread]
    if not len(asked):
        return terrain
    found: LinkExpansion = yield ExpandLinks(terrain.roster.at(asked), conducting, needs)
    return terrain.grown(found, asked, needs)


def _build_links(found: LinkExpansion, rows: Ints, size: int) -> SubgraphLinks:
    degree = np.zeros(size, np.int64)
    degree[rows[: len(found.degree)]] = found.degree
    return SubgraphLinks(rows[found.source], rows[found.target], found.weight, found.confidence, found.tags, degree)


def nan_to_none(number: float) -> float | None:
    """A number that was ever said, else nothing."""
    return None if math.isnan(number) else number


BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class TraversalLookup:
    """What a journey has met: facts and the links between them."""

    journey: TraversalResult

    @cached_property
    def _ways(self) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        return self.journey.told.ways

    def spelled(self, rows: Ints) -> list[str]:
        """The ids of some rows."""
        return select_ids(self.journey.ids, rows)

    def link(self, number: int) -> LinkTuple:
        """From whom a link leads to whom, its kind, weight and confidence; stored links go through nothing."""
        source, target, code, weight, confidence = self._ways
        ids, kind = self.journey.ids, self.journey.kinds[code.item(number) >> 1]
        ends = ids[source.item(number)], ids[target.item(number)]
        return *ends, kind, nan_to_none(weight.item(number)), nan_to_none(confidence.item(number)), None


def read_activation(journey: TraversalResult) -> dict[str, float]:
    """What is active at the end, the strongest first."""
    told = journey.told
    return dict(zip(select_ids(journey.ids, told.rows), told.activation.tolist(), strict=True))


def read_round(journey: TraversalResult, number: int) -> tuple[Floats, BoolArray]:
    """How active rows were in a round, and who was silenced."""
    active, silenced = journey.told.rounds[:, journey.told.ends[number - 1] : journey.told.ends[number]]
    return active.view(np.float64), silenced.astype(np.bool_)
