"""Facts stored as replacements of older ones: remember(supersedes=…), connect(kind="supersedes"), and the list of replaced facts."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from cofire import AsyncMemory, Fact, Memory
from cofire.errors import InvalidFact, InvalidInput, NotFound
from tests.conftest import Clock

OLD, NEW = "Node is pinned to 18.19.", "Node is pinned to 20.11."


def replaced_ids(memory: Memory) -> list[str]:
    return [fact.id for fact in memory.facts(superseded=True)]


def test_remember_supersedes_does_what_supersede_does(memory: Memory, clock: Clock) -> None:
    old = memory.remember(OLD)
    clock.now += timedelta(days=1)
    new = memory.remember(NEW, supersedes=old)
    (edge,) = memory.edges(kind="supersedes")
    assert (edge.source, edge.target, edge.origin) == (new, old, "user")
    assert memory.facts(old)[0].valid_until is not None
    clock.now += timedelta(days=1)
    assert memory.recall("Which Node version is pinned?").ids == (new,)
    memory.unsupersede(old, new)
    assert memory.facts(old)[0].valid_until is None
    assert memory.edges(kind="supersedes") == []


def test_the_older_fact_ends_when_the_newer_one_happened(memory: Memory, clock: Clock) -> None:
    old = memory.remember(OLD)
    happened = clock.now + timedelta(days=3)
    clock.now += timedelta(days=5)
    memory.remember(NEW, at=happened, supersedes=old)
    assert memory.facts(old)[0].valid_until == happened


def test_one_fact_can_supersede_several(memory: Memory) -> None:
    old_ids = memory.remember([OLD, "Node runs as version 18."])
    new = memory.remember(Fact(NEW, supersedes=tuple(old_ids)))
    assert {edge.target for edge in memory.edges(kind="supersedes") if edge.source == new} == set(old_ids)


def test_each_item_of_a_list_names_its_own(memory: Memory) -> None:
    node, standup = memory.remember([OLD, "The standup is at 9:30."])
    new_ids = memory.remember(
        [{"text": NEW, "supersedes": node}, Fact("The standup is at 10:00.", supersedes=(standup,)), "Tea is at four."]
    )
    replaced = {fact.id: fact.superseded_by for fact in memory.facts(superseded=True)}
    assert replaced == {node: (new_ids[0],), standup: (new_ids[1],)}


def test_nothing_is_stored_when_an_id_is_unknown(memory: Memory) -> None:
    old = memory.remember(OLD)
    with pytest.raises(NotFound, match="No fact has the id nope"):
        memory.remember([{"text": NEW, "supersedes": [old, "nope"]}, "Tea is at four."])
    assert [fact.id for fact in memory.facts()] == [old]
    assert memory.edges(kind="supersedes") == []


@pytest.mark.parametrize("wrong", [7, {"id": "x"}, b"x", [None], [""]])
def test_what_is_no_id_is_refused(memory: Memory, wrong: object) -> None:
    with pytest.raises(InvalidFact, match="supersedes"):
        memory.remember(NEW, supersedes=wrong)  # type: ignore[call-overload]
    assert memory.facts() == []


def test_a_known_text_supersedes_under_its_own_id(memory: Memory) -> None:
    old, known = memory.remember([OLD, NEW])
    assert memory.remember(NEW, supersedes=old) == known
    assert memory.facts(old)[0].superseded_by == (known,)


def test_a_text_given_twice_supersedes_under_one_id(memory: Memory) -> None:
    old = memory.remember(OLD)
    first, second = memory.remember([NEW, {"text": NEW, "supersedes": old}])
    assert first == second
    assert memory.facts(old)[0].superseded_by == (first,)


def test_a_fact_cannot_supersede_itself(memory: Memory) -> None:
    old = memory.remember(OLD)
    with pytest.raises(InvalidInput, match="cannot supersede itself"):
        memory.remember(OLD, supersedes=old)
    assert memory.facts(old)[0].reinforced == 0


def test_facts_of_two_scopes_cannot_supersede_each_other(memory: Memory) -> None:
    old = memory.remember(OLD, scope="a")
    with pytest.raises(InvalidInput, match="scope"):
        memory.remember(NEW, scope="b", supersedes=old)
    assert len(memory.facts()) == 1


def test_two_facts_cannot_supersede_each_other_in_one_call(memory: Memory) -> None:
    old, new = memory.remember([OLD, NEW])
    with pytest.raises(InvalidInput, match="in the same call"):
        memory.remember([{"text": NEW, "supersedes": old}, {"text": OLD, "supersedes": new}])
    assert memory.edges(kind="supersedes") == []


def test_what_was_true_before_can_become_true_again(memory: Memory, clock: Clock) -> None:
    old = memory.remember(OLD)
    clock.now += timedelta(days=1)
    new = memory.remember(NEW, supersedes=old)
    clock.now += timedelta(days=1)
    assert memory.remember(OLD, supersedes=new) == old
    clock.now += timedelta(days=1)
    assert [fact.id for fact in memory.facts()] == [old]
    assert replaced_ids(memory) == [new]
    clock.now += timedelta(days=1)
    memory.remember(NEW, supersedes=old)
    assert replaced_ids(memory) == [old]


def test_a_superseded_or_archived_fact_can_be_superseded_again(memory: Memory) -> None:
    old = memory.remember(OLD)
    first = memory.remember(NEW, supersedes=old)
    memory.archive(old)
    second = memory.remember("Node is pinned to 22.4.", supersedes=[old, first])
    assert memory.facts(old)[0].superseded_by == (first, second)
    assert replaced_ids(memory) == [first, old]


def test_forgetting_the_newer_fact_and_undoing_it_restores_the_replacement(memory: Memory) -> None:
    old = memory.remember(OLD)
    new = memory.remember(NEW, supersedes=old)
    memory.undo(memory.forget(new))
    assert memory.facts(old)[0].superseded_by == (new,)
    memory.unsupersede(old, new)
    assert memory.facts(old)[0].valid_until is None


def test_connecting_by_supersedes_replaces_the_target(memory: Memory, clock: Clock) -> None:
    old, new = memory.remember([OLD, NEW])
    clock.now += timedelta(days=1)
    edge = memory.connect(new, old, kind="supersedes", confidence=0.9, tags=["node"])
    assert (edge.source, edge.target, edge.confidence, edge.tags) == (new, old, 0.9, ("node",))
    assert memory.edges(kind="supersedes") == [edge]
    assert any(link.kind == "supersedes" for link in memory.neighbours(old))
    clock.now += timedelta(days=1)
    assert memory.recall("Which Node version is pinned?").ids == (new,)
    assert memory.portrait(old).fact.superseded_by == (new,)
    memory.unsupersede(old, new)
    assert memory.facts(old)[0].valid_until is None


def test_connecting_by_supersedes_refuses_a_cycle(memory: Memory) -> None:
    old, new = memory.remember([OLD, NEW])
    memory.connect(new, old, kind="supersedes")
    with pytest.raises(InvalidInput, match="has itself been superseded"):
        memory.connect(old, new, kind="supersedes")


def test_replaced_facts_are_listed_by_filter_and_page(memory: Memory) -> None:
    old_ids = memory.remember([f"The build takes {minutes} minutes." for minutes in range(3, 8)], tags=["ci"])
    newest = memory.remember("The build takes 2 minutes.", supersedes=old_ids)
    other = memory.remember(OLD, scope="web")
    memory.remember(NEW, scope="web", supersedes=other)
    first_page = memory.facts(superseded=True, limit=2, scope="default")
    assert [fact.id for fact in first_page] == [old_ids[4], old_ids[3]]
    assert first_page[0].superseded_by == (newest,)
    rest = memory.facts(superseded=True, before=old_ids[3], tags="ci")
    assert [fact.id for fact in rest] == [old_ids[2], old_ids[1], old_ids[0]]
    assert [fact.id for fact in memory.facts(superseded=True, scope="web")] == [other]
    assert memory.facts(superseded=True, pinned=True) == []


def test_an_ended_fact_that_nothing_replaced_is_not_superseded(memory: Memory, clock: Clock) -> None:
    ended = memory.remember(OLD, valid_until=clock.now + timedelta(days=1))
    clock.now += timedelta(days=2)
    assert memory.facts(superseded=True) == []
    assert memory.facts(ended)[0].superseded_by == ()


def test_async_memory_supersedes_too() -> None:
    async def replace_one() -> None:
        async with AsyncMemory(":memory:", embedder=None) as memory:
            old = await memory.remember(OLD)
            new = await memory.remember(NEW, supersedes=[old])
            (replaced,) = await memory.facts(superseded=True)
            assert (replaced.id, replaced.superseded_by) == (old, (new,))

    asyncio.run(replace_one())
