"""Learning from use in dictionaries: recall log, use counts, judged recalls, lessons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock
from typing import Any

from cofire.algorithms import reinforcement
from cofire.model import Change, EdgeCounts, Fact, FactImportance
from cofire.stores.learning_rows import (
    MAX_JUDGED_RECALLS,
    CommunityMembers,
    EdgeAdjustment,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    RecallLogOptions,
)
from cofire.stores.recall_log import (
    assign_sessions,
    list_exposures,
    list_judgements,
    make_documented_lessons,
    make_exposure_lessons,
    make_judged_recall,
)
from tests.reference_store.graph import ReferenceGraph, keep_edge_changes, start_edge_changes

FactsById = Mapping[str, Fact]
FactPair = tuple[str, str]


@dataclass
class ReferenceLearningState:
    """What the store learned from use.

    sessions    the number and end (microseconds) of the last session of each name
    exposed     for a pair of facts the number of sessions that showed both, and the last of them
    occasions   the ids of judged recalls in their order
    judged      by fact, again by fact, and by judged recall: whether it stood first, and 1 or -1 where it helped or hurt
    """

    uses: dict[str, FeedbackCounts] = field(default_factory=dict)
    shown: dict[str, LoggedRecall] = field(default_factory=dict)
    sessions: dict[str | None, tuple[int, int]] = field(default_factory=dict)
    exposed: dict[FactPair, tuple[int, int]] = field(default_factory=dict)
    occasions: list[str] = field(default_factory=list)
    judged: dict[tuple[str, str, str], tuple[bool, int]] = field(default_factory=dict)

    def copy(self) -> ReferenceLearningState:
        return ReferenceLearningState(**{name: kept.copy() for name, kept in vars(self).items()})

    def forget(self, id: str) -> None:
        self.uses.pop(id, None)
        self.exposed = {pair: seen for pair, seen in self.exposed.items() if id not in pair}
        self.judged = {key: said for key, said in self.judged.items() if key[0] != id}


def _drop_forgotten(shown: LoggedRecall, facts: FactsById) -> LoggedRecall:
    """What was shown, without what was forgotten since; that comes back with the fact."""
    ways = {
        fact: tuple(way for way in led if way.source in facts and way.target in facts)
        for fact, led in shown.ways.items()
        if fact in facts
    }
    kept = {fact: led for fact, led in ways.items() if led}
    return replace(shown, ids=tuple(id for id in shown.ids if id in facts), ways=kept)


def log_recall(
    learning: ReferenceLearningState, shown: LoggedRecall, keeping: RecallLogOptions
) -> list[EdgeAdjustment]:
    """Keep what was shown, and return what that teaches."""
    learning.shown[shown.id] = shown
    for id in list(learning.shown)[: -keeping.most]:
        del learning.shown[id]
    if keeping.rule == "documented":
        return make_documented_lessons([shown])
    return _count_exposures(learning, shown, keeping) if keeping.rule == "earned" else []


def _count_exposures(
    learning: ReferenceLearningState, shown: LoggedRecall, keeping: RecallLogOptions
) -> list[EdgeAdjustment]:
    newest = max((number for number, _ in learning.sessions.values()), default=0)
    numbers, sessions = assign_sessions([shown], keeping.idle_minutes, learning.sessions, newest)
    learning.sessions |= sessions
    earned = []
    for a, b, session in list_exposures([shown], numbers, shown.ids):
        count, last = learning.exposed.get((a, b), (0, -1))
        learning.exposed[a, b] = (count + 1, session) if session > last else (count, last)
        if learning.exposed[a, b][0] >= reinforcement.MIN_DISTINCT_SESSIONS:
            del learning.exposed[a, b]
            earned.append((a, b))
    return make_exposure_lessons(earned)


def write_learning(
    learning: ReferenceLearningState, web: ReferenceGraph, facts: FactsById, change: Change
) -> EdgeCounts:
    """Everything of a change that use has taught."""
    for id, more in change.uses.items():
        if id in facts:
            learning.uses[id] = learning.uses.get(id, FeedbackCounts()).and_again(more)
    for one in change.occasions:
        store_judged_recall(learning, facts, one)
    return apply_lessons(web, facts, change.lessons, change.now)


def store_judged_recall(learning: ReferenceLearningState, facts: FactsById, recall: JudgedRecall) -> None:
    """Keep a judged recall and drop the oldest. A verdict on a fact replaces an earlier one, no verdict leaves it."""
    if recall.id not in learning.occasions:
        learning.occasions.append(recall.id)
    for id, first, verdict in list_judgements(recall):
        if id in facts:
            _, before = learning.judged.get((id, id, recall.id), (False, 0))
            learning.judged[id, id, recall.id] = first, verdict or before
    for dropped in learning.occasions[:-MAX_JUDGED_RECALLS]:
        learning.occasions.remove(dropped)
        learning.judged = {key: judged for key, judged in learning.judged.items() if key[2] != dropped}


def find_similar_recalls(learning: ReferenceLearningState, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
    """Judged recalls with at least two of these facts at their first places: those with most of them, then the newest."""
    every = [_build_judged_recall(learning, id) for id in reversed(learning.occasions)]
    found = [one for one in every if len(one.first & set(ids)) > 1]
    return sorted(found, key=lambda one: -len(one.first & set(ids)))[:limit]


def _build_judged_recall(learning: ReferenceLearningState, id: str) -> JudgedRecall:
    judgements = [(fact, *judged) for (fact, _, occasion), judged in learning.judged.items() if occasion == id]
    return make_judged_recall(id, judgements)


def apply_lessons(
    web: ReferenceGraph, facts: FactsById, lessons: Iterable[EdgeAdjustment], now: datetime
) -> EdgeCounts:
    """Strengthen and weaken edges; `EdgeChanges.learn` is the rule."""
    changes = start_edge_changes(web, facts, now)
    for lesson in lessons:
        changes.learn(lesson)
    return keep_edge_changes(web, changes, now)


def list_communities(
    facts: FactsById, rated: Mapping[str, FactImportance], scopes: Sequence[str] | None, limit: int, most: int
) -> list[CommunityMembers]:
    """Communities, the largest first, each with its most central facts."""
    members: dict[tuple[str, int], list[FactImportance]] = {}
    for one in rated.values():
        fact = facts[one.fact]
        if not fact.archived and (scopes is None or fact.scope in scopes):
            members.setdefault((fact.scope, one.community), []).append(one)
    found = [
        CommunityMembers(
            scope, number, len(ones), tuple(one.fact for one in sorted(ones, key=_centrality_sort_key)[:most])
        )
        for (scope, number), ones in members.items()
    ]
    return sorted(found, key=lambda one: (-one.size, one.scope, one.number))[:limit]


def _centrality_sort_key(one: FactImportance) -> tuple[float, str]:
    return -one.pagerank, one.fact


class ReferenceLearningMixin:
    """What use asks of a store in dictionaries."""

    _lock: RLock

    def _open(self) -> Any:
        raise NotImplementedError

    def log_recall(self, shown: LoggedRecall, keeping: RecallLogOptions) -> None:
        with self._lock:
            shelf = self._open()
            shelf.web.use(shown.at, keeping.idle_minutes)
            before = dict(shelf.web.edges)
            apply_lessons(shelf.web, shelf.facts, log_recall(shelf.learning, shown, keeping), shown.at)
            shelf.web.date_edges(before, shelf.facts, shown.at)

    def read_recall(self, id: str) -> LoggedRecall | None:
        shelf = self._open()
        found: LoggedRecall | None = shelf.learning.shown.get(id)
        return _drop_forgotten(found, shelf.facts) if found else None

    def fetch_feedback_counts(self, ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        uses = self._open().learning.uses
        return {id: uses[id] for id in ids if id in uses}

    def find_judged_recalls(self, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
        return find_similar_recalls(self._open().learning, ids, limit)

    def list_communities(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[CommunityMembers]:
        shelf = self._open()
        return list_communities(shelf.facts, shelf.web.importance, scopes, limit, most)
