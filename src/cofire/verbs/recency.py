"""Recency: of several versions of one fact among the best candidates, the newest gets the highest score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from cofire.dynamics import fusion
from cofire.model import Fact
from cofire.ranking import Versions, ranking
from cofire.reading.failures import attempt
from cofire.reading.versions import (
    AskedWording,
    Wording,
    announces_change,
    asks_about_past,
    coverage,
    may_replace,
    names_old_value,
    question_coverage,
    read_asked_wording,
    read_wording,
)
from cofire.recall_settings import NEWER_FIRST
from cofire.recollection import Ranking
from cofire.verbs.asking import Question
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
    """One of the best candidates: its row in the ranking, the fact, its wording, and how many deviations its meaning
    stands out by (None without an embedder)."""

    row: int
    fact: Fact
    wording: Wording
    score: float
    meaning: float | None


Pair = tuple[Candidate, Candidate]


def prefer_newer(ranked: Ranking, facts: Sequence[Fact], asked: Question) -> Ranking:
    """The ranking in which the newest of several versions of one fact has the highest score of them.

    `facts` are the best candidates. What a version gains is shown as a part of the score named `recency`.
    """
    if not asked.settings[NEWER_FIRST] or asks_about_past(asked.text):
        return ranked
    return _raise_newer(ranked, attempt("versions", lambda: _read_versions(ranked, facts, asked.text), []))


def _read_versions(ranked: Ranking, facts: Sequence[Fact], text: str) -> list[Pair]:
    """Pairs of an older fact and a newer one that replaces it and has a lower score."""
    question, weights = read_asked_wording(text), ranking().versions
    candidates = _candidates(ranked, facts)
    pairs = (sorted(pair, key=lambda candidate: age(candidate.fact)) for pair in combinations(candidates, 2))
    return [
        (older, newer)
        for older, newer in pairs
        if 0 < newer.score < older.score
        and are_ordered(older.fact, newer.fact)
        and are_comparable(older.fact, newer.fact)
        and _is_version(older, newer, question, weights)
    ]


def _candidates(ranked: Ranking, facts: Sequence[Fact]) -> list[Candidate]:
    rows = {ranked.ids[row]: row for row in ranked.order[:COMPARED]}
    meaning = ranked.scores.get("semantic")
    candidates = []
    for fact in facts:
        row = rows.get(fact.id)
        wording = None if row is None else read_wording(fact.text, fact.speaker)
        if row is not None and wording is not None:
            stands_out = None if meaning is None else float(meaning[row])
            candidates.append(Candidate(row, fact, wording, float(ranked.total[row]), stands_out))
    return candidates


def _is_version(older: Candidate, newer: Candidate, question: AskedWording, weights: Versions) -> bool:
    """Whether what the two texts have in common, and how well the newer one answers, is evidence enough that it replaces the older.

    What is quick to compute decides first: most pairs are about two things.
    """
    stands_out = newer.meaning
    if stands_out is None:
        stands_out = weights.unknown_meaning * MOST_MEANING
    evidence = (
        weights.score * newer.score / older.score
        + weights.meaning * min(max(stands_out, 0.0), MOST_MEANING) / MOST_MEANING
        + weights.coverage * coverage(older.wording, newer.wording)
        + weights.question_coverage * question_coverage(question, older.wording)
        + weights.announces_change * announces_change(older.wording, newer.wording)
    )
    if evidence + weights.names_old_value <= weights.least:
        return False
    evidence += weights.names_old_value * names_old_value(question, older.wording, newer.wording)
    return evidence > weights.least and may_replace(question, older.wording, newer.wording)


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
