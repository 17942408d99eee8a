"""Link the facts that wait, then rank and group the graph."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

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
    """For each text with a causal cue, an edge from the fact that tells the cause, where there is one."""
    if not (settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_CAUSAL]):
        return ()
    made: list[Edge | None] = []
    for fact, reading in zip(batch, readings, strict=True):
        made.append((yield from _find_implied_cause(fact, now)))
        for cause in reading.causes:
            edge = yield from _find_stated_cause(fact, cause, now, settings)
            made.append(edge)
    return tuple(EdgeWrite(edge, "reinforce", own=True) for edge in made if edge is not None)


def _find_stated_cause(fact: Fact, cause: CausalRelation, now: datetime, settings: Settings) -> Steps[Edge | None]:
    """A cause that is said is the fact that tells it best."""
    source, told = yield from _find_best_match(fact, cause.cause, now, settings)
    if source is None:
        return None
    return Edge(source, fact.id, "causes", 1.0, round(cause.strength * told, 6), (), f"cue: {cause.cue}")


def _find_implied_cause(fact: Fact, now: datetime) -> Steps[Edge | None]:
    """A turn that begins with "That's why …" leaves its cause to the turn before."""
    cue = _OPENING_PATTERN.match(fact.text)
    if cue is None or fact.session is None or not fact.position:
        return None
    where = FactFilter(now, (fact.scope,), sessions=frozenset([fact.session]), archived=True, whenever=True)
    turns = yield from store.list_facts(where, MAX_CAUSE_CANDIDATES, fact.id)
    before = next((turn.id for turn in turns if turn.position == fact.position - 1), None)
    return (
        Edge(before, fact.id, "causes", 1.0, IMPLIED_CAUSE_CONFIDENCE, (), f"cue: {cue.group(1).lower()}")
        if before
        else None
    )


def _find_best_match(fact: Fact, said: str, now: datetime, settings: Settings) -> Steps[tuple[str | None, float]]:
    """The other fact that holds most of the words of the cause, if it holds at least half of their weight."""
    once = dict.fromkeys(extract_words(said), 1)
    statistics = yield from store.read_word_statistics((fact.scope,), tuple(once))
    cue = weigh_words(once, statistics, settings, hint_weight=0.0)
    ids = yield from store.search_words(cue, MAX_CAUSE_CANDIDATES + 1, FactFilter(now, (fact.scope,)))
    others = [id for id in ids if id != fact.id]
    if not others:
        return None, 0.0
    evidence = yield from store.fetch_features(others, cue.words)
    held = (evidence.counts > 0) @ np.array(cue.weights) / (sum(cue.weights) or 1.0)
    best = int(np.argmax(held))
    return (evidence.ids[best], float(held[best])) if held[best] >= MIN_CAUSE_SHARE else (None, 0.0)


DREAM_RECORD = "dream"
BATCH_TRIES = 10
MAX_EDGES = 100_000_000
CAPPED_KINDS = frozenset(name for name, kind in EDGE_KINDS.items() if kind.capped)
PAGERANK_TOLERANCE, PAGERANK_ROUNDS, COMMUNITY_SEED, COMMUNITY_ROUNDS = 1e-9, 100, 7, 50
BRIDGE_MIN_COSINE, BRIDGE_MIN_COMMUNITY, BRIDGE_WEIGHT_SHARE, BRIDGE_MAX_WEIGHT, BRIDGE_CONFIDENCE = (
    0.2,
    3,
    0.5,
    0.3,
    0.5,
)


@dataclass(frozen=True, slots=True)
class DreamResult:
    """What a dream did."""

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
    """Work through the inbox batch by batch, each one transaction; then rank and group what has grown."""
    with relaxed_gc():
        return (yield from _run_dream(validation.parse_scopes(scope, InvalidQuestion), settings))


def _run_dream(scopes: tuple[str, ...] | None, settings: Settings) -> Steps[DreamResult]:
    size = yield from store.read_size()
    done, near = DreamResult(), dict[str, list[NeighbourCandidates]]()
    while True:
        batch, edges, kin = yield from retry_on_conflict(lambda: _dream_batch(scopes, settings), tries=BATCH_TRIES)
        if not batch:
            break
        done = done.with_edges(len(batch), edges)
        for name in {fact.scope for fact in batch}:
            near.setdefault(name, []).append(kin)
        yield Emit(Progress("dream", done.facts, max(done.facts, size.waiting)))
    grouped, laid = yield from _rate_scopes(scopes, near, settings)
    left = yield from store.read_size()
    return replace(done, new=done.new + laid, communities=grouped, waiting=left.waiting)


def _dream_batch(
    scopes: tuple[str, ...] | None, settings: Settings
) -> Steps[tuple[list[Fact], EdgeCounts, NeighbourCandidates]]:
    """One batch: one reading, one computation, one transaction that marks it as dreamed."""
    now: datetime = yield ReadClock()
    record = yield from store.read_record(DREAM_RECORD)
    batch = yield from store.list_facts(InboxSelection(scopes), settings[DREAM_BATCH])
    ids = [fact.id for fact in batch]
    kin = yield from store.find_neighbours(
        ids if settings[MULTI_GRAPH_ENABLED] else [], settings[DREAM_NEIGHBOURS], settings[DREAM_SHARING]
    )
    if not batch:
        return [], EdgeCounts(), kin
    woven = yield from _select_similarity_edges(batch, kin, settings)
    linked, descriptions = yield from _find_deferred_links(batch, kin, settings)
    readings: Sequence[FactReading] = yield AnalyseFacts(batch, wanted="causes")
    causes = yield from find_causal_edges(batch, readings, now, settings)
    mentions = yield from find_missing_mentions(_list_subjects(batch, readings), settings)
    change = Change(
        now=now,
        edges=EdgeBatch.concatenate([*woven.batches, *linked, EdgeBatch.of([*woven.refreshed, *causes])]),
        ended=woven.ended,
        mentions=mentions,
        descriptions=descriptions,
        dreamed={fact.id: fact.drawn_from for fact in batch},
        records=(StoreRecord(DREAM_RECORD, json.dumps({"at": now.isoformat()}).encode("ascii")),),
        idle_minutes=settings[SESSION_IDLE_MINUTES],
    )
    written = yield from store.write(change, expects={DREAM_RECORD: record.version if record else 0})
    return batch, written.edges, kin


def _list_subjects(batch: Sequence[Fact], readings: Sequence[FactReading]) -> list[tuple[str, str]]:
    """What facts are about, each name with its scope."""
    read = zip(batch, readings, strict=True)
    return [(fact.scope, subject.name) for fact, reading in read for subject in reading.subjects]


def _select_similarity_edges(
    batch: Sequence[Fact], kin: NeighbourCandidates, settings: Settings
) -> Steps[SelectedEdges]:
    """Edges by composite score and by nearness, under the degree cap."""
    touched = sorted({kin.ids[row] for row in kin.rows.tolist()})
    profiles = yield from _read_profiles(touched, batch)
    return select_edges(kin, profiles, (yield from _read_capped_edges(frozenset(touched))), settings)


def _read_capped_edges(ids: frozenset[str]) -> Steps[list[Edge]]:
    """The edges at these facts that count for the cap: those of its kinds, and those that people made."""
    wanted = [EdgeFilter(kinds=CAPPED_KINDS, ids=ids), EdgeFilter(ids=ids, origin="user")]
    found = yield from store.together(*[store.list_edges(one, MAX_EDGES) for one in wanted])
    return list({(edge.source, edge.target, edge.kind): edge for part in found for edge in part}.values())


def _read_profiles(ids: Sequence[str], batch: Sequence[Fact]) -> Steps[dict[str, FactProfile]]:
    """One query for all tags. What is learned in this batch is learned now, by the clock of active hours."""
    found = yield from store.fetch_profiles(ids)
    fresh = {fact.id for fact in batch}
    return {
        profile.id: replace(profile, hours=found.active_hours) if profile.id in fresh else profile
        for profile in found.profiles
    }


def _find_deferred_links(
    batch: Sequence[Fact], kin: NeighbourCandidates, settings: Settings
) -> Steps[tuple[tuple[EdgeBatch, ...], tuple[FactDescription, ...]]]:
    """Auto-links that remember had left for later, from each waiting fact to older ones."""
    model = yield from read_stored_model()
    if model is None or not settings[AUTO_LINK_ENABLED] or not len(kin.left):
        return (), ()
    fresh = {fact.id: fact for fact in batch}
    pairs = select_deferred_links(kin, compute_link_threshold(model, settings), settings[AUTO_LINK_MOST]).of_new(fresh)
    facts = yield from store.read_facts([id for id in pairs.older() if id not in fresh])
    known = fresh | {fact.id: fact for fact in facts if fact is not None}
    pairs = pairs.of_old(known)
    edges = make_deferred_edges(pairs, {id: fact.tags for id, fact in known.items() if fact.tags})
    if not settings[EVOLUTION_ENABLED]:
        return (edges,), ()
    return (edges,), make_descriptions(
        collect_citations(pairs, {id: make_summary_phrase(fresh[id]) for id in pairs.newer()})
    )


def _rate_scopes(
    scopes: tuple[str, ...] | None, near: Mapping[str, list[NeighbourCandidates]], settings: Settings
) -> Steps[tuple[int, int]]:
    """Rank and group the scopes whose graph has grown since that was last done. Returns how many communities there are, and how
    many bridges are new."""
    size = yield from store.read_size()
    total = laid = 0
    for scope in (name for name in size.scopes if scopes is None or name in scopes):
        network = yield from store.fetch_scope_graph(scope)
        record = yield from store.read_record(_make_rating_key(scope))
        before = json.loads(record.value) if record else {"edges": 0, "communities": 0}
        if record is not None and len(network.source) <= before["edges"] * (1 + settings[DREAM_GROWTH]):
            total += before["communities"]
            if scope in near:
                yield from _recount_words(scope, settings)
            continue
        count, new = yield from rank_scope(scope, network, near.get(scope, []), settings)
        yield from _recount_words(scope, settings)
        total, laid = total + count, laid + new
    return total, laid


def _recount_words(scope: str, settings: Settings) -> Steps[None]:
    """To the last fact, so that it does not matter which was told last."""
    now: datetime = yield ReadClock()
    yield from store.write(Change(now=now, recount=(scope,), sample=settings[STATISTICS_SAMPLE]))


def rank_scope(
    scope: str, network: ScopeGraph, near: Sequence[NeighbourCandidates], settings: Settings
) -> Steps[tuple[int, int]]:
    """PageRank, communities, and a few bridges between communities. Returns how many communities there are, and how many bridges
    are new."""
    graph = (network.source, network.target, network.weight.astype(np.float64), len(network.ids))
    ranks = pagerank(*graph, damping=settings[PAGERANK_DAMPING], tolerance=PAGERANK_TOLERANCE, rounds=PAGERANK_ROUNDS)
    groups = detect_communities(*graph, seed=COMMUNITY_SEED, rounds=COMMUNITY_ROUNDS)
    rated = tuple(
        FactImportance(id, float(rank), int(group)) for id, rank, group in zip(network.ids, ranks, groups, strict=True)
    )
    count = int(groups.max()) + 1 if len(groups) else 0
    now: datetime = yield ReadClock()
    laid = make_bridge_edges(network, near, groups, settings)
    # A bridge conducts both ways. It is no growth that would ask for ranking anew.
    noted = json.dumps({"edges": len(network.source) + 2 * len(laid), "communities": count}).encode("ascii")
    written = yield from store.write(
        Change(now=now, importance=rated, edges=laid, records=(StoreRecord(_make_rating_key(scope), noted),))
    )
    return count, written.edges.new


def make_bridge_edges(
    network: ScopeGraph, near: Sequence[NeighbourCandidates], groups: Any, settings: Settings
) -> tuple[EdgeWrite, ...]:
    """Weak edges between communities that nothing joins yet, through their closest pair."""
    if not settings[DREAM_BRIDGES] or not near:
        return ()
    row = {id: at for at, id in enumerate(network.ids)}
    left, right, cosines = (
        np.concatenate(column) for column in zip(*(_map_pair_rows(kin, row) for kin in near), strict=True)
    )
    laid = find_community_bridges(
        groups,
        (left, right),
        cosines,
        standing=(network.source, network.target),
        floor=BRIDGE_MIN_COSINE,
        smallest=BRIDGE_MIN_COMMUNITY,
        share=BRIDGE_WEIGHT_SHARE,
        ceiling=BRIDGE_MAX_WEIGHT,
        most=settings[DREAM_BRIDGES],
    )
    return tuple(
        EdgeWrite(
            Edge(
                network.ids[one.a], network.ids[one.b], "bridge", round(one.weight, 6), BRIDGE_CONFIDENCE, (), "dream"
            ),
            "skip",
            own=True,
        )
        for one in laid
    )


def _map_pair_rows(
    kin: NeighbourCandidates, row: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs by the rows of their facts, and their cosines; those of facts that are not there are left out."""
    at = np.array([row.get(id, -1) for id in kin.ids], np.int64)
    left, right = at[kin.left], at[kin.right]
    there = (left >= 0) & (right >= 0)
    return left[there], right[there], kin.cosines[there].astype(np.float64)


def _make_rating_key(scope: str) -> str:
    return f"importance.{scope}"
