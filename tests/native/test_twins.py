"""Compiled functions and their numpy twins: the same answers to random input, and no step outside an array."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.session_context import SessionContext
from cofire.index import native
from cofire.index.postings import DescriptionPostings, PostingRuns, Postings, PostingSegment
from tests.native.conditions import NEEDS_LIBRARY

pytestmark = NEEDS_LIBRARY

FACTS = 3_000
CONTEXT = SessionContext(before=0.4, after=0.2, decay=0.5, reach=3, short=25)
SEEDS = st.integers(0, 2**32 - 1)


def make_postings(rng: np.random.Generator, kind: type[Postings], sizes: list[int], batches: int) -> PostingRuns:
    """Terms that so many facts hold, taken in batch by batch."""
    postings = kind()
    bounds = np.linspace(0, FACTS, batches + 1).astype(int)
    for first, last in pairwise(bounds.tolist()):
        terms, positions = [], []
        for term, size in enumerate(sizes):
            some = rng.choice(last - first, min(size // batches, last - first), replace=False) + first
            positions.append(np.sort(some))
            terms.append(np.full(len(some), term))
        owners = np.concatenate(positions).astype(np.int32)
        counts = rng.integers(1, 6, len(owners)).astype(np.uint16)
        postings.add(np.concatenate(terms).astype(np.int64), owners, counts)
    return postings.runs(tuple(range(len(sizes))))


def make_turns(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sessions of ten facts in random places; the last place is that of no turn."""
    before, after = np.full((2, FACTS + 1), -1, np.int32)
    order = rng.permutation(FACTS)
    for session in order[: FACTS // 2].reshape(-1, 10):
        before[session[1:]], after[session[:-1]] = session[:-1], session[1:]
    return before, after


def make_question(seed: int, *, has_turns: bool = True, description_weight: float = 0.4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sizes = [0, 12, 150, 600, 2_400, 2_900]
    weights = rng.uniform(0.1, 5.0, len(sizes))
    return {
        "texts": make_postings(rng, Postings, sizes, 3),
        "descriptions": make_postings(rng, DescriptionPostings, [0, 0, 40, 100, 0, 10], 2),
        "weights": weights,
        "is_lent": np.array([False, True, True, False, False, False]),
        "constants": np.array([description_weight, 0.9, 0.6, 18.0, CONTEXT.short, weights.sum()]),
        "lengths": rng.integers(1, 60, FACTS).astype(np.int32),
        "alive": rng.random(FACTS) < 0.95,
        "admitted": rng.random(FACTS) < 0.8,
        "turns": make_turns(rng) if has_turns else None,
        "lends": CONTEXT.lends(),
        "k": int(rng.integers(1, 200)),
    }


def call_score(function: Any, question: dict[str, Any]) -> dict[int, float]:
    texts, descriptions = question["texts"], question["descriptions"]
    rest = {name: value for name, value in question.items() if name not in ("texts", "descriptions")}
    positions, scores = function(texts, descriptions, **rest)
    return dict(zip(positions.tolist(), scores.tolist(), strict=True))


@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.4]))
def test_postings_are_scored_alike(seed: int, has_turns: bool, description_weight: float) -> None:
    question = make_question(seed, has_turns=has_turns, description_weight=description_weight)
    compiled = call_score(native.score_postings_compiled, question)
    numpy = call_score(native.score_postings_numpy, question)
    kth = sorted(numpy.values(), reverse=True)[: question["k"]][-1]
    # Facts within the tolerance of the last one may be told by one and not by the other.
    certain = {fact for fact, score in numpy.items() if score > kth + 1e-5}
    assert certain <= compiled.keys()
    assert len(compiled) >= min(question["k"], len(numpy))
    for fact in compiled.keys() & numpy.keys():
        assert compiled[fact] == pytest.approx(numpy[fact], abs=1e-6)


def test_scoring_leaves_no_trace_in_its_memory() -> None:
    question = make_question(7)
    first = call_score(native.score_postings_compiled, question)
    for _ in range(3):
        assert call_score(native.score_postings_compiled, question) == first
    assert (native._scratch.row_of == -1).all()


@given(SEEDS, st.booleans(), st.integers(0, 4), st.integers(0, 4))
def test_rows_are_gathered_alike(seed: int, has_turns: bool, reach: int, near: int) -> None:
    question = make_question(seed, has_turns=has_turns)
    rng = np.random.default_rng(seed)
    positions = rng.choice(FACTS, 40, replace=False).astype(np.int64)
    how = {"turns": question["turns"], "facts": FACTS, "reach": reach, "near": min(near, reach)}
    found = [
        function(positions, question["texts"], question["descriptions"], **how)
        for function in (native.gather_rows_compiled, native.gather_rows_numpy)
    ]
    shown = [show_rows(*answer) for answer in found]
    assert shown[0] == shown[1]


def show_rows(
    rows: np.ndarray, first: int, around: np.ndarray, counts: np.ndarray, descriptions: np.ndarray
) -> dict[str, Any]:
    """Rows after the facts may come in any order."""
    named = np.append(rows, -1)
    return {
        "facts": rows[: len(around)].tolist(),
        "near": set(rows[:first].tolist()),
        "around": named[around].tolist(),
        "counts": dict(zip(rows.tolist(), counts.tolist(), strict=True)),
        "descriptions": descriptions.tolist(),
    }


