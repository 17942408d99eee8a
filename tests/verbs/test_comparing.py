"""Compare: the same questions under two configurations."""

from __future__ import annotations

from typing import Any

import pytest

from cofire import Memory
from cofire.errors import InvalidInput, InvalidSetting
from cofire.recall.compare import parse_configuration
from cofire.verbs.remember import Progress
from tests.verbs.test_shadowing import FACTS, QUESTIONS


@pytest.fixture
def told(memory: Memory) -> Memory:
    memory.remember(FACTS)
    return memory


def test_a_configuration_beside_itself_changes_nothing(told: Memory) -> None:
    found = told.compare(QUESTIONS, b=None)
    assert (found.overlap, found.tau, found.same) == (1.0, 1.0, 3)
    assert found.a == found.b


def test_each_question_tells_what_two_recalls_would(told: Memory) -> None:
    b = {"spreading_activation.enabled": False, "graph_assist.enabled": False, "fusion.method": "rrf"}
    found = told.compare(QUESTIONS, b=b, k=2)
    for question, one in zip(QUESTIONS, found.questions, strict=True):
        before, after = told.recall(question, k=2).ids, told.recall(question, k=2, settings=b).ids
        assert one.question == question
        assert one.comparison.overlap == len({*before} & {*after}) / max(len(before), len(after))
        new = {move.id for move in one.comparison.promoted if move.before is None}
        assert new == {*after} - {*before}
    assert found.overlap == pytest.approx(sum(one.comparison.overlap for one in found.questions) / 3)
    assert found.b == b


def test_filters_hold_for_both(told: Memory) -> None:
    found = told.compare(QUESTIONS, b="conservative", scope="elsewhere")
    assert (found.overlap, found.same) == (1.0, 3)


def test_progress_is_told(told: Memory) -> None:
    steps: list[Progress] = []
    told.compare(QUESTIONS, b="balanced", progress=steps.append)
    assert [(step.done, step.total) for step in steps] == [(1, 3), (2, 3), (3, 3)]


def test_a_comparison_casts_no_shadow(told: Memory) -> None:
    told.configure("shadow.enabled", True)
    told.compare(QUESTIONS, b="balanced")
    assert told.shadow_report().count == 0


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("balanced", {"preset": "balanced"}),
        ("memoryOsPreset=balanced", {"preset": "balanced"}),
        ('{"recall.k": 3}', {"recall.k": 3}),
        ("recall.k=3,keyword.k1 = 1.2", {"recall.k": "3", "keyword.k1": "1.2"}),
        ({"graphRecallEnabled": False}, {"graph_recall.enabled": False}),
        ("", {}),
        (None, {}),
    ],
)
def test_a_configuration_is_a_preset_or_settings(given: Any, meant: dict[str, object]) -> None:
    assert parse_configuration(given) == meant


@pytest.mark.parametrize(
    "given", ["no-such-preset", "recall.k=many", "{", '{"recall.kk": 1}', "=3", 5, ["balanced"], {5: 1}]
)
def test_a_configuration_that_cannot_be_used_is_refused(given: Any) -> None:
    with pytest.raises((InvalidInput, InvalidSetting)):
        parse_configuration(given)


@pytest.mark.parametrize("questions", [[], "When is tea?", None, 5])
def test_questions_are_a_list(told: Memory, questions: Any) -> None:
    with pytest.raises(InvalidInput, match="Give a list"):
        told.compare(questions, b="balanced")
