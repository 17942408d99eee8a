"""A new fact is linked at once to those most like it, and they are described anew."""

from __future__ import annotations

import pytest

from cofire import Memory
from tests.conftest import HashedWords, Opening

POOL = "PostgreSQL connection pooling is configured via PgBouncer."
LIKE_IT = "PostgreSQL connection pooling is configured via PgBouncer today."
OTHER = "Grandma bakes apple pie on sundays."


def auto_links(memory: Memory) -> set[frozenset[str]]:
    return {frozenset((edge.source, edge.target)) for edge in memory.edges(kind="auto_link")}


def test_like_facts_are_linked_in_both_directions_and_others_are_not(memory: Memory) -> None:
    first, other, second = memory.remember(POOL), memory.remember(OTHER), memory.remember(LIKE_IT)
    assert auto_links(memory) == {frozenset((first, second))}
    assert [link.kind for link in memory.neighbours(first)] == [link.kind for link in memory.neighbours(second)]
    assert "auto_link" not in {link.kind for link in memory.neighbours(other)}


def test_facts_of_one_call_are_linked_with_each_other(memory: Memory) -> None:
    first, second = memory.remember([POOL, LIKE_IT])
    assert auto_links(memory) == {frozenset((first, second))}


def test_the_weight_is_the_centred_cosine(memory: Memory, embedder: HashedWords) -> None:
    memory.remember([POOL, LIKE_IT])
    seen = embedder.embed([POOL, LIKE_IT], "fact") - embedder.mean
    seen /= ((seen**2).sum(axis=1, keepdims=True)) ** 0.5
    assert memory.edges(kind="auto_link")[0].weight == pytest.approx(float(seen[0] @ seen[1]), abs=2e-3)


def test_links_stay_within_a_scope(memory: Memory) -> None:
    memory.remember(POOL, scope="a")
    memory.remember(LIKE_IT, scope="b")
    assert auto_links(memory) == set()


def test_the_threshold_can_be_set(open_memory: Opening) -> None:
    strict = open_memory(settings={"auto_link.threshold": 0.999})
    strict.remember(POOL)
    strict.remember(LIKE_IT)
    assert auto_links(strict) == set()


def test_no_more_links_than_allowed(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.most": 2, "auto_link.threshold": 0.7})
    memory.remember([f"{POOL} number {number}" for number in range(5)])
    before = auto_links(memory)
    id = memory.remember(f"{POOL} number 9")
    assert sum(id in pair for pair in auto_links(memory) - before) == 2


def test_telling_a_fact_again_links_nothing_again(memory: Memory) -> None:
    memory.remember(POOL)
    memory.remember(LIKE_IT)
    memory.remember(LIKE_IT)
    assert len(memory.edges(kind="auto_link")) == 1


def test_auto_linking_can_be_switched_off(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.enabled": False})
    memory.remember([POOL, LIKE_IT])
    memory.dream()
    assert auto_links(memory) == set()


def test_many_facts_in_one_call_are_linked_by_the_next_dream(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.batch": 1, "auto_link.threshold": 0.7})
    first, second = memory.remember([POOL, LIKE_IT])
    assert auto_links(memory) == set()
    memory.dream()
    assert auto_links(memory) == {frozenset((first, second))}


def test_without_an_embedder_linking_waits(wordy: Memory) -> None:
    wordy.remember([POOL, LIKE_IT])
    assert auto_links(wordy) == set()


def test_an_old_fact_is_described_by_its_new_connection_and_found_by_its_words(open_memory: Opening) -> None:
    memory = open_memory(settings={"semantic.enabled": False, "auto_link.threshold": 0.7})
    old = memory.remember(POOL)
    memory.remember(LIKE_IT, subject="Zanzibar runbook")
    assert memory.portrait(old).descriptions == ("Goes with: Zanzibar runbook",)
    assert memory.portrait(old).fact.text == POOL
    assert old in memory.recall("zanzibar").ids
    assert old not in memory.recall("goes").ids, "what every description begins with leads nowhere"


def test_descriptions_are_kept_as_history(memory: Memory) -> None:
    old = memory.remember(POOL)
    memory.remember(LIKE_IT, subject="First")
    memory.remember(f"{LIKE_IT} indeed", subject="Second")
    assert memory.portrait(old).descriptions == ("Goes with: First", "Goes with: First; Second")


def test_evolution_can_be_switched_off(open_memory: Opening) -> None:
    memory = open_memory(settings={"evolution.enabled": False})
    old = memory.remember(POOL)
    memory.remember(LIKE_IT)
    assert memory.portrait(old).descriptions == ()
