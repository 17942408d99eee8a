"""Store facts and return their ids; facts that exist are reinforced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, Literal, TypedDict, get_args

import numpy as np

from cofire.embedders.base import Vectors
from cofire.errors import CofireError, Conflict, InvalidFact, InvalidInput, NotFound
from cofire.model import Change, Fact, FactWrite, ScopeSize, WriteResult
from cofire.runtime.effects import EmbedTexts, Emit, MintIds, ReadClock, Steps
from cofire.runtime.gc_threshold import relaxed_gc
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.store_proxy import store
from cofire.settings.table import (
    MULTI_GRAPH_ENABLED,
    MULTI_GRAPH_REACH,
    MULTI_GRAPH_TIME,
    REMEMBER_BATCH,
    SESSION_IDLE_MINUTES,
    STATISTICS_GROWTH,
    STATISTICS_SAMPLE,
    Settings,
)
from cofire.stores.base import MODEL_RECORD
from cofire.stores.curation_rows import CurationChange
from cofire.verbs import validation
from cofire.verbs.edge_selection import AutoLinks, find_auto_links, is_linked_at_once
from cofire.verbs.embedding_model import VersionedModel, ensure_stored_model
from cofire.verbs.fact_analysis import MentionsByFact, analyse_facts, count_fact_words, find_earlier_mentions
from cofire.verbs.listing import read_facts, require_fact
from cofire.verbs.supersede_rules import Replacements, plan_replacements

BATCH_TRIES = 5
# And where many may change one and the same fact.
CONTENDED_TRIES = 25
# Who tells a scope a hundredth of what it holds waits for it to be counted: that takes but a small part of the telling.
RECOUNT_RATIO = 100

FactInput = Fact | str | Mapping[str, Any]
OnError = Literal["raise", "skip"]
ON_ERROR: tuple[str, ...] = get_args(OnError)
TimeInput = datetime | date | str | None


class RememberOptions(TypedDict, total=False):
    """What may be said of a fact besides its text; for several facts it holds for each that does not say otherwise."""

    tags: Annotated[str | Iterable[str] | None, "Tags to filter by and to link facts by."]
    category: Annotated[str | None, "A category to filter by."]
    subject: Annotated[str | None, "What the fact is about, if the text does not start with it."]
    at: Annotated[TimeInput, "When it happened: a datetime, a date, or ISO text such as 2026-05-08."]
    session: Annotated[str | None, "The conversation it belongs to; its facts are linked in order."]
    speaker: Annotated[str | None, "Who said it."]
    scope: Annotated[str | None, "The scope (user, team, project) it belongs to; the scope “default” unless given."]
    source: Annotated[str | None, "Where it comes from, such as a path or a URL."]
    metadata: Annotated[Mapping[str, Any] | None, "Other values to keep with it, as JSON."]
    valid_from: Annotated[TimeInput, "When it begins to be true."]
    valid_until: Annotated[TimeInput, "When it stops being true; later recalls leave it out."]
    expires: Annotated[TimeInput, "When it is to be left out of every recall; a time in the future."]
    supersedes: Annotated[str | Iterable[str] | None, "Id or ids of older facts that it replaces."]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work has come; `total` is None where nobody knows."""

    doing: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """An item that `remember(..., errors="skip")` did not store: its place from 0, what is wrong, and what to do."""

    index: int
    problem: str
    way_out: str


class RememberResult(list[str | None]):
    """The ids in the order of the items, None for each that was skipped; `skipped` says why."""

    def __init__(self, ids: Iterable[str | None], skipped: Sequence[SkippedItem]) -> None:
        super().__init__(ids)
        self.skipped = tuple(skipped)


def remember(
    given: FactInput | Iterable[FactInput], common: RememberOptions, settings: Settings, errors: OnError = "raise"
) -> Steps[str | list[str] | RememberResult]:
    """One fact in, its id out; an iterable in, a list of ids out in its order.

    `common` holds keywords for a single text, or for every fact of an iterable that does not say otherwise. Every item is
    checked before the first is stored: with `errors="raise"` a refused item means that nothing is stored, with "skip" the
    others are stored and the result names those left out.
    """
    if errors not in ON_ERROR:
        raise InvalidInput(f"errors cannot be {errors!r}.", way_out=f"Choose one of: {', '.join(ON_ERROR)}.")
    now: datetime = yield ReadClock()
    if isinstance(given, str | Fact | Mapping):
        fact = _parse_item(given, common, now, settings)
        ids = yield from _store_in_batches([fact], settings)
        return ids[0]
    validation.refuse_bytes(given)
    if not isinstance(given, Iterable):
        raise InvalidFact(
            f"Nothing can be remembered of {type(given).__name__}.", way_out="Give a text, a Fact or a list."
        )
    with relaxed_gc():
        if errors == "skip":
            return (yield from _remember_valid(given, common, now, settings))
        facts = [_parse_indexed_item(item, index, common, now, settings) for index, item in enumerate(given)]
        for index, refusal in (yield from _find_refused_replacements(facts, now)).items():
            raise _make_item_error(refusal, index) from refusal
        return (yield from _store_in_batches(facts, settings))


