"""Candidate search by vector, words, time and rare tags; filters on ids, speakers and tags.

Two lots are asked for. Facts that hold the question's words, the best by Lucene's reckoning, which is much like ours; and all that hold
a word which turns lend to those around them, with these, since no index tells what somebody borrows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25, rank_fusion
from cofire.algorithms.nearest_neighbours import find_nearest_pairs
from cofire.algorithms.session_context import SessionContext, borrowing_factors
from cofire.algorithms.vector_similarity import VectorRows, centre_vectors, centred_cosines
from cofire.embedders.base import StoredModel, Vectors
from cofire.index.sessions import split_name
from cofire.index.terms import PackedTerms, hash_description_term, hash_term, unpack_terms
from cofire.index.timestamps import to_microseconds
from cofire.model import FactFilter
from cofire.stores.base import COSINE_LOWER_BOUND, MODEL_RECORD, KeywordQuery, NearbyFact, NeighbourCandidates
from cofire.stores.link_rules import MAX_EXACT_NEIGHBOURS, MAX_RARE_TAG_FACTS
from cofire.stores.neo4j.cypher import (
    CypherQuery,
    QuerySteps,
    Rows,
    compile_filter,
    encode_mark,
    metadata_marks,
    metadata_query,
    require_any,
    turns_around_clause,
)
from cofire.stores.neo4j.facts import fetch_model
from cofire.stores.neo4j.schema import FULLTEXT_INDEX_NAME, VECTOR_INDEX_NAME

# Scopes, and facts with some metadata, are compared one by one up to this number; beyond it the vector index proposes, which has
# neither scopes nor metadata.
EXACT_SEARCH_LIMIT = 2_000
# How many more the vector index is asked for than are wanted, since some will not pass the filter; and how many at most.
VECTOR_OVERFETCH_FACTOR, MAX_VECTOR_CANDIDATES = 4, 20_000


def find_nearby_facts(
    vector: Vectors, k: int, where: FactFilter, candidates: int, least: float
) -> QuerySteps[list[NearbyFact]]:
    """The facts closest to a vector that are no farther than this, with their tags and vectors."""
    ids = yield from find_nearest_ids(vector, k, where, candidates, least)
    found = (yield CypherQuery(_FETCH_NEARBY_FACTS, {"ids": ids})) if ids else []
    near = {row[0]: _decode_nearby_fact(*row) for row in found}
    return [near[id] for id in ids if id in near]


_FETCH_NEARBY_FACTS = """
MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id, coalesce(f.tags, []), f.stored] AS row
"""


def _decode_nearby_fact(id: str, tags: Sequence[str], stored: bytearray) -> NearbyFact:
    return NearbyFact(id, tuple(tags), np.frombuffer(bytes(stored), np.float16).astype(np.float32))


def find_nearest_ids(
    vector: Vectors, k: int, where: FactFilter, candidates: int, least: float = COSINE_LOWER_BOUND
) -> QuerySteps[list[str]]:
    """The facts closest to a vector by centred cosine. When too few pass the filter, the index is asked for more."""
    wanted = max(k, candidates)
    reach = VECTOR_OVERFETCH_FACTOR * wanted
    while True:
        rows = yield _build_nearest_query(vector, wanted, reach, where)
        if not rows:
            return []
        model, all_told, found = StoredModel.decode(bytes(rows[0][0])), rows[0][1], rows[0][2]
        if len(found) >= wanted or reach >= min(all_told, MAX_VECTOR_CANDIDATES):
            return _rank_by_cosine(vector, model, found, k, least)
        reach *= VECTOR_OVERFETCH_FACTOR


def _build_nearest_query(vector: Vectors, wanted: int, reach: int, where: FactFilter) -> CypherQuery:
    passing = compile_filter(where)
    marked = metadata_query(where)
    count, source = (_COUNT_MARKED, _MATCH_MARKED_FACTS) if marked else (_COUNT_SCOPES, _MATCH_ALL_FACTS)
    return CypherQuery(
        _FIND_NEAREST.format(passing=passing.clause, count=count, source=source),
        {
            **passing.parameters,
            "model": MODEL_RECORD,
            "vector": np.asarray(vector, np.float64).ravel().tolist(),
            "index": VECTOR_INDEX_NAME,
            "words": FULLTEXT_INDEX_NAME,
            "marked": marked,
            "scopes": None if where.scopes is None else list(where.scopes),
            "few": EXACT_SEARCH_LIMIT,
            "wanted": wanted,
            "reach": reach,
        },
    )


# The question is seen from the resting point as well. Its length does not matter to the cosine. The UNWIND sees to it that a large
# scope is not looked up before it is found to be large.
_FIND_NEAREST = """
MATCH (m:Record {{name: $model}})
WITH m, [at IN range(0, size($vector) - 1) | $vector[at] - m.mean[at]] AS asked
CALL () {{ MATCH (fact:Fact) RETURN count(fact) AS everywhere }}
{count}
CALL (asked, inside, marked) {{
  UNWIND CASE WHEN inside <= $few THEN [asked] ELSE [] END AS exactly
  {source} WHERE {passing} AND f.number > 0 AND f.stored IS NOT NULL
  WITH f, coalesce(vector.similarity.cosine(f.vector, exactly), 0.5) AS near ORDER BY near DESC LIMIT $wanted
  RETURN f
UNION
  WITH asked, inside, marked WHERE inside > $few
  CALL db.index.vector.queryNodes($index, $reach, asked) YIELD node AS f, score
  WITH f, score WHERE {passing} WITH f, score ORDER BY score DESC LIMIT $wanted
  RETURN f
}}
WITH m, everywhere, inside, collect([f.id, f.stored]) AS found
RETURN [m.value, CASE WHEN inside <= $few THEN 0 ELSE everywhere END, found] AS row
"""


# How many facts may be meant: those of the scopes, or those with the marks of the metadata.
_COUNT_SCOPES = """
CALL () { MATCH (s:Scope) WHERE s.scope IN $scopes RETURN sum(s.facts) AS named }
WITH m, asked, everywhere, CASE WHEN $scopes IS NULL THEN everywhere ELSE named END AS inside, null AS marked
"""
_COUNT_MARKED = """
CALL () {
  CALL db.index.fulltext.queryNodes($words, $marked, {limit: $few + 1}) YIELD node RETURN collect(node) AS marked
}
WITH m, asked, everywhere, size(marked) AS inside, marked
"""
_MATCH_ALL_FACTS = "MATCH (f:Fact)"
_MATCH_MARKED_FACTS = "UNWIND marked AS f WITH f, exactly"


def _rank_by_cosine(vector: Vectors, model: StoredModel, found: Rows, k: int, least: float) -> list[str]:
    stored = np.frombuffer(b"".join(bytes(one[1]) for one in found), np.float16).astype(np.float32)
    asked = centre_vectors(np.asarray(vector).ravel(), model.mean)
    scores = centred_cosines(VectorRows.of(stored.reshape(len(found), -1)), asked, model.mean)
    close = np.flatnonzero(scores >= least)
    return rank_ids([found[row][0] for row in close], scores[close], k)


def rank_ids(ids: Sequence[str], scores: NDArray[np.floating], k: int) -> list[str]:
    """The highest scores first; of equals, the newer. Rounded, so that the last bit of a sum decides nothing."""
    return [ids[row] for row in rank_fusion.top_rows(np.asarray(scores, np.float64), ids, k)]


# How many facts the index proposes by their own words: at least so many, and so many times those that are wanted.
MIN_FULLTEXT_CANDIDATES, FULLTEXT_OVERFETCH_FACTOR = 1_500, 4
# How many lend their words at most. A word is lent that few hold, so there are seldom more.
MAX_LENDING_TURNS = 4_000

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _FulltextCandidates:
    """Turns by id: whether each passes the filter, and its length. Those whose words are known come first, with them.

    `lending` are the turns before and after each that lends, the nearest first.
    """

    turns: Mapping[str, tuple[bool, int]]
    held: Sequence[PackedTerms]
    lending: Mapping[str, tuple[Sequence[str], Sequence[str]]]


def find_matching_ids(cue: KeywordQuery, k: int, where: FactFilter) -> QuerySteps[list[str]]:
    """The facts that score highest by BM25, the words that turns lend to those around them included."""
    if not cue.words:
        return []
    [[held, lending]] = yield _build_matching_query(cue, k, where)
    found = _decode_candidates(held, lending)
    lengths = np.array([length for _, length in found.turns.values()], np.float64)
    counts = np.zeros((len(found.turns), len(cue.words)))
    counts[: len(found.held)] = _count_words(found.held, cue)
    if cue.context is not None and found.lending:
        counts += _count_context_words(counts * np.array(cue.lent), found, cue.context, lengths)
    passing = np.array([passes for passes, _ in found.turns.values()], np.bool_) & counts.any(axis=1)
    resisting = bm25.length_normalisation(lengths, k1=cue.k1, b=cue.b, mean_length=cue.mean_length)
    scores = bm25.bm25_share(bm25.term_saturation(counts, resisting[:, None]), cue.weights)
    return rank_ids([id for id, seen in zip(found.turns, passing, strict=True) if seen], scores[passing], k)


def _build_matching_query(cue: KeywordQuery, k: int, where: FactFilter) -> CypherQuery:
    """Those who hold a word, and those who lend one with all around them. Who does not pass the filter lends all the same."""
    passing = compile_filter(where).clause
    reach = cue.context.reach if cue.context else 0
    lent = [word for word, is_lent in zip(cue.words, cue.lent, strict=False) if is_lent] if reach else []
    asked = {
        "index": FULLTEXT_INDEX_NAME,
        "words": list(cue.words),
        "holding": format_any_words_query(cue.words, cue.hint_weight, where, marks=True),
        "limit": max(MIN_FULLTEXT_CANDIDATES, FULLTEXT_OVERFETCH_FACTOR * k),
        "lending": format_any_words_query(lent, cue.hint_weight, where, marks=False),
        "lenders": MAX_LENDING_TURNS,
        "reach": reach,
    }
    text = _FIND_MATCHING_WITH_TURNS if lent else _FIND_MATCHING
    text = text.format(passing=passing, turn=_ENCODE_TURN.format(passing=passing), around=turns_around_clause("lender"))
    return CypherQuery(text, {**compile_filter(where).parameters, **asked})


_FIND_MATCHING = """
CALL db.index.fulltext.queryNodes($index, $holding, {{limit: $limit}}) YIELD node AS f
WITH collect([f.id, {passing}, f.length, f.terms, f.counts]) AS held
RETURN [held, []] AS row
"""
# Each turn as words in one string: the driver takes as long for each value as for a long one, and there are thousands.
_ENCODE_TURN = "f.id + CASE WHEN {passing} THEN ' 1 ' ELSE ' 0 ' END + toString(f.length) + ' '"
# Of those around a lender, most hold no word of the question: only where the letters of one occur do they come with their words.
# No UNION: with lists at hand, it compares them for every row.
_FIND_MATCHING_WITH_TURNS = """
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


