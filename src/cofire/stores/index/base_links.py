"""Base links: the stored links of a store in order, as of some moment, and which of them are wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofire.stores.index.columns import Mask
from cofire.stores.index.halves import Halves, Numbers, Places


@dataclass(frozen=True, slots=True)
class Sieve:
    """Which links are wanted: to facts that are admitted, of kinds by number (None for all), of at least so many millionths of
    confidence where any was said, and at most so many a fact. `places` are the positions of facts by key."""

    places: Numbers
    admitted: Mask
    kinds: Mask | None
    floor: int
    most: int

    def passing(self, neighbour: Numbers, code: Numbers, confidence: Numbers) -> Mask:
        passing = self.admitted[self.places[neighbour]]
        if self.floor > 0:
            passing &= (confidence < 0) | (confidence >= self.floor)
        if self.kinds is not None:
            passing &= self.kinds[code >> 1]
        return passing


@dataclass(frozen=True, slots=True)
class Base:
    """All links as of some moment: those of a fact stand from `starts[key]` to `starts[key + 1]`. Few have tags: `tagged` says
    which, `tags` which ones."""

    starts: Places
    neighbour: Numbers
    code: Numbers
    weight: Numbers
    confidence: Numbers
    tagged: Places
    tags: Numbers

    def tags_at(self, rows: Places) -> Numbers:
        if not len(self.tagged):
            return np.zeros(len(rows), np.int32)
        at = np.minimum(np.searchsorted(self.tagged, rows), len(self.tagged) - 1)
        return np.where(self.tagged[at] == rows, self.tags[at], 0).astype(np.int32)

    def halves_at(self, owner: Numbers, rows: Places) -> Halves:
        said = self.weight[rows], self.confidence[rows], self.tags_at(rows)
        return Halves(owner, self.neighbour[rows], self.code[rows], *said)
