"""Times that a question asks about, in a recall: seen from now, and of less weight in facts that say nothing else of what is asked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from cofire import Memory

# A Wednesday.
NOW = datetime(2024, 6, 12, 12, tzinfo=UTC)

LONG_AGO = {
    "We painted the boat green.": 90,
    "The council met about the harbour wall.": 80,
    "Ben: How about we take a break from jamming? The drummer has a cold.": 75,
    "Ana said that the release waits for the signing keys.": 70,
    "The printer in the hall is out of toner.": 60,
    "Our landlord raised the rent for the workshop.": 55,
}
LAST_WEEK = {
    "Ana said that the release needs another review.": 8,
    "We repaired the pump in the cellar.": 7,
}
THIS_WEEK = {
    "The bakery has new rye bread.": 2,
    "A parcel came for the neighbours.": 1,
    "The tram stops early because of the roadworks.": 1,
}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(":memory:", clock=lambda: NOW) as opened:
        told = {**LONG_AGO, **LAST_WEEK, **THIS_WEEK}
        opened.remember([{"text": text, "at": NOW - timedelta(days=days)} for text, days in told.items()])
        yield opened


def first(memory: Memory, question: str, count: int) -> list[str]:
    found = memory.recall(question, settings={"abstention.rule": "off"})
    return [hit.text for hit in found.hits[:count]]


@pytest.mark.parametrize("question", ["What happened last week?", "What did we do last week?"])
def test_who_asks_for_a_time_gets_what_was_then(memory: Memory, question: str) -> None:
    assert set(first(memory, question, 2)) == set(LAST_WEEK)


def test_a_time_tells_apart_what_says_the_same(memory: Memory) -> None:
    assert first(memory, "What did Ana say about the release last week?", 1) == [
        "Ana said that the release needs another review."
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Who proposed that the band takes a break from jamming this week?",
        "Did Ben ask the band for a break from jamming because of the drummer's cold this week?",
    ],
)
def test_a_time_that_others_said_does_not_bring_what_says_nothing_else_that_is_asked(
    memory: Memory, question: str
) -> None:
    assert first(memory, question, 1)[0].startswith("Ben: How about we take a break")


def test_what_a_time_from_now_counts_grows_with_what_a_fact_says_of_the_rest(memory: Memory) -> None:
    found = memory.recall("What did Ana say about the release last week?", settings={"abstention.rule": "off"})
    counts = {hit.text: hit.channels["temporal"].score for hit in found.hits}
    review, pump = LAST_WEEK
    assert counts[review] > 1.2 * counts[pump] > 0
