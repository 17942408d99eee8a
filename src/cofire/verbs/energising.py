"""Energising: energy paths from facts outward (003), all seeds side by side, which ask for the next links once a depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking
from cofire.dynamics.conductance import NEARLY, Floats, Ints, Wires, energy_wires, tag_similarities
from cofire.dynamics.energy import Depth, Frontier, Rule, branched, summed
from cofire.dynamics.onward import Journey, Onward
from cofire.dynamics.runs import falling
from cofire.graph_asks import Expand
from cofire.kernels.terrain import ALONE
from cofire.late import ids_at
from cofire.spreads import RECORDED, End, Hop, Path, Round, Spread, Step, Trail
from cofire.stores.base import Conducting, Expansion
from cofire.verbs.onward import Chart, activation
from cofire.verbs.terrain import LateHops, LateRound, Links, Terrain, Wiring, further, further_of_use


def energise(
    seeds: Mapping[str, float], conducting: Conducting, rule: Rule, *, tags: frozenset[str], tag_floor: float
) -> Asking[Spread]:
    """Energy paths from these seeds, their energies summed."""
    first = None if tags else (yield from _first(seeds, conducting, rule))
    if first is not None and first.onward is not None:
        return _told(first.onward, len(seeds))
    walked = yield from _walked(seeds, conducting, rule, _by_tags(tags, tag_floor), sparing=True, first=first)
    return Spread(walked.together(), walked.rounds(), walked.best_hops())


def follow(
    seeds: Mapping[str, float], conducting: Conducting, rule: Rule, *, tags: frozenset[str], tag_floor: float
) -> Asking[list[Trail]]:
    """The energy paths of each seed; the links of all their frontiers are asked for together, depth by depth."""
    walked = yield from _walked(seeds, conducting, rule, _by_tags(tags, tag_floor), sparing=False)
    return walked.trails()


def _first(seeds: Mapping[str, float], conducting: Conducting, rule: Rule) -> Asking[Expansion | None]:
    """Where the seeds lead if all of them have energy enough to pass on, with what is onward from there if a store tells that."""
    if not rule.max_depth or not min(seeds.values(), default=0.0) > rule.threshold:
        return None
    energies = np.array(list(seeds.values()), np.float64)
    onward = conducting.going(Onward(rule, rule.max_depth, energies))
    found: Expansion = yield Expand(tuple(seeds), onward, rule.threshold / energies)
    return found


def _told(journey: Journey, seeds: int) -> Spread:
    """A spread that a store has followed by itself."""
    ends = [0, *journey.told.ends]
    rounds = (
        LateRound(number, partial(_steps_between, journey, first, last))
        for number, (first, last) in enumerate(pairwise(ends))
        if first < last
    )
    return Spread(activation(journey), tuple(rounds), LateHops(Chart(journey), partial(_told_hops, journey, seeds)))


def _steps_between(journey: Journey, first: int, last: int) -> tuple[Step, ...]:
    fact, seed, _, energy = journey.told.rounds[:, first:last]
    return _steps(journey.ids, Frontier(seed, fact, energy.view(np.float64)))


def _told_hops(journey: Journey, seeds: int) -> tuple[Ints, Ints, Floats]:
    fact, _, link, energy = journey.told.rounds
    return _best_of(fact, link, energy.view(np.float64), seeds)


def _walked(
    seeds: Mapping[str, float],
    conducting: Conducting,
    rule: Rule,
    wiring: Wiring,
    *,
    sparing: bool,
    first: Expansion | None = None,
) -> Asking[_Walked]:
    """One who is `sparing` asks for no link that passes nothing on. Why paths end is then unknown: that takes to see where else they
    might have led. What all seeds lead to may be known from a `first` reading."""
    walked = _Walked.begun(seeds, wiring)
    if first is not None:
        walked = walked.having(first, rule)
    for _ in range(rule.max_depth):
        frontier, terrain = walked.reached[-1].frontier, walked.terrain
        if sparing:
            rows, needs = _hopeful(frontier, terrain.around, rule.threshold)
        else:
            rows = np.unique(frontier.fact)
        if not len(rows):
            break
        reading = further_of_use(terrain, rows, needs, conducting) if sparing else further(terrain, rows, conducting)
        walked = walked.on((yield from reading), rule)
    return walked


def _hopeful(frontier: Frontier, around: Ints, threshold: float) -> tuple[Ints, Floats]:
    """Who may have energy enough to pass on, given how many neighbours there are at least around each fact; and what a link must
    conduct at least, if that is to come through above the threshold."""
    fact, energy = frontier.fact, frontier.energy
    (able,) = (energy > NEARLY * threshold * np.sqrt(np.maximum(around[fact], 1))).nonzero()
    most = np.zeros(len(around))
    # Of what is written to one place the last stays. The most energy comes first, and seeds are of different facts.
    most[fact[able[::-1]]] = energy[able[::-1]]
    (rows,) = most.nonzero()
    return rows, threshold / most[rows]


@dataclass(frozen=True)
class _Reached:
    """The facts of one depth; `parent` is for each a row of the depth before, `link` what led there."""

    frontier: Frontier
    parent: Ints
    link: Ints


@dataclass(frozen=True)
class _Walked:
    """The energy of all seeds on its way, depth by depth; `visited` has a row a seed. What was `done` with a depth is known as soon
    as the next one is."""

    terrain: Terrain
    seeds: tuple[str, ...]
    reached: tuple[_Reached, ...]
    done: tuple[Depth, ...]
    visited: NDArray[np.bool_]

    @classmethod
    def begun(cls, seeds: Mapping[str, float], wiring: Wiring) -> _Walked:
        terrain, places = Terrain.of(seeds, wiring), np.arange(len(seeds))
        frontier = Frontier(places, places, np.array(list(seeds.values()), np.float64))
        return cls(terrain, tuple(seeds), (_Reached(frontier, places, places),), (), np.eye(len(seeds), dtype=np.bool_))

    def having(self, found: Expansion, rule: Rule) -> _Walked:
        """With the links of all seeds that are of use to them."""
        first = self.reached[-1].frontier
        return replace(self, terrain=self.terrain.grown(found, first.fact, rule.threshold / first.energy))

    def on(self, terrain: Terrain, rule: Rule) -> _Walked:
        """A depth further."""
        depth = branched(self.reached[-1].frontier, self.visited, terrain.wires, rule, terrain.ids)
        children = _Reached(depth.frontier, depth.parent, depth.link)
        return _Walked(terrain, self.seeds, (*self.reached, children), (*self.done, depth), depth.visited)

    def energies(self) -> list[dict[str, float]]:
        """What each fact got, by seed."""
        found: list[dict[str, float]] = [{} for _ in self.seeds]
        for depth in self.reached:
            for seed, id, energy in self._facts(depth):
                found[seed][id] = energy
        return found

    def together(self) -> dict[str, float]:
        """What each fact got in all, seed by seed; the most first, of equals the smaller id."""
        columns = ((depth.frontier.seed, depth.frontier.fact, depth.frontier.energy) for depth in self.reached)
        seed, fact, energy = _joined(columns)
        order = np.argsort(seed, kind="stable")
        total = np.asarray(np.bincount(fact[order], weights=energy[order]), np.float64)
        got, ids = np.bincount(fact).nonzero()[0], self.terrain.ids
        rows = got[falling(total[got], lambda at: ids[got[at]])]
        return dict(zip(self.terrain.roster.spelled(rows), total[rows].tolist(), strict=True))

    def best_hops(self) -> LateHops:
        """The link that brought most of one seed's energy to each fact that is no seed itself, in the order in which facts were met."""
        return LateHops(self.terrain, partial(_best_hops, self.reached, len(self.seeds)))

    def hops(self) -> Iterator[tuple[int, Hop]]:
        """All links that led anywhere, each with the place of its seed."""
        for depth in self.reached[1:]:
            columns = depth.frontier.seed, depth.link, depth.frontier.energy
            for seed, link, energy in zip(*(column.tolist() for column in columns), strict=True):
                yield seed, Hop(*self.terrain.link(link), energy)

    def rounds(self) -> tuple[Round, ...]:
        """A depth is a round, energies of several seeds summed."""
        return tuple(
            LateRound(number, partial(_steps, self.terrain.ids, depth.frontier))
            for number, depth in enumerate(self.reached)
            if len(depth.frontier.fact)
        )

    def trails(self) -> list[Trail]:
        """All of it, seed by seed."""
        hops: list[dict[str, Hop]] = [{} for _ in self.seeds]
        for seed, hop in self.hops():
            hops[seed][hop.target] = hop
        paths: list[list[Path]] = [[] for _ in self.seeds]
        for seed, path in self._paths():
            paths[seed].append(path)
        parts = zip(self.seeds, paths, self.energies(), hops, strict=True)
        return [Trail(seed, _by_energy(some), energies, led) for seed, some, energies, led in parts]

    def _facts(self, depth: _Reached) -> Iterator[tuple[int, str, float]]:
        return _named(self.terrain.ids, depth.frontier)

    def _paths(self) -> Iterator[tuple[int, Path]]:
        """The way to each row that ended, and to each of the last depth, with the place of its seed."""
        paths: list[Path] = []
        for depth, done in zip_longest(self.reached, self.done):
            paths = [
                _longer(paths[parent] if paths else _NOWHERE, id, energy)
                for parent, (_, id, energy) in zip(depth.parent.tolist(), self._facts(depth), strict=True)
            ]
            ended = done.ended if done else dict.fromkeys(range(len(paths)), _LAST)
            seeds = depth.frontier.seed.tolist()
            yield from ((seeds[row], self._ended(seeds[row], paths[row], end)) for row, end in ended.items())

    def _ended(self, seed: int, path: Path, end: End) -> Path:
        """Seeds are the first rows, in their order."""
        alone = len(path.ids) == 1 and end != _LAST and not np.any(self.terrain.wires.source == seed)
        return Path(path.ids, path.energies, "seed_alone" if alone else end)


