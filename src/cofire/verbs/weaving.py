"""Weaving: from pairs that may belong together to the edges that are written. Pure; a dream asks, this decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import affinity
from cofire.dynamics.affinity import Weights
from cofire.dynamics.capping import Capping, Offers, Tie, capped
from cofire.dynamics.ordering import downwards, first_of_each, in_order, nth_of_each
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
from cofire.sheaves import Floats, Ints, Sheaf, shared_tags, tags_of_edges
from cofire.stores.base import Kin, Profile

# Which held edges count for the cap of a kind, and which of them give way to a better one, in this order.
COUNTED = {"similar": ("similar", "co_occurs", "bridge"), "semantic": ("semantic",)}
ORIGINS = {"similar": "similarity", "semantic": "neighbours"}
MODE = "update"
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Woven:
    """Edges to write, those that are held already to be written with a new weight, and edges to take away."""

    sheaves: tuple[Sheaf, ...]
    refreshed: tuple[NewEdge, ...]
    ended: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Cloth:
    """Pairs of kin by numbers: those of their ids, in order, and what is known of each."""

    ids: list[str]
    profiles: list[Profile | None]
    left: Ints
    right: Ints
    cosines: NDArray[np.float32]

    @classmethod
    def of(cls, kin: Kin, profiles: Mapping[str, Profile], held: Iterable[Edge]) -> Cloth:
        rows = kin.rows
        used = [kin.ids[row] for row in rows.tolist()]
        ids = sorted({*used, *(id for edge in held for id in (edge.source, edge.target))})
        number = {id: at for at, id in enumerate(ids)}
        numbers = np.zeros(len(kin.ids), np.int64)
        numbers[rows] = [number[id] for id in used]
        return cls(ids, [profiles.get(id) for id in ids], numbers[kin.left], numbers[kin.right], kin.cosines)

    def tags_at(self, number: int) -> frozenset[str]:
        profile = self.profiles[number]
        return profile.tags if profile else frozenset()


def weave(kin: Kin, profiles: Mapping[str, Profile], held: Iterable[Edge], settings: Settings) -> Woven:
    """Score the pairs, and let those that score enough find their places under the degree cap."""
    known = list(held)
    cloth = Cloth.of(kin, profiles, known)
    offers = [
        similar_offers(cloth, settings) if settings[SIMILAR_EDGES] else None,
        semantic_offers(cloth, settings) if settings[SEMANTIC_EDGES] else None,
    ]
    changes = [_placed(one, cloth, known, settings) for one in offers if one is not None]
    displaced = [tie for change in changes for tie in change.displaced]
    return Woven(
        tuple(_sheaf(change.written, cloth) for change in changes),
        tuple(NewEdge(_edge(cloth, tie), MODE, own=True) for change in changes for tie in change.refreshed),
        tuple(Edge(cloth.ids[tie.pair[0]], cloth.ids[tie.pair[1]], tie.kind) for tie in displaced),
    )


def similar_offers(cloth: Cloth, settings: Settings) -> Offers:
    """Pairs whose composite edge score reaches the threshold (002 §2)."""
    left, right, cosines = _once(cloth)
    known = np.array([row is not None for row in cloth.profiles], dtype=np.bool_)
    kept = known[left] & known[right] & (cosines >= settings[MINIMUM_COSINE])
    left, right, cosines = left[kept], right[kept], cosines[kept]
    scores = edge_scores(cloth.profiles, left, right, cosines, settings)
    good = scores >= settings[EDGE_SCORE_THRESHOLD]
    return Offers.of("similar", (left[good], right[good]), _weights(scores[good]))


def edge_scores(
    rows: Sequence[Profile | None], left: Ints, right: Ints, cosines: NDArray[np.float32], settings: Settings
) -> Floats:
    """The composite edge score of pairs of rows."""
    hours = np.array([row.hours if row else 0.0 for row in rows])
    names = {
        category: number
        for number, category in enumerate(sorted({(row.category or "") if row else "" for row in rows}))
    }
    category = np.array([names[(row.category or "") if row else ""] for row in rows])
    return affinity.composite_scores(
        cosine=cosines.astype(np.float64),
        tags=affinity.jaccards([row.tags if row else () for row in rows], left, right),
        category=affinity.category_matches(category[left], category[right], cross=settings[CROSS_CATEGORY]),
        temporal=affinity.temporal_proximities(hours[left], hours[right], sigma=settings[SIGMA_HOURS]),
        weights=Weights(
            settings[WEIGHT_COSINE], settings[WEIGHT_TAGS], settings[WEIGHT_CATEGORY], settings[WEIGHT_TEMPORAL]
        ),
        guard=settings[MINIMUM_COSINE],
    )


def semantic_offers(cloth: Cloth, settings: Settings) -> Offers:
    """Each fact with its few nearest, where they are near at all."""
    near = np.flatnonzero(cloth.cosines >= settings[SEMANTIC_FLOOR])
    order = near[in_order(cloth.left[near], downwards(cloth.cosines[near]))]
    chosen = order[nth_of_each(cloth.left[order]) < settings[SEMANTIC_MOST]]
    # Two that chose each other are offered as the later one saw it: their cosines may differ in the last bit.
    last = chosen[::-1]
    return Offers.of(
        "semantic", (cloth.left[last], cloth.right[last]), _weights(cloth.cosines[last].astype(np.float64))
    )


def _placed(offers: Offers, cloth: Cloth, held: Sequence[Edge], settings: Settings) -> Capping:
    kinds = COUNTED[offers.kind]
    counted = [edge for edge in held if edge.kind in kinds or (offers.kind == "similar" and edge.origin == "user")]
    number = {id: at for at, id in enumerate(cloth.ids)} if counted else {}
    ties = [
        Tie(edge.kind, (min(ends), max(ends)), edge.weight or 0.0, edge.origin == "user")
        for edge in counted
        for ends in [(number[edge.source], number[edge.target])]
    ]
    return capped(ties, offers, cap=settings[DEGREE_CAP], displaceable=kinds)


def _once(cloth: Cloth) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Each pair once, whichever side found it."""
    low, high = np.minimum(cloth.left, cloth.right), np.maximum(cloth.left, cloth.right)
    first = first_of_each(low, high)
    return low[first], high[first], cloth.cosines[first]


def _weights(scores: Floats) -> Floats:
    return np.asarray(np.round(np.minimum(1.0, scores), DECIMALS), np.float64)


def _sheaf(new: Offers, cloth: Cloth) -> Sheaf:
    """What is written anew."""
    tags = tags_of_edges(new.one, new.other, list(map(cloth.tags_at, range(len(cloth.ids)))))
    confidence = np.maximum(0.0, new.weight) if new.kind == "semantic" else np.ones(len(new.weight))
    return Sheaf(cloth.ids, new.one, new.other, new.kind, new.weight, confidence, tags, ORIGINS[new.kind], MODE)


def _edge(cloth: Cloth, tie: Tie) -> Edge:
    one, other = tie.pair
    confidence = max(0.0, tie.weight) if tie.kind == "semantic" else 1.0
    tags = shared_tags(cloth.tags_at(one), cloth.tags_at(other))
    return Edge(cloth.ids[one], cloth.ids[other], tie.kind, tie.weight, confidence, tags, ORIGINS[tie.kind])
