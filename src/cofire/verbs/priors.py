"""Priors: what a fact counts whatever the question is, by its place in the graph and by how it fared. Off unless settings weigh it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cofire.asks import Asking
from cofire.graph_asks import Rated
from cofire.learned import Use
from cofire.learning_asks import Uses
from cofire.learning_settings import PRIOR_PAGERANK, PRIOR_SUCCESS
from cofire.model import Importance
from cofire.settings import Settings
from cofire.verbs.direct import Numbers


def priors(ids: Sequence[str], settings: Settings) -> Asking[dict[str, Numbers]]:
    """What importance and success give each candidate."""
    gives: dict[str, Numbers] = {}
    if settings[PRIOR_PAGERANK]:
        rated: dict[str, Importance] = yield Rated(ids)
        gives["importance"] = settings[PRIOR_PAGERANK] * beside_the_highest(
            np.array([rated[id].pagerank if id in rated else 0.0 for id in ids], np.float64)
        )
    if settings[PRIOR_SUCCESS]:
        fared: dict[str, Use] = yield Uses(ids)
        success = np.array([fared.get(id, Use()).success for id in ids], np.float64)
        gives["success"] = settings[PRIOR_SUCCESS] * (2 * success - 1)
    return gives


def beside_the_highest(values: Numbers) -> Numbers:
    """Values as shares of the highest.

    >>> beside_the_highest(np.array([0.1, 0.4])).tolist()
    [0.25, 1.0]
    """
    return np.asarray(values / max(float(values.max(initial=0.0)), 1e-12))
