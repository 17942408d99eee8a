"""Round trips: how often a recall asks the server, told by the driver's own log. What comes along need not be asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cofire import AsyncMemory, Memory
from cofire.settings.table import RECALL_K
from tests.conftest import Clock, HashedWords
from tests.neo4j_server import IN_TURN, empty, queries_sent

pytestmark = IN_TURN

MOST = 5
PEOPLE = ("Ana Reis", "Ben Okafor", "Chloe Marsh", "Dmitri Volkov", "Elif Kaya")
PLACES = ("Porto", "Lagos", "Leeds", "Kazan", "Izmir")
QUESTION = "Where does the friend of Ana Reis keep the copper kettle?"


def told(memory: Memory) -> list[str]:
    """Facts of sessions and without, that share names; edges between some of them."""
    said = [
        {"text": f"{one} met {PEOPLE[(at + 1) % 5]} in {PLACES[at]} in spring {year}.", "session": f"s{year}"}
        for at, one in enumerate(PEOPLE)
        for year in range(2018, 2026)
    ]
    loose = [f"{one} keeps the copper kettle number {n} in {PLACES[n % 5]}." for n, one in enumerate(PEOPLE * 4)]
    ids = memory.remember([*said, *loose])
    for source, target in zip(ids[::5], ids[3::5], strict=True):
        memory.connect(source, target, kind="supports", weight=0.7, confidence=0.9)
    return ids


@pytest.fixture(scope="module")
def memory(neo4j_url: str) -> Iterator[Memory]:
    empty(neo4j_url)
    with Memory(neo4j_url, embedder=HashedWords(), clock=Clock()) as opened:
        told(opened)
        yield opened


def test_a_recall_is_at_most_five_round_trips(memory: Memory) -> None:
    with queries_sent() as sent:
        found = memory.recall(QUESTION)
    assert found
    assert any(hit.path for hit in found), "the walk leads somewhere, so that its trips are counted"
    assert len(sent) <= MOST


def test_feedback_makes_a_recall_no_longer(memory: Memory) -> None:
    first = memory.recall(QUESTION)
    memory.feedback(first, helped=[first[0].id, first[1].id])
    with queries_sent() as sent:
        again = memory.recall(QUESTION)
    assert any("occasions" in hit.channels for hit in again)
    assert len(sent) <= MOST


def test_who_awaits_asks_no_oftener(memory: Memory, neo4j_url: str) -> None:
    async def ask() -> tuple[Any, int]:
        async with AsyncMemory(neo4j_url, embedder=HashedWords(), clock=Clock()) as awaited:
            with queries_sent() as sent:
                found = await awaited.recall(QUESTION)
            return found.ids, len(sent)

    ids, trips = asyncio.run(ask())
    assert ids == memory.recall(QUESTION).ids
    assert trips <= MOST


ANSWERS: dict[str, Callable[[Memory], Any]] = {
    "a recall": lambda memory: [(hit.id, round(hit.score, 6), hit.path) for hit in memory.recall(QUESTION)],
    "settings": lambda memory: memory.settings()[RECALL_K],
    "a fact": lambda memory: memory.facts(memory.recall(QUESTION).ids[:1])[0].pinned,
}


def test_settings_are_no_trip_of_their_own(memory: Memory) -> None:
    id = memory.facts(limit=1)[0].id
    with queries_sent() as sent:
        memory.facts(id)
    assert len(sent) == 1


def test_what_others_changed_meanwhile_is_seen_at_once(neo4j_url: str) -> None:
    with (
        Memory(neo4j_url, embedder=HashedWords(), clock=Clock()) as memory,
        Memory(neo4j_url, embedder=HashedWords(), clock=Clock()) as other,
    ):
        empty(neo4j_url)
        told(memory)
        before = {name: ask(memory) for name, ask in ANSWERS.items()}
        other.configure("recall.k", 3)
        other.pin(other.recall(QUESTION).ids)
        for name, ask in ANSWERS.items():
            assert ask(memory) == ask(other) != before[name]
