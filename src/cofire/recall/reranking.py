"""Changes to the fused ranking: facts that bridge two results, and newer versions first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from cofire.activation_paths import ActivationHop
from cofire.algorithms import bridge_discovery, rank_fusion
from cofire.errors import StoreError
from cofire.model import Fact
from cofire.recall.plan import RecallPlan
from cofire.recall.request import RecallRequest
from cofire.recall.score import FloatArray
from cofire.results import CandidateRanking, ChannelReport
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.ranking import VersionConstants, current_constants
from cofire.settings.table import (
    ACTIVATION_MOST_LINKS,
    BRIDGES_DECAY,
    BRIDGES_ENABLED,
    BRIDGES_MOST,
    GRAPH_RECALL_CONFIDENCE_FLOOR,
    RECALL_NEWER_FIRST,
)
from cofire.stores.base import ExpansionOptions, LinkExpansion
from cofire.text.base import run_reading_rule
from cofire.text.versions import (
    FactWording,
    QuestionWording,
    asks_several_things,
    is_about_past,
    is_change_announced,
    is_old_value_ended,
    is_possible_replacement,
    question_coverage,
    read_question_wording,
    read_wording,
    word_coverage,
)
from cofire.verbs.supersede_rules import age_key, are_comparable, is_in_time_order

BRIDGES_CHANNEL = "bridges"

# Results between which bridges are looked for, however many are wanted, so that places do not depend on k.
BRIDGED_RESULTS = 10


@dataclass(frozen=True, slots=True)
class BridgeFact:
    """A fact that connects two results: what it counts, and the links that lead there."""

    id: str
    score: float
    links: tuple[ActivationHop, ActivationHop]


def add_bridges(
    ranking: CandidateRanking, request: RecallRequest, plan: RecallPlan
) -> Steps[tuple[CandidateRanking, tuple[ChannelReport, ...]]]:
    """The ranking with what bridges its best facts, and how that went; as it was where bridges are not wanted."""
    if not request.settings[BRIDGES_ENABLED] or plan.mode not in ("full", "graph"):
        return ranking, ()
    try:
        bridges = yield from _find_bridges(ranking, request)
    except StoreError as error:
        return ranking, (ChannelReport(BRIDGES_CHANNEL, "failed", note=str(error)),)
    report = ChannelReport(BRIDGES_CHANNEL, "ok" if bridges else "empty", heard=len(bridges))
    return _lift_bridges(ranking, bridges), (report,)


def _find_bridges(ranking: CandidateRanking, request: RecallRequest) -> Steps[tuple[BridgeFact, ...]]:
    settings, kinds = request.settings, frozenset(bridge_discovery.EDGE_KIND_MULTIPLIERS)
    conducting = ExpansionOptions(
        request.where, kinds, settings[GRAPH_RECALL_CONFIDENCE_FLOOR], settings[ACTIVATION_MOST_LINKS]
    )
    found = yield from store.expand_links(ranking.best(BRIDGED_RESULTS), conducting)
    scores = ranking.total[list(ranking.order[:BRIDGED_RESULTS])]
    through = bridge_discovery.bridge_conductances(
        found.kind, found.weight, found.confidence, decay=settings[BRIDGES_DECAY]
    )
    bridges = bridge_discovery.find_bridge_rows(
        scores, found.source, found.target, through, facts=len(found.ids), most=settings[BRIDGES_MOST]
    )
    carried = scores[found.source] * through
    return tuple(
        BridgeFact(
            found.ids[one.row],
            one.score,
            (_make_hop(found, one.links[0], carried), _make_hop(found, one.links[1], carried)),
        )
        for one in bridges
    )


def _make_hop(found: LinkExpansion, link: int, carried: FloatArray) -> ActivationHop:
    weight, confidence = (
        None if np.isnan(said[link]) else float(said[link]) for said in (found.weight, found.confidence)
    )
    source, target = found.ids[found.source[link]], found.ids[found.target[link]]
    return ActivationHop(source, target, found.kind[link], weight, confidence, found.via[link], float(carried[link]))


def _lift_bridges(ranking: CandidateRanking, bridges: Sequence[BridgeFact]) -> CandidateRanking:
    """A bridge is lifted to what it counts as one, and no higher; one that counts as much by itself is not lifted at all."""
    if not bridges:
        return ranking
    counts = {one.id: one.score for one in bridges}
    known = set(ranking.ids)
    wide = _append_facts(ranking, [id for id in counts if id not in known])
    scores = np.array([counts.get(id, 0.0) for id in wide.ids])
    lifts = np.where(scores > 0, np.maximum(0.0, scores - wide.total), 0.0)
    total = wide.total + lifts
    return replace(
        wide,
        total=total,
        order=rank_fusion.order_rows(total, wide.ids),
        scores={**wide.scores, BRIDGES_CHANNEL: scores},
        places={**wide.places, BRIDGES_CHANNEL: rank_fusion.rank_in_channel(scores, scores > 0, wide.ids)},
        gives={**wide.gives, BRIDGES_CHANNEL: lifts},
        bridges={one.id: one.links for one in bridges},
    )


def _append_facts(ranking: CandidateRanking, ids: Sequence[str]) -> CandidateRanking:
    """The ranking with facts that no channel heard."""
    if not ids:
        return ranking

    def longer(values: FloatArray) -> FloatArray:
        return np.concatenate([values, np.zeros(len(ids), values.dtype)])

    return replace(
        ranking,
        ids=(*ranking.ids, *ids),
        total=longer(ranking.total),
        scores={name: longer(values) for name, values in ranking.scores.items()},
        places={name: np.concatenate([at, np.zeros(len(ids), at.dtype)]) for name, at in ranking.places.items()},
        gives={name: longer(values) for name, values in ranking.gives.items()},
        parts={name: longer(values) for name, values in ranking.parts.items()},
    )


RECENCY_PART = "recency"

# Candidates that are compared, however many are wanted, so that the order does not depend on k.
COMPARED_RESULTS = 10

# Deviations by which a meaning stands out that count for most.
MAX_MEANING_DEVIATIONS = 10.0

# How much more than its older version a newer one gets: enough to decide the order, too little to mean anything else.
VERSION_LEAD = 1e-6


@dataclass(frozen=True, slots=True)
class VersionCandidate:
    """One of the best candidates: its row in the ranking, the fact, its wording, and how many deviations its meaning
    stands out by (None without an embedder)."""

    row: int
    fact: Fact
    wording: FactWording
    score: float
    meaning: float | None


VersionPair = tuple[VersionCandidate, VersionCandidate]


def prefer_newer(ranked: CandidateRanking, facts: Sequence[Fact], request: RecallRequest) -> CandidateRanking:
    """The ranking in which the newest of several versions of one fact has the highest score of them.

    `facts` are the best candidates. What a version gains is shown as a part of the score named `recency`.
    """
    if not request.settings[RECALL_NEWER_FIRST]:
        return ranked
    if is_about_past(request.text) or asks_several_things(request.text):
        return ranked
    return _raise_newer(ranked, run_reading_rule("versions", lambda: _find_versions(ranked, facts, request.text), []))


def _find_versions(ranked: CandidateRanking, facts: Sequence[Fact], text: str) -> list[VersionPair]:
    """Pairs of an older fact and a newer one that replaces it and has a lower score."""
    question, weights = read_question_wording(text), current_constants().versions
    candidates = _collect_candidates(ranked, facts)
    pairs = (sorted(pair, key=lambda candidate: age_key(candidate.fact)) for pair in combinations(candidates, 2))
    return [
        (older, newer)
        for older, newer in pairs
        if 0 < newer.score < older.score
        and is_in_time_order(older.fact, newer.fact)
        and are_comparable(older.fact, newer.fact)
        and _is_version(older, newer, question, weights)
    ]


def _collect_candidates(ranked: CandidateRanking, facts: Sequence[Fact]) -> list[VersionCandidate]:
    rows = {ranked.ids[row]: row for row in ranked.order[:COMPARED_RESULTS]}
    meaning = ranked.scores.get("semantic")
    candidates = []
    for fact in facts:
        row = rows.get(fact.id)
        wording = None if row is None else read_wording(fact.text, fact.speaker)
        if row is not None and wording is not None:
            stands_out = None if meaning is None else float(meaning[row])
            candidates.append(VersionCandidate(row, fact, wording, float(ranked.total[row]), stands_out))
    return candidates


def _is_version(
    older: VersionCandidate, newer: VersionCandidate, question: QuestionWording, weights: VersionConstants
) -> bool:
    """Whether what the two texts have in common, and how well the newer one answers, is evidence enough that it replaces the older.

    What is quick to compute decides first: most pairs are about two things.
    """
    stands_out = newer.meaning
    if stands_out is None:
        stands_out = weights.unknown_meaning * MAX_MEANING_DEVIATIONS
    evidence = (
        weights.score * newer.score / older.score
        + weights.meaning * min(max(stands_out, 0.0), MAX_MEANING_DEVIATIONS) / MAX_MEANING_DEVIATIONS
        + weights.coverage * word_coverage(older.wording, newer.wording)
        + weights.question_coverage * question_coverage(question, older.wording)
        + weights.announces_change * is_change_announced(older.wording, newer.wording)
    )
    if evidence + weights.names_old_value <= weights.least:
        return False
    evidence += weights.names_old_value * is_old_value_ended(question, older.wording, newer.wording)
    return evidence > weights.least and is_possible_replacement(question, older.wording, newer.wording)


def _raise_newer(ranked: CandidateRanking, versions: Sequence[VersionPair]) -> CandidateRanking:
    """Each newer version gets a score just above the highest of its older ones, oldest first, so that the newest ends up highest."""
    if not versions:
        return ranked
    total = ranked.total.copy()
    for older, newer in sorted(versions, key=lambda pair: age_key(pair[1].fact)):
        if total[newer.row] <= total[older.row]:
            total[newer.row] = total[older.row] + VERSION_LEAD
    return replace(
        ranked,
        total=total,
        order=rank_fusion.order_rows(total, ranked.ids),
        gives={**ranked.gives, RECENCY_PART: total - ranked.total},
    )
