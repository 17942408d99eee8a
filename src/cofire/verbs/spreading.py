"""Spreading: SYNAPSE and diffusion, which ask for the next links once a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking
from cofire.dynamics import diffusion
from cofire.dynamics import synapse as synapses
from cofire.dynamics.conductance import (
    Floats,
    Ints,
    Wires,
    diffusion_wires,
    synapse_wires,
)
from cofire.dynamics.runs import falling
from cofire.spreads import RECORDED, Hop, Round, Spread, Step
from cofire.stores.base import Conducting
from cofire.verbs.terrain import Links, Terrain, further, widened

Mask = NDArray[np.bool_]

NEVER, NO_LINK = np.iinfo(np.int64).max, -1


@dataclass(frozen=True)
class _Way:
    """How far it has come, by row: what is active, since when, the best link to it and what that carried. A link is kept only
    from a fact that was active earlier than its target: no path goes in a circle."""

    active: Floats
    since: Ints
    link: Ints
    carried: Floats
    rounds: tuple[Round, ...]

    @classmethod
    def begun(cls, ids: Sequence[str], active: Floats, *, tau: float) -> _Way:
        steps = _steps(ids, active, np.zeros(len(ids), np.bool_), active < tau)
        nowhere = np.full(len(ids), NO_LINK)
        return cls(active, np.zeros(len(ids), np.int64), nowhere, np.zeros(len(ids)), (Round(0, steps),))

    def on(self, terrain: Terrain, passed: Floats, reached: Floats, steps: tuple[Step, ...]) -> _Way:
        """A round later, in which so much passed along each wire."""
        wires, ids = terrain.wires, terrain.ids
        number, rows = len(self.rounds), len(reached)
        since = widened(self.since, rows, NEVER)
        since[(since == NEVER) & (reached > 0)] = number
        source, target = wires.source, wires.target
        onward = np.flatnonzero((passed > 0) & (reached[target] > 0) & (since[source] < since[target]))
        givers = source[onward].tolist()
        # Of what is written to one place the last stays: the strongest, of equals from the smaller id.
        order = onward[falling(passed[onward], lambda at: ids[givers[at]])[::-1]]
        link, carried = np.full(rows, NO_LINK), np.zeros(rows)
        link[target[order]], carried[target[order]] = wires.strongest[order], passed[order]
        known, before = widened(self.link, rows, NO_LINK), widened(self.carried, rows)
        return _Way(
            reached,
            since,
            np.where(carried > before, link, known),
            np.maximum(carried, before),
            (*self.rounds, Round(number, steps)),
        )

    def hops(self, terrain: Terrain) -> dict[str, Hop]:
        led = np.flatnonzero(self.link != NO_LINK)
        return {hop.target: hop for hop in terrain.hops(self.link[led], self.carried[led])}


def synapse(
    seeds: Mapping[str, float], conducting: Conducting, rule: synapses.Rule, rounds: int, *, tau: float
) -> Asking[Spread]:
    """SYNAPSE (000) from these seeds. What stays below `tau` is marked as gated; nothing is taken away by it."""
    ids, active = _started(seeds)
    way, terrain = _Way.begun(ids, active, tau=tau), Terrain.of(ids, _by_fan)
    for _ in range(rounds):
        terrain = yield from further(terrain, np.flatnonzero(way.active), conducting)
        wires, before = terrain.wires, widened(way.active, len(terrain.ids))
        done = synapses.step(before, wires, rule, terrain.ids)
        gated = (done.activation > 0) & (done.activation < tau)
        steps = _steps(terrain.ids, done.activation, done.inhibited, gated)
        way = way.on(terrain, rule.spread * before[wires.source] * wires.conductance, done.activation, steps)
    return Spread(_by_strength(terrain.named(way.active)), way.rounds, way.hops(terrain))


def diffuse(seeds: Mapping[str, float], conducting: Conducting, rule: diffusion.Rule) -> Asking[Spread]:
    """Confidence-aware diffusion (001) from these seeds; links below the floor of `conducting` are never followed."""
    ids, active = _started(seeds)
    way, terrain = _Way.begun(ids, active, tau=0.0), Terrain.of(ids, _by_trust)
    trails = frontier = np.diag(active)
    for _ in range(rule.hops):
        terrain = yield from further(terrain, np.flatnonzero(way.active), conducting)
        frontier, trails = widened(frontier, len(terrain.ids)), widened(trails, len(terrain.ids))
        way, frontier = _one_hop(way, terrain, frontier, trails > 0, rule)
        trails = trails + frontier
    total, started = trails.sum(axis=0), np.arange(trails.shape[1]) < len(ids)
    kept = diffusion.chosen(total, started, terrain.ids, most=rule.expanded)
    if rule.iterations:
        terrain = yield from further(terrain, np.flatnonzero(kept), conducting)
    rows = len(terrain.ids)
    return _settled(
        way, terrain, diffusion.settled(widened(total, rows), widened(kept, rows), terrain.wires, rule), rule
    )


def _started(seeds: Mapping[str, float]) -> tuple[tuple[str, ...], Floats]:
    """Seeds with any activation, in the order of their ids."""
    active = {id: float(a) for id, a in sorted(seeds.items()) if a > 0}
    return tuple(active), np.array(list(active.values()), np.float64)


def _by_fan(links: Links) -> Wires:
    return synapse_wires(links.source, links.target, weight=links.weight, degree=links.degree)


def _by_trust(links: Links) -> Wires:
    return diffusion_wires(links.source, links.target, weight=links.weight, confidence=links.confidence)


def _one_hop(way: _Way, terrain: Terrain, frontier: Floats, seen: Mask, rule: diffusion.Rule) -> tuple[_Way, Floats]:
    """A row a seed, a column a fact."""
    wires = terrain.wires
    arrived = diffusion.hop(frontier, seen, wires, decay=rule.decay)
    total: Floats = arrived.sum(axis=0)
    kept = diffusion.best(total, terrain.ids, most=rule.expanded)
    passed: Floats = (frontier[:, wires.source] * ~seen[:, wires.target]).sum(axis=0) * wires.conductance * rule.decay
    steps = _steps(terrain.ids, total * kept, (total > 0) & ~kept, np.zeros(len(total), np.bool_))
    return way.on(terrain, passed, total * kept, steps), arrived * kept


def _settled(way: _Way, terrain: Terrain, final: Floats, rule: diffusion.Rule) -> Spread:
    """What is left after refinement, which is a round of its own."""
    nothing = np.zeros(len(final), np.bool_)
    refined = (Round(len(way.rounds), _steps(terrain.ids, final, nothing, nothing)),) if rule.iterations else ()
    return Spread(_by_strength(terrain.named(final)), (*way.rounds, *refined), way.hops(terrain))


def _steps(ids: Sequence[str], activation: Floats, inhibited: Mask, gated: Mask) -> tuple[Step, ...]:
    """The strongest facts of a round, and those that were silenced in it."""
    by_id = np.array(sorted(np.flatnonzero((activation > 0) | inhibited).tolist(), key=ids.__getitem__), np.int64)
    rows = by_id[np.argsort(-activation[by_id], kind="stable")[:RECORDED]]
    columns = zip(rows.tolist(), activation[rows].tolist(), inhibited[rows].tolist(), gated[rows].tolist(), strict=True)
    return tuple(Step(ids[row], active, silenced, below) for row, active, silenced, below in columns)


def _by_strength(activation: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(activation.items(), key=lambda entry: (-entry[1], entry[0])))
