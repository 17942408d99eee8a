"""Weighing: what scoring needs of facts and of the turns around them, in one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.stores.base import Evidence, Floats
from cofire.stores.index.terms import ASKS, TIMED, Held, hint, places_of, term, unpacked
from cofire.stores.neo4j import counting
from cofire.stores.neo4j.querying import Query, Querying, Row, both


@dataclass(frozen=True, slots=True)
class _Turn:
    """A fact asked for, or one that stands around such a fact. `stored` is its vector; far ones come without."""

    told: int
    speaker: str | None
    length: int
    held: Held
    stored: bytes | None
    before: tuple[str, ...] | None
    after: tuple[str, ...]

    def around(self, reach: int) -> list[str | None]:
        """Those before it, the nearest first, then those after it; None where there is none."""
        return [*_filled(self.before or (), reach), *_filled(self.after, reach)]


def weigh(ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> Querying[Evidence]:
    """What scoring needs to know of these facts, of `reach` turns before and after, `near` of them with vectors."""
    asked = {"ids": list(dict.fromkeys(ids)), "reach": reach, "near": near}
    found, dimension = yield from both(_asked(Query(_WEIGH, asked)), counting.model_size())
    turns = {row[0]: _turn(row) for row in found}
    known = [id for id in ids if id in turns and turns[id].before is not None]
    around = [turns[id].around(reach) for id in known]
    close = _strangers([turn for one in around for turn in (*one[:near], *one[reach : reach + near])], known)
    far = _strangers([turn for one in around for turn in one], [*known, *close])
    return _evidence(turns, _Rows(known, close, far, around, reach), words, dimension)


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


def _evidence(turns: Mapping[str, _Turn], rows: _Rows, words: Sequence[str], dimension: int) -> Evidence:
    first = [turns[id] for id in (*rows.known, *rows.close)]
    every = [*first, *(turns[id] for id in rows.far)]
    own = [turns[id] for id in rows.known]
    counts, mine = _Counts.of([turn.held for turn in every]), slice(len(own))
    return Evidence(
        ids=tuple(rows.known),
        vectors=_vectors([turn.stored for turn in first], dimension),
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


def _asked(query: Query) -> Querying[list[Row]]:
    return (yield query)


# A turn that stands around several facts comes once; with its vector, if it is near to any of them.
_WEIGH = """
UNWIND $ids AS id MATCH (f:Fact {id: id})
CALL (f) {
  MATCH (t:Fact) USING INDEX SEEK t:Fact(scope, session, told, position)
  WHERE t.scope = f.scope AND t.session = f.session AND t.told <= f.told AND t.position IS NOT NULL
  WITH f, t ORDER BY t.scope DESC, t.session DESC, t.told DESC, t.position DESC
  WITH t WHERE t.told < f.told OR t.position < f.position LIMIT $reach
  RETURN collect(t) AS before
}
CALL (f) {
  MATCH (t:Fact) USING INDEX SEEK t:Fact(scope, session, told, position)
  WHERE t.scope = f.scope AND t.session = f.session AND t.told >= f.told AND t.position IS NOT NULL
  WITH f, t ORDER BY t.scope, t.session, t.told, t.position
  WITH t WHERE t.told > f.told OR t.position > f.position LIMIT $reach
  RETURN collect(t) AS after
}
WITH f, [[t IN before | t.id], [t IN after | t.id]] AS around,
  [at IN range(1, size(before)) | [before[at - 1], at]] + [at IN range(1, size(after)) | [after[at - 1], at]] AS others
UNWIND [[f, 0, around]] + others AS seen
WITH seen[0] AS t, min(seen[1]) AS distance, head(collect(seen[2])) AS around
RETURN [t.id, t.told, t.speaker, t.length, t.terms, t.counts, CASE WHEN distance <= $near THEN t.stored END, around] AS row
"""


def _turn(row: Row) -> _Turn:
    _, told, speaker, length, terms, counts, stored, around = row
    before, after = around or (None, ())
    held = Held(bytes(terms), bytes(counts))
    vector = None if stored is None else bytes(stored)
    return _Turn(told, speaker, length, held, vector, None if before is None else tuple(before), tuple(after))


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


def places(ids: Sequence[str], words: Sequence[str]) -> Querying[NDArray[np.int64]]:
    """In which sentences of these facts the words stand, a bit a sentence; all that nobody cut into sentences stands in every one."""
    found = yield Query(_PLACES, {"ids": list(dict.fromkeys(ids))})
    stored: Mapping[str, tuple[bytes, bytes]] = {id: (bytes(cut), bytes(held)) for id, cut, held in found}
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


def _filled(turns: Sequence[str], reach: int) -> list[str | None]:
    return [*turns, *[None] * (reach - len(turns))]
