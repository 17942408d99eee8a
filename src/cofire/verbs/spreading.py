"""Spreading: three ways in which activation goes from facts to facts, each asking for the next links once a round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

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
    energy_wires,
    synapse_wires,
    tag_similarities,
)
from cofire.dynamics.energy import Rule as EnergyRule
from cofire.dynamics.energy import branched, summed
from cofire.spreads import RECORDED, End, Hop, Path, Round, Spread, Step, Trail
from cofire.stores.base import Conducting
from cofire.verbs.terrain import UNSEEN, Terrain, further, mapped

Mask = NDArray[np.bool_]
Trails = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class _Way:
    """How far it has come. A hop is kept only from a fact that was active earlier than its target: no path goes in a circle."""

    active: Mapping[str, float]
    since: Mapping[str, int]
    hops: Mapping[str, Hop]
    rounds: tuple[Round, ...]

    @classmethod
    def begun(cls, seeds: Mapping[str, float], *, tau: float) -> _Way:
        active = {id: float(a) for id, a in sorted(seeds.items()) if a > 0}
        steps = [Step(id, a, False, a < tau) for id, a in active.items()]
        return cls(active, dict.fromkeys(active, 0), {}, (Round(0, _strongest(steps)),))

    def on(self, terrain: Terrain, wires: Wires, passed: Floats, reached: Floats, steps: Sequence[Step]) -> _Way:
        """A round later: what is active now, since when, and the best link to each."""
        active, number = terrain.named(reached), len(self.rounds)
        since = {**dict.fromkeys(active, number), **self.since}
        began = np.array([since.get(id, number + 1) for id in terrain.ids], np.int64)
        hops = _led(self.hops, began, terrain, wires, np.where(reached[wires.target] > 0, passed, 0.0))
        return _Way(active, since, hops, (*self.rounds, Round(number, _strongest(steps))))


def synapse(
    seeds: Mapping[str, float], conducting: Conducting, rule: synapses.Rule, rounds: int, *, tau: float
) -> Asking[Spread]:
    """SYNAPSE (000) from these seeds. What stays below `tau` is marked as gated; nothing is taken away by it."""
    way, survey = _Way.begun(seeds, tau=tau), UNSEEN
    for _ in range(rounds):
        survey = yield from further(survey, way.active, conducting)
        terrain = mapped(survey, way.active)
        wires = synapse_wires(terrain.source, terrain.target, weight=terrain.weight, degree=terrain.degree)
        before = terrain.placed(way.active)
        done = synapses.step(before, wires, rule)
        passed = rule.spread * before[wires.source] * wires.conductance
        gated = (done.activation > 0) & (done.activation < tau)
        way = way.on(terrain, wires, passed, done.activation, _steps(terrain, done.activation, done.inhibited, gated))
    return Spread(_by_strength(way.active), way.rounds, way.hops)


def diffuse(seeds: Mapping[str, float], conducting: Conducting, rule: diffusion.Rule) -> Asking[Spread]:
    """Confidence-aware diffusion (001) from these seeds; links below the floor of `conducting` are never followed."""
    way, survey = _Way.begun(seeds, tau=0.0), UNSEEN
    trails = frontiers = {seed: {seed: a} for seed, a in way.active.items()}
    for _ in range(rule.hops):
        survey = yield from further(survey, _all(frontiers), conducting)
        terrain = mapped(survey, _all(trails))
        way, frontiers = _one_hop(way, terrain, frontiers, trails, rule)
        trails = {seed: {**trail, **frontiers[seed]} for seed, trail in trails.items()}
    total = summed(trails.values())
    if rule.iterations:
        survey = yield from further(survey, _kept(total, trails, rule), conducting)
    return _settled(way, mapped(survey, total), total, trails, rule)


def energise(
    seeds: Mapping[str, float], conducting: Conducting, rule: EnergyRule, *, tags: frozenset[str], tag_floor: float
) -> Asking[Spread]:
    """Energy paths (003) from these seeds, their energies summed."""
    trails = yield from follow(seeds, conducting, rule, tags=tags, tag_floor=tag_floor)
    hops: dict[str, Hop] = {}
    for trail in trails:
        for id, hop in trail.hops.items():
            if id not in seeds and (id not in hops or hops[id].energy < hop.energy):
                hops[id] = hop
    total = summed(trail.energies for trail in trails)
    return Spread(total, _depths(trails), hops)


def follow(
    seeds: Mapping[str, float], conducting: Conducting, rule: EnergyRule, *, tags: frozenset[str], tag_floor: float
) -> Asking[list[Trail]]:
    """The energy paths of each seed; the links of all their frontiers are asked for together, depth by depth."""
    walks, survey = [_Walk.begun(seed, energy) for seed, energy in seeds.items()], UNSEEN
    for _ in range(rule.max_depth):
        if not any(walk.frontier for walk in walks):
            break
        survey = yield from further(survey, [id for walk in walks for id in walk.frontier], conducting)
        terrain = mapped(survey, [id for walk in walks for id in walk.energies])
        likeness = tag_similarities(terrain.tags, tags, floor=tag_floor)
        wires = energy_wires(
            terrain.source, terrain.target, weight=terrain.weight, similarity=likeness, degree=terrain.degree
        )
        walks = [walk.on(terrain, wires, rule) for walk in walks]
    return [walk.trail() for walk in walks]


@dataclass(frozen=True)
class _Walk:
    """One seed's energy on its way: the paths that still go on, by their last fact, and those that are done."""

    seed: str
    frontier: Mapping[str, Path]
    energies: Mapping[str, float]
    hops: Mapping[str, Hop]
    done: tuple[Path, ...]

    @classmethod
    def begun(cls, seed: str, energy: float) -> _Walk:
        return cls(seed, {seed: Path((seed,), (energy,), "max_depth")}, {seed: energy}, {}, ())

    def on(self, terrain: Terrain, wires: Wires, rule: EnergyRule) -> _Walk:
        """A depth further."""
        energy = terrain.placed({id: path.energies[-1] for id, path in self.frontier.items()})
        step = branched(energy, terrain.placed(self.energies) > 0, wires, rule)
        carried = zip(step.wire.tolist(), step.energy.tolist(), strict=True)
        hops = {hop.target: hop for hop in (terrain.hop(wires, wire, passed) for wire, passed in carried)}
        return _Walk(
            self.seed,
            {id: _longer(self.frontier[hop.source], hop) for id, hop in hops.items()},
            {**self.energies, **{id: hop.energy for id, hop in hops.items()}},
            {**self.hops, **hops},
            (*self.done, *(self._ended(terrain, row, end) for row, end in step.ended.items())),
        )

    def _ended(self, terrain: Terrain, row: int, end: End) -> Path:
        path = self.frontier[terrain.ids[row]]
        alone = len(path.ids) == 1 and not np.any(terrain.source == row)
        return replace(path, end="seed_alone" if alone else end)

    def trail(self) -> Trail:
        paths = sorted((*self.done, *self.frontier.values()), key=lambda path: (-path.energies[-1], path.ids))
        return Trail(self.seed, tuple(paths), self.energies, self.hops)


