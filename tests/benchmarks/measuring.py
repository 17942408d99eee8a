"""Measuring small sets with an embedder that needs no model."""

from pathlib import Path
from typing import Any

from cofire.evaluation.recall_quality import QualityOptions, measure_quality
from tests.conftest import HashedWords


def figures_of(folder: Path, **wanted: Any) -> dict[str, Any]:
    """The figures of a run over the sets in a folder."""
    embedder = wanted.pop("embedder", None) or HashedWords()
    return measure_quality(QualityOptions([folder], cache=folder / "cache", **wanted), lambda *_: None, embedder)
