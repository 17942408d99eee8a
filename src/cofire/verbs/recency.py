"""Recency: of several versions of one fact among the best candidates, the newest gets the best score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
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
    count_signs,
    may_replace,
    read_asked_wording,
    read_wording,
)
from cofire.recall_settings import NEWER_FIRST
from cofire.recollection import Ranking
from cofire.stores.base import Evidence
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue

PART = "recency"

# Candidates that are compared, however many are wanted, so that the order does not depend on k.
COMPARED = 10


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
    """The ranking in which versions of one fact have exchanged their scores, so that the newest has the highest.

    `facts` are the best candidates. The exchange is shown as a part of the score named `recency`.
    """
    if not asked.settings[NEWER_FIRST] or asks_about_past(asked.text):
        return ranked
    pairs = attempt("versions", lambda: _read_pairs(ranked, facts, asked.text), [])
    if not pairs:
        return ranked
    similarities = yield from _similarities(pairs, cue)
    question = read_asked_wording(asked.text)
    constants = ranking().versions
    versions = [pair for pair in pairs if _is_version(pair, question, similarities, constants)]
    return _exchange_scores(ranked, versions)


def _read_pairs(ranked: Ranking, facts: Sequence[Fact], text: str) -> list[Pair]:
    """Pairs of an older and a newer fact whose wording allows that one replaces the other."""
    question = read_asked_wording(text)
    candidates = _candidates(ranked, facts)
    pairs = (sorted(pair, key=_age) for pair in combinations(candidates, 2))
    return [
        (older, newer)
        for older, newer in pairs
        if newer.score < older.score
        and _are_comparable(older.fact, newer.fact)
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


def _age(candidate: Candidate) -> tuple[datetime, str]:
    fact = candidate.fact
    assert fact.time is not None  # every stored fact has one
    return fact.time, fact.id


def _are_comparable(older: Fact, newer: Fact) -> bool:
    """Facts of other speakers or subjects, of one session or of one document are no versions of each other."""
    if older.speaker != newer.speaker or older.scope != newer.scope:
        return False
    if older.subject and newer.subject and older.subject.casefold() != newer.subject.casefold():
        return False
    if older.session is not None and older.session == newer.session:
        return False
    return older.source is None or older.source != newer.source or older.stored_at != newer.stored_at


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
    pair: Pair, question: AskedWording, similarities: Mapping[frozenset[str], float], constants: Versions
) -> bool:
    older, newer = pair
    if newer.score < constants.near * older.score:
        return False
    similarity = similarities.get(frozenset((older.fact.id, newer.fact.id)))
    if similarity is not None and similarity < constants.similar:
        return False
    signs = count_signs(question, older.wording, newer.wording)
    signs += similarity is not None and similarity >= constants.alike
    signs += newer.meaning >= constants.meaning
    signs += older.meaning > 0 and newer.meaning >= constants.as_close * older.meaning
    return signs >= (constants.signs if newer.fact.session is None else constants.signs_in_chats)


def _exchange_scores(ranked: Ranking, versions: Sequence[Pair]) -> Ranking:
    """From the best candidate on, each gives its score to the newest of its versions that has a lower one, and gets that one's."""
    if not versions:
        return ranked
    total = ranked.total.copy()
    for row in ranked.order[:COMPARED]:
        newer = [new for old, new in versions if old.row == row and total[new.row] < total[row]]
        if newer:
            newest = max(newer, key=_age)
            total[[row, newest.row]] = total[[newest.row, row]]
    return replace(
        ranked,
        total=total,
        order=fusion.order(total, ranked.ids),
        gives={**ranked.gives, PART: total - ranked.total},
    )
