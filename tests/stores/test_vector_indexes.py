"""Every vector index proposes the same nearest facts, warm or cold, after forgetting, and read back from a snapshot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cofire import Memory
from cofire.stores.sqlite import live_index
from tests.conftest import HashedWords

TEXTS = [
    f"{colour} {animal} {number}"
    for number, colour in enumerate(["red", "green", "blue"])
    for animal in ("cat", "dog", "owl", "fox")
]
INDEXES = ["signs", "exact", "usearch"]


def opened(path: Path, index: str) -> Memory:
    return Memory(
        path, embedder=HashedWords(dimension=96), settings={"semantic.index": index, "keyword.enabled": False}
    )


@pytest.mark.parametrize("index", INDEXES)
def test_the_nearest_are_the_same_cold_and_warm(tmp_path: Path, index: str) -> None:
    with opened(tmp_path / "m.db", index) as memory:
        memory.remember(TEXTS)
        answers = [memory.recall("green owl", k=3).ids for _ in range(8)]
        assert len(set(answers)) == 1
        assert memory.facts(answers[0][0])[0].text == "green owl 1"


@pytest.mark.parametrize("index", INDEXES)
def test_what_comes_and_goes_is_seen_when_warm(tmp_path: Path, index: str) -> None:
    with opened(tmp_path / "m.db", index) as memory, opened(tmp_path / "m.db", "signs") as other:
        memory.remember(TEXTS)
        for _ in range(6):
            memory.recall("green owl")
        late = other.remember("green owl green owl")
        assert memory.recall("green owl", k=1).ids == (late,)
        other.forget(late)
        assert late not in memory.recall("green owl").ids


@pytest.mark.parametrize("index", INDEXES)
def test_filters_hold_for_every_index(tmp_path: Path, index: str) -> None:
    with opened(tmp_path / "m.db", index) as memory:
        memory.remember(TEXTS, scope="a")
        memory.remember(TEXTS[:2], scope="b", tags=["x"])
        assert {hit.fact.scope for hit in memory.recall("red dog", scope="b")} == {"b"}
        assert len(memory.recall("red dog", scope=["a", "b"], tags=["x"])) == 2


def test_a_graph_index_is_read_back_from_its_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 5)
    with opened(tmp_path / "m.db", "usearch") as memory:
        memory.remember(TEXTS)
        expected = memory.recall("blue fox", k=4).ids
    with opened(tmp_path / "m.db", "usearch") as memory:
        assert memory.recall("blue fox", k=4).ids == expected
        index = memory._opened.context.store._live._index
        assert index.graph is not None
        assert len(index.graph.saved()) > 0


def test_a_snapshot_made_without_a_graph_serves_one_that_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 5)
    with opened(tmp_path / "m.db", "signs") as memory:
        memory.remember(TEXTS)
        expected = memory.recall("blue fox", k=4).ids
    with opened(tmp_path / "m.db", "usearch") as memory:
        assert memory.recall("blue fox", k=4).ids == expected


def test_signs_find_nearly_all_of_the_exact_nearest(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    words = [f"w{number}" for number in range(300)]
    texts = [" ".join(chance.choice(words, 8)) for _ in range(1_500)]
    settings = {"semantic.candidates": 200, "keyword.enabled": False, "auto_link.enabled": False}
    with Memory(tmp_path / "m.db", embedder=HashedWords(dimension=256), settings=settings) as memory:
        memory.remember(texts)
        exact = Memory(
            tmp_path / "m.db", embedder=HashedWords(dimension=256), settings={**settings, "semantic.index": "exact"}
        )
        shares = [len({*memory.recall(text, k=10).ids} & {*exact.recall(text, k=10).ids}) / 10 for text in texts[:40]]
        exact.close()
    assert np.mean(shares) >= 0.9