def format_any_words_query(words: Sequence[str], hint_weight: float, where: FactFilter, *, marks: bool) -> str:
    """Words as Lucene reads them, and of the filter what the index knows: scopes, and with `marks` all that is marked.

    Lucene weighs each word by its rarity itself.
    """
    quoted = " ".join(map(_quote_word, words))
    hinted = f" hinted:({quoted})^{hint_weight:.4f}" if hint_weight else ""
    required = [f"+(tokens:({quoted}){hinted})"]
    if where.scopes is not None:
        required.append(require_any("scope", where.scopes))
    for kind, values in (("category", where.categories), ("speaker", where.speakers), ("session", where.sessions)):
        required += [require_any(kind, sorted(values))] if values and marks else []
    required += [require_any("tag", [tag]) for tag in sorted(where.tags) if marks]
    required += [require_any(kind, values) for kind, values in metadata_marks(where) if marks]
    return " ".join(required)


def format_all_words_query(words: Sequence[str], scope: str) -> str:
    """Words that a fact of a scope must hold all of, as Lucene reads them."""
    return " ".join([*(f"+tokens:{_quote_word(word)}" for word in words), require_any("scope", [scope])])


def _quote_word(word: str) -> str:
    r"""A word in quotes, in which Lucene leaves all signs alone but two.

    >>> print(_quote_word('c++ "x"'))
    "c++ \"x\""
    """
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _decode_candidates(held: Rows, lending: Rows) -> _FulltextCandidates:
    """Those whose words are known, then those around a lender who hold none."""
    turns = {id: (bool(passes), int(length)) for id, passes, length, *_ in held}
    around: dict[str, tuple[list[str], list[str]]] = {}
    for lender, *sides in lending:
        before, after = (list(_decode_turns(said)) for said in sides)
        for id, passes, length in (*before, *after):
            turns.setdefault(id, (passes, length))
        around[lender] = [id for id, *_ in before], [id for id, *_ in after]
    return _FulltextCandidates(turns, [PackedTerms(bytes(terms), bytes(counts)) for *_, terms, counts in held], around)


