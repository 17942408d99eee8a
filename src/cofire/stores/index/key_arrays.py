"""Arrays of keys: runs, memberships and counts, in numpy. For rows of links; a fact with very many is looked at by itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofire.stores.index.columns import Mask

Numbers = NDArray[np.int32]
Places = NDArray[np.int64]

# More keys than this are marked in a mask rather than put in order.
CROWDED = 1_024


def among(known: Places, wanted: Places) -> Mask:
    """Which of the wanted are among those that are known."""
    if not len(known):
        return np.zeros(len(wanted), np.bool_)
    known = np.sort(known)
    at = np.searchsorted(known, wanted)
    return np.asarray(known[np.minimum(at, len(known) - 1)] == wanted)


def marked(keys: Numbers, wanted: Places) -> Mask:
    """Which of the wanted are among many keys, without putting them in order."""
    marks = np.zeros(int(wanted.max(initial=0)) + 1, np.bool_)
    marks[keys[keys < len(marks)]] = True
    return marks[wanted]


def different(keys: Numbers) -> int:
    """How many different ones there are."""
    if len(keys) <= CROWDED:
        return len(np.unique(keys))
    marks = np.zeros(int(keys.max()) + 1, np.bool_)
    marks[keys] = True
    return int(np.count_nonzero(marks))


def counted_by_owner(pairs: Places, room: int) -> Places:
    """How many neighbours each owner has, of pairs of owner and neighbour in one number.

    >>> counted_by_owner(np.array([0 << 32 | 7, 2 << 32 | 7, 2 << 32 | 7, 2 << 32 | 8]), 3).tolist()
    [1, 0, 2]
    """
    pairs = np.sort(pairs)
    fresh = np.concatenate([np.ones(min(1, len(pairs)), np.bool_), pairs[1:] != pairs[:-1]])
    return np.bincount(pairs[fresh] >> 32, minlength=room)
