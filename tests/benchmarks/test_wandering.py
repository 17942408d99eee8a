"""The PageRank baseline is PageRank."""

import networkx
import numpy as np
import pytest

from cofire.evaluation.baselines import join_networks, personalised_pagerank, rank_by_pagerank
from cofire.stores.base import ScopeGraph


def network(ids: str, *pairs: str) -> ScopeGraph:
    """Facts with one letter each, linked both ways."""
    both = [(one, other) for pair in pairs for one, other in (pair, pair[::-1])]
    source, target = (np.array([ids.index(pair[side]) for pair in both], np.int64) for side in (0, 1))
    return ScopeGraph(tuple(ids), source, target, np.ones(len(both), np.float32))


def test_it_agrees_with_networkx() -> None:
    one = network("abcdef", "ab", "bc", "cd", "ad")
    restart = np.array([0.75, 0.0, 0.0, 0.0, 0.25, 0.0])
    ours = personalised_pagerank(
        one.source, one.target, one.weight.astype(np.float64), restart, damping=0.5, tolerance=1e-12, rounds=500
    )
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(6))
    graph.add_edges_from(zip(one.source.tolist(), one.target.tolist(), strict=True))
    step = networkx.google_matrix(graph, alpha=0.5, personalization=dict(enumerate(restart)))
    theirs = np.linalg.matrix_power(step, 200)[0]
    assert ours.tolist() == pytest.approx([theirs[at] for at in range(6)], abs=1e-9)


def test_what_seeds_lead_to_comes_before_what_nothing_leads_to() -> None:
    assert rank_by_pagerank(network("abcd", "ab", "bc"), {"a": 1.0}, 10) == ["a", "b", "c"]


def test_seeds_that_nothing_connects_come_back_themselves() -> None:
    assert rank_by_pagerank(network("ab"), {"z": 1.0, "y": 0.5}, 1) == ["z"]


def test_networks_stand_side_by_side_without_an_edge_between() -> None:
    both = join_networks([network("ab", "ab"), network("cd", "cd")])
    assert both.ids == ("a", "b", "c", "d")
    assert (both.source.tolist(), both.target.tolist()) == ([0, 1, 2, 3], [1, 0, 3, 2])
