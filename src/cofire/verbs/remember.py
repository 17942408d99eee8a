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
# Tries of a write that many callers may make to the same fact.
CONTENDED_TRIES = 25
# After several batches, a scope is counted again only if it holds at most this many times the facts
# of the call. Counting then takes a small part of the call's time.
RECOUNT_RATIO = 100

FactInput = Fact | str | Mapping[str, Any]
OnError = Literal["raise", "skip"]
ON_ERROR: tuple[str, ...] = get_args(OnError)
TimeInput = datetime | date | str | None


class RememberOptions(TypedDict, total=False):
    """Fields of a fact besides its text. For several facts, the defaults of each."""

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
    """How far a long call has come; `total` is None if it is unknown."""

    doing: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """An item that `remember(..., errors="skip")` did not store: where, why, and what to do."""

    index: int
    problem: str
    way_out: str


class RememberResult(list[str | None]):
    """The ids in the order of the items, None for a skipped item; `skipped` holds the reasons."""

    def __init__(self, ids: Iterable[str | None], skipped: Sequence[SkippedItem]) -> None:
        super().__init__(ids)
        self.skipped = tuple(skipped)


def remember(
    items: FactInput | Iterable[FactInput], common: RememberOptions, settings: Settings, errors: OnError = "raise"
) -> Steps[str | list[str] | RememberResult]:
    """Store one fact and return its id, or several and return their ids in order.

    `common` holds the keywords of a single text, or the defaults of each item. Every item is checked
    before the first is stored. With `errors="raise"`, nothing is stored if an item is refused. With
    "skip", the other items are stored and the result lists the skipped ones.
    """
    if errors not in ON_ERROR:
        raise InvalidInput(f"errors cannot be {errors!r}.", way_out=f"Choose one of: {', '.join(ON_ERROR)}.")
    now: datetime = yield ReadClock()
    if isinstance(items, str | Fact | Mapping):
        fact = _parse_item(items, common, now, settings)
        ids = yield from _store_in_batches([fact], settings)
        return ids[0]
    validation.refuse_bytes(items)
    if not isinstance(items, Iterable):
        raise InvalidFact(
            f"A value of type {type(items).__name__} cannot be remembered.",
            way_out="Give a text, a Fact or a list.",
        )
    with relaxed_gc():
        if errors == "skip":
            return (yield from _remember_valid(items, common, now, settings))
        facts = [_parse_indexed_item(item, index, common, now, settings) for index, item in enumerate(items)]
        refused = yield from _find_refused_replacements(facts, now)
        for index, refusal in refused.items():
            raise _make_item_error(refusal, index) from refusal
        return (yield from _store_in_batches(facts, settings))


def _remember_valid(
    items: Iterable[FactInput], common: RememberOptions, now: datetime, settings: Settings
) -> Steps[RememberResult]:
    """Store the valid items and report the others."""
    facts: list[Fact] = []
    indexes: list[int] = []
    skipped: list[SkippedItem] = []
    count = 0
    for index, item in enumerate(items):
        count += 1
        try:
            facts.append(_parse_item(item, common, now, settings))
            indexes.append(index)
        except InvalidFact as error:
            skipped.append(SkippedItem(index, error.problem, error.way_out))
    refused = yield from _find_refused_replacements(facts, now)
    for position, refusal in refused.items():
        skipped.append(SkippedItem(indexes[position], refusal.problem, refusal.way_out))
    accepted = [position for position in range(len(facts)) if position not in refused]
    stored_ids = yield from _store_in_batches([facts[position] for position in accepted], settings)
    ids: list[str | None] = [None] * count
    for position, id in zip(accepted, stored_ids, strict=True):
        ids[indexes[position]] = id
    return RememberResult(ids, sorted(skipped, key=lambda item: item.index))


def _parse_item(item: FactInput, common: RememberOptions, now: datetime, settings: Settings) -> Fact:
    fact = validation.parse_fact(_apply_common(item, common), settings)
    validation.refuse_expired(fact, now)
    return fact


