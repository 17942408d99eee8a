"""Onward: a spread that a store followed to its end by itself, told like one that asked for links once a depth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.conductance import Floats, Ints
from cofire.dynamics.onward import Journey
from cofire.late import ids_at
from cofire.verbs.terrain import Link, said

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Chart:
    """What a journey has met: facts and the links between them."""

    journey: Journey

    @cached_property
    def _ways(self) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        return self.journey.told.ways

    def spelled(self, rows: Ints) -> list[str]:
        """The ids of some rows."""
        return ids_at(self.journey.ids, rows)

    def link(self, number: int) -> Link:
        """From whom a link leads to whom, its kind, weight and confidence; stored links go through nothing."""
        source, target, code, weight, confidence = self._ways
        ids, kind = self.journey.ids, self.journey.kinds[code.item(number) >> 1]
        ends = ids[source.item(number)], ids[target.item(number)]
        return *ends, kind, said(weight.item(number)), said(confidence.item(number)), None


def activation(journey: Journey) -> dict[str, float]:
    """What is active at the end, the strongest first."""
    told = journey.told
    return dict(zip(ids_at(journey.ids, told.rows), told.activation.tolist(), strict=True))


def round_of(journey: Journey, number: int) -> tuple[Floats, Mask]:
    """How active rows were in a round, and who was silenced."""
    active, silenced = journey.told.rounds[:, journey.told.ends[number - 1] : journey.told.ends[number]]
    return active.view(np.float64), silenced.astype(np.bool_)
