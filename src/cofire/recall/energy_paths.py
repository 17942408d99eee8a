"""Energy paths from several seeds, depth by depth over the subgraph (003)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.activation_paths import (
    MAX_RECORDED_FACTS,
    ActivationHop,
    ActivationRound,
    ActivationStep,
    EnergyPath,
    PathEnd,
    SeedTrail,
    SpreadResult,
)
from cofire.algorithms.array_ops import order_descending
from cofire.algorithms.conductance import (
    ALMOST_ONE,
    ConductanceEdges,
    Floats,
    Ints,
    build_energy_edges,
    tag_similarities,
)
from cofire.algorithms.energy import EnergyDepth, EnergyFrontier, EnergyRule, expand_frontier, sum_energies
from cofire.algorithms.traversal import TraversalRequest, TraversalResult
from cofire.index.native_activation import SEPARATE_CONDUCTANCE
from cofire.recall.subgraph import (
    ConductanceRule,
    LazyHops,
    LazyRound,
    Subgraph,
    SubgraphLinks,
    TraversalLookup,
    read_activation,
    read_links,
    read_strong_links,
)
from cofire.runtime.effects import Steps
from cofire.runtime.store_effects import ExpandLinks
from cofire.stores.base import ExpansionOptions, LinkExpansion
from cofire.stores.lazy_ids import select_ids


def spread_energy(
    seeds: Mapping[str, float],
    conducting: ExpansionOptions,
    rule: EnergyRule,
    *,
    tags: frozenset[str],
    tag_floor: float,
) -> Steps[SpreadResult]:
    """Energy paths from these seeds, their energies summed."""
    first = None if tags else (yield from _read_first_links(seeds, conducting, rule))
    if first is not None and first.onward is not None:
        return _make_traversal_spread(first.onward, len(seeds))
    walked = yield from _walk_depths(
        seeds, conducting, rule, _make_tag_conductance(tags, tag_floor), sparing=True, first=first
    )
    return SpreadResult(walked.together(), walked.rounds(), walked.best_hops())


def follow_paths(
    seeds: Mapping[str, float],
    conducting: ExpansionOptions,
    rule: EnergyRule,
    *,
    tags: frozenset[str],
    tag_floor: float,
) -> Steps[list[SeedTrail]]:
    """The energy paths of each seed; the links of all their frontiers are asked for together, depth by depth."""
    walked = yield from _walk_depths(seeds, conducting, rule, _make_tag_conductance(tags, tag_floor), sparing=False)
    return walked.trails()


def _read_first_links(
    seeds: Mapping[str, float], conducting: ExpansionOptions, rule: EnergyRule
) -> Steps[LinkExpansion | None]:
    """Where the seeds lead if all of them have energy enough to pass on, with what is onward from there if a store tells that."""
    if not rule.max_depth or not min(seeds.values(), default=0.0) > rule.threshold:
        return None
    energies = np.array(list(seeds.values()), np.float64)
    onward = conducting.going(TraversalRequest(rule, rule.max_depth, energies))
    found: LinkExpansion = yield ExpandLinks(tuple(seeds), onward, rule.threshold / energies)
    return found


def _make_traversal_spread(journey: TraversalResult, seeds: int) -> SpreadResult:
    """A spread that a store has followed by itself."""
    ends = [0, *journey.told.ends]
    rounds = (
        LazyRound(number, partial(_list_steps_between, journey, first, last))
        for number, (first, last) in enumerate(pairwise(ends))
        if first < last
    )
    return SpreadResult(
        read_activation(journey),
        tuple(rounds),
        LazyHops(TraversalLookup(journey), partial(_read_traversal_hops, journey, seeds)),
    )


def _list_steps_between(journey: TraversalResult, first: int, last: int) -> tuple[ActivationStep, ...]:
    fact, seed, _, energy = journey.told.rounds[:, first:last]
    return _list_steps(journey.ids, EnergyFrontier(seed, fact, energy.view(np.float64)))


def _read_traversal_hops(journey: TraversalResult, seeds: int) -> tuple[Ints, Ints, Floats]:
    fact, _, link, energy = journey.told.rounds
    return _select_best_links(fact, link, energy.view(np.float64), seeds)


def _walk_depths(
    seeds: Mapping[str, float],
    conducting: ExpansionOptions,
    rule: EnergyRule,
    wiring: ConductanceRule,
    *,
    sparing: bool,
    first: LinkExpansion | None = None,
) -> Steps[_EnergyWalk]:
    """One who is `sparing` asks for no link that passes nothing on. Why paths end is then unknown: that takes to see where else they
    might have led. What all seeds lead to may be known from a `first` reading."""
    walked = _EnergyWalk.begun(seeds, wiring)
    if first is not None:
        walked = walked.having(first, rule)
    for _ in range(rule.max_depth):
        frontier, terrain = walked.reached[-1].frontier, walked.terrain
        if sparing:
            rows, needs = _select_promising(frontier, terrain.around, rule.threshold)
        else:
            rows = np.unique(frontier.fact)
        if not len(rows):
            break
        reading = (
            read_strong_links(terrain, rows, needs, conducting) if sparing else read_links(terrain, rows, conducting)
        )
        walked = walked.on((yield from reading), rule)
    return walked


def _select_promising(frontier: EnergyFrontier, around: Ints, threshold: float) -> tuple[Ints, Floats]:
    """Who may have energy enough to pass on, given how many neighbours there are at least around each fact; and what a link must
    conduct at least, if that is to come through above the threshold."""
    fact, energy = frontier.fact, frontier.energy
    (able,) = (energy > ALMOST_ONE * threshold * np.sqrt(np.maximum(around[fact], 1))).nonzero()
    most = np.zeros(len(around))
    # Of what is written to one place the last stays. The most energy comes first, and seeds are of different facts.
    most[fact[able[::-1]]] = energy[able[::-1]]
    (rows,) = most.nonzero()
    return rows, threshold / most[rows]


@dataclass(frozen=True)
class _DepthFacts:
    """The facts of one depth; `parent` is for each a row of the depth before, `link` what led there."""

    frontier: EnergyFrontier
    parent: Ints
    link: Ints


@dataclass(frozen=True)
class _EnergyWalk:
    """The energy of all seeds on its way, depth by depth; `visited` has a row a seed. What was `done` with a depth is known as soon
    as the next one is."""

    terrain: Subgraph
    seeds: tuple[str, ...]
    reached: tuple[_DepthFacts, ...]
    done: tuple[EnergyDepth, ...]
    visited: NDArray[np.bool_]

    @classmethod
    def begun(cls, seeds: Mapping[str, float], wiring: ConductanceRule) -> _EnergyWalk:
        terrain, places = Subgraph.of(seeds, wiring), np.arange(len(seeds))
        frontier = EnergyFrontier(places, places, np.array(list(seeds.values()), np.float64))
        return cls(
            terrain, tuple(seeds), (_DepthFacts(frontier, places, places),), (), np.eye(len(seeds), dtype=np.bool_)
        )

    def having(self, found: LinkExpansion, rule: EnergyRule) -> _EnergyWalk:
        """With the links of all seeds that are of use to them."""
        first = self.reached[-1].frontier
        return replace(self, terrain=self.terrain.grown(found, first.fact, rule.threshold / first.energy))

    def on(self, terrain: Subgraph, rule: EnergyRule) -> _EnergyWalk:
        """A depth further."""
        depth = expand_frontier(self.reached[-1].frontier, self.visited, terrain.wires, rule, terrain.ids)
        children = _DepthFacts(depth.frontier, depth.parent, depth.link)
        return _EnergyWalk(terrain, self.seeds, (*self.reached, children), (*self.done, depth), depth.visited)

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
        seed, fact, energy = _concatenate_columns(columns)
        order = np.argsort(seed, kind="stable")
        total = np.asarray(np.bincount(fact[order], weights=energy[order]), np.float64)
        got, ids = np.bincount(fact).nonzero()[0], self.terrain.ids
        rows = got[order_descending(total[got], lambda at: ids[got[at]])]
        return dict(zip(self.terrain.roster.spelled(rows), total[rows].tolist(), strict=True))

    def best_hops(self) -> LazyHops:
        """The link that brought most of one seed's energy to each fact that is no seed itself, in the order in which facts were met."""
        return LazyHops(self.terrain, partial(_select_hops, self.reached, len(self.seeds)))

    def hops(self) -> Iterator[tuple[int, ActivationHop]]:
        """All links that led anywhere, each with the place of its seed."""
        for depth in self.reached[1:]:
            columns = depth.frontier.seed, depth.link, depth.frontier.energy
            for seed, link, energy in zip(*(column.tolist() for column in columns), strict=True):
                yield seed, ActivationHop(*self.terrain.link(link), energy)

    def rounds(self) -> tuple[ActivationRound, ...]:
        """A depth is a round, energies of several seeds summed."""
        return tuple(
            LazyRound(number, partial(_list_steps, self.terrain.ids, depth.frontier))
            for number, depth in enumerate(self.reached)
            if len(depth.frontier.fact)
        )

    def trails(self) -> list[SeedTrail]:
        """All of it, seed by seed."""
        hops: list[dict[str, ActivationHop]] = [{} for _ in self.seeds]
        for seed, hop in self.hops():
            hops[seed][hop.target] = hop
        paths: list[list[EnergyPath]] = [[] for _ in self.seeds]
        for seed, path in self._paths():
            paths[seed].append(path)
        parts = zip(self.seeds, paths, self.energies(), hops, strict=True)
        return [SeedTrail(seed, _sort_by_energy(some), energies, led) for seed, some, energies, led in parts]

    def _facts(self, depth: _DepthFacts) -> Iterator[tuple[int, str, float]]:
        return _iterate_rows(self.terrain.ids, depth.frontier)

    def _paths(self) -> Iterator[tuple[int, EnergyPath]]:
        """The way to each row that ended, and to each of the last depth, with the place of its seed."""
        paths: list[EnergyPath] = []
        for depth, done in zip_longest(self.reached, self.done):
            paths = [
                _extend_path(paths[parent] if paths else _EMPTY_PATH, id, energy)
                for parent, (_, id, energy) in zip(depth.parent.tolist(), self._facts(depth), strict=True)
            ]
            ended = done.ended if done else dict.fromkeys(range(len(paths)), _DEPTH_LIMIT_END)
            seeds = depth.frontier.seed.tolist()
            yield from ((seeds[row], self._ended(seeds[row], paths[row], end)) for row, end in ended.items())

    def _ended(self, seed: int, path: EnergyPath, end: PathEnd) -> EnergyPath:
        """Seeds are the first rows, in their order."""
        alone = len(path.ids) == 1 and end != _DEPTH_LIMIT_END and not np.any(self.terrain.wires.source == seed)
        return EnergyPath(path.ids, path.energies, "seed_alone" if alone else end)


