"""Find contradicting pairs of facts, propose them for review, and accept or dismiss proposals."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from cofire.algorithms import vector_similarity
from cofire.errors import InvalidInput, NotFound
from cofire.model import Change, Edge, Fact, StoreRecord
from cofire.runtime.effects import ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.ranking import current_constants
from cofire.settings.table import REVIEW_APPLY_CLEAR, REVIEW_ENABLED, Settings
from cofire.stores.base import EdgeFilter, NeighbourCandidates
from cofire.stores.curation_rows import ContradictionReview, CurationChange
from cofire.stores.edge_kinds import SUPERSEDES
from cofire.text.base import run_reading_rule
from cofire.text.contradictions import (
    bound_evidence,
    explain_contradiction,
    extract_pair_features,
    weigh_features,
    word_rarity,
)
from cofire.text.versions import FactWording, is_change_announced, read_wording
from cofire.text.words import extract_words
from cofire.verbs.embedding_model import read_stored_model
from cofire.verbs.supersede import supersede
from cofire.verbs.supersede_rules import MAX_EDGES, age_key, are_comparable

REVIEW_RECORD = "review"
LOOKUP_BATCH = 20_000  # facts whose neighbours are looked up at once
NEIGHBOURS_PER_FACT = 6  # 399 of 402 changes of benchmarks/sets/changes are among the nearest four
# A proposal stays while its evidence is at most this much below what is needed, since words get more common as a store grows.
EVIDENCE_SLACK = 0.3
NO_EVIDENCE = -math.inf
# Facts at most this far apart were stored together: which of them replaces the other is left to the user.
STORED_TOGETHER_GAP = timedelta(seconds=1)

# Two ids, the smaller first.
IdPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ReviewProposal:
    """An older and a newer fact that may contradict each other, with the reason and the state of the review."""

    old: Fact
    new: Fact
    why: str
    state: str


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The numbers of proposed and of applied pairs."""

    proposed: int = 0
    applied: int = 0


@dataclass(frozen=True, slots=True)
class ContradictingPair:
    """An older and a newer fact, and the evidence that they contradict each other."""

    old: Fact
    new: Fact
    evidence: float

    @property
    def review(self) -> ContradictionReview:
        return ContradictionReview(self.old.id, self.new.id, explain_contradiction(self.old.reading, self.new.reading))

    @property
    def is_clear(self) -> bool:
        """Whether it may be applied without review: strong evidence, a known time order, and the older fact not pinned."""
        is_enough = self.evidence > current_constants().contradictions.least_clear
        is_later = age_key(self.new)[0] - age_key(self.old)[0] > STORED_TOGETHER_GAP
        return is_enough and not self.old.pinned and is_later


@dataclass(frozen=True, slots=True)
class NearestFacts:
    """Similarities of pairs of near facts, and for each fact the ids of its neighbours, nearest first."""

    similarity: Mapping[IdPair, float]
    nearest: Mapping[str, Sequence[str]]

    def count_nearest(self, first: str, second: str) -> int:
        """How many of the two facts have the other as their nearest neighbour."""
        directions = ((first, second), (second, first))
        return sum(self.nearest.get(id, ())[:1] == (other,) for id, other in directions)

    def are_distant(self, first: str, second: str) -> bool:
        """Whether neither fact is among the two nearest neighbours of the other."""
        directions = ((first, second), (second, first))
        return all(other not in self.nearest.get(id, ())[:2] for id, other in directions)


