"""The shipped calibration of the bundled model equals a new measurement."""

from pathlib import Path

import numpy as np
import pytest

from cofire.algorithms.vector_similarity import centre_vectors
from cofire.embedders.bundled import BundledEmbedder, write_granite_mean
from cofire.embedders.calibration import CALIBRATION_TEXTS


def test_the_texts_are_many_different_and_of_mixed_length() -> None:
    lengths = sorted(len(text.split()) for text in CALIBRATION_TEXTS)
    assert len(set(CALIBRATION_TEXTS)) == len(CALIBRATION_TEXTS) == 96
    assert lengths[0] == 4
    assert lengths[48] == pytest.approx(16, abs=4)
    assert 60 < lengths[-1] <= 80


def test_measuring_again_gives_what_is_shipped(bundled: BundledEmbedder, tmp_path: Path) -> None:
    spread = write_granite_mean(bundled, tmp_path / "mean.npy")
    np.testing.assert_allclose(bundled.mean, np.load(tmp_path / "mean.npy"), atol=1e-5)
    assert bundled.resting == pytest.approx(spread, abs=1e-4)


def test_nobody_can_change_the_shipped_mean(bundled: BundledEmbedder) -> None:
    with pytest.raises(ValueError, match="read-only"):
        bundled.mean[0] = 1


def test_centring_brings_unrelated_texts_from_alike_to_near_zero(bundled: BundledEmbedder) -> None:
    vectors = bundled.embed(["The cat sleeps on the stove.", "Interest rates were raised by a quarter point."], "fact")
    seen = centre_vectors(vectors, bundled.mean)
    assert vectors[0] @ vectors[1] > 0.4
    assert abs(seen[0] @ seen[1]) < 3 * bundled.resting[1]
