"""Bridges: few, weak, and between the closest pairs of communities (000, Auto-Linking)."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.bridge_discovery import CommunityBridge, find_community_bridges

Pairs = list[tuple[int, int, float]]

THREE_TRIANGLES = [0, 0, 0, 1, 1, 1, 2, 2, 2]


def laid(
    community: list[int],
    pairs: Pairs,
    *,
    standing: list[tuple[int, int]] | None = None,
    floor: float = 0.3,
    smallest: int = 1,
    most: int = 10,
) -> tuple[CommunityBridge, ...]:
    a, b = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
    c, d = (np.array([pair[end] for pair in standing or []], dtype=np.int64) for end in (0, 1))
    return find_community_bridges(
        np.array(community, dtype=np.int64),
        (a, b),
        np.array([pair[2] for pair in pairs], dtype=np.float64),
        standing=(c, d),
        floor=floor,
        smallest=smallest,
        share=0.5,
        ceiling=0.3,
        most=most,
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[int], Pairs]:
    community = draw(st.lists(st.integers(0, 4), min_size=1, max_size=15))
    nodes = st.integers(0, len(community) - 1)
    cosines = st.sampled_from([-0.2, 0.2, 0.3, 0.4, 0.5, 0.9])
    return community, draw(st.lists(st.tuples(nodes, nodes, cosines), max_size=30))


def test_a_bridge_joins_the_closest_pair() -> None:
    assert laid(THREE_TRIANGLES, [(0, 3, 0.4), (1, 4, 0.5), (2, 5, 0.3)]) == (CommunityBridge(1, 4, 0.25),)


def test_each_two_communities_get_one_the_closest_first() -> None:
    found = laid(THREE_TRIANGLES, [(0, 3, 0.4), (1, 7, 0.5), (8, 4, 0.44)])
    assert found == (CommunityBridge(1, 7, 0.25), CommunityBridge(4, 8, 0.22), CommunityBridge(0, 3, 0.2))


def test_a_bridge_is_weak_however_close_its_ends() -> None:
    assert laid(THREE_TRIANGLES, [(0, 3, 0.95)]) == (CommunityBridge(0, 3, 0.3),)


def test_no_more_than_the_most_are_laid() -> None:
    assert laid(THREE_TRIANGLES, [(0, 3, 0.4), (1, 7, 0.5)], most=1) == (CommunityBridge(1, 7, 0.25),)
    assert laid(THREE_TRIANGLES, [(0, 3, 0.4)], most=0) == ()


def test_what_is_too_far_apart_stays_apart() -> None:
    assert laid(THREE_TRIANGLES, [(0, 3, 0.29), (1, 7, 0.3)]) == (CommunityBridge(1, 7, 0.15),)


def test_within_a_community_no_bridge_is_needed() -> None:
    assert laid(THREE_TRIANGLES, [(0, 1, 0.9)]) == ()


@pytest.mark.parametrize("standing", [(2, 5), (5, 2)])
def test_communities_that_are_joined_get_no_second_bridge(standing: tuple[int, int]) -> None:
    found = laid(THREE_TRIANGLES, [(0, 3, 0.9), (1, 7, 0.5)], standing=[standing])
    assert found == (CommunityBridge(1, 7, 0.25),)


def test_small_communities_are_passed_over() -> None:
    assert laid([0, 0, 1, 1, 2], [(0, 4, 0.9), (1, 2, 0.4)], smallest=2) == (CommunityBridge(1, 2, 0.2),)


def test_of_equally_close_pairs_the_smaller_nodes_win() -> None:
    assert laid(THREE_TRIANGLES, [(1, 3, 0.5), (5, 0, 0.5), (4, 0, 0.5)]) == (CommunityBridge(0, 4, 0.25),)


def test_without_facts_there_is_nothing_to_join() -> None:
    assert laid([], []) == ()


@given(worlds(), st.integers(0, 5), st.integers(1, 3))
def test_bridges_are_those_of_the_plain_definition(world: tuple[list[int], Pairs], most: int, smallest: int) -> None:
    community, pairs = world
    closest: dict[frozenset[int], tuple[float, int, int]] = {}
    for a, b, cosine in pairs:
        sides = frozenset([community[a], community[b]])
        if len(sides) == 2 and cosine >= 0.3 and all(community.count(side) >= smallest for side in sides):
            closest[sides] = min(closest.get(sides, (0.0, 0, 0)), (-cosine, min(a, b), max(a, b)))
    expected = [CommunityBridge(a, b, min(0.3, 0.5 * -cosine)) for cosine, a, b in sorted(closest.values())[:most]]
    assert list(laid(community, pairs, most=most, smallest=smallest)) == expected


@given(worlds(), st.randoms(use_true_random=False))
def test_order_of_pairs_does_not_matter(world: tuple[list[int], Pairs], random: Random) -> None:
    community, pairs = world
    turned = [(b, a, cosine) for a, b, cosine in random.sample(pairs, len(pairs))]
    assert laid(community, turned) == laid(community, pairs)


@given(worlds())
def test_once_laid_no_further_bridge_is_needed(world: tuple[list[int], Pairs]) -> None:
    community, pairs = world
    found = laid(community, pairs, most=100)
    assert laid(community, pairs, standing=[(bridge.a, bridge.b) for bridge in found]) == ()
