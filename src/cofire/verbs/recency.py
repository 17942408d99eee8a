"""Recency: of several versions of one fact among the best candidates, the newest gets the highest score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from cofire.asks import Asking, Weigh
from cofire.dynamics import fusion, likeness
from cofire.model import Fact
from cofire.ranking import Versions, ranking
from cofire.reading.failures import attempt
from cofire.reading.versions import (
    AskedWording,
    Wording,
    asks_about_past,
    may_replace,
    read_asked_wording,
    read_signs,
    read_wording,
)
from cofire.recall_settings import NEWER_FIRST
from cofire.recollection import Ranking
from cofire.stores.base import Evidence
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue
from cofire.verbs.superseding import age, are_comparable, are_ordered

PART = "recency"

# Candidates that are compared, however many are wanted, so that the order does not depend on k.
COMPARED = 10

# Deviations by which a meaning stands out that count for most.
MOST_MEANING = 10.0

# How much more than its older version a newer one gets: enough to decide the order, too little to mean anything else.
LEAD = 1e-6


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the best candidates: its row in the ranking, the fact, its wording, and how much it stands out by meaning."""

    row: int
    fact: Fact
    wording: Wording
    score: float
    meaning: float


Pair = tuple[Candidate, Candidate]


def prefer_newer(ranked: Ranking, facts: Sequence[Fact], cue: Cue, asked: Question) -> Asking[Ranking]:
    """The ranking in which the newest of several versions of one fact has the highest score of them.

    `facts` are the best candidates. What a version gains is shown as a part of the score named `recency`.
    """
    if not asked.settings[NEWER_FIRST] or asks_about_past(asked.text):
        return ranked
    pairs = attempt("versions", lambda: _read_pairs(ranked, facts, asked.text), [])
    if not pairs:
        return ranked
    similarities = yield from _similarities(pairs, cue)
    question = read_asked_wording(asked.text)
    weights = ranking().versions
    versions = [pair for pair in pairs if _is_version(pair, question, similarities, weights)]
    return _raise_newer(ranked, versions)


def _read_pairs(ranked: Ranking, facts: Sequence[Fact], text: str) -> list[Pair]:
    """Pairs of an older and a newer fact whose wording allows that one replaces the other."""
    question = read_asked_wording(text)
    candidates = _candidates(ranked, facts)
    pairs = (sorted(pair, key=lambda candidate: age(candidate.fact)) for pair in combinations(candidates, 2))
    return [
        (older, newer)
        for older, newer in pairs
        if 0 < newer.score < older.score
        and are_ordered(older.fact, newer.fact)
        and are_comparable(older.fact, newer.fact)
        and may_replace(question, older.wording, newer.wording)
    ]


def _candidates(ranked: Ranking, facts: Sequence[Fact]) -> list[Candidate]:
    rows = {ranked.ids[row]: row for row in ranked.order[:COMPARED]}
    meaning = ranked.scores.get("semantic", np.zeros(len(ranked.ids)))
    candidates = []
    for fact in facts:
        row = rows.get(fact.id)
        wording = None if row is None else read_wording(fact.text, fact.speaker)
        if row is not None and wording is not None:
            candidates.append(Candidate(row, fact, wording, float(ranked.total[row]), float(meaning[row])))
    return candidates


def _similarities(pairs: Sequence[Pair], cue: Cue) -> Asking[Mapping[frozenset[str], float]]:
    """The centred cosines of pairs, by their ids; none without an embedder."""
    if cue.model is None:
        return {}
    ids = sorted({candidate.fact.id for pair in pairs for candidate in pair})
    evidence: Evidence = yield Weigh(ids, ())
    vectors = likeness.centred(evidence.vectors, cue.model.mean)
    embedded = {id: vectors[row] for row, id in enumerate(evidence.ids) if evidence.embedded[row]}
    return {
        frozenset((older.fact.id, newer.fact.id)): float(embedded[older.fact.id] @ embedded[newer.fact.id])
        for older, newer in pairs
        if older.fact.id in embedded and newer.fact.id in embedded
    }


def _is_version(
    pair: Pair, question: AskedWording, similarities: Mapping[frozenset[str], float], weights: Versions
) -> bool:
    """Whether what the pair has in common, and how well the newer one answers, outweighs the bias."""
    older, newer = pair
    similarity = similarities.get(frozenset((older.fact.id, newer.fact.id)))
    if similarity is None:
        similarity = weights.unknown_similarity
    signs = read_signs(question, older.wording, newer.wording)
    evidence = (
        weights.names_old_value * signs.names_old_value
        + weights.announces_change * signs.announces_change
        + weights.keeps_question * signs.keeps_question
        + weights.similarity * similarity
        + weights.score * max(newer.score / older.score, 0.0)
        + weights.meaning * min(max(newer.meaning, 0.0), MOST_MEANING) / MOST_MEANING
    )
    return evidence > (weights.least if newer.fact.session is None else weights.least_in_chats)


def _raise_newer(ranked: Ranking, versions: Sequence[Pair]) -> Ranking:
    """Each newer version gets a score just above the highest of its older ones, oldest first, so that the newest ends up highest."""
    if not versions:
        return ranked
    total = ranked.total.copy()
    for older, newer in sorted(versions, key=lambda pair: age(pair[1].fact)):
        if total[newer.row] <= total[older.row]:
            total[newer.row] = total[older.row] + LEAD
    return replace(
        ranked,
        total=total,
        order=fusion.order(total, ranked.ids),
        gives={**ranked.gives, PART: total - ranked.total},
    )
