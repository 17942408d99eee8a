"""Two rankings compared: worked values, and what holds for every pair of lists."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.rank_comparison import (
    RankChange,
    compare_rankings,
    kendall_tau_b,
    list_rank_changes,
    overlap_at_k,
)

rankings = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)
longer = st.lists(st.sampled_from("abcdefghij"), unique=True, min_size=2, max_size=10)
depths = st.integers(1, 12)


@pytest.mark.parametrize(
    ("before", "after", "k", "share"),
    [
        ("abc", "cba", 3, 1.0),
        ("abc", "cba", 1, 0.0),
        ("abcd", "abxy", 4, 0.5),
        ("ab", "abcd", 10, 0.5),
        ("", "ab", 5, 0.0),
        ("", "", 5, 1.0),
    ],
)
def test_overlap_is_the_share_that_both_have(before: str, after: str, k: int, share: float) -> None:
    assert overlap_at_k(before, after, k=k) == share


@pytest.mark.parametrize(
    ("before", "after", "tau"),
    [
        ("abcd", "abdc", 4 / 6),  # 5 pairs agree, 1 does not
        ("ab", "ac", 1 / 3),  # b and c each last where they are absent: a leads both, b and c are exchanged
        ("ab", "cd", -4 / 5),  # 4 pairs of an old and a new one are reversed, 2 are ordered in one list alone
        ("abcd", "ab", 5 / math.sqrt(6 * 5)),  # c and d are tied behind
        ("abc", "", 0.0),
        ("", "", 1.0),
        ("a", "a", 1.0),
        ("a", "b", -1.0),
    ],
)
def test_tau_on_the_union_with_the_absent_last(before: str, after: str, tau: float) -> None:
    assert kendall_tau_b(before, after) == pytest.approx(tau)


def test_moves_name_who_rose_and_who_fell() -> None:
    both = compare_rankings("abcd", "bxac", k=2)
    assert both.promoted == (RankChange("b", 2, 1), RankChange("x", None, 2))
    assert both.demoted == (RankChange("a", 1, 3), RankChange("c", 3, 4), RankChange("d", 4, None))


def test_comparison_says_its_depth() -> None:
    both = compare_rankings("abc", "abd", k=2)
    assert (both.k, both.overlap) == (2, 1.0)


@given(rankings, depths)
def test_a_ranking_is_like_itself(ranking: list[str], k: int) -> None:
    both = compare_rankings(ranking, ranking, k=k)
    assert (both.overlap, both.tau, both.promoted, both.demoted) == (1.0, 1.0, (), ())


@given(longer)
def test_reversal_is_the_opposite(ranking: list[str]) -> None:
    assert kendall_tau_b(ranking, ranking[::-1]) == pytest.approx(-1.0)


@given(rankings, rankings, depths)
def test_likeness_goes_both_ways_and_has_its_bounds(one: list[str], other: list[str], k: int) -> None:
    assert overlap_at_k(one, other, k=k) == overlap_at_k(other, one, k=k)
    assert kendall_tau_b(one, other) == pytest.approx(kendall_tau_b(other, one))
    assert 0.0 <= overlap_at_k(one, other, k=k) <= 1.0
    assert -1.0 - 1e-9 <= kendall_tau_b(one, other) <= 1.0 + 1e-9


@given(rankings, rankings)
def test_who_rises_one_way_falls_the_other(one: list[str], other: list[str]) -> None:
    there, back = compare_rankings(one, other, k=5), compare_rankings(other, one, k=5)
    assert {move.id for move in there.promoted} == {move.id for move in back.demoted}
    assert {move.id for move in there.demoted} == {move.id for move in back.promoted}


@given(rankings, rankings)
def test_who_did_not_move_has_the_same_place(one: list[str], other: list[str]) -> None:
    moved = {move.id for move in list_rank_changes(one, other)}
    assert {id for id in {*one, *other} if id not in moved} == {a for a, b in zip(one, other, strict=False) if a == b}