def _remember_valid(
    given: Iterable[FactInput], common: RememberOptions, now: datetime, settings: Settings
) -> Steps[RememberResult]:
    """Store the items that are facts, and report the others."""
    facts: list[Fact] = []
    indexes: list[int] = []
    skipped: list[SkippedItem] = []
    count = 0
    for index, item in enumerate(given):
        count += 1
        try:
            facts.append(_parse_item(item, common, now, settings))
            indexes.append(index)
        except InvalidFact as error:
            skipped.append(SkippedItem(index, error.problem, error.way_out))
    refused = yield from _find_refused_replacements(facts, now)
    skipped += [SkippedItem(indexes[at], error.problem, error.way_out) for at, error in refused.items()]
    accepted = [at for at in range(len(facts)) if at not in refused]
    stored = yield from _store_in_batches([facts[at] for at in accepted], settings)
    ids: list[str | None] = [None] * count
    for at, id in zip(accepted, stored, strict=True):
        ids[indexes[at]] = id
    return RememberResult(ids, sorted(skipped, key=lambda item: item.index))


def _parse_item(item: FactInput, common: RememberOptions, now: datetime, settings: Settings) -> Fact:
    fact = validation.parse_fact(_apply_common(item, common), settings)
    validation.refuse_expired(fact, now)
    return fact


def _parse_indexed_item(
    item: FactInput, index: int, common: RememberOptions, now: datetime, settings: Settings
) -> Fact:
    """One of several items as a fact; the error of one that is refused says which it is."""
    try:
        return _parse_item(item, common, now, settings)
    except InvalidFact as error:
        raise _make_item_error(error, index) from error


def _make_item_error(error: CofireError, index: int) -> CofireError:
    """The same error, with the place of the item and what became of the others."""
    refusal = type(error)(
        f"Fact {index + 1}: {error.problem} Nothing was stored.",
        way_out=f'{error.way_out} Or leave such facts out with errors="skip".',
    )
    refusal.index = index
    return refusal


def _find_refused_replacements(facts: Sequence[Fact], now: datetime) -> Steps[dict[int, CofireError]]:
    """Why facts cannot replace those that they name, by their place. Found before the first batch is stored."""
    replacing = {index: fact for index, fact in enumerate(facts) if fact.supersedes}
    if not replacing:
        return {}
    old_ids = sorted({id for fact in replacing.values() for id in fact.supersedes})
    read = yield from store.read_facts(old_ids)
    old_facts = {fact.id: fact for fact in read if fact is not None}
    known: dict[bytes, str] = dict((yield from store.find_ids_by_hash([fact.hash for fact in replacing.values()])))
    read_known: Sequence[Fact | None] = (yield from store.read_facts(list(known.values()))) if known else []
    known_facts = {fact.id: fact for fact in read_known if fact is not None}
    refused: dict[int, CofireError] = {}
    for index, fact in replacing.items():
        known_fact = known_facts.get(known.get(fact.hash, ""))
        new = known_fact.observed_again(fact, now) if known_fact else fact
        try:
            pairs = [(require_fact(old_facts.get(id), id), new) for id in fact.supersedes]
            yield from plan_replacements(pairs, now)
        except (NotFound, InvalidInput) as error:
            refused[index] = error
    return refused


def remember_new(facts: Sequence[Fact], settings: Settings) -> Steps[tuple[list[str], frozenset[str]]]:
    """The ids of facts that were accepted, in their order, and those that are new. Known ones are not told again: reading a file
    twice is no reinforcement. One that another memory learned keeps the time of that."""
    ids: dict[bytes, str] = dict((yield from store.find_ids_by_hash([fact.hash for fact in facts])))
    fresh = {fact.hash: fact for fact in facts if fact.hash not in ids}
    with relaxed_gc():
        made = yield from _store_in_batches(list(fresh.values()), settings)
    ids.update(zip(fresh, made, strict=True))
    return [ids[fact.hash] for fact in facts], frozenset(made)


