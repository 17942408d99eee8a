"""Weighing: what scoring needs of facts and of the turns around them, in one query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.likeness import VectorRows
from cofire.stores.base import Evidence, Floats
from cofire.stores.index.terms import ASKS, TIMED, Held, hint, places_of, term, unpacked
from cofire.stores.neo4j import counting
from cofire.stores.neo4j.bringing import MOST_JUDGED, Brought
from cofire.stores.neo4j.neighbouring import around
from cofire.stores.neo4j.querying import Query, Querying, Row, Rows, both
from cofire.stores.neo4j.rows import FACT

# Facts that were asked for, and the turns around them; `facts` are nodes. A turn that stands around several comes once; with its
# vector, if it is near to any of them. What else a recall will ask of the facts themselves comes along. Ids come in one string, since
# the driver takes as long for each value as for a long one.
WEIGHED = f"""
CALL (facts) {{
  UNWIND facts AS f
{around("f")}
  WITH f, [reduce(ids = '', t IN before | ids + t.id + ' '), reduce(ids = '', t IN after | ids + t.id + ' ')] AS around,
    [at IN range(1, size(before)) | [before[at - 1], at]] + [at IN range(1, size(after)) | [after[at - 1], at]] AS others
  UNWIND [[f, 0, around]] + others AS seen
  WITH seen[0] AS f, min(seen[1]) AS distance, head(collect(seen[2])) AS around
  RETURN collect([f.id, f.told, f.speaker, f.length, f.terms, f.counts, CASE WHEN distance <= $near THEN f.stored END,
    CASE WHEN around IS NOT NULL THEN around + [f.places, {FACT}] END]) AS turns
}}
CALL () {{ MATCH (o:Occasion) RETURN count(o) AS occasions }}
CALL (facts, occasions) {{
  UNWIND CASE WHEN occasions > 0 THEN facts ELSE [] END AS f
  MATCH (f)<-[j:JUDGED]-(o:Occasion) WHERE j.first WITH DISTINCT o LIMIT $judged
  CALL (o) {{ MATCH (o)-[j:JUDGED]->(g:Fact) RETURN collect([g.id, j.first, j.verdict]) AS said }}
  RETURN collect([o.id, o.number, said]) AS judged
}}
"""
_WEIGH = f"""
CALL () {{ UNWIND $ids AS id MATCH (f:Fact {{id: id}}) RETURN collect(f) AS facts }}
{WEIGHED}
RETURN [turns, judged] AS row
"""


def weigh(brought: Brought, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> Querying[Evidence]:
    """What scoring needs to know of these facts, of `reach` turns before and after, `near` of them with vectors."""
    brought.weigh_with(reach, near)
    lacking = brought.lacking(ids)
    if lacking or brought.dimension is None:
        asked = Query(_WEIGH, {"ids": lacking, **_along(brought)})
        [[turns, judged]], brought.dimension = yield from both(_asked(asked), counting.model_size())
        brought.keep(turns, judged)
    return _evidence(brought, ids, words)


def led_to(brought: Brought, query: Query) -> Querying[Rows]:
    """The leads of a query that ends with them as `leads`, lists whose last part are targets, lists that begin with a fact.

    Where facts were weighed before, those that the leads go to are weighed at once, and the query is told what they need.
    """
    weighs = brought.around is not None
    asked = {"weighed": brought.weighed, **_along(brought)} if weighs else {}
    text = f"{query.text}{_NEW}{WEIGHED}{_LED}" if weighs else f"{query.text}{_LED_ALONE}"
    [[leads, turns, judged]] = yield Query(text, {**query.parameters, **asked})
    brought.keep(turns, judged)
    return list(leads)


_NEW = """
CALL (leads) {
  UNWIND leads AS lead UNWIND lead[-1] AS to WITH DISTINCT to[0] AS f WHERE NOT f.id IN $weighed RETURN collect(f) AS facts
}
"""
_PLAIN = "[lead IN leads | lead[..-1] + [[to IN lead[-1] | [to[0].id] + to[1..]]]]"
_LED, _LED_ALONE = f"RETURN [{_PLAIN}, turns, judged] AS row", f"RETURN [{_PLAIN}, [], []] AS row"


def _along(brought: Brought) -> dict[str, Any]:
    """What `WEIGHED` is told."""
    reach, near = brought.around or (0, 0)
    return {"reach": reach, "near": near, "judged": MOST_JUDGED}


@dataclass(frozen=True, slots=True)
class _Rows:
    """Which rows evidence has: the facts asked for, their near neighbours and those further away; and who stands around whom."""

    known: Sequence[str]
    close: Sequence[str]
    far: Sequence[str]
    around: Sequence[Sequence[str | None]]
    reach: int

    def places(self) -> NDArray[np.int32]:
        """Who stands around each, as rows; -1 where nobody does. One asked for twice is at its first row."""
        rows = [*self.known, *self.close, *self.far]
        place = {id: row for row, id in reversed(list(enumerate(rows)))}
        table = [[place.get(turn or "", -1) for turn in one] for one in self.around]
        return np.array(table, np.int32).reshape(len(table), 2 * self.reach)


def _evidence(brought: Brought, ids: Sequence[str], words: Sequence[str]) -> Evidence:
    rows = _rows(brought, ids)
    first = [brought.turns[id] for id in (*rows.known, *rows.close)]
    every = [*first, *(brought.turns[id] for id in rows.far)]
    own = [brought.turns[id] for id in rows.known]
    counts, mine = _Counts.of([turn.held for turn in every]), slice(len(own))
    return Evidence(
        ids=tuple(rows.known),
        stored=VectorRows.of(_vectors([turn.stored for turn in first], brought.dimension or 0)),
        embedded=np.array([turn.stored is not None for turn in first], np.bool_),
        counts=counts.table(map(term, words)),
        lengths=np.array([turn.length for turn in every], np.float32),
        hints=counts.table(map(hint, words))[mine],
        around=rows.places(),
        times=np.array([turn.told for turn in own], np.float64) / 1e6,
        asks=counts.bearing(ASKS)[mine],
        timed=counts.bearing(TIMED)[mine],
        speakers=tuple(turn.speaker for turn in own),
    )


def _rows(brought: Brought, ids: Sequence[str]) -> _Rows:
    reach, near = brought.around or (0, 0)
    wholes = {id: whole for id in ids if (whole := brought.whole(id)) is not None}
    known = [id for id in ids if id in wholes]
    around = [wholes[id].around(reach) for id in known]
    close = _strangers([turn for one in around for turn in (*one[:near], *one[reach : reach + near])], known)
    far = _strangers([turn for one in around for turn in one], [*known, *close])
    return _Rows(known, close, far, around, reach)


def _asked(query: Query) -> Querying[list[Row]]:
    return (yield query)


def _vectors(stored: Sequence[bytes | None], dimension: int) -> Floats:
    nothing = bytes(2 * dimension)
    rows = np.frombuffer(b"".join(one or nothing for one in stored), np.float16)
    return rows.astype(np.float32).reshape(len(stored), dimension)


@dataclass(frozen=True, slots=True)
class _Counts:
    """What facts hold, one after the other: a term, how often it occurs, and the row of the fact."""

    rows: int
    terms: NDArray[np.int64]
    often: NDArray[np.uint16]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, held: Sequence[Held]) -> _Counts:
        return cls(len(held), *unpacked(held))

    def table(self, numbers: Iterable[int]) -> Floats:
        """How often each of these terms occurs: a row a fact, a column a term."""
        columns = [self._column(number) for number in numbers]
        return np.array(columns, np.float32).reshape(len(columns), self.rows).T

    def _column(self, number: int) -> Floats:
        column = np.zeros(self.rows, np.float32)
        found = self.terms == number
        column[self.row[found]] = self.often[found]
        return column

    def bearing(self, mark: int) -> NDArray[np.bool_]:
        """Which facts bear a mark."""
        marked = np.zeros(self.rows, np.bool_)
        marked[self.row[self.terms == mark]] = True
        return marked


def places(brought: Brought, ids: Sequence[str], words: Sequence[str]) -> Querying[NDArray[np.int64]]:
    """In which sentences of these facts the words stand, a bit a sentence; all that nobody cut into sentences stands in every one."""
    lacking = brought.lacking(ids)
    found = (yield Query(_PLACES, {"ids": lacking})) if lacking else []
    stored = {id: (bytes(cut or b""), bytes(held)) for id, cut, held in found}
    for id in ids:
        if (whole := brought.whole(id)) is not None:
            stored[id] = whole.places, brought.turns[id].held.terms
    terms = np.array([term(word) for word in words], np.int64)
    table = places_of([stored.get(id, (b"", b""))[0] for id in ids], terms)
    for row, id in enumerate(ids):
        cut, held = stored.get(id, (b"", b""))
        if not cut:
            table[row] = np.where(np.isin(terms, np.frombuffer(held, np.int64)), -1, 0)
    return table


_PLACES = "UNWIND $ids AS id MATCH (f:Fact {id: id}) RETURN [f.id, f.places, f.terms] AS row"


def _strangers(turns: Iterable[str | None], known: Iterable[str]) -> list[str]:
    """Those of these turns that are not known yet, each once."""
    seen = set(known)
    return [turn for turn in dict.fromkeys(turns) if turn is not None and turn not in seen]
