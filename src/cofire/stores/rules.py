"""Rules that every store applies: conflicts, stale dreams, merged and learned edges, edge decay.

Each rule is a pure function of plain values. A store fetches what the rule needs and writes what it returns.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import decay, reinforcement
from cofire.algorithms.conductance import MISSING_CONFIDENCE
from cofire.algorithms.decay import Shares
from cofire.errors import Conflict, InvalidInput, NotFound
from cofire.model import Change, Edge, EdgeCounts, EdgeWrite, Fact, FactWrite, LinkBasis, SkippedRestore
from cofire.stores.curation_rows import DecayRule
from cofire.stores.edge_batch import find_shared_tags
from cofire.stores.edge_kinds import BEHAVIOURAL_TABLE, EDGE_KINDS, STRUCTURAL_TABLE
from cofire.stores.learning_rows import HEBBIAN_KIND, USE_ORIGIN, EdgeAdjustment
from cofire.text.descriptions import find_lowered_term_counts, remove_phrases_from_history


def reject_duplicate_text(twin: str | None, id: str) -> None:
    """Refuse to give a fact the text of another fact."""
    if twin is not None and twin != id:
        raise InvalidInput(
            f"The fact {twin} says this already.", way_out=f"Forget {id}, or update {twin} with what it lacks."
        )


def reject_stale_facts(as_read: Mapping[str, Fact], stored: Mapping[str, Fact]) -> None:
    """Refuse a change that rests on facts which have changed or gone since. A repeated observation is no such change."""
    for id, fact in as_read.items():
        if id not in stored or _strip_reinforcement(stored[id]) != _strip_reinforcement(fact):
            raise Conflict(f"The fact {id} was changed in between.", way_out="Read it again and try once more.")


def _strip_reinforcement(fact: Fact) -> Fact:
    return replace(fact, reinforced=0, reinforced_at=None)


def reject_forgotten_fact(new: FactWrite) -> None:
    """Refuse to reinforce a fact that was forgotten in between: the change has only its hash, not its content."""
    if new.again:
        raise Conflict("A fact was forgotten while it was told again.", way_out="Tell it once more.")


def drop_stale_dream_results(change: Change, now: Mapping[str, LinkBasis]) -> Change:
    """The results of a dream without those about facts that changed while it computed. Such facts wait for the next dream."""
    changed = {id for id, before in change.dreamed.items() if now.get(id, before) != before}
    if not changed:
        return change
    return replace(
        change,
        dreamed={id: before for id, before in change.dreamed.items() if id not in changed},
        edges=tuple(new for new in change.edges if changed.isdisjoint((new.edge.source, new.edge.target))),
        descriptions=tuple(new for new in change.descriptions if changed.isdisjoint((new.fact, *new.cites))),
        mentions={id: mentions for id, mentions in change.mentions.items() if id not in changed},
    )


EdgeKey = tuple[str, str, str]

# How much surer an edge becomes when it is observed again (001: + 0.05, capped at 1).
CONFIDENCE_STEP = 0.05


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge as a store holds it. An ended edge stays, and goes on when it is written again."""

    edge: Edge
    ended: bool = False


def edge_key(edge: Edge) -> EdgeKey:
    """What identifies an edge: there is one of a kind from a fact to another."""
    return edge.source, edge.target, edge.kind


def missing_fact_error(id: str) -> NotFound:
    """For an edge to a fact that is not stored."""
    return NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")


def different_scopes_error() -> InvalidInput:
    """For an edge between two scopes."""
    return InvalidInput("The two facts are of different scopes.", way_out="Connect facts of one scope.")


def normalise_edge(edge: Edge) -> Edge:
    """An edge as stores keep it: with its tags in order."""
    tags = tuple(sorted(edge.tags))
    return edge if tags == edge.tags else replace(edge, tags=tags)