def _store_in_batches(facts: Sequence[Fact], settings: Settings) -> Steps[list[str]]:
    """Batch by batch, each in one transaction. The error of a store that fails in between says how many facts it has kept."""
    ids: list[str] = []
    sizes: dict[str, ScopeSize] = {}
    for start in range(0, len(facts), settings[REMEMBER_BATCH]):
        batch = list(facts[start : start + settings[REMEMBER_BATCH]])
        try:
            written: WriteResult = yield from retry_on_conflict(
                partial(_remember_batch, batch, settings), tries=BATCH_TRIES
            )
        except CofireError as error:
            if not ids:
                raise
            raise _make_partial_error(error, len(ids), len(facts)) from error
        ids += [one.id for one in written.facts]
        sizes |= written.sizes
        yield Emit(Progress("remember", len(ids), len(facts)))
    yield from _recount_after_batches(sizes, len(ids), settings)
    return ids


def _make_partial_error(error: CofireError, stored: int, total: int) -> CofireError:
    """The same error, with how many facts were stored before it."""
    problem = f"{error.problem} The first {stored:,} of {total:,} facts are stored."
    return type(error)(problem, way_out=f"{error.way_out} Remember all of them again: stored facts keep their ids.")


def _recount_after_batches(sizes: Mapping[str, ScopeSize], told: int, settings: Settings) -> Steps[None]:
    """What is told in several batches is counted to its last fact, so that it does not matter which fact came last."""
    if told <= settings[REMEMBER_BATCH]:
        return
    now: datetime = yield ReadClock()
    much = {scope: size for scope, size in sizes.items() if size.facts <= RECOUNT_RATIO * told}
    yield from recount_if_due(much, now, settings, growth=0.0)


def _apply_common(given: FactInput, common: RememberOptions) -> FactInput:
    """What a fact says of itself goes before what is said of all."""
    said = {label: value for label, value in common.items() if value is not None}
    if not said:
        return given
    if isinstance(given, str):
        return {**said, "text": given}
    if isinstance(given, Fact):
        plain = Fact(given.text)
        own = {label: getattr(given, label) for label in validation.FACT_FIELDS}
        return {**own, **{label: value for label, value in said.items() if own[label] == getattr(plain, label)}}
    return {**said, **{label: value for label, value in given.items() if value is not None}}


def _remember_batch(facts: list[Fact], settings: Settings) -> Steps[WriteResult]:
    now: datetime = yield ReadClock()
    hashes = [fact.hash for fact in facts]
    known = yield from store.find_ids_by_hash(hashes)
    minted: list[str] = yield MintIds(now, len(facts))
    replacements = yield from _plan_superseding(facts, minted, known, now)
    stored = [
        replace(fact, id=id, stored_at=min(fact.stored_at or now, now), supersedes=())
        for fact, id in zip(facts, minted, strict=True)
    ]
    hash_of = dict(zip(minted, hashes, strict=True))
    fresh = [fact for fact in stored if hash_of[fact.id] not in known] if known else stored
    settled, vectors = yield from _embed_new(fresh, hash_of)
    read = yield from _analyse_new(fresh, vectors, settings)
    new = tuple(read.get(fact.id) or FactWrite(fact, count_fact_words(fact), again=True) for fact in stored)
    # The first telling of a fact is the one that will be stored.
    once = {hash_of[id]: one.fact for id, one in reversed(read.items())}
    links = yield from _find_links(list(once.values()), vectors, settled, now, settings)
    mentions = yield from find_earlier_mentions(new, settings)
    expects = {MODEL_RECORD: settled.version} if settled else {}
    change = _add_replacements(_make_change(new, links, mentions, now, settings), replacements)
    try:
        written = yield from store.write(change, expects)
    except NotFound as error:
        if not replacements.superseded:
            raise
        # The same text was stored under another id after `Recognise`: the next attempt recognises it.
        raise Conflict(error.problem, way_out="Try once more.") from error
    sizes = yield from recount_if_due(written.sizes, now, settings, growth=settings[STATISTICS_GROWTH])
    return replace(written, sizes={**written.sizes, **sizes}) if sizes else written


