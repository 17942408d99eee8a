"""Spread activation over links that are read round by round: SYNAPSE, diffusion and energy paths."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

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
from cofire.algorithms import diffusion, synapse
from cofire.algorithms.array_ops import nan_to_none, order_descending, pad_last_axis
from cofire.algorithms.conductance import (
    NO_CONDUCTANCE_EDGES,
    ConductanceEdges,
    Floats,
    Ints,
    build_diffusion_edges,
    build_energy_edges,
    build_synapse_edges,
    tag_similarities,
)
from cofire.algorithms.energy import EnergyDepth, EnergyFrontier, EnergyRule, expand_frontier, sum_energies
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.stores.base import ExpansionOptions, LinkExpansion

Mask = NDArray[np.bool_]

# Makes edges of the links of an expansion, whose source and target are given as rows of a subgraph.
Conductance = Callable[[Ints, Ints, LinkExpansion], ConductanceEdges]

NEVER, NO_LINK = np.iinfo(np.int64).max, -1


class Subgraph:
    """The facts that activation has visited, a row each, and their links as far as they were read.

    `ids` has the id of each row, `edges` all that conducts between rows. Links are numbered in the order of reading.
    """

    def __init__(self, ids: Iterable[str], conductance: Conductance) -> None:
        self.ids = list(ids)
        self.edges = NO_CONDUCTANCE_EDGES
        self._conductance = conductance
        self._row_of = {id: row for row, id in enumerate(self.ids)}
        self._expanded: set[int] = set()
        # The expansions, the rows of their ids, and the number of the first link of each.
        self._expansions: list[LinkExpansion] = []
        self._rows: list[Ints] = []
        self._first_links: list[int] = []
        self._links = 0

    def expand(self, rows: Ints, options: ExpansionOptions) -> Steps[None]:
        """Read the links of these facts in one effect, unless they were read before.

        Facts are asked for in the order of their ids, so that sums are equal to the last digit on every store.
        """
        unread = [row for row in rows.tolist() if row not in self._expanded]
        if not unread:
            return
        ids = sorted(self.ids[row] for row in unread)
        expansion = yield from store.expand_links(ids, options)
        self._expanded.update(unread)
        self._add(expansion)

    def _add(self, expansion: LinkExpansion) -> None:
        ids = list(expansion.ids)
        rows = np.array([self._row_of.setdefault(id, len(self._row_of)) for id in ids], np.int64)
        self.ids = list(self._row_of)
        edges = self._conductance(rows[expansion.source], rows[expansion.target], expansion)
        self.edges = self.edges.append(edges, self._links)
        self._expansions.append(expansion)
        self._rows.append(rows)
        self._first_links.append(self._links)
        self._links += len(expansion.source)

    def hop(self, link: int, energy: float) -> ActivationHop:
        """A link by its number, and the energy that came along it."""
        part = bisect_right(self._first_links, link) - 1
        expansion, rows = self._expansions[part], self._rows[part]
        at = link - self._first_links[part]
        return ActivationHop(
            source=self.ids[rows[expansion.source[at]]],
            target=self.ids[rows[expansion.target[at]]],
            kind=expansion.kind[at],
            weight=nan_to_none(expansion.weight.item(at)),
            confidence=nan_to_none(expansion.confidence.item(at)),
            via=expansion.via[at],
            energy=energy,
        )

    def sort_by_strength(self, activation: Floats) -> dict[str, float]:
        """The active facts by id, the strongest first; of equals the smaller id."""
        rows = np.flatnonzero(activation > 0)
        order = rows[order_descending(activation[rows], lambda at: self.ids[rows[at]])]
        return {self.ids[row]: value for row, value in zip(order.tolist(), activation[order].tolist(), strict=True)}


# SYNAPSE and diffusion


@dataclass(frozen=True, slots=True)
class BestLinks:
    """For each row the round `since` which it is active, the best `link` to it, and what that `carried`.

    A link counts only from a fact that was active earlier than its target: no path goes in a circle.
    """

    since: Ints
    link: Ints
    carried: Floats

    @classmethod
    def of_seeds(cls, seeds: int) -> BestLinks:
        return cls(np.zeros(seeds, np.int64), np.full(seeds, NO_LINK), np.zeros(seeds))

    def update(self, subgraph: Subgraph, *, passed: Floats, reached: Floats, number: int) -> BestLinks:
        """The same after a round, in which `passed` went along each edge and each row has come to `reached`."""
        rows, edges, ids = len(reached), subgraph.edges, subgraph.ids
        since = pad_last_axis(self.since, rows, NEVER)
        since[(since == NEVER) & (reached > 0)] = number
        is_forward = since[edges.source] < since[edges.target]
        useful = np.flatnonzero((passed > 0) & (reached[edges.target] > 0) & is_forward)
        sources = edges.source[useful].tolist()
        order = useful[order_descending(passed[useful], lambda at: ids[sources[at]])]
        # Several edges may lead to one row: the last one written stays, which is the strongest.
        order = order[::-1]
        link, carried = np.full(rows, NO_LINK), np.zeros(rows)
        link[edges.target[order]] = edges.strongest[order]
        carried[edges.target[order]] = passed[order]
        known_link, known_carried = pad_last_axis(self.link, rows, NO_LINK), pad_last_axis(self.carried, rows)
        return BestLinks(since, np.where(carried > known_carried, link, known_link), np.maximum(carried, known_carried))

    def hops(self, subgraph: Subgraph) -> dict[str, ActivationHop]:
        """The best hop to each fact that one leads to."""
        rows = np.flatnonzero(self.link != NO_LINK).tolist()
        return {subgraph.ids[row]: subgraph.hop(self.link.item(row), self.carried.item(row)) for row in rows}


def spread_synapse(
    seeds: Mapping[str, float], options: ExpansionOptions, rule: synapse.SynapseRule, rounds: int, *, tau: float
) -> Steps[SpreadResult]:
    """SYNAPSE (000) from these seeds. Facts below `tau` are marked as gated, and stay active."""
    ids, activation = _sort_seeds(seeds)
    subgraph, best = Subgraph(ids, _synapse_conductance), BestLinks.of_seeds(len(ids))
    record = [ActivationRound(0, _record_steps(ids, activation, tau=tau))]
    for number in range(1, rounds + 1):
        yield from subgraph.expand(activation.nonzero()[0], options)
        padded = pad_last_axis(activation, len(subgraph.ids))
        done = synapse.run_synapse_round(padded, subgraph.edges, rule, subgraph.ids)
        activation = done.activation
        best = best.update(subgraph, passed=done.passed, reached=activation, number=number)
        record.append(ActivationRound(number, _record_steps(subgraph.ids, activation, done.inhibited, tau=tau)))
    return SpreadResult(subgraph.sort_by_strength(activation), tuple(record), best.hops(subgraph))


def spread_diffusion(
    seeds: Mapping[str, float], options: ExpansionOptions, rule: diffusion.DiffusionRule
) -> Steps[SpreadResult]:
    """Confidence-aware diffusion (001) from these seeds. Links below the floor of `options` are never followed."""
    ids, activation = _sort_seeds(seeds)
    subgraph, best = Subgraph(ids, _diffusion_conductance), BestLinks.of_seeds(len(ids))
    record = [ActivationRound(0, _record_steps(ids, activation))]
    trails = frontier = np.diag(activation)
    for number in range(1, rule.hops + 1):
        yield from subgraph.expand(activation.nonzero()[0], options)
        hop = diffusion.diffuse_hop(frontier, trails, subgraph.edges, rule, subgraph.ids)
        frontier, trails, activation = hop.frontier, hop.trails, hop.reached
        best = best.update(subgraph, passed=hop.passed, reached=activation, number=number)
        record.append(ActivationRound(number, _record_steps(subgraph.ids, activation, hop.dropped)))

    total = trails.sum(axis=0)
    is_seed = np.arange(len(total)) < len(ids)
    kept = diffusion.choose_refined_facts(total, is_seed, subgraph.ids, most=rule.expanded)
    if rule.iterations:
        yield from subgraph.expand(kept.nonzero()[0], options)
    rows = len(subgraph.ids)
    total, kept = pad_last_axis(total, rows), pad_last_axis(kept, rows)
    final = diffusion.refine_kept_facts(total, kept, subgraph.edges, rule)
    if rule.iterations:
        record.append(ActivationRound(len(record), _record_steps(subgraph.ids, final)))
    return SpreadResult(subgraph.sort_by_strength(final), tuple(record), best.hops(subgraph))


def _synapse_conductance(source: Ints, target: Ints, expansion: LinkExpansion) -> ConductanceEdges:
    degree = expansion.degree[expansion.source]
    return build_synapse_edges(source, target, weight=expansion.weight, degree=degree)


def _diffusion_conductance(source: Ints, target: Ints, expansion: LinkExpansion) -> ConductanceEdges:
    return build_diffusion_edges(source, target, weight=expansion.weight, confidence=expansion.confidence)


def _sort_seeds(seeds: Mapping[str, float]) -> tuple[list[str], Floats]:
    """The seeds with any activation, in the order of their ids."""
    active = {id: float(value) for id, value in sorted(seeds.items()) if value > 0}
    return list(active), np.array(list(active.values()), np.float64)


def _record_steps(
    ids: Sequence[str], activation: Floats, inhibited: Mask | None = None, *, tau: float = 0.0
) -> tuple[ActivationStep, ...]:
    """The strongest facts of a round, of equals the smaller ids, with those that were inhibited."""
    if inhibited is None:
        inhibited = np.zeros(len(activation), np.bool_)
    rows = np.flatnonzero((activation > 0) | inhibited)
    order = rows[order_descending(activation[rows], lambda at: ids[rows[at]])][:MAX_RECORDED_FACTS]
    return tuple(
        ActivationStep(ids[row], value, is_inhibited, 0 < value < tau)
        for row, value, is_inhibited in zip(
            order.tolist(), activation[order].tolist(), inhibited[order].tolist(), strict=True
        )
    )


# Energy paths (003)


@dataclass
class _EnergyWalk:
    """The energy of all seeds, depth by depth. `depths[n]` leads from `frontiers[n]` to `frontiers[n + 1]`."""

    seeds: tuple[str, ...]
    subgraph: Subgraph
    frontiers: list[EnergyFrontier]
    depths: list[EnergyDepth] = field(default_factory=list)

    def facts_of(self, frontier: EnergyFrontier) -> list[tuple[int, str, float]]:
        """Seed, fact and energy of each row."""
        facts = [self.subgraph.ids[row] for row in frontier.fact.tolist()]
        return list(zip(frontier.seed.tolist(), facts, frontier.energy.tolist(), strict=True))

    def energies(self) -> list[dict[str, float]]:
        """What each fact got, by seed."""
        energies: list[dict[str, float]] = [{} for _ in self.seeds]
        for frontier in self.frontiers:
            for seed, id, energy in self.facts_of(frontier):
                energies[seed][id] = energy
        return energies

    def rounds(self) -> tuple[ActivationRound, ...]:
        """A depth as a round, with the energies of several seeds summed."""
        rounds = []
        for number, frontier in enumerate(self.frontiers):
            energies = sum_energies({id: energy} for _, id, energy in self.facts_of(frontier))
            strongest = list(energies.items())[:MAX_RECORDED_FACTS]
            if strongest:
                steps = tuple(ActivationStep(id, energy, False, False) for id, energy in strongest)
                rounds.append(ActivationRound(number, steps))
        return tuple(rounds)

    def best_hops(self) -> dict[str, ActivationHop]:
        """The link that brought most of one seed's energy to each fact that is no seed; of equals the first."""
        best: dict[int, tuple[float, int]] = {}
        for depth in self.depths:
            columns = depth.frontier.fact.tolist(), depth.frontier.energy.tolist(), depth.link.tolist()
            for fact, energy, link in zip(*columns, strict=True):
                # Seeds are the first rows.
                if fact >= len(self.seeds) and (fact not in best or energy > best[fact][0]):
                    best[fact] = energy, link
        return {self.subgraph.ids[fact]: self.subgraph.hop(link, energy) for fact, (energy, link) in best.items()}

    def trails(self) -> list[SeedTrail]:
        """Paths, energies and hops, seed by seed."""
        hops: list[dict[str, ActivationHop]] = [{} for _ in self.seeds]
        for depth in self.depths:
            columns = depth.frontier.seed.tolist(), depth.link.tolist(), depth.frontier.energy.tolist()
            for seed, link, energy in zip(*columns, strict=True):
                hop = self.subgraph.hop(link, energy)
                hops[seed][hop.target] = hop
        paths = self._paths()
        return [
            SeedTrail(id, _sort_by_energy(paths[seed]), energies, hops[seed])
            for seed, (id, energies) in enumerate(zip(self.seeds, self.energies(), strict=True))
        ]

    def _paths(self) -> list[list[EnergyPath]]:
        """By seed, the path to each row that ended and to each row of the last depth."""
        finished: list[list[EnergyPath]] = [[] for _ in self.seeds]
        paths: list[EnergyPath] = []
        parents = self.frontiers[0].seed.tolist()
        for frontier, depth in zip_longest(self.frontiers, self.depths):
            extended = []
            for parent, (_, id, energy) in zip(parents, self.facts_of(frontier), strict=True):
                before = paths[parent] if paths else EnergyPath((), (), "max_depth")
                extended.append(EnergyPath((*before.ids, id), (*before.energies, energy), "max_depth"))
            paths = extended
            ends: dict[int, PathEnd] = depth.ends if depth else dict.fromkeys(range(len(paths)), "max_depth")
            for row, end in ends.items():
                seed = frontier.seed.item(row)
                finished[seed].append(self._end_path(seed, paths[row], end))
            parents = depth.parent.tolist() if depth else []
        return finished

    def _end_path(self, seed: int, path: EnergyPath, end: PathEnd) -> EnergyPath:
        """Seeds are the first rows, in their order."""
        has_links = bool(np.any(self.subgraph.edges.source == seed))
        is_alone = len(path.ids) == 1 and end != "max_depth" and not has_links
        return EnergyPath(path.ids, path.energies, "seed_alone" if is_alone else end)


