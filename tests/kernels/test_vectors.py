"""Vectors: compiled code measures the likeness that numpy measures, alone and with the turns around facts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from cofire.dynamics.context import Context
from cofire.dynamics.likeness import VectorRows, centred, centred_cosines, unit
from cofire.embedders.base import Model, StoredModel
from cofire.kernels.vectors import cosines_in_context, measure
from cofire.ranking import shipped, using
from cofire.stores.base import Evidence, WordCue
from cofire.verbs.cueing import Cue
from cofire.verbs.direct import cosines, word_shares
from tests.kernels.twins import NEEDS_LIBRARY, both, calls_of

pytestmark = NEEDS_LIBRARY

# Products of single numbers, added up in another order.
CLOSE = 2e-6
# Too near the resting point a direction is nothing but rounding.
LEAN = 0.3

seeds = st.integers(0, 2**32 - 1)
dimensions = st.sampled_from([3, 16, 17, 384, 385])
kinds = st.sampled_from([np.float16, np.float32])


def table_of(chance: Generator, size: int, dimension: int, kind: type) -> NDArray[np.float32]:
    """Vectors of length one that lean the same way a little; some are nothing."""
    vectors = unit(chance.standard_normal((size, dimension)))
    vectors[chance.random(size) < 0.1] = 0
    return vectors.astype(kind)


def resting(dimension: int) -> NDArray[np.float32]:
    mean = np.zeros(dimension, np.float32)
    mean[0] = LEAN
    return mean


@given(seed=seeds, dimension=dimensions, kind=kinds, size=st.integers(1, 50), asked=st.integers(0, 80))
def test_centred_cosines_are_the_same(seed: int, dimension: int, kind: type, size: int, asked: int) -> None:
    """Rows stand in any order, some several times."""
    chance = np.random.default_rng(seed)
    rows = VectorRows(table_of(chance, size, dimension, kind), chance.integers(0, size, asked))
    question, mean = unit(chance.standard_normal(dimension)), resting(dimension)
    compiled, numpy = both("cosines_at", lambda: centred_cosines(rows, centred(question, mean), mean))
    np.testing.assert_allclose(compiled, numpy, rtol=0, atol=CLOSE)


@given(seed=seeds, dimension=dimensions, kind=kinds, size=st.integers(1, 50), asked=st.integers(0, 80))
def test_what_was_measured_before_changes_nothing(seed: int, dimension: int, kind: type, size: int, asked: int) -> None:
    chance = np.random.default_rng(seed)
    table, at = table_of(chance, size, dimension, kind), chance.integers(0, size, asked)
    question, mean = unit(chance.standard_normal(dimension)), resting(dimension)
    known, half = np.full((size, 2), np.nan, np.float32), size // 2
    measure(table, 0, half, mean, known)
    measure(table, half, size, mean, known)
    found = [centred_cosines(VectorRows(table, at, told), centred(question, mean), mean) for told in (None, known)]
    assert found[0].tolist() == found[1].tolist()


def test_what_was_measured_of_another_table_is_refused() -> None:
    table, at = np.zeros((3, 16), np.float16), np.arange(3)
    with pytest.raises(ValueError, match="do not fit"):
        centred_cosines(VectorRows(table, at, np.zeros((2, 2), np.float32)), *np.eye(2, 16, dtype=np.float32))
    known, mean = np.zeros((3, 2), np.float32), np.zeros(16, np.float32)
    for wrong in ((0, 4, mean, known), (-1, 3, mean, known), (0, 3, mean[:8], known), (0, 3, mean, known[:, 0])):
        with pytest.raises(ValueError, match="do not fit"):
            measure(table, *wrong)


def test_turns_that_are_no_rows_and_facts_without_length_are_refused() -> None:
    table, at, axes = np.zeros((4, 16), np.float16), np.arange(4), np.zeros((3, 16), np.float32)
    ask = partial(cosines_in_context, table, at, np.ones(4, np.bool_), axes, weights=np.ones(2), short=25.0, known=None)
    with pytest.raises(IndexError):
        ask(turns=np.array([[1, 4]], np.int32), lengths=np.ones(4, np.float32))
    for turns, lengths in ((np.zeros((5, 2), np.int32), np.ones(9)), (np.zeros((2, 2), np.int32), np.ones(1))):
        with pytest.raises(ValueError, match="do not fit"):
            ask(turns=turns, lengths=lengths.astype(np.float32))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_vectors_of_nothing_are_like_nothing_where_the_resting_point_is_nothing(kind: type) -> None:
    rows = VectorRows(np.zeros((3, 20), kind), np.array([2, 0]))
    compiled, numpy = both(
        "cosines_at", lambda: centred_cosines(rows, np.ones(20, np.float32), np.zeros(20, np.float32))
    )
    assert compiled.tolist() == numpy.tolist() == [0.0, 0.0]


HALF = np.finfo(np.float16)


@pytest.mark.parametrize("number", [HALF.smallest_subnormal, 3 * HALF.smallest_subnormal, -HALF.tiny, HALF.max])
@pytest.mark.parametrize("dimension", [11, 16])
def test_the_smallest_and_the_largest_numbers_of_half_precision_are_read_as_they_are(
    number: np.float16, dimension: int
) -> None:
    """By those who read eight at a time, and of what is left over."""
    table, axes = np.full((1, dimension), number, np.float16), np.eye(2, dimension, dtype=np.float32)
    compiled, numpy = both("cosines_at", lambda: centred_cosines(VectorRows.of(table), *axes))
    np.testing.assert_allclose(compiled, numpy, rtol=1e-6)
    assert compiled[0]


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_vectors_may_lie_in_memory_that_nobody_may_write_to(kind: type) -> None:
    table = table_of(np.random.default_rng(2), 9, 20, kind)
    frozen: Any = np.frombuffer(table.tobytes(), kind).reshape(table.shape)
    question, mean = unit(np.ones(20)), resting(20)
    found = centred_cosines(VectorRows.of(table), question, mean)
    assert centred_cosines(VectorRows.of(frozen), question, mean).tolist() == found.tolist()


def test_a_table_that_c_cannot_read_is_left_to_numpy() -> None:
    """Every other row of another, and one of double precision."""
    table: Any = table_of(np.random.default_rng(2), 10, 20, np.float32)
    question, mean = unit(np.ones(20)), resting(20)
    found = centred_cosines(VectorRows.of(table), question, mean)
    with calls_of("cosines_at") as calls:
        apart = centred_cosines(VectorRows.of(table[::2]), question, mean)
        double = centred_cosines(VectorRows.of(table.astype(np.float64)), question, mean)
    assert not calls
    np.testing.assert_allclose(apart, found[::2], rtol=0, atol=CLOSE)
    np.testing.assert_allclose(double, found, rtol=0, atol=CLOSE)


def test_places_in_a_table_may_be_of_any_kind_and_lie_anywhere() -> None:
    table = table_of(np.random.default_rng(2), 10, 20, np.float32)
    question, mean, at = unit(np.ones(20)), resting(20), np.array([7, 1, 9, 1])
    found = centred_cosines(VectorRows(table, at), question, mean).tolist()
    assert centred_cosines(VectorRows(table, at.astype(np.int32)), question, mean).tolist() == found
    assert centred_cosines(VectorRows(table, np.repeat(at, 2)[::2]), question, mean).tolist() == found


@dataclass(frozen=True)
class Shape:
    """What evidence looks like: facts, turns around them, how far those are told, and which vectors there are."""

    seed: int
    facts: int
    others: int
    reach: int
    words: int
    dimension: int
    kind: type


shapes = st.builds(
    Shape,
    seed=seeds,
    facts=st.integers(0, 12),
    others=st.integers(0, 8),
    reach=st.integers(0, 4),
    words=st.integers(0, 5),
    dimension=dimensions,
    kind=kinds,
)


def evidence_of(shape: Shape) -> Evidence:
    """Facts of which some have no vector and some no words, with turns around them, all of which are near; half of the time their
    vectors were measured before."""
    chance = np.random.default_rng(shape.seed)
    rows = shape.facts + shape.others
    table = table_of(chance, rows + 5, shape.dimension, shape.kind)
    around = (
        chance.integers(-1, max(rows, 1), (shape.facts, 2 * shape.reach)) if rows else np.zeros((0, 2 * shape.reach))
    )
    none, known = np.zeros(shape.facts, np.bool_), np.zeros((len(table), 2), np.float32)
    measure(table, 0, len(table), resting(shape.dimension), known)
    return Evidence(
        ids=tuple(f"{fact:026}" for fact in range(shape.facts)),
        stored=VectorRows(table, chance.permutation(rows + 5)[:rows], known if shape.seed % 2 else None),
        embedded=chance.random(rows) < 0.8,
        counts=chance.integers(0, 4, (rows, shape.words)).astype(np.float32),
        lengths=chance.integers(0, 60, rows).astype(np.float32),
        hints=chance.integers(0, 3, (shape.facts, shape.words)).astype(np.float32),
        around=around.astype(np.int32),
        times=np.zeros(shape.facts),
        asks=none,
        timed=none,
        speakers=(None,) * shape.facts,
    )


def cue_of(shape: Shape, context: Context | None = None) -> Cue:
    """A question with a vector and words, some of which turns lend."""
    chance = np.random.default_rng(shape.seed + 1)
    words = WordCue(
        tuple(f"word{number}" for number in range(shape.words)),
        tuple(chance.random(shape.words).tolist()),
        mean_length=float(chance.choice([0.0, 8.0, 30.0])),
        k1=0.8,
        b=0.6,
        hint_weight=float(chance.choice([0.0, 0.4])),
        context=context,
        lent=tuple((chance.random(shape.words) < 0.6).tolist()) if context else (),
    )
    model = StoredModel(Model("chance", shape.dimension), resting(shape.dimension), (0.0, 0.2))
    return Cue(
        words=words,
        vector=unit(chance.standard_normal(shape.dimension)),
        model=model,
        sample=np.zeros((0, shape.dimension), np.float32),
        facts=100,
        names=(),
        speakers=(),
        together=False,
        times=(),
        holding=(1,) * shape.words,
        capitals=frozenset(),
        of_assistant=False,
        reports={},
    )


@given(shape=shapes, in_session=st.booleans(), near=st.integers(0, 3), short=st.sampled_from([1.0, 25.0]))
def test_cosines_of_facts_are_the_same(shape: Shape, in_session: bool, near: int, short: float) -> None:
    evidence, cue = evidence_of(shape), cue_of(shape)
    lending = replace(shipped().vectors, reach=near, short=short)
    with using(replace(shipped(), vectors=lending)):
        compiled, numpy = both("cosines_in_context", lambda: cosines(evidence, cue, in_session=in_session))
    for found, expected in zip(compiled, numpy, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)


@given(shape=shapes, in_session=st.booleans(), near=st.integers(0, 5), short=st.sampled_from([1.0, 25.0]))
def test_what_facts_hold_of_the_words_is_the_same(shape: Shape, in_session: bool, near: int, short: float) -> None:
    evidence, cue = evidence_of(shape), cue_of(shape, replace(shipped().words, reach=near, short=short))
    compiled, numpy = both("shares_of_words", lambda: word_shares(evidence, cue, in_session=in_session))
    np.testing.assert_allclose(compiled, numpy, rtol=0, atol=1e-6)


@hypothesis_settings(max_examples=20)
@given(shape=shapes)
def test_what_facts_hold_of_the_words_is_the_same_where_nothing_is_lent(shape: Shape) -> None:
    evidence, cue = evidence_of(shape), cue_of(shape)
    compiled, numpy = both("shares_of_words", lambda: word_shares(evidence, cue, in_session=False))
    np.testing.assert_allclose(compiled, numpy, rtol=0, atol=1e-6)


def test_a_fact_without_a_vector_is_like_nothing_whatever_stands_in_its_row() -> None:
    shape = Shape(5, 4, 0, 0, 0, 16, np.float16)
    evidence = replace(evidence_of(shape), embedded=np.array([True, False, True, False]))
    compiled, numpy = both("cosines_in_context", lambda: cosines(evidence, cue_of(shape), in_session=False))
    assert compiled[0][[1, 3]].tolist() == numpy[0][[1, 3]].tolist() == [0.0, 0.0]
    assert compiled[0][[0, 2]].all()


@NEEDS_LIBRARY
def test_vectors_of_another_width_than_the_question_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        centred_cosines(VectorRows.of(np.zeros((2, 8), np.float32)), np.zeros(4, np.float32), np.zeros(4, np.float32))


@NEEDS_LIBRARY
@pytest.mark.parametrize("row", [-1, 2])
def test_a_row_that_the_table_does_not_have_is_refused(row: int) -> None:
    rows = VectorRows(np.zeros((2, 8), np.float32), np.array([0, row]))
    with pytest.raises(IndexError, match="does not have"):
        centred_cosines(rows, np.zeros(8, np.float32), np.zeros(8, np.float32))
