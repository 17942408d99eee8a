"""Copying: one store becomes the same as another, a batch at a time, and both are compared to the last byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from cofire.carrying import COLUMNS, Carried, Household, Portable, Row
from cofire.embedders.base import Model, StoredModel
from cofire.errors import Conflict, OtherModel
from cofire.model import Change, Record, Where
from cofire.stores.base import MODEL_RECORD
from cofire.verbs.remember import Progress

BATCH, PAGE = 500, 1_000
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)

Advance = Callable[[Progress], None]
Hashes = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Tally:
    """What both stores hold, being the same: rows of each kind, facts of each scope, edges of each kind, and checksums.

    Edges that have ended are among the rows and not among the kinds.
    """

    rows: Mapping[str, int]
    scopes: Mapping[str, int]
    kinds: Mapping[str, int]
    checksums: Mapping[str, str]

    @property
    def checksum(self) -> str:
        """All checksums in one."""
        return blake2b(repr(sorted(self.checksums.items())).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Copied:
    """How many facts were copied now, how many were there before, and what both stores hold."""

    copied: int
    there: int
    tally: Tally


@dataclass
class Ledger:
    """What was seen of both stores so far, and where they differ: how many rows of each kind, and whose the first is."""

    rows: Counter[str] = field(default_factory=Counter)
    scopes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    digests: dict[str, Any] = field(default_factory=dict)
    differing: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    def enter(self, table: str, ours: Sequence[Row], theirs: Sequence[Row]) -> None:
        """Note rows of a kind as both stores have them."""
        digest = self.digests.setdefault(table, blake2b(digest_size=16))
        for row in ours:
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
        self.rows[table] += len(ours)
        if ours != theirs:
            odd = sorted({*ours} ^ {*theirs}, key=repr) or ours  # the same in another order
            self.differing[table] += len({row[:3] if table == "edges" else row[0] for row in odd})
            self.example.setdefault(table, odd[0][0])

    def count(self, ours: Carried) -> None:
        """Count facts by scope, and edges that hold by kind."""
        self.scopes.update(str(one["scope"]) for one in ours.named("facts"))
        self.kinds.update(str(one["kind"]) for one in ours.named("edges") if one["ended"] is None)

    def tally(self) -> Tally:
        checksums = {table: digest.hexdigest() for table, digest in self.digests.items()}
        return Tally(dict(self.rows), dict(sorted(self.scopes.items())), dict(sorted(self.kinds.items())), checksums)


def copy(source: Portable, target: Portable, *, now: datetime, advance: Advance) -> Copied:
    """Bring all that is missing from a source to its target, a batch in one transaction, then compare the two.

    What is there already stays as it is, so a copy that was stopped goes on where it was.
    """
    held, there = hashes(source), hashes(target)
    refuse_other_facts(held, there)
    missing = [id for id in held if id not in there]
    _write_records(source.household(), target, now)
    whole, done = len(missing) + len(held), 0
    for batch in batches(missing):
        target.take_in(source.carried(batch), now)
        done += len(batch)
        advance(Progress("copying", done, whole))
    if (household := source.household()) != target.household():
        target.furnish(household)
    compared = compare(source, target, advance=lambda step: advance(Progress("comparing", done + step.done, whole)))
    return Copied(len(missing), len(there), compared)


def compare(source: Portable, target: Portable, *, advance: Advance) -> Tally:
    """What two stores hold, being the same; a Conflict says where they differ."""
    ids = sorted({**hashes(source), **hashes(target)})
    ledger = Ledger()
    for table in COLUMNS:
        ledger.enter(table, (), ())
    done = 0
    for batch in batches(ids):
        ours, theirs = source.carried(batch).of(batch), target.carried(batch).of(batch)
        for table in COLUMNS:
            ledger.enter(table, ours.rows[table], theirs.rows[table])
        ledger.count(ours)
        done += len(batch)
        advance(Progress("comparing", done, len(ids)))
    _enter_households(ledger, source.household(), target.household())
    if ledger.differing:
        raise _differs(ledger)
    return ledger.tally()


def _enter_households(ledger: Ledger, ours: Household, theirs: Household) -> None:
    ledger.enter("records", sorted(ours.records.items()), sorted(theirs.records.items()))
    ledger.enter("spans", ours.spans, theirs.spans)
    ledger.enter("occasions", _judged(ours), _judged(theirs))
    ledger.enter("word_counts", _counted(ours), _counted(theirs))


def _judged(household: Household) -> list[Row]:
    return [(one.id, *(tuple(sorted(ids)) for ids in (one.first, one.helped, one.hurt))) for one in household.occasions]


def _counted(household: Household) -> list[Row]:
    return [
        (one.scope, one.facts, one.length, one.terms, one.holding, one.sample, one.sampled, one.counted)
        for one in household.words
    ]


def _differs(ledger: Ledger) -> Conflict:
    places = [f"{table} ({count:,}, the first of {ledger.example[table]})" for table, count in ledger.differing.items()]
    return Conflict(
        f"The two stores differ in {', '.join(places)}.",
        way_out="Somebody wrote to one of them since they were copied. Copy into an empty store, while nobody writes to either.",
    )


def hashes(store: Portable) -> dict[str, bytes]:
    """The content hash of every fact by id, in the order of ids."""
    everything = Where(now=_ANY_TIME, scopes=None, archived=True, whenever=True)
    found: dict[str, bytes] = {}
    before: str | None = None
    while page := store.scan(everything, PAGE, before):
        found |= {fact.id: fact.hash for fact in page}
        before = page[-1].id
    return dict(sorted(found.items()))


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def refuse_other_facts(held: Hashes, there: Hashes) -> None:
    """A target may hold nothing but what the source has: two memories are not mixed."""
    others = [id for id in there if id not in held]
    if others:
        raise Conflict(
            f"Facts of the target are not in the source: {len(others):,}, the first of them {others[0]}.",
            way_out="Copy into an empty store. To bring two memories together: cofire export, then cofire import",
        )
    changed = [id for id, hash in there.items() if held[id] != hash]
    if changed:
        raise Conflict(
            f"Facts of the same id say something else in the target: {len(changed):,}, the first of them {changed[0]}.",
            way_out="Copy into an empty store.",
        )


def _write_records(household: Household, target: Portable, now: datetime) -> None:
    """Records first: vectors are kept only beside the record of their model."""
    there = target.household().records
    _refuse_other_model(_model(household.records), _model(there))
    news = [Record(name, value) for name, value in household.records.items() if there.get(name) != value]
    if news:
        target.write(Change(now=now, records=tuple(news)), {})


def _model(records: Mapping[str, bytes]) -> Model | None:
    value = records.get(MODEL_RECORD)
    return StoredModel.decode(value).model if value else None


def _refuse_other_model(ours: Model | None, theirs: Model | None) -> None:
    if theirs is not None and ours != theirs:
        raise OtherModel(
            f"The target is for vectors of {_named(theirs)}, the source has those of {_named(ours)}.",
            way_out="Copy into an empty store, or give both the same model first with: cofire reembed",
        )


def _named(model: Model | None) -> str:
    return f"{model.name} ({model.dimension} numbers)" if model else "no model"
