"""Searching: the indexes of the server propose facts by vector and by word; the scores are cofire's own, on the stored bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import bm25
from cofire.dynamics.context import Context, openness
from cofire.dynamics.likeness import centred, centred_cosines
from cofire.embedders.base import StoredModel, Vectors
from cofire.model import Where
from cofire.stores.base import LEAST_COSINE, MODEL_RECORD, WordCue
from cofire.stores.index.terms import Held, hint, term, unpacked
from cofire.stores.neo4j.querying import Query, Querying, Row, Rows
from cofire.stores.neo4j.rows import Filter, condition, marking
from cofire.stores.neo4j.schema import FACT_VECTORS, FACT_WORDS

# Scopes with no more facts than this are looked through one by one; beyond it the index proposes, which knows no scopes.
FEW = 2_000
# How many more the vector index is asked for than are wanted, since some will not pass the filter; and how many at most.
WIDER, WIDEST = 4, 20_000
# How many facts the word index proposes at least.
HOLDERS = 1_000
SCORE_DECIMALS = 6

Numbers = NDArray[np.float64]


def nearest(vector: Vectors, k: int, where: Where, candidates: int, least: float) -> Querying[list[str]]:
    """The facts closest to a vector by centred cosine. When too few pass the filter, the index is asked for more."""
    wanted = max(k, candidates)
    reach = WIDER * wanted
    while True:
        rows = yield _closest(vector, wanted, reach, where)
        if not rows:
            return []
        model, all_told, found = StoredModel.decode(bytes(rows[0][0])), rows[0][1], rows[0][2]
        if len(found) >= wanted or reach >= min(all_told, WIDEST):
            return _closest_first(vector, model, found, k, least)
        reach *= WIDER


def _closest(vector: Vectors, wanted: int, reach: int, where: Where) -> Query:
    passing = condition(where)
    return Query(
        _NEAREST.format(passing=passing.clause),
        {
            **passing.parameters,
            "model": MODEL_RECORD,
            "vector": np.asarray(vector, np.float64).ravel().tolist(),
            "index": FACT_VECTORS,
            "scopes": None if where.scopes is None else list(where.scopes),
            "few": FEW,
            "wanted": wanted,
            "reach": reach,
        },
    )


# The question is seen from the resting point as well. Its length does not matter to the cosine. The UNWIND sees to it that a large
# scope is not looked up before it is found to be large.
_NEAREST = """
MATCH (m:Record {{name: $model}})
WITH m, [at IN range(0, size($vector) - 1) | $vector[at] - m.mean[at]] AS asked
CALL () {{ MATCH (fact:Fact) RETURN count(fact) AS everywhere }}
CALL () {{ MATCH (s:Scope) WHERE s.scope IN $scopes RETURN sum(s.facts) AS named }}
WITH m, asked, everywhere, CASE WHEN $scopes IS NULL THEN everywhere ELSE named END AS inside
CALL (asked, inside) {{
  UNWIND CASE WHEN inside <= $few THEN [asked] ELSE [] END AS exactly
  MATCH (f:Fact) WHERE {passing} AND f.number > 0 AND f.stored IS NOT NULL
  WITH f, coalesce(vector.similarity.cosine(f.vector, exactly), 0.5) AS near ORDER BY near DESC LIMIT $wanted
  RETURN f
UNION
  WITH asked, inside WHERE inside > $few
  CALL db.index.vector.queryNodes($index, $reach, asked) YIELD node AS f, score
  WITH f, score WHERE {passing} WITH f, score ORDER BY score DESC LIMIT $wanted
  RETURN f
}}
WITH m, everywhere, inside, collect([f.id, f.stored]) AS found
RETURN [m.value, CASE WHEN inside <= $few THEN 0 ELSE everywhere END, found] AS row
"""


def _closest_first(vector: Vectors, model: StoredModel, found: Rows, k: int, least: float) -> list[str]:
    stored = np.frombuffer(b"".join(bytes(one[1]) for one in found), np.float16).astype(np.float32)
    asked = centred(np.asarray(vector).ravel(), model.mean)
    scores = centred_cosines(stored.reshape(len(found), -1), asked, model.mean)
    return best([one[0] for one in found], scores, k) if scores.max(initial=LEAST_COSINE) >= least else []


def best(ids: Sequence[str], scores: NDArray[np.floating], k: int) -> list[str]:
    """The highest scores first; of equals, the newer. Six decimals, so that the last bit of a sum decides nothing."""
    rounded = np.round(scores, SCORE_DECIMALS).tolist()
    return [id for _, id in sorted(zip(rounded, ids, strict=True), reverse=True)[:k]]


@dataclass(frozen=True, slots=True)
class _Holder:
    """A fact that the index proposed, or one around such a fact. `around` are those whom it lends its words, by their place."""

    id: str
    passes: bool
    length: int
    held: Held | None = None
    around: tuple[tuple[int, str], ...] = ()


def matching(cue: WordCue, k: int, where: Where) -> Querying[list[str]]:
    """The facts that score highest by BM25, the words that turns lend to those around them included."""
    if not cue.words:
        return []
    rows = yield _holding(cue, k, where)
    if not rows:
        return []
    turns, holders = _read(rows)
    ids = list(turns)
    place = {id: row for row, id in enumerate(ids)}
    counts = np.zeros((len(ids), len(cue.words)))
    counts[: len(holders)] = _own_counts(holders, cue)
    lengths = np.array([turns[id].length for id in ids], np.float64)
    if cue.context is not None:
        counts = counts + _lent(counts, holders, place, cue.context, lengths) * np.array(
            cue.lent or [False] * len(cue.words)
        )
    passing = np.array([turns[id].passes for id in ids]) & counts.any(axis=1)
    resisting = bm25.resistance(lengths, k1=cue.k1, b=cue.b, mean_length=cue.mean_length)
    scores = bm25.share(bm25.saturation(counts, resisting[:, None]), cue.weights)
    return best([id for id, seen in zip(ids, passing, strict=True) if seen], scores[passing], k)


def _holding(cue: WordCue, k: int, where: Where) -> Query:
    """Those who hold a word and, where words are lent, those around them. Who does not pass the filter lends all the same."""
    passing = condition(where)
    reach = cue.context.reach if cue.context and any(cue.lent) else 0
    every = words_query(cue, where, marks=not reach)
    asked = (
        [every]
        if not reach or every == words_query(cue, where, marks=True)
        else [every, words_query(cue, where, marks=True)]
    )
    return Query(
        _MATCHING.format(passing=passing.clause, around=_around(passing) if reach else _ALONE),
        {**passing.parameters, "index": FACT_WORDS, "asked": asked, "limit": max(HOLDERS, WIDER * k), "reach": reach},
    )


_MATCHING = """
UNWIND $asked AS words CALL db.index.fulltext.queryNodes($index, words, {{limit: $limit}}) YIELD node
WITH DISTINCT node AS holder
{around}
WITH holder AS f, around
RETURN [f.id, {passing}, f.length, f.terms, f.counts, around] AS row
"""
_ALONE = "WITH holder, [] AS around"
# Each turn as words in one string: the driver takes as long for each value as for a long one, and there are thousands.
_TURN = "f.id + CASE WHEN {passing} THEN ' 1 ' ELSE ' 0 ' END + toString(f.length) + ' '"
_AROUND = """
CALL (holder) {{
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, session, told, position)
  WHERE f.scope = holder.scope AND f.session = holder.session AND f.told <= holder.told AND f.position IS NOT NULL
  WITH holder, f ORDER BY f.scope DESC, f.session DESC, f.told DESC, f.position DESC
  WITH f WHERE f.told < holder.told OR f.position < holder.position LIMIT $reach
  RETURN reduce(said = '', one IN collect({turn}) | said + one) AS before
}}
CALL (holder) {{
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, session, told, position)
  WHERE f.scope = holder.scope AND f.session = holder.session AND f.told >= holder.told AND f.position IS NOT NULL
  WITH holder, f ORDER BY f.scope, f.session, f.told, f.position
  WITH f WHERE f.told > holder.told OR f.position > holder.position LIMIT $reach
  RETURN reduce(said = '', one IN collect({turn}) | said + one) AS after
}}
WITH holder, [before, after] AS around
"""


def _around(passing: Filter) -> str:
    return _AROUND.format(turn=_TURN.format(passing=passing.clause))


def words_query(cue: WordCue, where: Where, *, marks: bool) -> str:
    """A question's words as Lucene reads them, and of the filter what the index knows: scopes, and with `marks` all that is marked."""
    words = " ".join(
        f"{_quoted(word)}^{max(weight, 1e-3):.4f}" for word, weight in zip(cue.words, cue.weights, strict=True)
    )
    hinted = f" hinted:({words})" if cue.hint_weight else ""
    required = [f"+(tokens:({words}){hinted})"]
    if where.scopes is not None:
        required.append(_any_of("scope", where.scopes))
    for kind, values in (("category", where.categories), ("speaker", where.speakers), ("session", where.sessions)):
        required += [_any_of(kind, sorted(values))] if values and marks else []
    required += [_any_of("tag", [tag]) for tag in sorted(where.tags) if marks]
    return " ".join(required)


