"""Remove facts and keep a receipt, and restore facts from a receipt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from os import PathLike

from cofire.errors import CofireError, InvalidInput, NotFound
from cofire.model import (
    CascadeCounts,
    Change,
    Fact,
    ForgetReceipt,
    KeptReceipt,
    RemovedCascade,
    SkippedRestore,
)
from cofire.recall.request import FilterOptions, NamesInput, build_filter
from cofire.runtime.effects import MintIds, ReadClock, Steps
from cofire.runtime.file_effects import (
    DeleteExpiredReceipts,
    DeleteJournalLines,
    DeleteReceipt,
    FindReceipt,
    ListOtherReceipts,
    MarkReceiptUndone,
    RemoveFactsFromReceipts,
    SaveReceipt,
)
from cofire.runtime.store_proxy import store
from cofire.settings.table import FORGET_UNDO_DAYS, SNAPSHOTS_FOLDER, Settings
from cofire.stores.receipt_rows import find_mended_facts, hand_over_rows
from cofire.verbs import validation
from cofire.verbs.listing import read_facts

PAGE_SIZE = 1_000


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """The forgotten facts, or with `dry_run` the selected ones, and the counts of dependent rows. Undo needs the receipt."""

    facts: tuple[Fact, ...]
    dry_run: bool
    radius: CascadeCounts = field(default_factory=CascadeCounts)
    receipt: ForgetReceipt | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fact.id for fact in self.facts)


@dataclass(frozen=True, slots=True)
class ForgetOptions:
    """`dry_run` only reports what would be removed. `purge` keeps no receipt."""

    dry_run: bool
    purge: bool


def forget(
    ids: Iterable[str] | str | None, filters: FilterOptions, options: ForgetOptions, settings: Settings
) -> Steps[ForgetResult]:
    """Remove facts and all rows that depend on them. An unknown id is an error, and nothing is removed."""
    now: datetime = yield ReadClock()
    facts = yield from _select_facts(ids, filters, now)
    fact_ids = [fact.id for fact in facts]
    cascade = yield from store.collect_cascade(fact_ids)
    if options.dry_run or not facts:
        return ForgetResult(tuple(facts), options.dry_run, cascade.radius)
    yield DeleteExpiredReceipts(now)
    receipt: ForgetReceipt | None = None
    if options.purge:
        # Before the removal: if a receipt cannot be changed, nothing is purged.
        yield RemoveFactsFromReceipts(fact_ids)
    else:
        receipt = yield from _save_receipt(facts, cascade, now, settings)
    removed = yield from _remove_facts(fact_ids, cascade, receipt, now)
    yield DeleteJournalLines(fact_ids, settings[SNAPSHOTS_FOLDER])
    if options.purge:
        yield from store.compact()
    return ForgetResult(tuple(facts), dry_run=False, radius=removed.radius, receipt=receipt)


def _save_receipt(
    facts: list[Fact], cascade: RemovedCascade, now: datetime, settings: Settings
) -> Steps[ForgetReceipt | None]:
    """Save the receipt before the removal, so that a crash loses no data."""
    if not settings[FORGET_UNDO_DAYS]:
        return None
    (id,) = yield MintIds(now, 1)
    longest = datetime.max.replace(tzinfo=UTC) - now
    lifetime = min(timedelta(days=settings[FORGET_UNDO_DAYS]), longest)
    expires = now.astimezone(UTC) + lifetime
    fact_ids = tuple(fact.id for fact in facts)
    scopes = frozenset(fact.scope for fact in facts)
    receipt: ForgetReceipt = yield SaveReceipt(ForgetReceipt(id, "", now, expires, fact_ids, scopes), cascade)
    return receipt


def _remove_facts(
    ids: list[str], cascade: RemovedCascade, receipt: ForgetReceipt | None, now: datetime
) -> Steps[RemovedCascade]:
    """Remove the facts. Rows that were added since `cascade` was read are removed too, and the receipt gets them."""
    try:
        written = yield from store.write(Change(now=now, removals=tuple(ids)))
    except CofireError:
        if receipt is not None:
            yield DeleteReceipt(receipt)
        raise
    removed = written.taken or cascade
    if receipt is not None and removed != cascade:
        yield SaveReceipt(receipt, removed)
    return removed


def _select_facts(ids: Iterable[str] | str | None, filters: FilterOptions, now: datetime) -> Steps[list[Fact]]:
    filter = build_filter(filters, now, everywhere=True, whenever=True)
    if ids is not None:
        return (yield from read_facts(ids, filter))
    if not filter.leaves_out:
        raise InvalidInput(
            "Nothing says what to forget.", way_out="Give ids or a filter such as session, tags or scope."
        )
    facts: list[Fact] = []
    before: str | None = None
    while page := (yield from store.list_facts(filter, PAGE_SIZE, before)):
        facts += page
        before = page[-1].id
    return facts


ReceiptInput = ForgetReceipt | ForgetResult | str | PathLike[str] | None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The restored facts, the number of restored edges, and what was skipped, with the reason."""

    facts: tuple[Fact, ...]
    edges: int
    skipped: tuple[SkippedRestore, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fact.id for fact in self.facts)


