"""Vectors are made once, and those of different models are never mixed up."""

from pathlib import Path

from cofire.evaluation.store_setup import CachingEmbedder
from tests.conftest import HashedWords


def test_vectors_are_made_once(tmp_path: Path) -> None:
    first, second = HashedWords(), HashedWords()
    made = CachingEmbedder(first, tmp_path)
    vectors = made.embed(["tea at four", "tide", "tea at four"], "fact")
    made.close()
    kept = CachingEmbedder(second, tmp_path)
    assert kept.embed(["tide", "tea at four"], "fact").tolist() == vectors[[1, 0]].tolist()
    kept.close()
    assert (first.embedded, second.embedded) == (["tea at four", "tide"], [])


def test_vectors_of_another_model_or_role_are_not_mixed_up(tmp_path: Path) -> None:
    for embedder, role in [(HashedWords(), "fact"), (HashedWords(), "question"), (HashedWords("another"), "fact")]:
        kept = CachingEmbedder(embedder, tmp_path)
        kept.embed(["tide"], role)  # type: ignore[arg-type]
        kept.close()
        assert embedder.embedded == ["tide"]