def _any_of(kind: str, values: Sequence[str]) -> str:
    return f"+marks:({' '.join(marking(kind, value) for value in values) or 'none'})"


def _quoted(word: str) -> str:
    r"""A word in quotes, in which Lucene leaves all signs alone but two.

    >>> print(_quoted('c++ "x"'))
    "c++ \"x\""
    """
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _read(rows: Rows) -> tuple[dict[str, _Holder], list[_Holder]]:
    """Holders first, then those around them who hold nothing."""
    holders = [_holder(row) for row in rows]
    turns = {one.id: one for one in holders}
    for row in rows:
        for id, passes, length in (turn for side in row[5] for turn in _turns(side)):
            if id not in turns:
                turns[id] = _Holder(id, passes == "1", int(length))
    return turns, holders


def _holder(row: Row) -> _Holder:
    id, passes, length, terms, counts, around = row
    placed = tuple((2 * at + side, turn[0]) for side, said in enumerate(around) for at, turn in enumerate(_turns(said)))
    return _Holder(id, bool(passes), length, Held(bytes(terms), bytes(counts)), placed)


def _turns(said: str) -> list[tuple[str, str, str]]:
    """The turns in a string: id, whether it passes, and length.

    >>> _turns("01AB 1 12 01AC 0 7 ")
    [('01AB', '1', '12'), ('01AC', '0', '7')]
    """
    words = said.split()
    return list(zip(words[::3], words[1::3], words[2::3], strict=True))


def _own_counts(holders: Sequence[_Holder], cue: WordCue) -> Numbers:
    """How much facts hold of each word, in the text and, for less, in descriptions."""
    terms, often, row = unpacked([one.held for one in holders if one.held])
    counts = np.zeros((len(holders), len(cue.words)))
    for column, word in enumerate(cue.words):
        for number, weight in ((term(word), 1.0), (hint(word), cue.hint_weight)):
            found = terms == number
            np.add.at(counts[:, column], row[found], weight * often[found])
    return counts


def _lent(counts: Numbers, holders: Sequence[_Holder], place: Any, context: Context, lengths: Numbers) -> Numbers:
    """A turn lends to those before it what they count of a turn after them, and the other way about."""
    weights = context.weights().reshape(2, -1)
    lent = np.zeros_like(counts)
    for row, one in enumerate(holders):
        for at, id in one.around:
            distance, side = divmod(at, 2)
            lent[place[id]] += weights[1 - side, distance] * counts[row]
    return lent * openness(lengths, short=context.short)[:, None]
