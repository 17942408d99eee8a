"""Matching: the word index of the server proposes facts; the scores are cofire's own BM25, on the stored bytes.

Two lots are asked for. Facts that hold the question's words, the best by Lucene's reckoning, which is much like ours; and all that hold
a word which turns lend to those around them, with these, since no index tells what somebody borrows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import bm25
from cofire.dynamics.context import Context, openness
from cofire.model import Where
from cofire.stores.base import WordCue
from cofire.stores.index.terms import Held, hint, term, unpacked
from cofire.stores.neo4j.neighbouring import around
from cofire.stores.neo4j.querying import Query, Querying, Rows
from cofire.stores.neo4j.rows import condition, metadata_marks, require_any
from cofire.stores.neo4j.schema import FACT_WORDS
from cofire.stores.neo4j.searching import best

# How many facts the index proposes by their own words: at least so many, and so many times those that are wanted.
HOLDERS, WIDER = 1_500, 4
# How many lend their words at most. A word is lent that few hold, so there are seldom more.
LENDERS = 4_000

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Proposed:
    """Turns by id: whether each passes the filter, and its length. Those whose words are known come first, with them.

    `lending` are the turns before and after each that lends, the nearest first.
    """

    turns: Mapping[str, tuple[bool, int]]
    held: Sequence[Held]
    lending: Mapping[str, tuple[Sequence[str], Sequence[str]]]


def matching(cue: WordCue, k: int, where: Where) -> Querying[list[str]]:
    """The facts that score highest by BM25, the words that turns lend to those around them included."""
    if not cue.words:
        return []
    [[held, lending]] = yield _holding(cue, k, where)
    found = _proposed(held, lending)
    lengths = np.array([length for _, length in found.turns.values()], np.float64)
    counts = np.zeros((len(found.turns), len(cue.words)))
    counts[: len(found.held)] = _own_counts(found.held, cue)
    if cue.context is not None and found.lending:
        counts += _lent(counts * np.array(cue.lent), found, cue.context, lengths)
    passing = np.array([passes for passes, _ in found.turns.values()], np.bool_) & counts.any(axis=1)
    resisting = bm25.resistance(lengths, k1=cue.k1, b=cue.b, mean_length=cue.mean_length)
    scores = bm25.share(bm25.saturation(counts, resisting[:, None]), cue.weights)
    return best([id for id, seen in zip(found.turns, passing, strict=True) if seen], scores[passing], k)


def _holding(cue: WordCue, k: int, where: Where) -> Query:
    """Those who hold a word, and those who lend one with all around them. Who does not pass the filter lends all the same."""
    passing = condition(where).clause
    reach = cue.context.reach if cue.context else 0
    lent = [word for word, is_lent in zip(cue.words, cue.lent, strict=False) if is_lent] if reach else []
    asked = {
        "index": FACT_WORDS,
        "words": list(cue.words),
        "holding": words_query(cue.words, cue.hint_weight, where, marks=True),
        "limit": max(HOLDERS, WIDER * k),
        "lending": words_query(lent, cue.hint_weight, where, marks=False),
        "lenders": LENDERS,
        "reach": reach,
    }
    text = _LENDING if lent else _HOLDING
    text = text.format(passing=passing, turn=_TURN.format(passing=passing), around=around("lender"))
    return Query(text, {**condition(where).parameters, **asked})


_HOLDING = """
CALL db.index.fulltext.queryNodes($index, $holding, {{limit: $limit}}) YIELD node AS f
WITH collect([f.id, {passing}, f.length, f.terms, f.counts]) AS held
RETURN [held, []] AS row
"""
# Each turn as words in one string: the driver takes as long for each value as for a long one, and there are thousands.
_TURN = "f.id + CASE WHEN {passing} THEN ' 1 ' ELSE ' 0 ' END + toString(f.length) + ' '"
# Of those around a lender, most hold no word of the question: only where the letters of one occur do they come with their words.
# No UNION: with lists at hand, it compares them for every row.
_LENDING = """
CALL () {{
  CALL db.index.fulltext.queryNodes($index, $holding, {{limit: $limit}}) YIELD node RETURN collect(node) AS holders
}}
CALL () {{
  CALL db.index.fulltext.queryNodes($index, $lending, {{limit: $lenders}}) YIELD node AS lender
{around}
  RETURN collect([lender, before, after]) AS lenders
}}
CALL (lenders) {{
  UNWIND lenders AS one UNWIND one[1] + one[2] AS f WITH DISTINCT f
  WITH f, f.tokens + coalesce(' ' + f.hinted, '') AS said WHERE any(word IN $words WHERE said CONTAINS word)
  RETURN collect(f) AS others
}}
CALL (holders, lenders, others) {{
  UNWIND holders + [one IN lenders | one[0]] + others AS f WITH DISTINCT f
  RETURN collect([f.id, {passing}, f.length, f.terms, f.counts]) AS held
}}
RETURN [held, [one IN lenders | [one[0].id, reduce(said = '', f IN one[1] | said + {turn}),
  reduce(said = '', f IN one[2] | said + {turn})]]] AS row
