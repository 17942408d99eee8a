"""Onward: how a store that holds its links in arrays may follow them further by itself, and where it came to. No I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cofire.dynamics import diffusion, energy, synapse
from cofire.dynamics.conductance import Floats
from cofire.kernels.onward import DIFFUSION, ENERGY, SYNAPSE, Manner, Told
from cofire.kernels.spreading import Synapse

Rule = synapse.Rule | diffusion.Rule | energy.Rule


@dataclass(frozen=True, slots=True)
class Onward:
    """By which rule, so many rounds, hops or depths, from facts that are each so active, which is more than nothing."""

    rule: Rule
    depths: int
    active: Floats

    @property
    def manner(self) -> Manner:
        """The rule as compiled code reads it."""
        rule = self.rule
        if isinstance(rule, synapse.Rule):
            inhibition = math.nan if rule.inhibition is None else rule.inhibition
            said = Synapse(rule.retention, rule.spread, rule.threshold, rule.slope, inhibition, rule.top_m)
            return Manner(SYNAPSE, self.depths, said)
        if isinstance(rule, diffusion.Rule):
            shares = {"decay": rule.decay, "damping": rule.damping}
            return Manner(DIFFUSION, self.depths, expanded=rule.expanded, iterations=rule.iterations, **shares)
        return Manner(ENERGY, self.depths, least=rule.threshold, branches=rule.branches)


@dataclass(frozen=True, slots=True)
class Journey:
    """Where a spread came to: the ids of its rows, kinds by number, and all that compiled code told."""

    ids: Sequence[str]
    kinds: Sequence[str]
    told: Told