def _parse_indexed_item(
    item: FactInput, index: int, common: RememberOptions, now: datetime, settings: Settings
) -> Fact:
    """Parse one of several items; its error names its index."""
    try:
        return _parse_item(item, common, now, settings)
    except InvalidFact as error:
        raise _make_item_error(error, index) from error


def _make_item_error(error: CofireError, index: int) -> CofireError:
    """The error of one of several items: the same type, with the number of the item."""
    refusal = type(error)(
        f"Fact {index + 1}: {error.problem} Nothing was stored.",
        way_out=f'{error.way_out} Or leave such facts out with errors="skip".',
    )
    refusal.index = index
    return refusal


def _find_refused_replacements(facts: Sequence[Fact], now: datetime) -> Steps[dict[int, CofireError]]:
    """By index, why a fact cannot supersede others. Runs before the first batch is stored."""
    replacing = {index: fact for index, fact in enumerate(facts) if fact.supersedes}
    if not replacing:
        return {}
    old_ids = sorted({id for fact in replacing.values() for id in fact.supersedes})
    old_facts = yield from _read_stored_facts(old_ids)
    stored_ids = dict((yield from store.find_ids_by_hash([fact.hash for fact in replacing.values()])))
    stored_facts = yield from _read_stored_facts(list(stored_ids.values()))
    refused: dict[int, CofireError] = {}
    for index, fact in replacing.items():
        stored_fact = stored_facts.get(stored_ids.get(fact.hash, ""))
        new = stored_fact.observed_again(fact, now) if stored_fact else fact
        try:
            pairs = [(require_fact(old_facts.get(id), id), new) for id in fact.supersedes]
            yield from plan_replacements(pairs, now)
        except (NotFound, InvalidInput) as error:
            refused[index] = error
    return refused


def _read_stored_facts(ids: Sequence[str]) -> Steps[dict[str, Fact]]:
    """The facts that exist, by id."""
    if not ids:
        return {}
    facts = yield from store.read_facts(ids)
    return {fact.id: fact for fact in facts if fact is not None}


def remember_new(facts: Sequence[Fact], settings: Settings) -> Steps[tuple[list[str], frozenset[str]]]:
    """Store the facts whose text is not stored yet; return all ids in order, and the new ones.

    A stored fact is not reinforced, so reading a file twice changes nothing. A fact that another
    memory exported keeps its storing time.
    """
    ids: dict[bytes, str] = dict((yield from store.find_ids_by_hash([fact.hash for fact in facts])))
    new_facts = {fact.hash: fact for fact in facts if fact.hash not in ids}
    with relaxed_gc():
        new_ids = yield from _store_in_batches(list(new_facts.values()), settings)
    ids.update(zip(new_facts, new_ids, strict=True))
    return [ids[fact.hash] for fact in facts], frozenset(new_ids)


def _store_in_batches(facts: Sequence[Fact], settings: Settings) -> Steps[list[str]]:
    """Store facts with one transaction per batch.

    If a batch fails, the error says how many facts the earlier batches stored.
    """
    ids: list[str] = []
    sizes: dict[str, ScopeSize] = {}
    batch_size = settings[REMEMBER_BATCH]
    for start in range(0, len(facts), batch_size):
        batch = list(facts[start : start + batch_size])
        try:
            written: WriteResult = yield from retry_on_conflict(
                partial(_remember_batch, batch, settings), tries=BATCH_TRIES
            )
        except CofireError as error:
            if not ids:
                raise
            raise _make_partial_error(error, len(ids), len(facts)) from error
        ids += [fact.id for fact in written.facts]
        sizes |= written.sizes
        yield Emit(Progress("remember", len(ids), len(facts)))
    if len(ids) > batch_size:
        yield from _recount_after_batches(sizes, len(ids), settings)
    return ids


