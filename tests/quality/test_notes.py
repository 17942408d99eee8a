"""A gate against regressions on memories of short notes, where links are few and lead far: the graph must not cost what search finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from cofire import Memory
from cofire.evaluation.baselines import WITHOUT_GRAPH
from cofire.evaluation.datasets import EvaluationSet, load_set

pytestmark = pytest.mark.xdist_group("notes")

NOTES = Path(__file__).resolve().parents[2] / "benchmarks" / "sets" / "notes"
NEVER_SILENT = {"abstention.rule": "off"}

Found = Mapping[str, float]


@pytest.fixture(scope="module")
def notes() -> EvaluationSet:
    return load_set(NOTES, limit=None)


@pytest.fixture(scope="module")
def memory(notes: EvaluationSet) -> Iterator[Memory]:
    with Memory(":memory:", settings={"recall_log.enabled": False}) as memory:
        memory.remember(list(notes.facts))
        yield memory


def by_category(memory: Memory, notes: EvaluationSet, settings: Mapping[str, Any]) -> Found:
    """R@5 of each category, and of all questions."""
    texts = dict(zip(notes.rows, (fact["text"] for fact in notes.facts), strict=True))
    shares: dict[str, list[float]] = {"all": []}
    for one in notes.questions:
        hits = {hit.text for hit in memory.recall(one.text, scope=one.scope, k=5, settings=settings).hits}
        share = mean(texts[row] in hits for row in one.gold)
        shares["all"].append(share)
        shares.setdefault(one.category, []).append(share)
    return {category: 100 * mean(found) for category, found in shares.items()}


@pytest.fixture(scope="module")
def with_graph(memory: Memory, notes: EvaluationSet) -> Found:
    return by_category(memory, notes, NEVER_SILENT)


@pytest.fixture(scope="module")
def without_graph(memory: Memory, notes: EvaluationSet) -> Found:
    return by_category(memory, notes, {**NEVER_SILENT, **WITHOUT_GRAPH})


def test_notes_are_found(with_graph: Found) -> None:
    assert with_graph["all"] >= 87, with_graph


def test_the_graph_finds_notes_two_hops_away(with_graph: Found, without_graph: Found) -> None:
    assert with_graph["two_hop"] >= without_graph["two_hop"] + 7


@pytest.mark.parametrize("category", ["single", "list", "latest", "negation", "why", "compare", "person"])
def test_the_graph_costs_next_to_nothing_elsewhere(with_graph: Found, without_graph: Found, category: str) -> None:
    assert with_graph[category] >= without_graph[category] - 3
