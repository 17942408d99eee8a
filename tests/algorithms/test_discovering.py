"""Bridges between results: what each link lets through, and which facts connect what nothing else does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.bridge_discovery import (
    EDGE_KIND_MULTIPLIERS,
    BridgeRow,
    bridge_conductances,
    find_bridge_rows,
    find_bridge_rows_reference,
)

Link = tuple[int, int, float]
LINKS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])), max_size=30
)
SCORES = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), min_size=4, max_size=4)


def bridges(scores: list[float], links: list[Link], most: int = 10, facts: int = 10) -> tuple[BridgeRow, ...]:
    source, target = (np.array([link[at] for link in links], np.int64) for at in (0, 1))
    through = np.array([link[2] for link in links], np.float64)
    return find_bridge_rows(np.array(scores), source, target, through, facts=facts, most=most)


@pytest.mark.parametrize(
    ("kind", "multiplier"),
    [("entity", 1.2), ("about", 1.2), ("causes", 1.3), ("semantic", 0.8), ("similar", 0.8), ("follows", 0.9)],
)
def test_a_kind_has_the_multiplier_of_the_page(kind: str, multiplier: float) -> None:
    assert EDGE_KIND_MULTIPLIERS[kind] == multiplier
    assert bridge_conductances([kind], np.array([0.5]), np.array([0.5]), decay=0.5) == pytest.approx(0.125 * multiplier)


def test_behavioural_links_are_no_bridges() -> None:
    assert bridge_conductances(["auto_link", "supports"], np.ones(2), np.ones(2), decay=1.0).tolist() == [0, 0]


def test_no_link_lets_more_through_than_there_is() -> None:
    assert bridge_conductances(["causes"], np.ones(1), np.ones(1), decay=1.0).tolist() == [1.0]


def test_worked_value_is_the_weaker_score_times_both_links() -> None:
    assert bridges([2.0, 1.5], [(0, 5, 0.5), (1, 5, 0.5)]) == (BridgeRow(5, 0.375, (0, 1)),)


def test_results_that_are_linked_need_no_bridge() -> None:
    way = [(0, 5, 0.8), (1, 5, 0.5)]
    assert bridges([2.0, 1.5], [*way, (1, 0, 0.1)]) == bridges([2.0, 1.5], [*way, (0, 1, 0.1)]) == ()


def test_the_best_pair_counts_and_of_parallel_links_the_best() -> None:
    links = [(0, 5, 0.125), (0, 5, 0.5), (1, 5, 0.25), (2, 5, 1.0)]
    assert bridges([3.0, 2.0, 1.0], links) == (BridgeRow(5, 0.5, (1, 3)),)


def test_only_the_best_bridges_are_told_and_of_equals_the_earlier() -> None:
    links = [(a, fact, 0.5) for fact in (7, 6, 5) for a in (0, 1)]
    assert [one.row for one in bridges([1.0, 1.0], links, most=2)] == [5, 6]


def test_a_result_is_no_bridge() -> None:
    assert bridges([1.0, 1.0, 1.0], [(0, 2, 1.0), (1, 2, 1.0)]) == ()


def test_nothing_is_bridged_where_nothing_is_linked() -> None:
    assert bridges([1.0, 1.0], []) == bridges([], []) == ()


@given(scores=SCORES, links=LINKS, most=st.integers(1, 6))
def test_it_agrees_with_the_definition(scores: list[float], links: list[Link], most: int) -> None:
    found = [(one.row, one.score) for one in bridges(scores, links, most)]
    assert find_bridge_rows_reference(scores, links, most=most) == found


@given(scores=SCORES, links=LINKS)
def test_a_bridge_never_counts_more_than_the_weaker_of_what_it_connects(scores: list[float], links: list[Link]) -> None:
    for one in bridges(scores, links):
        ends = [links[link][0] for link in one.links]
        assert len(set(ends)) == 2
        assert 0 < one.score <= min(scores[end] for end in ends)
