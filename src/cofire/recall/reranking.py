"""Changes to the fused ranking: facts that bridge two results, and newer versions first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from cofire.activation_paths import ActivationHop
from cofire.algorithms import bridge_discovery, rank_fusion
from cofire.algorithms.array_ops import nan_to_none, pad_last_axis
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

# Number of results that bridges can connect. It is fixed, so that ranks do not depend on k.
BRIDGED_RESULTS = 10


@dataclass(frozen=True, slots=True)
class BridgeFact:
    """A fact that connects two results: its score, and the links that lead to it."""

    id: str
    score: float
    links: tuple[ActivationHop, ActivationHop]


def add_bridges(
    ranking: CandidateRanking, request: RecallRequest, plan: RecallPlan
) -> Steps[tuple[CandidateRanking, tuple[ChannelReport, ...]]]:
    """The ranking with facts that connect its best facts, and a channel report; unchanged if bridges are off."""
    if not request.settings[BRIDGES_ENABLED] or plan.mode not in ("full", "graph"):
        return ranking, ()
    try:
        bridges = yield from _find_bridges(ranking, request)
    except StoreError as error:
        return ranking, (ChannelReport(BRIDGES_CHANNEL, "failed", note=str(error)),)
    report = ChannelReport(BRIDGES_CHANNEL, "ok" if bridges else "empty", heard=len(bridges))
    return _lift_bridges(ranking, bridges), (report,)


def _find_bridges(ranking: CandidateRanking, request: RecallRequest) -> Steps[tuple[BridgeFact, ...]]:
    settings = request.settings
    options = ExpansionOptions(
        request.where,
        frozenset(bridge_discovery.EDGE_KIND_MULTIPLIERS),
        settings[GRAPH_RECALL_CONFIDENCE_FLOOR],
        settings[ACTIVATION_MOST_LINKS],
    )
    links = yield from store.expand_links(ranking.best(BRIDGED_RESULTS), options)
    scores = ranking.total[list(ranking.order[:BRIDGED_RESULTS])]
    conductance = bridge_discovery.bridge_conductances(
        links.kind, links.weight, links.confidence, decay=settings[BRIDGES_DECAY]
    )
    bridge_rows = bridge_discovery.find_bridge_rows(
        scores, links.source, links.target, conductance, facts=len(links.ids), most=settings[BRIDGES_MOST]
    )
    passed = scores[links.source] * conductance
    bridges = []
    for bridge in bridge_rows:
        first, second = bridge.links
        hops = (_make_hop(links, first, passed), _make_hop(links, second, passed))
        bridges.append(BridgeFact(links.ids[bridge.row], bridge.score, hops))
    return tuple(bridges)


def _make_hop(links: LinkExpansion, row: int, passed: FloatArray) -> ActivationHop:
    return ActivationHop(
        links.ids[links.source[row]],
        links.ids[links.target[row]],
        links.kind[row],
        nan_to_none(float(links.weight[row])),
        nan_to_none(float(links.confidence[row])),
        links.via[row],
        float(passed[row]),
    )


def _lift_bridges(ranking: CandidateRanking, bridges: Sequence[BridgeFact]) -> CandidateRanking:
    """Raise the score of each bridge to its bridge score. A higher score stays as it is."""
    if not bridges:
        return ranking
    score_of = {bridge.id: bridge.score for bridge in bridges}
    ranked_ids = set(ranking.ids)
    ranking = _append_facts(ranking, [id for id in score_of if id not in ranked_ids])
    scores = np.array([score_of.get(id, 0.0) for id in ranking.ids])
    lifts = np.where(scores > 0, np.maximum(0.0, scores - ranking.total), 0.0)
    total = ranking.total + lifts
    places = rank_fusion.rank_in_channel(scores, scores > 0, ranking.ids)
    return replace(
        ranking,
        total=total,
        order=rank_fusion.order_rows(total, ranking.ids),
        scores={**ranking.scores, BRIDGES_CHANNEL: scores},
        places={**ranking.places, BRIDGES_CHANNEL: places},
        gives={**ranking.gives, BRIDGES_CHANNEL: lifts},
        bridges={bridge.id: bridge.links for bridge in bridges},
    )


def _append_facts(ranking: CandidateRanking, ids: Sequence[str]) -> CandidateRanking:
    """The ranking with more facts, each with the score 0 in every channel."""
    if not ids:
        return ranking

    count = len(ranking.ids) + len(ids)
    return replace(
        ranking,
        ids=(*ranking.ids, *ids),
        total=pad_last_axis(ranking.total, count),
        scores={name: pad_last_axis(values, count) for name, values in ranking.scores.items()},
        places={name: pad_last_axis(places, count) for name, places in ranking.places.items()},
        gives={name: pad_last_axis(values, count) for name, values in ranking.gives.items()},
        parts={name: pad_last_axis(values, count) for name, values in ranking.parts.items()},
    )


RECENCY_PART = "recency"

# Number of candidates that are compared. It is fixed, so that ranks do not depend on k.
COMPARED_RESULTS = 10

# Deviations above chance at which the meaning of a candidate counts fully.
MAX_MEANING_DEVIATIONS = 10.0

# Score difference between a newer version and its older one: enough for the order, negligible otherwise.
VERSION_LEAD = 1e-6


@dataclass(frozen=True, slots=True)
class VersionCandidate:
    """One of the best candidates. `row` is its row in the ranking.

    `meaning` is its similarity to the question in deviations above chance, None without an embedder.
    """

    row: int
    fact: Fact
    wording: FactWording
    score: float
    meaning: float | None


VersionPair = tuple[VersionCandidate, VersionCandidate]


def prefer_newer(ranked: CandidateRanking, facts: Sequence[Fact], request: RecallRequest) -> CandidateRanking:
    """The ranking in which the newest of several versions of a fact has the highest score of them.

    `facts` are the best candidates. The score that a version gains is its channel `recency`.
    """
    if not request.settings[RECALL_NEWER_FIRST]:
        return ranked
    if is_about_past(request.text) or asks_several_things(request.text):
        return ranked
    versions = run_reading_rule("versions", lambda: _find_versions(ranked, facts, request.text), [])
    return _raise_newer(ranked, versions)


def _find_versions(ranked: CandidateRanking, facts: Sequence[Fact], text: str) -> list[VersionPair]:
    """Pairs of an older fact and a newer one that replaces it and has a lower score."""
    question = read_question_wording(text)
    weights = current_constants().versions
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
    meanings = ranked.scores.get("semantic")
    candidates = []
    for fact in facts:
        row = rows.get(fact.id)
        if row is None:
            continue
        wording = read_wording(fact.text, fact.speaker)
        if wording is None:
            continue
        meaning = None if meanings is None else float(meanings[row])
        candidates.append(VersionCandidate(row, fact, wording, float(ranked.total[row]), meaning))
    return candidates


def _is_version(
    older: VersionCandidate, newer: VersionCandidate, question: QuestionWording, weights: VersionConstants
) -> bool:
    """Whether the newer fact replaces the older one, by what the texts share and how well the newer one answers.

    The cheap features are computed first: they decide for most pairs.
    """
    deviations = newer.meaning
    if deviations is None:
        deviations = weights.unknown_meaning * MAX_MEANING_DEVIATIONS
    evidence = (
        weights.score * newer.score / older.score
        + weights.meaning * min(max(deviations, 0.0), MAX_MEANING_DEVIATIONS) / MAX_MEANING_DEVIATIONS
        + weights.coverage * word_coverage(older.wording, newer.wording)
        + weights.question_coverage * question_coverage(question, older.wording)
        + weights.announces_change * is_change_announced(older.wording, newer.wording)
    )
    if evidence + weights.names_old_value <= weights.least:
        return False
    evidence += weights.names_old_value * is_old_value_ended(question, older.wording, newer.wording)
    return evidence > weights.least and is_possible_replacement(question, older.wording, newer.wording)


def _raise_newer(ranked: CandidateRanking, versions: Sequence[VersionPair]) -> CandidateRanking:
    """Raise each newer version just above its older ones, oldest first, so that the newest ends up highest."""
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
