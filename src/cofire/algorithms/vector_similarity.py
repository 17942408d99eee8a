"""Vector similarity: centred cosines, their chance level and geodesic similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import widen_half_floats
from cofire.index import native

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Rows of a larger table, not copied: row n is `table[at[n]]`, in single or half precision."""

    table: NDArray[np.float32] | NDArray[np.float16]
    at: NDArray[np.int64]

    @classmethod
    def of(cls, vectors: NDArray[np.float32] | NDArray[np.float16]) -> VectorRows:
        """All rows of a table."""
        return cls(vectors, np.arange(len(vectors)))

    @property
    def gathered(self) -> NDArray[np.float32]:
        """A copy of the rows, in single precision."""
        vectors: NDArray[Any] = self.table.take(self.at, axis=0)
        return widen_half_floats(vectors) if vectors.dtype == np.float16 else vectors


def normalise_vectors(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows scaled to length 1. A row of zeros stays as it is."""
    # The same as np.linalg.norm, without its overhead.
    length = np.sqrt(np.add.reduce(vectors * vectors, axis=-1, keepdims=True))
    if vectors.ndim > 1 or not length[0] > 0:
        length = np.where(length > 0, length, 1)
    return (vectors / length).astype(np.float32, copy=False)


def dot_products(vectors: NDArray[np.float32], axes: NDArray[np.float32]) -> NDArray[np.float32]:
    """The dot product of every vector with every axis: a row per axis, a column per vector.

    Not a matrix product: BLAS threads cost more than they save for so little work.

    >>> dot_products(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[1.0], [3.0]]
    """
    return np.asarray(np.vecdot(vectors[:, None, :], axes).T)


def centre_vectors(vectors: NDArray[np.floating], mean: NDArray[np.floating]) -> NDArray[np.float32]:
    """Vectors relative to the model's mean: (v − mean) / |v − mean|, so that cosines of unrelated texts are near 0.

    >>> centre_vectors(np.array([[1.0, 1.0]]), np.array([1.0, 0.0])).tolist()
    [[0.0, 1.0]]
    """
    return normalise_vectors(vectors.astype(np.float32, copy=False) - mean.astype(np.float32, copy=False))


def stack_query_axes(
    question: NDArray[np.floating], mean: NDArray[np.floating], plain: NDArray[np.floating]
) -> NDArray[np.float32]:
    """The axes for dot products, a row each: the centred question, the model's mean, the plain question."""
    return np.stack([question, mean, plain]).astype(np.float32, copy=False)


def cosine_spread(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> tuple[float, float]:
    """Mean and deviation of the centred cosines between different rows.

    >>> cosine_spread(np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32), np.zeros(2, np.float32))
    (-1.0, 0.0)
    """
    centred = centre_vectors(vectors, mean)
    cosines = (centred @ centred.T)[~np.eye(len(centred), dtype=bool)]
    return float(cosines.mean()), float(cosines.std())


def centred_cosines(rows: VectorRows, question: NDArray[np.float32], mean: NDArray[np.float32]) -> Floats:
    """Centred cosines with a centred question, without centring every vector: (v·q − m·q) / |v − m|.

    >>> rows = VectorRows.of(np.array([[1.0, 1.0], [1.0, 0.0]], np.float32))
    >>> centred_cosines(rows, np.array([0.0, 1.0]), np.array([1.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    axes, embedded = stack_query_axes(question, mean, question), np.ones(len(rows.at), np.bool_)
    alone = np.zeros((len(rows.at), 0), np.int32)
    return context_cosines(rows, embedded, axes, alone, np.zeros(alone.shape))[0]


def context_cosines(
    rows: VectorRows, embedded: NDArray[np.bool_], axes: NDArray[np.float32], turns: NDArray[np.int32], weights: Floats
) -> tuple[Floats, Floats]:
    """Centred cosines of facts with the context of their turns, and plain cosines of the facts alone.

    The first rows are the facts. `turns` has a row per fact with the rows of its turns, -1 for none, and
    `weights` their weights.

    >>> rows = VectorRows.of(np.array([[1.0, 0.0], [0.0, 2.0]], np.float32))
    >>> axes = stack_query_axes(np.array([1.0, 0.0]), np.zeros(2), np.array([1.0, 0.0]))
    >>> context_cosines(rows, np.ones(2, bool), axes, np.array([[1]], np.int32), np.ones((1, 1)))[0].round(3).tolist()
    [0.707]
    """
    return native.context_cosines(rows.table, rows.at, embedded, axes=axes, turns=turns, weights=weights)


def standardise_cosines(cosines: Floats, by_chance: Floats, *, resting: tuple[float, float], least: int) -> Floats:
    """Cosines in deviations above chance: (c − mean) / deviation of the cosines of random facts of the scope.

    With fewer than `least` chance values, the model's resting mean and deviation are used. The deviation is
    at least a fifth of the model's, for scopes whose facts are all similar.

    >>> standardise_cosines(np.array([0.5]), np.array([]), resting=(0.1, 0.2), least=8).tolist()
    [2.0]
    """
    mean, deviation = cosine_baseline(by_chance, resting=resting, least=least)
    return (cosines - mean) / deviation


def cosine_baseline(by_chance: Floats, *, resting: tuple[float, float], least: int) -> tuple[float, float]:
    """The mean and the deviation of cosines by chance.

    >>> cosine_baseline(np.array([]), resting=(0.1, 0.2), least=8)
    (0.1, 0.2)
    """
    mean, deviation = _mean_and_deviation(by_chance) if len(by_chance) >= least else resting
    return mean, max(deviation, resting[1] / 5, 1e-6)


def _mean_and_deviation(values: Floats) -> tuple[float, float]:
    """Mean and deviation, without the overhead of numpy's functions.

    >>> _mean_and_deviation(np.array([1.0, 3.0]))
    (2.0, 1.0)
    """
    mean = float(np.add.reduce(values)) / len(values)
    differences = values - mean
    return mean, float(np.vecdot(differences, differences) / len(values)) ** 0.5


def geodesic_similarity(cosines: Floats) -> Floats:
    """Closeness as the angle on the unit sphere: 1 − arccos(c)/π, called Fisher-Rao in 000.

    >>> geodesic_similarity(np.array([1.0, 0.0, -1.0])).tolist()
    [1.0, 0.5, 0.0]
    """
    return 1 - np.arccos(np.clip(cosines, -1.0, 1.0)) / np.pi
