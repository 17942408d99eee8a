"""Weighing: compiled code gives facts what numpy gives them, for their meaning, their words and their shape, with the turns around."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cofire.algorithms.session_context import SessionContext
from cofire.algorithms.vector_similarity import VectorRows, normalise_vectors
from cofire.embedders.base import Model, StoredModel
from cofire.index.native_scoring import FEATURE_ROW_COUNT, score_features
from cofire.index.native_vectors import measure_rows
from cofire.recall.query import AnalysedQuery
from cofire.recall.scoring import (
    COSINE_ROW,
    HAS_VECTOR_ROW,
    KEYWORD_ROW,
    CandidateTable,
    append_candidates,
    score_candidates,
)
from cofire.settings.ranking import default_constants, override_constants
from cofire.settings.table import Settings
from cofire.stores.base import FactFeatures, KeywordQuery
from tests.native.test_vectors import CLOSE, dimensions, kinds, resting, seeds, table_of
from tests.native.twins import NEEDS_LIBRARY, both

pytestmark = NEEDS_LIBRARY

DEFAULTS = Settings.layered()


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


def evidence_of(shape: Shape) -> FactFeatures:
    """Facts of which some have no vector and some no words, with turns around them, all of which are near; half of the time their
    vectors were measured before."""
    chance = np.random.default_rng(shape.seed)
    rows = shape.facts + shape.others
    table = table_of(chance, rows + 5, shape.dimension, shape.kind)
    around = (
        chance.integers(-1, max(rows, 1), (shape.facts, 2 * shape.reach)) if rows else np.zeros((0, 2 * shape.reach))
    )
    known = np.zeros((len(table), 2), np.float32)
    measure_rows(table, 0, len(table), resting(shape.dimension), known)
    return FactFeatures(
        ids=tuple(f"{fact:026}" for fact in range(shape.facts)),
        stored=VectorRows(table, chance.permutation(rows + 5)[:rows], known if shape.seed % 2 else None),
        embedded=chance.random(rows) < 0.8,
        counts=chance.integers(0, 4, (rows, shape.words)).astype(np.float32),
        lengths=chance.integers(0, 60, rows).astype(np.float32),
        hints=chance.integers(0, 3, (shape.facts, shape.words)).astype(np.float32),
        around=around.astype(np.int32),
        times=np.zeros(shape.facts),
        asks=chance.random(shape.facts) < 0.4,
        timed=chance.random(shape.facts) < 0.4,
        speakers=tuple(chance.choice([None, "Ana", "assistant"], shape.facts).tolist()),
    )


def cue_of(shape: Shape, context: SessionContext | None = None) -> AnalysedQuery:
    """A question with a vector and words, some of which turns lend."""
    chance = np.random.default_rng(shape.seed + 1)
    words = KeywordQuery(
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
    return AnalysedQuery(
        words=words,
        vector=normalise_vectors(chance.standard_normal(shape.dimension)),
        model=model,
        sample=np.zeros((0, shape.dimension), np.float32),
        facts=100,
        names=(),
        speakers=("Ana",) if shape.seed % 3 else (),
        together=False,
        times=(),
        holding=(1,) * shape.words,
        capitals=frozenset(),
        of_assistant=False,
        reports={},
    )


def assert_alike(compiled: CandidateTable, numpy: CandidateTable) -> None:
    assert compiled.ids == numpy.ids
    assert compiled.holds.tolist() == numpy.holds.tolist()
    # Likeness by chance is a fifth here, so that how far it stands out is told five times as coarsely.
    np.testing.assert_allclose(compiled.table, numpy.table, rtol=0, atol=20 * CLOSE)
    np.testing.assert_allclose(compiled.cosine, numpy.cosine, rtol=0, atol=CLOSE)


@given(
    shape=shapes,
    meaning=st.integers(0, 3),
    words=st.integers(0, 5),
    short=st.sampled_from([1.0, 25.0]),
    lends=st.booleans(),
)
def test_facts_are_weighed_the_same(shape: Shape, meaning: int, words: int, short: float, lends: bool) -> None:
    lending = replace(default_constants().vectors, reach=meaning, short=short)
    evidence, cue = evidence_of(shape), cue_of(shape, replace(default_constants().words, reach=words, short=short))
    if not lends:
        cue = replace(cue, words=replace(cue.words, context=None, lent=()))
        evidence = replace(evidence, around=evidence.around[:, :0])
    with override_constants(replace(default_constants(), vectors=lending)):
        compiled, numpy = both("weigh_facts", lambda: score_candidates(evidence, replace(cue), DEFAULTS))
    assert_alike(compiled, numpy)


@hypothesis_settings(max_examples=20)
@given(shape=shapes)
def test_without_a_vector_of_the_question_words_alone_are_weighed(shape: Shape) -> None:
    evidence, cue = evidence_of(shape), replace(cue_of(shape, default_constants().words), vector=None, model=None)
    compiled, numpy = both("weigh_facts", lambda: score_candidates(evidence, replace(cue), DEFAULTS))
    assert_alike(compiled, numpy)
    assert not compiled.table[[COSINE_ROW, HAS_VECTOR_ROW]].any()


def test_a_fact_without_a_vector_is_like_nothing_whatever_stands_in_its_row() -> None:
    shape = Shape(5, 4, 0, 0, 0, 16, np.float16)
    evidence = replace(evidence_of(shape), embedded=np.array([True, False, True, False]))
    compiled, numpy = both("weigh_facts", lambda: score_candidates(evidence, cue_of(shape), DEFAULTS))
    assert compiled.cosine[[1, 3]].tolist() == numpy.cosine[[1, 3]].tolist() == [0.0, 0.0]
    assert compiled.cosine[[0, 2]].all()
    assert compiled.meant.tolist() == numpy.meant.tolist() == [True, False, True, False]


def test_two_slates_are_one_as_if_all_had_been_weighed_at_once() -> None:
    shape = Shape(3, 8, 0, 0, 3, 16, np.float16)
    evidence, cue = evidence_of(shape), cue_of(shape)

    def part(rows: slice) -> FactFeatures:
        cut = {name: getattr(evidence, name)[rows] for name in EACH}
        return replace(evidence, stored=VectorRows(evidence.stored.table, evidence.stored.at[rows]), **cut)

    whole = score_candidates(evidence, cue, DEFAULTS)
    both_of = append_candidates(
        score_candidates(part(slice(5)), cue, DEFAULTS), score_candidates(part(slice(5, None)), cue, DEFAULTS)
    )
    assert both_of.ids == whole.ids
    assert both_of.rows == whole.rows == {id: row for row, id in enumerate(whole.ids)}
    np.testing.assert_allclose(both_of.table, whole.table, rtol=0, atol=1e-12)
    assert both_of.holds.tolist() == whole.holds.tolist()
    assert both_of.scores["keyword"].tolist() == both_of.table[KEYWORD_ROW].tolist()


EACH = ("ids", "embedded", "counts", "lengths", "hints", "around", "times", "asks", "timed", "speakers")


def test_turns_that_are_no_rows_and_facts_without_length_are_refused() -> None:
    shape = Shape(7, 4, 2, 1, 3, 16, np.float16)
    evidence, cue = evidence_of(shape), cue_of(shape, default_constants().words)
    with pytest.raises(IndexError):
        score_candidates(replace(evidence, around=np.full((4, 2), 6, np.int32)), cue, DEFAULTS)
    for wrong in (
        {"lengths": evidence.lengths[:3], "counts": evidence.counts[:3]},
        {"counts": evidence.counts[:, :2]},
        {"hints": evidence.hints[:, :2]},
        {"around": evidence.around[:3]},
        {"asks": evidence.asks[:3]},
        {"timed": evidence.timed[:3]},
        {"embedded": evidence.embedded[:3]},
    ):
        with pytest.raises(ValueError, match="do not fit"):
            score_candidates(replace(evidence, **wrong), cue, DEFAULTS)


def test_a_table_without_room_for_all_that_is_written_is_refused() -> None:
    shape = Shape(7, 4, 0, 0, 3, 16, np.float16)
    told, cue = evidence_of(shape), cue_of(shape)
    held = (told.embedded, told.counts, told.hints, told.lengths, told.around, told.asks, told.timed)
    with pytest.raises(ValueError, match="do not fit"):
        score_features(
            (told.stored.table, told.stored.at, None), held, cue.scales, np.zeros((FEATURE_ROW_COUNT - 1, 4))
        )
