"""Pin and archive: facts that never fade, and facts that are out of recall and yet not lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from cofire.asks import Asking, Now, Write
from cofire.model import Change, Fact
from cofire.verbs.listing import facts_by_id

Ids = str | Iterable[str]


def pin(ids: Ids, pinned: bool) -> Asking[list[Fact]]:
    """Let facts never fade nor be archived by themselves, or let them again. Returns those that changed."""
    found = yield from facts_by_id(ids)
    marks = {fact.id: pinned for fact in found if fact.pinned is not pinned}
    now: datetime = yield Now()
    return (yield from _written(Change(now=now, pins=marks), marks))


def archive(ids: Ids, archived: bool) -> Asking[list[Fact]]:
    """Put facts out of recall without losing them, or back. Returns those that changed."""
    found = yield from facts_by_id(ids)
    marks = {fact.id: archived for fact in found if fact.archived is not archived}
    now: datetime = yield Now()
    return (yield from _written(Change(now=now, archive=marks), marks))


def _written(change: Change, marks: Mapping[str, bool]) -> Asking[list[Fact]]:
    if not marks:
        return []
    yield Write(change)
    return (yield from facts_by_id(list(marks)))
