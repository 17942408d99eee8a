"""PageRank: the importance of a fact by the edges that lead to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def pagerank(
    source: Ints, target: Ints, weight: Floats, nodes: int, *, damping: float, tolerance: float, rounds: int
) -> Floats:
    """The share of a random walk that is at each node (Page 1998; 000, GraphAnalyzer). The sum is 1.

    rank(v) = (1 − d)/n + d·(Σ_{u→v} rank(u)·w(u, v)/Σ_x w(u, x) + Σ_{u without edges} rank(u)/n)

    The walk follows edges by weight with probability d. Otherwise, and from nodes without edges, it restarts
    at a random node. Weights are not negative; an undirected edge is given in both directions. The iteration
    ends when a round changes less than `tolerance` in all, or after `rounds`. In the chain A–B–C
    B has .135/.2775 and A has .05 + .425·B:

    >>> there, back = np.array([0, 1]), np.array([1, 2])
    >>> source, target = np.concatenate([there, back]), np.concatenate([back, there])
    >>> pagerank(source, target, np.ones(4), 3, damping=0.85, tolerance=1e-9, rounds=200).round(4).tolist()
    [0.2568, 0.4865, 0.2568]
    """
    if nodes == 0:
        return np.zeros(0)
    out_weight = np.bincount(source, weights=weight, minlength=nodes)
    source_weight = out_weight[source]
    share = np.divide(weight, source_weight, out=np.zeros(len(weight)), where=source_weight > 0)
    dangling = np.flatnonzero(out_weight <= 0)
    ranks = np.full(nodes, 1 / nodes)
    for _ in range(rounds):
        followed = np.bincount(target, weights=ranks[source] * share, minlength=nodes)
        restarted = (1 - damping + damping * ranks[dangling].sum()) / nodes
        previous = ranks
        ranks = restarted + damping * followed
        if np.abs(ranks - previous).sum() < tolerance:
            break
    return ranks


def pagerank_reference(
    source: Ints, target: Ints, weight: Floats, nodes: int, *, damping: float, tolerance: float, rounds: int
) -> Floats:
    """The same, edge by edge: the definition that `pagerank` must agree with."""
    edges = list(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))
    out_weight = [0.0] * nodes
    for start, _, edge_weight in edges:
        out_weight[start] += edge_weight
    ranks = [1 / nodes for _ in range(nodes)]
    for _ in range(rounds):
        dangling = sum(rank for rank, weight_out in zip(ranks, out_weight, strict=True) if weight_out <= 0)
        new_ranks = [(1 - damping + damping * dangling) / nodes for _ in range(nodes)]
        for start, end, edge_weight in edges:
            if out_weight[start] > 0:
                new_ranks[end] += damping * ranks[start] * edge_weight / out_weight[start]
        change = sum(abs(new - old) for new, old in zip(new_ranks, ranks, strict=True))
        ranks = new_ranks
        if change < tolerance:
            break
    return np.array(ranks)