def _select_hops(reached: Sequence[_DepthFacts], seeds: int) -> tuple[Ints, Ints, Floats]:
    """The fact, the link and what it brought. The first rows are those of the seeds."""
    fact, link, energy = _concatenate_columns(
        (depth.frontier.fact, depth.link, depth.frontier.energy) for depth in reached
    )
    return _select_best_links(fact, link, energy, seeds)


def _select_best_links(fact: Ints, link: Ints, energy: Floats, seeds: int) -> tuple[Ints, Ints, Floats]:
    (led,) = (fact >= seeds).nonzero()
    # Of what is written to one place the last stays: of those who met a fact the first, of what they brought the most.
    first, best = np.zeros((2, int(fact.max(initial=0)) + 1), np.int64)
    first[fact[led[::-1]]] = led[::-1]
    strongest = led[np.argsort(-energy[led], kind="stable")[::-1]]
    best[fact[strongest]] = strongest
    met = fact[led[first[fact[led]] == led]]
    return met, link[best[met]], energy[best[met]]


def _concatenate_columns(columns: Iterable[tuple[NDArray[Any], ...]]) -> Iterator[NDArray[Any]]:
    return map(np.concatenate, zip(*columns, strict=True))


def _iterate_rows(ids: Sequence[str], frontier: EnergyFrontier) -> Iterator[tuple[int, str, float]]:
    """Seed, fact and energy of each row."""
    return zip(frontier.seed.tolist(), select_ids(ids, frontier.fact), frontier.energy.tolist(), strict=True)


