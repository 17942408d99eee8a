"""Facts that take the place of others, and facts that seem to disagree: proposed, decided, taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cofire import Memory
from cofire.errors import InvalidInput, NotFound
from tests.conftest import Clock

LIVES = ("Ana Lopez lives in Porto by the river.", "Ana Lopez lives in Lisbon by the river.")


def told(memory: Memory, clock: Clock, **later: object) -> tuple[str, str]:
    old = memory.remember(LIVES[0], subject="Ana Lopez")
    clock.now += timedelta(days=10)
    return old, memory.remember(LIVES[1], subject="Ana Lopez", **later)


def found(memory: Memory, **asked: object) -> list[str]:
    return [hit.id for hit in memory.recall("Where does Ana Lopez live?", **asked)]


def test_recall_prefers_the_newer_fact_and_as_of_before_still_finds_the_older(memory: Memory, clock: Clock) -> None:
    old, new = told(memory, clock)
    before = clock.now
    clock.now += timedelta(days=1)
    edge = memory.supersede(old, new)
    assert (edge.source, edge.target, edge.kind, edge.origin) == (new, old, "supersedes", "user")
    clock.now += timedelta(days=1)
    assert found(memory) == [new]
    assert old in found(memory, as_of=before)


def test_the_older_one_was_true_until_the_newer_happened(memory: Memory, clock: Clock) -> None:
    moved = clock.now + timedelta(days=5)
    old, new = told(memory, clock, at=moved)
    memory.supersede(old, new)
    assert memory.facts(old)[0].valid_until == moved


def test_superseding_is_taken_back(memory: Memory, clock: Clock) -> None:
    until = clock.now + timedelta(days=1_000)
    old = memory.remember(LIVES[0], valid_until=until)
    new = memory.remember(LIVES[1])
    memory.supersede(old, new)
    memory.supersede(old, new)
    clock.now += timedelta(days=1)
    assert old not in found(memory)
    memory.unsupersede(old, new)
    assert memory.facts(old)[0].valid_until == until
    assert set(found(memory)) == {old, new}
    assert memory.edges(kind="supersedes") == []
    with pytest.raises(NotFound, match="does not supersede"):
        memory.unsupersede(old, new)


def test_a_fact_ends_as_long_as_any_other_takes_its_place(memory: Memory, clock: Clock) -> None:
    first, second, third = memory.remember([f"The VPN listens on port {port}." for port in (1194, 443, 51820)])
    memory.supersede(first, second)
    clock.now += timedelta(days=1)
    ended = clock.now
    memory.supersede(first, third)
    clock.now += timedelta(days=1)
    memory.unsupersede(first, second)
    until = memory.facts(first)[0].valid_until
    assert until is not None
    assert abs(until - ended) < timedelta(minutes=1)
    memory.unsupersede(first, third)
    assert memory.facts(first)[0].valid_until is None


def test_a_fact_that_was_told_again_since_is_held_by_no_older_successor(memory: Memory, clock: Clock) -> None:
    first, second, third = memory.remember([f"The VPN listens on port {port}." for port in (1194, 443, 51820)])
    memory.supersede(first, second)
    clock.now += timedelta(days=1)
    memory.remember("The VPN listens on port 1194.")
    memory.supersede(first, third)
    clock.now += timedelta(days=1)
    memory.unsupersede(first, third)
    assert memory.facts(first)[0].valid_until is None


def test_what_is_superseded_before_it_holds_never_does_and_can_still_be_changed(memory: Memory, clock: Clock) -> None:
    begins = clock.now + timedelta(days=5)
    old, new = memory.remember([{"text": LIVES[0], "valid_from": begins}, LIVES[1]])
    memory.supersede(old, new)
    clock.now = begins + timedelta(days=1)
    assert found(memory) == [new]
    assert memory.update(old, tags=["dropped"]).tags == ("dropped",)


def test_a_fact_supersedes_neither_itself_nor_one_of_another_scope(memory: Memory) -> None:
    a, b = memory.remember("one", scope="a"), memory.remember("two", scope="b")
    with pytest.raises(InvalidInput, match="itself"):
        memory.supersede(a, a)
    with pytest.raises(InvalidInput, match="scope"):
        memory.supersede(a, b)
    with pytest.raises(NotFound):
        memory.supersede(a, "nobody")


def test_facts_never_take_each_others_place_in_a_circle(memory: Memory, clock: Clock) -> None:
    first, second, third = memory.remember([f"The VPN listens on port {port}." for port in (1194, 443, 51820)])
    memory.supersede(first, second)
    memory.supersede(second, third)
    with pytest.raises(InvalidInput, match=f"{first} has itself been superseded by {second}"):
        memory.supersede(third, first)
    assert [hit.id for hit in memory.recall("Which port does the VPN listen on?")] == [third]


def test_a_circle_is_refused_before_the_first_of_it_has_ended(memory: Memory, clock: Clock) -> None:
    moves = clock.now + timedelta(days=30)
    old, new = told(memory, clock, at=moves)
    memory.supersede(old, new)
    with pytest.raises(InvalidInput, match="has itself been superseded"):
        memory.supersede(new, old)


def test_a_fact_that_holds_again_takes_the_place_of_its_successor(memory: Memory, clock: Clock) -> None:
    old, new = told(memory, clock)
    memory.supersede(old, new)
    clock.now += timedelta(days=1)
    memory.remember(LIVES[0], subject="Ana Lopez")
    memory.supersede(new, old)
    clock.now += timedelta(days=1)
    assert found(memory) == [old]


def proposed(memory: Memory, clock: Clock) -> tuple[str, str]:
    pair = told(memory, clock)
    memory.dream()
    assert memory.curate().proposed == 1
    return pair


def test_curation_proposes_and_applies_nothing(memory: Memory, clock: Clock) -> None:
    old, new = proposed(memory, clock)
    (one,) = memory.review()
    assert (one.old.id, one.new.id, one.why, one.state) == (old, new, "Porto or Lisbon", "open")
    assert {old, new} <= set(found(memory))
    assert memory.edges(kind="supersedes") == []
    assert memory.curate().proposed == 0


def test_accepting_supersedes(memory: Memory, clock: Clock) -> None:
    old, new = proposed(memory, clock)
    memory.accept(old, new)
    clock.now += timedelta(seconds=1)
    assert memory.review() == []
    assert [one.state for one in memory.review(everything=True)] == ["accepted"]
    assert memory.edges(kind="supersedes")[0].source == new
    with pytest.raises(NotFound, match="review list"):
        memory.accept(old, new)


def test_what_was_dismissed_does_not_come_back(memory: Memory, clock: Clock) -> None:
    old, new = proposed(memory, clock)
    memory.dismiss(old, new)
    memory.remember(LIVES[0], subject="Ana Lopez")
    memory.dream()
    assert memory.curate().proposed == 0
    assert memory.review() == []
    assert [one.state for one in memory.review(everything=True)] == ["dismissed"]


def test_forgetting_a_fact_takes_it_from_the_review(memory: Memory, clock: Clock) -> None:
    old, _ = proposed(memory, clock)
    memory.forget(old)
    assert memory.review(everything=True) == []


def test_facts_about_different_things_are_not_proposed(memory: Memory) -> None:
    memory.remember("Ana Lopez lives in Porto by the river.", subject="Ana Lopez")
    memory.remember("Ben Okri lives in Lisbon by the river.", subject="Ben Okri")
    memory.dream()
    assert memory.curate().proposed == 0


def test_a_fact_is_valid_again_when_all_that_took_its_place_are_gone(memory: Memory, clock: Clock) -> None:
    ana, ben, mei = memory.remember(["Ana is on call.", "Ben is on call.", "Mei is on call."])
    memory.supersede(ana, ben)
    clock.now += timedelta(days=5)
    memory.supersede(ana, mei)
    memory.forget(ben, purge=True)
    memory.unsupersede(ana, mei)
    assert memory.facts(ana)[0].valid_until is None


def test_an_end_that_is_given_later_holds_when_superseding_is_taken_back(memory: Memory, clock: Clock) -> None:
    old, new = memory.remember(LIVES[:2])
    memory.supersede(old, new)
    until = clock.now + timedelta(days=1_000)
    memory.update(old, valid_until=until)
    memory.unsupersede(old, new)
    assert memory.facts(old)[0].valid_until == until
