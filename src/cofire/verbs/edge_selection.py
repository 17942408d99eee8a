"""Selection of automatic edges: auto-links, and similarity edges under the degree cap."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

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

AUTO_LINK_KIND = "auto_link"
AUTO_LINK_MODE = "skip"
AUTO_LINK_DECIMALS = 6
THRESHOLD_DEVIATIONS = 5.0
MAX_THRESHOLD = 0.9
# Number of candidates by sign bits whose exact cosine is computed. Linked facts are near by sign bits too.
AUTO_LINK_CANDIDATES = 128
# Maximum difference between a store's cosine and the exact cosine.
COSINE_SLACK = 0.001

# A new fact and its vector.
FactVector = tuple[Fact, Vectors]


@dataclass(frozen=True, slots=True)
class AutoLinks:
    """What linking adds to a change: edges, and new descriptions of old facts."""

    edges: tuple[EdgeWrite, ...] = ()
    descriptions: tuple[FactDescription, ...] = ()


@dataclass(frozen=True, slots=True)
class AutoLinkPair:
    """A new fact, the id and tags of an old one, and the centred cosine of the two."""

    new: Fact
    old: str
    tags: tuple[str, ...]
    cosine: float


def compute_link_threshold(model: StoredModel, settings: Settings) -> float:
    """The lowest centred cosine at which two facts are linked.

    Without a setting it is five standard deviations above the mean of two random texts.
    """
    if settings[AUTO_LINK_THRESHOLD]:
        return settings[AUTO_LINK_THRESHOLD]
    mean, deviation = model.resting
    return min(MAX_THRESHOLD, mean + THRESHOLD_DEVIATIONS * deviation)


def is_linked_at_once(count: int, settings: Settings) -> bool:
    """Whether this many facts are linked when they are stored. Larger batches wait for a dream."""
    is_enabled = settings[MULTI_GRAPH_ENABLED] and settings[AUTO_LINK_ENABLED]
    return is_enabled and 0 < count <= settings[AUTO_LINK_BATCH]


def find_auto_links(
    fresh: Sequence[Fact], vectors: Mapping[str, bytes], model: StoredModel, now: datetime, settings: Settings
) -> Steps[AutoLinks]:
    """The links of facts that are about to be stored, and the descriptions of the old facts they link to.

    Facts that other processes store in the meantime are not seen. The next dream links them.
    """
    new_vectors = {fact.id: (fact, _decode_vector(vectors[fact.id])) for fact in fresh if fact.id in vectors}
    least = compute_link_threshold(model, settings)
    most = settings[AUTO_LINK_MOST]
    neighbours = yield from _find_neighbours(list(new_vectors.values()), least, now, settings)
    pairs: list[AutoLinkPair] = []
    for new_vector, candidates in zip(new_vectors.values(), neighbours, strict=True):
        pairs += _select_links(new_vector, candidates, model, least=least, most=most)
    return AutoLinks(make_link_edges(pairs), _describe_linked(pairs, settings))


def make_link_edges(pairs: Sequence[AutoLinkPair]) -> tuple[EdgeWrite, ...]:
    """One edge for each pair, from the smaller id to the larger, since a link has no direction."""
    edges: dict[tuple[str, str], Edge] = {}
    for pair in pairs:
        source, target = min(pair.old, pair.new.id), max(pair.old, pair.new.id)
        edges[source, target] = Edge(
            source,
            target,
            AUTO_LINK_KIND,
            compute_link_weight(pair.cosine),
            1.0,
            find_shared_tags(pair.new.tags, pair.tags),
            AUTO_LINK_KIND,
        )
    return tuple(EdgeWrite(edge, AUTO_LINK_MODE, own=True) for edge in edges.values())


def compute_link_weight(cosine: float) -> float:
    return round(min(1.0, cosine), AUTO_LINK_DECIMALS)


def compute_link_weights(cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    """`compute_link_weight` for many pairs.

    Both round the same way: a float32 cosine times a million is exact in float64.

    >>> compute_link_weights(np.array([0.1234565, 1.5], np.float32)).tolist() == [
    ...     compute_link_weight(float(np.float32(0.1234565))),
    ...     1.0,
    ... ]
    True
    """
    capped = np.minimum(1.0, cosines.astype(np.float64))
    return np.asarray(np.round(capped, AUTO_LINK_DECIMALS))


def make_descriptions(citations: Mapping[str, Mapping[str, str]]) -> tuple[FactDescription, ...]:
    """The addition to the description of each old fact: the summary phrases of its new neighbours, by their ids.

    The store appends it to the current description. The text of the fact does not change.
    """
    texts = {id: extend_description("", list(phrases.values())) for id, phrases in citations.items()}
    term_counts = count_terms_of_descriptions(set(texts.values()))
    return tuple(FactDescription(id, text, term_counts[text], citations[id]) for id, text in texts.items())


def _describe_linked(pairs: Sequence[AutoLinkPair], settings: Settings) -> tuple[FactDescription, ...]:
    if not settings[EVOLUTION_ENABLED]:
        return ()
    new_facts = {pair.new.id: pair.new for pair in pairs}
    phrases = {id: make_summary_phrase(fact) for id, fact in new_facts.items()}
    citations: dict[str, dict[str, str]] = {}
    for pair in pairs:
        citations.setdefault(pair.old, {})[pair.new.id] = phrases[pair.new.id]
    return make_descriptions(citations)


def _find_neighbours(
    new_vectors: Sequence[FactVector], least: float, now: datetime, settings: Settings
) -> Steps[list[list[NearbyFact]]]:
    """The link candidates of each new fact: the most similar stored facts, and all other new facts."""
    most = settings[AUTO_LINK_MOST]
    filters = [FactFilter(now, (fact.scope,)) for fact, _ in new_vectors]
    searches = [
        store.search_similar(vector, most, filter, AUTO_LINK_CANDIDATES, least - COSINE_SLACK)
        for (_, vector), filter in zip(new_vectors, filters, strict=True)
    ]
    stored_neighbours = yield from store.together(*searches)
    return [
        [*stored, *_list_new_neighbours(fact, new_vectors, filter)]
        for (fact, _), filter, stored in zip(new_vectors, filters, stored_neighbours, strict=True)
    ]


def _list_new_neighbours(fact: Fact, new_vectors: Sequence[FactVector], filter: FactFilter) -> list[NearbyFact]:
    return [
        NearbyFact(other.id, other.tags, vector)
        for other, vector in new_vectors
        if other is not fact and filter.admits(other)
    ]


def _select_links(
    new_vector: FactVector, candidates: Sequence[NearbyFact], model: StoredModel, *, least: float, most: int
) -> list[AutoLinkPair]:
    """The links of a new fact with its most similar candidates, never with its own earlier version."""
    if not candidates:
        return []
    fact, vector = new_vector
    vectors = np.array([vector, *(candidate.vector for candidate in candidates)])
    centred = vector_similarity.centre_vectors(vectors, model.mean)
    cosines = vector_similarity.dot_products(centred[1:], centred[:1])[0].tolist()
    scored = list(zip(cosines, candidates, strict=True))
    scored.sort(key=lambda pair: (pair[0], pair[1].id), reverse=True)
    return [
        AutoLinkPair(fact, candidate.id, candidate.tags, cosine)
        for cosine, candidate in scored[:most]
        if cosine >= least and candidate.id != fact.id
    ]


def _decode_vector(vector: bytes) -> Vectors:
    return np.frombuffer(vector, np.float16).astype(np.float32)


@dataclass(frozen=True, slots=True)
class DeferredLinks:
    """Pairs of a new and an older fact with their cosines. `new` and `old` are rows of `ids`, which are sorted."""

    ids: Sequence[str]
    new: Ints
    old: Ints
    cosines: NDArray[np.float32]

    def new_ids(self) -> list[str]:
        return [self.ids[row] for row in list_occurring_rows(len(self.ids), self.new).tolist()]

    def old_ids(self) -> list[str]:
        return [self.ids[row] for row in list_occurring_rows(len(self.ids), self.old).tolist()]

    def where_new_in(self, ids: Container[str]) -> DeferredLinks:
        return self._select(self._mark_rows(ids)[self.new])

    def where_old_in(self, ids: Container[str]) -> DeferredLinks:
        return self._select(self._mark_rows(ids)[self.old])

    def _mark_rows(self, ids: Container[str]) -> NDArray[np.bool_]:
        return np.array([id in ids for id in self.ids], np.bool_)

    def _select(self, mask: NDArray[np.bool_]) -> DeferredLinks:
        return DeferredLinks(self.ids, self.new[mask], self.old[mask], self.cosines[mask])


def select_deferred_links(neighbours: NeighbourCandidates, least: float, most: int) -> DeferredLinks:
    """The most similar older facts of each newer one, at most `most` for each."""
    order = sorted(range(len(neighbours.ids)), key=neighbours.ids.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    similar = np.flatnonzero(neighbours.cosines >= least)
    left = rank[neighbours.left[similar]]
    right = rank[neighbours.right[similar]]
    cosines = neighbours.cosines[similar]
    new, old = np.maximum(left, right), np.minimum(left, right)
    # A pair found by nearness and by a shared tag occurs twice, and its cosines may differ in the last bit.
    unique = first_unique_rows(new, old)
    first_occurrence = np.empty(len(order), np.int64)
    first_occurrence[new[::-1]] = np.arange(len(new))[::-1]
    # Reversed, so that the younger of two equally similar facts comes first.
    unique = unique[::-1]
    group = first_occurrence[new[unique]]
    best = sort_order(group, descending_keys(cosines[unique]))
    kept = unique[best[positions_in_groups(group[best]) < most]]
    sorted_ids = [neighbours.ids[row] for row in order]
    return DeferredLinks(sorted_ids, new[kept], old[kept], cosines[kept])


def make_deferred_edges(pairs: DeferredLinks, tags: Mapping[str, tuple[str, ...]]) -> EdgeBatch:
    """One edge for each pair, from the older fact, which has the smaller id. `tags` may omit facts without tags."""
    weight = compute_link_weights(pairs.cosines)
    shared_tags = find_edge_tags(pairs.old, pairs.new, [tags.get(id, ()) for id in pairs.ids])
    return EdgeBatch.of_one_label(
        EdgeLabel(AUTO_LINK_KIND, AUTO_LINK_KIND, AUTO_LINK_MODE, own=True),
        pairs.ids,
        pairs.old,
        pairs.new,
        weight=weight,
        confidence=np.ones(len(weight)),
        tags=shared_tags,
    )


def collect_citations(pairs: DeferredLinks, phrases: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """For each old fact the summary phrases of its new facts by their ids, in the order of the pairs.

    >>> pairs = DeferredLinks(["a", "b", "c"], np.array([2, 1, 2]), np.array([1, 0, 0]), np.zeros(3, np.float32))
    >>> collect_citations(pairs, {"b": "tea", "c": "pot"})
    {'b': {'c': 'pot'}, 'a': {'b': 'tea', 'c': 'pot'}}
    """
    citations: dict[str, dict[str, str]] = {}
    for old_row, new_row in zip(pairs.old.tolist(), pairs.new.tolist(), strict=True):
        new_id = pairs.ids[new_row]
        citations.setdefault(pairs.ids[old_row], {})[new_id] = phrases.get(new_id, "")
    return citations


# Stored edges of these kinds count for the degree cap of a kind, and give way to better edges in this order.
KINDS_UNDER_CAP = {"similar": ("similar", "co_occurs", "bridge"), "semantic": ("semantic",)}
EDGE_ORIGINS = {"similar": "similarity", "semantic": "neighbours"}
SIMILARITY_MODE = "update"
SIMILARITY_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class SelectedEdges:
    """New edges, stored edges with a new weight, and edges to remove."""

    batches: tuple[EdgeBatch, ...]
    refreshed: tuple[EdgeWrite, ...]
    ended: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class PairTable:
    """Pairs of facts with their cosines. `left` and `right` are rows of `ids`, which are sorted, and of `profiles`."""

    ids: list[str]
    profiles: list[FactProfile | None]
    left: Ints
    right: Ints
    cosines: NDArray[np.float32]

    @classmethod
    def of(
        cls, neighbours: NeighbourCandidates, profiles: Mapping[str, FactProfile], stored: Iterable[Edge]
    ) -> PairTable:
        neighbour_rows = neighbours.rows
        neighbour_ids = [neighbours.ids[row] for row in neighbour_rows.tolist()]
        edge_ids = (id for edge in stored for id in (edge.source, edge.target))
        ids = sorted({*neighbour_ids, *edge_ids})
        row_by_id = {id: row for row, id in enumerate(ids)}
        rows = np.zeros(len(neighbours.ids), np.int64)
        rows[neighbour_rows] = [row_by_id[id] for id in neighbour_ids]
        profile_rows = [profiles.get(id) for id in ids]
        return cls(ids, profile_rows, rows[neighbours.left], rows[neighbours.right], neighbours.cosines)

    def tags_at(self, row: int) -> frozenset[str]:
        profile = self.profiles[row]
        return profile.tags if profile else frozenset()


def select_edges(
    neighbours: NeighbourCandidates,
    profiles: Mapping[str, FactProfile],
    stored: Sequence[Edge],
    settings: Settings,
) -> SelectedEdges:
    """Score the pairs, and select the edges that fit under the degree cap."""
    table = PairTable.of(neighbours, profiles, stored)
    candidates: list[CandidateEdges] = []
    if settings[MULTI_GRAPH_SIMILAR]:
        candidates.append(make_similar_edges(table, settings))
    if settings[MULTI_GRAPH_SEMANTIC]:
        candidates.append(make_semantic_edges(table, settings))
    results = [_apply_cap(edges, table, stored, settings) for edges in candidates]
    refreshed = [_make_edge(table, edge) for result in results for edge in result.refreshed]
    displaced = [edge for result in results for edge in result.displaced]
    return SelectedEdges(
        batches=tuple(_make_edge_batch(result.written, table) for result in results),
        refreshed=tuple(EdgeWrite(edge, SIMILARITY_MODE, own=True) for edge in refreshed),
        ended=tuple(Edge(table.ids[edge.pair[0]], table.ids[edge.pair[1]], edge.kind) for edge in displaced),
    )


def make_similar_edges(table: PairTable, settings: Settings) -> CandidateEdges:
    """Pairs whose composite edge score reaches the threshold (002 §2)."""
    left, right, cosines = _deduplicate_pairs(table)
    has_profile = np.array([profile is not None for profile in table.profiles], dtype=np.bool_)
    is_near = cosines >= settings[EDGE_SCORE_MINIMUM_COSINE]
    kept = has_profile[left] & has_profile[right] & is_near
    left, right, cosines = left[kept], right[kept], cosines[kept]
    scores = compute_edge_scores(table.profiles, left, right, cosines, settings)
    good = scores >= settings[EDGE_SCORE_THRESHOLD]
    return CandidateEdges.of("similar", (left[good], right[good]), _round_weights(scores[good]))


def compute_edge_scores(
    profiles: Sequence[FactProfile | None],
    left: Ints,
    right: Ints,
    cosines: NDArray[np.float32],
    settings: Settings,
) -> Floats:
    """The composite edge scores of pairs of profile rows."""
    hours = np.array([profile.hours if profile else 0.0 for profile in profiles])
    tags = [profile.tags if profile else () for profile in profiles]
    names = [(profile.category or "") if profile else "" for profile in profiles]
    number_by_name = {name: number for number, name in enumerate(sorted(set(names)))}
    category = np.array([number_by_name[name] for name in names])
    return affinity.composite_scores(
        cosine=cosines.astype(np.float64),
        tags=affinity.jaccard_similarities(tags, left, right),
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


def make_semantic_edges(table: PairTable, settings: Settings) -> CandidateEdges:
    """Each fact with its nearest neighbours above the minimum cosine."""
    near = np.flatnonzero(table.cosines >= settings[MULTI_GRAPH_FLOOR])
    order = near[sort_order(table.left[near], descending_keys(table.cosines[near]))]
    chosen = order[positions_in_groups(table.left[order]) < settings[MULTI_GRAPH_NEIGHBOURS]]
    # Of a pair that both sides chose the later row counts: the two cosines may differ in the last bit.
    chosen = chosen[::-1]
    weights = _round_weights(table.cosines[chosen].astype(np.float64))
    return CandidateEdges.of("semantic", (table.left[chosen], table.right[chosen]), weights)


def _apply_cap(
    candidates: CandidateEdges, table: PairTable, stored: Sequence[Edge], settings: Settings
) -> DegreeCapResult:
    """Apply the degree cap. Edges that users made count for the cap of similar edges."""
    kinds = KINDS_UNDER_CAP[candidates.kind]
    row_by_id = {id: row for row, id in enumerate(table.ids)}
    counted: list[UndirectedEdge] = []
    for edge in stored:
        is_by_user = edge.origin == "user"
        if edge.kind in kinds or (candidates.kind == "similar" and is_by_user):
            source, target = row_by_id[edge.source], row_by_id[edge.target]
            pair = (min(source, target), max(source, target))
            counted.append(UndirectedEdge(edge.kind, pair, edge.weight or 0.0, is_by_user))
    return apply_degree_cap(counted, candidates, cap=settings[EDGE_DEGREE_CAP], displaceable=kinds)


def _deduplicate_pairs(table: PairTable) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Each pair once, the smaller row first."""
    low, high = np.minimum(table.left, table.right), np.maximum(table.left, table.right)
    first = first_unique_rows(low, high)
    return low[first], high[first], table.cosines[first]


def _round_weights(scores: Floats) -> Floats:
    return np.asarray(np.round(np.minimum(1.0, scores), SIMILARITY_DECIMALS), np.float64)


def _make_edge_batch(edges: CandidateEdges, table: PairTable) -> EdgeBatch:
    tags_by_row = [table.tags_at(row) for row in range(len(table.ids))]
    confidence = np.maximum(0.0, edges.weight) if edges.kind == "semantic" else np.ones(len(edges.weight))
    return EdgeBatch.of_one_label(
        EdgeLabel(edges.kind, EDGE_ORIGINS[edges.kind], SIMILARITY_MODE, own=True),
        table.ids,
        edges.one,
        edges.other,
        weight=edges.weight,
        confidence=confidence,
        tags=find_edge_tags(edges.one, edges.other, tags_by_row),
    )


def _make_edge(table: PairTable, edge: UndirectedEdge) -> Edge:
    source, target = edge.pair
    confidence = max(0.0, edge.weight) if edge.kind == "semantic" else 1.0
    tags = find_shared_tags(table.tags_at(source), table.tags_at(target))
    origin = EDGE_ORIGINS[edge.kind]
    return Edge(table.ids[source], table.ids[target], edge.kind, edge.weight, confidence, tags, origin)
