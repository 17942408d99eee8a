"""Where granite rests: its mean over the calibration texts, their spread, and where it is silent; measured and shipped with cofire."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from cofire.embedders.base import Embedder, Vectors
from cofire.embedders.centring import measure

MEAN_FILE = Path(__file__).with_name("granite_mean.npy")
SPREAD = (-0.01037, 0.08536)

# Under this fewer than one answerable question in a hundred falls silent, over the tuning halves: benchmarks/abstention.py.
SILENT_BELOW = 0.548


@cache
def granite_mean() -> Vectors:
    mean: Vectors = np.load(MEAN_FILE)
    mean.flags.writeable = False
    return mean


def write_mean(embedder: Embedder, path: Path) -> tuple[float, float]:
    """Measure again, after a change of the calibration texts; returns what SPREAD has to be.

    `write_mean(Bundled(), MEAN_FILE)`; every store made before keeps the mean it was made with.
    """
    mean, spread = measure(embedder)
    np.save(path, mean)
    return spread