def merge_edge(existing: Edge, incoming: Edge, mode: str, now: datetime) -> Edge:
    """The edge to store when one of the same kind already joins the two facts; `existing` itself when nothing changes.

    reinforce   keep the existing values and raise confidence by one step ("reinforced on observation", 001)
    update      take the incoming values
    skip        keep the existing edge
    error       refuse

    >>> now = datetime(2026, 1, 1)
    >>> old, new = Edge("a", "b", "causes", 0.2, 0.5), Edge("a", "b", "causes", 0.7, 0.9)
    >>> merge_edge(old, new, "reinforce", now).confidence, merge_edge(old, new, "update", now).weight
    (0.55, 0.7)
    >>> merge_edge(old, new, "skip", now) is old, merge_edge(old, old, "update", now) is old
    (True, True)
    """
    if mode == "error":
        raise InvalidInput(
            f"{incoming.source} and {incoming.target} are already connected by {incoming.kind}.",
            way_out="Use mode reinforce, update or skip.",
        )
    if mode == "skip":
        return existing
    incoming = normalise_edge(incoming)
    if mode == "reinforce":
        confidence = reinforcement.adjust_confidence(existing.confidence, step=CONFIDENCE_STEP)
        return _keep_use(replace(existing, confidence=confidence), existing, incoming, now)
    is_more_used = incoming.co_access_count > existing.co_access_count
    is_newly_seen = incoming.strengthened not in (None, existing.strengthened)
    if incoming == existing and not is_more_used and not is_newly_seen:
        return existing
    return _keep_use(incoming, existing, incoming, now)


def reopen_edge(ended: Edge, incoming: Edge, now: datetime) -> Edge:
    """The edge to store when one of the same kind had ended: the incoming values, and the use that was counted before.

    >>> ended = Edge("a", "b", "hebbian", 0.2, co_access_count=3)
    >>> reopen_edge(ended, Edge("a", "b", "hebbian", 0.7), datetime(2026, 1, 1)).co_access_count
    3
    """
    return _keep_use(normalise_edge(incoming), ended, incoming, now)


def _keep_use(edge: Edge, existing: Edge, incoming: Edge, now: datetime) -> Edge:
    """The use of an edge stays, or comes with an edge that was counted in another store."""
    return replace(
        edge,
        co_access_count=max(existing.co_access_count, incoming.co_access_count),
        strengthened=incoming.strengthened or now,
    )


def adjust_edge(edge: Edge, step: float, now: datetime) -> Edge:
    """The edge after one lesson; the edge itself where a lesson may not change it.

    >>> edge = Edge("a", "b", "hebbian", 0.3, co_access_count=1)
    >>> stronger = adjust_edge(edge, 0.05, datetime(2026, 1, 1))
    >>> round(stronger.weight, 2), stronger.co_access_count, stronger.strengthened.year
    (0.35, 2, 2026)
    >>> adjust_edge(edge, -0.05, datetime(2026, 1, 1)).co_access_count
    1
    """
    if not reinforcement.is_adjustable(edge.origin, step=step):
        return edge
    return replace(
        edge,
        weight=reinforcement.adjust_weight(edge.weight, step=step),
        confidence=reinforcement.adjust_confidence(edge.confidence, step=step),
        co_access_count=edge.co_access_count + (step > 0),
        strengthened=now if step > 0 else edge.strengthened,
    )


def make_follows_edge(before: str, after: str, distance: int, shared_tags: tuple[str, ...], now: datetime) -> EdgeWrite:
    """The edge from a turn to a later one of the same session: the nearer the stronger.

    >>> make_follows_edge("a", "b", 4, (), datetime(2026, 1, 1)).edge.weight
    0.25
    """
    edge = Edge(before, after, "follows", 1 / distance, 1.0, shared_tags, "session", strengthened=now)
    return EdgeWrite(edge, "skip", own=True)


