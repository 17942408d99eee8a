"""Requests and results of a spread that a store runs over its own edge arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cofire.algorithms import diffusion, energy, synapse
from cofire.algorithms.conductance import Floats
from cofire.index.native_activation import SynapseRuleStruct
from cofire.index.native_links import DIFFUSION, ENERGY, SYNAPSE, NativeTraversal, TraversalRuleStruct

SpreadingRule = synapse.SynapseRule | diffusion.DiffusionRule | energy.EnergyRule


@dataclass(frozen=True, slots=True)
class TraversalRequest:
    """By which rule, so many rounds, hops or depths, from facts that are each so active, which is more than nothing."""

    rule: SpreadingRule
    depths: int
    active: Floats

    @property
    def manner(self) -> TraversalRuleStruct:
        """The rule as compiled code reads it."""
        rule = self.rule
        if isinstance(rule, synapse.SynapseRule):
            inhibition = math.nan if rule.inhibition is None else rule.inhibition
            said = SynapseRuleStruct(rule.retention, rule.spread, rule.threshold, rule.slope, inhibition, rule.top_m)
            return TraversalRuleStruct(SYNAPSE, self.depths, said)
        if isinstance(rule, diffusion.DiffusionRule):
            shares = {"decay": rule.decay, "damping": rule.damping}
            return TraversalRuleStruct(
                DIFFUSION, self.depths, expanded=rule.expanded, iterations=rule.iterations, **shares
            )
        return TraversalRuleStruct(ENERGY, self.depths, least=rule.threshold, branches=rule.branches)


@dataclass(frozen=True, slots=True)
class TraversalResult:
    """Where a spread came to: the ids of its rows, kinds by number, and all that compiled code told."""

    ids: Sequence[str]
    kinds: Sequence[str]
    told: NativeTraversal
