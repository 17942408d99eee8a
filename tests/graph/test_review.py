"""Pairs that wait for a decision: proposed at any time, and no longer shown once they are settled another way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from cofire import Memory
from tests.conftest import Clock, HashedWords, Opening

PORTO, LISBON = "Ana Lopez lives in Porto by the river.", "Ana Lopez lives in Lisbon by the river."


def told(memory: Memory, clock: Clock) -> tuple[str, str]:
    old = memory.remember(PORTO, subject="Ana Lopez")
    clock.now += timedelta(days=10)
    new = memory.remember(LISBON, subject="Ana Lopez")
    memory.dream()
    return old, new


def proposed(memory: Memory, clock: Clock) -> tuple[str, str]:
    pair = told(memory, clock)
    assert memory.curate().proposed == 1
    return pair


Settle = Callable[[Memory, str, str], object]
SETTLED: dict[str, Settle] = {
    "the older is archived": lambda memory, old, new: memory.archive(old),
    "the newer is archived": lambda memory, old, new: memory.archive(new),
    "the newer takes the place of the older": lambda memory, old, new: memory.supersede(old, new),
    "the older takes the place of the newer": lambda memory, old, new: memory.supersede(new, old),
    "the older says the same": lambda memory, old, new: memory.update(old, text=LISBON + " Still."),
    "the newer is of something else": lambda memory, old, new: memory.update(new, text="Ben drinks tea at four."),
    "the newer has ended": lambda memory, old, new: memory.update(new, valid_until="2020-01-01"),
    "the newer has run out": lambda memory, old, new: memory.update(new, expires="2020-01-01"),
}


@pytest.mark.parametrize("how", list(SETTLED))
def test_a_pair_that_is_settled_another_way_waits_no_more(memory: Memory, clock: Clock, how: str) -> None:
    old, new = proposed(memory, clock)
    SETTLED[how](memory, old, new)
    clock.now += timedelta(seconds=1)
    assert memory.review() == []
    assert memory.review(everything=True) == []


def test_a_pair_waits_no_more_once_the_end_of_the_older_is_known(memory: Memory, clock: Clock) -> None:
    old, new = proposed(memory, clock)
    memory.update(new, at=clock.now + timedelta(days=30))
    assert len(memory.review()) == 1
    memory.supersede(old, new)
    assert memory.review() == []


def test_a_pair_waits_again_when_what_settled_it_is_taken_back(memory: Memory, clock: Clock) -> None:
    old, new = proposed(memory, clock)
    memory.archive(old)
    memory.restore(old)
    memory.supersede(old, new)
    memory.unsupersede(old, new)
    assert [(one.old.id, one.new.id) for one in memory.review()] == [(old, new)]


def test_a_pair_is_told_with_the_reason_that_holds_now(memory: Memory, clock: Clock) -> None:
    _, new = proposed(memory, clock)
    memory.update(new, text=LISBON.replace("Lisbon", "Faro"))
    assert [one.why for one in memory.review()] == ["Porto or Faro"]


def test_what_is_told_after_a_clock_went_ahead_is_still_proposed(memory: Memory, clock: Clock) -> None:
    begun = clock.now
    clock.now += timedelta(days=400)
    memory.curate()
    clock.now = begun
    told(memory, clock)
    assert memory.curate(dry_run=True).proposed == 1
    assert memory.curate().proposed == 1
    assert memory.curate().proposed == 0


CLEAR = {"review.apply_clear": True}
OLD_PORT, NEW_PORT = "Orion runs on port 8080.", "Orion runs on port 8443 now."


def stored_ports(memory: Memory, clock: Clock) -> tuple[str, str]:
    old = memory.remember(OLD_PORT)
    clock.now += timedelta(days=10)
    return old, memory.remember(NEW_PORT)


def test_a_clear_pair_is_applied_if_the_setting_is_on(
    open_memory: Opening, embedder: HashedWords, clock: Clock
) -> None:
    memory = open_memory(embedder, settings=CLEAR)
    old, new = stored_ports(memory, clock)
    curated = memory.curate()
    assert (curated.proposed, curated.applied) == (0, 1)
    assert [edge.source for edge in memory.edges(kind="supersedes")] == [new]
    assert memory.review() == []
    assert [(pair.old.id, pair.new.id, pair.state) for pair in memory.review(everything=True)] == [
        (old, new, "applied")
    ]


def test_a_clear_pair_that_is_undone_is_not_applied_again(
    open_memory: Opening, embedder: HashedWords, clock: Clock
) -> None:
    memory = open_memory(embedder, settings=CLEAR)
    old, new = stored_ports(memory, clock)
    memory.curate()
    memory.unsupersede(old, new)
    clock.now += timedelta(days=1)
    assert memory.curate().applied == 0
    assert memory.edges(kind="supersedes") == []


def test_a_dry_run_applies_nothing(open_memory: Opening, embedder: HashedWords, clock: Clock) -> None:
    memory = open_memory(embedder, settings=CLEAR)
    stored_ports(memory, clock)
    assert memory.curate(dry_run=True).applied == 1
    assert memory.edges(kind="supersedes") == []
    assert memory.review(everything=True) == []


def test_a_pinned_fact_is_proposed_and_not_replaced(open_memory: Opening, embedder: HashedWords, clock: Clock) -> None:
    memory = open_memory(embedder, settings=CLEAR)
    old, _ = stored_ports(memory, clock)
    memory.pin(old)
    curated = memory.curate()
    assert (curated.proposed, curated.applied) == (1, 0)


def test_facts_of_one_moment_are_not_applied(open_memory: Opening, embedder: HashedWords) -> None:
    memory = open_memory(embedder, settings=CLEAR)
    memory.remember([OLD_PORT, NEW_PORT])
    assert memory.curate().applied == 0


def test_nothing_is_applied_by_default(memory: Memory, clock: Clock) -> None:
    stored_ports(memory, clock)
    assert memory.curate().applied == 0
    assert memory.edges(kind="supersedes") == []


def test_an_updated_fact_is_looked_at_again(memory: Memory, clock: Clock) -> None:
    stored_ports(memory, clock)
    other = memory.remember("The kettle is red.")
    clock.now += timedelta(days=1)
    assert memory.curate().proposed == 1
    clock.now += timedelta(days=1)
    memory.update(other, text="Orion runs on port 9999.")
    assert memory.curate().proposed >= 1
