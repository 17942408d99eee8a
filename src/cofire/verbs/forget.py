"""Forget: facts leave the store for good, by id or by filter; a dry run shows what would go, a receipt can bring it back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cofire.asks import Asking, Mint, Now, Scan, Write
from cofire.errors import CofireError, InvalidInput
from cofire.forget_settings import UNDO_DAYS
from cofire.journal_asks import Unnote
from cofire.model import Change, Fact, Written
from cofire.receipt_asks import DropReceipt, KeepReceipt, StrikeFromReceipts, SweepReceipts, WhatGoes, WriteAnew
from cofire.revising import Radius, Receipt, Taken
from cofire.settings import Settings
from cofire.shadow_settings import SNAPSHOTS_FOLDER
from cofire.verbs.asking import Filters, where
from cofire.verbs.listing import facts_by_id

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, or would be: the facts, and all that hangs on them. Without a receipt it cannot be undone."""

    facts: tuple[Fact, ...]
    dry_run: bool
    radius: Radius = field(default_factory=Radius)
    receipt: Receipt | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fact.id for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Manner:
    """How to forget: only to tell what would go, and whether to keep no receipt."""

    dry_run: bool
    purge: bool


def forget(ids: Iterable[str] | str | None, filters: Filters, manner: Manner, settings: Settings) -> Asking[Forgotten]:
    """Remove facts with all that hangs on them. An unknown id is an error, and then nothing is removed."""
    now: datetime = yield Now()
    doomed = yield from _doomed(ids, filters, now)
    goes: Taken = yield WhatGoes([fact.id for fact in doomed])
    if manner.dry_run or not doomed:
        return Forgotten(tuple(doomed), manner.dry_run, goes.radius)
    yield SweepReceipts(now)
    receipt = None if manner.purge else (yield from _receipt(doomed, goes, now, settings))
    if manner.purge:
        # Before anything goes, so that where a receipt cannot be changed nothing is purged by half.
        yield StrikeFromReceipts([fact.id for fact in doomed])
    gone = yield from _remove(doomed, goes, receipt, now)
    yield Unnote([fact.id for fact in doomed], settings[SNAPSHOTS_FOLDER])
    if manner.purge:
        yield WriteAnew()
    return Forgotten(tuple(doomed), dry_run=False, radius=gone.radius, receipt=receipt)


def _receipt(doomed: list[Fact], goes: Taken, now: datetime, settings: Settings) -> Asking[Receipt | None]:
    """Kept before anything goes, so that nothing is lost on the way."""
    if not settings[UNDO_DAYS]:
        return None
    (id,) = yield Mint(now, 1)
    lasts = min(timedelta(days=settings[UNDO_DAYS]), datetime.max.replace(tzinfo=UTC) - now)
    ends = now.astimezone(UTC) + lasts
    scopes = frozenset(fact.scope for fact in doomed)
    kept: Receipt = yield KeepReceipt(Receipt(id, "", now, ends, tuple(fact.id for fact in doomed), scopes), goes)
    return kept


def _remove(doomed: list[Fact], goes: Taken, receipt: Receipt | None, now: datetime) -> Asking[Taken]:
    """Remove the facts. What others hung on them meanwhile goes too, and into the receipt."""
    try:
        written: Written = yield Write(Change(now=now, removals=tuple(fact.id for fact in doomed)))
    except CofireError:
        if receipt is not None:
            yield DropReceipt(receipt)
        raise
    gone = written.taken or goes
    if receipt is not None and gone != goes:
        yield KeepReceipt(receipt, gone)
    return gone


def _doomed(ids: Iterable[str] | str | None, filters: Filters, now: datetime) -> Asking[list[Fact]]:
    chosen = where(filters, now, everywhere=True, whenever=True)
    if ids is not None:
        return (yield from facts_by_id(ids, chosen))
    if not chosen.leaves_out:
        raise InvalidInput(
            "Nothing says what to forget.", way_out="Give ids or a filter such as session, tags or scope."
        )
    found: list[Fact] = []
    before: str | None = None
    while page := (yield Scan(chosen, PAGE, before)):
        found += page
        before = page[-1].id
    return found
