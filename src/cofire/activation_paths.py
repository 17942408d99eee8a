"""Hops, rounds and energy paths of spreading activation, and the result of explore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

# Facts of one round that are kept for a replay.
MAX_RECORDED_FACTS = 64

PathEnd = Literal["max_depth", "below_threshold", "dead_end", "claimed", "seed_alone"]
SeedStatus = Literal["complete", "seed_not_found", "failed"]


@dataclass(frozen=True, slots=True)
class ActivationHop:
    """A link along which activation came, and how much of it. It leads from `source` to `target`, whichever way it is stored."""

    source: str
    target: str
    kind: str
    weight: float | None
    confidence: float | None
    via: str | None
    energy: float


@dataclass(frozen=True, slots=True)
class ActivationStep:
    """A fact in a round: how active it was, whether stronger ones silenced it, and whether it stayed below the gate."""

    id: str
    activation: float
    inhibited: bool
    gated: bool


@dataclass(frozen=True, slots=True)
class ActivationRound:
    """The strongest facts of a round; round 0 is the seeds."""

    number: int
    steps: tuple[ActivationStep, ...]


@dataclass(frozen=True, slots=True)
class SpreadResult:
    """Where activation came to rest, the strongest first; `hops` is for each fact reached the best link that led there."""

    activation: Mapping[str, float]
    rounds: tuple[ActivationRound, ...]
    hops: Mapping[str, ActivationHop]


@dataclass(frozen=True, slots=True)
class EnergyPath:
    """From a seed to where the energy ended: facts in order, what each had of it, and why it went no further."""

    ids: tuple[str, ...]
    energies: tuple[float, ...]
    end: PathEnd


@dataclass(frozen=True, slots=True)
class SeedTrail:
    """What one seed's energy found: paths, what each fact got of it, and the link that brought it."""

    seed: str
    paths: tuple[EnergyPath, ...]
    energies: Mapping[str, float]
    hops: Mapping[str, ActivationHop]


@dataclass(frozen=True, slots=True)
class SeedExploration:
    """How the exploration of one seed went: complete, seed_not_found or failed, and then the reason."""

    seed: str
    energy: float
    status: SeedStatus
    reason: str = ""
    paths: tuple[EnergyPath, ...] = ()
    energies: Mapping[str, float] = field(default_factory=dict)
    hops: Mapping[str, ActivationHop] = field(default_factory=dict)

    def hops_of(self, path: EnergyPath) -> tuple[ActivationHop, ...]:
        """The links of one of its paths, in order."""
        return tuple(self.hops[id] for id in path.ids[1:])


@dataclass(frozen=True, slots=True)
class ExploreResult:
    """What was explored, seed by seed; and the energy of each fact over all seeds, the most first."""

    seeds: tuple[SeedExploration, ...]
    energy: Mapping[str, float]
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """All facts that got energy, the most first."""
        return tuple(self.energy)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "seeds": [seed_json(seed) for seed in self.seeds],
            "facts": [{"id": id, "energy": energy} for id, energy in self.energy.items()],
            "reason": self.reason,
        }


def trace_path(
    id: str, hops: Sequence[Mapping[str, ActivationHop]], seeds: Sequence[Mapping[str, float]]
) -> tuple[ActivationHop, ...]:
    """The hops to a fact over several passes, in order: back along the best ones, as long as they lead to a stronger seed.

    >>> first = {"b": ActivationHop("a", "b", "about", 1.0, None, "pool", 0.5)}
    >>> second = {"c": ActivationHop("b", "c", "about", 1.0, None, "mode", 0.4)}
    >>> [hop.target for hop in trace_path("c", [first, second], [{"a": 1.0}, {"b": 1.0, "a": 0.9}])]
    ['b', 'c']
    """
    path: list[ActivationHop] = []
    seen = {id}
    for known, started in zip(reversed(hops), reversed(seeds), strict=True):
        while id in known and (hop := known[id]).source not in seen and _leads_to_weaker(started, hop):
            path.append(hop)
            seen.add(hop.source)
            id = hop.source
            if id in started:
                break
    return tuple(reversed(path))


def passes_to_rounds(
    hops: Sequence[Mapping[str, ActivationHop]], seeds: Sequence[Mapping[str, float]]
) -> tuple[ActivationRound, ...]:
    """Passes as rounds of a replay: the seeds of each, and the strongest facts that it reached."""
    return tuple(
        ActivationRound(
            number,
            (*_order_steps(started), *_order_steps({id: hop.energy for id, hop in led.items()}))[:MAX_RECORDED_FACTS],
        )
        for number, (led, started) in enumerate(zip(hops, seeds, strict=True))
    )


def _order_steps(active: Mapping[str, float]) -> tuple[ActivationStep, ...]:
    strongest = sorted(active.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(ActivationStep(id, activation, False, False) for id, activation in strongest)


def _leads_to_weaker(seeds: Mapping[str, float], hop: ActivationHop) -> bool:
    """Whether a hop leads from the stronger to the weaker: a seed is explained only by one that counts more."""
    return hop.target not in seeds or seeds.get(hop.source, 0.0) > seeds[hop.target]


def seed_json(seed: SeedExploration) -> dict[str, Any]:
    """The exploration of a seed as plain values."""
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
    """A link along which activation came, as plain values."""
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
    """A fact in a round, as plain values."""
    return {"id": step.id, "activation": step.activation, "inhibited": step.inhibited, "gated": step.gated}
