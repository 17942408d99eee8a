"""Occasions: how feedback on earlier questions acts on later ones that bring the same facts to mind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cofire.asks import Asking
from cofire.dynamics import fusion, hebbian, occasions
from cofire.learned import Occasion
from cofire.learning_asks import Occasions
from cofire.learning_settings import PRIOR_OCCASION
from cofire.settings import Settings
from cofire.verbs.slates import Numbers

# Judged recalls that are looked at, the likest first.
MOST = 100


def helped_before(ids: Sequence[str], scores: Numbers, settings: Settings) -> Asking[dict[str, Numbers]]:
    """What it gives each candidate to have helped on occasions like this one; nothing at all where there was none. `scores` is what
    all else gives."""
    if not settings[PRIOR_OCCASION] or not ids:
        return {}
    best = fusion.best(scores, ids, hebbian.PLACES_COUNT)
    first = frozenset(ids[row] for row in best)
    judged: list[Occasion] = yield Occasions(sorted(first), MOST)
    worth = occasions.worth(first, judged, floor=occasions.FLOOR)
    if worth.keys().isdisjoint(ids):
        return {}
    return {"occasions": settings[PRIOR_OCCASION] * np.array([worth.get(id, 0.0) for id in ids], np.float64)}
