"""Garbage: while much is made Python looks for it seldom, and afterwards as before, in however many threads."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from cofire import Memory
from cofire.runtime.gc_threshold import BULK_THRESHOLD, relaxed_gc


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_it_is_looked_for_seldom_and_then_as_before() -> None:
    gc.set_threshold(700, 10, 10)
    with relaxed_gc():
        assert gc.get_threshold() == (BULK_THRESHOLD, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_the_last_to_end_brings_back_what_was() -> None:
    gc.set_threshold(700, 10, 10)
    one, other = relaxed_gc(), relaxed_gc()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] == BULK_THRESHOLD
    other.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("habit", [0, 10 * BULK_THRESHOLD])
def test_who_looks_seldomer_is_left_alone(habit: int) -> None:
    gc.set_threshold(habit, 10, 10)
    with relaxed_gc():
        assert gc.get_threshold()[0] == habit
    assert gc.get_threshold()[0] == habit


def test_a_dream_and_many_facts_leave_the_habit_as_it_was(memory: Memory) -> None:
    gc.set_threshold(700, 10, 10)
    seen: list[int] = []
    memory.remember([f"Note {number}." for number in range(3)], progress=lambda _: seen.append(gc.get_threshold()[0]))
    memory.dream(progress=lambda _: seen.append(gc.get_threshold()[0]))
    assert set(seen) == {BULK_THRESHOLD}
    assert gc.get_threshold() == (700, 10, 10)


def test_a_dream_that_fails_leaves_it_too(memory: Memory) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    gc.set_threshold(700, 10, 10)
    memory.remember("Tea is at four.")
    with pytest.raises(KeyboardInterrupt) as kept:
        memory.dream(progress=stop)
    assert gc.get_threshold() == (700, 10, 10)
    assert kept.value is not None, "whoever keeps the error keeps the frames in it"


def test_a_habit_that_is_changed_meanwhile_stays() -> None:
    gc.set_threshold(700, 10, 10)
    with relaxed_gc():
        gc.set_threshold(0)
    assert gc.get_threshold()[0] == 0
