"""SYNAPSE: rounds of spreading activation with lateral inhibition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import strongest_rows
from cofire.algorithms.conductance import ConductanceEdges, Floats, Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SynapseRule:
    """The constants of a round: `retention` δ, `spread` S and `threshold` θ of 000, `slope` γ of the paper (1 in 000).

    `inhibition` is β of the paper. None is the hard cut of 000: only the `top_m` (M) strongest facts stay active.
    """

    retention: float
    spread: float
    threshold: float
    slope: float
    top_m: int
    inhibition: float | None


@dataclass(frozen=True, slots=True)
class SynapseRound:
    """The result of a round: `arriving` is the sum at each row, `passed` the activation along each edge.

    `inhibited` marks the rows that inhibition reduced to 0.
    """

    activation: Floats
    arriving: Floats
    passed: Floats
    inhibited: Mask


def run_synapse_round(
    activation: Floats, edges: ConductanceEdges, rule: SynapseRule, ties: Sequence[str]
) -> SynapseRound:
    """One round (000 steps 2 to 4; the SYNAPSE paper, arXiv 2601.02744).

    uᵢ = δ·aᵢ + S·Σⱼ cⱼᵢ·aⱼ, then inhibition, then aᵢ = σ(γ·(ûᵢ − θ)). Rows without activation
    and inhibited rows are at 0. Of equals the smaller of `ties` stays. The chain A–B–C of weight 1 with A at .8, after three rounds:

    >>> source, target = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    >>> chain = ConductanceEdges(source, target, np.array([1.0, 0.5, 0.5, 1.0]), np.arange(4))
    >>> page = SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=7, inhibition=None)
    >>> activation = np.array([0.8, 0.0, 0.0])
    >>> for _ in range(3):
    ...     activation = run_synapse_round(activation, chain, page, "ABC").activation
    >>> activation.round(4).tolist()
    [0.4897, 0.6229, 0.4823]
    """
    passed = rule.spread * activation[edges.source] * edges.conductance
    received = np.bincount(edges.target, weights=passed, minlength=len(activation))
    arriving = rule.retention * activation + received
    top = strongest_rows(arriving, ties, rule.top_m)
    left = _cut_to_top(arriving, top) if rule.inhibition is None else _inhibit(arriving, top, rule.inhibition)
    squashed = np.where(left > 0, 1 / (1 + np.exp(-rule.slope * (left - rule.threshold))), 0.0)
    return SynapseRound(squashed, arriving, passed, (arriving > 0) & (left <= 0))


def _cut_to_top(arriving: Floats, top: Ints) -> Floats:
    """The lateral inhibition of 000: only the strongest rows stay."""
    left = np.zeros_like(arriving)
    left[top] = arriving[top]
    return left


def _inhibit(arriving: Floats, top: Ints, inhibition: float) -> Floats:
    """The lateral inhibition of the paper: ûᵢ = max(0, uᵢ − β·Σ_{k ∈ top M} max(0, uₖ − uᵢ))."""
    above = np.maximum(arriving[top][:, None] - arriving[None, :], 0.0).sum(axis=0)
    left: Floats = np.maximum(arriving - inhibition * above, 0.0)
    return left


def has_sufficient_activation(activation: Sequence[float] | Floats, *, tau: float) -> bool:
    """The feeling of knowing (000 step 5): whether any fact is active enough.

    >>> has_sufficient_activation(np.array([0.05, 0.3]), tau=0.12), has_sufficient_activation(np.array([]), tau=0.12)
    (True, False)
    """
    return len(activation) > 0 and float(np.max(activation)) >= tau


def hybrid_score(
    similarity: Floats, activation: Floats, importance: Floats, *, weights: tuple[float, float, float]
) -> Floats:
    """The rank of the paper: .5·similarity + .3·activation + .2·PageRank.

    >>> hybrid_score(np.array([0.8]), np.array([0.6]), np.array([0.1]), weights=(0.5, 0.3, 0.2)).round(4).tolist()
    [0.6]
    """
    return weights[0] * similarity + weights[1] * activation + weights[2] * importance
