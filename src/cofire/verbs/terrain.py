"""Terrain: the facts that activation has met, a row each in that order, and the wires between them. Asks for the next links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking
from cofire.dynamics.conductance import NO_WIRES, Floats, Ints, Wires
from cofire.graph_asks import Expand
from cofire.spreads import Hop
from cofire.stores.base import Conducting, Expansion

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Links:
    """What leaves facts, between rows of a terrain. `degree` is by row, 0 for facts whose links are not among these."""

    source: Ints
    target: Ints
    weight: Floats
    confidence: Floats
    tags: tuple[frozenset[str], ...]
    degree: Ints


# How well links conduct. All that leave a fact come together, so that each wire is made of links of one reading.
Wiring = Callable[[Links], Wires]


@dataclass(frozen=True)
class Terrain:
    """Facts by row, which of them were expanded, and what was read then."""

    ids: tuple[str, ...]
    expanded: Mask
    kind: tuple[str, ...]
    weight: Floats
    confidence: Floats
    via: tuple[str | None, ...]
    ends: NDArray[np.int64]
    wires: Wires
    wiring: Wiring

    @classmethod
    def of(cls, ids: Iterable[str], wiring: Wiring) -> Terrain:
        """Nothing but these facts."""
        met = tuple(ids)
        unread, nowhere = np.zeros(len(met), np.bool_), np.zeros((2, 0), np.int64)
        return cls(met, unread, (), np.zeros(0), np.zeros(0), (), nowhere, NO_WIRES, wiring)

    def grown(self, found: Expansion) -> Terrain:
        """With the links of facts that were not expanded before."""
        ids = tuple(dict.fromkeys((*self.ids, *found.ids)))
        row = dict(zip(ids, range(len(ids)), strict=True))
        rows = np.fromiter(map(row.__getitem__, found.ids), np.int64, len(found.ids))
        links, expanded = _placed(found, rows, len(ids)), widened(self.expanded, len(ids))
        expanded[rows[: len(found.degree)]] = True
        return Terrain(
            ids,
            expanded,
            self.kind + found.kind,
            np.concatenate([self.weight, found.weight]),
            np.concatenate([self.confidence, found.confidence]),
            self.via + found.via,
            np.concatenate([self.ends, [links.source, links.target]], axis=1),
            _joined(self.wires, self.wiring(links), len(self.kind)),
            self.wiring,
        )

    def named(self, values: Floats) -> dict[str, float]:
        """An array over rows as values by id, those above 0."""
        rows = np.flatnonzero(values > 0)
        return {self.ids[row]: value for row, value in zip(rows.tolist(), values[rows].tolist(), strict=True)}

    def hops(self, links: Ints, energies: Floats) -> list[Hop]:
        """What links carried."""
        ids, kind, via = self.ids, self.kind, self.via
        columns = (links, *self.ends[:, links], self.weight[links], self.confidence[links], energies)
        return [
            Hop(ids[source], ids[target], kind[link], _said(weight), _said(sure), via[link], energy)
            for link, source, target, weight, sure, energy in zip(*(one.tolist() for one in columns), strict=True)
        ]


def further(terrain: Terrain, rows: Ints, conducting: Conducting) -> Asking[Terrain]:
    """Read the links of these facts in one ask, but for those that were read before."""
    unread = sorted({terrain.ids[row] for row in rows[~terrain.expanded[rows]].tolist()})
    if not unread:
        return terrain
    found: Expansion = yield Expand(unread, conducting)
    return terrain.grown(found)


def widened(values: NDArray[Any], rows: int, nothing: float = 0) -> NDArray[Any]:
    """An array with as many rows as there are now, or a matrix with as many columns; the new ones hold nothing."""
    more = np.full((*values.shape[:-1], rows - values.shape[-1]), nothing, values.dtype)
    return np.concatenate([values, more], axis=-1)


def _placed(found: Expansion, rows: Ints, size: int) -> Links:
    degree = np.zeros(size, np.int64)
    degree[rows[: len(found.degree)]] = found.degree
    return Links(rows[found.source], rows[found.target], found.weight, found.confidence, found.tags, degree)


def _joined(known: Wires, more: Wires, before: int) -> Wires:
    """More wires, whose links are numbered from those before on."""
    later = Wires(more.source, more.target, more.conductance, more.strongest + before)
    return Wires(*(np.concatenate(pair) for pair in zip(known.columns, later.columns, strict=True)))


def _said(number: float) -> float | None:
    return None if math.isnan(number) else number
