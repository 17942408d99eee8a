"""PageRank: the importance of a fact by the edges that lead to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def pagerank(
    source: Ints, target: Ints, weight: Floats, nodes: int, *, damping: float, tolerance: float, rounds: int
) -> Floats:
    """The share of a random walk that is at each node (Page 1998; 000, GraphAnalyzer); all together 1.

    rank(v) = (1 − d)/n + d·(Σ_{u→v} rank(u)·w(u, v)/Σ_x w(u, x) + Σ_{u without edges} rank(u)/n)

    The walk follows edges by their weight with probability d and begins anywhere otherwise, as it does where no edge leads
    on. Weights are not negative; an edge without direction is given twice. It ends when a round moves less than
    `tolerance` in all, or after `rounds`: what is left to move shrinks by d a round at least. In the chain A–B–C
    B has .135/.2775 and A has .05 + .425·B:

    >>> there, back = np.array([0, 1]), np.array([1, 2])
    >>> source, target = np.concatenate([there, back]), np.concatenate([back, there])
    >>> pagerank(source, target, np.ones(4), 3, damping=0.85, tolerance=1e-9, rounds=200).round(4).tolist()
    [0.2568, 0.4865, 0.2568]
    """
    if nodes == 0:
        return np.zeros(0)
    given = np.bincount(source, weights=weight, minlength=nodes)
    share = np.divide(weight, given[source], out=np.zeros(len(weight)), where=given[source] > 0)
    at_an_end = np.flatnonzero(given <= 0)
    ranks = np.full(nodes, 1 / nodes)
    for _ in range(rounds):
        followed = np.bincount(target, weights=ranks[source] * share, minlength=nodes)
        anywhere = (1 - damping + damping * ranks[at_an_end].sum()) / nodes
        before, ranks = ranks, anywhere + damping * followed
        if np.abs(ranks - before).sum() < tolerance:
            break
    return ranks


def pagerank_reference(
    source: Ints, target: Ints, weight: Floats, nodes: int, *, damping: float, tolerance: float, rounds: int
) -> Floats:
    """The same, edge by edge: the definition that `pagerank` must agree with."""
    edges = list(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))
    given = [0.0] * nodes
    for giver, _, part in edges:
        given[giver] += part
    ranks = [1 / nodes for _ in range(nodes)]
    for _ in range(rounds):
        stranded = sum(rank for rank, out in zip(ranks, given, strict=True) if out <= 0)
        following = [(1 - damping + damping * stranded) / nodes for _ in range(nodes)]
        for giver, taker, part in edges:
            following[taker] += damping * ranks[giver] * part / given[giver] if given[giver] > 0 else 0.0
        moved = sum(abs(new - old) for new, old in zip(following, ranks, strict=True))
        ranks = following
        if moved < tolerance:
            break
    return np.array(ranks)
