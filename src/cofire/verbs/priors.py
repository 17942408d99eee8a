"""Priors: what a fact counts whatever the question is, by its place in the graph and by how it fared. Off unless settings weigh it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking
from cofire.dynamics import fusion, walking
from cofire.graph_asks import Rated
from cofire.learned import Use
from cofire.learning_asks import Uses
from cofire.learning_settings import PRIOR_COMMUNITY, PRIOR_PAGERANK, PRIOR_SUCCESS
from cofire.model import Importance
from cofire.settings import Settings
from cofire.verbs.slates import Numbers

# The facts whose communities count, and how much score makes one of them count e times less.
LEADING, SOFTNESS = 10, 0.5


def priors(ids: Sequence[str], so_far: Mapping[str, Numbers], settings: Settings) -> Asking[dict[str, Numbers]]:
    """What importance, company and success give each candidate, beside what all else gives so far."""
    gives: dict[str, Numbers] = {}
    if settings[PRIOR_PAGERANK] or settings[PRIOR_COMMUNITY]:
        rated: dict[str, Importance] = yield Rated(ids)
        if settings[PRIOR_PAGERANK]:
            gives["importance"] = settings[PRIOR_PAGERANK] * beside_the_highest(central(ids, rated))
        if settings[PRIOR_COMMUNITY]:
            groups = np.array([rated[id].community if id in rated else -1 for id in ids], np.int64)
            gives["community"] = settings[PRIOR_COMMUNITY] * company(groups, _warm(ids, so_far))
    if settings[PRIOR_SUCCESS]:
        fared: dict[str, Use] = yield Uses(ids)
        success = np.array([fared.get(id, Use()).success for id in ids], np.float64)
        gives["success"] = settings[PRIOR_SUCCESS] * (2 * success - 1)
    return gives


def central(ids: Sequence[str], rated: Mapping[str, Importance]) -> Numbers:
    """The PageRank of facts, 0 where none is known."""
    return np.array([rated[id].pagerank if id in rated else 0.0 for id in ids], np.float64)


def _warm(ids: Sequence[str], so_far: Mapping[str, Numbers]) -> Numbers:
    """How much the best facts count beside the very best; all others nothing."""
    scores = np.asarray(sum(so_far.values(), np.zeros(len(ids))))
    best = fusion.best(scores, ids, LEADING)
    warm = np.zeros(len(ids))
    warm[best] = walking.warmth(scores[best], softness=SOFTNESS)
    return warm


def beside_the_highest(values: Numbers) -> Numbers:
    """Values as shares of the highest.

    >>> beside_the_highest(np.array([0.1, 0.4])).tolist()
    [0.25, 1.0]
    """
    return np.asarray(values / max(float(values.max(initial=0.0)), 1e-12))


def company(groups: NDArray[np.int64], warm: Numbers) -> Numbers:
    """How much of the warmth of all others is in the group of each fact; below 0 is no group.

    >>> company(np.array([1, 1, 2, -1]), np.array([0.5, 0.0, 0.25, 0.25])).tolist()
    [0.0, 0.5, 0.0, 0.0]
    """
    _, group = np.unique(groups, return_inverse=True)
    others = np.bincount(group, warm)[group] - warm
    return np.where(groups < 0, 0.0, others / np.maximum(warm.sum() - warm, 1e-12))
