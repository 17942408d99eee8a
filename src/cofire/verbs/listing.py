"""Listing: facts by id or by filter, newest first; and what the store holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cofire.asks import Asking, Now, Read, Recorded, Scan, Size, WhichModel
from cofire.embedders.base import Resident
from cofire.errors import InvalidQuestion, NotFound
from cofire.graph_asks import Edges, Rated
from cofire.kinds import SUPERSEDES
from cofire.model import Edge, Fact, Importance, Record, Where
from cofire.reading.failures import READING_FAILURES, ReadingFailures
from cofire.stores.base import EdgeFilter, StoreSize
from cofire.verbs import accepting
from cofire.verbs.asking import Filters, where
from cofire.verbs.model_of_store import stored_model
from cofire.xray import counted

PAGE = 1_000
MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of the store (all of them in `size`), the search mode and the embedding model."""

    size: StoreSize
    mode: str
    model: str | None
    without_vector: int
    advice: str
    reading_failures: ReadingFailures = field(default_factory=ReadingFailures)

    @property
    def facts(self) -> int:
        """Number of facts, archived ones included."""
        return self.size.facts

    @property
    def edges(self) -> int:
        """Number of stored edges."""
        return self.size.edges

    @property
    def archived(self) -> int:
        """Number of archived facts."""
        return self.size.archived

    @property
    def waiting(self) -> int:
        """Number of facts that the next dream will link."""
        return self.size.waiting

    @property
    def scopes(self) -> Mapping[str, int]:
        """Number of facts in each scope."""
        return self.size.scopes


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is wanted: at most `limit` facts, older than the one with the id `before`. `pinned`, `archived` and
    `superseded` list only such facts."""

    limit: int
    before: str | None
    pinned: bool
    archived: bool
    superseded: bool = False


def facts(ids: Iterable[str] | str | None, filters: Filters, page: Page) -> Asking[list[Fact]]:
    """The facts with these ids, or a page of those that pass the filters. Without a scope, every scope is listed."""
    now: datetime = yield Now()
    if ids is not None:
        listed = yield from facts_by_id(ids, where(filters, now, everywhere=True, whenever=True))
        return (yield from with_superseded_by(listed))
    accepting.count(page.limit, "limit", low=1, high=1_000_000)
    start = accepting.name(page.before, "before", InvalidQuestion)
    allowed = where(filters, now, everywhere=True, whenever=bool(page.archived or page.superseded))
    wanted = replace(allowed, pinned=bool(page.pinned))
    if page.superseded:
        return (yield from _superseded(wanted, page, start))
    if page.archived:
        listed = yield from _archived(wanted, page.limit, start)
    else:
        listed = yield Scan(wanted, page.limit, start)
    return (yield from with_superseded_by(listed))


def with_superseded_by(facts: Sequence[Fact]) -> Asking[list[Fact]]:
    """The facts, those that were replaced with the ids of what replaced them."""
    ended = {fact.id: fact for fact in facts if fact.valid_until is not None}
    if not ended:
        return list(facts)
    edges: list[Edge] = yield Edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset(ended)), MANY)
    newer = _newer_ids(ended, edges)
    return [replace(fact, superseded_by=newer[fact.id]) if fact.id in newer else fact for fact in facts]


def _superseded(allowed: Where, page: Page, before: str | None) -> Asking[list[Fact]]:
    """Facts that others have replaced, newest first. Read over the edges, which are far fewer than the facts."""
    edges: list[Edge] = yield Edges(EdgeFilter(scopes=allowed.scopes, kinds=frozenset([SUPERSEDES])), MANY)
    targets = sorted({edge.target for edge in edges}, reverse=True)
    older = [id for id in targets if before is None or id < before]
    facts: Sequence[Fact | None] = yield Read(older)
    rated: dict[str, Importance] = (yield Rated(older)) if allowed.community is not None else {}
    communities = {id: importance.community for id, importance in rated.items()}
    admitted = {fact.id: fact for fact in facts if fact and allowed.admits(fact, communities.get(fact.id))}
    newer = _newer_ids(admitted, edges)
    wanted = [fact for id, fact in admitted.items() if id in newer and (fact.archived or not page.archived)]
    return [replace(fact, superseded_by=newer[fact.id]) for fact in wanted[: page.limit]]


def _newer_ids(facts: Mapping[str, Fact], edges: Iterable[Edge]) -> dict[str, tuple[str, ...]]:
    """By id of a replaced fact the ids of what replaced it, oldest first. A fact that was remembered again after it was replaced
    is valid again, and an edge that ended no validity replaces nothing."""
    newer: dict[str, list[str]] = {}
    for edge in edges:
        fact = facts.get(edge.target)
        if fact is not None and fact.valid_until is not None and not _observed_since(fact, edge):
            newer.setdefault(fact.id, []).append(edge.source)
    return {id: tuple(sorted(sources)) for id, sources in newer.items()}


def _observed_since(fact: Fact, edge: Edge) -> bool:
    """Whether the fact was remembered again after the edge was stored."""
    return fact.reinforced_at is not None and edge.strengthened is not None and fact.reinforced_at > edge.strengthened


def _archived(allowed: Where, limit: int, before: str | None) -> Asking[list[Fact]]:
    found: list[Fact] = []
    while len(found) < limit and (page := (yield Scan(allowed, PAGE, before))):
        found += [fact for fact in page if fact.archived]
        before = page[-1].id
    return found[:limit]


def facts_by_id(ids: Iterable[str] | str, allowed: Where | None = None) -> Asking[list[Fact]]:
    """All of them, or an error that names the first that is not there, or not where one may look."""
    wanted = checked_ids(ids)
    found: Sequence[Fact | None] = yield Read(wanted)
    return [known_or_refuse(fact, id, allowed) for id, fact in zip(wanted, found, strict=True)]


def known_or_refuse(fact: Fact | None, id: str, allowed: Where | None = None) -> Fact:
    """The fact that was read for an id, or the error that there is none."""
    if fact is None or (allowed is not None and not allowed.admits(fact)):
        raise NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")
    return fact


def fact_by_id(id: str) -> Asking[Fact]:
    """The one fact of an id, or an error."""
    if not isinstance(id, str):
        raise _not_an_id()
    (found,) = yield from facts_by_id(id)
    return found


def checked_ids(ids: Iterable[str] | str) -> list[str]:
    """Ids as a list without repetition."""
    if not isinstance(ids, Iterable):
        raise _not_an_id()
    listed = [ids] if isinstance(ids, str) else list(ids)
    if not all(isinstance(id, str) for id in listed):
        raise _not_an_id()
    return [found for id in dict.fromkeys(listed) if (found := accepting.name(id, "id", InvalidQuestion)) is not None]


def _not_an_id() -> InvalidQuestion:
    return InvalidQuestion("An id must be text.", way_out="Use the ids that remember and list give.")


def stats() -> Asking[Stats]:
    """Counts, the model, and whether search goes by words alone."""
    size: StoreSize = yield Size()
    resident: Resident | None = yield WhichModel()
    stored = yield from stored_model()
    failures: Record | None = yield Recorded(READING_FAILURES)
    mode = "words only (no embedder)" if resident is None else "words and meaning"
    lacking = size.facts - size.embedded
    return Stats(
        size,
        mode,
        stored.model.name if stored else None,
        lacking,
        advice(size, lacking, resident is not None),
        ReadingFailures.decode(failures.value if failures else None),
    )


def advice(size: StoreSize, lacking: int, has_embedder: bool) -> str:
    """What would do the memory good now, or nothing."""
    if lacking and has_embedder:
        return f"{counted(lacking, 'fact')} without a vector: run reembed."
    if size.waiting:
        return f"{counted(size.waiting, 'fact')} waiting to be connected: dream when you have a moment."
    return ""
