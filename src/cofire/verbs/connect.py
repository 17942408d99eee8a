"""Store the edges of users, and list edges and links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

from cofire.errors import InvalidInput, InvalidQuestion
from cofire.model import Change, Edge, EdgeWrite, Fact, FactImportance, FactVersion, Link
from cofire.recall.request import NamesInput
from cofire.runtime.effects import ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import SESSION_IDLE_MINUTES, Settings
from cofire.stores.base import EdgeFilter
from cofire.stores.edge_kinds import SUPERSEDES, is_symmetric_kind
from cofire.stores.learning_rows import FeedbackCounts
from cofire.verbs import validation
from cofire.verbs.listing import add_superseded_by, check_ids, read_fact, read_facts
from cofire.verbs.supersede import supersede

MAX_EDGES = 1_000_000
MergeMode = Literal["reinforce", "update", "skip", "error"]
MERGE_MODES: tuple[str, ...] = get_args(MergeMode)


@dataclass(frozen=True, slots=True)
class FactPortrait:
    """A fact with its links, descriptions, importance, feedback counts and history."""

    fact: Fact
    links: tuple[Link, ...]
    descriptions: tuple[str, ...]
    importance: FactImportance | None
    use: FeedbackCounts
    history: tuple[FactVersion, ...]
    archived_because: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """The values of an edge, and what to do if it exists."""

    kind: str
    weight: float | None
    confidence: float | None
    tags: NamesInput
    mode: str


def connect(source: str, target: str, request: ConnectRequest, settings: Settings) -> Steps[Edge]:
    """Store an edge between two facts of one scope, with the given and the shared tags.

    The kind supersedes also ends the validity of the target, as `supersede(target, source)` does.
    """
    _check_request(source, target, request)
    first, second = yield from read_facts([source, target])
    edge = orient_edge(_make_edge(first, second, request))
    edge_write = EdgeWrite(edge, request.mode)
    if edge.kind == SUPERSEDES:
        yield from supersede(edge.target, edge.source, settings, edge_write=edge_write)
    else:
        now: datetime = yield ReadClock()
        yield from store.write(Change(now=now, edges=(edge_write,), idle_minutes=settings[SESSION_IDLE_MINUTES]))
    edge_filter = EdgeFilter(kinds=frozenset([edge.kind]), ids=frozenset([source]))
    stored_edges = yield from store.list_edges(edge_filter, MAX_EDGES)
    ends = (edge.source, edge.target)
    return next(stored for stored in stored_edges if (stored.source, stored.target) == ends)


def _make_edge(first: Fact, second: Fact, request: ConnectRequest) -> Edge:
    shared_tags = set(first.tags) & set(second.tags)
    own_tags = validation.parse_tags(request.tags, InvalidInput)
    return Edge(
        first.id,
        second.id,
        kind=validation.parse_name(request.kind, "kind", InvalidInput) or "",
        weight=validation.parse_share(request.weight, "weight"),
        confidence=validation.parse_share(request.confidence, "confidence"),
        tags=tuple(sorted(shared_tags.union(own_tags))),
        origin="user",
    )


def list_edges(
    scope: NamesInput, kind: NamesInput, ids: str | Iterable[str] | None, origin: str | None, limit: int
) -> Steps[list[Edge]]:
    """Stored edges, strongest first. All scopes by default."""
    edge_filter = EdgeFilter(
        scopes=validation.parse_scopes(scope, InvalidQuestion),
        kinds=validation.parse_names(kind, "kind", InvalidQuestion),
        ids=None if ids is None else frozenset(check_ids(ids)),
        origin=validation.parse_name(origin, "origin", InvalidQuestion),
    )
    limit = validation.check_count(limit, "limit", low=1, high=100_000_000)
    return (yield from store.list_edges(edge_filter, limit))


def list_neighbours(id: str, limit: int) -> Steps[list[Link]]:
    """The links of a fact, of every kind."""
    fact = yield from read_fact(id)
    limit = validation.check_count(limit, "limit", low=1, high=1_000_000)
    return (yield from store.list_links(fact.id, limit))


def read_portrait(id: str, limit: int) -> Steps[FactPortrait]:
    """A fact with all that is stored about it."""
    (fact,) = yield from add_superseded_by([(yield from read_fact(id))])
    links = yield from list_neighbours(fact.id, limit)
    importance_by_id = yield from store.fetch_importance([fact.id])
    counts_by_id = yield from store.fetch_feedback_counts([fact.id])
    history = yield from store.read_history(fact.id)
    return FactPortrait(
        fact,
        links=tuple(links),
        descriptions=history.descriptions,
        importance=importance_by_id.get(fact.id),
        use=counts_by_id.get(fact.id, FeedbackCounts()),
        history=history.versions,
        archived_because=history.archived_because,
    )


def orient_edge(edge: Edge) -> Edge:
    """The edge as it is stored: symmetric kinds go from the smaller id to the larger.

    >>> orient_edge(Edge("b", "a", "similar")).source, orient_edge(Edge("b", "a", "causes")).source
    ('a', 'b')
    """
    if not is_symmetric_kind(edge.kind) or edge.source < edge.target:
        return edge
    return replace(edge, source=edge.target, target=edge.source)


def _check_request(source: str, target: str, request: ConnectRequest) -> None:
    if request.mode not in MERGE_MODES:
        raise InvalidInput(f"There is no mode {request.mode!r}.", way_out=f"Choose one of {', '.join(MERGE_MODES)}.")
    if not str(request.kind or "").strip():
        raise InvalidInput(
            f"kind cannot be {request.kind!r}.",
            way_out="Name the kind of the edge: supports, causes, contradicts or a name of your own.",
        )
    if source == target:
        raise InvalidInput("A fact cannot be connected with itself.", way_out="Give two different ids.")
