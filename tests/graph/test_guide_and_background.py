"""The guide for agents, and dreams in the background of long-running processes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cofire import Memory
from cofire.errors import InvalidInput, StoreBusy
from cofire.guide import VERB_GUIDES
from cofire.runtime import background
from cofire.runtime.background import BackgroundCurator, BackgroundDreamer
from tests.conftest import Clock, HashedWords


def test_every_page_names_an_existing_verb_and_says_what_when_cost_and_next(memory: Memory) -> None:
    for verb in VERB_GUIDES:
        assert callable(getattr(memory, verb))
        text = memory.guide(verb)
        assert all(f"{part}: " in text for part in ("what", "when", "cost", "next"))
        assert len(text) < 800


def test_the_page_on_dreams_says_that_shared_tags_raise_connectivity(memory: Memory) -> None:
    assert "Facts with a common tag are linked at a lower similarity" in memory.guide("dream")


def test_without_a_verb_the_guide_has_a_line_on_each(memory: Memory) -> None:
    assert [line.split(":")[0] for line in memory.guide().splitlines()] == list(VERB_GUIDES)


def test_an_unknown_verb_gets_a_suggestion(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="Did you mean dream"):
        memory.guide("dreem")


@pytest.mark.parametrize("verb", [5, [], "\ud800"])
def test_what_is_no_verb_has_no_page(memory: Memory, verb: Any) -> None:
    with pytest.raises(InvalidInput, match="There is no page for"):
        memory.guide(verb)


class Inbox:
    def __init__(self) -> None:
        self.waiting = 0
        self.dreams = 0

    def dream(self) -> None:
        self.dreams += 1
        self.waiting = 0


def dreamer(inbox: Inbox, clock: Clock, *, after_facts: int = 0, after_minutes: float = 0.0) -> BackgroundDreamer:
    return BackgroundDreamer(
        waiting=lambda: inbox.waiting,
        dream=inbox.dream,
        clock=clock,
        after_facts=after_facts,
        after_minutes=after_minutes,
    )


def test_enough_waiting_facts_start_a_dream() -> None:
    inbox = Inbox()
    watching = dreamer(inbox, Clock(), after_facts=3)
    inbox.waiting = 2
    assert not watching.run_if_due()
    inbox.waiting = 3
    assert watching.run_if_due()
    assert inbox.dreams == 1
    assert not watching.run_if_due()


def test_facts_that_wait_long_enough_start_a_dream() -> None:
    inbox, clock = Inbox(), Clock()
    watching = dreamer(inbox, clock, after_minutes=10)
    inbox.waiting = 1
    assert not watching.run_if_due()
    clock.now += timedelta(minutes=11)
    assert watching.run_if_due()


def test_an_open_memory_dreams_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "POLL_SECONDS", 0.01)
    with Memory(tmp_path / "m.db", embedder=HashedWords(), settings={"dream.after_facts": 2}) as memory:
        memory.remember(["one two three", "one two four"])
        deadline = time.monotonic() + 20
        while memory.stats().size.waiting and time.monotonic() < deadline:
            time.sleep(0.01)
        assert memory.stats().size.waiting == 0


def until_tried_twice(watching: BackgroundDreamer | BackgroundCurator, tries: list[int]) -> None:
    watching.start()
    deadline = time.monotonic() + 20
    while len(tries) < 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    watching.close()
    assert len(tries) >= 2


def failing(error: Exception, tries: list[int]) -> Callable[[], None]:
    def work() -> None:
        tries.append(1)
        raise error

    return work


def working_dreamer(work: Callable[[], None]) -> BackgroundDreamer:
    return BackgroundDreamer(waiting=lambda: 1, dream=work, clock=Clock(), after_facts=1, after_minutes=0)


def working_curator(work: Callable[[], None]) -> BackgroundCurator:
    return BackgroundCurator(curate=work, clock=Clock(), every_hours=0)


@pytest.mark.parametrize("watching", [working_dreamer, working_curator])
@pytest.mark.parametrize(
    "error", [StoreBusy("Somebody is writing.", way_out="Wait."), KeyError("Somebody is writing.")]
)
def test_work_in_the_background_that_fails_is_logged_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, watching: Any, error: Exception
) -> None:
    monkeypatch.setattr(background, "POLL_SECONDS", 0.001)
    tries: list[int] = []
    with caplog.at_level(logging.WARNING, logger="cofire"):
        until_tried_twice(watching(failing(error, tries)), tries)
    assert "Somebody is writing" in caplog.text