def _decode_turns(said: str) -> Iterator[tuple[str, bool, int]]:
    """The turns in a string: id, whether it passes, and length.

    >>> list(_decode_turns("01AB 1 12 01AC 0 7 "))
    [('01AB', True, 12), ('01AC', False, 7)]
    """
    words = said.split()
    for id, passes, length in zip(words[::3], words[1::3], words[2::3], strict=True):
        yield id, passes == "1", int(length)


def _count_words(held: Sequence[PackedTerms], cue: KeywordQuery) -> FloatArray:
    """How much facts hold of each word, in the text and, for less, in descriptions."""
    terms, often, row = unpack_terms(held)
    counts = np.zeros((len(held), len(cue.words)))
    for column, word in enumerate(cue.words):
        for number, weight in ((hash_term(word), 1.0), (hash_description_term(word), cue.hint_weight)):
            found = terms == number
            np.add.at(counts[:, column], row[found], weight * often[found])
    return counts


def _count_context_words(
    counts: FloatArray, found: _FulltextCandidates, context: SessionContext, lengths: FloatArray
) -> FloatArray:
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
    return lent * borrowing_factors(lengths, short=context.short)[:, None]


def find_by_time(spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter) -> QuerySteps[list[str]]:
    """The facts inside one of these spans, or closest to it; of equals by content."""
    if not spans:
        return []
    passing = compile_filter(where)
    asked = {"spans": [[to_microseconds(start), to_microseconds(end)] for start, end in spans], "k": k}
    text = _FIND_BY_TIME.format(
        scopes=_UNWIND_SCOPES if where.scopes is not None else _MATCH_EVERY_SCOPE, passing=passing.clause
    )
    found = yield CypherQuery(text, {**passing.parameters, **asked})
    return [id for _, _, id in sorted(found)][:k]


