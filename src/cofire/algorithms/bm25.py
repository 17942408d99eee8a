"""BM25: score the words that a fact shares with a question."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def inverse_document_frequency(facts: int, holding: int) -> float:
    """Inverse document frequency of a word that h of n facts hold: ln(1 + (n − h + ½) / (h + ½)), as in Lucene.

    >>> round(inverse_document_frequency(100, 1), 3), round(inverse_document_frequency(100, 100), 3)
    (4.21, 0.005)
    """
    holding = min(holding, facts)
    return math.log(1 + (facts - holding + 0.5) / (holding + 0.5))


def length_normalisation(lengths: Floats, *, k1: float, b: float, mean_length: float) -> Floats:
    """The length term in the denominator of BM25: k₁(1 − b + b·length/mean).

    >>> length_normalisation(np.array([10.0, 20.0]), k1=0.8, b=0.6, mean_length=10.0).round(3).tolist()
    [0.8, 1.28]
    """
    relative = lengths / mean_length if mean_length > 0 else np.ones(len(lengths))
    return k1 * (1 - b + b * relative)


def term_saturation(counts: Floats, resisting: Floats) -> Floats:
    """Saturated word counts in [0, 1): c / (c + length term) (Robertson, Zaragoza 2009).

    With a column of counts per word, the length terms are a column too.

    >>> term_saturation(np.array([0.0, 1.0, 2.0]), np.array([0.8, 0.8, 0.8])).round(3).tolist()
    [0.0, 0.556, 0.714]
    """
    return counts / np.maximum(counts + resisting, 1e-12)


def bm25_share(saturated: Floats, weights: Sequence[float]) -> Floats:
    """BM25 as a share of the highest possible score, which makes questions of any length comparable: Σ w·s / Σ w.

    >>> bm25_share(np.array([[0.5, 0.0], [0.5, 1.0]]), [1.0, 3.0]).tolist()
    [0.125, 0.875]
    """
    total = sum(weights)
    if total <= 0:
        return np.zeros(len(saturated))
    return np.asarray(np.vecdot(saturated, np.asarray(weights, dtype=np.float64)) / total)
