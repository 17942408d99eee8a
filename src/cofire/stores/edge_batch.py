"""New edges as columns of numbers, readable as single edges. A single edge is a batch of one."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from cofire.model import Edge, EdgeWrite

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class EdgeLabel(NamedTuple):
    """What many edges of a batch have in common."""

    kind: str
    origin: str
    mode: str
    own: bool


class EdgeUse(NamedTuple):
    """How often use strengthened an edge, and when last."""

    co_access_count: int
    strengthened: datetime | None


@dataclass(frozen=True, slots=True)
class EdgeBatch(Sequence[EdgeWrite]):
    """New edges in columns: a dream writes half a million, too many for two objects each.

    `source` and `target` are rows of `ids`, `label` is a row of `labels`. A missing weight or confidence is NaN.
    `tags` and `use` have an entry, by row, only for the edges that have any.
    """

    ids: Sequence[str]
    labels: Sequence[EdgeLabel]
    source: Ints
    target: Ints
    label: Ints
    weight: Floats
    confidence: Floats
    tags: Mapping[int, tuple[str, ...]]
    use: Mapping[int, EdgeUse]

    @classmethod
    def of(cls, edges: Iterable[EdgeWrite]) -> EdgeBatch:
        """Single edges as columns."""
        ids: dict[str, int] = {}
        labels: dict[EdgeLabel, int] = {}
        columns: list[tuple[int, int, int, float, float]] = []
        tags: dict[int, tuple[str, ...]] = {}
        use: dict[int, EdgeUse] = {}
        for row, (edge, mode, own) in enumerate((write.edge, write.mode, write.own) for write in edges):
            source = ids.setdefault(edge.source, len(ids))
            target = ids.setdefault(edge.target, len(ids))
            label = labels.setdefault(EdgeLabel(edge.kind, edge.origin, mode, own), len(labels))
            columns.append((source, target, label, _float_or_nan(edge.weight), _float_or_nan(edge.confidence)))
            if edge.tags:
                tags[row] = edge.tags
            if edge.co_access_count or edge.strengthened is not None:
                use[row] = EdgeUse(edge.co_access_count, edge.strengthened)
        table = np.array(columns, np.float64).reshape(-1, 5)
        source_rows, target_rows, label_rows = table[:, :3].astype(np.int64).T
        return cls(list(ids), list(labels), source_rows, target_rows, label_rows, table[:, 3], table[:, 4], tags, use)

    @classmethod
    def of_one_label(
        cls,
        label: EdgeLabel,
        ids: Sequence[str],
        source: Ints,
        target: Ints,
        *,
        weight: Floats,
        confidence: Floats,
        tags: Mapping[int, tuple[str, ...]],
    ) -> EdgeBatch:
        """Edges that share their kind, origin and mode."""
        return cls(ids, (label,), source, target, np.zeros(len(source), np.int64), weight, confidence, tags, {})

    @classmethod
    def concatenate(cls, batches: Sequence[EdgeBatch]) -> EdgeBatch:
        """Several batches as one, in their order."""
        first_id = np.cumsum([0, *(len(batch.ids) for batch in batches)]).tolist()
        first_label = np.cumsum([0, *(len(batch.labels) for batch in batches)]).tolist()
        first_row = np.cumsum([0, *map(len, batches)]).tolist()
        return cls(
            ids=list(chain.from_iterable(batch.ids for batch in batches)),
            labels=list(chain.from_iterable(batch.labels for batch in batches)),
            source=_join_ints([batch.source for batch in batches], first_id),
            target=_join_ints([batch.target for batch in batches], first_id),
            label=_join_ints([batch.label for batch in batches], first_label),
            weight=np.concatenate([np.zeros(0), *(batch.weight for batch in batches)]),
            confidence=np.concatenate([np.zeros(0), *(batch.confidence for batch in batches)]),
            tags=_join_rows([batch.tags for batch in batches], first_row),
            use=_join_rows([batch.use for batch in batches], first_row),
        )

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[EdgeWrite]:
        return map(self.write_at, range(len(self)))

    @overload
    def __getitem__(self, at: int) -> EdgeWrite: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[EdgeWrite]: ...
    def __getitem__(self, at: Any) -> Any:
        rows = range(len(self))[at]
        return self.write_at(rows) if isinstance(rows, int) else tuple(map(self.write_at, rows))

    def write_at(self, row: int) -> EdgeWrite:
        """One of these edges."""
        label = self.labels[self.label[row]]
        use = self.use.get(row, NO_USE)
        edge = Edge(
            self.ids[self.source[row]],
            self.ids[self.target[row]],
            label.kind,
            _float_or_none(self.weight[row]),
            _float_or_none(self.confidence[row]),
            self.tags.get(row, ()),
            label.origin,
            co_access_count=use.co_access_count,
            strengthened=use.strengthened,
        )
        return EdgeWrite(edge, label.mode, label.own)

    def connected_ids(self) -> set[str]:
        """The facts at the ends."""
        used = np.zeros(len(self.ids), np.bool_)
        used[self.source] = True
        used[self.target] = True
        return {self.ids[row] for row in np.flatnonzero(used).tolist()}


NO_USE = EdgeUse(0, None)


def to_edge_batch(edges: Sequence[EdgeWrite]) -> EdgeBatch:
    """Edges as columns, whether they are already or not."""
    return edges if isinstance(edges, EdgeBatch) else EdgeBatch.of(edges)


def _float_or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _float_or_none(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def _join_ints(columns: Sequence[Ints], first: Sequence[int]) -> Ints:
    shifted = [column + shift for column, shift in zip(columns, first, strict=False)]
    return np.concatenate([np.zeros(0, np.int64), *shifted])


def _join_rows(parts: Sequence[Mapping[int, Any]], first: Sequence[int]) -> dict[int, Any]:
    return {shift + row: value for part, shift in zip(parts, first, strict=False) for row, value in part.items()}


def find_shared_tags(tags: Collection[str], other_tags: Collection[str]) -> tuple[str, ...]:
    """The tags that both facts have, in order."""
    if not tags or not other_tags:
        return ()
    return tuple(sorted({tag for tag in tags if tag in other_tags}))


def find_edge_tags(source: Ints, target: Ints, tags_by_row: Sequence[Collection[str]]) -> dict[int, tuple[str, ...]]:
    """The tags that the facts of an edge share, by the row of the edge; edges without any are left out.

    >>> find_edge_tags(np.array([0, 0]), np.array([1, 2]), [("hot", "tea"), ("tea",), ()])
    {0: ('tea',)}
    """
    is_tagged = np.array([bool(tags) for tags in tags_by_row], np.bool_)
    candidates = np.flatnonzero(is_tagged[source] & is_tagged[target])
    edge_tags = {}
    for row in candidates.tolist():
        shared = find_shared_tags(tags_by_row[source[row]], tags_by_row[target[row]])
        if shared:
            edge_tags[row] = shared
    return edge_tags
