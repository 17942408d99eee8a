"""The benchmark of curation curates what it says, and the second run changes nothing."""

from pathlib import Path

from benchmarks.curate import curated, strew
from cofire import Memory


def test_all_strewn_edges_fade_once(tmp_path: Path) -> None:
    store = tmp_path / "few.db"
    with Memory(store, embedder=None) as memory:
        memory.remember([f"fact number {number}" for number in range(30)])
    strew(store, 40)
    figures = curated(store)
    first, again = figures["runs"]
    assert first["faded"] == figures["edges"] > 20
    assert again["faded"] == 0