"""


def words_query(words: Sequence[str], hint_weight: float, where: Where, *, marks: bool) -> str:
    """Words as Lucene reads them, and of the filter what the index knows: scopes, and with `marks` all that is marked.

    Lucene weighs each word by its rarity itself.
    """
    quoted = " ".join(map(_quoted, words))
    hinted = f" hinted:({quoted})^{hint_weight:.4f}" if hint_weight else ""
    required = [f"+(tokens:({quoted}){hinted})"]
    if where.scopes is not None:
        required.append(require_any("scope", where.scopes))
    for kind, values in (("category", where.categories), ("speaker", where.speakers), ("session", where.sessions)):
        required += [require_any(kind, sorted(values))] if values and marks else []
    required += [require_any("tag", [tag]) for tag in sorted(where.tags) if marks]
    required += [require_any(kind, values) for kind, values in metadata_marks(where) if marks]
    return " ".join(required)


def all_words_query(words: Sequence[str], scope: str) -> str:
    """Words that a fact of a scope must hold all of, as Lucene reads them."""
    return " ".join([*(f"+tokens:{_quoted(word)}" for word in words), require_any("scope", [scope])])


def _quoted(word: str) -> str:
    r"""A word in quotes, in which Lucene leaves all signs alone but two.

    >>> print(_quoted('c++ "x"'))
    "c++ \"x\""
    """
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _proposed(held: Rows, lending: Rows) -> _Proposed:
    """Those whose words are known, then those around a lender who hold none."""
    turns = {id: (bool(passes), int(length)) for id, passes, length, *_ in held}
    around: dict[str, tuple[list[str], list[str]]] = {}
    for lender, *sides in lending:
        before, after = (list(_turns(said)) for said in sides)
        for id, passes, length in (*before, *after):
            turns.setdefault(id, (passes, length))
        around[lender] = [id for id, *_ in before], [id for id, *_ in after]
    return _Proposed(turns, [Held(bytes(terms), bytes(counts)) for *_, terms, counts in held], around)


def _turns(said: str) -> Iterator[tuple[str, bool, int]]:
    """The turns in a string: id, whether it passes, and length.

    >>> list(_turns("01AB 1 12 01AC 0 7 "))
    [('01AB', True, 12), ('01AC', False, 7)]
    """
    words = said.split()
    for id, passes, length in zip(words[::3], words[1::3], words[2::3], strict=True):
        yield id, passes == "1", int(length)


def _own_counts(held: Sequence[Held], cue: WordCue) -> Numbers:
    """How much facts hold of each word, in the text and, for less, in descriptions."""
    terms, often, row = unpacked(held)
    counts = np.zeros((len(held), len(cue.words)))
    for column, word in enumerate(cue.words):
        for number, weight in ((term(word), 1.0), (hint(word), cue.hint_weight)):
            found = terms == number
            np.add.at(counts[:, column], row[found], weight * often[found])
    return counts


def _lent(counts: Numbers, found: _Proposed, context: Context, lengths: Numbers) -> Numbers:
    """A turn lends to those before it what they count of a turn after them, and the other way about."""
    place = {id: row for row, id in enumerate(found.turns)}
    of_earlier, of_later = context.weights().reshape(2, -1).tolist()
    steps = [
        (place[lender], place[id], weight)
        for lender, sides in found.lending.items()
        for side, weights in zip(sides, (of_later, of_earlier), strict=True)
        for id, weight in zip(side, weights, strict=False)
    ]
    lent = np.zeros_like(counts)
    if steps:
        lenders, takers, weights = (np.array(part) for part in zip(*steps, strict=True))
        np.add.at(lent, takers, weights[:, None] * counts[lenders])
    return lent * openness(lengths, short=context.short)[:, None]
