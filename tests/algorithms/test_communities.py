"""Communities: the array version and the plain one, to the same label; and what they find where the truth is known."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cofire.algorithms.communities import detect_communities, detect_communities_reference, number_communities

Edges = list[tuple[int, int, float]]
Labels = NDArray[np.int64]

WAYS = [detect_communities, detect_communities_reference]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest) -> Callable[..., Labels]:
    return request.param


def grouped(way: Callable[..., Labels], edges: Edges, nodes: int, *, seed: int = 1, rounds: int = 50) -> list[int]:
    source, target = (np.array([edge[end] for edge in edges], dtype=np.int64) for end in (0, 1))
    weight = np.array([edge[2] for edge in edges], dtype=np.float64)
    return way(source, target, weight, nodes, seed=seed, rounds=rounds).tolist()


def clique(members: range) -> Edges:
    return [(a, b, 1.0) for a in members for b in members if a < b]


def cliques_in_a_ring(count: int, size: int) -> Edges:
    groups = [range(first, first + size) for first in range(0, count * size, size)]
    joints = [(group[0], (group[-1] + 2) % (count * size), 1.0) for group in groups]
    return [*joints, *(edge for group in groups for edge in clique(group))]


def planted(groups: int, size: int, inside: int, outside: int, seed: int) -> Edges:
    """Each node is linked with some of its own group and some of anywhere."""
    random, nodes = Random(seed), groups * size
    own = [(node, node // size * size + random.randrange(size), 1.0) for node in range(nodes) for _ in range(inside)]
    return [*own, *((node, random.randrange(nodes), 1.0) for node in range(nodes) for _ in range(outside))]


def shared_information(found: list[int], truth: list[int]) -> float:
    """Normalised mutual information, 2·I(found, truth) / (H(found) + H(truth)): 1 for the same groups, 0 for unrelated ones."""
    joint = np.zeros((max(found) + 1, max(truth) + 1))
    np.add.at(joint, (found, truth), 1 / len(found))
    return 2 - 2 * _entropy(joint) / (_entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1)))


def _entropy(shares: NDArray[np.float64]) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Edges, int]:
    nodes = draw(st.integers(1, 15))
    ends = st.integers(0, nodes - 1)
    weights = st.sampled_from([-1.0, 0.0, 1e-9, 0.1, 0.2, 0.3, 1.0])
    return draw(st.lists(st.tuples(ends, ends, weights), max_size=50)), nodes


seeds = st.integers(-(2**70), 2**70)


@pytest.mark.parametrize("seed", range(5))
def test_cliques_in_a_ring_are_told_apart(way: Callable[..., Labels], seed: int) -> None:
    found = grouped(way, cliques_in_a_ring(10, 12), 120, seed=seed)
    assert found == [node // 12 for node in range(120)]


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found(way: Callable[..., Labels], seed: int) -> None:
    found = grouped(way, planted(20, 50, 6, 2, seed), 1000, seed=seed)
    assert shared_information(found, [node // 50 for node in range(1000)]) >= 0.9
    assert np.bincount(found).max() <= 100


@pytest.mark.slow
def test_many_planted_groups_are_found() -> None:
    found = grouped(detect_communities, planted(200, 100, 8, 2, seed=7), 20_000)
    assert shared_information(found, [node // 100 for node in range(20_000)]) >= 0.95
    assert np.bincount(found).max() <= 300


def test_a_node_goes_where_the_weight_is(way: Callable[..., Labels]) -> None:
    """Node 3 has two edges of .4 to the left and one of .9 to the right."""
    edges = [*clique(range(3)), *clique(range(4, 7)), (3, 0, 0.4), (3, 1, 0.4), (3, 4, 0.9)]
    found = grouped(way, edges, 7)
    assert found[3] == found[4] != found[0]


def test_weights_that_sum_alike_weigh_alike(way: Callable[..., Labels]) -> None:
    """.1 + .2 is not .3 in floating point, and no side may win by that. Over many seeds each wins about half the time."""
    edges = [*clique(range(3)), *clique(range(4, 7)), (3, 0, 0.1), (3, 1, 0.2), (3, 4, 0.3)]
    wins = [found[3] == found[0] for seed in range(100) for found in [grouped(way, edges, 7, seed=seed)]]
    assert 25 <= sum(wins) <= 75


def test_who_has_no_neighbours_is_alone(way: Callable[..., Labels]) -> None:
    assert grouped(way, [(1, 3, 1.0), (2, 2, 1.0)], 4) == [1, 0, 2, 0]


def test_edges_without_weight_join_nobody(way: Callable[..., Labels]) -> None:
    assert grouped(way, [(0, 1, 0.0), (1, 2, -1.0)], 3) == [0, 1, 2]


def test_without_nodes_there_is_nothing(way: Callable[..., Labels]) -> None:
    assert grouped(way, [], 0) == []


def test_without_rounds_everyone_is_alone(way: Callable[..., Labels]) -> None:
    assert grouped(way, clique(range(3)), 3, rounds=0) == [0, 1, 2]


def test_communities_are_numbered_by_size_then_by_smallest_node() -> None:
    assert number_communities(np.array([4, 9, 9, 2, 2, 9, 7])).tolist() == [2, 0, 0, 1, 1, 0, 3]


@given(graphs(), seeds, st.integers(0, 20))
def test_both_ways_give_the_same_labels(graph: tuple[Edges, int], seed: int, rounds: int) -> None:
    fast, plain = (grouped(way, *graph, seed=seed, rounds=rounds) for way in WAYS)
    assert fast == plain


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_give_the_same_labels_on_a_larger_graph(seed: int) -> None:
    random = Random(seed)
    hubs = [(int(800 * random.random() ** 3), int(800 * random.random() ** 3), random.random()) for _ in range(6000)]
    for edges in (hubs, planted(16, 50, 3, 2, seed)):
        assert grouped(detect_communities, edges, 800, seed=seed) == grouped(
            detect_communities_reference, edges, 800, seed=seed
        )


@given(graphs(), seeds, st.randoms(use_true_random=False))
def test_order_and_direction_of_edges_do_not_matter(graph: tuple[Edges, int], seed: int, random: Random) -> None:
    edges, nodes = graph
    turned = [(b, a, weight) if random.random() < 0.5 else (a, b, weight) for a, b, weight in edges]
    random.shuffle(turned)
    both = [edge for a, b, weight in edges for edge in ((a, b, weight), (b, a, weight))]
    for way in WAYS:
        assert grouped(way, turned, nodes, seed=seed) == grouped(way, edges, nodes, seed=seed)
        assert grouped(way, both, nodes, seed=seed) == grouped(way, edges, nodes, seed=seed)


@given(graphs(), seeds)
def test_nobody_would_rather_be_elsewhere(graph: tuple[Edges, int], seed: int) -> None:
    """In the end each node's own community weighs at least as much with it as any other."""
    edges, nodes = graph
    for way in WAYS:
        found = grouped(way, edges, nodes, seed=seed, rounds=1000)
        votes = np.zeros((nodes, nodes))
        for a, b, weight in edges:
            if a != b and weight > 1e-6:
                votes[a, found[b]] += weight
                votes[b, found[a]] += weight
        assert all(votes[node, found[node]] >= votes[node].max() - 1e-5 for node in range(nodes))


@given(graphs(), seeds)
def test_communities_are_numbered_from_the_largest(graph: tuple[Edges, int], seed: int) -> None:
    for way in WAYS:
        found = grouped(way, *graph, seed=seed)
        order = [(-found.count(number), found.index(number)) for number in range(max(found) + 1)]
        assert order == sorted(order)


@given(graphs(), seeds)
def test_communities_hold_together(graph: tuple[Edges, int], seed: int) -> None:
    """Whoever shares a community can be reached: labels travel along edges only."""
    edges, nodes = graph
    reach = {node: {node} for node in range(nodes)}
    for a, b, weight in edges:
        if weight > 1e-6 and reach[a] is not reach[b]:
            reach[a] |= reach[b]
            for node in reach[b]:
                reach[node] = reach[a]
    for way in WAYS:
        found = grouped(way, edges, nodes, seed=seed)
        assert all(b in reach[a] for a in range(nodes) for b in range(nodes) if found[a] == found[b])