@given(SEEDS, st.integers(1, 8), st.integers(1, 300))
def test_differing_signs_are_counted_alike(seed: int, words: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, (words, size + int(rng.integers(0, 50))), np.uint64)
    asked = rng.integers(0, 2**64, words, np.uint64)
    compiled, numpy = (
        function(bits, asked, size).tolist()
        for function in (native.count_differing_signs_compiled, native.count_differing_signs_numpy)
    )
    assert compiled == numpy


@given(SEEDS, st.sampled_from([1, 5, 8, 16, 40, 384]), st.sampled_from([np.float16, np.float32, np.float64]))
def test_cosines_are_measured_alike(seed: int, dimension: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((60, dimension)).astype(kind)
    at = rng.integers(0, 60, 30)
    facts, width = 12, int(rng.integers(0, 5))
    arguments = {
        "axes": rng.standard_normal((3, dimension)).astype(np.float32),
        "turns": rng.integers(-1, 30, (facts, width)).astype(np.int32),
        "weights": rng.random((facts, width)),
    }
    embedded = rng.random(30) < 0.8
    compiled, numpy = (
        function(table, at, embedded, **arguments)
        for function in (native.context_cosines_compiled, native.context_cosines_numpy)
    )
    for mine, theirs in zip(compiled, numpy, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-3, abs=1e-3)


@given(SEEDS, st.integers(1, 9), st.integers(1, 60))
def test_the_highest_are_kept_alike(seed: int, most: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    found = []
    blocks = [(rng.permutation(columns) + 100 * part, rng.permutation(columns * 20)) for part in range(3)]
    for function in (native.keep_highest_compiled, native.keep_highest_numpy):
        best, names = np.full((20, most), -np.inf, np.float32), np.full((20, most), -1, np.int64)
        for column_names, numbers in blocks:
            block = numbers.reshape(20, columns).astype(np.float32) + np.float32(0.001) * column_names
            owners = np.arange(20)
            function(block, column_names, owners=owners, own_names=owners, best=best, best_names=names)
        found.append((names.tolist(), best.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("position", [-1, FACTS, 2**31 - 1])
def test_a_posting_of_no_fact_is_refused(position: int) -> None:
    question = make_question(3)
    segment = PostingSegment(
        np.zeros(1, np.int64), np.array([0, 1]), np.array([position], np.int32), np.ones(1, np.uint16)
    )
    words = len(question["weights"])
    first, sizes = np.zeros((2, words), np.int64)
    sizes[:] = 1
    broken = PostingRuns(words, [(segment, first, sizes)])
    with pytest.raises(IndexError):
        call_score(native.score_postings_compiled, {**question, "texts": broken})
    with pytest.raises(IndexError):
        native.gather_rows_compiled(
            np.arange(20), broken, question["descriptions"], turns=None, facts=FACTS, reach=0, near=0
        )
    assert (native._scratch.row_of == -1).all()


def test_a_run_beyond_its_segment_is_refused() -> None:
    segment = PostingSegment(np.zeros(1, np.int64), np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.uint16))
    broken = PostingRuns(1, [(segment, np.array([0]), np.array([2]))])
    with pytest.raises(IndexError):
        native.gather_rows_compiled(np.arange(2), broken, broken, turns=None, facts=FACTS, reach=0, near=0)


def test_a_turn_that_is_no_fact_is_refused() -> None:
    question = make_question(3)
    before, after = (chain.copy() for chain in question["turns"])
    before[:FACTS] = after[:FACTS] = FACTS
    with pytest.raises(IndexError):
        call_score(native.score_postings_compiled, {**question, "turns": (before, after)})
    with pytest.raises(IndexError):
        native.gather_rows_compiled(
            np.arange(2),
            question["texts"],
            question["descriptions"],
            turns=(before, after),
            facts=FACTS,
            reach=1,
            near=0,
        )


@pytest.mark.parametrize("position", [-1, FACTS])
def test_rows_of_no_fact_are_refused(position: int) -> None:
    question = make_question(3)
    with pytest.raises(IndexError):
        native.gather_rows_compiled(
            np.array([position]), question["texts"], question["descriptions"], turns=None, facts=FACTS, reach=0, near=0
        )


@pytest.mark.parametrize(("at", "turn"), [(-1, 0), (4, 0), (0, 2)])
def test_vectors_outside_their_table_are_refused(at: int, turn: int) -> None:
    table = np.ones((4, 8), np.float32)
    with pytest.raises(IndexError):
        native.context_cosines_compiled(
            table,
            np.array([at, 0]),
            np.ones(2, np.bool_),
            axes=np.ones((3, 8), np.float32),
            turns=np.array([[turn]], np.int32),
            weights=np.ones((1, 1)),
        )


def test_owners_outside_the_shortlist_are_refused() -> None:
    best, names = np.zeros((1, 2), np.float32), np.zeros((1, 2), np.int64)
    with pytest.raises(IndexError):
        native.keep_highest_compiled(
            np.ones((1, 1), np.float32),
            np.array([0]),
            owners=np.array([1]),
            own_names=np.array([0]),
            best=best,
            best_names=names,
        )


def test_more_signs_than_columns_are_refused() -> None:
    with pytest.raises(IndexError):
        native.count_differing_signs_compiled(np.zeros((1, 4), np.uint64), np.zeros(1, np.uint64), 5)


def test_arrays_that_do_not_fit_are_refused() -> None:
    question = make_question(3)
    with pytest.raises(ValueError, match="do not fit"):
        call_score(native.score_postings_compiled, {**question, "admitted": np.ones(FACTS - 1, np.bool_)})