def list_proposals(everything: bool) -> Steps[list[ReviewProposal]]:
    """The open proposals with their current reason. With `everything` also decided and applied ones.

    An open proposal is left out if one of its facts is archived or has ended, if one replaces the other,
    or if the two no longer contradict each other.
    """
    now: datetime = yield ReadClock()
    reviews = yield from store.list_reviews(open_only=not everything)
    ids = {id for review in reviews for id in (review.old, review.new)}
    rows = yield from store.read_facts(sorted(ids))
    facts = {fact.id: fact for fact in rows if fact is not None}
    reviews = [review for review in reviews if review.old in facts and review.new in facts]
    replaced = yield from _read_replaced_pairs(facts.values())
    open_pairs = [
        (facts[review.old], facts[review.new])
        for review in reviews
        if review.state == "open" and frozenset((review.old, review.new)) not in replaced
    ]
    current_reasons = yield from _keep_contradicting(open_pairs, now)
    proposals: list[ReviewProposal] = []
    for review in reviews:
        is_open = review.state == "open"
        why = current_reasons.get((review.old, review.new)) if is_open else review.why
        if why:
            proposals.append(ReviewProposal(facts[review.old], facts[review.new], why, review.state))
    return proposals


def _read_replaced_pairs(facts: Iterable[Fact]) -> Steps[set[frozenset[str]]]:
    """The pairs of which one fact replaces the other, now or at a later time."""
    ending = frozenset(fact.id for fact in facts if fact.valid_until is not None)
    if not ending:
        return set()
    edges = yield from store.list_edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=ending), MAX_EDGES)
    return {frozenset((edge.source, edge.target)) for edge in edges if edge.target in ending}


def _keep_contradicting(pairs: Sequence[tuple[Fact, Fact]], now: datetime) -> Steps[dict[tuple[str, str], str]]:
    """The reasons of the pairs that still contradict each other, if each were the other's nearest neighbour."""
    current_pairs = [pair for pair in pairs if not any(_has_ended(fact, now) for fact in pair)]
    facts = {fact.id: fact for pair in current_pairs for fact in pair}
    similarities = yield from _read_similarities(current_pairs)
    rarity = yield from _read_rarity(facts.values())
    weights = current_constants().contradictions
    reasons: dict[tuple[str, str], str] = {}
    for old, new in current_pairs:
        similarity = similarities.get(_order_ids(old.id, new.id), weights.unknown_similarity)
        evidence = _optimistic_evidence(old, new, similarity, rarity[old.scope])
        if evidence > weights.least - EVIDENCE_SLACK:
            reasons[old.id, new.id] = explain_contradiction(old.reading, new.reading)
    return reasons


def _read_similarities(pairs: Sequence[tuple[Fact, Fact]]) -> Steps[dict[IdPair, float]]:
    """The centred cosines of the pairs that have vectors."""
    model = yield from read_stored_model()
    if model is None or not pairs:
        return {}
    ids = sorted({fact.id for pair in pairs for fact in pair})
    features = yield from store.fetch_features(ids, ())
    vectors = vector_similarity.centre_vectors(features.vectors, model.mean)
    vector_by_id = {id: vectors[row] for row, id in enumerate(features.ids) if features.embedded[row]}
    return {
        _order_ids(old.id, new.id): float(vector_by_id[old.id] @ vector_by_id[new.id])
        for old, new in pairs
        if old.id in vector_by_id and new.id in vector_by_id
    }


def accept_proposal(old: str, new: str, settings: Settings) -> Steps[Edge]:
    """Accept a proposal: the newer fact supersedes the older."""
    review = yield from _read_open_review(old, new)
    return (yield from supersede(old, new, settings, (replace(review, state="accepted"),)))


def dismiss_proposal(old: str, new: str) -> Steps[None]:
    """Dismiss a proposal: both facts stay valid, and the pair is not proposed again."""
    review = yield from _read_open_review(old, new)
    now: datetime = yield ReadClock()
    curation = CurationChange(reviews=(replace(review, state="dismissed"),))
    yield from store.write(Change(now=now, curation=curation))