class EdgeChanges:
    """Applies edge writes, ends and lessons to the edges that a store holds, and collects what it has to write.

    `scopes` and `tags` are those of the facts at the ends, by id; a fact without a scope here is not stored.
    `stored` are the edges that the store holds between these facts; `written` are the new and changed ones.
    """

    def __init__(
        self,
        scopes: Mapping[str, Hashable],
        stored: Mapping[EdgeKey, StoredEdge],
        now: datetime,
        tags: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> None:
        self.scopes = scopes
        self._tags = tags
        self._now = now
        self._stored = dict(stored)
        self.written: dict[EdgeKey, StoredEdge] = {}
        self.counts = EdgeCounts()

    def end(self, edge: Edge) -> None:
        """End an edge. It is no longer seen, but it stays stored."""
        key = edge_key(edge)
        current = self._current(key)
        if current is not None:
            self._write(key, StoredEdge(current, ended=True), EdgeCounts(ended=1))

    def write(self, new: EdgeWrite) -> None:
        """Insert an edge, or merge it with the stored one. An edge of memory's own is left out where a fact is gone."""
        edge, key = new.edge, edge_key(new.edge)
        missing = [id for id in (edge.source, edge.target) if id not in self.scopes]
        if missing and new.own:
            return
        if missing:
            raise missing_fact_error(missing[0])
        if self.scopes[edge.source] != self.scopes[edge.target]:
            raise different_scopes_error()
        stored = self._stored.get(key)
        if stored is None:
            self._write(key, StoredEdge(normalise_edge(edge)), EdgeCounts(new=1))
        elif stored.ended:
            self._write(key, StoredEdge(reopen_edge(stored.edge, edge, self._now)), EdgeCounts(new=1))
        else:
            merged = merge_edge(stored.edge, edge, new.mode, self._now)
            if merged is not stored.edge:
                self._write(key, StoredEdge(merged), EdgeCounts(changed=1))

    def learn(self, lesson: EdgeAdjustment) -> None:
        """Strengthen or weaken an edge, or the edge that leads back. Only a hebbian edge that grows is inserted."""
        source, target = lesson.source, lesson.target
        if source not in self.scopes or self.scopes[source] != self.scopes.get(target):
            return
        for key in ((source, target, lesson.kind), (target, source, lesson.kind)):
            current = self._current(key)
            if current is not None:
                adjusted = adjust_edge(current, lesson.step, self._now)
                if adjusted is not current:
                    self._write(key, StoredEdge(adjusted), EdgeCounts(changed=1))
                return
        if lesson.kind == HEBBIAN_KIND and lesson.step > 0:
            edge = self._make_hebbian_edge(lesson)
            self._write(edge_key(edge), StoredEdge(edge), EdgeCounts(new=1))

    def _make_hebbian_edge(self, lesson: EdgeAdjustment) -> Edge:
        turned = lesson.turned()
        return Edge(
            turned.source,
            turned.target,
            HEBBIAN_KIND,
            lesson.step,
            None,
            find_shared_tags(self._tags[turned.source], self._tags[turned.target]),
            USE_ORIGIN,
            co_access_count=1,
            strengthened=self._now,
        )

    def _current(self, key: EdgeKey) -> Edge | None:
        """A stored edge that has not ended."""
        stored = self._stored.get(key)
        return None if stored is None or stored.ended else stored.edge

    def _write(self, key: EdgeKey, edge: StoredEdge, counts: EdgeCounts) -> None:
        self._stored[key] = self.written[key] = edge
        self.counts += counts


MICROSECONDS_PER_DAY = 86_400_000_000


def list_days_in_use(spans: Iterable[tuple[int, int]]) -> list[int]:
    """The days since 1970 on which the memory was in use, in order. Spans are in microseconds.

    >>> list_days_in_use([(0, 86_400_000_000), (5, 6)])
    [0, 1]
    """
    days: set[int] = set()
    for begun, ended in spans:
        days.update(range(begun // MICROSECONDS_PER_DAY, ended // MICROSECONDS_PER_DAY + 1))
    return sorted(days)


@dataclass(frozen=True, slots=True)
class DecaySelection:
    """Which edges a decay rule reads: these kinds, last seen before a moment (microseconds).

    `missing` is the value of an edge whose weight or confidence was never set; None leaves such edges out. Edges that a
    user made and edges of pinned facts never decay.
    """

    table: str
    kinds: tuple[str, ...]
    missing: float | None
    before: int


DECAYING_TABLES = {"weight": BEHAVIOURAL_TABLE, "confidence": STRUCTURAL_TABLE}


def select_decaying_edges(rule: DecayRule, now: datetime, days: list[int] | None) -> DecaySelection:
    """The edges that a decay rule may change now. `days` are those on which the memory was used, None for all."""
    table = DECAYING_TABLES[rule.by]
    kinds = tuple(name for name, kind in EDGE_KINDS.items() if kind.fades == rule.by and kind.table == table)
    last_day = decay.last_day_before_grace(decay.day_number(now), rule.grace, in_use=days)
    missing = MISSING_CONFIDENCE if rule.by == "confidence" else None
    return DecaySelection(table, kinds, missing, MICROSECONDS_PER_DAY * (1 + last_day))


@dataclass(frozen=True, slots=True)
class EdgeStrengths:
    """Stored edges as arrays: weight or confidence, the anchor from which it decays, and since when (microseconds)."""

    keys: NDArray[Any]
    shares: Shares
    anchors: Shares
    since: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DecayedEdges:
    """Edges that decay changes: their store keys, values before and after, anchors, since when, and which of them end."""

    keys: NDArray[Any]
    before: Shares
    after: Shares
    anchors: Shares
    since: NDArray[np.int64]
    ends: NDArray[np.bool_]

    def value_after(self, row: int) -> float | None:
        """The new weight or confidence of one of them; None where it ends."""
        return None if self.ends[row] else float(self.after[row])


def decay_edges(written: EdgeStrengths, rule: DecayRule, now: datetime, days: list[int] | None) -> DecayedEdges:
    """The edges whose decayed value is below the written one. `days` are those on which the memory was used, None for all."""
    before, anchors = written.shares, written.anchors
    passed = decay.days_between(written.since // MICROSECONDS_PER_DAY, decay.day_number(now), in_use=days)
    if rule.by == "weight":
        decayed = decay.decay_weights(anchors, passed, grace=rule.grace, rate=rule.rate)
        after = np.minimum(before, decayed)
        ends = (after < rule.floor) & (passed >= rule.grace)
    else:
        decayed = decay.lower_confidences(
            anchors, passed, grace=rule.grace, period=rule.period, step=rule.rate, floor=rule.floor
        )
        after = np.minimum(before, decayed)
        ends = np.zeros(len(before), np.bool_)
    moved = (after < before) | ends
    return DecayedEdges(
        written.keys[moved], before[moved], after[moved], anchors[moved], written.since[moved], ends[moved]
    )


T = TypeVar("T", int, datetime)


def latest_end(ends: Collection[T | None]) -> T | None:
    """Until when a fact is valid again when one of its successors is withdrawn: the latest of the ends that were kept.

    None is no end. Each successor keeps the end that the fact had before any successor.

    >>> latest_end([3, 5]), latest_end([3, None])
    (5, None)
    """
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


@dataclass(frozen=True, slots=True)
class StrippedDescriptions:
    """Descriptions of a fact without the phrases of facts that went.

    `kept` has the new text of each description, None where nothing is left; `after` has those that are left.
    `lowered` are the words that occur less often than before, and how often.
    """

    kept: Sequence[str | None]
    after: list[str]
    lowered: Mapping[str, int]


def strip_descriptions(texts: Sequence[str], gone: AbstractSet[str]) -> StrippedDescriptions:
    """Remove phrases that only forgotten facts gave to the descriptions of another fact."""
    kept = remove_phrases_from_history(texts, gone)
    after = [text for text in kept if text is not None]
    return StrippedDescriptions(kept, after, find_lowered_term_counts(texts, after))


def skip_stored_fact(id: str) -> SkippedRestore:
    """A forgotten fact that is stored again under its id."""
    return SkippedRestore("fact", id, "it is there already")


def skip_repeated_fact(id: str, twin: str) -> SkippedRestore:
    """A forgotten fact whose content was stored again under another id."""
    return SkippedRestore("fact", id, f"the same was told again as {twin}")


def skip_lost_edge(key: EdgeKey, lost: str) -> SkippedRestore:
    """An edge to a fact that is gone as well."""
    source, target, kind = key
    return SkippedRestore("edge", f"{source} {kind} {target}", f"the fact {lost} is gone")


def skip_new_description(id: str) -> SkippedRestore:
    """Phrases of a fact that got another description since."""
    return SkippedRestore("description", id, "it was described anew")


def foreign_receipt_error() -> InvalidInput:
    """For a receipt of another kind of store."""
    return InvalidInput("This was forgotten by a store of another kind.", way_out="Undo it there.")
