"""Apply one change in one transaction; revise facts and keep their history."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cofire.index.terms import PackedTerms, add_description_terms, set_description_counts
from cofire.index.timestamps import to_microseconds, to_microseconds_or_none
from cofire.model import (
    Change,
    EdgeCounts,
    Fact,
    FactWrite,
    LinkBasis,
    RestoreSummary,
    ScopeSize,
    WriteResult,
)
from cofire.stores.base import FactHistory
from cofire.stores.curation_rows import NO_CURATION
from cofire.stores.fact_rows import REVISABLE_FIELDS, past_from_json, past_to_json
from cofire.stores.learning_rows import LoggedRecall, RecallLogOptions
from cofire.stores.neo4j import cascade, curation, graph_writes, learning, records, word_statistics
from cofire.stores.neo4j.cypher import FACT_COLUMNS, CypherQuery, QuerySteps, Rows, decode_fact, fact_properties
from cofire.stores.neo4j.facts import (
    DECODED_VECTOR,
    FactUpsertResult,
    build_search_properties,
    fetch_model,
    quantise_vector,
    upsert_facts,
)
from cofire.stores.neo4j.graph_writes import write_names
from cofire.stores.neo4j.schema import category_label
from cofire.stores.neo4j.word_statistics import MARK_STATISTICS_STALE, FactWords
from cofire.stores.rules import drop_stale_dream_results, reject_duplicate_text, reject_stale_facts
from cofire.text.descriptions import max_term_counts

# What a fact has by what it says: its vectors and its descriptions. Its names and citations are relationships.
TEXT_DERIVED_PROPERTIES = ("stored", "vector", "incoming", "descriptions", "descriptions_made", "hinted")


@dataclass(frozen=True, slots=True)
class FactBeforeRevision:
    """A fact as it is before it is revised."""

    fact: Fact
    held: PackedTerms
    descriptions: tuple[str, ...]
    history: tuple[str, ...]


def revise_fact(new: FactWrite, now: datetime) -> QuerySteps[None]:
    """Put a fact in the place of the one with its id. One that is gone meanwhile stays so."""
    found = yield CypherQuery(_LOCK_FOR_REVISION, {"id": new.fact.id, "hash": new.fact.hash.hex()})
    if not found:
        return
    known, terms, counts, descriptions, history, twin = found[0]
    reject_duplicate_text(twin, new.fact.id)
    held = PackedTerms(bytes(terms), bytes(counts))
    before = FactBeforeRevision(decode_fact(known), held, tuple(descriptions), tuple(history))
    after = replace(before.fact, **{label: getattr(new.fact, label) for label in REVISABLE_FIELDS})
    anew = before.fact.reading != after.reading
    if anew:
        yield from _detach_old_text(after.id)
    said = (*before.history, past_to_json(before.fact, until=to_microseconds(now)))
    parts = (
        fact_properties(after)
        | _build_revised_search_properties(new, before, anew=anew)
        | {"history": list(said), "inbox": True, "locked": None}
    )
    labels = {"old": category_label(before.fact.category), "new": category_label(after.category)}
    yield CypherQuery(_UPDATE_REVISED_FACT, {"id": after.id, "parts": parts, **labels})
    if after.valid_until != before.fact.valid_until:
        # An end that is given holds also where the fact comes back from those that took its place.
        yield CypherQuery(_SET_SUPERSEDED_END, {"id": after.id, "until": to_microseconds_or_none(after.valid_until)})
    if after.speaker != before.fact.speaker:
        yield CypherQuery(_COUNT_REVISION, {"id": after.id})
    if anew:
        yield from _attach_new_text(new)


_LOCK_FOR_REVISION = f"""
CALL () {{ MATCH (f:Fact {{id: $id}}) SET f.locked = true RETURN collect(f.id) AS locked }}
MATCH (f:Fact) WHERE f.id IN locked OPTIONAL MATCH (twin:Fact {{hash: $hash}})
RETURN [{FACT_COLUMNS}, f.terms, f.counts, coalesce(f.descriptions, []), coalesce(f.history, []), twin.id] AS row
"""
_UPDATE_REVISED_FACT = (
    f"MATCH (f:Fact {{id: $id}}) SET f += $parts REMOVE f:$($old) SET f:$($new) {MARK_STATISTICS_STALE}"
)
_SET_SUPERSEDED_END = "MATCH (:Fact {id: $id})-[s:SUPERSEDED]->(:Fact) SET s.valid_until = $until"
_COUNT_REVISION = "MATCH (f:Fact {id: $id}) MATCH (s:Scope {scope: f.scope}) SET s.revised = coalesce(s.revised, 0) + 1"


def _build_revised_search_properties(new: FactWrite, before: FactBeforeRevision, *, anew: bool) -> dict[str, Any]:
    """What search looks at. The words of descriptions stay while the text does."""
    parts = build_search_properties(new)
    if anew:
        return parts | dict.fromkeys(TEXT_DERIVED_PROPERTIES)
    hints = set_description_counts(before.held, max_term_counts(before.descriptions))[1]
    held = add_description_terms(PackedTerms(parts["terms"], parts["counts"]), hints)
    return parts | {"terms": held.terms, "counts": held.counts}


def _detach_old_text(id: str) -> QuerySteps[None]:
    """What hung on the old text goes, the words it gave to descriptions of others included."""
    yield from graph_writes.remove_summary_phrases((yield from graph_writes.find_cited_descriptions([id])))
    yield CypherQuery("MATCH (f:Fact {id: $id})-[c:CITES]-() DELETE c", {"id": id})
    yield from cascade.remove_names([id])


def _attach_new_text(new: FactWrite) -> QuerySteps[None]:
    """The names of the new text, and its vector."""
    yield from write_names([new])
    if new.vector is None:
        return
    id = new.fact.id
    yield CypherQuery("MATCH (f:Fact {id: $id}) SET f.stored = $vector", {"id": id, "vector": new.vector})
    seen = quantise_vector(new.vector, (yield from fetch_model()))
    if seen is not None:
        yield CypherQuery(_SET_INDEX_VECTOR, {"r": {"id": id, "vector": seen}})


_SET_INDEX_VECTOR = f"""
WITH $r AS r MATCH (f:Fact {{id: r.id}}) CALL db.create.setNodeVectorProperty(f, 'vector', {DECODED_VECTOR})
"""


def fetch_history(id: str) -> QuerySteps[FactHistory]:
    """Earlier versions and descriptions of a fact, the oldest first, and why curation archived it."""
    rows = yield CypherQuery(_FETCH_HISTORY, {"id": id})
    if not rows:
        return FactHistory()
    [[columns, history, descriptions, reason]] = rows
    fact = decode_fact(columns)
    pasts = [json.loads(encoded) for encoded in history]
    versions = tuple(past_from_json(fact, past["until"], past) for past in pasts)
    return FactHistory(versions, tuple(descriptions), reason or None)


# A reason that is empty says that the fact was archived by hand.
_FETCH_HISTORY = f"""
MATCH (f:Fact {{id: $id}}) RETURN [{FACT_COLUMNS}, coalesce(f.history, []), coalesce(f.descriptions, []),
  CASE WHEN f.archived THEN f.archived_because END] AS row
