"""Footpaths: where seeds lead, over names and along stored edges, kept from pass to pass, so that each is asked for once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cofire.stores.base import Expansion, NamePaths

_NO_ROWS, _NO_NUMBERS = np.zeros(0, np.int64), np.zeros(0)


@dataclass(frozen=True)
class Footpaths:
    """The seeds that were asked for, where their names lead, and their stored edges, ask by ask."""

    seeds: frozenset[str]
    paths: NamePaths
    edges: tuple[Expansion, ...] = ()

    def with_those_of(self, seeds: Sequence[str], edges: Expansion, paths: NamePaths) -> Footpaths:
        """These and those of more seeds."""
        every = joined(self.paths, paths) if self.seeds else paths
        return Footpaths(self.seeds.union(seeds), every, (*self.edges, edges))


NOWHERE = Footpaths(
    frozenset(),
    NamePaths(
        (),
        np.zeros(0, np.bool_),
        (),
        _NO_ROWS,
        _NO_ROWS,
        _NO_ROWS,
        _NO_NUMBERS,
        _NO_NUMBERS,
        _NO_ROWS,
        _NO_ROWS,
        _NO_NUMBERS,
        _NO_ROWS,
    ),
)


def joined(known: NamePaths, more: NamePaths) -> NamePaths:
    """Two sets of paths as one; a fact that both know has one row."""
    rows = {id: row for row, id in enumerate(known.ids)}
    moved = np.array([rows.setdefault(id, len(rows)) for id in more.ids], np.int64)
    return NamePaths(
        ids=tuple(rows),
        loose=np.concatenate([known.loose, more.loose[moved >= len(known.ids)]]),
        name=known.name + more.name,
        holder=np.concatenate([known.holder, moved[more.holder]]),
        count=np.concatenate([known.count, more.count]),
        sentences=np.concatenate([known.sentences, more.sentences]),
        own=np.concatenate([known.own, more.own]),
        sure=np.concatenate([known.sure, more.sure]),
        step=np.concatenate([known.step, more.step + len(known.name)]),
        target=np.concatenate([known.target, moved[more.target]]),
        strength=np.concatenate([known.strength, more.strength]),
        there=np.concatenate([known.there, more.there]),
    )


def still_there(paths: NamePaths, weighed: Mapping[str, int]) -> NamePaths:
    """Paths without facts that somebody forgot since they were found."""
    if all(map(weighed.__contains__, paths.ids)):
        return paths
    there = np.array([id in weighed for id in paths.ids], np.bool_)
    moved = np.maximum(0, np.cumsum(there) - 1)
    kept = there[paths.target] & there[paths.holder[paths.step]]
    return replace(
        paths,
        ids=tuple(id for id in paths.ids if id in weighed),
        loose=paths.loose[there],
        holder=moved[paths.holder],
        step=paths.step[kept],
        target=moved[paths.target[kept]],
        strength=paths.strength[kept],
        there=paths.there[kept],
    )
