"""Weaving: from pairs that may belong together to the edges that are written. Pure; a dream asks, this decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import affinity
from cofire.dynamics.affinity import Weights
from cofire.dynamics.capping import Capping, Tie, capped
from cofire.graph_settings import (
    CROSS_CATEGORY,
    DEGREE_CAP,
    EDGE_SCORE_THRESHOLD,
    MINIMUM_COSINE,
    SEMANTIC_EDGES,
    SEMANTIC_FLOOR,
    SEMANTIC_MOST,
    SIGMA_HOURS,
    SIMILAR_EDGES,
    WEIGHT_CATEGORY,
    WEIGHT_COSINE,
    WEIGHT_TAGS,
    WEIGHT_TEMPORAL,
)
from cofire.model import Edge, NewEdge
from cofire.settings import Settings
from cofire.stores.base import Kin, Profile

# Which held edges count for the cap of a kind, and which of them give way to a better one, in this order.
COUNTED = {"similar": ("similar", "co_occurs", "bridge"), "semantic": ("semantic",)}
ORIGINS = {"similar": "similarity", "semantic": "neighbours"}
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Woven:
    """Edges to write and edges to take away."""

    edges: tuple[NewEdge, ...]
    ended: tuple[Edge, ...]


def weave(kin: Kin, profiles: Mapping[str, Profile], held: Iterable[Edge], settings: Settings) -> Woven:
    """Score the pairs, and let those that score enough find their places under the degree cap."""
    known = list(held)
    parts = [
        _placed("similar", similar_ties(kin, profiles, settings), known, settings) if settings[SIMILAR_EDGES] else None,
        _placed("semantic", semantic_ties(kin, settings), known, settings) if settings[SEMANTIC_EDGES] else None,
    ]
    changes = [part for part in parts if part is not None]
    written = [tie for change in changes for tie in (*change.written, *change.refreshed)]
    displaced = [tie for change in changes for tie in change.displaced]
    return Woven(
        tuple(NewEdge(_edge(tie, profiles), "update", own=True) for tie in written),
        tuple(Edge(*tie.pair, tie.kind) for tie in displaced),
    )


def similar_ties(kin: Kin, profiles: Mapping[str, Profile], settings: Settings) -> list[Tie]:
    """Pairs whose composite edge score reaches the threshold (002 §2)."""
    left, right, cosines = _once(kin)
    rows = [profiles.get(id) for id in kin.ids]
    known = np.array([row is not None for row in rows], dtype=np.bool_)
    kept = known[left] & known[right] & (cosines >= settings[MINIMUM_COSINE])
    left, right, cosines = left[kept], right[kept], cosines[kept]
    scores = edge_scores(rows, left, right, cosines, settings)
    good = np.flatnonzero(scores >= settings[EDGE_SCORE_THRESHOLD])
    return [_tie("similar", kin.ids, int(left[at]), int(right[at]), float(scores[at])) for at in good]


def edge_scores(
    rows: Sequence[Profile | None],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    cosines: NDArray[np.float32],
    settings: Settings,
) -> NDArray[np.float64]:
    """The composite edge score of pairs of rows."""
    hours = np.array([row.hours if row else 0.0 for row in rows])
    names = {
        category: number
        for number, category in enumerate(sorted({(row.category or "") if row else "" for row in rows}))
    }
    category = np.array([names[(row.category or "") if row else ""] for row in rows])
    return affinity.composite_scores(
        cosine=cosines.astype(np.float64),
        tags=_shared_tags(rows, left, right),
        category=affinity.category_matches(category[left], category[right], cross=settings[CROSS_CATEGORY]),
        temporal=affinity.temporal_proximities(hours[left], hours[right], sigma=settings[SIGMA_HOURS]),
        weights=Weights(
            settings[WEIGHT_COSINE], settings[WEIGHT_TAGS], settings[WEIGHT_CATEGORY], settings[WEIGHT_TEMPORAL]
        ),
        guard=settings[MINIMUM_COSINE],
    )


def semantic_ties(kin: Kin, settings: Settings) -> list[Tie]:
    """Each fact with its few nearest, where they are near at all."""
    order = np.lexsort((-kin.cosines, kin.left))
    left = kin.left[order]
    nth = np.arange(len(left)) - np.searchsorted(left, left)
    chosen = order[(nth < settings[SEMANTIC_MOST]) & (kin.cosines[order] >= settings[SEMANTIC_FLOOR])]
    ties = {
        tie.pair: tie
        for at in chosen
        for tie in [_tie("semantic", kin.ids, int(kin.left[at]), int(kin.right[at]), float(kin.cosines[at]))]
    }
    return list(ties.values())


def _placed(kind: str, candidates: list[Tie], held: Sequence[Edge], settings: Settings) -> Capping:
    counted = [
        Tie(
            edge.kind,
            (min(edge.source, edge.target), max(edge.source, edge.target)),
            edge.weight or 0.0,
            edge.origin == "user",
        )
        for edge in held
        if edge.kind in COUNTED[kind] or (kind == "similar" and edge.origin == "user")
    ]
    return capped(counted, candidates, cap=settings[DEGREE_CAP], displaceable=COUNTED[kind])


def _once(kin: Kin) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Each pair once, whichever side found it."""
    low, high = np.minimum(kin.left, kin.right), np.maximum(kin.left, kin.right)
    _, first = np.unique(low * max(1, len(kin.ids)) + high, return_index=True)
    return low[first], high[first], kin.cosines[first]


def _shared_tags(
    rows: Sequence[Profile | None], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    tagged = np.array([bool(row and row.tags) for row in rows], dtype=np.bool_)
    shared = np.zeros(len(left))
    for at in np.flatnonzero(tagged[left] & tagged[right]):
        first, second = rows[left[at]], rows[right[at]]
        shared[at] = affinity.jaccard(first.tags if first else (), second.tags if second else ())
    return shared


def _tie(kind: str, ids: Sequence[str], a: int, b: int, weight: float) -> Tie:
    return Tie(kind, (min(ids[a], ids[b]), max(ids[a], ids[b])), round(min(1.0, weight), DECIMALS))


def _edge(tie: Tie, profiles: Mapping[str, Profile]) -> Edge:
    first, second = (profiles.get(id) for id in tie.pair)
    tags = tuple(sorted(first.tags & second.tags)) if first and second else ()
    confidence = max(0.0, tie.weight) if tie.kind == "semantic" else 1.0
    return Edge(*tie.pair, tie.kind, tie.weight, confidence, tags, ORIGINS[tie.kind])
