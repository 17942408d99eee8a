"""Words: compiled code finds the facts that numpy finds, with their scores, and tells the same of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cofire.algorithms.session_context import SessionContext
from cofire.algorithms.vector_similarity import VectorRows
from cofire.index import word_scores
from cofire.index.fact_index import FactIndex, ScoredPositions
from cofire.index.lookup import build_features, gather_rows
from cofire.index.names import NO_NAME_ENTRIES
from cofire.index.native_words import GatheredRows, WordBuffers
from cofire.index.terms import PackedTerms, find_sentence_bits, hash_mark, hash_term, pack_sentence_bits, pack_terms
from cofire.index.terms import add_description_terms as describe
from cofire.stores.base import FactFeatures, KeywordQuery
from tests.native.random_facts import (
    MOST_COUNTED,
    UNKNOWN,
    WORDS,
    Story,
    admitted,
    hinted,
    row,
    stories,
    tail_of,
    telling,
    told,
)
from tests.native.twins import NEEDS_LIBRARY, both

pytestmark = NEEDS_LIBRARY

CLOSE = 1e-6
LENDING = SessionContext(before=0.45, after=0.3, decay=0.7, reach=3, short=25)

# Nobody's rarity is so small that a share of it is nothing.
some_weight = st.just(0.0) | st.floats(0.001, 5)
some_words = st.lists(st.sampled_from([*WORDS, UNKNOWN]), max_size=7).map(tuple)


@st.composite
def cues(draw: st.DrawFn) -> KeywordQuery:
    """Questions of no word or of several, some twice; with and without descriptions and lending."""
    words = draw(some_words)
    weights = draw(st.lists(some_weight, min_size=len(words), max_size=len(words)).map(tuple))
    lent = draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)).map(tuple))
    context = replace(LENDING, reach=draw(st.integers(0, 4)), short=draw(st.sampled_from([1.0, 25.0])))
    how: dict[str, Any] = draw(
        st.sampled_from([{"context": context, "lent": lent}, {"context": context}, {"lent": lent}, {}])
    )
    return KeywordQuery(
        words,
        weights,
        mean_length=draw(st.sampled_from([0.0, 7.5, 40.0])),
        k1=draw(st.sampled_from([0.8, 0.0, 2.0])),
        b=draw(st.sampled_from([0.6, 0.0, 1.0])),
        hint_weight=draw(st.sampled_from([0.0, 0.3, 1.0])),
        **how,
    )


def assert_alike(compiled: ScoredPositions, numpy: ScoredPositions) -> None:
    """The same positions with nearly the same scores, in any order: `Index.best` puts them in the one that counts."""
    assert sorted(compiled.positions.tolist()) == sorted(numpy.positions.tolist())
    scores = dict(zip(numpy.positions.tolist(), numpy.scores.tolist(), strict=True))
    expected = np.array([scores[position] for position in compiled.positions.tolist()])
    np.testing.assert_allclose(compiled.scores, expected, rtol=0, atol=CLOSE)


@hypothesis_settings(max_examples=300)
@given(story=stories(), cue=cues(), scope=st.sampled_from([None, 1, 2]), k=st.integers(1, 40))
def test_the_best_by_words_are_the_same(story: Story, cue: KeywordQuery, scope: int | None, k: int) -> None:
    index = told(story)
    assert_alike(*both("best_by_words", lambda: index.matching(cue, admitted(index, scope), k)))


@hypothesis_settings(max_examples=40)
@given(story=stories(), cue=cues())
def test_what_came_and_went_since_the_last_question_is_known(story: Story, cue: KeywordQuery) -> None:
    for index in telling(story):
        assert_alike(*both("best_by_words", partial(index.matching, cue, admitted(index, None), 10)))


def many_turns(size: int) -> FactIndex:
    """So many facts in three batches, each so much smaller than the one before that it stays a segment of its own."""
    chance = np.random.default_rng(size)
    story = Story(size, 1, size, 2, 1, sessions=True, described=True, embedded=False)
    index = FactIndex(None)
    for keys in np.split(np.arange(1, size + 1), [size * 3 // 4, size * 15 // 16]):
        rows = [row(chance, story, key) for key in keys.tolist()]
        index.change(rows, [], NO_NAME_ENTRIES, NO_NAME_ENTRIES, {key: hinted(chance) for key in keys.tolist()[::3]})
    return index


@pytest.fixture(scope="module")
def crowd() -> FactIndex:
    """So many facts that common words are held by more than are looked at."""
    index = many_turns(4 * word_scores.COMMON_WORD_LIMIT)
    assert len(index.postings.segments()) > 1
    assert len(index.hints.segments()) > 1
    assert len(index.postings.find(hash_term(WORDS[0]))[0]) > word_scores.COMMON_WORD_LIMIT
    return index


@hypothesis_settings(max_examples=40)
@given(cue=cues(), scope=st.sampled_from([None, 1]), k=st.sampled_from([1, 7, 100, 10_000]))
def test_the_best_of_a_crowd_are_the_same(crowd: FactIndex, cue: KeywordQuery, scope: int | None, k: int) -> None:
    assert_alike(*both("best_by_words", lambda: crowd.matching(cue, admitted(crowd, scope), k)))


@pytest.mark.parametrize("k", [1, 20])
def test_rivals_are_told_apart_by_a_word_that_all_hold(crowd: FactIndex, k: int) -> None:
    """Rare words come first, so that of the common one only those are looked at that have most already."""
    cue = KeywordQuery((WORDS[0], WORDS[11], WORDS[9]), (0.01, 5.0, 2.0), 20.0, 0.8, 0.6)
    assert_alike(*both("best_by_words", lambda: crowd.matching(cue, admitted(crowd, None), k)))


def test_all_that_equal_the_last_are_proposed() -> None:
    story = Story(3, 1, 1, 1, 64, sessions=False, described=False, embedded=False)
    alike = row(np.random.default_rng(3), story, 1)
    index = FactIndex(None)
    twins = [replace(alike, key=key, id=f"{key:026}", archived=False) for key in range(1, 30)]
    index.change(twins, [], NO_NAME_ENTRIES, NO_NAME_ENTRIES, {})
    cue = KeywordQuery(WORDS, (1.0,) * len(WORDS), 10.0, 0.8, 0.6)
    compiled, numpy = both("best_by_words", lambda: index.matching(cue, admitted(index, None), 5))
    assert sorted(compiled.positions.tolist()) == numpy.positions.tolist() == list(range(29))
    assert index.best(compiled, 5) == index.best(numpy, 5) == [f"{key:026}" for key in range(29, 24, -1)]


@pytest.mark.parametrize("asked", [(), (WORDS[0],)], ids=["no word", "a word"])
def test_nothing_is_found_where_nothing_is_stored(asked: tuple[str, ...]) -> None:
    cue, index = (
        KeywordQuery(asked, (1.0,) * len(asked), 10.0, 0.8, 0.6, 0.3, LENDING, (True,) * len(asked)),
        FactIndex(None),
    )
    compiled, numpy = both("best_by_words", lambda: index.matching(cue, admitted(index, None), 5))
    assert compiled.positions.tolist() == numpy.positions.tolist() == []


def test_a_question_of_weightless_words_finds_nobody() -> None:
    index = told(Story(5, 2, 10, 1, 8, sessions=True, described=True, embedded=False))
    cue = KeywordQuery(WORDS[:3], (0.0, 0.0, 0.0), 10.0, 0.8, 0.6, 0.3, LENDING, (True, False, True))
    compiled, numpy = both("best_by_words", lambda: index.matching(cue, admitted(index, None), 5))
    assert compiled.positions.tolist() == numpy.positions.tolist() == []


def told_of(found: GatheredRows) -> tuple[list[Any], list[int], list[int]]:
    """What rows tell, whichever numbers they have: each fact with its marks and the turns around it by position, how long each is
    and how often it holds words; and who is among the near ones and among all."""

    def held(row: int) -> tuple[int, float, list[float]] | None:
        return (int(found.rows[row]), float(found.lengths[row]), found.counts[row].tolist()) if row >= 0 else None

    facts = [
        (held(fact), found.hints[fact].tolist(), found.bears[:, fact].tolist(), [held(turn) for turn in around])
        for fact, around in enumerate(found.around.tolist())
    ]
    return facts, sorted(found.rows[: found.first].tolist()), sorted(found.rows.tolist())


@st.composite
def picks(draw: st.DrawFn, index: FactIndex) -> NDArray[np.int64]:
    """Positions in any order, some twice, those at the very end as well as the dead."""
    size = index.columns.size
    return np.array(draw(st.lists(st.integers(0, size - 1), max_size=12)) if size else [], np.int64)


@given(data=st.data(), story=stories(), words=some_words, reach=st.integers(0, 4), near=st.integers(0, 5))
def test_facts_and_the_turns_around_them_are_told_alike(
    data: st.DataObject, story: Story, words: tuple[str, ...], reach: int, near: int
) -> None:
    index = told(story)
    positions = data.draw(picks(index))
    assume(words or reach)
    compiled, numpy = both("gather_evidence", lambda: gather_rows(index, positions, words, reach=reach, near=near))
    assert told_of(compiled) == told_of(numpy)


@given(data=st.data(), story=stories(), words=some_words, near=st.integers(0, 4))
def test_the_evidence_of_facts_is_the_same(
    data: st.DataObject, story: Story, words: tuple[str, ...], near: int
) -> None:
    index = told(story)
    positions = data.draw(picks(index))
    # By position, so that a vector tells whose it is, whichever row it stands in.
    table = np.repeat(np.arange(index.columns.size, dtype=np.float32)[:, None], 2, axis=1)

    def ask() -> FactFeatures:
        stored = partial(VectorRows, table)
        return build_features(
            index, positions, words, ids=index.columns.ids(positions), reach=3, near=near, stored=stored
        )

    compiled, numpy = both("gather_evidence", ask)
    assert said_of(compiled) == said_of(numpy)


def said_of(found: FactFeatures) -> list[Any]:
    """What evidence tells of each fact, with the vectors of those around it that have a row among them."""
    vectors = found.vectors[:, 0].tolist()
    alone = (found.ids, found.times.tolist(), found.asks.tolist(), found.timed.tolist(), found.speakers)
    own = (vectors[: len(found.ids)], found.embedded[: len(found.ids)].tolist(), found.hints.tolist())
    around = [
        [
            (
                found.counts[row].tolist(),
                float(found.lengths[row]),
                vectors[row : row + 1],
                found.embedded[row : row + 1].tolist(),
            )
            for row in rows
            if row >= 0
        ]
        for rows in found.around.tolist()
    ]
    return [alone, own, around]


@pytest.mark.parametrize("asked", [1, 3_000])
def test_what_many_hold_is_told_alike_of_few_and_of_many(crowd: FactIndex, asked: int) -> None:
    """Few are looked for in long postings, of many all postings are looked at; the last fact stands at the very end."""
    positions = np.arange(crowd.columns.size)[: -asked - 1 : -1].copy()
    compiled, numpy = both("gather_evidence", lambda: gather_rows(crowd, positions, WORDS, reach=2, near=1))
    assert told_of(compiled) == told_of(numpy)


def test_a_fact_that_is_asked_for_twice_is_told_twice() -> None:
    index = told(Story(11, 3, 8, 1, 8, sessions=True, described=True, embedded=False))
    positions = np.array([5, 7, 5, 5], np.int64)
    compiled, numpy = both("gather_evidence", lambda: gather_rows(index, positions, WORDS, reach=2, near=1))
    facts, _, _ = told_of(compiled)
    assert facts == told_of(numpy)[0]
    assert facts[0] == facts[2] == facts[3]


@pytest.fixture
def described() -> FactIndex:
    """Facts that are described often at first and once more later, in a segment of its own."""
    chance = np.random.default_rng(2)
    story = Story(2, 1, 1, 1, 1, sessions=False, described=True, embedded=False)
    rows = [replace(row(chance, story, key), archived=False) for key in range(1, 41)]
    often, once = (dict.fromkeys(WORDS, count) for count in (7, 1))
    index = FactIndex(None)
    with tail_of(100):
        index.change(rows, [], NO_NAME_ENTRIES, NO_NAME_ENTRIES, {one.key: hints_of(often) for one in rows})
        index.change([], [], NO_NAME_ENTRIES, NO_NAME_ENTRIES, {3: hints_of(once), 5: hints_of(once)})
    assert len(index.hints.segments()) == 2
    return index


def hints_of(counts: Mapping[str, int]) -> PackedTerms:
    return describe(PackedTerms(b"", b""), counts)


def test_of_a_fact_that_is_described_again_the_highest_count_is_told(described: FactIndex) -> None:
    compiled, numpy = both("gather_evidence", lambda: gather_rows(described, np.arange(40), WORDS, reach=0, near=0))
    assert compiled.hints.tolist() == numpy.hints.tolist() == [[7.0] * len(WORDS)] * 40


def test_of_a_fact_that_is_described_again_the_highest_count_holds(described: FactIndex) -> None:
    cue = KeywordQuery(WORDS, (1.0,) * len(WORDS), 20.0, 0.8, 0.6, hint_weight=0.5)
    assert_alike(*both("best_by_words", lambda: described.matching(cue, admitted(described, None), 40)))


def test_a_word_is_counted_up_to_the_highest_number_that_is_stored() -> None:
    story = Story(3, 1, 1, 1, 64, sessions=False, described=False, embedded=False)
    index = FactIndex(None)
    rows = [row(np.random.default_rng(seed), story, seed + 1) for seed in range(60)]
    index.change(rows, [], NO_NAME_ENTRIES, NO_NAME_ENTRIES, {})
    compiled, numpy = both("gather_evidence", lambda: gather_rows(index, np.arange(60), WORDS, reach=0, near=0))
    assert compiled.counts.max() == numpy.counts.max() == MOST_COUNTED


def test_the_sentences_of_words_are_the_same() -> None:
    """The first of 32 sentences as well as the last, of facts of which nothing is stored as well as of many words."""
    chance = np.random.default_rng(7)
    facts = [{word: int(chance.integers(1, 2**32)) for word in WORDS if chance.random() < 0.5} for _ in range(40)]
    stored = [None if fact % 7 == 0 else pack_sentence_bits(held) for fact, held in enumerate(facts)]
    wanted = np.array([hash_term(word) for word in (WORDS[3], UNKNOWN, *WORDS, WORDS[3])], np.int64)
    compiled, numpy = both("sentences_of_words", lambda: find_sentence_bits(stored, wanted))
    assert compiled.tolist() == numpy.tolist()
    assert compiled.max() >= 2**31


@pytest.mark.parametrize("facts", [0, 3])
@pytest.mark.parametrize("words", [0, 2])
def test_where_nothing_is_stored_words_stand_in_no_sentence(facts: int, words: int) -> None:
    asked = np.arange(words, dtype=np.int64)
    compiled, numpy = both("sentences_of_words", lambda: find_sentence_bits([None] * facts, asked))
    assert compiled.tolist() == numpy.tolist() == [[0] * words] * facts


def is_clean(room: WordBuffers) -> bool:
    """Whether nothing is left of a question."""
    return room.in_c.many == 0 and bool((room.row_of == -1).all())


@given(data=st.data(), story=stories(), cue=cues(), k=st.integers(1, 10))
def test_nothing_is_left_of_a_question(data: st.DataObject, story: Story, cue: KeywordQuery, k: int) -> None:
    index = told(story)
    positions, among = data.draw(picks(index)), admitted(index, 1)
    first = index.matching(cue, among, k)
    before = gather_rows(index, positions, cue.words, reach=3, near=1)
    assert index._working is not None
    assert is_clean(index._working)
    again, after = index.matching(cue, among, k), gather_rows(index, positions, cue.words, reach=3, near=1)
    assert (again.positions.tolist(), again.scores.tolist()) == (first.positions.tolist(), first.scores.tolist())
    assert told_of(after) == told_of(before)


def test_nothing_is_left_of_a_question_about_a_crowd(crowd: FactIndex) -> None:
    cue = KeywordQuery((WORDS[0], WORDS[11]), (0.1, 5.0), 20.0, 0.8, 0.6, 0.3, LENDING, (False, True))
    crowd.matching(cue, admitted(crowd, None), 3)
    assert crowd._working is not None
    assert is_clean(crowd._working)


@pytest.mark.parametrize(
    "context", [replace(LENDING, after=0.0), replace(LENDING, before=0.0), replace(LENDING, decay=0.0)]
)
def test_each_fact_is_met_once_where_turns_lend_nothing_one_way(context: SessionContext) -> None:
    index, size = FactIndex(None), 20
    story = Story(3, 1, 1, 1, 64, sessions=True, described=False, embedded=False)
    one = replace(row(np.random.default_rng(3), story, 1), session="s", length=3, time=0)
    held = [pack_terms({word: 1}, [hash_mark("session", "s")]) for word in WORDS[:2]]
    rows = [replace(one, key=key, id=f"{key:026}", turn=key, held=held[key % 2]) for key in range(1, size + 1)]
    index.change(rows, [], NO_NAME_ENTRIES, NO_NAME_ENTRIES, {})
    index.matching(KeywordQuery((WORDS[0],), (1.0,), 3.0, 0.8, 0.6, 0.0, context, (True,)), admitted(index, None), 5)
    assert index._working is not None
    met, _ = index._working._marks
    assert not met[size:].any()