def _plan_superseding(
    facts: Sequence[Fact], minted: Sequence[str], known: Mapping[bytes, str], now: datetime
) -> Steps[Replacements]:
    """What the new facts replace. A text that is stored already replaces the older facts under its own id."""
    if not any(fact.supersedes for fact in facts):
        return Replacements()
    old_ids = [id for fact in facts for id in fact.supersedes]
    old_facts = {fact.id: fact for fact in (yield from read_facts(old_ids))}
    known_facts = yield from _read_known([known[fact.hash] for fact in facts if fact.supersedes and fact.hash in known])
    first_ids: dict[bytes, str] = {}
    pairs: list[tuple[Fact, Fact]] = []
    for fact, minted_id in zip(facts, minted, strict=True):
        new_id = known.get(fact.hash) or first_ids.setdefault(fact.hash, minted_id)
        known_fact = known_facts.get(new_id)
        new = known_fact.observed_again(fact, now) if known_fact else replace(fact, id=new_id)
        pairs += [(old_facts[old_id], new) for old_id in fact.supersedes]
    replacements = yield from plan_replacements(pairs, now)
    return replace(replacements, as_read={**known_facts, **replacements.as_read})


def _read_known(ids: Sequence[str]) -> Steps[dict[str, Fact]]:
    """Facts that were recognised a moment ago, by id."""
    facts = yield from store.read_facts(list(dict.fromkeys(ids)))
    if None in facts:
        raise Conflict("A fact was removed while it was being stored again.", way_out="Try once more.")
    return {fact.id: fact for fact in facts if fact is not None}


def _add_replacements(change: Change, replacements: Replacements) -> Change:
    if not replacements.superseded:
        return change
    return replace(
        change,
        edges=(*change.edges, *replacements.edges),
        curation=CurationChange(superseded=replacements.superseded),
        as_read=replacements.as_read,
    )


def _find_links(
    fresh: list[Fact], vectors: Mapping[str, bytes], settled: VersionedModel | None, now: datetime, settings: Settings
) -> Steps[AutoLinks]:
    """What new facts are linked with."""
    if settled is None or not is_linked_at_once(len(fresh), settings):
        return AutoLinks()
    return (yield from find_auto_links(fresh, vectors, settled.model, now, settings))


def _make_change(
    new: tuple[FactWrite, ...], links: AutoLinks, mentions: MentionsByFact, now: datetime, settings: Settings
) -> Change:
    return Change(
        now=now,
        facts=new,
        reach=settings[MULTI_GRAPH_REACH] if settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_TIME] else 0,
        edges=links.edges,
        mentions=mentions,
        descriptions=links.descriptions,
        idle_minutes=settings[SESSION_IDLE_MINUTES],
    )


def _analyse_new(fresh: list[Fact], vectors: Mapping[str, bytes], settings: Settings) -> Steps[dict[str, FactWrite]]:
    """New facts with all they are stored with. Those known already are not read: their words are enough to recognise them."""
    read: list[FactWrite] = yield from analyse_facts(fresh, vectors, settings)
    return {new.fact.id: new for new in read}


def _embed_new(
    fresh: list[Fact], hash_of: Mapping[str, bytes]
) -> Steps[tuple[VersionedModel | None, dict[str, bytes]]]:
    """The vectors of facts that are not stored yet, as they will be stored; none where there is no embedder. `hash_of` are the content
    hashes by id."""
    settled = (yield from ensure_stored_model()) if fresh else None
    if settled is None:
        return None, {}
    hashes = [hash_of[fact.id] for fact in fresh]
    once = {hash: fact.reading for hash, fact in zip(hashes, fresh, strict=True)}
    made: Vectors | None = yield EmbedTexts(list(once.values()), "fact")
    if made is None:
        return None, {}
    rows = dict(zip(once, made.astype(np.float16), strict=True))
    return settled, {fact.id: rows[hash].tobytes() for hash, fact in zip(hashes, fresh, strict=True)}


def recount_if_due(
    sizes: Mapping[str, ScopeSize], now: datetime, settings: Settings, *, growth: float
) -> Steps[Mapping[str, ScopeSize]]:
    """Count the words of a scope anew once it has grown or shrunk enough since they were last counted; the sizes of those."""
    due = tuple(scope for scope, size in sizes.items() if is_recount_due(size, growth))
    if not due:
        return {}
    written = yield from store.write(Change(now=now, recount=due, sample=settings[STATISTICS_SAMPLE]))
    return written.sizes


def is_recount_due(size: ScopeSize, growth: float) -> bool:
    """Whether a scope differs by more than a share from what was counted.

    >>> (
    ...     is_recount_due(ScopeSize(110, 100), 0.1),
    ...     is_recount_due(ScopeSize(111, 100), 0.1),
    ...     is_recount_due(ScopeSize(1, 0), 0.1),
    ... )
    (False, True, True)
    """
    return abs(size.facts - size.counted) > growth * size.counted
