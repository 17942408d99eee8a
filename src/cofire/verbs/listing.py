"""List facts by id or filter, newest first, and count what the store holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cofire.embedders.base import EmbedderInfo
from cofire.errors import InvalidQuestion, NotFound
from cofire.explain import format_count
from cofire.model import Edge, Fact, FactFilter, FactImportance
from cofire.recall.request import FilterOptions, build_filter
from cofire.runtime.effects import IdentifyEmbedder, ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.stores.base import EdgeFilter, StoreSize
from cofire.stores.edge_kinds import SUPERSEDES
from cofire.text.base import FAILURES_RECORD, ReadingFailures
from cofire.verbs import validation
from cofire.verbs.embedding_model import read_stored_model

PAGE_SIZE = 1_000
MAX_EDGES = 1_000_000


@dataclass(frozen=True, slots=True)
class StoreStats:
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
class ListRequest:
    """Which part of a list is wanted: at most `limit` facts, older than the one with the id `before`. `pinned`, `archived` and
    `superseded` list only such facts."""

    limit: int
    before: str | None
    pinned: bool
    archived: bool
    superseded: bool = False


def list_facts(ids: Iterable[str] | str | None, filters: FilterOptions, page: ListRequest) -> Steps[list[Fact]]:
    """The facts with these ids, or a page of those that pass the filters. Without a scope, every scope is listed."""
    now: datetime = yield ReadClock()
    if ids is not None:
        listed = yield from read_facts(ids, build_filter(filters, now, everywhere=True, whenever=True))
        return (yield from add_superseded_by(listed))
    validation.check_count(page.limit, "limit", low=1, high=1_000_000)
    start = validation.parse_name(page.before, "before", InvalidQuestion)
    allowed = build_filter(filters, now, everywhere=True, whenever=bool(page.archived or page.superseded))
    wanted = replace(allowed, pinned=bool(page.pinned))
    if page.superseded:
        return (yield from _list_superseded(wanted, page, start))
    if page.archived:
        listed = yield from _list_archived(wanted, page.limit, start)
    else:
        listed = yield from store.list_facts(wanted, page.limit, start)
    return (yield from add_superseded_by(listed))


def add_superseded_by(facts: Sequence[Fact]) -> Steps[list[Fact]]:
    """The facts, those that were replaced with the ids of what replaced them."""
    ended = {fact.id: fact for fact in facts if fact.valid_until is not None}
    if not ended:
        return list(facts)
    edges = yield from store.list_edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset(ended)), MAX_EDGES)
    newer = _find_newer_ids(ended, edges)
    return [replace(fact, superseded_by=newer[fact.id]) if fact.id in newer else fact for fact in facts]


def _list_superseded(allowed: FactFilter, page: ListRequest, before: str | None) -> Steps[list[Fact]]:
    """Facts that others have replaced, newest first. Read over the edges, which are far fewer than the facts."""
    edges = yield from store.list_edges(EdgeFilter(scopes=allowed.scopes, kinds=frozenset([SUPERSEDES])), MAX_EDGES)
    targets = sorted({edge.target for edge in edges}, reverse=True)
    older = [id for id in targets if before is None or id < before]
    facts = yield from store.read_facts(older)
    rated: dict[str, FactImportance] = (
        (yield from store.fetch_importance(older)) if allowed.community is not None else {}
    )
    communities = {id: importance.community for id, importance in rated.items()}
    admitted = {fact.id: fact for fact in facts if fact and allowed.admits(fact, communities.get(fact.id))}
    newer = _find_newer_ids(admitted, edges)
    wanted = [fact for id, fact in admitted.items() if id in newer and (fact.archived or not page.archived)]
    return [replace(fact, superseded_by=newer[fact.id]) for fact in wanted[: page.limit]]


def _find_newer_ids(facts: Mapping[str, Fact], edges: Iterable[Edge]) -> dict[str, tuple[str, ...]]:
    """By id of a replaced fact the ids of what replaced it, oldest first. A fact that was remembered again after it was replaced
    is valid again, and an edge that ended no validity replaces nothing."""
    newer: dict[str, list[str]] = {}
    for edge in edges:
        fact = facts.get(edge.target)
        if fact is not None and fact.valid_until is not None and not _is_observed_since(fact, edge):
            newer.setdefault(fact.id, []).append(edge.source)
    return {id: tuple(sorted(sources)) for id, sources in newer.items()}


def _is_observed_since(fact: Fact, edge: Edge) -> bool:
    """Whether the fact was remembered again after the edge was stored."""
    return fact.reinforced_at is not None and edge.strengthened is not None and fact.reinforced_at > edge.strengthened


def _list_archived(allowed: FactFilter, limit: int, before: str | None) -> Steps[list[Fact]]:
    found: list[Fact] = []
    while len(found) < limit and (page := (yield from store.list_facts(allowed, PAGE_SIZE, before))):
        found += [fact for fact in page if fact.archived]
        before = page[-1].id
    return found[:limit]


def read_facts(ids: Iterable[str] | str, allowed: FactFilter | None = None) -> Steps[list[Fact]]:
    """All of them, or an error that names the first that is not there, or not where one may look."""
    wanted = check_ids(ids)
    found = yield from store.read_facts(wanted)
    return [require_fact(fact, id, allowed) for id, fact in zip(wanted, found, strict=True)]


def require_fact(fact: Fact | None, id: str, allowed: FactFilter | None = None) -> Fact:
    """The fact that was read for an id, or the error that there is none."""
    if fact is None or (allowed is not None and not allowed.admits(fact)):
        raise NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")
    return fact


def read_fact(id: str) -> Steps[Fact]:
    """The one fact of an id, or an error."""
    if not isinstance(id, str):
        raise _make_id_error()
    (found,) = yield from read_facts(id)
    return found


def check_ids(ids: Iterable[str] | str) -> list[str]:
    """Ids as a list without repetition."""
    if not isinstance(ids, Iterable):
        raise _make_id_error()
    listed = [ids] if isinstance(ids, str) else list(ids)
    if not all(isinstance(id, str) for id in listed):
        raise _make_id_error()
    return [
        found for id in dict.fromkeys(listed) if (found := validation.parse_name(id, "id", InvalidQuestion)) is not None
    ]


def _make_id_error() -> InvalidQuestion:
    return InvalidQuestion("An id must be text.", way_out="Use the ids that remember and list give.")


def read_stats() -> Steps[StoreStats]:
    """Counts, the model, and whether search goes by words alone."""
    size = yield from store.read_size()
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    stored = yield from read_stored_model()
    failures = yield from store.read_record(FAILURES_RECORD)
    mode = "words only (no embedder)" if resident is None else "words and meaning"
    lacking = size.facts - size.embedded
    return StoreStats(
        size,
        mode,
        stored.model.name if stored else None,
        lacking,
        suggest_action(size, lacking, resident is not None),
        ReadingFailures.decode(failures.value if failures else None),
    )


def suggest_action(size: StoreSize, lacking: int, has_embedder: bool) -> str:
    """What would do the memory good now, or nothing."""
    if lacking and has_embedder:
        return f"{format_count(lacking, 'fact')} without a vector: run reembed."
    if size.waiting:
        return f"{format_count(size.waiting, 'fact')} waiting to be connected: dream when you have a moment."
    return ""