"""


NO_EDGE_COUNTS = EdgeCounts()


def write_recalls_and_change(
    shown: Sequence[LoggedRecall], keeping: RecallLogOptions | None, change: Change, expects: Mapping[str, int]
) -> QuerySteps[WriteResult]:
    """Write a change, and before it what was shown until now."""
    if shown and keeping:
        yield from learning.write_recalls(shown, keeping)
    return (yield from write_change(change, expects))


def write_change(change: Change, expects: Mapping[str, int]) -> QuerySteps[WriteResult]:
    """Write all of a change, in the order in which every store does."""
    change = yield from _check_change(change, expects)
    before = (yield from fetch_model()) if change.adopt_vectors else None
    yield from records.write_records(change.records)
    use = yield from _advance_use(change)
    told = yield from upsert_facts(change.facts, change.now, use[-1].hours if use else 0.0)
    followed = yield from _link_new_facts(told.fresh, change)
    taken = (yield from cascade.lock_cascade(change.removals)) if change.removals else None
    removed = yield from cascade.remove_facts(change.removals)
    if taken is not None:
        yield from cascade.remove_citations(taken)
    put_back = (yield from cascade.restore_cascade(change.put_back)) if change.put_back else RestoreSummary()
    yield from _pin_facts(change.pins)
    for revised in change.revisions:
        yield from revise_fact(revised, change.now)
    if change.vectors:
        yield from records.write_incoming_vectors(change.vectors)
    if change.adopt_vectors:
        yield from records.adopt_incoming_vectors(before)
    edges = (yield from graph_writes.write_graph(change)) if _has_graph_changes(change) else NO_EDGE_COUNTS
    faded = (
        (yield from curation.write_curation(change))
        if change.archive or change.curation != NO_CURATION
        else NO_EDGE_COUNTS
    )
    learned = (yield from learning.write_learning(change)) if _has_learning(change) else NO_EDGE_COUNTS
    back = yield from _count_by_scope(put_back.facts)
    yield from records.unlock_records(expects)
    yield from learning.write_spans(use)
    sizes = yield from _update_scope_sizes(told, removed, back)
    if removed or back or change.recount:
        gone = taken.rows[cascade.FACTS_KEY] if taken is not None and removed else ()
        sizes = yield from _recount_scopes(sizes, change, gone, _select_restored_rows(change, put_back))
    counts = edges + EdgeCounts(new=followed) + faded + learned
    return WriteResult(told.stored, sum(removed.values()), counts, sizes, taken, put_back)


def _check_change(change: Change, expects: Mapping[str, int]) -> QuerySteps[Change]:
    """A change as far as it still holds; refused where it rests on what others have changed."""
    yield from records.check_record_versions(expects)
    if change.as_read:
        reject_stale_facts(change.as_read, (yield from _lock_facts(change.as_read)))
    return (
        drop_stale_dream_results(change, (yield from _fetch_drawn_from(change.dreamed))) if change.dreamed else change
    )


def _lock_facts(ids: Iterable[str]) -> QuerySteps[dict[str, Fact]]:
    """Facts that nobody else changes until this change is kept."""
    found = yield CypherQuery(_LOCK_FACTS, {"ids": sorted(ids)})
    return {one.id: one for one in (decode_fact(row) for (row,) in found)}


_LOCK_FACTS = f"""
CALL () {{ MATCH (f:Fact) WHERE f.id IN $ids SET f.locked = true RETURN collect(f.id) AS locked }}
MATCH (f:Fact) WHERE f.id IN locked SET f.locked = null RETURN [{FACT_COLUMNS}] AS row
"""


def _fetch_drawn_from(ids: Iterable[str]) -> QuerySteps[dict[str, LinkBasis]]:
    found = yield CypherQuery(f"MATCH (f:Fact) WHERE f.id IN $ids RETURN [{FACT_COLUMNS}] AS row", {"ids": list(ids)})
    return {one.id: one.drawn_from for one in (decode_fact(row) for (row,) in found)}


def _advance_use(change: Change) -> QuerySteps[list[learning.ClockReading]]:
    """The time of use that a change belongs to, if it is use of the memory."""
    if change.idle_minutes is None:
        return []
    last = yield from learning.fetch_last_use()
    return [learning.advance_clock(last, change.now, change.idle_minutes)]


def _has_graph_changes(change: Change) -> bool:
    parts = (change.mentions, change.descriptions, change.dreamed, change.importance, change.edges, change.ended)
    return any(parts)


def _has_learning(change: Change) -> bool:
    return bool(change.lessons or change.uses or change.occasions)


def _link_new_facts(fresh: Sequence[FactWrite], change: Change) -> QuerySteps[int]:
    """What new facts bring to the graph by themselves: names, and the turns they follow."""
    if not fresh:
        return 0
    if any(new.mentions or new.subjects or new.perhaps for new in fresh):
        yield from graph_writes.write_names(fresh)
    turns = [new.fact.id for new in fresh if new.fact.session is not None]
    return (
        (yield from graph_writes.write_follows_edges(turns, change.reach, change.now)) if change.reach and turns else 0
    )


def _pin_facts(pins: Mapping[str, bool]) -> QuerySteps[None]:
    if pins:
        rows = [{"id": id, "pinned": pinned} for id, pinned in pins.items()]
        yield CypherQuery("UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.pinned = r.pinned", {"rows": rows})


def _count_by_scope(ids: Sequence[str]) -> QuerySteps[dict[str, int]]:
    """How many of these facts each scope has."""
    if not ids:
        return {}
    found = yield CypherQuery("MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.scope] AS row", {"ids": list(ids)})
    return Counter(str(scope) for (scope,) in found)


def _update_scope_sizes(
    told: FactUpsertResult, removed: Mapping[str, int], back: Mapping[str, int]
) -> QuerySteps[dict[str, ScopeSize]]:
    """Count the facts of each scope and number the new ones. Late, since it locks the scope until the change is kept."""
    coming: dict[str, list[str]] = {scope: [] for scope in sorted({*told.scopes, *removed, *back})}
    for new in told.fresh:
        coming[new.fact.scope].append(new.fact.id)
    if not coming:
        return {}
    rows = [
        {
            "scope": scope,
            "ids": ids,
            "more": len(ids) + back.get(scope, 0) - removed.get(scope, 0),
            "revised": int(scope in removed or scope in back),
        }
        for scope, ids in coming.items()
    ]
    return _decode_scope_sizes((yield CypherQuery(_UPDATE_SCOPE_SIZES, {"rows": rows})))


_UPDATE_SCOPE_SIZES = """
UNWIND $rows AS r MERGE (s:Scope {scope: r.scope}) ON CREATE SET s.facts = 0, s.told = 0
SET s.facts = s.facts + r.more, s.told = s.told + size(r.ids), s.revised = coalesce(s.revised, 0) + r.revised, s.locked = null
WITH s, r
CALL (s, r) {
  UNWIND range(0, size(r.ids) - 1) AS at
  MATCH (f:Fact {id: r.ids[at]}) SET f.number = s.told - size(r.ids) + at + 1
}
OPTIONAL MATCH (c:WordCount {scope: r.scope})
RETURN [s.scope, s.facts, coalesce(c.facts, 0)] AS row
"""


def _select_restored_rows(change: Change, put_back: RestoreSummary) -> list[FactWords]:
    rows = change.put_back.rows.get(cascade.FACTS_KEY, ()) if change.put_back else ()
    back = set(put_back.facts)
    return [row for row in rows if row["id"] in back]


def _recount_scopes(
    touched: Mapping[str, ScopeSize], change: Change, gone: Sequence[FactWords], back: Sequence[FactWords]
) -> QuerySteps[dict[str, ScopeSize]]:
    """Count words anew where that is wanted, and what was counted where some of it went or came back."""
    if gone or back:
        yield from word_statistics.adjust_statistics(touched, gone, back)
    for scope in change.recount:
        yield from word_statistics.recount_scope(scope, change.sample)
    return _decode_scope_sizes((yield CypherQuery(_FETCH_SCOPE_SIZES, {"scopes": sorted({*touched, *change.recount})})))


_FETCH_SCOPE_SIZES = """
UNWIND $scopes AS scope OPTIONAL MATCH (s:Scope {scope: scope}) OPTIONAL MATCH (c:WordCount {scope: scope})
RETURN [scope, coalesce(s.facts, 0), coalesce(c.facts, 0)] AS row
"""


def _decode_scope_sizes(rows: Rows) -> dict[str, ScopeSize]:
    return {str(scope): ScopeSize(held, counted) for scope, held, counted in rows}