_UNWIND_SCOPES = "UNWIND $where_scopes AS scope"
_MATCH_EVERY_SCOPE = "MATCH (s:Scope) WHERE s.scope IS NOT NULL WITH s.scope AS scope"
# The best of each span hold the best of all. The index has the facts of a scope in the order of time, so each way is walked
# from the end of a span no further than need be.
_FIND_BY_TIME = """
{scopes} UNWIND $spans AS span
CALL (scope, span) {{
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told >= span[0] AND f.told <= span[1] AND {passing}
  WITH f ORDER BY f.content LIMIT $k RETURN f, 0 AS away
UNION ALL
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told < span[0] AND {passing}
  WITH f, span ORDER BY f.scope DESC, f.told DESC, f.content LIMIT $k RETURN f, span[0] - f.told AS away
UNION ALL
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told > span[1] AND {passing}
  WITH f, span ORDER BY f.scope, f.told, f.content LIMIT $k RETURN f, f.told - span[1] AS away
}}
WITH f, min(away) AS away
RETURN [away, f.content, f.id] AS row
"""


def filter_ids(ids: Sequence[str], where: FactFilter) -> QuerySteps[list[str]]:
    """Those of these ids whose facts pass the filter, in their order."""
    passing = compile_filter(where)
    text = f"UNWIND $ids AS id MATCH (f:Fact {{id: id}}) WITH f WHERE {passing.clause} RETURN [f.id] AS row"
    found = yield CypherQuery(text, {**passing.parameters, "ids": list(dict.fromkeys(ids))})
    seen = {id for (id,) in found}
    return [id for id in ids if id in seen]


@dataclass(frozen=True, slots=True)
class ScopeSpeakers:
    """The speakers of a scope, up to a number, and the count of its changes that were no tellings."""

    told: int
    revised: int
    speakers: frozenset[str]


SpeakersByScope = dict[str, ScopeSpeakers]
NO_SCOPE_SPEAKERS = ScopeSpeakers(0, -1, frozenset())


