"""A gate against regressions of recall: the whole way, with the embedder that comes along, on a world of our own making.

The floors lie a few points below what is measured. What the graph gives is measured against the same recall without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import pytest

from cofire import Memory
from cofire.evaluation.baselines import WITHOUT_GRAPH
from tests.quality.world import Question, World, world

NONSENSE = ("xyzzy quantum banana telescope", "How do I renew a passport in Peru?", "Welche Farbe hat der Mond heute?")


@pytest.fixture(scope="module")
def told() -> World:
    return world(seed=7, size=60)


@pytest.fixture(scope="module")
def memory(told: World) -> Any:
    with Memory(":memory:") as memory:
        yield memory


@pytest.fixture(scope="module")
def ids(memory: Memory, told: World) -> Mapping[str, str]:
    facts = [
        {"text": one.text, "subject": one.subject, "session": one.session, "speaker": one.speaker} for one in told.told
    ]
    given = memory.remember([{name: value for name, value in fact.items() if value} for fact in facts])
    return dict(zip((one.key for one in told.told), given, strict=True))


def recall_at_5(memory: Memory, ids: Mapping[str, str], asked: Sequence[Question], **settings: Any) -> float:
    found = [set(memory.recall(one.text, k=5, settings=settings).ids) for one in asked]
    return 100 * mean(
        sum(ids[key] in hits for key in one.gold) / len(one.gold) for one, hits in zip(asked, found, strict=True)
    )


@pytest.mark.parametrize(("kind", "floor"), [("two hops", 97), ("three hops", 95), ("chat", 95)])
def test_recall_finds_what_answers(
    memory: Memory, ids: Mapping[str, str], told: World, kind: str, floor: float
) -> None:
    found = recall_at_5(memory, ids, [one for one in told.questions if one.kind == kind])
    assert found >= floor, f"R@5 of {kind} is {found:.1f}, was at least {floor}"


@pytest.mark.parametrize(("kind", "gain"), [("two hops", 15), ("three hops", 20)])
def test_the_graph_earns_its_place(memory: Memory, ids: Mapping[str, str], told: World, kind: str, gain: float) -> None:
    asked = [one for one in told.questions if one.kind == kind]
    without = recall_at_5(memory, ids, asked, **WITHOUT_GRAPH)
    assert recall_at_5(memory, ids, asked) - without >= gain


def test_neighbouring_turns_help_in_a_chat(memory: Memory, ids: Mapping[str, str], told: World) -> None:
    asked = [one for one in told.questions if one.kind == "chat"]
    alone = recall_at_5(memory, ids, asked, **{"context.enabled": False})
    assert recall_at_5(memory, ids, asked) > alone + 5


def test_questions_that_can_be_answered_are(memory: Memory, ids: Mapping[str, str], told: World) -> None:
    assert ids
    silent = [one.text for one in told.questions if not memory.recall(one.text).known]
    assert len(silent) <= 0.02 * len(told.questions), silent


@pytest.mark.parametrize("question", NONSENSE)
def test_questions_about_something_else_are_refused(memory: Memory, ids: Mapping[str, str], question: str) -> None:
    assert ids
    found = memory.recall(question)
    assert not found.known
    assert found.reason
