"""A dream scores what waits, wires it in, ranks and groups; it can be stopped and run again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cofire import Memory
from cofire.errors import StoreFull
from cofire.runtime.runner import run_steps
from cofire.stores.base import InboxSelection, NeighbourCandidates
from cofire.verbs.dream import DreamResult, dream
from cofire.verbs.edge_selection import select_deferred_links
from tests.conftest import HashedWords, Opening

TEAM = [
    "The billing service stores invoices in PostgreSQL.",
    "The billing service stores invoices and receipts in PostgreSQL.",
    "The billing service stores receipts in PostgreSQL tables.",
    "Apple pie needs butter, flour and cinnamon.",
    "Apple pie needs butter, flour and sugar.",
    "Apple pie needs butter, sugar and cinnamon.",
]


def kinds(memory: Memory) -> Counter[str]:
    return Counter(edge.kind for edge in memory.edges())


def test_a_dream_empties_the_inbox_and_links_what_is_similar(memory: Memory) -> None:
    memory.remember(TEAM)
    assert memory.stats().size.waiting == 6
    done = memory.dream()
    assert (done.facts, done.waiting) == (6, 0)
    assert kinds(memory)["similar"] >= 4
    assert kinds(memory)["semantic"] >= 4


def test_a_second_dream_changes_nothing(memory: Memory) -> None:
    memory.remember(TEAM)
    memory.dream()
    before = memory.edges()
    again = memory.dream()
    assert (again.facts, again.new, again.changed, again.ended) == (0, 0, 0, 0)
    assert memory.edges() == before


def test_bridges_are_counted_and_are_no_growth(open_memory: Opening, embedder: HashedWords) -> None:
    settings = {"auto_link.enabled": False, "multi_graph.neighbours": 1, "dream.growth": 0.0}
    memory = open_memory(embedder, settings=settings)
    things, acts = ("Redis", "Kafka", "Vault", "Nginx", "Consul"), ("runs", "failed", "moved", "grew", "slept")
    ids = memory.remember(
        [f"{thing} {act} in {place}." for thing in things for act in acts for place in ("Rome", "Oslo")]
    )
    done = memory.dream()
    assert kinds(memory)["bridge"] > 0
    assert done.new == len(memory.edges())
    before = [memory.portrait(id).importance for id in ids]
    assert memory.dream().new == 0
    assert [memory.portrait(id).importance for id in ids] == before


def test_batches_give_the_same_facts_a_dream_as_one_batch(open_memory: Opening) -> None:
    memory = open_memory(settings={"dream.batch": 2})
    memory.remember(TEAM)
    told: list[int] = []
    memory.dream(progress=lambda progress: told.append(progress.done))
    assert told == [2, 4, 6]
    assert memory.stats().size.waiting == 0


def test_the_stored_weight_is_the_composite_score(memory: Memory) -> None:
    first, second = memory.remember(
        ["red green blue yellow", "red green blue yellow pink"], tags=["t"], category="event"
    )
    memory.dream()
    (edge,) = memory.edges(kind="similar")
    cosine = memory.edges(kind="semantic")[0].weight
    assert {edge.source, edge.target} == {first, second}
    assert edge.weight == pytest.approx(0.55 * cosine + 0.20 + 0.15 + 0.10, abs=1e-5)
    assert (edge.confidence, edge.tags, edge.origin) == (1.0, ("t",), "similarity")


def test_no_fact_has_more_similar_edges_than_the_cap(open_memory: Opening) -> None:
    memory = open_memory(settings={"edge_degree_cap": 2})
    memory.remember([f"red green blue yellow number {number}" for number in range(12)])
    memory.dream()
    for kind in ("similar", "semantic"):
        degree = Counter(id for edge in memory.edges(kind=kind) for id in (edge.source, edge.target))
        assert degree
        assert max(degree.values()) <= 2


def test_a_better_edge_displaces_the_weakest_and_one_made_by_hand_stays(open_memory: Opening) -> None:
    memory = open_memory(settings={"edge_degree_cap": 1, "multi_graph.semantic": False, "auto_link.enabled": False})
    first, weak = memory.remember(["red green blue yellow", "red green blue unlike other"])
    memory.connect(first, weak, kind="supports")
    memory.dream()
    assert memory.edges(kind="similar") == []
    third = memory.remember("grey black white brown")
    fourth = memory.remember("grey black white odd")
    memory.dream()
    fifth = memory.remember("grey black white brown again")
    memory.dream()
    assert {frozenset((edge.source, edge.target)) for edge in memory.edges(kind="similar")} == {
        frozenset((third, fifth))
    }
    assert fourth not in {id for edge in memory.edges(kind="similar") for id in (edge.source, edge.target)}
    assert len(memory.edges(kind="supports")) == 1


@pytest.mark.parametrize("kind", ["semantic", "similar"])
def test_each_kind_of_edge_can_be_switched_off(open_memory: Opening, kind: str) -> None:
    memory = open_memory(settings={f"multi_graph.{kind}": False})
    memory.remember(TEAM)
    memory.dream()
    assert kinds(memory)[kind] == 0


def test_the_whole_graph_can_be_switched_off(open_memory: Opening) -> None:
    memory = open_memory(settings={"multi_graph.enabled": False})
    memory.remember(TEAM, session="s")
    memory.dream()
    assert memory.edges() == []
    assert memory.stats().size.mentions == 0


def test_a_fact_is_found_before_any_dream(memory: Memory) -> None:
    id = memory.remember(TEAM[0])
    assert memory.recall("billing invoices").ids[0] == id


def test_communities_follow_the_topics(memory: Memory) -> None:
    ids = memory.remember(TEAM)
    done = memory.dream()
    groups = [memory.portrait(id).importance.community for id in ids]
    assert done.communities == 2
    assert len({*groups[:3]}) == len({*groups[3:]}) == 1
    assert groups[0] != groups[3]
    assert sum(memory.portrait(id).importance.pagerank for id in ids) == pytest.approx(1.0)


def test_only_the_named_scope_is_dreamed(memory: Memory) -> None:
    memory.remember(TEAM[:3], scope="a")
    memory.remember(TEAM[:3], scope="b")
    assert memory.dream(scope="a").facts == 3
    assert {fact.scope for fact in memory._opened.context.store.list_facts(InboxSelection(), 10)} == {"b"}


def test_ten_thousand_tellings_of_one_text_are_one_fact_to_dream_of(wordy: Memory) -> None:
    wordy.remember(["the same"] * 300)
    assert wordy.dream().facts == 1


def test_a_dream_that_breaks_in_the_middle_leaves_nothing_half_written(memory: Memory) -> None:
    memory.remember(TEAM)
    before = memory.edges()
    context = memory._opened.context

    class Full:
        def __getattr__(self, name: str) -> Any:
            return getattr(context.store, name)

        def for_call(self) -> Any:
            return self

        def write(self, change: Any, expects: Any) -> Any:
            raise StoreFull("No space is left.", way_out="Make some.")

    broken = type(context)(Full(), context.embedder, context.clock, context.mint, context.reader)
    with pytest.raises(StoreFull):
        run_steps(dream(None, memory.settings()), broken)
    assert memory.edges() == before
    assert memory.stats().size.waiting == 6
    assert memory.dream().facts == 6


def test_two_dreams_at_once_do_the_work_once(memory: Memory) -> None:
    """Another process finishes the batch between reading and writing: the first one's change is refused and it looks again."""
    memory.remember(TEAM)
    met: list[int] = []
    done = meanwhile(memory, lambda: met.append(memory.dream().facts))
    assert (met, done.facts) == ([6], 0)