def spread_energy(
    seeds: Mapping[str, float],
    options: ExpansionOptions,
    rule: EnergyRule,
    *,
    tags: frozenset[str],
    tag_floor: float,
) -> Steps[SpreadResult]:
    """Energy paths from these seeds, their energies summed."""
    walk = yield from _walk_depths(seeds, options, rule, tags, tag_floor)
    return SpreadResult(sum_energies(walk.energies()), walk.rounds(), walk.best_hops())


def follow_paths(
    seeds: Mapping[str, float],
    options: ExpansionOptions,
    rule: EnergyRule,
    *,
    tags: frozenset[str],
    tag_floor: float,
) -> Steps[list[SeedTrail]]:
    """The energy paths of each seed. Each depth reads the links of all frontiers in one effect."""
    walk = yield from _walk_depths(seeds, options, rule, tags, tag_floor)
    return walk.trails()


def _walk_depths(
    seeds: Mapping[str, float], options: ExpansionOptions, rule: EnergyRule, tags: frozenset[str], tag_floor: float
) -> Steps[_EnergyWalk]:
    def conductance(source: Ints, target: Ints, expansion: LinkExpansion) -> ConductanceEdges:
        similarity = tag_similarities(expansion.tags, tags, floor=tag_floor)
        degree = expansion.degree[expansion.source]
        return build_energy_edges(source, target, weight=expansion.weight, similarity=similarity, degree=degree)

    rows = np.arange(len(seeds))
    energies = np.array(list(seeds.values()), np.float64)
    walk = _EnergyWalk(tuple(seeds), Subgraph(seeds, conductance), [EnergyFrontier(rows, rows, energies)])
    visited = np.eye(len(seeds), dtype=np.bool_)
    for _ in range(rule.max_depth):
        frontier = walk.frontiers[-1]
        if not len(frontier.fact):
            break
        yield from walk.subgraph.expand(np.unique(frontier.fact), options)
        depth = expand_frontier(frontier, visited, walk.subgraph.edges, rule, walk.subgraph.ids)
        visited = depth.visited
        walk.depths.append(depth)
        walk.frontiers.append(depth.frontier)
    return walk


def _sort_by_energy(paths: Sequence[EnergyPath]) -> tuple[EnergyPath, ...]:
    return tuple(sorted(paths, key=lambda path: (-path.energies[-1], path.ids)))
