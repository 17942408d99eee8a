"""Edges made by the user, and the lists of edges and links."""

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
    """A fact with all that hangs on it."""

    fact: Fact
    links: tuple[Link, ...]
    descriptions: tuple[str, ...]
    importance: FactImportance | None
    use: FeedbackCounts
    history: tuple[FactVersion, ...]
    archived_because: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """What somebody says of an edge."""

    kind: str
    weight: float | None
    confidence: float | None
    tags: NamesInput
    mode: str


def connect(source: str, target: str, drawn: ConnectRequest, settings: Settings) -> Steps[Edge]:
    """Make an edge between two facts of one scope. Its tags are those both facts share, and the given ones.

    The kind supersedes also marks the target as replaced by the source, as `supersede(target, source)` does.
    """
    _check_request(source, target, drawn)
    first, second = yield from read_facts([source, target])
    edge = orient_edge(_make_edge(first, second, drawn))
    if edge.kind == SUPERSEDES:
        yield from supersede(edge.target, edge.source, settings, drawn=EdgeWrite(edge, drawn.mode))
    else:
        now: datetime = yield ReadClock()
        yield from store.write(
            Change(now=now, edges=(EdgeWrite(edge, drawn.mode),), idle_minutes=settings[SESSION_IDLE_MINUTES])
        )
    kept = yield from store.list_edges(EdgeFilter(kinds=frozenset([edge.kind]), ids=frozenset([source])), MAX_EDGES)
    return next(one for one in kept if (one.source, one.target) == (edge.source, edge.target))


def _make_edge(first: Fact, second: Fact, drawn: ConnectRequest) -> Edge:
    shared = set(first.tags) & set(second.tags)
    return Edge(
        first.id,
        second.id,
        validation.parse_name(drawn.kind, "kind", InvalidInput) or "",
        validation.parse_share(drawn.weight, "weight"),
        validation.parse_share(drawn.confidence, "confidence"),
        tuple(sorted(shared | set(validation.parse_tags(drawn.tags, InvalidInput)))),
        "user",
    )


def list_edges(
    scope: NamesInput, kind: NamesInput, ids: str | Iterable[str] | None, origin: str | None, limit: int
) -> Steps[list[Edge]]:
    """Stored edges, the strongest first. Without a scope, those of every scope."""
    wanted = EdgeFilter(
        scopes=validation.parse_scopes(scope, InvalidQuestion),
        kinds=validation.parse_names(kind, "kind", InvalidQuestion),
        ids=None if ids is None else frozenset(check_ids(ids)),
        origin=validation.parse_name(origin, "origin", InvalidQuestion),
    )
    found = yield from store.list_edges(wanted, validation.check_count(limit, "limit", low=1, high=100_000_000))
    return found


def list_neighbours(id: str, limit: int) -> Steps[list[Link]]:
    """All that a fact is linked with, of every kind, with what each link goes through."""
    fact = yield from read_fact(id)
    found = yield from store.list_links(fact.id, validation.check_count(limit, "limit", low=1, high=1_000_000))
    return found


def read_portrait(id: str, limit: int) -> Steps[FactPortrait]:
    """A fact with its links, descriptions and importance, how it fared, what it said before, and why curation archived it."""
    (fact,) = yield from add_superseded_by([(yield from read_fact(id))])
    links = yield from list_neighbours(fact.id, limit)
    rated = yield from store.fetch_importance([fact.id])
    fared = yield from store.fetch_feedback_counts([fact.id])
    history = yield from store.read_history(fact.id)
    return FactPortrait(
        fact,
        tuple(links),
        history.descriptions,
        rated.get(fact.id),
        fared.get(fact.id, FeedbackCounts()),
        history.versions,
        history.archived_because,
    )


def orient_edge(edge: Edge) -> Edge:
    """An edge whose ends are alike is kept once, from the smaller id to the larger.

    >>> orient_edge(Edge("b", "a", "similar")).source, orient_edge(Edge("b", "a", "causes")).source
    ('a', 'b')
    """
    if not is_symmetric_kind(edge.kind) or edge.source < edge.target:
        return edge
    return replace(edge, source=edge.target, target=edge.source)


def _check_request(source: str, target: str, drawn: ConnectRequest) -> None:
    if drawn.mode not in MERGE_MODES:
        raise InvalidInput(f"There is no mode {drawn.mode!r}.", way_out=f"Choose one of {', '.join(MERGE_MODES)}.")
    if not str(drawn.kind or "").strip():
        raise InvalidInput(
            f"kind cannot be {drawn.kind!r}.",
            way_out="Name the kind of the edge: supports, causes, contradicts or a name of your own.",
        )
    if source == target:
        raise InvalidInput("A fact cannot be connected with itself.", way_out="Give two different ids.")