def propose_reviews(dry_run: bool, settings: Settings) -> Steps[ReviewResult]:
    """Find contradictions of facts that changed since the last run, store them as proposals, and apply clear ones."""
    if not settings[REVIEW_ENABLED]:
        return ReviewResult()
    now: datetime = yield ReadClock()
    record = yield from store.read_record(REVIEW_RECORD)
    since = datetime.fromisoformat(json.loads(record.value)["at"]) if record else now
    # A time in the future comes from a wrong clock. All facts are checked again.
    ids = yield from store.list_changed_ids(since if since < now else None)
    reviews = yield from store.list_reviews(open_only=False)
    reviewed_pairs = {_order_ids(review.old, review.new) for review in reviews}
    contradictions: dict[IdPair, ContradictingPair] = {}
    for start in range(0, len(ids), LOOKUP_BATCH):
        contradictions |= yield from _find_contradictions(ids[start : start + LOOKUP_BATCH], reviewed_pairs, now)
    clear = _choose_clear(contradictions.values()) if settings[REVIEW_APPLY_CLEAR] else []
    if dry_run:
        return ReviewResult(len(contradictions) - len(clear), len(clear))
    proposals = tuple(contradiction.review for contradiction in contradictions.values())
    last_time = StoreRecord(REVIEW_RECORD, json.dumps({"at": now.isoformat()}).encode("ascii"))
    yield from store.write(Change(now=now, curation=CurationChange(reviews=proposals), records=(last_time,)))
    applied = 0
    for contradiction in clear:
        applied += yield from _apply_contradiction(contradiction, settings)
    return ReviewResult(len(contradictions) - applied, applied)


def _find_contradictions(
    ids: Sequence[str], reviewed_pairs: Set[IdPair], now: datetime
) -> Steps[dict[IdPair, ContradictingPair]]:
    """The contradictions between these facts and their nearest neighbours, except pairs with a review."""
    neighbours = yield from store.find_neighbours(ids, NEIGHBOURS_PER_FACT, 0)
    near = _index_neighbours(neighbours)
    rows = yield from store.read_facts(sorted({id for pair in near.similarity for id in pair}))
    facts = {fact.id: fact for fact in rows if fact is not None and not _has_ended(fact, now)}
    rarity = yield from _read_rarity(facts.values())
    least = current_constants().contradictions.least
    candidates: list[ContradictingPair] = []
    for pair, similarity in near.similarity.items():
        if pair in reviewed_pairs or pair[0] not in facts or pair[1] not in facts:
            continue
        old, new = sorted((facts[id] for id in pair), key=age_key)
        if not are_comparable(old, new):
            continue
        evidence = _optimistic_evidence(old, new, similarity, rarity[old.scope])
        if evidence > least:
            candidates.append(ContradictingPair(old, new, evidence))
    other_ids = {fact.id for pair in candidates for fact in (pair.old, pair.new)}.difference(ids)
    other_neighbours = yield from store.find_neighbours(sorted(other_ids), NEIGHBOURS_PER_FACT, 0)
    near_others = _index_neighbours(other_neighbours)
    near = replace(near, nearest={**near.nearest, **near_others.nearest})
    contradictions: dict[IdPair, ContradictingPair] = {}
    for candidate in candidates:
        evidence = _adjust_for_neighbours(candidate, near)
        if evidence > least:
            key = _order_ids(candidate.old.id, candidate.new.id)
            contradictions[key] = replace(candidate, evidence=evidence)
    return contradictions


def _index_neighbours(neighbours: NeighbourCandidates) -> NearestFacts:
    order = np.lexsort((-neighbours.cosines, neighbours.left))
    left_rows = neighbours.left[order].tolist()
    right_rows = neighbours.right[order].tolist()
    cosines = neighbours.cosines[order].tolist()
    similarity: dict[IdPair, float] = {}
    nearest: dict[str, tuple[str, ...]] = {}
    for left, right, cosine in zip(left_rows, right_rows, cosines, strict=True):
        id, neighbour_id = neighbours.ids[left], neighbours.ids[right]
        similarity[_order_ids(id, neighbour_id)] = cosine
        nearest[id] = (*nearest.get(id, ()), neighbour_id)
    return NearestFacts(similarity, nearest)


