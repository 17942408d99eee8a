"""Calibrating: from questions that memory can answer to the evidence below which it is silent."""

from __future__ import annotations

import asyncio

import pytest

from cofire import AsyncMemory, Memory
from cofire.errors import EmbedderUnavailable, InvalidInput, InvalidQuestion, NotFound
from cofire.stores.base import Store
from cofire.verbs.maintenance import CalibrateResult
from cofire.verbs.remember import Progress
from tests.conftest import Clock, HashedWords, Lent, Opening

PLACES = ["garden", "harbour", "kitchen", "library"]
THINGS = ["anvil", "bell", "clock", "drum", "engine"]
FACTS = [f"The {thing} stands in the {place}." for place in PLACES for thing in THINGS]
QUESTIONS = [f"Where in the {place} is the {thing}?" for place in PLACES for thing in THINGS]
STRANGE = "Which comet did Halley foretell?"


@pytest.fixture
def full(memory: Memory) -> Memory:
    memory.remember(FACTS)
    return memory


def test_the_threshold_lets_that_share_fall_silent(full: Memory) -> None:
    found = full.calibrate(QUESTIONS, false_silence=0.1)
    assert (found.questions, found.kept, found.before) == (20, True, None)
    assert found.silent <= 2
    assert found.evidence["least"] <= found.threshold <= found.evidence["median"]
    known = [full.recall(question).known for question in QUESTIONS]
    assert known.count(False) == found.silent


def test_nothing_falls_silent_at_none(full: Memory) -> None:
    found = full.calibrate(QUESTIONS, false_silence=0)
    assert found.silent == 0
    assert found.threshold == pytest.approx(found.evidence["least"], abs=1e-4)


def test_the_store_keeps_the_threshold(full: Memory, open_memory: Opening) -> None:
    found = full.calibrate(QUESTIONS)
    judgement = open_memory().recall(STRANGE).judgement
    assert judgement is not None
    assert judgement.threshold == found.threshold
    assert full.calibrate(QUESTIONS).before == found.threshold


def test_calibrating_again_gives_the_same(full: Memory) -> None:
    assert full.calibrate(QUESTIONS).threshold == full.calibrate(QUESTIONS).threshold


def test_after_it_strangers_are_refused(full: Memory) -> None:
    full.calibrate(QUESTIONS)
    assert not full.recall(STRANGE).known


def test_a_dry_run_keeps_nothing(full: Memory) -> None:
    before = full.settings()
    found = full.calibrate(QUESTIONS, dry_run=True)
    assert not found.kept
    assert list(full.settings()) == list(before)


def test_what_the_model_says_of_itself_held_before(open_memory: Opening) -> None:
    embedder = HashedWords()
    embedder.silent_below = 0.4
    memory = open_memory(embedder)
    memory.remember(FACTS)
    assert memory.calibrate(QUESTIONS).before == 0.4


def test_few_questions_come_with_a_warning(full: Memory) -> None:
    [warning] = full.calibrate(QUESTIONS).warnings
    assert "20 questions are few" in warning
    assert full.calibrate(QUESTIONS * 10).warnings == ()


def test_a_rule_that_does_not_look_is_told(full: Memory) -> None:
    full.configure("abstention.rule", "off")
    found = full.calibrate(QUESTIONS)
    assert found.evidence["median"] < 2
    assert "abstention.rule = off" in found.warnings[-1]


def test_too_few_questions_are_refused(full: Memory) -> None:
    with pytest.raises(InvalidQuestion, match=r"at least 20 questions, not 19\..*200 or more"):
        full.calibrate(QUESTIONS[:19])


@pytest.mark.parametrize("given", ["Where is the bell?", 7])
def test_what_is_no_list_is_refused(full: Memory, given: object) -> None:
    with pytest.raises(InvalidQuestion, match="a list of texts"):
        full.calibrate(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [-0.1, 0.6, float("nan"), "all", True])
def test_a_share_that_makes_no_sense_is_refused(full: Memory, share: object) -> None:
    with pytest.raises(InvalidInput, match=r"from 0 to 0\.5"):
        full.calibrate(QUESTIONS, false_silence=share)  # type: ignore[arg-type]


def test_an_empty_memory_cannot_be_calibrated(memory: Memory) -> None:
    with pytest.raises(NotFound, match="no fact in default"):
        memory.calibrate(QUESTIONS)


def test_an_empty_scope_cannot_be_calibrated(full: Memory) -> None:
    with pytest.raises(NotFound, match="no fact in elsewhere"):
        full.calibrate(QUESTIONS, scope="elsewhere")


def test_without_an_embedder_there_is_nothing_to_calibrate(wordy: Memory) -> None:
    wordy.remember(FACTS)
    with pytest.raises(EmbedderUnavailable, match="words alone decide"):
        wordy.calibrate(QUESTIONS)


def test_progress_is_told(full: Memory) -> None:
    steps: list[Progress] = []
    full.calibrate(QUESTIONS, progress=steps.append)
    assert (steps[-1].done, steps[-1].total, len(steps)) == (20, 20, 20)


def test_it_can_be_awaited(store: Store, full: Memory) -> None:
    async def calibrated() -> CalibrateResult:
        async with AsyncMemory(Lent(store), embedder=HashedWords(), clock=Clock()) as memory:
            return await memory.calibrate(QUESTIONS, dry_run=True)

    assert asyncio.run(calibrated()) == full.calibrate(QUESTIONS, dry_run=True)
