"""Nearest neighbours of many vectors at once, exact or by cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.index.native import keep_highest

Matrix = NDArray[np.float32]
Rows = NDArray[np.int64]

# BLAS threads synchronise after each product, so few large products are faster than many small ones.
BLOCK_ROWS = 2_048
NO_NEIGHBOUR = -1
CELL_SIZE = 256
PROBED_CELLS = 6


@dataclass(frozen=True)
class NeighbourPairs:
    """Each wanted row with its neighbours: parallel arrays of rows and their cosines."""

    left: Rows
    right: Rows
    cosines: Matrix


def find_nearest_pairs(vectors: Matrix, wanted: Rows, k: int, *, exact_up_to: int) -> NeighbourPairs:
    """The k nearest other rows of every wanted row of unit vectors.

    Beyond `exact_up_to` rows, vectors are assigned to cells of a few hundred around sampled centres. Only
    the nearest cells of a row are searched, so that the work does not grow with the square of the rows.

    >>> pairs = find_nearest_pairs(np.array([[1, 0], [0.9, 0.1], [0, 1]], np.float32), np.array([0]), 1, exact_up_to=10)
    >>> pairs.left.tolist(), pairs.right.tolist()
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
    """The k nearest of each wanted row. A cell is the indices of the wanted rows that search it, and its own rows."""
    cosines, rows = _make_shortlist(len(wanted), k)
    for searching, members in cells:
        member_vectors = vectors[members].T
        for block in _split_rows(searching, BLOCK_ROWS):
            block_cosines = vectors[wanted[block]] @ member_vectors
            keep_highest(block_cosines, members, owners=block, own_names=wanted[block], best=cosines, best_names=rows)
    is_filled = rows != NO_NEIGHBOUR
    return NeighbourPairs(np.repeat(wanted, k)[is_filled.ravel()], rows[is_filled], cosines[is_filled])


def _make_shortlist(rows: int, most: int) -> tuple[Matrix, Rows]:
    """Empty arrays for the highest cosines of each row and their neighbours."""
    cosines = np.full((rows, most), -np.inf, np.float32)
    neighbours = np.full((rows, most), NO_NEIGHBOUR, np.int64)
    return cosines, neighbours


def _assign_cells(vectors: Matrix, centres: Matrix, wanted: Rows, probes: int) -> tuple[Rows, Rows]:
    """The cell of every row, and the cells to search for the wanted rows. One product serves both: most rows are wanted."""
    cosines, cells = _make_shortlist(len(vectors), probes)
    for rows in _split_rows(np.arange(len(vectors)), BLOCK_ROWS):
        block_cosines = vectors[rows[0] : rows[-1] + 1] @ centres.T
        no_names = np.full(len(rows), NO_NEIGHBOUR)
        keep_highest(
            block_cosines, np.arange(len(centres)), owners=rows, own_names=no_names, best=cosines, best_names=cells
        )
    return cells[:, 0], cells[wanted]


def _compute_centres(vectors: Matrix, count: int) -> Matrix:
    """Vectors at regular steps, each moved once to the mean of its nearest vectors among a sample."""
    centres = vectors[:: max(1, len(vectors) // count)][:count].copy()
    sample = vectors[:: max(1, len(vectors) // (16 * count))]
    home = np.concatenate(
        [np.argmax(sample[rows] @ centres.T, axis=1) for rows in _split_rows(np.arange(len(sample)), BLOCK_ROWS)]
    )
    np.add.at(centres, home, sample)
    return np.asarray(centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12), np.float32)


def _split_rows(rows: Rows, size: int) -> list[Rows]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
