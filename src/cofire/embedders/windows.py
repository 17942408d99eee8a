"""Long texts: cut into windows a model can read, and one vector made of theirs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cofire.embedders.base import Vectors
from cofire.embedders.centring import unit


def windows(tokens: Sequence[int], *, size: int, overlap: int) -> list[Sequence[int]]:
    """Consecutive windows that share `overlap` tokens, so that no sentence is known only by its halves.

    >>> windows([1, 2, 3, 4, 5], size=3, overlap=1)
    [[1, 2, 3], [3, 4, 5]]
    """
    starts = range(0, max(len(tokens) - overlap, 1), size - overlap)
    return [tokens[start : start + size] for start in starts]


def pooled(vectors: Vectors, lengths: Sequence[int]) -> Vectors:
    """The windows' unit vectors averaged by length: unit(Σ length · vector).

    >>> pooled(np.eye(2, dtype=np.float32), [0, 4]).tolist()
    [0.0, 1.0]
    """
    weights = np.asarray(lengths, np.float32)[:, None]
    return unit((vectors * weights).sum(axis=0))