def find_speakers(heard: SpeakersByScope, scopes: Sequence[str], words: Sequence[str]) -> QuerySteps[frozenset[str]]:
    """The speakers whose names hold one of these words, in small letters. Who was heard before is remembered."""
    if not words:
        return frozenset()
    before = {scope: heard.get(scope, NO_SCOPE_SPEAKERS) for scope in sorted(set(scopes))}
    asked = [{"scope": scope, "told": one.told, "revised": one.revised} for scope, one in before.items()]
    found = yield CypherQuery(_FETCH_SPEAKERS, {"asked": asked})
    now = {row[0]: _merge_speakers(before[row[0]], *row[1:]) for row in found}
    heard.update(now)
    every = {speaker for one in now.values() for speaker in one.speakers}
    return frozenset(speaker for speaker in every if not set(split_name(speaker)).isdisjoint(words))


def _merge_speakers(before: ScopeSpeakers, told: int, revised: int, speakers: Sequence[str]) -> ScopeSpeakers:
    return ScopeSpeakers(
        told, revised, frozenset(speakers) | (before.speakers if revised == before.revised else frozenset())
    )


# Where facts only came, those that came since are looked at; where others changed or went, all.
_FETCH_SPEAKERS = """
UNWIND $asked AS one MATCH (s:Scope {scope: one.scope}) WITH one, s, coalesce(s.revised, 0) AS revised
CALL (one, revised) {
  CALL (one, revised) {
    WITH one, revised WHERE revised = one.revised
    MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, number)
    WHERE f.scope = one.scope AND f.number > one.told AND f.speaker IS NOT NULL
    RETURN DISTINCT f.speaker AS speaker
  UNION
    WITH one, revised WHERE revised <> one.revised
    MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, speaker) WHERE f.scope = one.scope AND f.speaker IS NOT NULL
    RETURN DISTINCT f.speaker AS speaker
  }
  RETURN collect(speaker) AS speakers
}
RETURN [s.scope, s.told, revised, speakers] AS row
"""


def find_existing_tags(scopes: Sequence[str], names: Sequence[str]) -> QuerySteps[frozenset[str]]:
    """Those of these names that are tags of facts in these scopes. The word index has tags as marks; one fact is enough for each."""
    if not scopes or not names:
        return frozenset()
    inside = " ".join(encode_mark("scope", scope) for scope in sorted(set(scopes)))
    asked = [[name, f"+marks:{encode_mark('tag', name)} +marks:({inside})"] for name in dict.fromkeys(names)]
    found = yield CypherQuery(_FIND_EXISTING_TAGS, {"asked": asked, "index": FULLTEXT_INDEX_NAME})
    return frozenset(name for (name,) in found)


_FIND_EXISTING_TAGS = """
UNWIND $asked AS one CALL db.index.fulltext.queryNodes($index, one[1], {limit: 1}) YIELD node
RETURN [one[0]] AS row
"""


VECTORS_PER_BATCH = 5_000


@dataclass(frozen=True)
class _ScopeVectors:
    """The facts of a scope that can be compared, in the order of ids, as seen from the model's resting point."""

    ids: tuple[str, ...]
    seen: Vectors


def find_neighbour_candidates(ids: Sequence[str], k: int, sharing: int) -> QuerySteps[NeighbourCandidates]:
    """For these facts the k nearest of their scope, and up to `sharing` more that share a rare tag."""
    model = yield from fetch_model()
    if model is None or not ids:
        return _join_candidates([])
    asked = list(dict.fromkeys(ids))
    scopes = yield from _fetch_scope_vectors(asked, model)
    bearing = yield from _fetch_rare_tag_facts(asked)
    return _join_candidates([_find_scope_candidates(scope, asked, bearing, k, sharing) for scope in scopes])


def _fetch_scope_vectors(ids: Sequence[str], model: StoredModel) -> QuerySteps[list[_ScopeVectors]]:
    found = yield CypherQuery(_FETCH_SCOPE_VECTORS, {"ids": ids, "portion": VECTORS_PER_BATCH})
    held: dict[str, dict[str, bytes]] = {}
    for scope, some, vectors in found:
        held.setdefault(scope, {}).update(zip(some, vectors, strict=True))
    return [_centre_vectors(dict(sorted(one.items())), model) for one in held.values()]


