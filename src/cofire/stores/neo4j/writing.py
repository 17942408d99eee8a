"""Writing: what one change does, statement by statement, inside one transaction that the driver manages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from cofire.curating import NO_CURATION
from cofire.learned import Keeping, Shown
from cofire.model import Change, Drawn, EdgeCounts, Fact, NewFact, ScopeSize, Written
from cofire.revising import PutBack
from cofire.stores.neo4j import (
    clock,
    curating,
    facts,
    graph_writing,
    learning,
    recall_log,
    records,
    recounting,
    removing,
    revising,
    taking,
)
from cofire.stores.neo4j.querying import Query, Querying, Rows
from cofire.stores.neo4j.recounting import Words
from cofire.stores.neo4j.rows import FACT, fact
from cofire.stores.neo4j.telling import Telling, tell
from cofire.stores.refusing import refuse_overtaken, still_true

NOTHING = EdgeCounts()


def write_after(
    shown: Sequence[Shown], keeping: Keeping | None, change: Change, expects: Mapping[str, int]
) -> Querying[Written]:
    """Write a change, and before it what was shown until now."""
    if shown and keeping:
        yield from recall_log.write(shown, keeping)
    return (yield from write(change, expects))


def write(change: Change, expects: Mapping[str, int]) -> Querying[Written]:
    """Write all of a change, in the order in which every store does."""
    change = yield from _checked(change, expects)
    before = (yield from facts.model()) if change.adopt_vectors else None
    yield from records.write_records(change.records)
    use = yield from _use(change)
    told = yield from tell(change.facts, change.now, use[-1].hours if use else 0.0)
    followed = yield from _wire(told.fresh, change)
    taken = (yield from taking.take(change.removals)) if change.removals else None
    removed = yield from removing.remove(change.removals)
    if taken is not None:
        yield from taking.scrub(taken)
    put_back = (yield from taking.put_back(change.put_back)) if change.put_back else PutBack()
    yield from _pin(change.pins)
    for revised in change.revisions:
        yield from revising.revise(revised, change.now)
    if change.vectors:
        yield from records.write_incoming(change.vectors)
    if change.adopt_vectors:
        yield from records.adopt(before)
    edges = (yield from graph_writing.write_graph(change)) if _is_of_graph(change) else NOTHING
    faded = (
        (yield from curating.write_curation(change)) if change.archive or change.curation != NO_CURATION else NOTHING
    )
    learned = (yield from learning.write_learning(change)) if _is_of_use(change) else NOTHING
    back = yield from _scopes_of(put_back.facts)
    yield from records.settle(expects)
    yield from clock.keep(use)
    sizes = yield from _settled(told, removed, back)
    if removed or back or change.recount:
        gone = taken.rows[taking.FACTS] if taken is not None and removed else ()
        sizes = yield from _recounted(sizes, change, gone, _came_back(change, put_back))
    new, changed = edges.new + followed + learned.new, edges.changed + faded.changed + learned.changed
    counts = EdgeCounts(new, changed, edges.ended + faded.ended)
    return Written(told.stored, sum(removed.values()), counts, sizes, taken, put_back)


def _checked(change: Change, expects: Mapping[str, int]) -> Querying[Change]:
    """A change as far as it still holds; refused where it rests on what others have changed."""
    yield from records.check_expectations(expects)
    if change.as_read:
        refuse_overtaken(change.as_read, (yield from _locked(change.as_read)))
    return still_true(change, (yield from _drawn_from(change.dreamed))) if change.dreamed else change


def _locked(ids: Iterable[str]) -> Querying[dict[str, Fact]]:
    """Facts that nobody else changes until this change is kept."""
    found = yield Query(_LOCKED, {"ids": sorted(ids)})
    return {one.id: one for one in (fact(row) for (row,) in found)}


_LOCKED = f"""
CALL () {{ MATCH (f:Fact) WHERE f.id IN $ids SET f.locked = true RETURN collect(f.id) AS locked }}
MATCH (f:Fact) WHERE f.id IN locked SET f.locked = null RETURN [{FACT}] AS row
"""


def _drawn_from(ids: Iterable[str]) -> Querying[dict[str, Drawn]]:
    found = yield Query(f"MATCH (f:Fact) WHERE f.id IN $ids RETURN [{FACT}] AS row", {"ids": list(ids)})
    return {one.id: one.drawn_from for one in (fact(row) for (row,) in found)}


def _use(change: Change) -> Querying[list[clock.Reading]]:
    """The time of use that a change belongs to, if it is use of the memory."""
    if change.idle_minutes is None:
        return []
    last = yield from clock.last_use()
    return [clock.run_on(last, change.now, change.idle_minutes)]


def _is_of_graph(change: Change) -> bool:
    parts = (change.mentions, change.descriptions, change.dreamed, change.importance, change.edges, change.ended)
    return any(parts)


def _is_of_use(change: Change) -> bool:
    return bool(change.lessons or change.uses or change.occasions)


def _wire(fresh: Sequence[NewFact], change: Change) -> Querying[int]:
    """What new facts bring to the graph by themselves: names, and the turns they follow."""
    if not fresh:
        return 0
    if any(new.mentions or new.subjects or new.perhaps for new in fresh):
        yield from graph_writing.write_names(fresh)
    turns = [new.fact.id for new in fresh if new.fact.session is not None]
    return (yield from graph_writing.write_follows(turns, change.reach, change.now)) if change.reach and turns else 0


def _pin(pins: Mapping[str, bool]) -> Querying[None]:
    if pins:
        rows = [{"id": id, "pinned": pinned} for id, pinned in pins.items()]
        yield Query("UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.pinned = r.pinned", {"rows": rows})


def _scopes_of(ids: Sequence[str]) -> Querying[dict[str, int]]:
    """How many of these facts each scope has."""
    if not ids:
        return {}
    found = yield Query("MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.scope] AS row", {"ids": list(ids)})
    return Counter(str(scope) for (scope,) in found)


def _settled(told: Telling, removed: Mapping[str, int], back: Mapping[str, int]) -> Querying[dict[str, ScopeSize]]:
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
    return _sizes((yield Query(_SETTLE, {"rows": rows})))


_SETTLE = """
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


def _came_back(change: Change, put_back: PutBack) -> list[Words]:
    rows = change.put_back.rows.get(taking.FACTS, ()) if change.put_back else ()
    back = set(put_back.facts)
    return [row for row in rows if row["id"] in back]


def _recounted(
    touched: Mapping[str, ScopeSize], change: Change, gone: Sequence[Words], back: Sequence[Words]
) -> Querying[dict[str, ScopeSize]]:
    """Count words anew where that is wanted, and what was counted where some of it went or came back."""
    if gone or back:
        yield from recounting.count_again(touched, gone, back)
    for scope in change.recount:
        yield from recounting.recount(scope, change.sample)
    return _sizes((yield Query(_SIZES, {"scopes": sorted({*touched, *change.recount})})))


_SIZES = """
UNWIND $scopes AS scope OPTIONAL MATCH (s:Scope {scope: scope}) OPTIONAL MATCH (c:WordCount {scope: scope})
RETURN [scope, coalesce(s.facts, 0), coalesce(c.facts, 0)] AS row
"""


def _sizes(rows: Rows) -> dict[str, ScopeSize]:
    return {str(scope): ScopeSize(held, counted) for scope, held, counted in rows}
