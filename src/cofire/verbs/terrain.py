"""Terrain: the facts that activation has met, a row each in that order, and the wires between them. Asks for the next links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking
from cofire.dynamics.conductance import NO_WIRES, Floats, Ints, Wires
from cofire.dynamics.runs import widened
from cofire.graph_asks import Expand
from cofire.spreads import Hop, Round, Step
from cofire.stores.base import Conducting, Expansion
from cofire.verbs.roster import ById, Roster


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
# How well links conduct. All that leave a fact come together, so that each wire is made of links of one reading.
Wiring = Callable[[Links], Wires]


@dataclass(frozen=True, slots=True)
class Terrain:
    """Facts by row, which of them were expanded, what was read then, with the number of its first link, and how many links there are."""

    roster: Roster
    expanded: NDArray[np.bool_]
    read: tuple[tuple[int, Expansion, Links], ...]
    links: int
    wires: Wires
    wiring: Wiring

    @classmethod
    def of(cls, ids: Iterable[str], wiring: Wiring) -> Terrain:
        """Nothing but these facts."""
        met = ById(ids)
        return cls(met, np.zeros(len(met), np.bool_), (), 0, NO_WIRES, wiring)

    @property
    def ids(self) -> Sequence[str]:
        """The id of each row."""
        return self.roster.ids

    def grown(self, found: Expansion, rows: Ints) -> Terrain:
        """With the links of these rows, which were not expanded before."""
        roster, places = self.roster.met(found.ids, rows)
        links, expanded = _placed(found, places, len(roster)), widened(self.expanded, len(roster))
        expanded[rows] = True
        return Terrain(
            roster,
            expanded,
            (*self.read, (self.links, found, links)),
            self.links + len(found.source),
            self.wires.and_those(self.wiring(links), self.links),
            self.wiring,
        )

    def named(self, values: Floats) -> dict[str, float]:
        """An array over rows as values by id, those above 0."""
        (rows,) = (values > 0).nonzero()
        return dict(zip(self.roster.spelled(rows), values[rows].tolist(), strict=True))

    def link(self, number: int) -> Link:
        """From whom a link leads to whom, its kind, weight and confidence, and what it goes through."""
        first, found, links = next(reading for reading in reversed(self.read) if reading[0] <= number)
        at, ids = number - first, self.ids
        ends = ids[links.source.item(at)], ids[links.target.item(at)]
        return *ends, found.kind[at], _said(found.weight.item(at)), _said(found.confidence.item(at)), found.via[at]


class LateHops(Mapping[str, Hop]):
    """The number of the best link to each of some rows, and what it carried. A hop is made when somebody looks at it: few ever are.
    Copies have them all."""

    def __init__(self, terrain: Terrain, rows: Ints, link: Ints, carried: Floats) -> None:
        self._terrain, self._columns = terrain, (rows, link, carried)

    @cached_property
    def _led(self) -> dict[str, tuple[int, float]]:
        rows, link, carried = self._columns
        best = zip(link.tolist(), carried.tolist(), strict=True)
        return dict(zip(self._terrain.roster.spelled(rows), best, strict=True))

    def __getitem__(self, id: str) -> Hop:
        link, energy = self._led[id]
        return Hop(*self._terrain.link(link), energy)

    def __contains__(self, id: object) -> bool:
        return id in self._led

    def __iter__(self) -> Iterator[str]:
        return iter(self._led)

    def __len__(self) -> int:
        return len(self._columns[0])

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
    """Read the links of these facts in one ask, but for those that were read before."""
    unread = rows[~terrain.expanded[rows]]
    if not len(unread):
        return terrain
    asked = terrain.roster.in_order(unread)
    found: Expansion = yield Expand(terrain.roster.at(asked), conducting)
    return terrain.grown(found, asked)


def _placed(found: Expansion, rows: Ints, size: int) -> Links:
    degree = np.zeros(size, np.int64)
    degree[rows[: len(found.degree)]] = found.degree
    return Links(rows[found.source], rows[found.target], found.weight, found.confidence, found.tags, degree)


def _said(number: float) -> float | None:
    return None if math.isnan(number) else number
