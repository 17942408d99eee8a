"""The same facts told in any order: memory comes to hold the same, and recalls the same with the same scores."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from cofire import Memory
from tests.conftest import STORES, Clock, HashedWords
from tests.quality.world import HOBBIES, TRADES, Told, world

WORLD = world(seed=3, size=8)
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
# Subjects that other facts speak of in small letters: some words of theirs are rare, some in every second fact.
CRAFTS = [
    *(Told(f"craft {trade}", f"It is taught by the {trade} guild.", subject=f"{trade} making") for trade in TRADES),
    *(Told(f"fan {trade}", f"Half the village lives off {trade} making and {HOBBIES[0]}.") for trade in TRADES),
    *(Told(f"club {hobby}", f"Meets on day {at} of the week.", subject=hobby) for at, hobby in enumerate(HOBBIES)),
    *(Told(f"time {hobby}", f"People on the coast are fond of {hobby}.") for hobby in HOBBIES),
]
TOLD = (*WORLD.told, *CRAFTS)
QUESTIONS = [
    *(question.text for question in WORLD.questions[::5]),
    *(f"Who teaches what half the village lives off, {trade} making?" for trade in TRADES[:3]),
    *(f"When does the club for {hobby} meet?" for hobby in HOBBIES[:3]),
]
# Many batches, none so small that its facts are linked at once.
SETTINGS = {"remember.batch": 40, "auto_link.batch": 1, "recall_log.enabled": False}
ORDERS = ("forwards", "backwards", "shuffled")

Sittings = list[list[dict[str, Any]]]


def sittings() -> Sittings:
    """All that is told, each with a time of its own; the turns of a session stay in their order, which is that of telling."""
    timed = [(one, BEGUN + timedelta(hours=at)) for at, one in enumerate(TOLD)]
    groups = groupby(timed, key=lambda pair: pair[0].session or pair[0].key)
    return [[given(one, at) for one, at in group] for _, group in groups]


def given(one: Told, at: datetime) -> dict[str, Any]:
    said = {"text": one.text, "subject": one.subject, "session": one.session, "speaker": one.speaker, "at": at}
    return {label: value for label, value in said.items() if value is not None}


def in_order(order: str) -> list[dict[str, Any]]:
    groups = sittings()
    if order == "backwards":
        groups.reverse()
    if order == "shuffled":
        random.Random(5).shuffle(groups)
    return [fact for group in groups for fact in group]


@contextmanager
def told(kind: str, folder: Path, order: str) -> Iterator[Memory]:
    folder.mkdir()
    with Memory(STORES[kind](folder), embedder=HashedWords(), clock=Clock(), settings=SETTINGS) as memory:
        memory.remember(in_order(order))
        yield memory


def answers(memory: Memory, question: str) -> list[tuple[float, str]]:
    """What is recalled with its score. Of equals the one told last comes first, so they are put in order; so is where they are cut."""
    hits = [(round(hit.score, 6), hit.text) for hit in memory.recall(question, k=20)]
    return sorted(hit for hit in hits if hit[0] > hits[-1][0])


def mentions(memory: Memory) -> int:
    return memory.stats().size.mentions


def all_answers(memory: Memory, questions: Sequence[str]) -> dict[str, list[tuple[float, str]]]:
    return {question: answers(memory, question) for question in questions}


@pytest.mark.parametrize("kind", ["reference", "sqlite"])
def test_the_same_facts_in_three_orders_are_recalled_alike(kind: str, tmp_path: Path) -> None:
    found = []
    for order in ORDERS:
        with told(kind, tmp_path / order, order) as memory:
            found.append((mentions(memory), all_answers(memory, QUESTIONS)))
    assert found[0] == found[1] == found[2]


def test_a_subject_told_late_is_mentioned_by_all_who_spoke_of_it(tmp_path: Path) -> None:
    with told("sqlite", tmp_path / "late", "forwards") as memory:
        speaking = memory.remember([f"Shed {number} is for kite making." for number in range(50)])
        before = mentions(memory)
        about = memory.remember("The guild teaches it.", subject="kite making")
        assert mentions(memory) == before + len(speaking)
        assert {link.source for link in memory.neighbours(about)} & set(speaking)
