"""Forget: facts leave the store for good, by id or by filter; a dry run shows what would go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from cofire.asks import Asking, Now, Scan, Write
from cofire.errors import InvalidInput
from cofire.journal_asks import Unnote
from cofire.model import Change, Fact, Written
from cofire.settings import Settings
from cofire.shadow_settings import SNAPSHOTS_FOLDER
from cofire.verbs.asking import Filters, where
from cofire.verbs.listing import facts_by_id
from cofire.verbs.remember import recount_where_due

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, or would be."""

    facts: tuple[Fact, ...]
    dry_run: bool

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fact.id for fact in self.facts)


def forget(ids: Iterable[str] | str | None, filters: Filters, dry_run: bool, settings: Settings) -> Asking[Forgotten]:
    """Remove facts with all that hangs on them. An unknown id is an error, and then nothing is removed."""
    now: datetime = yield Now()
    doomed = yield from _doomed(ids, filters, now)
    if doomed and not dry_run:
        written: Written = yield Write(Change(now=now, removals=tuple(fact.id for fact in doomed)))
        yield from recount_where_due(written.sizes, now, settings)
        yield Unnote(tuple(fact.id for fact in doomed), settings[SNAPSHOTS_FOLDER])
    return Forgotten(tuple(doomed), dry_run)


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
