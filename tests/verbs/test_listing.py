"""Listing and stats, end to end."""

from __future__ import annotations

import pytest

from cofire.errors import InvalidQuestion, NotFound
from cofire.memory import Memory
from tests.conftest import Opening


def test_facts_are_listed_newest_first(memory: Memory) -> None:
    memory.remember(["one", "two", "three"])
    assert [fact.text for fact in memory.facts()] == ["three", "two", "one"]


def test_without_a_scope_every_scope_is_listed(memory: Memory) -> None:
    memory.remember("one", scope="a")
    memory.remember("two", scope="b")
    assert [fact.scope for fact in memory.facts()] == ["b", "a"]
    assert [fact.scope for fact in memory.facts(scope="a")] == ["a"]


def test_pages_follow_each_other(memory: Memory) -> None:
    memory.remember([f"fact {number}" for number in range(5)])
    first = memory.facts(limit=2)
    second = memory.facts(limit=2, before=first[-1].id)
    third = memory.facts(limit=2, before=second[-1].id)
    assert [fact.text for fact in first + second + third] == [f"fact {number}" for number in (4, 3, 2, 1, 0)]
    assert memory.facts(limit=2, before=third[-1].id) == []


def test_what_is_archived_is_listed_by_itself(memory: Memory) -> None:
    one, two, three = memory.remember(["one", "two", "three"])
    memory.archive([one, three])
    assert [fact.id for fact in memory.facts()] == [two]
    assert [fact.id for fact in memory.facts(archived=True)] == [three, one]
    assert [fact.id for fact in memory.facts(archived=True, limit=1, before=three)] == [one]
    assert memory.facts(archived=True, scope="elsewhere") == []


def test_facts_come_by_id_in_the_order_given(memory: Memory) -> None:
    one, two = memory.remember(["one", "two"])
    assert [fact.text for fact in memory.facts([two, one])] == ["two", "one"]
    assert [fact.text for fact in memory.facts(one)] == ["one"]
    assert memory.facts([]) == []


@pytest.mark.parametrize("verb", ["neighbours", "portrait", "use", "why_archived", "history", "update"])
def test_a_list_is_not_taken_for_the_id_of_one_fact(memory: Memory, verb: str) -> None:
    with pytest.raises(InvalidQuestion, match="An id must be text"):
        getattr(memory, verb)([memory.remember("one")])


def test_an_unknown_id_is_an_error_that_names_it(memory: Memory) -> None:
    with pytest.raises(NotFound, match="No fact has the id nowhere"):
        memory.facts([memory.remember("one"), "nowhere"])


@pytest.mark.parametrize("limit", [0, -1, "3", 1.5, True])
def test_a_limit_must_be_a_whole_number(memory: Memory, limit: object) -> None:
    with pytest.raises(InvalidQuestion, match="limit cannot be"):
        memory.facts(limit=limit)


def test_an_id_must_be_text(memory: Memory) -> None:
    with pytest.raises(InvalidQuestion, match="An id must be text"):
        memory.facts([7])


def test_an_id_outside_the_scope_named_is_not_shown(memory: Memory) -> None:
    id = memory.remember("theirs", scope="team-b")
    with pytest.raises((InvalidQuestion, NotFound)):
        memory.facts(id, scope="team-a")


def test_stats_tell_what_memory_holds(memory: Memory) -> None:
    memory.remember(["one", "two"], scope="a")
    memory.remember("three", scope="b")
    stats = memory.stats()
    assert (stats.size.facts, dict(stats.size.scopes)) == (3, {"a": 2, "b": 1})
    assert (stats.mode, stats.model, stats.without_vector) == ("words and meaning", "hashed-words", 0)


def test_stats_tell_of_facts_without_a_vector(open_memory: Opening) -> None:
    wordy = open_memory(None)
    wordy.remember(["one", "two"])
    assert (wordy.stats().mode, wordy.stats().model) == ("words only (no embedder)", None)
    memory = open_memory()
    memory.remember("three")
    assert memory.stats().without_vector == 2


def test_stats_of_an_empty_memory(memory: Memory) -> None:
    stats = memory.stats()
    assert (stats.size.facts, stats.model, stats.without_vector) == (0, None, 0)