def _one_hop(
    way: _Way, terrain: Terrain, frontiers: Trails, trails: Trails, rule: diffusion.Rule
) -> tuple[_Way, dict[str, dict[str, float]]]:
    wires = diffusion_wires(terrain.source, terrain.target, weight=terrain.weight, confidence=terrain.confidence)
    before, seen = _matrix(terrain, frontiers), _matrix(terrain, trails) > 0
    arrived = diffusion.hop(before, seen, wires, decay=rule.decay)
    total: Floats = arrived.sum(axis=0)
    kept = diffusion.best(total, most=rule.expanded)
    passed: Floats = (before[:, wires.source] * ~seen[:, wires.target]).sum(axis=0) * wires.conductance * rule.decay
    steps = _steps(terrain, total * kept, (total > 0) & ~kept, np.zeros(len(total), np.bool_))
    frontier = {seed: terrain.named(row * kept) for seed, row in zip(trails, arrived, strict=True)}
    return way.on(terrain, wires, passed, total * kept, steps), frontier


def _settled(
    way: _Way, terrain: Terrain, total: Mapping[str, float], seeds: Iterable[str], rule: diffusion.Rule
) -> Spread:
    """What is left after refinement, which is a round of its own."""
    wires = diffusion_wires(terrain.source, terrain.target, weight=terrain.weight, confidence=terrain.confidence)
    started = terrain.placed(dict.fromkeys(seeds, 1.0)) > 0
    final = diffusion.settled(terrain.placed(total), started, wires, rule)
    nothing = np.zeros(len(final), np.bool_)
    refined = Round(len(way.rounds), _strongest(_steps(terrain, final, nothing, nothing)))
    rounds = (*way.rounds, refined) if rule.iterations else way.rounds
    return Spread(_by_strength(terrain.named(final)), rounds, way.hops)


