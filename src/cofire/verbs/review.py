"""Contradicting pairs of facts: found, proposed, accepted or dismissed."""

from __future__ import annotations

import json
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
from cofire.text.versions import FactWording, read_wording
from cofire.verbs.embedding_model import read_stored_model
from cofire.verbs.supersede import supersede
from cofire.verbs.supersede_rules import MAX_EDGES, age_key, are_comparable

REVIEW_RECORD = "review"
LOOKUP_BATCH = 20_000  # facts whose neighbours are looked up at once
NEIGHBOURS_PER_FACT = 6  # per fact; 399 of 402 changes of benchmarks/sets/changes are among the nearest four
# A proposal stays while its evidence is at most this much below what is needed, since words get more common as a store grows.
EVIDENCE_SLACK = 0.3
# Facts at most this far apart were stored together: which of them replaces the other is left to the user.
STORED_TOGETHER_GAP = timedelta(seconds=1)

# Two ids, the smaller first.
IdPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ReviewProposal:
    """Two facts that seem to disagree, the older and the newer, and why."""

    old: Fact
    new: Fact
    why: str
    state: str


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """How many pairs were proposed, and how many applied."""

    proposed: int = 0
    applied: int = 0


@dataclass(frozen=True, slots=True)
class ContradictingPair:
    """An older and a newer fact, and the evidence that both cannot hold."""

    old: Fact
    new: Fact
    evidence: float

    @property
    def review(self) -> ContradictionReview:
        return ContradictionReview(self.old.id, self.new.id, explain_contradiction(self.old.reading, self.new.reading))

    @property
    def is_clear(self) -> bool:
        """Whether it may be applied without a question: clear evidence, a known order in time, and no pin on the older fact."""
        is_enough = self.evidence > current_constants().contradictions.least_clear
        is_later = age_key(self.new)[0] - age_key(self.old)[0] > STORED_TOGETHER_GAP
        return is_enough and not self.old.pinned and is_later


@dataclass(frozen=True, slots=True)
class NearestFacts:
    """Similarities of near facts by their ids, and for each fact the ids of its nearest, best first."""

    similarity: Mapping[IdPair, float]
    nearest: Mapping[str, Sequence[str]]

    def count_nearest(self, one: str, other: str) -> int:
        """How many of the two have the other as their nearest neighbour."""
        return sum(self.nearest.get(a, ())[:1] == (b,) for a, b in ((one, other), (other, one)))

    def are_distant(self, one: str, other: str) -> bool:
        """Whether neither is among the other's two nearest."""
        return all(b not in self.nearest.get(a, ())[:2] for a, b in ((one, other), (other, one)))


def list_proposals(everything: bool) -> Steps[list[ReviewProposal]]:
    """The pairs that wait for a decision, with the reason that holds now; with `everything` also those that were decided or applied.

    A pair that was settled another way is left out: one of the two is archived or has ended, one replaces the other, or they no
    longer contradict each other.
    """
    now: datetime = yield ReadClock()
    reviews = yield from store.list_reviews(open_only=not everything)
    rows = yield from store.read_facts(sorted({id for row in reviews for id in (row.old, row.new)}))
    facts = {fact.id: fact for fact in rows if fact is not None}
    reviews = [row for row in reviews if row.old in facts and row.new in facts]
    waiting = [row for row in reviews if row.state == "open"]
    replaced = yield from _read_replaced_pairs(facts.values())
    pairs = [(facts[row.old], facts[row.new]) for row in waiting if frozenset((row.old, row.new)) not in replaced]
    open_pairs = yield from _keep_contradicting(pairs, now)
    return [
        ReviewProposal(facts[row.old], facts[row.new], why, row.state)
        for row in reviews
        if (why := row.why if row.state != "open" else open_pairs.get((row.old, row.new)))
    ]


def _read_replaced_pairs(facts: Iterable[Fact]) -> Steps[set[frozenset[str]]]:
    """The pairs of which one replaces the other, now or later."""
    ending = frozenset(fact.id for fact in facts if fact.valid_until is not None)
    if not ending:
        return set()
    edges = yield from store.list_edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=ending), MAX_EDGES)
    return {frozenset((edge.source, edge.target)) for edge in edges if edge.target in ending}


