"""PageRank: the array version and the plain one, under the same tests."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cofire.algorithms.pagerank import pagerank, pagerank_reference

Edges = list[tuple[int, int, float]]
Ranks = NDArray[np.float64]

WAYS = [pagerank, pagerank_reference]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest) -> Callable[..., Ranks]:
    return request.param


def ranked(way: Callable[..., Ranks], edges: Edges, nodes: int, *, damping: float = 0.85, rounds: int = 500) -> Ranks:
    source, target = (np.array([edge[end] for edge in edges], dtype=np.int64) for end in (0, 1))
    weight = np.array([edge[2] for edge in edges], dtype=np.float64)
    return way(source, target, weight, nodes, damping=damping, tolerance=1e-12, rounds=rounds)


def both_ways(edges: Edges) -> Edges:
    return [*edges, *((target, source, weight) for source, target, weight in edges)]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Edges, int]:
    nodes = draw(st.integers(1, 12))
    ends = st.integers(0, nodes - 1)
    return draw(st.lists(st.tuples(ends, ends, st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])), max_size=40)), nodes


def test_star_has_its_centre_on_top(way: Callable[..., Ranks]) -> None:
    """Four leaves: centre c = .15/5 + .85·(1 − c), so c = .88/1.85, and the leaves share the rest."""
    ranks = ranked(way, both_ways([(0, leaf, 1.0) for leaf in range(1, 5)]), 5)
    assert ranks == pytest.approx([0.88 / 1.85] + [(1 - 0.88 / 1.85) / 4] * 4)


def test_circle_is_even(way: Callable[..., Ranks]) -> None:
    assert ranked(way, [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)], 3) == pytest.approx([1 / 3] * 3)


def test_heavier_edge_carries_more(way: Callable[..., Ranks]) -> None:
    """0 gives three quarters to 1; what 1 and 2 get goes anywhere."""
    ranks = ranked(way, [(0, 1, 0.9), (0, 2, 0.3)], 3)
    assert ranks[1] - ranks[0] == pytest.approx(0.85 * ranks[0] * 0.75)
    assert ranks[2] - ranks[0] == pytest.approx(0.85 * ranks[0] * 0.25)


def test_what_ends_nowhere_goes_anywhere(way: Callable[..., Ranks]) -> None:
    """0 → 1: r₀ = .075 + .425·r₁ and r₀ + r₁ = 1."""
    assert ranked(way, [(0, 1, 1.0)], 2) == pytest.approx([0.5 / 1.425, 0.925 / 1.425])


def test_without_edges_all_are_even(way: Callable[..., Ranks]) -> None:
    assert ranked(way, [], 4).tolist() == [0.25] * 4


def test_without_nodes_there_is_nothing(way: Callable[..., Ranks]) -> None:
    assert ranked(way, [], 0).tolist() == []


def test_without_damping_edges_do_not_matter(way: Callable[..., Ranks]) -> None:
    assert ranked(way, [(0, 1, 1.0)], 2, damping=0.0) == pytest.approx([0.5, 0.5])


def test_it_ends_after_the_given_rounds(way: Callable[..., Ranks]) -> None:
    """One round from (½, ½): .075 + .85·½·½ from the end that leads nowhere, and .85·½ more for who is linked to."""
    assert ranked(way, [(0, 1, 1.0)], 2, rounds=1) == pytest.approx([0.2875, 0.7125])


@given(graphs())
def test_ranks_are_shares_of_one(graph: tuple[Edges, int]) -> None:
    for way in WAYS:
        ranks = ranked(way, *graph)
        assert ranks.sum() == pytest.approx(1.0, abs=1e-9)
        assert ranks.min() >= 0.15 / len(ranks) - 1e-12


@given(graphs())
def test_both_ways_of_ranking_agree(graph: tuple[Edges, int]) -> None:
    fast, plain = (ranked(way, *graph) for way in WAYS)
    assert fast == pytest.approx(plain, abs=1e-9)


@given(graphs(), st.randoms(use_true_random=False))
def test_order_of_edges_does_not_matter(graph: tuple[Edges, int], random: Random) -> None:
    edges, nodes = graph
    shuffled = random.sample(edges, len(edges))
    for way in WAYS:
        assert ranked(way, shuffled, nodes) == pytest.approx(ranked(way, edges, nodes), abs=1e-9)


@given(graphs())
def test_scale_of_weights_does_not_matter(graph: tuple[Edges, int]) -> None:
    edges, nodes = graph
    for way in WAYS:
        doubled = ranked(way, [(source, target, 2 * weight) for source, target, weight in edges], nodes)
        assert doubled == pytest.approx(ranked(way, edges, nodes), abs=1e-9)


@given(graphs())
def test_a_further_step_of_the_walk_changes_nothing(graph: tuple[Edges, int]) -> None:
    edges, nodes = graph
    steps = np.zeros((nodes, nodes))
    for source, target, weight in edges:
        steps[target, source] += weight
    given_away = steps.sum(axis=0)
    steps[:, given_away == 0] = 1 / nodes
    steps[:, given_away > 0] /= given_away[given_away > 0]
    for way in WAYS:
        ranks = ranked(way, *graph)
        assert 0.15 / nodes + 0.85 * steps @ ranks == pytest.approx(ranks, abs=1e-9)
