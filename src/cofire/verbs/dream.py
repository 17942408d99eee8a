"""Link the facts in the inbox, then rank the graph and detect communities."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.bridge_discovery import find_community_bridges
from cofire.algorithms.communities import detect_communities
from cofire.algorithms.pagerank import pagerank
from cofire.errors import InvalidQuestion
from cofire.model import (
    Change,
    Edge,
    EdgeCounts,
    EdgeWrite,
    Fact,
    FactDescription,
    FactFilter,
    FactImportance,
    StoreRecord,
)
from cofire.recall.query import weigh_words
from cofire.recall.request import NamesInput
from cofire.runtime.effects import AnalyseFacts, Emit, ReadClock, Steps
from cofire.runtime.gc_threshold import relaxed_gc
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.store_proxy import store
from cofire.settings.table import (
    AUTO_LINK_ENABLED,
    AUTO_LINK_MOST,
    DREAM_BATCH,
    DREAM_BRIDGES,
    DREAM_GROWTH,
    DREAM_NEIGHBOURS,
    DREAM_SHARING,
    EVOLUTION_ENABLED,
    MULTI_GRAPH_CAUSAL,
    MULTI_GRAPH_ENABLED,
    PAGERANK_DAMPING,
    SESSION_IDLE_MINUTES,
    STATISTICS_SAMPLE,
    Settings,
)
from cofire.stores.base import (
    EdgeFilter,
    FactProfile,
    InboxSelection,
    NeighbourCandidates,
    ScopeGraph,
)
from cofire.stores.edge_batch import EdgeBatch
from cofire.stores.edge_kinds import EDGE_KINDS
from cofire.text.base import CausalRelation, FactReading
from cofire.text.descriptions import make_summary_phrase
from cofire.text.words import extract_words
from cofire.verbs import validation
from cofire.verbs.edge_selection import (
    SelectedEdges,
    collect_citations,
    compute_link_threshold,
    make_deferred_edges,
    make_descriptions,
    select_deferred_links,
    select_edges,
)
from cofire.verbs.embedding_model import read_stored_model
from cofire.verbs.fact_analysis import find_missing_mentions
from cofire.verbs.remember import Progress

MIN_CAUSE_SHARE = 0.5
IMPLIED_CAUSE_CONFIDENCE = 0.6
MAX_CAUSE_CANDIDATES = 5

_OPENING_PATTERN = re.compile(
    r"\W*(that['’]s why|this is why|that is why|therefore|hence|consequently|as a result|because of (?:this|that)"
    r"|for (?:this|that) reason)\b",
    re.IGNORECASE,
)


def find_causal_edges(
    batch: Sequence[Fact], readings: Sequence[FactReading], now: datetime, settings: Settings
) -> Steps[tuple[EdgeWrite, ...]]:
    """For each text with a causal cue, an edge from the fact that states the cause, if one is stored."""
    if not (settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_CAUSAL]):
        return ()
    edges: list[Edge | None] = []
    for fact, reading in zip(batch, readings, strict=True):
        implied_edge = yield from _find_implied_cause(fact, now)
        edges.append(implied_edge)
        for cause in reading.causes:
            stated_edge = yield from _find_stated_cause(fact, cause, now, settings)
            edges.append(stated_edge)
    return tuple(EdgeWrite(edge, "reinforce", own=True) for edge in edges if edge is not None)


def _find_stated_cause(fact: Fact, cause: CausalRelation, now: datetime, settings: Settings) -> Steps[Edge | None]:
    """An edge from the fact that matches the words of the cause best."""
    source, share = yield from _find_best_match(fact, cause.cause, now, settings)
    if source is None:
        return None
    confidence = round(cause.strength * share, 6)
    return Edge(source, fact.id, "causes", 1.0, confidence, (), f"cue: {cause.cue}")


def _find_implied_cause(fact: Fact, now: datetime) -> Steps[Edge | None]:
    """An edge from the previous turn to a turn that begins with "That's why …"."""
    cue = _OPENING_PATTERN.match(fact.text)
    if cue is None or fact.session is None or not fact.position:
        return None
    filter = FactFilter(now, (fact.scope,), sessions=frozenset([fact.session]), archived=True, whenever=True)
    turns = yield from store.list_facts(filter, MAX_CAUSE_CANDIDATES, fact.id)
    previous = next((turn.id for turn in turns if turn.position == fact.position - 1), None)
    if not previous:
        return None
    origin = f"cue: {cue.group(1).lower()}"
    return Edge(previous, fact.id, "causes", 1.0, IMPLIED_CAUSE_CONFIDENCE, (), origin)


def _find_best_match(fact: Fact, cause_text: str, now: datetime, settings: Settings) -> Steps[tuple[str | None, float]]:
    """The other fact with the largest share of the cause's word weight, and that share.

    Without a fact that has at least half of the weight the result is None.
    """
    word_counts = dict.fromkeys(extract_words(cause_text), 1)
    statistics = yield from store.read_word_statistics((fact.scope,), tuple(word_counts))
    query = weigh_words(word_counts, statistics, settings, hint_weight=0.0)
    ids = yield from store.search_words(query, MAX_CAUSE_CANDIDATES + 1, FactFilter(now, (fact.scope,)))
    other_ids = [id for id in ids if id != fact.id]
    if not other_ids:
        return None, 0.0
    features = yield from store.fetch_features(other_ids, query.words)
    total_weight = sum(query.weights) or 1.0
    shares = (features.counts > 0) @ np.array(query.weights) / total_weight
    best = int(np.argmax(shares))
    if shares[best] < MIN_CAUSE_SHARE:
        return None, 0.0
    return features.ids[best], float(shares[best])


DREAM_RECORD = "dream"
BATCH_TRIES = 10
MAX_EDGES = 100_000_000
CAPPED_KINDS = frozenset(name for name, kind in EDGE_KINDS.items() if kind.capped)
PAGERANK_TOLERANCE = 1e-9
PAGERANK_ROUNDS = 100
COMMUNITY_SEED = 7
COMMUNITY_ROUNDS = 50
BRIDGE_MIN_COSINE = 0.2
BRIDGE_MIN_COMMUNITY = 3
BRIDGE_WEIGHT_SHARE = 0.5
BRIDGE_MAX_WEIGHT = 0.3
BRIDGE_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class DreamResult:
    """What a dream changed, and how many facts are still waiting."""

    facts: int = 0
    new: int = 0
    changed: int = 0
    ended: int = 0
    communities: int = 0
    waiting: int = 0

    def with_edges(self, facts: int, edges: EdgeCounts) -> DreamResult:
        return replace(
            self,
            facts=self.facts + facts,
            new=self.new + edges.new,
            changed=self.changed + edges.changed,
            ended=self.ended + edges.ended,
        )


def dream(scope: NamesInput, settings: Settings) -> Steps[DreamResult]:
    """Process the inbox in batches, one transaction each. Then rank the scopes whose graph has grown."""
    with relaxed_gc():
        return (yield from _run_dream(validation.parse_scopes(scope, InvalidQuestion), settings))


def _run_dream(scopes: tuple[str, ...] | None, settings: Settings) -> Steps[DreamResult]:
    size = yield from store.read_size()
    result = DreamResult()
    neighbours_by_scope: dict[str, list[NeighbourCandidates]] = {}
    while True:
        batch, edges, neighbours = yield from retry_on_conflict(
            lambda: _dream_batch(scopes, settings), tries=BATCH_TRIES
        )
        if not batch:
            break
        result = result.with_edges(len(batch), edges)
        for scope in {fact.scope for fact in batch}:
            neighbours_by_scope.setdefault(scope, []).append(neighbours)
        yield Emit(Progress("dream", result.facts, max(result.facts, size.waiting)))
    communities, new_bridges = yield from _rank_grown_scopes(scopes, neighbours_by_scope, settings)
    size = yield from store.read_size()
    return replace(result, new=result.new + new_bridges, communities=communities, waiting=size.waiting)


def _dream_batch(
    scopes: tuple[str, ...] | None, settings: Settings
) -> Steps[tuple[list[Fact], EdgeCounts, NeighbourCandidates]]:
    """Read one batch, compute its edges, and write them in one transaction that empties the inbox of it."""
    now: datetime = yield ReadClock()
    record = yield from store.read_record(DREAM_RECORD)
    batch = yield from store.list_facts(InboxSelection(scopes), settings[DREAM_BATCH])
    ids = [fact.id for fact in batch] if settings[MULTI_GRAPH_ENABLED] else []
    neighbours = yield from store.find_neighbours(ids, settings[DREAM_NEIGHBOURS], settings[DREAM_SHARING])
    if not batch:
        return [], EdgeCounts(), neighbours
    selected = yield from _select_similarity_edges(batch, neighbours, settings)
    links, descriptions = yield from _find_deferred_links(batch, neighbours, settings)
    readings: Sequence[FactReading] = yield AnalyseFacts(batch, wanted="causes")
    causes = yield from find_causal_edges(batch, readings, now, settings)
    mentions = yield from find_missing_mentions(_list_subjects(batch, readings), settings)
    single_edges = EdgeBatch.of([*selected.refreshed, *causes])
    change = Change(
        now=now,
        edges=EdgeBatch.concatenate([*selected.batches, *links, single_edges]),
        ended=selected.ended,
        mentions=mentions,
        descriptions=descriptions,
        dreamed={fact.id: fact.drawn_from for fact in batch},
        records=(StoreRecord(DREAM_RECORD, json.dumps({"at": now.isoformat()}).encode("ascii")),),
        idle_minutes=settings[SESSION_IDLE_MINUTES],
    )
    written = yield from store.write(change, expects={DREAM_RECORD: record.version if record else 0})
    return batch, written.edges, neighbours


def _list_subjects(batch: Sequence[Fact], readings: Sequence[FactReading]) -> list[tuple[str, str]]:
    """The subjects of facts, each as scope and name."""
    subjects: list[tuple[str, str]] = []
    for fact, reading in zip(batch, readings, strict=True):
        subjects += [(fact.scope, subject.name) for subject in reading.subjects]
    return subjects


def _select_similarity_edges(
    batch: Sequence[Fact], neighbours: NeighbourCandidates, settings: Settings
) -> Steps[SelectedEdges]:
    """Edges by composite score and by nearness, under the degree cap."""
    ids = sorted({neighbours.ids[row] for row in neighbours.rows.tolist()})
    profiles = yield from _read_profiles(ids, batch)
    stored = yield from _read_capped_edges(frozenset(ids))
    return select_edges(neighbours, profiles, stored, settings)


def _read_capped_edges(ids: frozenset[str]) -> Steps[list[Edge]]:
    """The edges at these facts that count for the degree cap: those of capped kinds, and those that users made."""
    filters = [EdgeFilter(kinds=CAPPED_KINDS, ids=ids), EdgeFilter(ids=ids, origin="user")]
    edge_lists = yield from store.together(*[store.list_edges(filter, MAX_EDGES) for filter in filters])
    edges: dict[tuple[str, str, str], Edge] = {}
    for edge_list in edge_lists:
        edges |= {(edge.source, edge.target, edge.kind): edge for edge in edge_list}
    return list(edges.values())


def _read_profiles(ids: Sequence[str], batch: Sequence[Fact]) -> Steps[dict[str, FactProfile]]:
    """The profiles of facts by id. For facts of this batch the time of learning is now, in active hours."""
    answer = yield from store.fetch_profiles(ids)
    profiles = {profile.id: profile for profile in answer.profiles}
    for fact in batch:
        if fact.id in profiles:
            profiles[fact.id] = replace(profiles[fact.id], hours=answer.active_hours)
    return profiles


def _find_deferred_links(
    batch: Sequence[Fact], neighbours: NeighbourCandidates, settings: Settings
) -> Steps[tuple[tuple[EdgeBatch, ...], tuple[FactDescription, ...]]]:
    """The auto-links that `remember` deferred, from each waiting fact to older ones."""
    model = yield from read_stored_model()
    if model is None or not settings[AUTO_LINK_ENABLED] or not len(neighbours.left):
        return (), ()
    new_facts = {fact.id: fact for fact in batch}
    least = compute_link_threshold(model, settings)
    pairs = select_deferred_links(neighbours, least, settings[AUTO_LINK_MOST]).where_new_in(new_facts)
    old_facts = yield from store.read_facts([id for id in pairs.old_ids() if id not in new_facts])
    facts = new_facts | {fact.id: fact for fact in old_facts if fact is not None}
    pairs = pairs.where_old_in(facts)
    edges = make_deferred_edges(pairs, {id: fact.tags for id, fact in facts.items() if fact.tags})
    if not settings[EVOLUTION_ENABLED]:
        return (edges,), ()
    phrases = {id: make_summary_phrase(new_facts[id]) for id in pairs.new_ids()}
    return (edges,), make_descriptions(collect_citations(pairs, phrases))


def _rank_grown_scopes(
    scopes: tuple[str, ...] | None,
    neighbours_by_scope: Mapping[str, list[NeighbourCandidates]],
    settings: Settings,
) -> Steps[tuple[int, int]]:
    """Rank the scopes whose graph has grown since the last ranking.

    Returns the number of communities of all scopes, and the number of new bridges.
    """
    size = yield from store.read_size()
    communities = new_bridges = 0
    for scope in size.scopes:
        if scopes is not None and scope not in scopes:
            continue
        graph = yield from store.fetch_scope_graph(scope)
        record = yield from store.read_record(_make_ranking_key(scope))
        previous = json.loads(record.value) if record else {"edges": 0, "communities": 0}
        growth_limit = previous["edges"] * (1 + settings[DREAM_GROWTH])
        if record is not None and len(graph.source) <= growth_limit:
            communities += previous["communities"]
            if scope in neighbours_by_scope:
                yield from _recount_words(scope, settings)
            continue
        scope_communities, scope_bridges = yield from rank_scope(
            scope, graph, neighbours_by_scope.get(scope, []), settings
        )
        yield from _recount_words(scope, settings)
        communities += scope_communities
        new_bridges += scope_bridges
    return communities, new_bridges


def _recount_words(scope: str, settings: Settings) -> Steps[None]:
    """Recount the word statistics over all facts, so that the order of remembering does not matter."""
    now: datetime = yield ReadClock()
    yield from store.write(Change(now=now, recount=(scope,), sample=settings[STATISTICS_SAMPLE]))


def rank_scope(
    scope: str, graph: ScopeGraph, neighbours: Sequence[NeighbourCandidates], settings: Settings
) -> Steps[tuple[int, int]]:
    """Compute PageRank and communities, and add a few bridges between communities.

    Returns the number of communities, and the number of new bridges.
    """
    arrays = (graph.source, graph.target, graph.weight.astype(np.float64), len(graph.ids))
    ranks = pagerank(*arrays, damping=settings[PAGERANK_DAMPING], tolerance=PAGERANK_TOLERANCE, rounds=PAGERANK_ROUNDS)
    communities = detect_communities(*arrays, seed=COMMUNITY_SEED, rounds=COMMUNITY_ROUNDS)
    importance = tuple(
        FactImportance(id, float(rank), int(community))
        for id, rank, community in zip(graph.ids, ranks, communities, strict=True)
    )
    count = int(communities.max()) + 1 if len(communities) else 0
    now: datetime = yield ReadClock()
    bridges = make_bridge_edges(graph, neighbours, communities, settings)
    # Each bridge adds a row in both directions. Bridges must not count as growth.
    edge_count = len(graph.source) + 2 * len(bridges)
    ranking = json.dumps({"edges": edge_count, "communities": count}).encode("ascii")
    record = StoreRecord(_make_ranking_key(scope), ranking)
    written = yield from store.write(Change(now=now, importance=importance, edges=bridges, records=(record,)))
    return count, written.edges.new


def make_bridge_edges(
    graph: ScopeGraph,
    neighbours: Sequence[NeighbourCandidates],
    communities: NDArray[np.int64],
    settings: Settings,
) -> tuple[EdgeWrite, ...]:
    """Weak edges between communities that no link joins yet, through their closest pair of facts."""
    if not settings[DREAM_BRIDGES] or not neighbours:
        return ()
    row_by_id = {id: row for row, id in enumerate(graph.ids)}
    columns = zip(*(_map_pair_rows(part, row_by_id) for part in neighbours), strict=True)
    left, right, cosines = (np.concatenate(column) for column in columns)
    bridges = find_community_bridges(
        communities,
        (left, right),
        cosines,
        standing=(graph.source, graph.target),
        floor=BRIDGE_MIN_COSINE,
        smallest=BRIDGE_MIN_COMMUNITY,
        share=BRIDGE_WEIGHT_SHARE,
        ceiling=BRIDGE_MAX_WEIGHT,
        most=settings[DREAM_BRIDGES],
    )
    edges: list[EdgeWrite] = []
    for bridge in bridges:
        source, target = graph.ids[bridge.a], graph.ids[bridge.b]
        edge = Edge(source, target, "bridge", round(bridge.weight, 6), BRIDGE_CONFIDENCE, (), "dream")
        edges.append(EdgeWrite(edge, "skip", own=True))
    return tuple(edges)


def _map_pair_rows(
    neighbours: NeighbourCandidates, row_by_id: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs as graph rows with their cosines, without facts that are not in the graph."""
    graph_rows = np.array([row_by_id.get(id, -1) for id in neighbours.ids], np.int64)
    left = graph_rows[neighbours.left]
    right = graph_rows[neighbours.right]
    is_in_graph = (left >= 0) & (right >= 0)
    cosines = neighbours.cosines[is_in_graph].astype(np.float64)
    return left[is_in_graph], right[is_in_graph], cosines


def _make_ranking_key(scope: str) -> str:
    return f"importance.{scope}"
