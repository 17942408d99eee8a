"""The speed benchmark measures every figure it promises, and its synthetic memory is what it says."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import speed
from benchmarks.synthetic import COMMON, SeededVectors, synthetic
from cofire.embedders.bundled import BundledEmbedder
from tests.conftest import HashedWords

PROMISED = {
    ("remember in bulk", "facts/s CPU"),
    ("remember one", "ms CPU"),
    ("remember one like no other", "ms CPU"),
    ("recall, median", "ms CPU"),
    ("recall, 95th percentile", "ms CPU"),
    ("file", "bytes a fact"),
    ("first recall of a process", "ms wall"),
    ("cold cofire recall", "s wall"),
    ("signs against exact, 256 candidates", "recall@10"),
    ("peak memory of such a process", "MB"),
}


@pytest.mark.slow
def test_every_figure_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert speed.main(["--facts", "400", "--questions", "5", "--rounds", "1", "--out", str(out)]) == 0
    figures = {(one["name"], one["unit"]): one for one in json.loads(out.read_text(encoding="utf-8"))["figures"]}
    assert set(figures) >= PROMISED
    assert all(0 < one["least"] <= one["value"] <= one["most"] for one in figures.values())
    assert figures["signs against exact, 800 candidates", "recall@10"]["value"] == 1.0


def test_embedding_is_in_no_figure() -> None:
    embedder = SeededVectors(HashedWords(dimension=8))

    def embed_for_long() -> None:
        embedder.spent += 5.0
        embedder.waited += 5.0

    cpu, wall = speed.timed(embed_for_long, embedder)
    assert cpu < -4_000
    assert wall < -4_000


def test_the_same_seed_gives_the_same_memory() -> None:
    assert synthetic(50, 5, seed=1) == synthetic(50, 5, seed=1)
    assert synthetic(50, 5, seed=1) != synthetic(50, 5, seed=2)


def test_words_are_as_frequent_as_zipf_says() -> None:
    said = [word for fact in synthetic(2_000, 1, seed=1).facts for word in fact["text"].lower().rstrip(".").split()]
    lengths = len(said) / 2_000
    assert 18 < lengths < 23
    # ln(67.7 / 3.7) / ln(30,000 / 3.7) of the words are among the 64 most frequent, names aside.
    assert sum(word in COMMON for word in said) / len(said) == pytest.approx(0.31, abs=0.03)


def test_seeded_vectors_pass_for_the_bundled_model() -> None:
    real, seeded = BundledEmbedder(), SeededVectors(BundledEmbedder())
    assert (seeded.model, seeded.resting) == (real.model, real.resting)
    vectors = seeded.embed(["The tide took Ana away.", "What did Ana take?", "Tea is served."], "fact")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 3, abs=1e-5)
    seen = vectors - real.mean
    assert seen[0] @ seen[1] > seen[0] @ seen[2]