def undo(receipt: ReceiptInput, scope: NamesInput) -> Steps[UndoResult]:
    """Restore the facts of a receipt. A second undo changes nothing.

    With `scope`, a receipt that contains a fact of another scope is not found.
    """
    if receipt is None:
        raise InvalidInput(
            "There is no receipt.", way_out="A dry run and a purge keep no receipt: forget without these options."
        )
    now: datetime = yield ReadClock()
    name = _resolve_receipt_name(receipt)
    kept: KeptReceipt | None = yield FindReceipt(name)
    scopes = validation.parse_scopes(scope, InvalidInput)
    if kept is None or (scopes is not None and not kept.receipt.scopes <= set(scopes)):
        raise NotFound(
            f"There is no receipt {name}, or it has run out.",
            way_out="Give the id or path that forget returned; receipts are kept for forget.undo_days.",
        )
    if kept.receipt.expires <= now:
        raise NotFound(
            f"The receipt {kept.receipt.id} ran out at {kept.receipt.expires.isoformat()}.",
            way_out="Its facts cannot be restored; remember them again.",
        )
    described_later = yield from _hand_over_rows(kept)
    written = yield from store.write(Change(now=now, put_back=kept.taken))
    restored = written.put_back
    if restored.facts:
        yield MarkReceiptUndone(kept, now)
    rows = yield from store.read_facts(restored.facts)
    facts = tuple(fact for fact in rows if fact is not None)
    skipped = tuple(item for item in restored.skipped if item.what != "description" or item.id not in described_later)
    return UndoResult(facts, restored.edges, skipped)


def _hand_over_rows(kept: KeptReceipt) -> Steps[frozenset[str]]:
    """Move rows that need a fact of another receipt into that receipt, which restores them later.

    Returns the ids of the facts whose descriptions the other receipts will restore.
    """
    if kept.receipt.undone is not None:
        return frozenset()
    other_receipts: list[KeptReceipt] = yield ListOtherReceipts(kept.receipt)
    others = [other for other in other_receipts if other.receipt.undone is None]
    other_rows = [(other.taken.rows, frozenset(other.receipt.ids)) for other in others]
    extended_rows = hand_over_rows(kept.taken.rows, frozenset(kept.receipt.ids), other_rows)
    described: set[str] = set()
    for other, rows in zip(others, extended_rows, strict=True):
        if rows != other.taken.rows:
            yield SaveReceipt(other.receipt, replace(other.taken, rows=rows))
            described |= find_mended_facts(rows, other.taken.rows)
    return frozenset(described)


def _resolve_receipt_name(receipt: object) -> str:
    """The path of a receipt, or its id if it has no path."""
    if isinstance(receipt, ForgetResult):
        if receipt.receipt is None:
            raise InvalidInput(
                "These facts were forgotten without a receipt.",
                way_out="They cannot be restored; remember them again.",
            )
        receipt = receipt.receipt
    if isinstance(receipt, ForgetReceipt):
        return receipt.path or receipt.id
    name = receipt.__fspath__() if isinstance(receipt, PathLike) else receipt
    if not isinstance(name, str):
        raise InvalidInput(
            f"A receipt cannot be {type(receipt).__name__}.",
            way_out="Give the result of forget, or the id or path of its receipt.",
        )
    if not name.strip() or "\x00" in name:
        raise InvalidInput("The receipt has no name.", way_out="Give the id or path that forget returned.")
    return name.strip()