def _make_partial_error(error: CofireError, stored: int, total: int) -> CofireError:
    """The same error, with the number of facts that were stored before it."""
    problem = f"{error.problem} The first {stored:,} of {total:,} facts are stored."
    return type(error)(problem, way_out=f"{error.way_out} Remember all of them again: stored facts keep their ids.")


def _recount_after_batches(sizes: Mapping[str, ScopeSize], stored: int, settings: Settings) -> Steps[None]:
    """Count all facts after several batches: the statistics must not depend on their order."""
    now: datetime = yield ReadClock()
    small_scopes = {scope: size for scope, size in sizes.items() if size.facts <= RECOUNT_RATIO * stored}
    yield from recount_if_due(small_scopes, now, settings, growth=0.0)


def _apply_common(item: FactInput, common: RememberOptions) -> FactInput:
    """The item with the common fields; its own fields take precedence."""
    defaults = {label: value for label, value in common.items() if value is not None}
    if not defaults:
        return item
    if isinstance(item, str):
        return {**defaults, "text": item}
    if isinstance(item, Fact):
        unset = Fact(item.text)
        own_fields = {label: getattr(item, label) for label in validation.FACT_FIELDS}
        missing = {label: value for label, value in defaults.items() if own_fields[label] == getattr(unset, label)}
        return {**own_fields, **missing}
    own_fields = {label: value for label, value in item.items() if value is not None}
    return {**defaults, **own_fields}


def _remember_batch(facts: list[Fact], settings: Settings) -> Steps[WriteResult]:
    """Store a batch in one transaction: new facts with their links, stored ones reinforced."""
    now: datetime = yield ReadClock()
    hashes = [fact.hash for fact in facts]
    stored_ids = yield from store.find_ids_by_hash(hashes)
    new_ids: list[str] = yield MintIds(now, len(facts))
    replacements = yield from _plan_superseding(facts, new_ids, stored_ids, now)
    candidates = [
        replace(fact, id=id, stored_at=min(fact.stored_at or now, now), supersedes=())
        for fact, id in zip(facts, new_ids, strict=True)
    ]
    hash_by_id = dict(zip(new_ids, hashes, strict=True))
    new_facts = [fact for fact in candidates if hash_by_id[fact.id] not in stored_ids]
    model, vectors = yield from _embed_new(new_facts, hash_by_id)
    analysed: list[FactWrite] = yield from analyse_facts(new_facts, vectors, settings)
    write_by_id = {fact_write.fact.id: fact_write for fact_write in analysed}
    # A stored fact is recognised by its text; its names and vector are not computed again.
    fact_writes = tuple(
        write_by_id.get(fact.id) or FactWrite(fact, count_fact_words(fact), again=True) for fact in candidates
    )
    # If a batch repeats a text, its first fact is the one that is stored.
    first_by_hash = {hash_by_id[id]: fact_write.fact for id, fact_write in reversed(write_by_id.items())}
    links = yield from find_new_links(list(first_by_hash.values()), vectors, model, now, settings)
    mentions = yield from find_earlier_mentions(fact_writes, settings)
    change = _make_change(fact_writes, links, mentions, now, settings)
    expected_versions = {MODEL_RECORD: model.version} if model else {}
    try:
        written = yield from store.write(_add_replacements(change, replacements), expected_versions)
    except NotFound as error:
        if not replacements.superseded:
            raise
        # Another writer stored the same text after `find_ids_by_hash`. The next try finds its id.
        raise Conflict(error.problem, way_out="Try once more.") from error
    sizes = yield from recount_if_due(written.sizes, now, settings, growth=settings[STATISTICS_GROWTH])
    return replace(written, sizes={**written.sizes, **sizes}) if sizes else written


