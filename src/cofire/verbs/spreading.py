"""Spreading: SYNAPSE and diffusion, which ask for the next links once a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

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
from cofire.dynamics.onward import Journey, Onward
from cofire.dynamics.runs import falling, widened
from cofire.graph_asks import Expand
from cofire.kernels import spreading as compiled
from cofire.kernels.library import LIBRARY
from cofire.kernels.terrain import SHARED, TRUSTED
from cofire.late import ids_at
from cofire.spreads import RECORDED, Round, Spread, Step
from cofire.stores.base import Conducting, Expansion
from cofire.verbs.onward import Chart, activation, round_of
from cofire.verbs.terrain import LateHops, LateRound, Links, Terrain, Wiring, further

Mask = NDArray[np.bool_]
# By row since when it is active, the best link to it, and what that carried.
Led = tuple[Ints, Ints, Floats]

NEVER, NO_LINK = np.iinfo(np.int64).max, -1


@dataclass(frozen=True, slots=True)
class _Way:
    """How far it has come: what is active by row, and along which links. A link is kept only from a fact that was active earlier
    than its target: no path goes in a circle."""

    active: Floats
    led: Led
    rounds: tuple[Round, ...]

    @classmethod
    def begun(cls, ids: Sequence[str], active: Floats, *, tau: float) -> _Way:
        nowhere = np.zeros(len(ids), np.int64), np.full(len(ids), NO_LINK), np.zeros(len(ids))
        steps = partial(_steps, ids, active, np.zeros(len(ids), np.bool_), tau)
        return cls(active, nowhere, (LateRound(0, steps),))

    def on(self, terrain: Terrain, passed: Floats, reached: Floats, silenced: Mask, *, tau: float) -> _Way:
        """A round later, in which so much passed along each wire."""
        number, ids = len(self.rounds), terrain.ids
        steps = partial(_steps, ids, reached, silenced, tau)
        led = led_on(self.led, terrain.wires, ids, passed=passed, reached=reached, number=number)
        return _Way(reached, led, (*self.rounds, LateRound(number, steps)))

    def hops(self, terrain: Terrain) -> LateHops:
        return LateHops(terrain, partial(_best_hops, *self.led[1:]))


def synapse(
    seeds: Mapping[str, float], conducting: Conducting, rule: synapses.Rule, rounds: int, *, tau: float
) -> Asking[Spread]:
    """SYNAPSE (000) from these seeds. What stays below `tau` is marked as gated; nothing is taken away by it."""
    ids, active = _started(seeds)
    begun = yield from _begun(ids, conducting, FAN, Onward(rule, rounds, active))
    if isinstance(begun, Journey):
        return _told(begun, active, tau=tau)
    way, terrain = _Way.begun(ids, active, tau=tau), begun
    for _ in range(rounds):
        terrain = yield from further(terrain, way.active.nonzero()[0], conducting)
        done = synapses.step(widened(way.active, len(terrain.roster)), terrain.wires, rule, terrain.ids)
        way = way.on(terrain, done.passed, done.activation, done.inhibited, tau=tau)
    return Spread(_by_strength(terrain.named(way.active)), way.rounds, way.hops(terrain))


def diffuse(seeds: Mapping[str, float], conducting: Conducting, rule: diffusion.Rule) -> Asking[Spread]:
    """Confidence-aware diffusion (001) from these seeds; links below the floor of `conducting` are never followed."""
    ids, active = _started(seeds)
    begun = yield from _begun(ids, conducting, TRUST, Onward(rule, rule.hops, active))
    if isinstance(begun, Journey):
        return _told(begun, active, tau=0.0, refined=rule.iterations > 0)
    way, terrain = _Way.begun(ids, active, tau=0.0), begun
    trails = frontier = np.diag(active)
    for _ in range(rule.hops):
        terrain = yield from further(terrain, way.active.nonzero()[0], conducting)
        front = diffusion.hopped(frontier, trails, terrain.wires, rule, terrain.ids)
        frontier, trails = front.frontier, front.trails
        way = way.on(terrain, front.passed, front.reached, front.kept_out, tau=0.0)
    total, started = trails.sum(axis=0), np.arange(trails.shape[1]) < len(ids)
    kept = diffusion.chosen(total, started, terrain.ids, most=rule.expanded)
    if rule.iterations:
        terrain = yield from further(terrain, kept.nonzero()[0], conducting)
    rows = len(terrain.roster)
    return _settled(
        way, terrain, diffusion.settled(widened(total, rows), widened(kept, rows), terrain.wires, rule), rule
    )


def _begun(ids: Sequence[str], conducting: Conducting, wiring: Wiring, onward: Onward) -> Asking[Terrain | Journey]:
    """The terrain with the links of its first facts; or all of it, where a store has followed them by itself."""
    if not ids or not onward.depths:
        return Terrain.of(ids, wiring)
    found: Expansion = yield Expand(ids, conducting.going(onward))
    return found.onward or Terrain.of(ids, wiring).grown(found, np.arange(len(ids)), None)


def _told(journey: Journey, active: Floats, *, tau: float, refined: bool = False) -> Spread:
    """A spread that a store has followed by itself. Refinement is a round of its own."""
    numbers = range(1, len(journey.told.ends) + refined)
    rounds = (LateRound(number, partial(_told_steps, journey, active, number, tau)) for number in (0, *numbers))
    return Spread(activation(journey), tuple(rounds), LateHops(Chart(journey), partial(_told_hops, journey)))


def _told_steps(journey: Journey, begun: Floats, number: int, tau: float) -> tuple[Step, ...]:
    if 0 < number < len(journey.told.ends):
        return _steps(journey.ids, *round_of(journey, number), tau)
    active = np.zeros(len(journey.ids))
    if number:
        active[journey.told.rows] = journey.told.activation
    else:
        active[: len(begun)] = begun
    return _steps(journey.ids, active, np.zeros(len(active), np.bool_), tau)


def _told_hops(journey: Journey) -> tuple[Ints, Ints, Floats]:
    return _best_hops(*journey.told.best)


def led_on(known: Led, wires: Wires, ids: Sequence[str], *, passed: Floats, reached: Floats, number: int) -> Led:
    """Since when rows are active and the best link to each, after a round in which so much passed along each wire."""
    if LIBRARY is None:
        return led_on_in_numpy(known, wires, ids, passed=passed, reached=reached, number=number)
    return compiled.lead_on(wires.in_c, known, ids, passed=passed, reached=reached, number=number)


def led_on_in_numpy(
    known: Led, wires: Wires, ids: Sequence[str], *, passed: Floats, reached: Floats, number: int
) -> Led:
    """The same where there is no compiled code."""
    rows, source, target = len(reached), wires.source, wires.target
    since = widened(known[0], rows, NEVER)
    since[(since == NEVER) & (reached > 0)] = number
    onward = np.flatnonzero((passed > 0) & (reached[target] > 0) & (since[source] < since[target]))
    givers = source[onward].tolist()
    # Of what is written to one place the last stays: the strongest, of equals from the smaller id.
    order = onward[falling(passed[onward], lambda at: ids[givers[at]])[::-1]]
    link, carried = np.full(rows, NO_LINK), np.zeros(rows)
    link[target[order]], carried[target[order]] = wires.strongest[order], passed[order]
    before = widened(known[2], rows)
    return since, np.where(carried > before, link, widened(known[1], rows, NO_LINK)), np.maximum(carried, before)


def _best_hops(link: Ints, carried: Floats) -> tuple[Ints, Ints, Floats]:
    (rows,) = (link != NO_LINK).nonzero()
    return rows, link[rows], carried[rows]


def _started(seeds: Mapping[str, float]) -> tuple[tuple[str, ...], Floats]:
    """Seeds with any activation, in the order of their ids."""
    active = {id: float(a) for id, a in sorted(seeds.items()) if a > 0}
    return tuple(active), np.array(list(active.values()), np.float64)


def _by_fan(links: Links) -> Wires:
    return synapse_wires(links.source, links.target, weight=links.weight, degree=links.degree)


def _by_trust(links: Links) -> Wires:
    return diffusion_wires(links.source, links.target, weight=links.weight, confidence=links.confidence)


FAN = Wiring(_by_fan, SHARED, lambda _: None)
TRUST = Wiring(_by_trust, TRUSTED, attrgetter("confidence"))


def _settled(way: _Way, terrain: Terrain, final: Floats, rule: diffusion.Rule) -> Spread:
    """What is left after refinement, which is a round of its own."""
    steps = partial(_steps, terrain.ids, final, np.zeros(len(final), np.bool_), 0.0)
    refined = (LateRound(len(way.rounds), steps),) if rule.iterations else ()
    return Spread(_by_strength(terrain.named(final)), (*way.rounds, *refined), way.hops(terrain))


def _steps(ids: Sequence[str], activation: Floats, inhibited: Mask, tau: float) -> tuple[Step, ...]:
    """The strongest facts of a round, and those that were silenced in it; what is active below `tau` is gated."""
    (there,) = ((activation > 0) | inhibited).nonzero()
    by_id = there[sorted(range(len(there)), key=ids_at(ids, there).__getitem__)]
    rows = by_id[np.argsort(-activation[by_id], kind="stable")[:RECORDED]]
    columns = zip(ids_at(ids, rows), activation[rows].tolist(), inhibited[rows].tolist(), strict=True)
    return tuple(Step(id, active, silenced, 0 < active < tau) for id, active, silenced in columns)


def _by_strength(activation: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(activation.items(), key=lambda entry: (-entry[1], entry[0])))
