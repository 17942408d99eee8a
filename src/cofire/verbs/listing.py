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
    """Counts of the store (all in `size`), the search mode and the embedding model."""

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
    """A page of a list: at most `limit` facts, older than the fact with the id `before`.

    `pinned`, `archived` and `superseded` list only such facts.
    """

    limit: int
    before: str | None
    pinned: bool
    archived: bool
    superseded: bool = False


def list_facts(ids: Iterable[str] | str | None, filters: FilterOptions, page: ListRequest) -> Steps[list[Fact]]:
    """The facts with these ids, or a page of those that pass the filters. All scopes by default."""
    now: datetime = yield ReadClock()
    if ids is not None:
        id_filter = build_filter(filters, now, everywhere=True, whenever=True)
        facts = yield from read_facts(ids, id_filter)
        return (yield from add_superseded_by(facts))
    validation.check_count(page.limit, "limit", low=1, high=1_000_000)
    before = validation.parse_name(page.before, "before", InvalidQuestion)
    whenever = bool(page.archived or page.superseded)
    fact_filter = build_filter(filters, now, everywhere=True, whenever=whenever)
    fact_filter = replace(fact_filter, pinned=bool(page.pinned))
    if page.superseded:
        return (yield from _list_superseded(fact_filter, page, before))
    if page.archived:
        facts = yield from _list_archived(fact_filter, page.limit, before)
    else:
        facts = yield from store.list_facts(fact_filter, page.limit, before)
    return (yield from add_superseded_by(facts))


def add_superseded_by(facts: Sequence[Fact]) -> Steps[list[Fact]]:
    """The facts, with the ids of the facts that superseded them."""
    ended = {fact.id: fact for fact in facts if fact.valid_until is not None}
    if not ended:
        return list(facts)
    edge_filter = EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset(ended))
    edges = yield from store.list_edges(edge_filter, MAX_EDGES)
    newer_ids = _find_newer_ids(ended, edges)
    return [replace(fact, superseded_by=newer_ids[fact.id]) if fact.id in newer_ids else fact for fact in facts]


def _list_superseded(fact_filter: FactFilter, page: ListRequest, before: str | None) -> Steps[list[Fact]]:
    """Superseded facts, newest first. Found by their edges, which are far fewer than the facts."""
    edge_filter = EdgeFilter(scopes=fact_filter.scopes, kinds=frozenset([SUPERSEDES]))
    edges = yield from store.list_edges(edge_filter, MAX_EDGES)
    targets = sorted({edge.target for edge in edges}, reverse=True)
    ids = [id for id in targets if before is None or id < before]
    facts = yield from store.read_facts(ids)
    importance_by_id: dict[str, FactImportance] = {}
    if fact_filter.community is not None:
        importance_by_id = yield from store.fetch_importance(ids)
    communities = {id: importance.community for id, importance in importance_by_id.items()}
    admitted = {fact.id: fact for fact in facts if fact and fact_filter.admits(fact, communities.get(fact.id))}
    newer_ids = _find_newer_ids(admitted, edges)
    superseded = [admitted[id] for id in admitted if id in newer_ids]
    if page.archived:
        superseded = [fact for fact in superseded if fact.archived]
    return [replace(fact, superseded_by=newer_ids[fact.id]) for fact in superseded[: page.limit]]


def _find_newer_ids(facts: Mapping[str, Fact], edges: Iterable[Edge]) -> dict[str, tuple[str, ...]]:
    """By the id of a superseded fact, the ids of the facts that superseded it, oldest first.

    An edge counts only if it ended the validity of the fact. A fact that was remembered again after
    the edge was stored is valid again.
    """
    newer_ids: dict[str, list[str]] = {}
    for edge in edges:
        fact = facts.get(edge.target)
        if fact is None or fact.valid_until is None:
            continue
        if not _is_observed_since(fact, edge):
            newer_ids.setdefault(fact.id, []).append(edge.source)
    return {id: tuple(sorted(sources)) for id, sources in newer_ids.items()}


def _is_observed_since(fact: Fact, edge: Edge) -> bool:
    """Whether the fact was remembered again after the edge was stored."""
    return fact.reinforced_at is not None and edge.strengthened is not None and fact.reinforced_at > edge.strengthened


def _list_archived(fact_filter: FactFilter, limit: int, before: str | None) -> Steps[list[Fact]]:
    archived: list[Fact] = []
    while len(archived) < limit:
        page = yield from store.list_facts(fact_filter, PAGE_SIZE, before)
        if not page:
            break
        archived += [fact for fact in page if fact.archived]
        before = page[-1].id
    return archived[:limit]


def read_facts(ids: Iterable[str] | str, allowed: FactFilter | None = None) -> Steps[list[Fact]]:
    """All facts with these ids. The error names the first that is missing or excluded."""
    checked_ids = check_ids(ids)
    facts = yield from store.read_facts(checked_ids)
    return [require_fact(fact, id, allowed) for id, fact in zip(checked_ids, facts, strict=True)]


def require_fact(fact: Fact | None, id: str, allowed: FactFilter | None = None) -> Fact:
    """The fact that was read for an id; an error if it is missing or the filter excludes it."""
    if fact is None or (allowed is not None and not allowed.admits(fact)):
        raise NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")
    return fact


def read_fact(id: str) -> Steps[Fact]:
    """The fact with this id, or an error."""
    if not isinstance(id, str):
        raise _make_id_error()
    (fact,) = yield from read_facts(id)
    return fact


def check_ids(ids: Iterable[str] | str) -> list[str]:
    """One id or several as a list without repetition."""
    if not isinstance(ids, Iterable):
        raise _make_id_error()
    candidates = [ids] if isinstance(ids, str) else list(ids)
    if not all(isinstance(id, str) for id in candidates):
        raise _make_id_error()
    checked_ids = [validation.parse_name(id, "id", InvalidQuestion) for id in dict.fromkeys(candidates)]
    return [id for id in checked_ids if id is not None]


def _make_id_error() -> InvalidQuestion:
    return InvalidQuestion("An id must be text.", way_out="Use the ids that remember and list give.")


def read_stats() -> Steps[StoreStats]:
    """Counts of the store, the embedding model and the search mode."""
    size = yield from store.read_size()
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    stored = yield from read_stored_model()
    failures_record = yield from store.read_record(FAILURES_RECORD)
    mode = "words only (no embedder)" if resident is None else "words and meaning"
    without_vector = size.facts - size.embedded
    return StoreStats(
        size,
        mode,
        model=stored.model.name if stored else None,
        without_vector=without_vector,
        advice=_suggest_action(size, without_vector, resident is not None),
        reading_failures=ReadingFailures.decode(failures_record.value if failures_record else None),
    )


def _suggest_action(size: StoreSize, without_vector: int, has_embedder: bool) -> str:
    """The maintenance that the store needs now; empty if none."""
    if without_vector and has_embedder:
        return f"{format_count(without_vector, 'fact')} without a vector: run reembed."
    if size.waiting:
        return f"{format_count(size.waiting, 'fact')} waiting to be connected: dream when you have a moment."
    return ""
