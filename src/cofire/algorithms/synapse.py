"""SYNAPSE: rounds of spreading activation with lateral inhibition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import TIE_DECIMALS, strongest_rows
from cofire.algorithms.conductance import ConductanceEdges, Floats, Ints
from cofire.index import native_activation as compiled
from cofire.index.native import LIBRARY

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SynapseRule:
    """How a round goes. `retention` is δ of 000, `run_synapse_rounds` S, `threshold` θ, `slope` γ of the paper (1 on the page).

    `inhibition` is the paper's β; None cuts hard, as the page does, so that `top_m` (M) facts are left.
    """

    retention: float
    spread: float
    threshold: float
    slope: float
    top_m: int
    inhibition: float | None


@dataclass(frozen=True, slots=True)
class SynapseRound:
    """What a round did: `arriving` is what came together at each row, `passed` what went along each wire, `inhibited` tells what
    stronger rows silenced."""

    activation: Floats
    arriving: Floats
    passed: Floats
    inhibited: Mask


def run_synapse_round(
    activation: Floats, wires: ConductanceEdges, rule: SynapseRule, ties: Sequence[str] | Sequence[int]
) -> SynapseRound:
    """One round (000 steps 2 to 4; the SYNAPSE paper, arXiv 2601.02744).

    uᵢ = δ·aᵢ + S·Σⱼ cⱼᵢ·aⱼ, then inhibition, then aᵢ = σ(γ·(ûᵢ − θ)); what nothing reached, and what was silenced, is at 0.
    Of equals the smaller of `ties` survive, which are by row. The chain A–B–C of weight 1 with A at .8, after three rounds:

    >>> source, target = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    >>> chain = ConductanceEdges(source, target, np.array([1.0, 0.5, 0.5, 1.0]), np.arange(4))
    >>> page = SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
    >>> rounds = run_synapse_rounds(np.array([0.8, 0.0, 0.0]), chain, page, rounds=3)
    >>> rounds[-1].activation.round(4).tolist()
    [0.4897, 0.6229, 0.4823]
    """
    if LIBRARY is None:
        return run_synapse_round_numpy(activation, wires, rule, ties)
    inhibition = math.nan if rule.inhibition is None else rule.inhibition
    said = rule.retention, rule.spread, rule.threshold, rule.slope, inhibition, rule.top_m
    return SynapseRound(*compiled.run_synapse_round(wires.in_c, activation, said, ties))


def run_synapse_round_numpy(
    activation: Floats, wires: ConductanceEdges, rule: SynapseRule, ties: Sequence[str] | Sequence[int]
) -> SynapseRound:
    """The same where there is no compiled code."""
    giving, conductance = activation[wires.source], wires.conductance
    together = np.bincount(wires.target, weights=giving * conductance, minlength=len(activation))
    arriving = rule.retention * activation + rule.spread * together
    top = strongest_rows(arriving, ties, rule.top_m)
    left = _inhibit_hard(arriving, top) if rule.inhibition is None else _inhibit_softly(arriving, top, rule.inhibition)
    following = np.where(left > 0, 1 / (1 + np.exp(-rule.slope * (left - rule.threshold))), 0.0)
    return SynapseRound(following, arriving, rule.spread * giving * conductance, (arriving > 0) & (left <= 0))


def run_synapse_rounds(
    activation: Floats, wires: ConductanceEdges, rule: SynapseRule, *, rounds: int
) -> list[SynapseRound]:
    """Round after round along wires that are all known."""
    done: list[SynapseRound] = []
    for _ in range(rounds):
        done.append(run_synapse_round(done[-1].activation if done else activation, wires, rule, range(len(activation))))
    return done


def has_sufficient_activation(activation: Sequence[float] | Floats, *, tau: float) -> bool:
    """The feeling of knowing (000 step 5): whether anything is active enough to speak of it.

    >>> has_sufficient_activation(np.array([0.05, 0.3]), tau=0.12), has_sufficient_activation(np.array([]), tau=0.12)
    (True, False)
    """
    return len(activation) > 0 and float(np.max(activation)) >= tau


def hybrid_score(
    similarity: Floats, activation: Floats, importance: Floats, *, weights: tuple[float, float, float]
) -> Floats:
    """The paper's rank: .5·similarity + .3·activation + .2·PageRank.

    >>> hybrid_score(np.array([0.8]), np.array([0.6]), np.array([0.1]), weights=(0.5, 0.3, 0.2)).round(4).tolist()
    [0.6]
    """
    return weights[0] * similarity + weights[1] * activation + weights[2] * importance


def run_synapse_rounds_reference(
    graph: Mapping[str, Mapping[str, float]], seeds: Mapping[str, float], rule: SynapseRule, *, rounds: int
) -> dict[str, float]:
    """The same, fact by fact, on the weights of a graph: the definition that `run_synapse_round` must agree with.

    >>> chain = {"A": {"B": 1.0}, "B": {"A": 1.0, "C": 1.0}, "C": {"B": 1.0}}
    >>> page = SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
    >>> {id: round(a, 4) for id, a in run_synapse_rounds_reference(chain, {"A": 0.01}, page, rounds=3).items()}
    {'A': 0.4824, 'B': 0.6103, 'C': 0.4766}
    """
    active = dict(sorted(seeds.items()))
    for _ in range(rounds):
        passed: dict[str, float] = {}
        for giver, a in active.items():
            for taker, weight in graph.get(giver, {}).items():
                passed[taker] = passed.get(taker, 0.0) + a * (weight / len(graph[giver]))
        arriving = {
            id: rule.retention * active.get(id, 0.0) + rule.spread * passed.get(id, 0.0) for id in {*active, *passed}
        }
        left = _inhibit_reference(arriving, rule)
        active = {id: 1 / (1 + math.exp(-rule.slope * (u - rule.threshold))) for id, u in sorted(left.items()) if u > 0}
    return active


def _inhibit_reference(arriving: Mapping[str, float], rule: SynapseRule) -> dict[str, float]:
    top = sorted(arriving, key=lambda id: (-round(arriving[id], TIE_DECIMALS), id))[: rule.top_m]
    if rule.inhibition is None:
        return {id: arriving[id] for id in top}
    return {
        id: u - rule.inhibition * sum(arriving[other] - u for other in top if arriving[other] > u)
        for id, u in arriving.items()
    }


def _inhibit_hard(arriving: Floats, top: Ints) -> Floats:
    """The page's lateral inhibition: only the strongest are left."""
    left = np.zeros_like(arriving)
    left[top] = arriving[top]
    return left


def _inhibit_softly(arriving: Floats, top: Ints, inhibition: float) -> Floats:
    """The paper's: ûᵢ = max(0, uᵢ − β·Σ_{k ∈ top M} max(0, uₖ − uᵢ))."""
    above = np.maximum(arriving[top][:, None] - arriving[None, :], 0.0).sum(axis=0)
    left: Floats = np.maximum(arriving - inhibition * above, 0.0)
    return left
