"""Terrain: the links that were read while activation spread, as arrays over facts in the order of their ids. Asks for the next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking
from cofire.dynamics.conductance import Floats, Ints, Wires
from cofire.graph_asks import Expand
from cofire.spreads import Hop
from cofire.stores.base import Conducting, Expansion

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Terrain:
    """Facts known by now and the links that leave those that were expanded. `degree` is 0 for facts that were not."""

    ids: tuple[str, ...]
    row: Mapping[str, int]
    source: Ints
    target: Ints
    kind: tuple[str, ...]
    weight: Floats
    confidence: Floats
    tags: tuple[frozenset[str], ...]
    via: tuple[str | None, ...]
    degree: Ints

    def placed(self, values: Mapping[str, float]) -> Floats:
        """Values by id as an array over rows, 0 where nothing is said."""
        placed = np.zeros(len(self.ids))
        placed[[self.row[id] for id in values]] = list(values.values())
        return placed

    def named(self, values: Floats) -> dict[str, float]:
        """An array over rows as values by id, those above 0."""
        return {self.ids[row]: float(values[row]) for row in np.flatnonzero(values > 0).tolist()}

    def hop(self, wires: Wires, wire: int, energy: float) -> Hop:
        """What a wire carried, as the strongest of its links."""
        link = int(wires.strongest[wire])
        return Hop(
            self.ids[self.source[link]],
            self.ids[self.target[link]],
            self.kind[link],
            _said(self.weight[link]),
            _said(self.confidence[link]),
            self.via[link],
            energy,
        )


@dataclass(frozen=True)
class Survey:
    """What was read so far: each fact is expanded once."""

    expansions: tuple[Expansion, ...]
    expanded: frozenset[str]


UNSEEN = Survey((), frozenset())


def further(survey: Survey, frontier: Iterable[str], conducting: Conducting) -> Asking[Survey]:
    """Read the links of all the frontier in one ask, but for what was read before."""
    unread = sorted(set(frontier) - survey.expanded)
    if not unread:
        return survey
    found: Expansion = yield Expand(unread, conducting)
    return Survey((*survey.expansions, found), survey.expanded.union(unread))


def mapped(survey: Survey, present: Iterable[str]) -> Terrain:
    """All that was read, with the facts that are present anyway."""
    parts = survey.expansions
    ids = tuple(sorted({*present, *chain.from_iterable(part.ids for part in parts)}))
    row = {id: place for place, id in enumerate(ids)}
    rows = [np.array([row[id] for id in part.ids], np.int64) for part in parts]
    degree = np.zeros(len(ids), np.int64)
    for part, places in zip(parts, rows, strict=True):
        degree[places[: len(part.degree)]] = part.degree
    return Terrain(
        ids,
        row,
        _joined([places[part.source] for part, places in zip(parts, rows, strict=True)], np.int64),
        _joined([places[part.target] for part, places in zip(parts, rows, strict=True)], np.int64),
        tuple(chain.from_iterable(part.kind for part in parts)),
        _joined([part.weight for part in parts], np.float64),
        _joined([part.confidence for part in parts], np.float64),
        tuple(chain.from_iterable(part.tags for part in parts)),
        tuple(chain.from_iterable(part.via for part in parts)),
        degree,
    )


def _joined(parts: Sequence[NDArray[Number]], kind: type[Number]) -> NDArray[Number]:
    return np.concatenate([np.zeros(0, kind), *parts])


def _said(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