def _kept(total: Mapping[str, float], seeds: Iterable[str], rule: diffusion.Rule) -> list[str]:
    """The facts that refinement is among; `total` has the strongest first."""
    started = set(seeds)
    return [*started, *[id for id in total if id not in started][: rule.expanded]]


def _led(hops: Mapping[str, Hop], began: Ints, terrain: Terrain, wires: Wires, passed: Floats) -> dict[str, Hop]:
    """The best link to each fact, among those known and those that carried something now from who was active before it."""
    onward = np.flatnonzero((passed > 0) & (began[wires.source] < began[wires.target]))
    best: dict[int, int] = {}
    for wire in onward[np.argsort(-passed[onward], kind="stable")].tolist():
        best.setdefault(int(wires.target[wire]), wire)
    found = (terrain.hop(wires, wire, float(passed[wire])) for wire in best.values())
    better = {hop.target: hop for hop in found if hop.target not in hops or hops[hop.target].energy < hop.energy}
    return {**hops, **better}


def _steps(terrain: Terrain, activation: Floats, inhibited: Mask, gated: Mask) -> list[Step]:
    rows = np.flatnonzero((activation > 0) | inhibited)
    rows = rows[np.argsort(-activation[rows], kind="stable")][:RECORDED]
    return [
        Step(terrain.ids[row], float(activation[row]), bool(inhibited[row]), bool(gated[row])) for row in rows.tolist()
    ]


def _strongest(steps: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(sorted(steps, key=lambda step: (-step.activation, step.id))[:RECORDED])


def _depths(trails: Sequence[Trail]) -> tuple[Round, ...]:
    """Energy paths as rounds: a depth is a round, energies of several seeds summed."""
    longest = max((len(path.ids) for trail in trails for path in trail.paths), default=0)
    return tuple(Round(depth, _strongest(_at_depth(trails, depth))) for depth in range(longest))


def _at_depth(trails: Sequence[Trail], depth: int) -> list[Step]:
    paths = ((trail, path) for trail in trails for path in trail.paths if len(path.ids) > depth)
    found = {(trail.seed, path.ids[depth]): path.energies[depth] for trail, path in paths}
    total = summed({id: energy} for (_, id), energy in found.items())
    return [Step(id, energy, False, False) for id, energy in total.items()]


def _longer(path: Path, hop: Hop) -> Path:
    return Path((*path.ids, hop.target), (*path.energies, hop.energy), path.end)


def _matrix(terrain: Terrain, trails: Trails) -> Floats:
    """A row a seed, a column a fact."""
    return np.array([terrain.placed(trail) for trail in trails.values()]).reshape(len(trails), len(terrain.ids))


def _all(trails: Trails) -> set[str]:
    return {id for trail in trails.values() for id in trail}


def _by_strength(activation: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(activation.items(), key=lambda entry: (-entry[1], entry[0])))