def _keep_contradicting(pairs: Sequence[tuple[Fact, Fact]], now: datetime) -> Steps[dict[tuple[str, str], str]]:
    """The reasons of the pairs that still contradict each other, as if each were the other's nearest neighbour."""
    pairs = [pair for pair in pairs if not any(_has_ended(fact, now) for fact in pair)]
    facts = {fact.id: fact for pair in pairs for fact in pair}
    similarities = yield from _read_similarities(pairs)
    rarity = yield from _read_rarity(facts.values())
    least = current_constants().contradictions.least - EVIDENCE_SLACK
    unknown = current_constants().contradictions.unknown_similarity
    return {
        (old.id, new.id): explain_contradiction(old.reading, new.reading)
        for old, new in pairs
        if _optimistic_evidence(old, new, similarities.get(_order_ids(old.id, new.id), unknown), rarity[old.scope])
        > least
    }


def _read_similarities(pairs: Sequence[tuple[Fact, Fact]]) -> Steps[dict[IdPair, float]]:
    """The centred cosines of pairs; none without vectors."""
    model = yield from read_stored_model()
    if model is None or not pairs:
        return {}
    evidence = yield from store.fetch_features(sorted({fact.id for pair in pairs for fact in pair}), ())
    vectors = vector_similarity.centre_vectors(evidence.vectors, model.mean)
    row = {id: place for place, id in enumerate(evidence.ids) if evidence.embedded[place]}
    return {
        _order_ids(old.id, new.id): float(vectors[row[old.id]] @ vectors[row[new.id]])
        for old, new in pairs
        if old.id in row and new.id in row
    }


def accept_proposal(old: str, new: str, settings: Settings) -> Steps[Edge]:
    """The newer one is right: it supersedes the older."""
    pair = yield from _read_open_review(old, new)
    decided = ContradictionReview(pair.old, pair.new, pair.why, "accepted")
    return (yield from supersede(old, new, settings, (decided,)))


def dismiss_proposal(old: str, new: str) -> Steps[None]:
    """Both are right; the pair is not proposed again."""
    pair = yield from _read_open_review(old, new)
    now: datetime = yield ReadClock()
    yield from store.write(
        Change(
            now=now, curation=CurationChange(reviews=(ContradictionReview(pair.old, pair.new, pair.why, "dismissed"),))
        )
    )


def propose_reviews(dry_run: bool, settings: Settings) -> Steps[ReviewResult]:
    """Look for contradictions of the facts that changed since the last time; store them as proposals and apply the clear ones."""
    if not settings[REVIEW_ENABLED]:
        return ReviewResult()
    now: datetime = yield ReadClock()
    record = yield from store.read_record(REVIEW_RECORD)
    since = datetime.fromisoformat(json.loads(record.value)["at"]) if record else now
    # A last time in the future comes from a clock that went ahead: it does not say which facts were looked at.
    ids = yield from store.list_changed_ids(since if since < now else None)
    reviews = yield from store.list_reviews(open_only=False)
    known = {_order_ids(row.old, row.new) for row in reviews}
    contradictions: dict[IdPair, ContradictingPair] = {}
    for start in range(0, len(ids), LOOKUP_BATCH):
        contradictions |= yield from _find_contradictions(ids[start : start + LOOKUP_BATCH], known, now)
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
    ids: Sequence[str], known: Set[IdPair], now: datetime
) -> Steps[dict[IdPair, ContradictingPair]]:
    """The contradictions between these facts and their nearest neighbours, except known pairs."""
    near = _index_neighbours((yield from store.find_neighbours(ids, NEIGHBOURS_PER_FACT, 0)))
    rows = yield from store.read_facts(sorted({id for pair in near.similarity for id in pair}))
    facts = {fact.id: fact for fact in rows if fact is not None and not _has_ended(fact, now)}
    rarity = yield from _read_rarity(facts.values())
    possible: list[ContradictingPair] = []
    least = current_constants().contradictions.least
    for pair, similarity in near.similarity.items():
        if pair in known or pair[0] not in facts or pair[1] not in facts:
            continue
        old, new = sorted((facts[id] for id in pair), key=age_key)
        evidence = _optimistic_evidence(old, new, similarity, rarity[old.scope]) if are_comparable(old, new) else 0.0
        if evidence > least:
            possible.append(ContradictingPair(old, new, evidence))
    others = {fact.id for pair in possible for fact in (pair.old, pair.new)}.difference(ids)
    near_others = _index_neighbours((yield from store.find_neighbours(sorted(others), NEIGHBOURS_PER_FACT, 0)))
    near = replace(near, nearest={**near.nearest, **near_others.nearest})
    weighed = (replace(pair, evidence=_adjust_for_neighbours(pair, near)) for pair in possible)
    return {_order_ids(pair.old.id, pair.new.id): pair for pair in weighed if pair.evidence > least}


