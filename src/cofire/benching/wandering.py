"""Personalised PageRank from the best candidates: a baseline to measure recall against. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cofire.stores.base import Network

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# As in HippoRAG: half of the walk begins anew at each step.
DAMPING = 0.5
TOLERANCE = 1e-6
ROUNDS = 50


def personalised_pagerank(
    source: Ints, target: Ints, weight: Floats, restart: Floats, *, damping: float, tolerance: float, rounds: int
) -> Floats:
    """Where a walk is that begins anew at the seeds (Haveliwala 2002; over passages and names, HippoRAG 2024); all together 1.

    rank(v) = (1 − d)·r(v) + d·(Σ_{u→v} rank(u)·w(u, v)/Σ_x w(u, x) + r(v)·Σ_{u without edges} rank(u))

    In A–B from the seed A with d = ½, rank(A) = ½ + ½·rank(B) and rank(B) = ½·rank(A):

    >>> there, back = np.array([0, 1]), np.array([1, 0])
    >>> restart = np.array([1.0, 0.0])
    >>> personalised_pagerank(there, back, np.ones(2), restart, damping=0.5, tolerance=1e-9, rounds=100).round(
    ...     4
    ... ).tolist()
    [0.6667, 0.3333]
    """
    given = np.bincount(source, weights=weight, minlength=len(restart))
    share = np.divide(weight, given[source], out=np.zeros(len(source)), where=given[source] > 0)
    at_an_end = given <= 0
    ranks = restart
    for _ in range(rounds):
        followed = np.bincount(target, weights=ranks[source] * share, minlength=len(restart))
        anew = 1 - damping + damping * float(ranks[at_an_end].sum())
        before, ranks = ranks, anew * restart + damping * followed
        if np.abs(ranks - before).sum() < tolerance:
            break
    return ranks


def wander(network: Network, seeds: Mapping[str, float], most: int) -> list[str]:
    """The facts at which a walk from weighted seeds is most often, best first; the seeds alone where nothing connects them."""
    row = {id: at for at, id in enumerate(network.ids)}
    restart = np.zeros(len(network.ids))
    for id, worth in seeds.items():
        if id in row:
            restart[row[id]] = worth
    if restart.sum() <= 0:
        return list(seeds)[:most]
    ranks = personalised_pagerank(
        network.source,
        network.target,
        network.weight.astype(np.float64),
        restart / restart.sum(),
        damping=DAMPING,
        tolerance=TOLERANCE,
        rounds=ROUNDS,
    )
    best = np.argsort(-ranks, kind="stable")[:most]
    return [network.ids[at] for at in best if ranks[at] > 0]


def side_by_side(networks: Sequence[Network]) -> Network:
    """Networks of several scopes as one, with no edge between them."""
    if len(networks) == 1:
        return networks[0]
    begins = np.cumsum([0, *(len(one.ids) for one in networks)])[:-1]
    return Network(
        tuple(id for one in networks for id in one.ids),
        np.concatenate([one.source + begin for one, begin in zip(networks, begins, strict=True)]),
        np.concatenate([one.target + begin for one, begin in zip(networks, begins, strict=True)]),
        np.concatenate([one.weight for one in networks]),
    )
