"""Communities: listed with names that tell them apart, and asked alone."""

from __future__ import annotations

import pytest

from cofire.memory import Memory
from cofire.stores.base import Store
from cofire.verbs.graph import choose_group_names
from tests.conftest import Clock
from tests.verbs.knob_proofs import NOTES, Sensitive


@pytest.fixture
def memory(store: Store) -> Memory:
    memory = Memory(store, embedder=Sensitive(), clock=Clock())
    memory.remember(NOTES)
    memory.remember("Nobody else is here.", scope="other")
    return memory


def test_before_a_dream_there_are_none(memory: Memory) -> None:
    assert memory.communities() == []


def test_the_largest_comes_first_with_its_facts_and_a_name(memory: Memory) -> None:
    memory.dream()
    found = memory.communities(scope="default")
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)
    assert sum(one.size for one in found) == len(NOTES)
    assert all(one.name and one.facts for one in found)
    assert "kettle" in next(one for one in found if any("kettle" in fact.text for fact in one.facts)).name
    assert len({(one.scope, one.number) for one in memory.communities()}) == len(memory.communities())


def test_one_community_can_be_asked_alone(memory: Memory) -> None:
    memory.dream()
    for one in memory.communities(scope="default"):
        listed = {fact.id for fact in memory.facts(community=one.number, scope="default")}
        assert len(listed) == one.size
        assert {fact.id for fact in one.facts} <= listed
        found = memory.recall("red kettle boils, trains leave", community=one.number)
        assert set(found.ids) <= listed


def test_company_of_the_best_can_count_and_adds_up(memory: Memory) -> None:
    memory.dream()
    weighed = memory.recall("red kettle", settings={"prior.community": 1.0})
    together = {id: one.number for one in memory.communities(scope="default") for id in _members(memory, one.number)}
    company = {hit.id: hit.channels["community"].gives for hit in weighed}
    assert len({together[id] for id in company}) > 1
    best = together[weighed.ids[0]]
    assert max(company, key=lambda id: company[id]) in {id for id in company if together[id] == best}
    for hit in weighed:
        assert sum(heard.gives for heard in hit.channels.values()) == pytest.approx(hit.score)


def _members(memory: Memory, number: int) -> list[str]:
    return [fact.id for fact in memory.facts(community=number, scope="default")]


def test_communities_that_are_none_hold_nothing(memory: Memory) -> None:
    memory.dream()
    assert memory.facts(community=999) == []
    assert not memory.recall("red kettle", community=999).known


def test_a_name_prefers_what_others_do_not_say() -> None:
    green, black = frozenset({"green tea", "cup"}), frozenset({"black coffee", "cup"})
    assert choose_group_names([[green] * 2, [black] * 3]) == ["green tea, cup", "black coffee, cup"]
    assert choose_group_names([[]]) == [""]
