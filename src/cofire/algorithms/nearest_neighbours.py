"""Nearest neighbours of many vectors at once, exact or by cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import descending_keys, positions_in_groups, sort_order
from cofire.index.native import LIBRARY
from cofire.index.native_vectors import NO_NEIGHBOUR, Shortlist

Matrix = NDArray[np.float32]
Rows = NDArray[np.int64]

BLOCK_ROWS = 512
# The threads of BLAS wait for each other after each product, so that few large ones are quicker than many small ones.
NATIVE_BLOCK_ROWS = 2_048
CELL_SIZE = 256
PROBED_CELLS = 6


@dataclass(frozen=True)
class NeighbourPairs:
    """Each wanted row with its neighbours: parallel arrays of rows and their cosines."""

    left: Rows
    right: Rows
    cosines: Matrix


def find_nearest_pairs(vectors: Matrix, wanted: Rows, k: int, *, exact_up_to: int) -> NeighbourPairs:
    """For every wanted row of unit vectors its k nearest other rows.

    Beyond `exact_up_to` rows, vectors are sorted into cells of a few hundred around chance centres, and only the cells nearest
    to a row are looked at, so that the work grows with the number of rows and not with its square.

    >>> found = find_nearest_pairs(np.array([[1, 0], [0.9, 0.1], [0, 1]], np.float32), np.array([0]), 1, exact_up_to=10)
    >>> found.left.tolist(), found.right.tolist()
    ([0], [1])
    """
    if len(vectors) < 2 or not len(wanted) or k < 1:
        return NeighbourPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    if len(vectors) <= exact_up_to:
        return _search_exactly(vectors, wanted, min(k, len(vectors) - 1))
    return _search_by_cells(vectors, wanted, k)


def _search_exactly(vectors: Matrix, wanted: Rows, k: int) -> NeighbourPairs:
    return _search_blocks(vectors, wanted, [(np.arange(len(wanted)), np.arange(len(vectors)))], k)


def _search_by_cells(vectors: Matrix, wanted: Rows, k: int) -> NeighbourPairs:
    centres = _compute_centres(vectors, max(2, len(vectors) // CELL_SIZE))
    probes = min(PROBED_CELLS, len(centres))
    home, near = _assign_cells(vectors, centres, wanted, probes)
    order = np.argsort(home, kind="stable")
    starts = np.searchsorted(home[order], np.arange(len(centres) + 1))
    visits = np.argsort(near.ravel(), kind="stable")
    bounds = np.searchsorted(near.ravel()[visits], np.arange(len(centres) + 1))
    cells = (
        (visits[bounds[cell] : bounds[cell + 1]] // probes, order[starts[cell] : starts[cell + 1]])
        for cell in range(len(centres))
    )
    return _search_blocks(vectors, wanted, cells, k)


def _search_blocks(vectors: Matrix, wanted: Rows, cells: Iterable[tuple[Rows, Rows]], k: int) -> NeighbourPairs:
    """The k nearest of each wanted row. For each cell: who looks into it, as places among the wanted, and the rows inside."""
    if LIBRARY is not None:
        return _search_blocks_native(vectors, wanted, cells, k)
    parts = [
        _best_of_block(vectors, wanted[block], inside, min(k, len(inside)))
        for looking, inside in cells
        for block in _split_rows(looking, BLOCK_ROWS)
        if len(inside)
    ]
    return _best_of_each_row(_concatenate_pairs(parts), k)


def _search_blocks_native(vectors: Matrix, wanted: Rows, cells: Iterable[tuple[Rows, Rows]], k: int) -> NeighbourPairs:
    """The same in C."""
    found = Shortlist(len(wanted), k)
    for looking, inside in cells:
        among = vectors[inside].T
        for block in _split_rows(looking, NATIVE_BLOCK_ROWS):
            found.keep(vectors[wanted[block]] @ among, inside, block, wanted[block])
    there = found.who != NO_NEIGHBOUR
    return NeighbourPairs(np.repeat(wanted, k)[there.ravel()], found.who[there], found.best[there])


def _assign_cells(vectors: Matrix, centres: Matrix, wanted: Rows, probes: int) -> tuple[Rows, Rows]:
    """The cell of every row, and the cells to look at for the wanted ones, which are mostly all, so that both come from one product."""
    if LIBRARY is not None:
        return _assign_cells_native(vectors, centres, wanted, probes)
    home = np.empty(len(vectors), np.int64)
    near = np.empty((len(vectors), probes), np.int64)
    asked = np.zeros(len(vectors), np.bool_)
    asked[wanted] = True
    for rows in _split_rows(np.arange(len(vectors)), BLOCK_ROWS):
        likeness = vectors[rows] @ centres.T
        home[rows] = np.argmax(likeness, axis=1)
        some = asked[rows]
        near[rows[some]] = np.argpartition(-likeness[some], probes - 1, axis=1)[:, :probes]
    return home, near[wanted]


def _assign_cells_native(vectors: Matrix, centres: Matrix, wanted: Rows, probes: int) -> tuple[Rows, Rows]:
    """The same in C."""
    found, cells = Shortlist(len(vectors), probes), np.arange(len(centres))
    for rows in _split_rows(np.arange(len(vectors)), NATIVE_BLOCK_ROWS):
        found.keep(vectors[rows[0] : rows[-1] + 1] @ centres.T, cells, rows, np.full(len(rows), NO_NEIGHBOUR))
    return found.who[:, 0], found.who[wanted]


def _compute_centres(vectors: Matrix, count: int) -> Matrix:
    """Every so-many-th vector, moved once to the middle of those nearest to it among a sample."""
    centres = vectors[:: max(1, len(vectors) // count)][:count].copy()
    sample = vectors[:: max(1, len(vectors) // (16 * count))]
    home = np.concatenate(
        [np.argmax(sample[rows] @ centres.T, axis=1) for rows in _split_rows(np.arange(len(sample)), BLOCK_ROWS)]
    )
    np.add.at(centres, home, sample)
    return np.asarray(centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12), np.float32)


def _best_of_block(vectors: Matrix, rows: Rows, among: Rows, k: int) -> NeighbourPairs:
    """The k best of `among` for each row, itself left out."""
    cosines = vectors[rows] @ vectors[among].T
    cosines[rows[:, None] == among[None, :]] = -np.inf
    k = min(k, len(among))
    best = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
    held = np.take_along_axis(cosines, best, axis=1).ravel()
    real = np.isfinite(held)
    return NeighbourPairs(np.repeat(rows, k)[real], among[best.ravel()][real], held[real].astype(np.float32))


def _best_of_each_row(pairs: NeighbourPairs, k: int) -> NeighbourPairs:
    """The k best of each left row."""
    order = sort_order(pairs.left, descending_keys(pairs.cosines))
    kept = order[positions_in_groups(pairs.left[order]) < k]
    return NeighbourPairs(pairs.left[kept], pairs.right[kept], pairs.cosines[kept])


def _concatenate_pairs(parts: list[NeighbourPairs]) -> NeighbourPairs:
    return NeighbourPairs(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.cosines for part in parts]),
    )


def _split_rows(rows: Rows, size: int) -> list[Rows]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
