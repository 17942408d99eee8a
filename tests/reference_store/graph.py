"""The reference graph in dictionaries: names, edges, descriptions, importance, active hours."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from cofire.algorithms.conductance import MISSING_CONFIDENCE, MISSING_WEIGHT
from cofire.model import (
    Change,
    Edge,
    EdgeCounts,
    Fact,
    FactDescription,
    FactImportance,
    FactVersion,
    FactWrite,
    Link,
    NameMention,
)
from cofire.stores.base import EdgeFilter, FactProfile, ScopeGraph
from cofire.stores.edge_batch import find_shared_tags
from cofire.stores.edge_kinds import get_edge_kind
from cofire.stores.link_rules import (
    BACKWARD_FACTOR,
    MAX_LINKS_PER_NAME,
    MAX_NAME_HOLDERS,
    NameHolders,
    build_name_links,
    content_order,
    edge_to_link,
    infer_mentions,
    link_order,
)
from cofire.stores.rules import EdgeChanges, EdgeKey, StoredEdge, edge_key, make_follows_edge
from cofire.text.descriptions import refresh_description
from tests.reference_store.curation import ReferenceCurationState

FactsById = Mapping[str, Fact]


@dataclass
class ReferenceGraph:
    """All that connects facts, by id. `born` tells when an edge first came, `past` those that ended, and when."""

    mentions: dict[str, dict[str, NameMention]] = field(default_factory=dict)
    subjects: dict[str, dict[str, float]] = field(default_factory=dict)
    edges: dict[EdgeKey, Edge] = field(default_factory=dict)
    inbox: dict[str, None] = field(default_factory=dict)
    descriptions: dict[str, list[str]] = field(default_factory=dict)
    hints: dict[str, dict[str, int]] = field(default_factory=dict)
    importance: dict[str, FactImportance] = field(default_factory=dict)
    hours: dict[str, float] = field(default_factory=dict)
    spans: list[tuple[datetime, datetime]] = field(default_factory=list)
    care: ReferenceCurationState = field(default_factory=ReferenceCurationState)
    citations: dict[EdgeKey, None] = field(default_factory=dict)
    history: dict[str, list[FactVersion]] = field(default_factory=dict)
    born: dict[EdgeKey, datetime] = field(default_factory=dict)
    past: dict[EdgeKey, tuple[Edge, datetime]] = field(default_factory=dict)

    def copy(self) -> ReferenceGraph:
        return ReferenceGraph(
            {id: dict(named) for id, named in self.mentions.items()},
            {id: dict(named) for id, named in self.subjects.items()},
            dict(self.edges),
            dict(self.inbox),
            {id: list(texts) for id, texts in self.descriptions.items()},
            {id: dict(counts) for id, counts in self.hints.items()},
            dict(self.importance),
            dict(self.hours),
            list(self.spans),
            care=self.care.copy(),
            citations=dict(self.citations),
            history={id: list(past) for id, past in self.history.items()},
            born=dict(self.born),
            past=dict(self.past),
        )

    def forget(self, id: str) -> None:
        for kept in (
            self.mentions,
            self.subjects,
            self.inbox,
            self.descriptions,
            self.hints,
            self.importance,
            self.hours,
        ):
            kept.pop(id, None)
        self.edges = {key: edge for key, edge in self.edges.items() if id not in key[:2]}
        self.born = {key: born for key, born in self.born.items() if id not in key[:2]}
        self.past = {key: past for key, past in self.past.items() if id not in key[:2]}
        self.care.forget(id)
        self.history.pop(id, None)
        self.citations = {key: None for key in self.citations if id not in key[:2]}

    def date_edges(self, before: Mapping[EdgeKey, Edge], facts: FactsById, now: datetime) -> None:
        """Note which edges came and ended since `before`; one that is written again goes on as the one that it was."""
        for key in self.edges.keys() - before.keys():
            self.born.setdefault(key, now)
            self.past.pop(key, None)
        for key in before.keys() - self.edges.keys():
            if key[0] in facts and key[1] in facts:
                self.past[key] = before[key], now

    def edges_then(self, as_of: datetime) -> list[Edge]:
        """The edges that conducted at a moment."""
        held = [edge for key, edge in self.edges.items() if self.born[key] <= as_of]
        return held + [edge for key, (edge, ended) in self.past.items() if self.born[key] <= as_of < ended]

    def active_hours(self) -> float:
        return sum((ended - begun) / timedelta(hours=1) for begun, ended in self.spans)

    def use(self, now: datetime, idle_minutes: float) -> None:
        """The clock runs on from the last use, or starts again after a pause."""
        if self.spans and now - self.spans[-1][1] <= timedelta(minutes=idle_minutes):
            begun, ended = self.spans[-1]
            self.spans[-1] = begun, max(ended, now)
        else:
            self.spans.append((now, now))


def add_fact_links(web: ReferenceGraph, facts: FactsById, new: FactWrite, reach: int) -> int:
    """A new fact with its names, and the turns it follows. Returns how many edges that made."""
    fact = new.fact
    web.inbox[fact.id] = None
    set_fact_names(web, new)
    made = 0
    for before in _list_preceding_turns(facts, fact, reach):
        distance = (fact.position or 0) - (before.position or 0)
        tags = find_shared_tags(before.tags, fact.tags)
        assert fact.stored_at is not None, "a stored fact knows when it was stored"
        edge = make_follows_edge(before.id, fact.id, distance, tags, fact.stored_at).edge
        web.edges[edge_key(edge)] = edge
        made += 1
    return made


def set_fact_names(web: ReferenceGraph, new: FactWrite) -> None:
    """What a fact mentions and is about."""
    web.mentions[new.fact.id] = {one.name: one for one in reversed(new.mentions)}
    web.subjects[new.fact.id] = {one.name: one.strength for one in reversed(new.subjects)}


def add_inferred_mentions(web: ReferenceGraph, facts: FactsById, fresh: Sequence[FactWrite]) -> None:
    """Names that new facts mention because somebody is about them."""
    for new in fresh:
        known = {name for id, named in web.subjects.items() if facts[id].scope == new.fact.scope for name in named}
        add_mentions(web, new.fact.id, infer_mentions(new, known))


def add_mentions(web: ReferenceGraph, id: str, mentions: Iterable[NameMention]) -> None:
    for one in mentions:
        web.mentions.setdefault(id, {}).setdefault(one.name, one)


def _add_description(web: ReferenceGraph, facts: FactsById, told: FactDescription, said: Collection[str]) -> None:
    texts = web.descriptions.get(told.fact, [])
    one = refresh_description(told, texts[-1] if texts else "", facts)
    if one is None:
        return
    web.descriptions[one.fact] = [*texts, one.text] if texts[-1:] != [one.text] else texts
    web.citations |= {(one.fact, id, gist): None for id, gist in one.cites.items() if id != one.fact}
    hints = web.hints.setdefault(one.fact, {})
    leading = {word: count for word, count in one.counts.items() if word not in said}
    hints.update({word: max(count, hints.get(word, 0)) for word, count in leading.items()})


def write_graph(
    web: ReferenceGraph, facts: FactsById, said: Mapping[str, Collection[str]], change: Change
) -> EdgeCounts:
    """Everything of a change that is not a fact. `said` are the words of facts."""
    for id, named in change.mentions.items():
        if id in facts:
            add_mentions(web, id, named)
    for one in change.descriptions:
        if one.fact in facts:
            _add_description(web, facts, one, said[one.fact])
    for id in change.dreamed:
        web.inbox.pop(id, None)
    if change.importance:
        _set_importance(web, facts, change.importance)
    edge_changes = start_edge_changes(web, facts, change.now)
    for edge in change.ended:
        edge_changes.end(edge)
    for new_edge in change.edges:
        edge_changes.write(new_edge)
    return keep_edge_changes(web, edge_changes, change.now)


def select_edges(
    web: ReferenceGraph, facts: FactsById, wanted: EdgeFilter, limit: int, as_of: datetime | None = None
) -> list[Edge]:
    held = web.edges.values() if as_of is None else web.edges_then(as_of)
    found = [edge for edge in held if _is_wanted(edge, facts, wanted)]
    return sorted(found, key=lambda edge: (-(edge.weight or 0.0), edge.source, edge.target, edge.kind))[:limit]


def list_links(web: ReferenceGraph, facts: FactsById, id: str, limit: int, as_of: datetime | None = None) -> list[Link]:
    found = list(map(edge_to_link, select_edges(web, facts, EdgeFilter(ids=frozenset([id])), limit, as_of)))
    mentioned, subjects = web.mentions.get(id, {}), web.subjects.get(id, {})
    found += build_name_links(
        id,
        [
            _find_name_holders(web, facts, id, name, one.confidence, common=False)
            for name, one in sorted(mentioned.items())
        ],
        [
            _find_name_holders(web, facts, id, name, strength, common=True)
            for name, strength in sorted(subjects.items())
        ],
    )
    return sorted(found, key=link_order)[:limit]


def list_profiles(web: ReferenceGraph, facts: FactsById, ids: Sequence[str]) -> list[FactProfile]:
    return [
        FactProfile(id, facts[id].scope, frozenset(facts[id].tags), facts[id].category, web.hours.get(id, 0.0))
        for id in ids
        if id in facts
    ]


def build_scope_graph(web: ReferenceGraph, facts: FactsById, scope: str) -> ScopeGraph:
    ids = tuple(sorted(id for id, fact in facts.items() if fact.scope == scope and not fact.archived))
    row = {id: at for at, id in enumerate(ids)}
    pairs = [pair for edge in web.edges.values() for pair in _expand_directions(edge)] + _list_about_pairs(
        web, facts, scope
    )
    kept = [(row[a], row[b], weight) for a, b, weight in pairs if a in row and b in row]
    table: Any = np.array(kept, np.float64).reshape(-1, 3)
    source, target = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    return ScopeGraph(ids, source, target, table[:, 2].astype(np.float32))


def _list_preceding_turns(facts: FactsById, fact: Fact, reach: int) -> list[Fact]:
    if fact.session is None or fact.position is None:
        return []
    return [
        other
        for other in facts.values()
        if (other.scope, other.session) == (fact.scope, fact.session)
        and other.position is not None
        and 1 <= fact.position - other.position <= reach
    ]


def _set_importance(web: ReferenceGraph, facts: FactsById, rated: Sequence[FactImportance]) -> None:
    scopes = {facts[one.fact].scope for one in rated if one.fact in facts}
    web.importance = {id: one for id, one in web.importance.items() if facts[id].scope not in scopes}
    web.importance |= {one.fact: one for one in rated if one.fact in facts}


def start_edge_changes(web: ReferenceGraph, facts: FactsById, now: datetime) -> EdgeChanges:
    """All edges of the store, to be changed by the rules."""
    stored = {key: StoredEdge(edge, ended=True) for key, (edge, _) in web.past.items()}
    stored |= {key: StoredEdge(edge) for key, edge in web.edges.items()}
    scopes = {id: fact.scope for id, fact in facts.items()}
    return EdgeChanges(scopes, stored, now, tags={id: fact.tags for id, fact in facts.items()})


def keep_edge_changes(web: ReferenceGraph, changes: EdgeChanges, now: datetime) -> EdgeCounts:
    """Keep the edges that changed; those that came or were seen again decay from now on."""
    for key, stored in changes.written.items():
        if stored.ended:
            del web.edges[key]
            continue
        before = web.edges.get(key)
        if before is None or before.strengthened != stored.edge.strengthened:
            web.care.seen(key, now)
        web.edges[key] = stored.edge
    return changes.counts


def _is_wanted(edge: Edge, facts: FactsById, wanted: EdgeFilter) -> bool:
    return (
        (wanted.scopes is None or facts[edge.source].scope in wanted.scopes)
        and (not wanted.kinds or edge.kind in wanted.kinds)
        and (wanted.ids is None or bool(wanted.ids & {edge.source, edge.target}))
        and (wanted.origin is None or edge.origin == wanted.origin)
    )


def _find_name_holders(
    web: ReferenceGraph, facts: FactsById, id: str, name: str, by: float, *, common: bool
) -> NameHolders:
    """A name with the others of the scope that hold it, the surest first, then by content."""
    about = {one: named[name] for one, named in web.subjects.items() if name in named}
    mentioning = {one: named[name].confidence for one, named in web.mentions.items() if name in named}
    inside = [
        {one: by for one, by in held.items() if facts[one].scope == facts[id].scope} for held in (about, mentioning)
    ]
    count = sum(map(len, inside))
    listed = [
        tuple(
            sorted(_list_other_holders(held, facts, id), key=lambda one: (-one[1], content_order(facts[one[0]].hash)))[
                :MAX_LINKS_PER_NAME
            ]
        )
        for held in inside
    ]
    return NameHolders(name, by, count, listed[0], listed[1] if common or count <= MAX_NAME_HOLDERS else ())


def _list_other_holders(held: Mapping[str, float], facts: FactsById, id: str) -> list[tuple[str, float]]:
    return [(one, by) for one, by in held.items() if one != id and not facts[one].archived]


def _expand_directions(edge: Edge) -> list[tuple[str, str, float]]:
    weight = MISSING_WEIGHT if edge.weight is None else edge.weight
    weight *= MISSING_CONFIDENCE if edge.confidence is None else edge.confidence
    there, back = (edge.source, edge.target, weight), (edge.target, edge.source, weight)
    conducts = get_edge_kind(edge.kind).conducts
    return [there, back] if conducts == "both" else [there] if conducts == "forward" else []


def _list_about_pairs(web: ReferenceGraph, facts: FactsById, scope: str) -> list[tuple[str, str, float]]:
    holders: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
    for id, named in web.subjects.items():
        for name, strength in named.items() if facts[id].scope == scope else ():
            holders.setdefault(name, ({}, {}))[0][id] = strength
    for id, mentioned in web.mentions.items():
        for name, one in mentioned.items() if facts[id].scope == scope else ():
            holders.setdefault(name, ({}, {}))[1][id] = one.confidence
    pairs = []
    for about, mentioning in holders.values():
        many = len(about) + len(mentioning)
        for owner, strength in about.items() if many <= MAX_NAME_HOLDERS else ():
            for teller, sure in mentioning.items():
                weight = strength * sure / many**0.5
                pairs += [(teller, owner, weight), (owner, teller, weight * BACKWARD_FACTOR)] if teller != owner else []
    return pairs
