"""Affinity: the numbers of 002, exactly, and what holds for every pair."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.affinity import (
    AffinityWeights,
    category_match,
    category_matches,
    composite_score,
    composite_scores,
    jaccard_similarities,
    jaccard_similarity,
    temporal_proximities,
    temporal_proximity,
)

DOCUMENTED = AffinityWeights(cosine=0.55, tags=0.20, category=0.15, temporal=0.10)
SIGMA, CROSS, GUARD = 8.0, 0.30, 0.30
SAME_SESSION, FAR_APART = 0.0, 90.0


class Golden(NamedTuple):
    """A score of 002: where it stands, what two facts have in common, and the score by the formula of §2."""

    where: str
    cosine: float
    tags: float
    same_category: bool
    hours_apart: float
    score: float


# Where 002 says another number (~.62, ~.55, ~.53, .577), its own formula gives this one.
GOLDEN = [
    Golden("002 §11, test_perfect_match_returns_one", 1.0, 1.0, True, SAME_SESSION, 1.0),
    Golden("002 §2, cosine .60, no context signals", 0.60, 0.0, False, FAR_APART, 0.375),
    Golden("002 §2, cosine .70, no context signals", 0.70, 0.0, False, FAR_APART, 0.430),
    Golden("002 §2, cosine .50, tags, category, session", 0.50, 1.0, True, SAME_SESSION, 0.725),
    Golden("002 §2, cosine .45, tags, category, session", 0.45, 1.0, True, SAME_SESSION, 0.6975),
    Golden("002 §2, cosine .60, same category, far apart", 0.60, 0.0, True, FAR_APART, 0.48),
    Golden("002 §2, cosine .60, same category, one session", 0.60, 0.0, True, SAME_SESSION, 0.58),
    Golden("002 §2, cosine .28, category, session", 0.28, 0.0, True, SAME_SESSION, 0.0),
    Golden("002 §11, test_minimum_cosine_guard_returns_zero", 0.28, 1.0, True, SAME_SESSION, 0.0),
    Golden("002 §11, test_at_minimum_cosine_returns_nonzero", 0.30, 0.0, True, SAME_SESSION, 0.415),
    Golden("002 §14, scenario 2", 0.45, 1 / 3, True, SAME_SESSION, 0.5642),
    Golden("002 §14, scenario 4", 0.60, 0.0, False, SAME_SESSION, 0.475),
    Golden("002 §11, test_edge_weight_is_composite_not_cosine", 0.78, 1.0, True, SAME_SESSION, 0.879),
    Golden("002 §11, test_pure_cosine_0_62, apart", 0.62, 0.0, False, FAR_APART, 0.386),
    Golden("002 §11, test_pure_cosine_0_62, one session", 0.62, 0.0, False, SAME_SESSION, 0.486),
    Golden("002 §11, test_zero_cosine, under the guard of §6", 0.0, 0.0, False, SAME_SESSION, 0.0),
    Golden("002 §11, test_negative_cosine_clamped, under the guard", -0.5, 1.0, True, SAME_SESSION, 0.0),
]

shares = st.floats(0, 1)
cosines = st.floats(-1.5, 1.5)
hours = st.floats(0, 1e4)
tags = st.sets(st.sampled_from(["a", "A", "b", "B", "c", "straße", "STRASSE"]))


def score(cosine: float, tags: float, category: float, temporal: float) -> float:
    return composite_score(
        cosine=cosine, tags=tags, category=category, temporal=temporal, weights=DOCUMENTED, guard=GUARD
    )


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row.where)
def test_score_is_that_of_the_documented_formula(row: Golden) -> None:
    category = category_match("fact", "fact" if row.same_category else "preference", cross=CROSS)
    temporal = temporal_proximity(100.0, 100.0 - row.hours_apart, sigma=SIGMA)
    assert score(row.cosine, row.tags, category, temporal) == pytest.approx(row.score, abs=5e-5)


def test_many_scores_are_the_same_as_one_by_one() -> None:
    category = category_matches(
        np.zeros(len(GOLDEN), int), np.array([not r.same_category for r in GOLDEN]), cross=CROSS
    )
    apart = np.array([row.hours_apart for row in GOLDEN])
    scores = composite_scores(
        cosine=np.array([row.cosine for row in GOLDEN]),
        tags=np.array([row.tags for row in GOLDEN]),
        category=category,
        temporal=temporal_proximities(apart, np.zeros(len(GOLDEN)), sigma=SIGMA),
        weights=DOCUMENTED,
        guard=GUARD,
    )
    assert scores == pytest.approx([row.score for row in GOLDEN], abs=5e-5)


@pytest.mark.parametrize(
    ("where", "apart", "proximity"),
    [
        ("002 §11, test_same_hours_returns_one", 0.0, 1.0),
        ("002 §11, test_sigma_apart", 8.0, 0.6065),
        ("002 §11, test_far_apart_near_zero", 24.0, 0.0111),
        ("002 §14, scenario 5", 90.0, 0.0),
    ],
)
def test_proximity_fades_with_hours_of_use(where: str, apart: float, proximity: float) -> None:
    assert temporal_proximity(100.0, 100.0 - apart, sigma=SIGMA) == pytest.approx(proximity, abs=5e-5)


@pytest.mark.parametrize(
    ("where", "a", "b", "overlap"),
    [
        ("002 §11, test_both_empty_returns_zero", [], [], 0.0),
        ("002 §11, test_identical_lists_return_one", ["a", "b"], ["a", "b"], 1.0),
        ("002 §11, test_partial_overlap", ["a", "b"], ["b", "c"], 1 / 3),
        ("002 §11, test_no_overlap_returns_zero", ["a"], ["b"], 0.0),
        ("002 §11, test_one_empty_returns_zero", [], ["x", "y"], 0.0),
        ("case makes no difference", ["Async", "async"], ["ASYNC"], 1.0),
    ],
)
def test_tags_overlap_by_jaccard(where: str, a: list[str], b: list[str], overlap: float) -> None:
    assert jaccard_similarity(a, b) == pytest.approx(overlap)


def test_one_category_is_worth_a_tenth() -> None:
    """002 §11, test_same_category_boosts_vs_different: (1.0 − .30) × .15."""
    assert score(0.6, 0.0, 1.0, 0.0) - score(0.6, 0.0, CROSS, 0.0) == pytest.approx(0.105)


def test_cosine_alone_needs_two_thirds() -> None:
    """002 §2: (.40 − .045) / .55 ≈ .65 for a pair of two categories with nothing else in common."""
    needed = (0.40 - 0.15 * CROSS) / 0.55
    assert needed == pytest.approx(0.6455, abs=5e-5)
    assert score(needed, 0.0, CROSS, 0.0) == pytest.approx(0.40)


@given(cosines, shares, shares, shares)
def test_score_is_a_share(cosine: float, tags: float, category: float, temporal: float) -> None:
    assert 0.0 <= score(cosine, tags, category, temporal) <= 1.0


@given(st.floats(-1.5, GUARD, exclude_max=True), shares, shares, shares)
def test_nothing_helps_under_the_guard(cosine: float, tags: float, category: float, temporal: float) -> None:
    assert score(cosine, tags, category, temporal) == 0.0


@given(tags, tags, hours, hours)
def test_signals_are_symmetric(one: set[str], other: set[str], early: float, late: float) -> None:
    assert jaccard_similarity(one, other) == jaccard_similarity(other, one)
    assert temporal_proximity(early, late, sigma=SIGMA) == temporal_proximity(late, early, sigma=SIGMA)
    assert category_match("fact", "event", cross=CROSS) == category_match("event", "fact", cross=CROSS)


@given(tags, tags)
def test_overlap_is_a_share_and_full_only_for_the_same_tags(one: set[str], other: set[str]) -> None:
    same = {tag.casefold() for tag in one} == {tag.casefold() for tag in other} != set()
    assert 0.0 <= jaccard_similarity(one, other) <= 1.0
    assert (jaccard_similarity(one, other) == 1.0) == same


@given(st.lists(tags, min_size=1, max_size=8), st.data())
def test_tags_of_many_pairs_overlap_as_those_of_each(rows: list[set[str]], drawn: st.DataObject) -> None:
    row = st.integers(0, len(rows) - 1)
    pairs = np.array(drawn.draw(st.lists(st.tuples(row, row), max_size=20)), np.int64).reshape(-1, 2)
    alone = [jaccard_similarity(rows[one], rows[other]) for one, other in pairs.tolist()]
    assert jaccard_similarities(rows, pairs[:, 0], pairs[:, 1]).tolist() == alone


@given(st.lists(st.tuples(cosines, shares, hours, hours, st.integers(0, 2), st.integers(0, 2)), max_size=20))
def test_arrays_and_single_pairs_agree(pairs: list[tuple[float, float, float, float, int, int]]) -> None:
    cosine, overlap, early, late = (np.array([pair[column] for pair in pairs]) for column in range(4))
    a, b = (np.array([pair[column] for pair in pairs], dtype=int) for column in (4, 5))
    proximity, match = temporal_proximities(early, late, sigma=SIGMA), category_matches(a, b, cross=CROSS)
    scores = composite_scores(
        cosine=cosine, tags=overlap, category=match, temporal=proximity, weights=DOCUMENTED, guard=GUARD
    )
    assert scores.tolist() == pytest.approx(
        [
            score(c, t, category_match(str(x), str(y), cross=CROSS), temporal_proximity(early, late, sigma=SIGMA))
            for c, t, early, late, x, y in pairs
        ]
    )


@given(hours, st.floats(0.1, 100))
def test_a_sigma_apart_is_e_to_the_minus_half(at: float, sigma: float) -> None:
    assert temporal_proximity(at, at + sigma, sigma=sigma) == pytest.approx(math.exp(-0.5), rel=1e-6)