_FETCH_SCOPE_VECTORS = """
UNWIND $ids AS id MATCH (one:Fact {id: id}) WITH DISTINCT one.scope AS scope
MATCH (z:Scope {scope: scope}) UNWIND range(0, z.told / $portion) AS lot
CALL (scope, lot) {
  MATCH (f:Fact) WHERE f.scope = scope AND f.number > lot * $portion AND f.number <= (lot + 1) * $portion
    AND f.stored IS NOT NULL AND NOT f.archived
  RETURN collect(f.id) AS ids, collect(f.stored) AS vectors
}
RETURN [scope, ids, vectors] AS row
"""


def _centre_vectors(held: Mapping[str, bytes], model: StoredModel) -> _ScopeVectors:
    stored = np.frombuffer(b"".join(held.values()), np.float16).reshape(len(held), model.model.dimension)
    return _ScopeVectors(tuple(held), centre_vectors(stored, model.mean))


def _fetch_rare_tag_facts(ids: Sequence[str]) -> QuerySteps[list[list[str]]]:
    """The facts that bear each rare tag of these facts."""
    found = yield CypherQuery(
        _FETCH_RARE_TAG_FACTS, {"ids": ids, "index": FULLTEXT_INDEX_NAME, "rare": MAX_RARE_TAG_FACTS}
    )
    return [list(bearing) for (bearing,) in found]


# The marks of a fact end in those of its tags. A tag is rare if the word index knows no more facts with its mark.
_FETCH_RARE_TAG_FACTS = """
UNWIND $ids AS id MATCH (f:Fact {id: id})
WITH f.tags AS tags, split(f.marks, ' ') AS marks UNWIND marks[size(marks) - size(tags)..] AS tag
WITH DISTINCT tag
CALL (tag) {
  CALL db.index.fulltext.queryNodes($index, 'marks:' + tag, {limit: $rare + 1}) YIELD node
  RETURN collect(node.id) AS bearing
}
WITH bearing WHERE size(bearing) <= $rare
RETURN [bearing] AS row
"""


def _find_scope_candidates(
    scope: _ScopeVectors, asked: Sequence[str], bearing: Sequence[Sequence[str]], k: int, most: int
) -> NeighbourCandidates:
    place = {id: row for row, id in enumerate(scope.ids)}
    wanted = np.array([place[id] for id in asked if id in place], np.int64)
    near = find_nearest_pairs(scope.seen, wanted, k, exact_up_to=MAX_EXACT_NEIGHBOURS)
    shared = _count_shared_tags(wanted.tolist(), [[place[id] for id in one if id in place] for one in bearing])
    pairs = [pair for mine, others in shared for pair in _select_tag_pairs(mine, others, most)]
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T
    cosines = np.einsum("ij,ij->i", scope.seen[left], scope.seen[right]).astype(np.float32)
    return NeighbourCandidates(
        scope.ids,
        np.concatenate([near.left, left]),
        np.concatenate([near.right, right]),
        np.concatenate([near.cosines, cosines]),
    )


def _count_shared_tags(wanted: Sequence[int], bearing: Sequence[Sequence[int]]) -> Iterator[tuple[int, Counter[int]]]:
    """How many rare tags each wanted row shares with others."""
    worn: dict[int, list[Sequence[int]]] = {mine: [] for mine in wanted}
    for rows in bearing:
        for row in rows:
            if row in worn:
                worn[row].append(rows)
    for mine, tags in worn.items():
        yield mine, Counter(row for rows in tags for row in rows if row != mine)


def _select_tag_pairs(mine: int, others: Mapping[int, int], most: int) -> list[tuple[int, int]]:
    """Those that share the most, then the newest."""
    order = sorted(others, key=lambda row: (others[row], row), reverse=True)
    return [(mine, row) for row in order[:most]]


def _join_candidates(parts: Sequence[NeighbourCandidates]) -> NeighbourCandidates:
    shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
    placed = list(zip(parts, shifts.tolist(), strict=False))
    return NeighbourCandidates(
        tuple(id for part in parts for id in part.ids),
        np.concatenate([np.zeros(0, np.int64), *(part.left + shift for part, shift in placed)]),
        np.concatenate([np.zeros(0, np.int64), *(part.right + shift for part, shift in placed)]),
        np.concatenate([np.zeros(0, np.float32), *(part.cosines for part in parts)]),
    )
