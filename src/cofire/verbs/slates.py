"""Slates: facts that were weighed, as one table. What scoring writes down of each, and how two slates become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.fusion import scaled
from cofire.kernels.weighing import ROWS
from cofire.late import once

Numbers = NDArray[np.float64]
Masks = NDArray[np.bool_]

CHANNELS = ("semantic", "keyword", "entity", "temporal")
# The rows of a table: what each channel scores, what is known before, all of these as they count together, the cosine with what the
# turns around mean and as the model says, the length in words, and 1 where there is a vector to compare.
SEMANTIC, KEYWORD, ENTITY, TEMPORAL, PRIOR, DIRECT, COSINE, RAW, LENGTH, MEANT = range(ROWS)


@dataclass(frozen=True)
class Slate:
    """Facts that were weighed, a column of the table each, and which words of the question each holds. No fact stands there twice.

    `weights` is what each channel counts that is heard at all; `first_rows` has the rows of those that are known already.
    """

    ids: tuple[str, ...]
    table: Numbers
    holds: Masks
    weights: Mapping[str, float]
    first_rows: Mapping[str, int] = field(default_factory=dict)

    @once
    def scores(self) -> dict[str, Numbers]:
        """What every channel scores."""
        return dict(zip(CHANNELS, self.table, strict=False))

    @once
    def gives(self) -> dict[str, Numbers]:
        """What that gives."""
        return {
            **{name: scaled(self.scores[name], weight) for name, weight in self.weights.items()},
            "prior": self._row(PRIOR),
        }

    @property
    def meant(self) -> Masks:
        """Who has a vector to compare. These are heard by their meaning, however little they are like the question; any other channel
        hears those whom it gives something."""
        return self._row(MEANT) > 0

    @property
    def direct(self) -> Numbers:
        """All that the channels and priors give."""
        return self._row(DIRECT)

    @property
    def cosine(self) -> Numbers:
        """How alike question and fact are, with what the turns around the fact mean."""
        return self._row(COSINE)

    @property
    def raw(self) -> Numbers:
        """The same of the fact alone, and not centred."""
        return self._row(RAW)

    @property
    def lengths(self) -> Numbers:
        return self._row(LENGTH)

    @property
    def standing(self) -> Numbers:
        """How far each likeness to the question stands out from chance; 0 where there is no vector."""
        return self._row(SEMANTIC)

    @once
    def rows(self) -> dict[str, int]:
        """The row of each fact."""
        known = len(self.first_rows)
        return {**self.first_rows, **dict(zip(self.ids[known:], count(known), strict=False))}

    def _row(self, number: int) -> Numbers:
        row: Numbers = self.table[number]
        return row


def joined(one: Slate, more: Slate) -> Slate:
    """Two slates as one."""
    table, holds = np.concatenate([one.table, more.table], axis=1), np.concatenate([one.holds, more.holds])
    return Slate(one.ids + more.ids, table, holds, one.weights, one.rows)
