"""Selection of automatic edges: auto-links, and similarity edges under the degree cap."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import affinity, vector_similarity
from cofire.algorithms.affinity import AffinityWeights
from cofire.algorithms.array_ops import (
    descending_keys,
    first_unique_rows,
    list_occurring_rows,
    positions_in_groups,
    sort_order,
)
from cofire.algorithms.degree_cap import CandidateEdges, DegreeCapResult, UndirectedEdge, apply_degree_cap
from cofire.embedders.base import StoredModel, Vectors
from cofire.model import Edge, EdgeWrite, Fact, FactDescription, FactFilter
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import (
    AUTO_LINK_BATCH,
    AUTO_LINK_ENABLED,
    AUTO_LINK_MOST,
    AUTO_LINK_THRESHOLD,
    EDGE_DEGREE_CAP,
    EDGE_SCORE_CATEGORY,
    EDGE_SCORE_COSINE,
    EDGE_SCORE_CROSS_CATEGORY,
    EDGE_SCORE_MINIMUM_COSINE,
    EDGE_SCORE_SIGMA_HOURS,
    EDGE_SCORE_TAGS,
    EDGE_SCORE_TEMPORAL,
    EDGE_SCORE_THRESHOLD,
    EVOLUTION_ENABLED,
    MULTI_GRAPH_ENABLED,
    MULTI_GRAPH_FLOOR,
    MULTI_GRAPH_NEIGHBOURS,
    MULTI_GRAPH_SEMANTIC,
    MULTI_GRAPH_SIMILAR,
    Settings,
)
from cofire.stores.base import FactProfile, NearbyFact, NeighbourCandidates
from cofire.stores.edge_batch import EdgeBatch, EdgeLabel, Floats, Ints, find_edge_tags, find_shared_tags
from cofire.text.descriptions import count_terms_of_descriptions, extend_description, make_summary_phrase

AUTO_LINK_KIND, AUTO_LINK_MODE = "auto_link", "skip"
AUTO_LINK_DECIMALS = 6
THRESHOLD_DEVIATIONS, MAX_THRESHOLD = 5.0, 0.9
# Facts near enough to be linked are near by their signs too, so that few need be looked at closely.
AUTO_LINK_CANDIDATES = 128
# How far a store's cosine may be from the one that is written down.
COSINE_SLACK = 0.001

# A new fact and its vector.
FactVector = tuple[Fact, Vectors]


@dataclass(frozen=True, slots=True)
class AutoLinks:
    """What linking adds to a change: edges, and old facts described anew."""

    edges: tuple[EdgeWrite, ...] = ()
    descriptions: tuple[FactDescription, ...] = ()


@dataclass(frozen=True, slots=True)
class AutoLinkPair:
    """A new fact, the id of an old one and the tags of that, and how alike they are."""

    new: Fact
    old: str
    tags: tuple[str, ...]
    cosine: float


def compute_link_threshold(model: StoredModel, settings: Settings) -> float:
    """From which centred cosine facts are linked: as set, else five deviations beyond what two chance texts of the model have."""
    mean, deviation = model.resting
    return settings[AUTO_LINK_THRESHOLD] or min(MAX_THRESHOLD, mean + THRESHOLD_DEVIATIONS * deviation)


def is_linked_at_once(count: int, settings: Settings) -> bool:
    """Whether this many facts are linked at once, or wait for a dream."""
    return settings[MULTI_GRAPH_ENABLED] and settings[AUTO_LINK_ENABLED] and 0 < count <= settings[AUTO_LINK_BATCH]


def find_auto_links(
    fresh: Sequence[Fact], vectors: Mapping[str, bytes], model: StoredModel, now: datetime, settings: Settings
) -> Steps[AutoLinks]:
    """The links of facts that are about to be stored, and how they describe the old ones, all to be written with the facts.

    What others store in the meantime is not seen; the next dream links it.
    """
    new = {fact.id: (fact, _decode_vector(vectors[fact.id])) for fact in fresh if fact.id in vectors}
    least = compute_link_threshold(model, settings)
    near = yield from _find_near(list(new.values()), least, now, settings)
    linked = [
        one
        for told, others in zip(new.values(), near, strict=True)
        for one in _select_links(told, others, model, least=least, most=settings[AUTO_LINK_MOST])
    ]
    return AutoLinks(make_link_edges(linked), _describe_linked(linked, settings))


def make_link_edges(linked: Sequence[AutoLinkPair]) -> tuple[EdgeWrite, ...]:
    """One edge a pair, from the smaller id to the larger, as its ends are alike."""
    made: dict[tuple[str, str], Edge] = {}
    for one in linked:
        ends = (one.old, one.new.id) if one.old < one.new.id else (one.new.id, one.old)
        made[ends] = Edge(
            *ends,
            AUTO_LINK_KIND,
            compute_link_weight(one.cosine),
            1.0,
            find_shared_tags(one.new.tags, one.tags),
            AUTO_LINK_KIND,
        )
    return tuple(EdgeWrite(edge, AUTO_LINK_MODE, own=True) for edge in made.values())


def compute_link_weight(cosine: float) -> float:
    return round(min(1.0, cosine), AUTO_LINK_DECIMALS)


def compute_link_weights(cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    """The same of many. A cosine has so few bits that a million times it is exact, and so it is rounded to the same.

    >>> compute_link_weights(np.array([0.1234565, 1.5], np.float32)).tolist() == [
    ...     compute_link_weight(float(np.float32(0.1234565))),
    ...     1.0,
    ... ]
    True
    """
    return np.asarray(np.round(np.minimum(1.0, cosines.astype(np.float64)), AUTO_LINK_DECIMALS))


def make_descriptions(cites: Mapping[str, Mapping[str, str]]) -> tuple[FactDescription, ...]:
    """What each old fact is now known to belong with: with what it cites, the gists of new facts by their ids. The store goes on from
    the description that holds so far. The text of the fact stays as it is."""
    texts = {id: extend_description("", list(gists.values())) for id, gists in cites.items()}
    said = count_terms_of_descriptions(set(texts.values()))
    return tuple(FactDescription(id, text, said[text], cites[id]) for id, text in texts.items())


def _describe_linked(linked: Sequence[AutoLinkPair], settings: Settings) -> tuple[FactDescription, ...]:
    if not settings[EVOLUTION_ENABLED]:
        return ()
    gists = {id: make_summary_phrase(new) for id, new in {one.new.id: one.new for one in linked}.items()}
    cites: dict[str, dict[str, str]] = {}
    for one in linked:
        cites.setdefault(one.old, {})[one.new.id] = gists[one.new.id]
    return make_descriptions(cites)


def _find_near(
    new: Sequence[FactVector], least: float, now: datetime, settings: Settings
) -> Steps[list[list[NearbyFact]]]:
    """For each new fact those that it may be linked with: the few most like it of those stored, and all others that are new."""
    wheres, most = [FactFilter(now, (fact.scope,)) for fact, _ in new], settings[AUTO_LINK_MOST]
    asks = [
        store.search_similar(row, most, where, AUTO_LINK_CANDIDATES, least - COSINE_SLACK)
        for (_, row), where in zip(new, wheres, strict=True)
    ]
    stored = yield from store.together(*asks)
    return [
        [*old, *_list_new_near(fact, new, where)] for (fact, _), where, old in zip(new, wheres, stored, strict=True)
    ]


def _list_new_near(one: Fact, new: Sequence[FactVector], where: FactFilter) -> list[NearbyFact]:
    return [NearbyFact(other.id, other.tags, row) for other, row in new if other is not one and where.admits(other)]


def _select_links(
    told: FactVector, others: Sequence[NearbyFact], model: StoredModel, *, least: float, most: int
) -> list[AutoLinkPair]:
    """The links of a new fact with the few of these that are most like it; none with itself as it was."""
    if not others:
        return []
    new, row = told
    seen = vector_similarity.centre_vectors(np.array([row, *(one.vector for one in others)]), model.mean)
    cosines = vector_similarity.dot_products(seen[1:], seen[:1])[0].tolist()
    closest = sorted(zip(cosines, others, strict=True), key=lambda pair: (pair[0], pair[1].id), reverse=True)[:most]
    return [
        AutoLinkPair(new, one.id, one.tags, cosine) for cosine, one in closest if cosine >= least and one.id != new.id
    ]


def _decode_vector(vector: bytes) -> Vectors:
    return np.frombuffer(vector, np.float16).astype(np.float32)


@dataclass(frozen=True, slots=True)
class DeferredLinks:
    """New facts with the older ones that they are linked with, and how alike they are. Both are rows of `ids`, which are in order."""

    ids: Sequence[str]
    new: Ints
    old: Ints
    cosines: NDArray[np.float32]

    def at(self, which: Any) -> DeferredLinks:
        return DeferredLinks(self.ids, self.new[which], self.old[which], self.cosines[which])

    def newer(self) -> list[str]:
        return [self.ids[row] for row in list_occurring_rows(len(self.ids), self.new).tolist()]

    def older(self) -> list[str]:
        return [self.ids[row] for row in list_occurring_rows(len(self.ids), self.old).tolist()]

    def of_new(self, some: Container[str]) -> DeferredLinks:
        return self.at(self._are(some)[self.new])

    def of_old(self, some: Container[str]) -> DeferredLinks:
        return self.at(self._are(some)[self.old])

    def _are(self, some: Container[str]) -> NDArray[np.bool_]:
        return np.array([id in some for id in self.ids], np.bool_)


def select_deferred_links(kin: NeighbourCandidates, least: float, most: int) -> DeferredLinks:
    """The best older facts for each newer one, at most so many."""
    order = sorted(range(len(kin.ids)), key=kin.ids.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    near = np.flatnonzero(kin.cosines >= least)
    one, other, cosines = rank[kin.left[near]], rank[kin.right[near]], kin.cosines[near]
    new, old = np.maximum(one, other), np.minimum(one, other)
    # Who is kin by nearness and by a tag stands there twice, and their cosines may differ in the last bit.
    once = first_unique_rows(new, old)
    came = np.empty(len(order), np.int64)
    came[new[::-1]] = np.arange(len(new))[::-1]
    # Turned around, as of equals the younger comes first.
    turn, once = came[new[once]][::-1], once[::-1]
    best = sort_order(turn, descending_keys(cosines[once]))
    kept = once[best[positions_in_groups(turn[best]) < most]]
    return DeferredLinks([kin.ids[row] for row in order], new[kept], old[kept], cosines[kept])


def make_deferred_edges(pairs: DeferredLinks, tags: Mapping[str, tuple[str, ...]]) -> EdgeBatch:
    """The links, each from the older fact, which has the smaller id. `tags` are those of facts that have any."""
    weight = compute_link_weights(pairs.cosines)
    shared = find_edge_tags(pairs.old, pairs.new, [tags.get(id, ()) for id in pairs.ids])
    return EdgeBatch.of_one_label(
        EdgeLabel(AUTO_LINK_KIND, AUTO_LINK_KIND, AUTO_LINK_MODE, own=True),
        pairs.ids,
        pairs.old,
        pairs.new,
        weight=weight,
        confidence=np.ones(len(weight)),
        tags=shared,
    )


def collect_citations(pairs: DeferredLinks, gists: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """For each old fact the gists of the new ones by their ids, in the order in which they came.

    >>> pairs = DeferredLinks(["a", "b", "c"], np.array([2, 1, 2]), np.array([1, 0, 0]), np.zeros(3, np.float32))
    >>> collect_citations(pairs, {"b": "tea", "c": "pot"})
    {'b': {'c': 'pot'}, 'a': {'b': 'tea', 'c': 'pot'}}
    """
    by_old = sort_order(pairs.old)
    olds, begins, many = np.unique(pairs.old[by_old], return_index=True, return_counts=True)
    new, came = pairs.new[by_old].tolist(), np.argsort(by_old[begins])
    told = [gists.get(id, "") for id in pairs.ids]
    runs = zip(olds[came].tolist(), begins[came].tolist(), (begins + many)[came].tolist(), strict=True)
    return {pairs.ids[old]: {pairs.ids[row]: told[row] for row in new[begin:end]} for old, begin, end in runs}


# Which held edges count for the cap of a kind, and which of them give way to a better one, in this order.
KINDS_UNDER_CAP = {"similar": ("similar", "co_occurs", "bridge"), "semantic": ("semantic",)}
EDGE_ORIGINS = {"similar": "similarity", "semantic": "neighbours"}
SIMILARITY_MODE = "update"
SIMILARITY_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class SelectedEdges:
    """Edges to write, those that are held already to be written with a new weight, and edges to take away."""

    batches: tuple[EdgeBatch, ...]
    refreshed: tuple[EdgeWrite, ...]
    ended: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class PairTable:
    """Pairs of kin by numbers: those of their ids, in order, and what is known of each."""

    ids: list[str]
    profiles: list[FactProfile | None]
    left: Ints
    right: Ints
    cosines: NDArray[np.float32]

    @classmethod
    def of(cls, kin: NeighbourCandidates, profiles: Mapping[str, FactProfile], held: Iterable[Edge]) -> PairTable:
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


def select_edges(
    kin: NeighbourCandidates, profiles: Mapping[str, FactProfile], held: Iterable[Edge], settings: Settings
) -> SelectedEdges:
    """Score the pairs, and let those that score enough find their places under the degree cap."""
    known = list(held)
    cloth = PairTable.of(kin, profiles, known)
    offers = [
        make_similar_offers(cloth, settings) if settings[MULTI_GRAPH_SIMILAR] else None,
        make_semantic_offers(cloth, settings) if settings[MULTI_GRAPH_SEMANTIC] else None,
    ]
    changes = [_place_under_cap(one, cloth, known, settings) for one in offers if one is not None]
    displaced = [tie for change in changes for tie in change.displaced]
    return SelectedEdges(
        tuple(_make_edge_batch(change.written, cloth) for change in changes),
        tuple(
            EdgeWrite(_make_edge(cloth, tie), SIMILARITY_MODE, own=True)
            for change in changes
            for tie in change.refreshed
        ),
        tuple(Edge(cloth.ids[tie.pair[0]], cloth.ids[tie.pair[1]], tie.kind) for tie in displaced),
    )


def make_similar_offers(cloth: PairTable, settings: Settings) -> CandidateEdges:
    """Pairs whose composite edge score reaches the threshold (002 §2)."""
    left, right, cosines = _deduplicate_pairs(cloth)
    known = np.array([row is not None for row in cloth.profiles], dtype=np.bool_)
    kept = known[left] & known[right] & (cosines >= settings[EDGE_SCORE_MINIMUM_COSINE])
    left, right, cosines = left[kept], right[kept], cosines[kept]
    scores = compute_edge_scores(cloth.profiles, left, right, cosines, settings)
    good = scores >= settings[EDGE_SCORE_THRESHOLD]
    return CandidateEdges.of("similar", (left[good], right[good]), _round_weights(scores[good]))


def compute_edge_scores(
    rows: Sequence[FactProfile | None], left: Ints, right: Ints, cosines: NDArray[np.float32], settings: Settings
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
        tags=affinity.jaccard_similarities([row.tags if row else () for row in rows], left, right),
        category=affinity.category_matches(category[left], category[right], cross=settings[EDGE_SCORE_CROSS_CATEGORY]),
        temporal=affinity.temporal_proximities(hours[left], hours[right], sigma=settings[EDGE_SCORE_SIGMA_HOURS]),
        weights=AffinityWeights(
            settings[EDGE_SCORE_COSINE],
            settings[EDGE_SCORE_TAGS],
            settings[EDGE_SCORE_CATEGORY],
            settings[EDGE_SCORE_TEMPORAL],
        ),
        guard=settings[EDGE_SCORE_MINIMUM_COSINE],
    )


def make_semantic_offers(cloth: PairTable, settings: Settings) -> CandidateEdges:
    """Each fact with its few nearest, where they are near at all."""
    near = np.flatnonzero(cloth.cosines >= settings[MULTI_GRAPH_FLOOR])
    order = near[sort_order(cloth.left[near], descending_keys(cloth.cosines[near]))]
    chosen = order[positions_in_groups(cloth.left[order]) < settings[MULTI_GRAPH_NEIGHBOURS]]
    # Two that chose each other are offered as the later one saw it: their cosines may differ in the last bit.
    last = chosen[::-1]
    return CandidateEdges.of(
        "semantic", (cloth.left[last], cloth.right[last]), _round_weights(cloth.cosines[last].astype(np.float64))
    )


def _place_under_cap(
    offers: CandidateEdges, cloth: PairTable, held: Sequence[Edge], settings: Settings
) -> DegreeCapResult:
    kinds = KINDS_UNDER_CAP[offers.kind]
    counted = [edge for edge in held if edge.kind in kinds or (offers.kind == "similar" and edge.origin == "user")]
    number = {id: at for at, id in enumerate(cloth.ids)} if counted else {}
    ties = [
        UndirectedEdge(edge.kind, (min(ends), max(ends)), edge.weight or 0.0, edge.origin == "user")
        for edge in counted
        for ends in [(number[edge.source], number[edge.target])]
    ]
    return apply_degree_cap(ties, offers, cap=settings[EDGE_DEGREE_CAP], displaceable=kinds)


def _deduplicate_pairs(cloth: PairTable) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Each pair once, whichever side found it."""
    low, high = np.minimum(cloth.left, cloth.right), np.maximum(cloth.left, cloth.right)
    first = first_unique_rows(low, high)
    return low[first], high[first], cloth.cosines[first]


def _round_weights(scores: Floats) -> Floats:
    return np.asarray(np.round(np.minimum(1.0, scores), SIMILARITY_DECIMALS), np.float64)


def _make_edge_batch(new: CandidateEdges, cloth: PairTable) -> EdgeBatch:
    """What is written anew."""
    tags = find_edge_tags(new.one, new.other, list(map(cloth.tags_at, range(len(cloth.ids)))))
    confidence = np.maximum(0.0, new.weight) if new.kind == "semantic" else np.ones(len(new.weight))
    label = EdgeLabel(new.kind, EDGE_ORIGINS[new.kind], SIMILARITY_MODE, own=True)
    return EdgeBatch.of_one_label(
        label, cloth.ids, new.one, new.other, weight=new.weight, confidence=confidence, tags=tags
    )


def _make_edge(cloth: PairTable, tie: UndirectedEdge) -> Edge:
    one, other = tie.pair
    confidence = max(0.0, tie.weight) if tie.kind == "semantic" else 1.0
    tags = find_shared_tags(cloth.tags_at(one), cloth.tags_at(other))
    return Edge(cloth.ids[one], cloth.ids[other], tie.kind, tie.weight, confidence, tags, EDGE_ORIGINS[tie.kind])
