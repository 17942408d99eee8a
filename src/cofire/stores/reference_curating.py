"""Curation of the reference store, in plain dictionaries: the lives of edges, why facts are archived, what gave way, what is to review."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from cofire.curating import SIMILARITY, Fade, FadedEdge, Fading, Health, Review, Usage
from cofire.dynamics import fading
from cofire.kinds import BEHAVIOURAL, STRUCTURAL, kind_of
from cofire.learned import Use
from cofire.model import Change, Edge, EdgeCounts, Fact, Mentioned, Past

Facts = Mapping[str, Fact]
Key = tuple[str, str, str]
Edges = dict[Key, Edge]
Spans = Iterable[tuple[datetime, datetime]]


@dataclass(frozen=True, slots=True)
class Life:
    """When an edge came or was last strengthened, and what it was then, if it has faded since."""

    since: datetime
    anchor: float | None = None


@dataclass
class Care:
    """What curation keeps."""

    lives: dict[Key, Life] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)
    restored: dict[str, datetime] = field(default_factory=dict)
    superseded: dict[tuple[str, str], datetime | None] = field(default_factory=dict)
    reviews: dict[tuple[str, str], Review] = field(default_factory=dict)

    def copy(self) -> Care:
        return Care(
            dict(self.lives), dict(self.because), dict(self.restored), dict(self.superseded), dict(self.reviews)
        )

    def forget(self, id: str) -> None:
        self.because.pop(id, None)
        self.restored.pop(id, None)
        self.lives = {key: life for key, life in self.lives.items() if id not in key[:2]}
        self.superseded = {pair: until for pair, until in self.superseded.items() if id not in pair}
        self.reviews = {pair: review for pair, review in self.reviews.items() if id not in pair}

    def seen(self, key: Key, now: datetime) -> None:
        """An edge came, or was strengthened or seen again."""
        self.lives[key] = Life(now)


@dataclass(frozen=True, slots=True)
class Ground:
    """What fading goes over: the lives of edges, the edges, the facts at their ends, and the times of use."""

    care: Care
    edges: Edges
    facts: dict[str, Fact]
    spans: Spans


def write_curation(ground: Ground, change: Change) -> EdgeCounts:
    """Everything of a change that belongs to curation. The counts are of edges that faded and ended."""
    care, edges, facts = ground.care, ground.edges, ground.facts
    _archive(care, facts, change)
    curation = change.curation
    for pair in curation.restored:
        if pair in care.superseded:
            _restore(care, facts, pair)
    for one in curation.superseded:
        if one.old in facts and one.new in facts:
            until = facts[one.old].valid_until
            others = [end for (old, _), end in care.superseded.items() if old == one.old]
            care.superseded.setdefault((one.old, one.new), _last(others) if others else until)
            facts[one.old] = replace(facts[one.old], valid_until=min(one.until, until or one.until))
    for review in curation.reviews:
        _review(care, facts, review)
    aged = [one for fade in curation.fades for one in _fade(ground, fade, change.now)]
    weak = _weak(edges, facts, curation.prune)
    for edge in weak:
        del edges[_key(edge)]
    ended = sum(one.after is None for one in aged)
    return EdgeCounts(0, len(aged) - ended, ended + len(weak))


def _archive(care: Care, facts: dict[str, Fact], change: Change) -> None:
    for id, out in change.archive.items():
        if id in facts:
            facts[id] = replace(facts[id], archived=out)
            care.because.pop(id, None)
            care.restored[id] = change.now
    care.because |= {id: why for id, why in change.curation.because.items() if id in facts and facts[id].archived}


def _restore(care: Care, facts: dict[str, Fact], pair: tuple[str, str]) -> None:
    """The older fact is valid as long as before any other took its place."""
    kept = {one: end for one, end in care.superseded.items() if one[0] == pair[0]}
    care.superseded |= dict.fromkeys(kept, _last(kept.values()))
    facts[pair[0]] = replace(facts[pair[0]], valid_until=care.superseded.pop(pair))


def _last(ends: Collection[datetime | None]) -> datetime | None:
    """The last of these ends; what has none never ends."""
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def _review(care: Care, facts: Facts, review: Review) -> None:
    pair = review.old, review.new
    if review.old not in facts or review.new not in facts:
        return
    if pair not in care.reviews:
        care.reviews[pair] = review
    elif review.state != "open":
        care.reviews[pair] = replace(care.reviews[pair], state=review.state)


def _fade(ground: Ground, fade: Fade, now: datetime) -> list[FadedEdge]:
    care, edges, facts = ground.care, ground.edges, ground.facts
    aged = aging(ground, fade, now)
    for one in aged:
        key = one.source, one.target, one.kind
        if one.after is None:
            del edges[key]
            continue
        life = _life(care, facts, edges[key])
        care.lives[key] = replace(life, anchor=one.before if life.anchor is None else life.anchor)
        edges[key] = (
            replace(edges[key], weight=one.after) if fade.by == "weight" else replace(edges[key], confidence=one.after)
        )
    return aged


def aging(ground: Ground, fade: Fade, now: datetime) -> list[FadedEdge]:
    """Edges whose weight or confidence is less by now than what is written."""
    care, facts = ground.care, ground.facts
    days = fading.days_of_use(ground.spans) if fade.clock == "use" else None
    found = []
    for edge in _fading(ground.edges, facts, fade):
        life, before = _life(care, facts, edge), _value(edge, fade)
        if before is None:
            continue
        passed = int(fading.days_between(fading.day_of(life.since), fading.day_of(now), in_use=days))
        after = _after(before if life.anchor is None else life.anchor, passed, fade)
        ends = fade.by == "weight" and passed >= fade.grace and min(before, after) < fade.floor
        if ends or after < before:
            found.append(FadedEdge(*_key(edge), before, None if ends else after))
    return found


def _fading(edges: Edges, facts: Facts, fade: Fade) -> list[Edge]:
    table = BEHAVIOURAL if fade.by == "weight" else STRUCTURAL
    return [
        edge
        for edge in edges.values()
        if kind_of(edge.kind).fades == fade.by and kind_of(edge.kind).table == table and not _lasts(edge, facts)
    ]


def _lasts(edge: Edge, facts: Facts) -> bool:
    return edge.origin == "user" or facts[edge.source].pinned or facts[edge.target].pinned


def _value(edge: Edge, fade: Fade) -> float | None:
    if fade.by == "weight":
        return edge.weight
    return 1.0 if edge.confidence is None else edge.confidence


def _after(anchor: float, days: int, fade: Fade) -> float:
    if fade.by == "weight":
        return float(fading.faded(anchor, days, grace=fade.grace, rate=fade.rate))
    rule = {"grace": fade.grace, "period": fade.period, "step": fade.rate, "floor": fade.floor}
    return float(fading.lowered(anchor, days, **rule))


def _life(care: Care, facts: Facts, edge: Edge) -> Life:
    """Edges that came with a fact are as old as it."""
    known = care.lives.get(_key(edge))
    return known or Life(max(_stored(facts[edge.source]), _stored(facts[edge.target])))


def _weak(edges: Edges, facts: Facts, threshold: float | None) -> list[Edge]:
    if threshold is None:
        return []
    return [
        edge
        for edge in edges.values()
        if edge.kind in SIMILARITY and edge.weight is not None and edge.weight < threshold and not _lasts(edge, facts)
    ]


def _weak_ones(edges: Edges, facts: Facts, threshold: float, examples: int) -> Fading:
    found = _weak(edges, facts, threshold)
    shown = tuple(FadedEdge(*_key(edge), edge.weight or 0.0, None) for edge in found[:examples])
    return Fading(0, len(found), shown)


def summed(aged: Sequence[FadedEdge], examples: int) -> Fading:
    ended = sum(one.after is None for one in aged)
    return Fading(len(aged) - ended, ended, tuple(aged[:examples]))


def _usage(shelf: Any) -> list[Usage]:
    facts: Facts = shelf.facts
    restored = shelf.web.care.restored
    shown = {id: one.at for one in sorted(shelf.learning.shown.values(), key=lambda one: one.at) for id in one.ids}
    return [
        Usage(
            fact.id,
            fact.category,
            fact.pinned,
            _stored(fact),
            max([_stored(fact), *_uses(fact, shown, restored)]),
            shelf.web.importance[fact.id].pagerank if fact.id in shelf.web.importance else 0.0,
            shelf.learning.uses.get(fact.id, Use()).success,
            len(fact.text.encode()) + len(shelf.vectors.get(fact.id, b"")),
        )
        for fact in sorted(facts.values(), key=lambda fact: fact.id)
        if not fact.archived
    ]


def _uses(fact: Fact, *moments: Mapping[str, datetime]) -> list[datetime]:
    told = [fact.reinforced_at] if fact.reinforced_at else []
    return told + [some[fact.id] for some in moments if fact.id in some]


def _health(
    edges: Edges,
    facts: Facts,
    mentions: Mapping[str, Mapping[str, Mentioned]],
    subjects: Mapping[str, Mapping[str, float]],
) -> Health:
    """Nothing dangles here; orphans are linked neither by an edge nor through a name that another fact of the scope holds."""
    linked = {id for key in edges for id in key[:2]}
    names = {id: {*mentions.get(id, ()), *subjects.get(id, ())} for id in facts}
    holders: dict[tuple[str, str], set[str]] = {}
    for id, held in names.items():
        for name in held:
            holders.setdefault((facts[id].scope, name), set()).add(id)
    shared = {id for held in holders.values() if len(held) > 1 for id in held}
    return Health(sum(not fact.archived and id not in linked | shared for id, fact in facts.items()), 0)


def _changed_facts(facts: Facts, history: Mapping[str, Sequence[Past]], since: datetime | None) -> list[str]:
    def changed_at(fact: Fact) -> datetime:
        return max([fact.reinforced_at or _stored(fact), *(past.until for past in history.get(fact.id, ()))])

    in_recall = (fact for fact in facts.values() if not fact.archived)
    return sorted(fact.id for fact in in_recall if since is None or changed_at(fact) >= since)


def _reviews(care: Care, open_only: bool) -> list[Review]:
    return [care.reviews[pair] for pair in sorted(care.reviews) if not open_only or care.reviews[pair].state == "open"]


def _key(edge: Edge) -> Key:
    return edge.source, edge.target, edge.kind


def _stored(fact: Fact) -> datetime:
    assert fact.stored_at is not None, "a stored fact knows when it was stored"
    return fact.stored_at


class Curating:
    """What curation asks of a store in dictionaries."""

    def _open(self) -> Any:
        raise NotImplementedError

    def fading(self, fade: Fade, now: datetime, examples: int) -> Fading:
        shelf, web = self._open(), self._open().web
        return summed(aging(Ground(web.care, web.edges, shelf.facts, web.spans), fade, now), examples)

    def weak(self, threshold: float, examples: int) -> Fading:
        return _weak_ones(self._open().web.edges, self._open().facts, threshold, examples)

    def usage(self) -> list[Usage]:
        return _usage(self._open())

    def active_days(self) -> list[int]:
        return fading.days_of_use(self._open().web.spans)

    def health(self) -> Health:
        web = self._open().web
        return _health(web.edges, self._open().facts, web.mentions, web.subjects)

    def changed_facts(self, since: datetime | None) -> list[str]:
        return _changed_facts(self._open().facts, self._open().web.history, since)

    def reviews(self, open_only: bool) -> list[Review]:
        return _reviews(self._open().web.care, open_only)

    def archived_because(self, ids: Sequence[str]) -> Mapping[str, str]:
        because, facts = self._open().web.care.because, self._open().facts
        return {id: because[id] for id in ids if id in because and facts[id].archived}
