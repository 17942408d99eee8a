"""Hops, rounds and energy paths of spreading activation, and the result of explore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

# Number of facts recorded per round.
MAX_RECORDED_FACTS = 64

PathEnd = Literal["max_depth", "below_threshold", "dead_end", "claimed", "seed_alone"]
SeedStatus = Literal["complete", "seed_not_found", "failed"]


@dataclass(frozen=True, slots=True)
class ActivationHop:
    """A link over which activation passed, and how much. `source` and `target` are in the order of the flow."""

    source: str
    target: str
    kind: str
    weight: float | None
    confidence: float | None
    via: str | None
    energy: float


@dataclass(frozen=True, slots=True)
class ActivationStep:
    """A fact in a round: its activation, whether it was inhibited, and whether it is below the gate."""

    id: str
    activation: float
    inhibited: bool
    gated: bool


@dataclass(frozen=True, slots=True)
class ActivationRound:
    """The most active facts of a round. Round 0 are the seeds."""

    number: int
    steps: tuple[ActivationStep, ...]


@dataclass(frozen=True, slots=True)
class SpreadResult:
    """Final activation, highest first, the rounds, and for each fact reached the strongest link to it."""

    activation: Mapping[str, float]
    rounds: tuple[ActivationRound, ...]
    hops: Mapping[str, ActivationHop]


@dataclass(frozen=True, slots=True)
class EnergyPath:
    """A path from a seed: facts in order, the energy of each, and why the path ended."""

    ids: tuple[str, ...]
    energies: tuple[float, ...]
    end: PathEnd


@dataclass(frozen=True, slots=True)
class SeedTrail:
    """What the energy of one seed reached: paths, the energy of each fact, and the link to it."""

    seed: str
    paths: tuple[EnergyPath, ...]
    energies: Mapping[str, float]
    hops: Mapping[str, ActivationHop]


@dataclass(frozen=True, slots=True)
class SeedExploration:
    """The exploration of one seed. Its status is complete, seed_not_found or failed, with a reason."""

    seed: str
    energy: float
    status: SeedStatus
    reason: str = ""
    paths: tuple[EnergyPath, ...] = ()
    energies: Mapping[str, float] = field(default_factory=dict)
    hops: Mapping[str, ActivationHop] = field(default_factory=dict)

    def hops_of(self, path: EnergyPath) -> tuple[ActivationHop, ...]:
        """The links of a path, in order."""
        return tuple(self.hops[id] for id in path.ids[1:])


@dataclass(frozen=True, slots=True)
class ExploreResult:
    """The exploration of each seed, and the energy of each fact over all seeds, highest first."""

    seeds: tuple[SeedExploration, ...]
    energy: Mapping[str, float]
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """All facts with energy, highest first."""
        return tuple(self.energy)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "seeds": [seed_json(seed) for seed in self.seeds],
            "facts": [{"id": id, "energy": energy} for id, energy in self.energy.items()],
            "reason": self.reason,
        }


def trace_path(
    id: str, hops: Sequence[Mapping[str, ActivationHop]], seeds: Sequence[Mapping[str, float]]
) -> tuple[ActivationHop, ...]:
    """The hops to a fact over several passes, in order.

    Follows the best hops backwards from the fact, as long as they lead to a stronger seed.

    >>> first = {"b": ActivationHop("a", "b", "about", 1.0, None, "pool", 0.5)}
    >>> second = {"c": ActivationHop("b", "c", "about", 1.0, None, "mode", 0.4)}
    >>> [hop.target for hop in trace_path("c", [first, second], [{"a": 1.0}, {"b": 1.0, "a": 0.9}])]
    ['b', 'c']
    """
    path: list[ActivationHop] = []
    seen = {id}
    for pass_hops, pass_seeds in zip(reversed(hops), reversed(seeds), strict=True):
        while id in pass_hops:
            hop = pass_hops[id]
            if hop.source in seen or not _leads_to_weaker(pass_seeds, hop):
                break
            path.append(hop)
            seen.add(hop.source)
            id = hop.source
            if id in pass_seeds:
                break
    return tuple(reversed(path))


def passes_to_rounds(
    hops: Sequence[Mapping[str, ActivationHop]], seeds: Sequence[Mapping[str, float]]
) -> tuple[ActivationRound, ...]:
    """Each pass as one round: its seeds, then the most active facts that it reached."""
    rounds = []
    for number, (pass_hops, pass_seeds) in enumerate(zip(hops, seeds, strict=True)):
        reached = {id: hop.energy for id, hop in pass_hops.items()}
        steps = _order_steps(pass_seeds) + _order_steps(reached)
        rounds.append(ActivationRound(number, steps[:MAX_RECORDED_FACTS]))
    return tuple(rounds)


def _order_steps(active: Mapping[str, float]) -> tuple[ActivationStep, ...]:
    strongest = sorted(active.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(ActivationStep(id, activation, False, False) for id, activation in strongest)


def _leads_to_weaker(seeds: Mapping[str, float], hop: ActivationHop) -> bool:
    """Whether the target of a hop is no seed, or a weaker seed than its source."""
    return hop.target not in seeds or seeds.get(hop.source, 0.0) > seeds[hop.target]


def seed_json(seed: SeedExploration) -> dict[str, Any]:
    """The exploration of a seed as JSON values."""
    return {
        "seed": seed.seed,
        "energy": seed.energy,
        "status": seed.status,
        "reason": seed.reason,
        "paths": [
            {
                "ids": list(path.ids),
                "energies": list(path.energies),
                "links": [hop_json(hop) for hop in seed.hops_of(path)],
                "end": path.end,
            }
            for path in seed.paths
        ],
    }


def hop_json(hop: ActivationHop) -> dict[str, Any]:
    """A hop as JSON values."""
    return {
        "source": hop.source,
        "target": hop.target,
        "kind": hop.kind,
        "weight": hop.weight,
        "confidence": hop.confidence,
        "via": hop.via,
        "energy": hop.energy,
    }


def step_json(step: ActivationStep) -> dict[str, Any]:
    """A fact in a round as JSON values."""
    return {"id": step.id, "activation": step.activation, "inhibited": step.inhibited, "gated": step.gated}
