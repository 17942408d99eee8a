"""Curation in dictionaries: decay, pruning, archiving, superseding, reviews and usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from cofire.algorithms import decay
from cofire.index.timestamps import to_microseconds
from cofire.model import Change, Edge, EdgeCounts, Fact, FactVersion, NameMention
from cofire.stores.curation_rows import (
    SIMILARITY_KINDS,
    ContradictionReview,
    CurationChange,
    DecayedEdge,
    DecayRule,
    DecaySummary,
    FactUsage,
    GraphHealth,
    UsageReport,
    join_summaries,
)
from cofire.stores.learning_rows import FeedbackCounts
from cofire.stores.rules import (
    EdgeKey,
    EdgeStrengths,
    decay_edges,
    edge_key,
    latest_end,
    select_decaying_edges,
)

FactsById = Mapping[str, Fact]
EdgesByKey = dict[EdgeKey, Edge]
ActiveSpans = Iterable[tuple[datetime, datetime]]


@dataclass(frozen=True, slots=True)
class EdgeAge:
    """When an edge came or was last strengthened, and what it was then, if it has faded since."""

    since: datetime
    anchor: float | None = None


@dataclass
class ReferenceCurationState:
    """What curation keeps."""

    lives: dict[EdgeKey, EdgeAge] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)
    restored: dict[str, datetime] = field(default_factory=dict)
    superseded: dict[tuple[str, str], datetime | None] = field(default_factory=dict)
    reviews: dict[tuple[str, str], ContradictionReview] = field(default_factory=dict)

    def copy(self) -> ReferenceCurationState:
        return ReferenceCurationState(
            dict(self.lives), dict(self.because), dict(self.restored), dict(self.superseded), dict(self.reviews)
        )

    def forget(self, id: str) -> None:
        self.because.pop(id, None)
        self.restored.pop(id, None)
        self.lives = {key: life for key, life in self.lives.items() if id not in key[:2]}
        self.superseded = {pair: until for pair, until in self.superseded.items() if id not in pair}
        self.reviews = {pair: review for pair, review in self.reviews.items() if id not in pair}

    def seen(self, key: EdgeKey, now: datetime) -> None:
        """An edge came, or was strengthened or seen again."""
        self.lives[key] = EdgeAge(now)


@dataclass(frozen=True, slots=True)
class ReferenceDecayInput:
    """What fading goes over: the lives of edges, the edges, the facts at their ends, and the times of use."""

    care: ReferenceCurationState
    edges: EdgesByKey
    facts: dict[str, Fact]
    spans: ActiveSpans


def write_curation(ground: ReferenceDecayInput, change: Change) -> EdgeCounts:
    """Everything of a change that belongs to curation. The counts are of edges that faded and ended."""
    care, edges, facts = ground.care, ground.edges, ground.facts
    _archive_facts(care, facts, change)
    curation = change.curation
    for pair in curation.restored:
        if pair in care.superseded:
            _undo_supersede(care, facts, pair)
    for one in curation.superseded:
        if one.old in facts and one.new in facts:
            until = facts[one.old].valid_until
            others = [end for (old, _), end in care.superseded.items() if old == one.old]
            care.superseded.setdefault((one.old, one.new), latest_end(others) if others else until)
            facts[one.old] = replace(facts[one.old], valid_until=min(one.until, until or one.until))
    for review in curation.reviews:
        _write_review(care, facts, review)
    aged = [one for fade in curation.fades for one in _apply_decay(ground, fade, change.now)]
    weak = _find_weak_edges(edges, facts, curation.prune)
    for edge in weak:
        del edges[edge_key(edge)]
    ended = sum(one.after is None for one in aged)
    return EdgeCounts(0, len(aged) - ended, ended + len(weak))


def _archive_facts(care: ReferenceCurationState, facts: dict[str, Fact], change: Change) -> None:
    for id, out in change.archive.items():
        if id in facts:
            facts[id] = replace(facts[id], archived=out)
            care.because.pop(id, None)
            care.restored[id] = change.now
    care.because |= {id: why for id, why in change.curation.because.items() if id in facts and facts[id].archived}


def _undo_supersede(care: ReferenceCurationState, facts: dict[str, Fact], pair: tuple[str, str]) -> None:
    """The older fact is valid as long as before any other took its place."""
    kept = {one: end for one, end in care.superseded.items() if one[0] == pair[0]}
    care.superseded |= dict.fromkeys(kept, latest_end(kept.values()))
    facts[pair[0]] = replace(facts[pair[0]], valid_until=care.superseded.pop(pair))


def _write_review(care: ReferenceCurationState, facts: FactsById, review: ContradictionReview) -> None:
    pair = review.old, review.new
    if review.old not in facts or review.new not in facts:
        return
    if pair not in care.reviews:
        care.reviews[pair] = review
    elif review.state != "open":
        care.reviews[pair] = replace(care.reviews[pair], state=review.state)


def _apply_decay(ground: ReferenceDecayInput, fade: DecayRule, now: datetime) -> list[DecayedEdge]:
    care, edges, facts = ground.care, ground.edges, ground.facts
    aged = find_decayed_edges(ground, fade, now)
    for one in aged:
        key = one.source, one.target, one.kind
        if one.after is None:
            del edges[key]
            continue
        life = _get_edge_age(care, facts, edges[key])
        care.lives[key] = replace(life, anchor=one.before if life.anchor is None else life.anchor)
        edges[key] = (
            replace(edges[key], weight=one.after) if fade.by == "weight" else replace(edges[key], confidence=one.after)
        )
    return aged


def find_decayed_edges(ground: ReferenceDecayInput, rule: DecayRule, now: datetime) -> list[DecayedEdge]:
    """Edges whose decayed value is below the written one."""
    days = decay.list_usage_days(ground.spans) if rule.clock == "use" else None
    selection = select_decaying_edges(rule, now, days)
    edges = []
    shares = []
    ages = []
    for edge in ground.edges.values():
        share = edge.weight if rule.by == "weight" else edge.confidence
        share = selection.missing if share is None else share
        if edge.kind in selection.kinds and share is not None and not _is_exempt(edge, ground.facts):
            edges.append(edge)
            shares.append(share)
            ages.append(_get_edge_age(ground.care, ground.facts, edge))
    written = EdgeStrengths(
        np.arange(len(edges)),
        np.array(shares, np.float64),
        np.array([share if age.anchor is None else age.anchor for share, age in zip(shares, ages, strict=True)]),
        np.array([to_microseconds(age.since) for age in ages], np.int64),
    )
    decayed = decay_edges(written, rule, now, days)
    return [
        DecayedEdge(*edge_key(edges[row]), float(decayed.before[at]), decayed.value_after(at))
        for at, row in enumerate(decayed.keys.tolist())
    ]


def _is_exempt(edge: Edge, facts: FactsById) -> bool:
    return edge.origin == "user" or facts[edge.source].pinned or facts[edge.target].pinned


def _get_edge_age(care: ReferenceCurationState, facts: FactsById, edge: Edge) -> EdgeAge:
    """Edges that came with a fact are as old as it."""
    known = care.lives.get(edge_key(edge))
    return known or EdgeAge(max(_stored_time(facts[edge.source]), _stored_time(facts[edge.target])))


def _find_weak_edges(edges: EdgesByKey, facts: FactsById, threshold: float | None) -> list[Edge]:
    if threshold is None:
        return []
    return [
        edge
        for edge in edges.values()
        if edge.kind in SIMILARITY_KINDS
        and edge.weight is not None
        and edge.weight < threshold
        and not _is_exempt(edge, facts)
    ]


def _preview_pruning(edges: EdgesByKey, facts: FactsById, threshold: float, examples: int) -> DecaySummary:
    found = _find_weak_edges(edges, facts, threshold)
    shown = tuple(DecayedEdge(*edge_key(edge), edge.weight or 0.0, None) for edge in found[:examples])
    return DecaySummary(0, len(found), shown)


def summarise_decay(aged: Sequence[DecayedEdge], examples: int) -> DecaySummary:
    ended = sum(one.after is None for one in aged)
    return DecaySummary(len(aged) - ended, ended, tuple(aged[:examples]))


def _list_usage(shelf: Any) -> list[FactUsage]:
    facts: FactsById = shelf.facts
    restored = shelf.web.care.restored
    shown = {id: one.at for one in sorted(shelf.learning.shown.values(), key=lambda one: one.at) for id in one.ids}
    return [
        FactUsage(
            fact.id,
            fact.category,
            fact.pinned,
            _stored_time(fact),
            max([_stored_time(fact), *_list_use_times(fact, shown, restored)]),
            shelf.web.importance[fact.id].pagerank if fact.id in shelf.web.importance else 0.0,
            shelf.learning.uses.get(fact.id, FeedbackCounts()).success,
            len(fact.text.encode()) + len(shelf.vectors.get(fact.id, b"")),
        )
        for fact in sorted(facts.values(), key=lambda fact: fact.id)
        if not fact.archived
    ]


def _list_use_times(fact: Fact, *moments: Mapping[str, datetime]) -> list[datetime]:
    told = [fact.reinforced_at] if fact.reinforced_at else []
    return told + [some[fact.id] for some in moments if fact.id in some]


def _check_health(
    edges: EdgesByKey,
    facts: FactsById,
    mentions: Mapping[str, Mapping[str, NameMention]],
    subjects: Mapping[str, Mapping[str, float]],
) -> GraphHealth:
    """Nothing dangles here; orphans are linked neither by an edge nor through a name that another fact of the scope holds."""
    linked = {id for key in edges for id in key[:2]}
    names = {id: {*mentions.get(id, ()), *subjects.get(id, ())} for id in facts}
    holders: dict[tuple[str, str], set[str]] = {}
    for id, held in names.items():
        for name in held:
            holders.setdefault((facts[id].scope, name), set()).add(id)
    shared = {id for held in holders.values() if len(held) > 1 for id in held}
    return GraphHealth(sum(not fact.archived and id not in linked | shared for id, fact in facts.items()), 0)


def _list_changed_facts(
    facts: FactsById, history: Mapping[str, Sequence[FactVersion]], since: datetime | None
) -> list[str]:
    def changed_at(fact: Fact) -> datetime:
        return max([fact.reinforced_at or _stored_time(fact), *(past.until for past in history.get(fact.id, ()))])

    in_recall = (fact for fact in facts.values() if not fact.archived)
    return sorted(fact.id for fact in in_recall if since is None or changed_at(fact) >= since)


def _list_reviews(care: ReferenceCurationState, open_only: bool) -> list[ContradictionReview]:
    return [care.reviews[pair] for pair in sorted(care.reviews) if not open_only or care.reviews[pair].state == "open"]


def _stored_time(fact: Fact) -> datetime:
    assert fact.stored_at is not None, "a stored fact knows when it was stored"
    return fact.stored_at


class ReferenceCurationMixin:
    """What curation asks of a store in dictionaries."""

    def _open(self) -> Any:
        raise NotImplementedError

    def preview_decay(self, curation: CurationChange, now: datetime, examples: int) -> DecaySummary:
        shelf, web = self._open(), self._open().web
        ground = ReferenceDecayInput(web.care, web.edges, shelf.facts, web.spans)
        parts = [summarise_decay(find_decayed_edges(ground, rule, now), examples) for rule in curation.fades]
        if curation.prune is not None:
            parts.append(_preview_pruning(web.edges, shelf.facts, curation.prune, examples))
        return join_summaries(parts)

    def read_usage(self) -> UsageReport:
        return UsageReport(tuple(_list_usage(self._open())), tuple(decay.list_usage_days(self._open().web.spans)))

    def check_graph(self) -> GraphHealth:
        web = self._open().web
        return _check_health(web.edges, self._open().facts, web.mentions, web.subjects)

    def list_changed_ids(self, since: datetime | None) -> list[str]:
        return _list_changed_facts(self._open().facts, self._open().web.history, since)

    def list_reviews(self, open_only: bool) -> list[ContradictionReview]:
        return _list_reviews(self._open().web.care, open_only)
