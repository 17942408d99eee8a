"""Dream: what remember left for later. Facts that wait are scored against their kin and wired in; then the graph is ranked and grouped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking, Emit, Now, Read, Recorded, Size, Understand, Write, again_on_conflict, at_one_moment
from cofire.dynamics.bridging import bridges
from cofire.dynamics.communities import communities
from cofire.dynamics.pagerank import pagerank
from cofire.errors import InvalidQuestion
from cofire.garbage import looked_for_seldom
from cofire.graph_asks import ActiveHours, Edges, FindKin, Profiles, TheNetwork, Waiting
from cofire.graph_settings import (
    AUTO_LINK,
    AUTO_LINK_MOST,
    BRIDGES,
    DAMPING,
    DREAM_BATCH,
    DREAM_NEIGHBOURS,
    DREAM_SHARING,
    EVOLUTION,
    IDLE_MINUTES,
    IMPORTANCE_GROWTH,
    MULTI_GRAPH,
)
from cofire.kinds import KINDS
from cofire.model import Change, Description, Edge, EdgeCounts, Fact, Importance, NewEdge, Record, Written
from cofire.reading.base import Reading
from cofire.reading.descriptions import gist
from cofire.settings import SAMPLE, Settings
from cofire.sheaves import Sheaf, Sheaves
from cofire.stores.base import EdgeFilter, Kin, Network, Profile, StoreSize
from cofire.verbs import accepting
from cofire.verbs.asking import Names
from cofire.verbs.autolink import describe, threshold
from cofire.verbs.finding_causes import causal_edges
from cofire.verbs.late_linking import late_cites, late_edges, late_pairs
from cofire.verbs.model_of_store import stored_model
from cofire.verbs.naming import later_mentions
from cofire.verbs.remember import Progress
from cofire.verbs.weaving import Woven, weave

RECORD = "dream"
TRIES = 10
MANY = 100_000_000
CAPPED = frozenset(name for name, kind in KINDS.items() if kind.capped)
TOLERANCE, ROUNDS, SEED, LABEL_ROUNDS = 1e-9, 100, 7, 50
BRIDGE_FLOOR, BRIDGE_SMALLEST, BRIDGE_SHARE, BRIDGE_CEILING, BRIDGE_CONFIDENCE = 0.2, 3, 0.5, 0.3, 0.5


@dataclass(frozen=True, slots=True)
class Dreamed:
    """What a dream did."""

    facts: int = 0
    new: int = 0
    changed: int = 0
    ended: int = 0
    communities: int = 0
    waiting: int = 0

    def with_edges(self, facts: int, edges: EdgeCounts) -> Dreamed:
        return replace(
            self,
            facts=self.facts + facts,
            new=self.new + edges.new,
            changed=self.changed + edges.changed,
            ended=self.ended + edges.ended,
        )


def dream(scope: Names, settings: Settings) -> Asking[Dreamed]:
    """Work through the inbox batch by batch, each one transaction; then rank and group what has grown."""
    with looked_for_seldom():
        return (yield from _dreamed(accepting.scopes(scope, InvalidQuestion), settings))


def _dreamed(scopes: tuple[str, ...] | None, settings: Settings) -> Asking[Dreamed]:
    size: StoreSize = yield Size()
    done, near = Dreamed(), dict[str, list[Kin]]()
    while True:
        batch, edges, kin = yield from again_on_conflict(lambda: _dream_batch(scopes, settings), tries=TRIES)
        if not batch:
            break
        done = done.with_edges(len(batch), edges)
        for name in {fact.scope for fact in batch}:
            near.setdefault(name, []).append(kin)
        yield Emit(Progress("dream", done.facts, max(done.facts, size.waiting)))
    grouped, laid = yield from _rate(scopes, near, settings)
    left: StoreSize = yield Size()
    return replace(done, new=done.new + laid, communities=grouped, waiting=left.waiting)


def _dream_batch(scopes: tuple[str, ...] | None, settings: Settings) -> Asking[tuple[list[Fact], EdgeCounts, Kin]]:
    """One batch: one reading, one computation, one transaction that marks it as dreamed."""
    now: datetime = yield Now()
    record: Record | None = yield Recorded(RECORD)
    batch: list[Fact] = yield Waiting(scopes, settings[DREAM_BATCH])
    ids = [fact.id for fact in batch]
    kin: Kin = yield FindKin(ids if settings[MULTI_GRAPH] else [], settings[DREAM_NEIGHBOURS], settings[DREAM_SHARING])
    if not batch:
        return [], EdgeCounts(), kin
    woven = yield from _similarity(batch, kin, settings)
    linked, descriptions = yield from _late_links(batch, kin, settings)
    readings: Sequence[Reading] = yield Understand(batch, wanted="causes")
    causes = yield from causal_edges(batch, readings, now, settings)
    mentions = yield from later_mentions(_subjects(batch, readings), settings)
    change = Change(
        now=now,
        edges=Sheaves((*woven.sheaves, *linked), (*woven.refreshed, *causes)),
        ended=woven.ended,
        mentions=mentions,
        descriptions=descriptions,
        dreamed={fact.id: fact.drawn_from for fact in batch},
        records=(Record(RECORD, json.dumps({"at": now.isoformat()}).encode("ascii")),),
        idle_minutes=settings[IDLE_MINUTES],
    )
    written: Written = yield Write(change, expects={RECORD: record.version if record else 0})
    return batch, written.edges, kin


def _subjects(batch: Sequence[Fact], readings: Sequence[Reading]) -> list[tuple[str, str]]:
    """What facts are about, each name with its scope."""
    read = zip(batch, readings, strict=True)
    return [(fact.scope, subject.name) for fact, reading in read for subject in reading.subjects]


def _similarity(batch: Sequence[Fact], kin: Kin, settings: Settings) -> Asking[Woven]:
    """Edges by composite score and by nearness, under the degree cap."""
    touched = sorted({kin.ids[row] for row in kin.rows.tolist()})
    profiles = yield from _profiles(touched, batch)
    return weave(kin, profiles, (yield from _counted(frozenset(touched))), settings)


def _counted(ids: frozenset[str]) -> Asking[list[Edge]]:
    """The edges at these facts that count for the cap: those of its kinds, and those that people made."""
    wanted = [EdgeFilter(kinds=CAPPED, ids=ids), EdgeFilter(ids=ids, origin="user")]
    found: list[list[Edge]] = yield from at_one_moment([Edges(one, MANY) for one in wanted])
    return list({(edge.source, edge.target, edge.kind): edge for part in found for edge in part}.values())


def _profiles(ids: Sequence[str], batch: Sequence[Fact]) -> Asking[dict[str, Profile]]:
    """One query for all tags. What is learned in this batch is learned now, by the clock of active hours."""
    found: list[Profile] = yield Profiles(ids)
    hours: float = yield ActiveHours()
    fresh = {fact.id for fact in batch}
    return {one.id: replace(one, hours=hours) if one.id in fresh else one for one in found}


def _late_links(
    batch: Sequence[Fact], kin: Kin, settings: Settings
) -> Asking[tuple[tuple[Sheaf, ...], tuple[Description, ...]]]:
    """Auto-links that remember had left for later, from each waiting fact to older ones."""
    model = yield from stored_model()
    if model is None or not settings[AUTO_LINK] or not len(kin.left):
        return (), ()
    fresh = {fact.id: fact for fact in batch}
    pairs = late_pairs(kin, threshold(model, settings), settings[AUTO_LINK_MOST]).of_new(fresh)
    facts: list[Fact | None] = yield Read([id for id in pairs.older() if id not in fresh])
    known = fresh | {fact.id: fact for fact in facts if fact is not None}
    pairs = pairs.of_old(known)
    edges = late_edges(pairs, {id: fact.tags for id, fact in known.items() if fact.tags})
    if not settings[EVOLUTION]:
        return (edges,), ()
    return (edges,), describe(late_cites(pairs, {id: gist(fresh[id]) for id in pairs.newer()}))


def _rate(scopes: tuple[str, ...] | None, near: Mapping[str, list[Kin]], settings: Settings) -> Asking[tuple[int, int]]:
    """Rank and group the scopes whose graph has grown since that was last done. Returns how many communities there are, and how
    many bridges are new."""
    size: StoreSize = yield Size()
    total = laid = 0
    for scope in (name for name in size.scopes if scopes is None or name in scopes):
        network: Network = yield TheNetwork(scope)
        record: Record | None = yield Recorded(_rating(scope))
        before = json.loads(record.value) if record else {"edges": 0, "communities": 0}
        if record is not None and len(network.source) <= before["edges"] * (1 + settings[IMPORTANCE_GROWTH]):
            total += before["communities"]
            if scope in near:
                yield from _count(scope, settings)
            continue
        count, new = yield from rank_scope(scope, network, near.get(scope, []), settings)
        yield from _count(scope, settings)
        total, laid = total + count, laid + new
    return total, laid


def _count(scope: str, settings: Settings) -> Asking[None]:
    """To the last fact, so that it does not matter which was told last."""
    now: datetime = yield Now()
    yield Write(Change(now=now, recount=(scope,), sample=settings[SAMPLE]))


def rank_scope(scope: str, network: Network, near: Sequence[Kin], settings: Settings) -> Asking[tuple[int, int]]:
    """PageRank, communities, and a few bridges between communities. Returns how many communities there are, and how many bridges
    are new."""
    graph = (network.source, network.target, network.weight.astype(np.float64), len(network.ids))
    ranks = pagerank(*graph, damping=settings[DAMPING], tolerance=TOLERANCE, rounds=ROUNDS)
    groups = communities(*graph, seed=SEED, rounds=LABEL_ROUNDS)
    rated = tuple(
        Importance(id, float(rank), int(group)) for id, rank, group in zip(network.ids, ranks, groups, strict=True)
    )
    count = int(groups.max()) + 1 if len(groups) else 0
    now: datetime = yield Now()
    laid = bridge_edges(network, near, groups, settings)
    # A bridge conducts both ways. It is no growth that would ask for ranking anew.
    noted = json.dumps({"edges": len(network.source) + 2 * len(laid), "communities": count}).encode("ascii")
    written: Written = yield Write(
        Change(now=now, importance=rated, edges=laid, records=(Record(_rating(scope), noted),))
    )
    return count, written.edges.new


def bridge_edges(network: Network, near: Sequence[Kin], groups: Any, settings: Settings) -> tuple[NewEdge, ...]:
    """Weak edges between communities that nothing joins yet, through their closest pair."""
    if not settings[BRIDGES] or not near:
        return ()
    row = {id: at for at, id in enumerate(network.ids)}
    left, right, cosines = (np.concatenate(column) for column in zip(*(_rows(kin, row) for kin in near), strict=True))
    laid = bridges(
        groups,
        (left, right),
        cosines,
        standing=(network.source, network.target),
        floor=BRIDGE_FLOOR,
        smallest=BRIDGE_SMALLEST,
        share=BRIDGE_SHARE,
        ceiling=BRIDGE_CEILING,
        most=settings[BRIDGES],
    )
    return tuple(
        NewEdge(
            Edge(
                network.ids[one.a], network.ids[one.b], "bridge", round(one.weight, 6), BRIDGE_CONFIDENCE, (), "dream"
            ),
            "skip",
            own=True,
        )
        for one in laid
    )


def _rows(kin: Kin, row: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs by the rows of their facts, and their cosines; those of facts that are not there are left out."""
    at = np.array([row.get(id, -1) for id in kin.ids], np.int64)
    left, right = at[kin.left], at[kin.right]
    there = (left >= 0) & (right >= 0)
    return left[there], right[there], kin.cosines[there].astype(np.float64)


def _rating(scope: str) -> str:
    return f"importance.{scope}"
