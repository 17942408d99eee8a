"""Many new edges as columns of numbers, readable as single edges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from cofire.model import Edge, EdgeWrite

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """New edges of one kind that memory makes for itself, each pair of facts once. Their ends are rows of `ids`; `tags` are by the row
    of an edge, of those that have any. A dream binds half a million, each of which would be two objects and go through many hands."""

    ids: Sequence[str]
    source: Ints
    target: Ints
    kind: str
    weight: Floats
    confidence: Floats
    tags: Mapping[int, tuple[str, ...]]
    origin: str
    mode: str

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[EdgeWrite]:
        return map(self.edge, range(len(self)))

    def edge(self, at: int) -> EdgeWrite:
        ends = self.ids[self.source[at]], self.ids[self.target[at]]
        weight, confidence = float(self.weight[at]), float(self.confidence[at])
        edge = Edge(*ends, self.kind, weight, confidence, self.tags.get(at, ()), self.origin)
        return EdgeWrite(edge, self.mode, own=True)

    def connected(self) -> set[str]:
        """The facts at the ends."""
        used = np.zeros(len(self.ids), np.bool_)
        used[self.source] = used[self.target] = True
        return {self.ids[row] for row in np.flatnonzero(used).tolist()}


class EdgeBatch(Sequence[EdgeWrite]):
    """New edges, most of them in sheaves of different kinds. A store that can writes these as they are."""

    def __init__(self, sheaves: Sequence[EdgeColumns], single: Sequence[EdgeWrite]) -> None:
        self.sheaves, self.single = tuple(sheaves), tuple(single)

    def __len__(self) -> int:
        return sum(map(len, self.sheaves)) + len(self.single)

    def __iter__(self) -> Iterator[EdgeWrite]:
        return chain(*self.sheaves, self.single)

    @overload
    def __getitem__(self, at: int) -> EdgeWrite: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[EdgeWrite]: ...
    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]


def find_shared_tags(some: Collection[str], others: Collection[str]) -> tuple[str, ...]:
    """The tags that both facts have, in order."""
    return tuple(sorted({tag for tag in some if tag in others})) if some and others else ()


def find_edge_tags(source: Ints, target: Ints, held: Sequence[Collection[str]]) -> dict[int, tuple[str, ...]]:
    """By the row of an edge the tags that its facts share, of those that share any. `held` are the tags of facts, by their rows.

    >>> find_edge_tags(np.array([0, 0]), np.array([1, 2]), [("hot", "tea"), ("tea",), ()])
    {0: ('tea',)}
    """
    tagged = np.array([bool(tags) for tags in held], np.bool_)
    both = np.flatnonzero(tagged[source] & tagged[target])
    ends = zip(both.tolist(), source[both].tolist(), target[both].tolist(), strict=True)
    return {at: shared for at, one, other in ends if (shared := find_shared_tags(held[one], held[other]))}


def find_connected_facts(edges: Sequence[EdgeWrite]) -> set[str]:
    """The facts that new edges connect."""
    if isinstance(edges, EdgeBatch):
        return find_connected_facts(edges.single).union(*(sheaf.connected() for sheaf in edges.sheaves))
    return {id for new in edges for id in (new.edge.source, new.edge.target)}
