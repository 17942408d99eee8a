"""Connect: edges that somebody makes by hand, and the lists of edges and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

from cofire.asks import Asking, Now, Write
from cofire.curate_asks import WhyArchived
from cofire.errors import InvalidInput, InvalidQuestion
from cofire.graph_asks import Described, Edges, Links, Rated
from cofire.graph_settings import IDLE_MINUTES
from cofire.kinds import SUPERSEDES, is_symmetric
from cofire.learned import Use
from cofire.learning_asks import Uses
from cofire.model import Change, Edge, Fact, Importance, Link, NewEdge, Past
from cofire.receipt_asks import HistoryOf
from cofire.settings import Settings
from cofire.stores.base import EdgeFilter
from cofire.verbs import accepting
from cofire.verbs.asking import Names
from cofire.verbs.listing import checked_ids, fact_by_id, facts_by_id, with_superseded_by
from cofire.verbs.supersede import supersede

MANY = 1_000_000
MergeMode = Literal["reinforce", "update", "skip", "error"]
MODES: tuple[str, ...] = get_args(MergeMode)


@dataclass(frozen=True, slots=True)
class Portrait:
    """A fact with all that hangs on it."""

    fact: Fact
    links: tuple[Link, ...]
    descriptions: tuple[str, ...]
    importance: Importance | None
    use: Use
    history: tuple[Past, ...]
    archived_because: str | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """What somebody says of an edge."""

    kind: str
    weight: float | None
    confidence: float | None
    tags: Names
    mode: str


def connect(source: str, target: str, drawn: Drawn, settings: Settings) -> Asking[Edge]:
    """Make an edge between two facts of one scope. Its tags are those both facts share, and the given ones.

    The kind supersedes also marks the target as replaced by the source, as `supersede(target, source)` does.
    """
    _check(source, target, drawn)
    first, second = yield from facts_by_id([source, target])
    edge = oriented(_edge(first, second, drawn))
    if edge.kind == SUPERSEDES:
        yield from supersede(edge.target, edge.source, settings, drawn=NewEdge(edge, drawn.mode))
    else:
        now: datetime = yield Now()
        yield Write(Change(now=now, edges=(NewEdge(edge, drawn.mode),), idle_minutes=settings[IDLE_MINUTES]))
    kept: list[Edge] = yield Edges(EdgeFilter(kinds=frozenset([edge.kind]), ids=frozenset([source])), MANY)
    return next(one for one in kept if (one.source, one.target) == (edge.source, edge.target))


def _edge(first: Fact, second: Fact, drawn: Drawn) -> Edge:
    shared = set(first.tags) & set(second.tags)
    return Edge(
        first.id,
        second.id,
        accepting.name(drawn.kind, "kind", InvalidInput) or "",
        accepting.share(drawn.weight, "weight"),
        accepting.share(drawn.confidence, "confidence"),
        tuple(sorted(shared | set(accepting.tags(drawn.tags, InvalidInput)))),
        "user",
    )


def edges(
    scope: Names, kind: Names, ids: str | Iterable[str] | None, origin: str | None, limit: int
) -> Asking[list[Edge]]:
    """Stored edges, the strongest first. Without a scope, those of every scope."""
    wanted = EdgeFilter(
        scopes=accepting.scopes(scope, InvalidQuestion),
        kinds=accepting.names(kind, "kind", InvalidQuestion),
        ids=None if ids is None else frozenset(checked_ids(ids)),
        origin=accepting.name(origin, "origin", InvalidQuestion),
    )
    found: list[Edge] = yield Edges(wanted, accepting.count(limit, "limit", low=1, high=100_000_000))
    return found


def neighbours(id: str, limit: int) -> Asking[list[Link]]:
    """All that a fact is linked with, of every kind, with what each link goes through."""
    fact = yield from fact_by_id(id)
    found: list[Link] = yield Links(fact.id, accepting.count(limit, "limit", low=1, high=1_000_000))
    return found


def portrait(id: str, limit: int) -> Asking[Portrait]:
    """A fact with its links, descriptions and importance, how it fared, what it said before, and why curation archived it."""
    (fact,) = yield from with_superseded_by([(yield from fact_by_id(id))])
    links = yield from neighbours(fact.id, limit)
    descriptions: list[str] = yield Described(fact.id)
    rated: dict[str, Importance] = yield Rated([fact.id])
    fared: dict[str, Use] = yield Uses([fact.id])
    past: list[Past] = yield HistoryOf(fact.id)
    reasons: Mapping[str, str] = yield WhyArchived([fact.id])
    parts = (tuple(links), tuple(descriptions), rated.get(fact.id), fared.get(fact.id, Use()), tuple(past))
    return Portrait(fact, *parts, reasons.get(fact.id))


def oriented(edge: Edge) -> Edge:
    """An edge whose ends are alike is kept once, from the smaller id to the larger.

    >>> oriented(Edge("b", "a", "similar")).source, oriented(Edge("b", "a", "causes")).source
    ('a', 'b')
    """
    if not is_symmetric(edge.kind) or edge.source < edge.target:
        return edge
    return replace(edge, source=edge.target, target=edge.source)


def _check(source: str, target: str, drawn: Drawn) -> None:
    if drawn.mode not in MODES:
        raise InvalidInput(f"There is no mode {drawn.mode!r}.", way_out=f"Choose one of {', '.join(MODES)}.")
    if not str(drawn.kind or "").strip():
        raise InvalidInput(
            f"kind cannot be {drawn.kind!r}.",
            way_out="Name the kind of the edge: supports, causes, contradicts or a name of your own.",
        )
    if source == target:
        raise InvalidInput("A fact cannot be connected with itself.", way_out="Give two different ids.")
