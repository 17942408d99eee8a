"""Where a model rests: the mean of its vectors over the calibration texts, and their spread around it."""

from __future__ import annotations

from cofire.dynamics.likeness import centred, spread, unit
from cofire.embedders.base import Embedder, Vectors
from cofire.embedders.calibration import TEXTS

__all__ = ["centred", "measure", "spread", "unit"]


def measure(embedder: Embedder) -> tuple[Vectors, tuple[float, float]]:
    """A model's resting vector, the mean over the calibration texts, and their spread around it."""
    vectors = embedder.embed(TEXTS, "fact")
    mean: Vectors = vectors.mean(axis=0)
    return mean, spread(vectors, mean)