def test_causes_lead_from_the_fact_that_tells_them(memory: Memory) -> None:
    cause = memory.remember("The disk of the database server was full.")
    memory.remember(["Grandma bakes pie.", "Ana plays chess."])
    effect = memory.remember("Checkout failed because the disk of the database server was full.")
    memory.dream()
    (edge,) = memory.edges(kind="causes")
    assert (edge.source, edge.target, edge.weight) == (cause, effect, 1.0)
    assert 0 < edge.confidence <= 1


def test_an_unsaid_cause_is_the_turn_before(memory: Memory) -> None:
    first, second = memory.remember(["The build was red all day.", "That's why we did not deploy."], session="s")
    memory.dream()
    assert [(edge.source, edge.target) for edge in memory.edges(kind="causes")] == [(first, second)]


def test_a_subject_that_comes_later_is_found_in_older_texts(memory: Memory) -> None:
    teller = memory.remember("we rely on transaction mode for the pooler")
    memory.dream()
    about = memory.remember("It is the mode in which a connection is shared.", subject="Transaction mode")
    memory.dream()
    assert about in {link.target for link in memory.neighbours(teller) if link.kind == "about"}


def test_a_vector_less_memory_still_ranks_and_groups(wordy: Memory) -> None:
    ids = wordy.remember(["Ana met Bob in Paris.", "Bob likes Paris.", "Ana met Carl."], session="s")
    done = wordy.dream()
    assert done.communities >= 1
    assert wordy.portrait(ids[0]).importance is not None


def test_stats_say_when_to_dream(memory: Memory) -> None:
    memory.remember(TEAM)
    assert "6 facts waiting" in memory.stats().advice
    memory.dream()
    assert memory.stats().advice == ""


def meanwhile(memory: Memory, act: Callable[[], object]) -> DreamResult:
    """A dream, with something done between what it computes and what it writes."""
    context, done = memory._opened.context, list[object]()

    class Changing:
        def __getattr__(self, name: str) -> Any:
            return getattr(context.store, name)

        def for_call(self) -> Any:
            return self

        def write(self, change: Any, expects: Any) -> Any:
            if change.dreamed and not done:
                done.append(act())
            return context.store.write(change, expects)

    changing = type(context)(Changing(), context.embedder, context.clock, context.mint, context.reader)
    dreamed = run_steps(dream(None, memory.settings()), changing)
    assert done
    return dreamed


def test_a_fact_that_changes_during_a_dream_is_dreamed_of_anew(memory: Memory) -> None:
    ids = memory.remember(TEAM)
    meanwhile(memory, lambda: memory.update(ids[0], text="Grandma bakes pie with plums from the garden."))
    memory.dream()
    assert memory.stats().size.waiting == 0
    assert all(edge.weight < 0.5 for edge in memory.edges(ids=[ids[0]], kind="similar")), (
        "none is of what it said before"
    )


def test_a_fact_that_is_tagged_during_a_dream_is_dreamed_of_with_its_tags(memory: Memory) -> None:
    ids = memory.remember(TEAM, tags=["team"])
    meanwhile(memory, lambda: memory.update(ids[0], tags=["billing"]))
    memory.dream()
    assert all(not edge.tags for edge in memory.edges(ids=[ids[0]], kind="similar"))


def test_who_is_kin_twice_takes_one_place_among_the_linked() -> None:
    near, again = 0.9, 0.9000001
    kin = NeighbourCandidates(
        ("a", "b", "c", "d"), np.array([3, 3, 3]), np.array([0, 0, 1]), np.array([near, again, 0.8])
    )
    pairs = select_deferred_links(kin, 0.7, 2)
    assert [pairs.ids[row] for row in pairs.old.tolist()] == ["a", "b"]