def _read_rarity(facts: Iterable[Fact]) -> Steps[dict[str, dict[str, float]]]:
    """The rarity of the words of these facts, by scope and word."""
    words_by_scope: dict[str, set[str]] = {}
    for fact in facts:
        wording = _read_wording(fact)
        words_by_scope.setdefault(fact.scope, set()).update(wording.tokens if wording else ())
    rarity: dict[str, dict[str, float]] = {}
    for scope, word_set in words_by_scope.items():
        words = sorted(word_set)
        statistics = yield from store.read_word_statistics((scope,), words)
        rarity[scope] = {
            word: word_rarity(holding, statistics.facts)
            for word, holding in zip(words, statistics.holding, strict=True)
        }
    return rarity


def _optimistic_evidence(old: Fact, new: Fact, similarity: float, rarity: Mapping[str, float]) -> float:
    """The evidence if each fact is the other's nearest neighbour.

    A cheap upper bound excludes most pairs first. For these there is no evidence at all.
    """

    def weigh() -> float:
        old_wording, new_wording = _read_wording(old), _read_wording(new)
        if old_wording is None or new_wording is None:
            return NO_EVIDENCE
        if _shares_only_subject(old, old_wording, new_wording):
            return NO_EVIDENCE
        weights = current_constants().contradictions
        bound = bound_evidence(old_wording, new_wording, similarity, rarity, weights)
        if bound <= weights.least - EVIDENCE_SLACK:
            return NO_EVIDENCE
        features = extract_pair_features(old_wording, new_wording, similarity=similarity, rarity=rarity)
        return weigh_features(features, weights)

    return run_reading_rule("contradictions", weigh, NO_EVIDENCE)


def _shares_only_subject(old: Fact, old_wording: FactWording, new_wording: FactWording) -> bool:
    """Whether the texts have nothing in common but the subject of the older fact, and the newer one announces no change.

    A subject is part of the text that is compared: it says what both facts are about, not that they state one thing.
    """
    shared = old_wording.words & new_wording.words
    return shared <= set(extract_words(old.subject or "")) and not is_change_announced(old_wording, new_wording)


def _adjust_for_neighbours(pair: ContradictingPair, near: NearestFacts) -> float:
    """The evidence with the actual nearest neighbours."""
    weights = current_constants().contradictions
    nearest = near.count_nearest(pair.old.id, pair.new.id)
    distant = near.are_distant(pair.old.id, pair.new.id)
    return pair.evidence - weights.nearest * (2 - nearest) + weights.distant * distant


def _read_wording(fact: Fact) -> FactWording | None:
    """The wording of a fact; None for a passage, a question, or a text that cannot be read."""
    if fact.text.rstrip().endswith("?"):
        return None
    return run_reading_rule("contradictions", lambda: read_wording(fact.reading, fact.speaker), None)


def _choose_clear(contradictions: Iterable[ContradictingPair]) -> list[ContradictingPair]:
    """The clear contradictions, oldest first, at most one for each older fact."""
    chosen: dict[str, ContradictingPair] = {}
    for pair in sorted(contradictions, key=lambda pair: (age_key(pair.old), age_key(pair.new))):
        if pair.is_clear:
            chosen.setdefault(pair.old.id, pair)
    return list(chosen.values())


def _apply_contradiction(pair: ContradictingPair, settings: Settings) -> Steps[int]:
    """Let the newer fact supersede the older. Returns 1, or 0 for a pair that cannot be applied and stays proposed."""
    try:
        yield from supersede(pair.old.id, pair.new.id, settings, (replace(pair.review, state="applied"),))
    except (InvalidInput, NotFound):
        return 0
    return 1


def _has_ended(fact: Fact, now: datetime) -> bool:
    return fact.archived or any(end is not None and end <= now for end in (fact.valid_until, fact.expires))


def _read_open_review(old: str, new: str) -> Steps[ContradictionReview]:
    reviews = yield from store.list_reviews()
    for review in reviews:
        if (review.old, review.new) == (old, new):
            return review
    raise NotFound(
        f"There is no open proposal for {old} and {new}.", way_out="List open proposals with: cofire review list"
    )


def _order_ids(first: str, second: str) -> IdPair:
    return (first, second) if first < second else (second, first)
