"""Pin and archive: facts that never fade, and facts that are out of recall and yet not lost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from cofire.asks import Asking, Now, Write
from cofire.model import Change, Fact
from cofire.verbs.listing import facts_by_id

Ids = str | Iterable[str]


def pin(ids: Ids, pinned: bool) -> Asking[list[Fact]]:
    """Let facts never fade nor be archived by themselves, or let them again. Returns those that changed."""
    found = yield from facts_by_id(ids)
    return (yield from _change([fact for fact in found if fact.pinned is not pinned], pins=pinned))


def archive(ids: Ids, archived: bool) -> Asking[list[Fact]]:
    """Put facts out of recall without losing them, or back. Returns those that changed."""
    found = yield from facts_by_id(ids)
    return (yield from _change([fact for fact in found if fact.archived is not archived], archive=archived))


def _change(facts: list[Fact], **how: bool) -> Asking[list[Fact]]:
    if not facts:
        return []
    now: datetime = yield Now()
    chosen = {label: {fact.id: on for fact in facts} for label, on in how.items()}
    yield Write(Change(now=now, **chosen))
    return (yield from facts_by_id([fact.id for fact in facts]))
