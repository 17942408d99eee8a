"""Onward over stored links: a spread that is followed to its end in one reading, in compiled code. Knows nothing of SQL."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.onward import Journey, Onward
from cofire.kernels.links import Late
from cofire.kernels.onward import gone_on
from cofire.late import LateIds
from cofire.stores.base import Expansion
from cofire.stores.index.adjacency import Adjacency
from cofire.stores.index.base_links import Sieve
from cofire.stores.index.index import Index

Places = NDArray[np.int64]


def followed(index: Index, adjacency: Adjacency, sieve: Sieve, positions: Places, onward: Onward) -> Expansion:
    """Where one comes to who follows links onward from facts at these positions."""
    columns = index.columns
    newest = partial(newest_links, index, adjacency) if adjacency.has_newer else None
    facts, begun = (columns["key"], columns.ground.table), (positions, onward.active)
    told = gone_on(adjacency.compiled(), sieve, facts, onward.manner, begun, newest=newest)
    return Expansion.followed(Journey(LateIds(columns.ground, told.places), adjacency.kinds.words, told))


def newest_links(index: Index, adjacency: Adjacency, keys: list[int]) -> Late | None:
    """Links of these facts that the base does not know, as compiled code takes them; None where there are none."""
    found = adjacency.newer(keys)
    return None if found is None else Late(found, adjacency.kinds.ranks(), index.columns["hash"])
