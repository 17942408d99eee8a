"""Neighbourhood: a graph index over vectors for very large stores, an extra (usearch). Proposes where filters leave most facts in."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
from cofire.errors import EmbedderUnavailable
from cofire.installation import install_command

SELECTIVE = 0.2


class Neighbourhood:
    """HNSW over positions. Facts come and are never taken out; the dead are passed over, and go when the index is compacted."""

    def __init__(self, dimension: int, saved: NDArray[np.uint8] | None = None) -> None:
        index = _usearch().Index
        if saved is not None and len(saved):
            self._graph = index.restore(saved.tobytes())
        else:
            self._graph = index(ndim=dimension, metric="ip", dtype="f16", expansion_search=128)

    def add(self, positions: NDArray[np.integer], vectors: Vectors) -> None:
        """Take in centred vectors under their positions."""
        if len(positions):
            self._graph.add(np.asarray(positions, np.uint64), vectors, threads=1)

    def candidates(self, asked: Vectors, among: NDArray[np.bool_], wanted: int) -> NDArray[np.int64] | None:
        """The nearest positions of those allowed; None where a filter leaves so few that another index must look."""
        share = np.count_nonzero(among) / max(1, len(among))
        if share < SELECTIVE:
            return None
        found = self._graph.search(asked, min(len(self._graph), int(wanted / share) + 1), threads=1)
        positions = np.asarray(found.keys, np.int64)
        return np.sort(positions[among[positions]][:wanted])

    def saved(self) -> NDArray[np.uint8]:
        """The graph as bytes, for a snapshot."""
        return np.frombuffer(self._graph.save(), np.uint8) if len(self._graph) else np.zeros(0, np.uint8)


def _usearch() -> Any:
    # The bundled embedder's library ends the process if it is loaded after usearch.
    import_module("onnxruntime")
    try:
        from usearch import index
    except ImportError as error:
        raise EmbedderUnavailable(
            "The vector index usearch is not installed.",
            way_out=f"Install it with: {install_command('usearch')}, or set semantic.index to signs.",
        ) from error
    return index