def _list_steps(ids: Sequence[str], frontier: EnergyFrontier) -> tuple[ActivationStep, ...]:
    """The strongest facts of a depth, over all seeds."""
    strongest = islice(
        sum_energies({id: energy} for _, id, energy in _iterate_rows(ids, frontier)).items(), MAX_RECORDED_FACTS
    )
    return tuple(ActivationStep(id, energy, False, False) for id, energy in strongest)


_DEPTH_LIMIT_END: PathEnd = "max_depth"
_EMPTY_PATH = EnergyPath((), (), _DEPTH_LIMIT_END)


def _extend_path(path: EnergyPath, id: str, energy: float) -> EnergyPath:
    return EnergyPath((*path.ids, id), (*path.energies, energy), path.end)


def _sort_by_energy(paths: Sequence[EnergyPath]) -> tuple[EnergyPath, ...]:
    return tuple(sorted(paths, key=lambda path: (-path.energies[-1], path.ids)))


def _make_tag_conductance(tags: frozenset[str], floor: float) -> ConductanceRule:
    def likeness(read: SubgraphLinks | LinkExpansion) -> Floats | None:
        return tag_similarities(read.tags, tags, floor=floor) if tags else None

    def wired(links: SubgraphLinks) -> ConductanceEdges:
        alike = likeness(links)
        return build_energy_edges(
            links.source, links.target, weight=links.weight, similarity=alike, degree=links.degree
        )

    return ConductanceRule(wired, SEPARATE_CONDUCTANCE, likeness)
