"""SYNAPSE and diffusion: spreading activation round by round over the subgraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from cofire.activation_paths import MAX_RECORDED_FACTS, ActivationRound, ActivationStep, SpreadResult
from cofire.algorithms import diffusion
from cofire.algorithms import synapse as synapses
from cofire.algorithms.array_ops import order_descending, pad_last_axis
from cofire.algorithms.conductance import ConductanceEdges, Floats, Ints, build_diffusion_edges, build_synapse_edges
from cofire.algorithms.traversal import TraversalRequest, TraversalResult
from cofire.index import native_activation as compiled
from cofire.index.native import LIBRARY
from cofire.index.native_activation import CONFIDENCE_CONDUCTANCE, DEGREE_CONDUCTANCE
from cofire.recall.subgraph import (
    ConductanceRule,
    LazyHops,
    LazyRound,
    Subgraph,
    SubgraphLinks,
    TraversalLookup,
    read_activation,
    read_links,
    read_round,
)
from cofire.runtime.effects import Steps
from cofire.runtime.store_effects import ExpandLinks
from cofire.stores.base import ExpansionOptions, LinkExpansion
from cofire.stores.lazy_ids import select_ids

BoolArray = NDArray[np.bool_]
# By row since when it is active, the best link to it, and what that carried.
BestLinkColumns = tuple[Ints, Ints, Floats]

NEVER_ACTIVE, NO_LINK = np.iinfo(np.int64).max, -1


@dataclass(frozen=True, slots=True)
class _SpreadState:
    """How far it has come: what is active by row, and along which links. A link is kept only from a fact that was active earlier
    than its target: no path goes in a circle."""

    active: Floats
    led: BestLinkColumns
    rounds: tuple[ActivationRound, ...]

    @classmethod
    def begun(cls, ids: Sequence[str], active: Floats, *, tau: float) -> _SpreadState:
        nowhere = np.zeros(len(ids), np.int64), np.full(len(ids), NO_LINK), np.zeros(len(ids))
        steps = partial(_list_steps, ids, active, np.zeros(len(ids), np.bool_), tau)
        return cls(active, nowhere, (LazyRound(0, steps),))

    def on(
        self, terrain: Subgraph, passed: Floats, reached: Floats, silenced: BoolArray, *, tau: float
    ) -> _SpreadState:
        """A round later, in which so much passed along each wire."""
        number, ids = len(self.rounds), terrain.ids
        steps = partial(_list_steps, ids, reached, silenced, tau)
        led = update_best_links(self.led, terrain.wires, ids, passed=passed, reached=reached, number=number)
        return _SpreadState(reached, led, (*self.rounds, LazyRound(number, steps)))

    def hops(self, terrain: Subgraph) -> LazyHops:
        return LazyHops(terrain, partial(_select_hops, *self.led[1:]))


def spread_synapse(
    seeds: Mapping[str, float], conducting: ExpansionOptions, rule: synapses.SynapseRule, rounds: int, *, tau: float
) -> Steps[SpreadResult]:
    """SYNAPSE (000) from these seeds. What stays below `tau` is marked as gated; nothing is taken away by it."""
    ids, active = _sort_seeds(seeds)
    begun = yield from _read_first_links(ids, conducting, SYNAPSE_CONDUCTANCE, TraversalRequest(rule, rounds, active))
    if isinstance(begun, TraversalResult):
        return _make_traversal_spread(begun, active, tau=tau)
    way, terrain = _SpreadState.begun(ids, active, tau=tau), begun
    for _ in range(rounds):
        terrain = yield from read_links(terrain, way.active.nonzero()[0], conducting)
        done = synapses.run_synapse_round(
            pad_last_axis(way.active, len(terrain.roster)), terrain.wires, rule, terrain.ids
        )
        way = way.on(terrain, done.passed, done.activation, done.inhibited, tau=tau)
    return SpreadResult(_sort_by_strength(terrain.named(way.active)), way.rounds, way.hops(terrain))


def spread_diffusion(
    seeds: Mapping[str, float], conducting: ExpansionOptions, rule: diffusion.DiffusionRule
) -> Steps[SpreadResult]:
    """Confidence-aware diffusion (001) from these seeds; links below the floor of `conducting` are never followed."""
    ids, active = _sort_seeds(seeds)
    begun = yield from _read_first_links(
        ids, conducting, DIFFUSION_CONDUCTANCE, TraversalRequest(rule, rule.hops, active)
    )
    if isinstance(begun, TraversalResult):
        return _make_traversal_spread(begun, active, tau=0.0, refined=rule.iterations > 0)
    way, terrain = _SpreadState.begun(ids, active, tau=0.0), begun
    trails = frontier = np.diag(active)
    for _ in range(rule.hops):
        terrain = yield from read_links(terrain, way.active.nonzero()[0], conducting)
        front = diffusion.diffuse_hop(frontier, trails, terrain.wires, rule, terrain.ids)
        frontier, trails = front.frontier, front.trails
        way = way.on(terrain, front.passed, front.reached, front.kept_out, tau=0.0)
    total, started = trails.sum(axis=0), np.arange(trails.shape[1]) < len(ids)
    kept = diffusion.choose_refined_nodes(total, started, terrain.ids, most=rule.expanded)
    if rule.iterations:
        terrain = yield from read_links(terrain, kept.nonzero()[0], conducting)
    rows = len(terrain.roster)
    return _make_diffusion_spread(
        way,
        terrain,
        diffusion.refine_kept_nodes(pad_last_axis(total, rows), pad_last_axis(kept, rows), terrain.wires, rule),
        rule,
    )


def _read_first_links(
    ids: Sequence[str], conducting: ExpansionOptions, wiring: ConductanceRule, onward: TraversalRequest
) -> Steps[Subgraph | TraversalResult]:
    """The terrain with the links of its first facts; or all of it, where a store has followed them by itself."""
    if not ids or not onward.depths:
        return Subgraph.of(ids, wiring)
    found: LinkExpansion = yield ExpandLinks(ids, conducting.going(onward))
    return found.onward or Subgraph.of(ids, wiring).grown(found, np.arange(len(ids)), None)


def _make_traversal_spread(
    journey: TraversalResult, active: Floats, *, tau: float, refined: bool = False
) -> SpreadResult:
    """A spread that a store has followed by itself. Refinement is a round of its own."""
    numbers = range(1, len(journey.told.ends) + refined)
    rounds = (
        LazyRound(number, partial(_read_traversal_steps, journey, active, number, tau)) for number in (0, *numbers)
    )
    return SpreadResult(
        read_activation(journey),
        tuple(rounds),
        LazyHops(TraversalLookup(journey), partial(_read_traversal_hops, journey)),
    )


def _read_traversal_steps(
    journey: TraversalResult, begun: Floats, number: int, tau: float
) -> tuple[ActivationStep, ...]:
    if 0 < number < len(journey.told.ends):
        return _list_steps(journey.ids, *read_round(journey, number), tau)
    active = np.zeros(len(journey.ids))
    if number:
        active[journey.told.rows] = journey.told.activation
    else:
        active[: len(begun)] = begun
    return _list_steps(journey.ids, active, np.zeros(len(active), np.bool_), tau)


def _read_traversal_hops(journey: TraversalResult) -> tuple[Ints, Ints, Floats]:
    return _select_hops(*journey.told.best)


def update_best_links(
    known: BestLinkColumns, wires: ConductanceEdges, ids: Sequence[str], *, passed: Floats, reached: Floats, number: int
) -> BestLinkColumns:
    """Since when rows are active and the best link to each, after a round in which so much passed along each wire."""
    if LIBRARY is None:
        return update_best_links_numpy(known, wires, ids, passed=passed, reached=reached, number=number)
    return compiled.update_best_links(wires.in_c, known, ids, passed=passed, reached=reached, number=number)


def update_best_links_numpy(
    known: BestLinkColumns, wires: ConductanceEdges, ids: Sequence[str], *, passed: Floats, reached: Floats, number: int
) -> BestLinkColumns:
    """The same where there is no compiled code."""
    rows, source, target = len(reached), wires.source, wires.target
    since = pad_last_axis(known[0], rows, NEVER_ACTIVE)
    since[(since == NEVER_ACTIVE) & (reached > 0)] = number
    onward = np.flatnonzero((passed > 0) & (reached[target] > 0) & (since[source] < since[target]))
    givers = source[onward].tolist()
    # Of what is written to one place the last stays: the strongest, of equals from the smaller id.
    order = onward[order_descending(passed[onward], lambda at: ids[givers[at]])[::-1]]
    link, carried = np.full(rows, NO_LINK), np.zeros(rows)
    link[target[order]], carried[target[order]] = wires.strongest[order], passed[order]
    before = pad_last_axis(known[2], rows)
    return since, np.where(carried > before, link, pad_last_axis(known[1], rows, NO_LINK)), np.maximum(carried, before)


def _select_hops(link: Ints, carried: Floats) -> tuple[Ints, Ints, Floats]:
    (rows,) = (link != NO_LINK).nonzero()
    return rows, link[rows], carried[rows]


def _sort_seeds(seeds: Mapping[str, float]) -> tuple[tuple[str, ...], Floats]:
    """Seeds with any activation, in the order of their ids."""
    active = {id: float(a) for id, a in sorted(seeds.items()) if a > 0}
    return tuple(active), np.array(list(active.values()), np.float64)


def _make_synapse_wires(links: SubgraphLinks) -> ConductanceEdges:
    return build_synapse_edges(links.source, links.target, weight=links.weight, degree=links.degree)


def _make_diffusion_wires(links: SubgraphLinks) -> ConductanceEdges:
    return build_diffusion_edges(links.source, links.target, weight=links.weight, confidence=links.confidence)


SYNAPSE_CONDUCTANCE = ConductanceRule(_make_synapse_wires, DEGREE_CONDUCTANCE, lambda _: None)
DIFFUSION_CONDUCTANCE = ConductanceRule(_make_diffusion_wires, CONFIDENCE_CONDUCTANCE, attrgetter("confidence"))


def _make_diffusion_spread(
    way: _SpreadState, terrain: Subgraph, final: Floats, rule: diffusion.DiffusionRule
) -> SpreadResult:
    """What is left after refinement, which is a round of its own."""
    steps = partial(_list_steps, terrain.ids, final, np.zeros(len(final), np.bool_), 0.0)
    refined = (LazyRound(len(way.rounds), steps),) if rule.iterations else ()
    return SpreadResult(_sort_by_strength(terrain.named(final)), (*way.rounds, *refined), way.hops(terrain))


def _list_steps(ids: Sequence[str], activation: Floats, inhibited: BoolArray, tau: float) -> tuple[ActivationStep, ...]:
    """The strongest facts of a round, and those that were silenced in it; what is active below `tau` is gated."""
    (there,) = ((activation > 0) | inhibited).nonzero()
    by_id = there[sorted(range(len(there)), key=select_ids(ids, there).__getitem__)]
    rows = by_id[np.argsort(-activation[by_id], kind="stable")[:MAX_RECORDED_FACTS]]
    columns = zip(select_ids(ids, rows), activation[rows].tolist(), inhibited[rows].tolist(), strict=True)
    return tuple(ActivationStep(id, active, silenced, 0 < active < tau) for id, active, silenced in columns)


def _sort_by_strength(activation: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(activation.items(), key=lambda entry: (-entry[1], entry[0])))
