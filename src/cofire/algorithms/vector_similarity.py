"""Vector similarity: centred cosines, their chance level and geodesic similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.index import native_vectors as compiled
from cofire.index.native import LIBRARY

Floats = NDArray[np.float64]

MIN_VECTOR_LENGTH = 1e-6


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Vectors that stand in a larger table, so that nobody need copy them: the n-th is `table[at[n]]`, at single or half precision.
    `known` is what compiled code measured of all rows of the table, if it did."""

    table: NDArray[np.float32] | NDArray[np.float16]
    at: NDArray[np.int64]
    known: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, vectors: NDArray[np.float32] | NDArray[np.float16]) -> VectorRows:
        """All rows of a table."""
        return cls(vectors, np.arange(len(vectors)))

    @property
    def gathered(self) -> NDArray[np.float32]:
        """The same in a table of their own."""
        found: NDArray[Any] = self.table.take(self.at, axis=0)
        return widen_half_floats(found) if found.dtype == np.float16 else found

    @property
    def is_for_c(self) -> bool:
        """Whether compiled code can read the table as it is."""
        kind = self.table.dtype
        return LIBRARY is not None and kind.char in "ef" and kind.isnative and self.table.flags.c_contiguous


def widen_half_floats(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Half precision as single. numpy goes number by number; moving the bits of all at once is five times as fast.

    A half has 5 bits of exponent and 10 of fraction. Shifted by 13 they are those of a single 2¹¹² times too small.

    >>> widen_half_floats(np.array([1.5, -0.25, 6e-8], np.float16)).tolist() == np.array(
    ...     [1.5, -0.25, 6e-8], np.float16
    ... ).tolist()
    True
    """
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _HALF_FLOAT_MASK
    numbers = bits.view(np.float32)
    numbers *= _HALF_FLOAT_SCALE
    return numbers


_HALF_FLOAT_MASK, _HALF_FLOAT_SCALE = np.int32(-0x7000_2000), np.float32(2.0**112)


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
    asked: NDArray[np.floating], mean: NDArray[np.floating], plain: NDArray[np.floating]
) -> NDArray[np.float32]:
    """What vectors are measured along, a row each: a question as seen from the resting point, that point, and the question as it is."""
    found = np.empty((3, len(asked)), np.float32)
    found[0], found[1], found[2] = asked, mean, plain
    return found


def cosine_spread(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> tuple[float, float]:
    """Mean and deviation of the centred cosines between different rows.

    >>> cosine_spread(np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32), np.zeros(2, np.float32))
    (-1.0, 0.0)
    """
    seen = centre_vectors(vectors, mean)
    cosines = (seen @ seen.T)[~np.eye(len(seen), dtype=bool)]
    return float(cosines.mean()), float(cosines.std())


def centred_cosines(rows: VectorRows, asked: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosines as seen from the resting point, without moving every vector there: (v·a − m·a) / |v − m|, a being centred already.

    >>> rows = VectorRows.of(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> centred_cosines(rows, np.array([0.0, 1.0]), np.array([1.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    if rows.is_for_c:
        return compiled.compute_cosines(rows.table, rows.at, stack_query_axes(asked, mean, asked), rows.known)
    vectors = rows.gathered
    towards, on_mean = dot_products(vectors, np.stack([asked, mean]))
    return divide_by_length(
        (towards - float(mean @ asked)).astype(np.float64), distances_from_mean(vectors, on_mean, mean)
    )


def distances_from_mean(
    vectors: NDArray[np.float32], on_mean: NDArray[np.float32], mean: NDArray[np.float32]
) -> NDArray[np.float32]:
    """How far vectors are from the resting point: |v − m| = √(v·v − 2 v·m + m·m), where v·m is known.

    >>> distances_from_mean(np.array([[1.0, 1.0]]), np.array([1.0]), np.array([1.0, 0.0])).tolist()
    [1.0]
    """
    squared = np.vecdot(vectors, vectors) - 2 * on_mean + float(mean @ mean)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def divide_by_length(values: Floats, lengths: NDArray[np.floating]) -> Floats:
    """Values by length; of what has no length, nothing."""
    return np.asarray(np.divide(values, lengths, out=np.zeros(len(values)), where=lengths > MIN_VECTOR_LENGTH))


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
