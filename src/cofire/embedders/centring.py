"""Lengths of vectors, and the point from which a model's vectors are looked at. Pure, but for asking an embedder."""

from __future__ import annotations

import numpy as np

from cofire.embedders.base import Embedder, Vectors
from cofire.embedders.calibration import TEXTS

_TINY = np.float32(1e-12)


def unit(vectors: Vectors) -> Vectors:
    """Each row scaled to length 1; a row of zeros stays as it is.

    >>> unit(np.array([[0.0, 4.0], [0.0, 0.0]], np.float32)).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    lengths = np.sqrt(np.square(vectors).sum(axis=-1, keepdims=True))
    scaled: Vectors = vectors / np.maximum(lengths, _TINY)
    return scaled


def centred(vectors: Vectors, mean: Vectors) -> Vectors:
    """unit(v − mean): without what all texts of a model have in common, unrelated ones are near 0.

    The first half of "all-but-the-top" (Mu & Viswanath, 2018).

    >>> centred(np.array([[1.0, 0.5]], np.float32), np.array([1.0, 0.0], np.float32)).tolist()
    [[0.0, 1.0]]
    """
    return unit(vectors - mean)


def spread(vectors: Vectors, mean: Vectors) -> tuple[float, float]:
    """Mean and deviation of the centred cosines between different rows.

    >>> spread(np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32), np.zeros(2, np.float32))
    (-1.0, 0.0)
    """
    seen = centred(vectors, mean)
    cosines = (seen @ seen.T)[~np.eye(len(seen), dtype=bool)]
    return float(cosines.mean()), float(cosines.std())


def measure(embedder: Embedder) -> tuple[Vectors, tuple[float, float]]:
    """A model's resting vector, the mean over the calibration texts, and their spread around it."""
    vectors = embedder.embed(TEXTS, "fact")
    mean: Vectors = vectors.mean(axis=0)
    return mean, spread(vectors, mean)
