"""Scoring features of facts and of the session turns around them, in one query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.vector_similarity import VectorRows
from cofire.index.terms import (
    QUESTION_TERM,
    TIME_TERM,
    PackedTerms,
    find_sentence_bits,
    hash_description_term,
    hash_term,
    unpack_terms,
)
from cofire.stores.base import FactFeatures, Floats
from cofire.stores.neo4j import word_statistics
from cofire.stores.neo4j.cypher import (
    FACT_COLUMNS,
    CypherQuery,
    QuerySteps,
    Row,
    Rows,
    run_together,
    turns_around_clause,
)
from cofire.stores.neo4j.prefetch import MAX_PREFETCHED_JUDGEMENTS, Prefetch

# Facts that were asked for, and the turns around them; `facts` are nodes. A turn that stands around several comes once; with its
# vector, if it is near to any of them. What else a recall will ask of the facts themselves comes along. Ids come in one string, since
# the driver takes as long for each value as for a long one.
COLLECT_FEATURES = f"""
CALL (facts) {{
  UNWIND facts AS f
{turns_around_clause("f")}
  WITH f, [reduce(ids = '', t IN before | ids + t.id + ' '), reduce(ids = '', t IN after | ids + t.id + ' ')] AS around,
    [at IN range(1, size(before)) | [before[at - 1], at]] + [at IN range(1, size(after)) | [after[at - 1], at]] AS others
  UNWIND [[f, 0, around]] + others AS seen
  WITH seen[0] AS f, min(seen[1]) AS distance, head(collect(seen[2])) AS around
  RETURN collect([f.id, f.told, f.speaker, f.length, f.terms, f.counts, CASE WHEN distance <= $near THEN f.stored END,
    CASE WHEN around IS NOT NULL THEN around + [f.places, {FACT_COLUMNS}] END]) AS turns
}}
CALL () {{ MATCH (o:Occasion) RETURN count(o) AS occasions }}
CALL (facts, occasions) {{
  UNWIND CASE WHEN occasions > 0 THEN facts ELSE [] END AS f
  MATCH (f)<-[j:JUDGED]-(o:Occasion) WHERE j.first WITH DISTINCT o LIMIT $judged
  CALL (o) {{ MATCH (o)-[j:JUDGED]->(g:Fact) RETURN collect([g.id, j.first, j.verdict]) AS said }}
  RETURN collect([o.id, o.number, said]) AS judged
}}
"""
_FETCH_FEATURES = f"""
CALL () {{ UNWIND $ids AS id MATCH (f:Fact {{id: id}}) RETURN collect(f) AS facts }}
{COLLECT_FEATURES}
RETURN [turns, judged] AS row
"""


def fetch_features(
    brought: Prefetch, ids: Sequence[str], words: Sequence[str], reach: int, near: int
) -> QuerySteps[FactFeatures]:
    """What scoring needs to know of these facts, of `reach` turns before and after, `near` of them with vectors."""
    brought.weigh_with(reach, near)
    lacking = brought.lacking(ids)
    if lacking or brought.dimension is None:
        asked = CypherQuery(_FETCH_FEATURES, {"ids": lacking, **_build_feature_parameters(brought)})
        [[turns, judged]], brought.dimension = yield from run_together(
            _run_query(asked), word_statistics.fetch_dimension()
        )
        brought.keep(turns, judged)
    return _build_features(brought, ids, words)


def fetch_leads(brought: Prefetch, query: CypherQuery) -> QuerySteps[Rows]:
    """The leads of a query that ends with them as `leads`, lists whose last part are targets, lists that begin with a fact.

    Where facts were weighed before, those that the leads go to are weighed at once, and the query is told what they need.
    """
    weighs = brought.around is not None
    asked = {"weighed": brought.weighed, **_build_feature_parameters(brought)} if weighs else {}
    text = (
        f"{query.text}{_UNFETCHED_TARGETS}{COLLECT_FEATURES}{_RETURN_LEADS_WITH_FEATURES}"
        if weighs
        else f"{query.text}{_RETURN_LEADS}"
    )
    [[leads, turns, judged]] = yield CypherQuery(text, {**query.parameters, **asked})
    brought.keep(turns, judged)
    return list(leads)


_UNFETCHED_TARGETS = """
CALL (leads) {
  UNWIND leads AS lead UNWIND lead[-1] AS to WITH DISTINCT to[0] AS f WHERE NOT f.id IN $weighed RETURN collect(f) AS facts
}
"""
_LEADS_BY_ID = "[lead IN leads | lead[..-1] + [[to IN lead[-1] | [to[0].id] + to[1..]]]]"
_RETURN_LEADS_WITH_FEATURES, _RETURN_LEADS = (
    f"RETURN [{_LEADS_BY_ID}, turns, judged] AS row",
    f"RETURN [{_LEADS_BY_ID}, [], []] AS row",
)


def _build_feature_parameters(brought: Prefetch) -> dict[str, Any]:
    """What `COLLECT_FEATURES` is told."""
    reach, near = brought.around or (0, 0)
    return {"reach": reach, "near": near, "judged": MAX_PREFETCHED_JUDGEMENTS}


@dataclass(frozen=True, slots=True)
class _FeatureRows:
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


def _build_features(brought: Prefetch, ids: Sequence[str], words: Sequence[str]) -> FactFeatures:
    rows = _select_rows(brought, ids)
    first = [brought.turns[id] for id in (*rows.known, *rows.close)]
    every = [*first, *(brought.turns[id] for id in rows.far)]
    own = [brought.turns[id] for id in rows.known]
    counts, mine = _TermCounts.of([turn.held for turn in every]), slice(len(own))
    return FactFeatures(
        ids=tuple(rows.known),
        stored=VectorRows.of(_decode_vectors([turn.stored for turn in first], brought.dimension or 0)),
        embedded=np.array([turn.stored is not None for turn in first], np.bool_),
        counts=counts.table(map(hash_term, words)),
        lengths=np.array([turn.length for turn in every], np.float32),
        hints=counts.table(map(hash_description_term, words))[mine],
        around=rows.places(),
        times=np.array([turn.told for turn in own], np.float64) / 1e6,
        asks=counts.bearing(QUESTION_TERM)[mine],
        timed=counts.bearing(TIME_TERM)[mine],
        speakers=tuple(turn.speaker for turn in own),
    )


def _select_rows(brought: Prefetch, ids: Sequence[str]) -> _FeatureRows:
    reach, near = brought.around or (0, 0)
    wholes = {id: whole for id in ids if (whole := brought.whole(id)) is not None}
    known = [id for id in ids if id in wholes]
    around = [wholes[id].around(reach) for id in known]
    close = _drop_known([turn for one in around for turn in (*one[:near], *one[reach : reach + near])], known)
    far = _drop_known([turn for one in around for turn in one], [*known, *close])
    return _FeatureRows(known, close, far, around, reach)


def _run_query(query: CypherQuery) -> QuerySteps[list[Row]]:
    return (yield query)


def _decode_vectors(stored: Sequence[bytes | None], dimension: int) -> Floats:
    nothing = bytes(2 * dimension)
    rows = np.frombuffer(b"".join(one or nothing for one in stored), np.float16)
    return rows.astype(np.float32).reshape(len(stored), dimension)


@dataclass(frozen=True, slots=True)
class _TermCounts:
    """What facts hold, one after the other: a term, how often it occurs, and the row of the fact."""

    rows: int
    terms: NDArray[np.int64]
    often: NDArray[np.uint16]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, held: Sequence[PackedTerms]) -> _TermCounts:
        return cls(len(held), *unpack_terms(held))

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


def fetch_sentence_bits(brought: Prefetch, ids: Sequence[str], words: Sequence[str]) -> QuerySteps[NDArray[np.int64]]:
    """In which sentences of these facts the words stand, a bit a sentence; all that nobody cut into sentences stands in every one."""
    lacking = brought.lacking(ids)
    found = (yield CypherQuery(_FETCH_SENTENCE_BITS, {"ids": lacking})) if lacking else []
    stored = {id: (bytes(cut or b""), bytes(held)) for id, cut, held in found}
    for id in ids:
        if (whole := brought.whole(id)) is not None:
            stored[id] = whole.places, brought.turns[id].held.terms
    terms = np.array([hash_term(word) for word in words], np.int64)
    table = find_sentence_bits([stored.get(id, (b"", b""))[0] for id in ids], terms)
    for row, id in enumerate(ids):
        cut, held = stored.get(id, (b"", b""))
        if not cut:
            table[row] = np.where(np.isin(terms, np.frombuffer(held, np.int64)), -1, 0)
    return table


_FETCH_SENTENCE_BITS = "UNWIND $ids AS id MATCH (f:Fact {id: id}) RETURN [f.id, f.places, f.terms] AS row"


def _drop_known(turns: Iterable[str | None], known: Iterable[str]) -> list[str]:
    """Those of these turns that are not known yet, each once."""
    seen = set(known)
    return [turn for turn in dict.fromkeys(turns) if turn is not None and turn not in seen]