def _plan_superseding(
    facts: Sequence[Fact], new_ids: Sequence[str], stored_ids: Mapping[bytes, str], now: datetime
) -> Steps[Replacements]:
    """The supersessions of a batch. A stored text supersedes others under its stored id."""
    if not any(fact.supersedes for fact in facts):
        return Replacements()
    old_ids = [id for fact in facts for id in fact.supersedes]
    old_facts = {fact.id: fact for fact in (yield from read_facts(old_ids))}
    repeated_ids = [stored_ids[fact.hash] for fact in facts if fact.supersedes and fact.hash in stored_ids]
    repeated_facts = yield from _read_repeated(repeated_ids)
    first_ids: dict[bytes, str] = {}
    pairs: list[tuple[Fact, Fact]] = []
    for fact, minted_id in zip(facts, new_ids, strict=True):
        id = stored_ids.get(fact.hash) or first_ids.setdefault(fact.hash, minted_id)
        stored_fact = repeated_facts.get(id)
        new = stored_fact.observed_again(fact, now) if stored_fact else replace(fact, id=id)
        pairs += [(old_facts[old_id], new) for old_id in fact.supersedes]
    replacements = yield from plan_replacements(pairs, now)
    return replace(replacements, as_read={**repeated_facts, **replacements.as_read})


def _read_repeated(ids: Sequence[str]) -> Steps[dict[str, Fact]]:
    """Stored facts that the batch repeats, by id."""
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


def find_new_links(
    facts: list[Fact], vectors: Mapping[str, bytes], model: VersionedModel | None, now: datetime, settings: Settings
) -> Steps[AutoLinks]:
    """The automatic links of new or changed facts; none if the next dream is to link them."""
    if model is None or not is_linked_at_once(len(facts), settings):
        return AutoLinks()
    return (yield from find_auto_links(facts, vectors, model.model, now, settings))


def _make_change(
    fact_writes: tuple[FactWrite, ...],
    links: AutoLinks,
    mentions: MentionsByFact,
    now: datetime,
    settings: Settings,
) -> Change:
    has_time_links = settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_TIME]
    return Change(
        now=now,
        facts=fact_writes,
        reach=settings[MULTI_GRAPH_REACH] if has_time_links else 0,
        edges=links.edges,
        mentions=mentions,
        descriptions=links.descriptions,
        idle_minutes=settings[SESSION_IDLE_MINUTES],
    )


def _embed_new(
    facts: list[Fact], hash_by_id: Mapping[str, bytes]
) -> Steps[tuple[VersionedModel | None, dict[str, bytes]]]:
    """The store's model and the encoded vectors of new facts by id; none without an embedder.

    A text that occurs twice is embedded once.
    """
    model = (yield from ensure_stored_model()) if facts else None
    if model is None:
        return None, {}
    text_by_hash = {hash_by_id[fact.id]: fact.reading for fact in facts}
    embedded: Vectors | None = yield EmbedTexts(list(text_by_hash.values()), "fact")
    if embedded is None:
        return None, {}
    vector_by_hash = dict(zip(text_by_hash, embedded.astype(np.float16), strict=True))
    return model, {fact.id: vector_by_hash[hash_by_id[fact.id]].tobytes() for fact in facts}


def recount_if_due(
    sizes: Mapping[str, ScopeSize], now: datetime, settings: Settings, *, growth: float
) -> Steps[Mapping[str, ScopeSize]]:
    """Recount the words of scopes that changed enough, and return the sizes of these scopes."""
    due_scopes = tuple(scope for scope, size in sizes.items() if is_recount_due(size, growth))
    if not due_scopes:
        return {}
    written = yield from store.write(Change(now=now, recount=due_scopes, sample=settings[STATISTICS_SAMPLE]))
    return written.sizes


def is_recount_due(size: ScopeSize, growth: float) -> bool:
    """Whether the number of facts differs from the counted number by more than this share.

    >>> (
    ...     is_recount_due(ScopeSize(110, 100), 0.1),
    ...     is_recount_due(ScopeSize(111, 100), 0.1),
    ...     is_recount_due(ScopeSize(1, 0), 0.1),
    ... )
    (False, True, True)
    """
    return abs(size.facts - size.counted) > growth * size.counted
