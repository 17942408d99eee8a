"""Remove facts for good, with a receipt, and restore them from it."""

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
    """What was forgotten, or would be: the facts, and all that hangs on them. Without a receipt it cannot be undone."""

    facts: tuple[Fact, ...]
    dry_run: bool
    radius: CascadeCounts = field(default_factory=CascadeCounts)
    receipt: ForgetReceipt | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fact.id for fact in self.facts)


@dataclass(frozen=True, slots=True)
class ForgetOptions:
    """How to forget: only to tell what would go, and whether to keep no receipt."""

    dry_run: bool
    purge: bool


def forget(
    ids: Iterable[str] | str | None, filters: FilterOptions, manner: ForgetOptions, settings: Settings
) -> Steps[ForgetResult]:
    """Remove facts with all that hangs on them. An unknown id is an error, and then nothing is removed."""
    now: datetime = yield ReadClock()
    doomed = yield from _select_facts(ids, filters, now)
    goes = yield from store.collect_cascade([fact.id for fact in doomed])
    if manner.dry_run or not doomed:
        return ForgetResult(tuple(doomed), manner.dry_run, goes.radius)
    yield DeleteExpiredReceipts(now)
    receipt = None if manner.purge else (yield from _keep_receipt(doomed, goes, now, settings))
    if manner.purge:
        # Before anything goes, so that where a receipt cannot be changed nothing is purged by half.
        yield RemoveFactsFromReceipts([fact.id for fact in doomed])
    gone = yield from _remove_facts(doomed, goes, receipt, now)
    yield DeleteJournalLines([fact.id for fact in doomed], settings[SNAPSHOTS_FOLDER])
    if manner.purge:
        yield from store.compact()
    return ForgetResult(tuple(doomed), dry_run=False, radius=gone.radius, receipt=receipt)


def _keep_receipt(
    doomed: list[Fact], goes: RemovedCascade, now: datetime, settings: Settings
) -> Steps[ForgetReceipt | None]:
    """Kept before anything goes, so that nothing is lost on the way."""
    if not settings[FORGET_UNDO_DAYS]:
        return None
    (id,) = yield MintIds(now, 1)
    lasts = min(timedelta(days=settings[FORGET_UNDO_DAYS]), datetime.max.replace(tzinfo=UTC) - now)
    ends = now.astimezone(UTC) + lasts
    scopes = frozenset(fact.scope for fact in doomed)
    kept: ForgetReceipt = yield SaveReceipt(
        ForgetReceipt(id, "", now, ends, tuple(fact.id for fact in doomed), scopes), goes
    )
    return kept


def _remove_facts(
    doomed: list[Fact], goes: RemovedCascade, receipt: ForgetReceipt | None, now: datetime
) -> Steps[RemovedCascade]:
    """Remove the facts. What others hung on them meanwhile goes too, and into the receipt."""
    try:
        written = yield from store.write(Change(now=now, removals=tuple(fact.id for fact in doomed)))
    except CofireError:
        if receipt is not None:
            yield DeleteReceipt(receipt)
        raise
    gone = written.taken or goes
    if receipt is not None and gone != goes:
        yield SaveReceipt(receipt, gone)
    return gone


def _select_facts(ids: Iterable[str] | str | None, filters: FilterOptions, now: datetime) -> Steps[list[Fact]]:
    chosen = build_filter(filters, now, everywhere=True, whenever=True)
    if ids is not None:
        return (yield from read_facts(ids, chosen))
    if not chosen.leaves_out:
        raise InvalidInput(
            "Nothing says what to forget.", way_out="Give ids or a filter such as session, tags or scope."
        )
    found: list[Fact] = []
    before: str | None = None
    while page := (yield from store.list_facts(chosen, PAGE_SIZE, before)):
        found += page
        before = page[-1].id
    return found


ReceiptInput = ForgetReceipt | ForgetResult | str | PathLike[str] | None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What came back: facts, how many of their edges, and what did not, with the reason."""

    facts: tuple[Fact, ...]
    edges: int
    skipped: tuple[SkippedRestore, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fact.id for fact in self.facts)


def undo(given: ReceiptInput, scope: NamesInput) -> Steps[UndoResult]:
    """Bring back what a receipt keeps. A second time finds everything there, and changes nothing.

    With scopes it is for who may see no others: a receipt that keeps a fact of another one is none.
    """
    if given is None:
        raise InvalidInput(
            "There is no receipt.", way_out="forget keeps none for a dry run or with purge: use one without these."
        )
    now: datetime = yield ReadClock()
    kept: KeptReceipt | None = yield FindReceipt(_resolve_receipt_name(given))
    allowed = validation.parse_scopes(scope, InvalidInput)
    if kept is None or (allowed is not None and not kept.receipt.scopes <= set(allowed)):
        raise NotFound(
            f"There is no receipt {_resolve_receipt_name(given)}, or it has run out.",
            way_out="Give the id or path that forget told; receipts are kept for forget.undo_days.",
        )
    if kept.receipt.expires <= now:
        raise NotFound(
            f"The receipt {kept.receipt.id} ran out at {kept.receipt.expires.isoformat()}.",
            way_out="What it kept cannot be brought back; remember it anew.",
        )
    later = yield from _hand_over_rows(kept)
    written = yield from store.write(Change(now=now, put_back=kept.taken))
    back = written.put_back
    if back.facts:
        yield MarkReceiptUndone(kept, now)
    facts = yield from store.read_facts(back.facts)
    skipped = tuple(one for one in back.skipped if one.what != "description" or one.id not in later)
    return UndoResult(tuple(fact for fact in facts if fact is not None), back.edges, skipped)


def _hand_over_rows(kept: KeptReceipt) -> Steps[frozenset[str]]:
    """What hangs between these facts and others that are still gone will come back with those: their receipts keep it from now on.
    Tells whose descriptions that will mend."""
    if kept.receipt.undone is not None:
        return frozenset()
    kept_yet: list[KeptReceipt] = yield ListOtherReceipts(kept.receipt)
    others = [one for one in kept_yet if one.receipt.undone is None]
    told = [(one.taken.rows, frozenset(one.receipt.ids)) for one in others]
    described = set[str]()
    for other, rows in zip(others, hand_over_rows(kept.taken.rows, frozenset(kept.receipt.ids), told), strict=True):
        if rows != other.taken.rows:
            yield SaveReceipt(other.receipt, replace(other.taken, rows=rows))
            described |= find_mended_facts(rows, other.taken.rows)
    return frozenset(described)


def _resolve_receipt_name(given: object) -> str:
    """What a receipt is found by: its path where it has one, else its id."""
    if isinstance(given, ForgetResult):
        if given.receipt is None:
            raise InvalidInput(
                "This was forgotten without a receipt.", way_out="It cannot be undone; remember it anew."
            )
        given = given.receipt
    if isinstance(given, ForgetReceipt):
        return given.path or given.id
    if not isinstance(given, str | PathLike) or not isinstance(
        named := given.__fspath__() if isinstance(given, PathLike) else given, str
    ):
        raise InvalidInput(
            f"A receipt cannot be {type(given).__name__}.", way_out="Give what forget returned, or its id or path."
        )
    if not named.strip() or "\x00" in named:
        raise InvalidInput("The receipt is not named.", way_out="Give the id or path that forget told.")
    return named.strip()