def _index_neighbours(kin: NeighbourCandidates) -> NearestFacts:
    order = np.lexsort((-kin.cosines, kin.left))
    similarity: dict[IdPair, float] = {}
    nearest: dict[str, tuple[str, ...]] = {}
    for left, right, cosine in zip(
        kin.left[order].tolist(), kin.right[order].tolist(), kin.cosines[order].tolist(), strict=True
    ):
        one, other = kin.ids[left], kin.ids[right]
        similarity[_order_ids(one, other)] = cosine
        nearest[one] = (*nearest.get(one, ()), other)
    return NearestFacts(similarity, nearest)


def _read_rarity(facts: Iterable[Fact]) -> Steps[dict[str, dict[str, float]]]:
    """How rare the words of these facts are, by scope."""
    tokens: dict[str, set[str]] = {}
    for fact in facts:
        wording = _read_wording(fact)
        tokens.setdefault(fact.scope, set()).update(wording.tokens if wording else ())
    rarity: dict[str, dict[str, float]] = {}
    for scope, words in tokens.items():
        listed = sorted(words)
        counted = yield from store.read_word_statistics((scope,), listed)
        rarity[scope] = {
            word: word_rarity(holding, counted.facts) for word, holding in zip(listed, counted.holding, strict=True)
        }
    return rarity


def _optimistic_evidence(old: Fact, new: Fact, similarity: float, rarity: Mapping[str, float]) -> float:
    """The evidence if each is the other's nearest neighbour; below what is needed for most pairs, after a quick look."""

    def weigh() -> float:
        older, newer = _read_wording(old), _read_wording(new)
        weights = current_constants().contradictions
        if (
            older is None
            or newer is None
            or bound_evidence(older, newer, similarity, rarity, weights) <= weights.least - EVIDENCE_SLACK
        ):
            return 0.0
        return weigh_features(extract_pair_features(older, newer, similarity=similarity, rarity=rarity), weights)

    return run_reading_rule("contradictions", weigh, 0.0)


def _adjust_for_neighbours(pair: ContradictingPair, near: NearestFacts) -> float:
    """The evidence with the neighbours as they are."""
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
    """The clear ones, oldest first, each older fact once."""
    chosen: dict[str, ContradictingPair] = {}
    for pair in sorted(contradictions, key=lambda pair: (age_key(pair.old), age_key(pair.new))):
        if pair.is_clear:
            chosen.setdefault(pair.old.id, pair)
    return list(chosen.values())


def _apply_contradiction(pair: ContradictingPair, settings: Settings) -> Steps[int]:
    """Let the newer fact supersede the older. A pair that cannot be applied stays a proposal. Returns how many were applied."""
    try:
        yield from supersede(pair.old.id, pair.new.id, settings, (replace(pair.review, state="applied"),))
    except (InvalidInput, NotFound):
        return 0
    return 1


def _has_ended(fact: Fact, now: datetime) -> bool:
    return fact.archived or any(end is not None and end <= now for end in (fact.valid_until, fact.expires))


def _read_open_review(old: str, new: str) -> Steps[ContradictionReview]:
    reviews = yield from store.list_reviews()
    pair = next((row for row in reviews if (row.old, row.new) == (old, new)), None)
    if pair is None:
        raise NotFound(
            f"{old} and {new} do not wait for a decision.", way_out="List those that do with: cofire review list"
        )
    return pair


def _order_ids(one: str, other: str) -> IdPair:
    return (one, other) if one < other else (other, one)