def _best_hops(reached: Sequence[_Reached], seeds: int) -> tuple[Ints, Ints, Floats]:
    """The fact, the link and what it brought. The first rows are those of the seeds."""
    fact, link, energy = _joined((depth.frontier.fact, depth.link, depth.frontier.energy) for depth in reached)
    return _best_of(fact, link, energy, seeds)


def _best_of(fact: Ints, link: Ints, energy: Floats, seeds: int) -> tuple[Ints, Ints, Floats]:
    (led,) = (fact >= seeds).nonzero()
    # Of what is written to one place the last stays: of those who met a fact the first, of what they brought the most.
    first, best = np.zeros((2, int(fact.max(initial=0)) + 1), np.int64)
    first[fact[led[::-1]]] = led[::-1]
    strongest = led[np.argsort(-energy[led], kind="stable")[::-1]]
    best[fact[strongest]] = strongest
    met = fact[led[first[fact[led]] == led]]
    return met, link[best[met]], energy[best[met]]


def _joined(columns: Iterable[tuple[NDArray[Any], ...]]) -> Iterator[NDArray[Any]]:
    return map(np.concatenate, zip(*columns, strict=True))


def _named(ids: Sequence[str], frontier: Frontier) -> Iterator[tuple[int, str, float]]:
    """Seed, fact and energy of each row."""
    return zip(frontier.seed.tolist(), ids_at(ids, frontier.fact), frontier.energy.tolist(), strict=True)


def _steps(ids: Sequence[str], frontier: Frontier) -> tuple[Step, ...]:
    """The strongest facts of a depth, over all seeds."""
    strongest = islice(summed({id: energy} for _, id, energy in _named(ids, frontier)).items(), RECORDED)
    return tuple(Step(id, energy, False, False) for id, energy in strongest)


_LAST: End = "max_depth"
_NOWHERE = Path((), (), _LAST)


def _longer(path: Path, id: str, energy: float) -> Path:
    return Path((*path.ids, id), (*path.energies, energy), path.end)


def _by_energy(paths: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(sorted(paths, key=lambda path: (-path.energies[-1], path.ids)))


def _by_tags(tags: frozenset[str], floor: float) -> Wiring:
    def likeness(read: Links | Expansion) -> Floats | None:
        return tag_similarities(read.tags, tags, floor=floor) if tags else None

    def wired(links: Links) -> Wires:
        alike = likeness(links)
        return energy_wires(links.source, links.target, weight=links.weight, similarity=alike, degree=links.degree)

    return Wiring(wired, ALONE, likeness)
