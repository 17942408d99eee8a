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
    """Vectors in a larger table, which are not copied: the n-th is `table[at[n]]`, at single or half precision."""

    table: NDArray[np.float32] | NDArray[np.float16]
    at: NDArray[np.int64]

    @classmethod
    def of(cls, vectors: NDArray[np.float32] | NDArray[np.float16]) -> VectorRows:
        """All rows of a table."""
        return cls(vectors, np.arange(len(vectors)))

    @property
    def gathered(self) -> NDArray[np.float32]:
        """The same in a table of their own, at single precision."""
        vectors: NDArray[Any] = self.table.take(self.at, axis=0)
        return widen_half_floats(vectors) if vectors.dtype == np.float16 else vectors


def normalise_vectors(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows of length one; a row of nothing stays nothing."""
    # What np.linalg.norm does for this case, without its search for the case.
    length = np.sqrt(np.add.reduce(vectors * vectors, axis=-1, keepdims=True))
    if vectors.ndim > 1 or not length[0] > 0:
        length = np.where(length > 0, length, 1)
    return (vectors / length).astype(np.float32, copy=False)


def dot_products(vectors: NDArray[np.float32], axes: NDArray[np.float32]) -> NDArray[np.float32]:
    """The dot product of every row with every axis: a row an axis, a column a vector.

    Row by row: a product of matrices wakes the threads of BLAS, and for so little work they cost more than they do.

    >>> dot_products(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[1.0], [3.0]]
    """
    return np.asarray(np.vecdot(vectors[:, None, :], axes).T)


def centre_vectors(vectors: NDArray[np.floating], mean: NDArray[np.floating]) -> NDArray[np.float32]:
    """Vectors as seen from the model's resting point: (v − mean) / |v − mean|, so that unrelated texts are near 0.

    >>> centre_vectors(np.array([[1.0, 1.0]]), np.array([1.0, 0.0])).tolist()
    [[0.0, 1.0]]
    """
    return normalise_vectors(vectors.astype(np.float32, copy=False) - mean.astype(np.float32, copy=False))


def stack_query_axes(
    question: NDArray[np.floating], mean: NDArray[np.floating], plain: NDArray[np.floating]
) -> NDArray[np.float32]:
    """What vectors are measured along, a row each: the centred question, the model's resting point, the question as it is."""
    return np.stack([question, mean, plain]).astype(np.float32, copy=False)


def cosine_spread(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> tuple[float, float]:
    """Mean and deviation of the centred cosines between different rows.

    >>> cosine_spread(np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32), np.zeros(2, np.float32))
    (-1.0, 0.0)
    """
    seen = centre_vectors(vectors, mean)
    cosines = (seen @ seen.T)[~np.eye(len(seen), dtype=bool)]
    return float(cosines.mean()), float(cosines.std())


def centred_cosines(rows: VectorRows, question: NDArray[np.float32], mean: NDArray[np.float32]) -> Floats:
    """Cosines with a centred question as seen from the resting point, without moving every vector there: (v·q − m·q) / |v − m|.

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
    """Cosines of facts with what the turns around each mean, centred, and by themselves as the model says.

    The first rows are the facts. `turns` has a row a fact: other rows, -1 for none; `weights` says what each of them counts.

    >>> rows = VectorRows.of(np.array([[1.0, 0.0], [0.0, 2.0]], np.float32))
    >>> axes = stack_query_axes(np.array([1.0, 0.0]), np.zeros(2), np.array([1.0, 0.0]))
    >>> context_cosines(rows, np.ones(2, bool), axes, np.array([[1]], np.int32), np.ones((1, 1)))[0].round(3).tolist()
    [0.707]
    """
    return native.context_cosines(rows.table, rows.at, embedded, axes=axes, turns=turns, weights=weights)


def standardise_cosines(cosines: Floats, by_chance: Floats, *, resting: tuple[float, float], least: int) -> Floats:
    """How far cosines stand out from what a chance fact of the scope has: (c − mean) / deviation.

    With fewer than `least` chance values the model's own resting mean and deviation serve; and where all facts of a scope are
    alike, a fifth of the model's deviation is the least there is.

    >>> standardise_cosines(np.array([0.5]), np.array([]), resting=(0.1, 0.2), least=8).tolist()
    [2.0]
    """
    mean, deviation = cosine_baseline(by_chance, resting=resting, least=least)
    return (cosines - mean) / deviation


def cosine_baseline(by_chance: Floats, *, resting: tuple[float, float], least: int) -> tuple[float, float]:
    """The mean and the deviation from which cosines stand out.

    >>> cosine_baseline(np.array([]), resting=(0.1, 0.2), least=8)
    (0.1, 0.2)
    """
    mean, deviation = _mean_and_deviation(by_chance) if len(by_chance) >= least else resting
    return mean, max(deviation, resting[1] / 5, 1e-6)


def _mean_and_deviation(values: Floats) -> tuple[float, float]:
    """Mean and deviation, without the detours that numpy's own take.

    >>> _mean_and_deviation(np.array([1.0, 3.0]))
    (2.0, 1.0)
    """
    mean = float(np.add.reduce(values)) / len(values)
    away = values - mean
    return mean, float(np.vecdot(away, away) / len(values)) ** 0.5


def geodesic_similarity(cosines: Floats) -> Floats:
    """Closeness as the angle on the unit sphere: 1 − arccos(c)/π, called Fisher-Rao in 000.

    >>> geodesic_similarity(np.array([1.0, 0.0, -1.0])).tolist()
    [1.0, 0.5, 0.0]
    """
    return 1 - np.arccos(np.clip(cosines, -1.0, 1.0)) / np.pi
