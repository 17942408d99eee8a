"""Listing: facts by id or by filter, newest first; and what the store holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cofire.asks import Asking, Now, Read, Recorded, Scan, Size, WhichModel
from cofire.embedders.base import Resident
from cofire.errors import InvalidQuestion, NotFound
from cofire.model import Fact, Record, Where
from cofire.reading.failures import READING_FAILURES, ReadingFailures
from cofire.stores.base import StoreSize
from cofire.verbs import accepting
from cofire.verbs.asking import Filters, where
from cofire.verbs.model_of_store import stored_model

PAGE = 1_000


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
    """Which part of a list is wanted: so many facts, older than the one with an id, and only pinned or archived ones if so said."""

    limit: int
    before: str | None
    pinned: bool
    archived: bool


def facts(ids: Iterable[str] | str | None, filters: Filters, page: Page) -> Asking[list[Fact]]:
    """The facts with these ids, or a page of those that pass the filters. Without a scope, every scope is listed."""
    now: datetime = yield Now()
    if ids is not None:
        return (yield from facts_by_id(ids, where(filters, now, everywhere=True, whenever=True)))
    accepting.count(page.limit, "limit", low=1, high=1_000_000)
    start = accepting.name(page.before, "before", InvalidQuestion)
    allowed = where(filters, now, everywhere=True, whenever=bool(page.archived))
    wanted = replace(allowed, pinned=bool(page.pinned))
    if page.archived:
        return (yield from _archived(wanted, page.limit, start))
    found: list[Fact] = yield Scan(wanted, page.limit, start)
    return found


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
    for id, fact in zip(wanted, found, strict=True):
        if fact is None or (allowed is not None and not allowed.admits(fact)):
            raise NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")
    return [fact for fact in found if fact is not None]


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
        return f"{_facts(lacking)} without a vector: run reembed."
    if size.waiting:
        return f"{_facts(size.waiting)} waiting to be connected: dream when you have a moment."
    return ""


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count:,} facts"
