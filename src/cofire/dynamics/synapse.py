"""SYNAPSE: activation spreads from facts to their neighbours, round by round, and the strongest keep the others down. No I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.conductance import Floats, Ints, Wires
from cofire.dynamics.runs import DECIMALS, strongest
from cofire.kernels import spreading as compiled
from cofire.kernels.library import LIBRARY

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a round goes. `retention` is δ of 000, `spread` S, `threshold` θ, `slope` γ of the paper (1 on the page).

    `inhibition` is the paper's β; None cuts hard, as the page does, so that `top_m` (M) facts are left.
    """

    retention: float
    spread: float
    threshold: float
    slope: float
    top_m: int
    inhibition: float | None


@dataclass(frozen=True, slots=True)
class Round:
    """What a round did: `arriving` is what came together at each row, `passed` what went along each wire, `inhibited` tells what
    stronger rows silenced."""

    activation: Floats
    arriving: Floats
    passed: Floats
    inhibited: Mask


def step(activation: Floats, wires: Wires, rule: Rule, ties: Sequence[str] | Sequence[int]) -> Round:
    """One round (000 steps 2 to 4; the SYNAPSE paper, arXiv 2601.02744).

    uᵢ = δ·aᵢ + S·Σⱼ cⱼᵢ·aⱼ, then inhibition, then aᵢ = σ(γ·(ûᵢ − θ)); what nothing reached, and what was silenced, is at 0.
    Of equals the smaller of `ties` survive, which are by row. The chain A–B–C of weight 1 with A at .8, after three rounds:

    >>> source, target = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    >>> chain = Wires(source, target, np.array([1.0, 0.5, 0.5, 1.0]), np.arange(4))
    >>> page = Rule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
    >>> rounds = spread(np.array([0.8, 0.0, 0.0]), chain, page, rounds=3)
    >>> rounds[-1].activation.round(4).tolist()
    [0.4897, 0.6229, 0.4823]
    """
    if LIBRARY is None:
        return step_in_numpy(activation, wires, rule, ties)
    inhibition = math.nan if rule.inhibition is None else rule.inhibition
    said = rule.retention, rule.spread, rule.threshold, rule.slope, inhibition, rule.top_m
    return Round(*compiled.synapse_round(wires.in_c, activation, said, ties))


def step_in_numpy(activation: Floats, wires: Wires, rule: Rule, ties: Sequence[str] | Sequence[int]) -> Round:
    """The same where there is no compiled code."""
    giving, conductance = activation[wires.source], wires.conductance
    together = np.bincount(wires.target, weights=giving * conductance, minlength=len(activation))
    arriving = rule.retention * activation + rule.spread * together
    top = strongest(arriving, ties, rule.top_m)
    left = _cut(arriving, top) if rule.inhibition is None else _held_back(arriving, top, rule.inhibition)
    following = np.where(left > 0, 1 / (1 + np.exp(-rule.slope * (left - rule.threshold))), 0.0)
    return Round(following, arriving, rule.spread * giving * conductance, (arriving > 0) & (left <= 0))


def spread(activation: Floats, wires: Wires, rule: Rule, *, rounds: int) -> list[Round]:
    """Round after round along wires that are all known."""
    done: list[Round] = []
    for _ in range(rounds):
        done.append(step(done[-1].activation if done else activation, wires, rule, range(len(activation))))
    return done


def gate(activation: Sequence[float] | Floats, *, tau: float) -> bool:
    """The feeling of knowing (000 step 5): whether anything is active enough to speak of it.

    >>> gate(np.array([0.05, 0.3]), tau=0.12), gate(np.array([]), tau=0.12)
    (True, False)
    """
    return len(activation) > 0 and float(np.max(activation)) >= tau


def hybrid(
    similarity: Floats, activation: Floats, importance: Floats, *, weights: tuple[float, float, float]
) -> Floats:
    """The paper's rank: .5·similarity + .3·activation + .2·PageRank.

    >>> hybrid(np.array([0.8]), np.array([0.6]), np.array([0.1]), weights=(0.5, 0.3, 0.2)).round(4).tolist()
    [0.6]
    """
    return weights[0] * similarity + weights[1] * activation + weights[2] * importance


def spread_plainly(
    graph: Mapping[str, Mapping[str, float]], seeds: Mapping[str, float], rule: Rule, *, rounds: int
) -> dict[str, float]:
    """The same, fact by fact, on the weights of a graph: the definition that `step` must agree with.

    >>> chain = {"A": {"B": 1.0}, "B": {"A": 1.0, "C": 1.0}, "C": {"B": 1.0}}
    >>> page = Rule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
    >>> {id: round(a, 4) for id, a in spread_plainly(chain, {"A": 0.01}, page, rounds=3).items()}
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
        left = _left_plainly(arriving, rule)
        active = {id: 1 / (1 + math.exp(-rule.slope * (u - rule.threshold))) for id, u in sorted(left.items()) if u > 0}
    return active


def _left_plainly(arriving: Mapping[str, float], rule: Rule) -> dict[str, float]:
    top = sorted(arriving, key=lambda id: (-round(arriving[id], DECIMALS), id))[: rule.top_m]
    if rule.inhibition is None:
        return {id: arriving[id] for id in top}
    return {
        id: u - rule.inhibition * sum(arriving[other] - u for other in top if arriving[other] > u)
        for id, u in arriving.items()
    }


def _cut(arriving: Floats, top: Ints) -> Floats:
    """The page's lateral inhibition: only the strongest are left."""
    left = np.zeros_like(arriving)
    left[top] = arriving[top]
    return left


def _held_back(arriving: Floats, top: Ints, inhibition: float) -> Floats:
    """The paper's: ûᵢ = max(0, uᵢ − β·Σ_{k ∈ top M} max(0, uₖ − uᵢ))."""
    above = np.maximum(arriving[top][:, None] - arriving[None, :], 0.0).sum(axis=0)
    left: Floats = np.maximum(arriving - inhibition * above, 0.0)
    return left
