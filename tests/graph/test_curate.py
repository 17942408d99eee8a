"""Curation on every store: what fades, what stays, what is archived and why, and that twice is once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire import Memory
from cofire.async_memory import AsyncMemory
from cofire.errors import NotFound
from cofire.model import Change, Edge, EdgeWrite
from cofire.runtime.background import BackgroundCurator
from cofire.stores.base import Store
from tests.conftest import START, Clock, HashedWords, Opening
from tests.reference_store.store import ReferenceStore

KINDS = ("hebbian", "auto_link", "co_occurs", "bridge")


@pytest.fixture
def opened(open_memory: Opening, embedder: HashedWords) -> Any:
    def made(**settings: object) -> Memory:
        given = {"auto_link.enabled": False, **{name.replace("__", "."): value for name, value in settings.items()}}
        return open_memory(embedder, settings=given)

    return made


def drawn(memory: Memory, store: Store, clock: Clock, kind: str = "hebbian", weight: float = 0.8, **said: Any) -> Edge:
    """Two facts, and an edge between them as memory itself would make it."""
    a, b = memory.remember([f"{kind} one", f"{kind} two"])
    edge = Edge(a, b, kind, weight, **{"confidence": 1.0, "origin": "dream", **said})
    store.write(Change(now=clock(), edges=(EdgeWrite(edge),)), {})
    return edge


def only(memory: Memory, kind: str) -> Edge | None:
    return next(iter(memory.edges(kind=kind)), None)


def use_daily(memory: Memory, clock: Clock, days: int) -> None:
    for day in range(days):
        clock.now += timedelta(days=1)
        memory.remember(f"note of day {clock.now:%Y-%m-%d} {day}", session=None)


def test_a_behavioural_edge_fades_after_its_grace(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar")
    drawn(memory, store, clock)
    clock.now += timedelta(days=29)
    assert memory.curate().faded == 0
    clock.now += timedelta(days=21)
    assert memory.curate().faded == 1
    assert only(memory, "hebbian").weight == pytest.approx(0.8 * 2.718281828 ** (-0.5), abs=1e-6)


def test_curating_twice_is_curating_once(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar")
    drawn(memory, store, clock)
    drawn(memory, store, clock, "similar", 0.6)
    clock.now += timedelta(days=100)
    first = memory.curate()
    after = memory.edges()
    again = memory.curate()
    assert (first.faded, first.lowered) == (1, 1)
    assert (again.faded, again.ended, again.lowered, again.pruned, again.archived) == (0, 0, 0, 0, {})
    assert memory.edges() == after


def test_fading_in_steps_comes_to_the_same_as_at_once(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar")
    drawn(memory, store, clock)
    for _ in range(10):
        clock.now += timedelta(days=10)
        memory.curate()
    assert only(memory, "hebbian").weight == pytest.approx(0.8 * 2.718281828 ** (-1.0), abs=1e-6)


def test_a_faded_edge_that_is_strengthened_begins_anew(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar")
    edge = drawn(memory, store, clock)
    clock.now += timedelta(days=50)
    memory.curate()
    left = only(memory, "hebbian").weight
    store.write(Change(now=clock(), edges=(EdgeWrite(edge, "reinforce"),)), {})
    clock.now += timedelta(days=20)
    assert memory.curate().faded == 0
    assert only(memory, "hebbian").weight == left
    clock.now += timedelta(days=20)
    memory.curate()
    assert only(memory, "hebbian").weight == pytest.approx(left * 2.718281828 ** (-0.4), abs=1e-5)


def test_an_edge_ends_below_a_twentieth(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar")
    drawn(memory, store, clock)
    clock.now += timedelta(days=300)
    assert memory.curate().ended == 1
    assert only(memory, "hebbian") is None


def test_a_memory_that_nobody_opened_has_lost_nothing(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened()
    drawn(memory, store, clock)
    drawn(memory, store, clock, "similar", 0.6)
    clock.now += timedelta(days=365)
    done = memory.curate()
    assert (done.faded, done.ended, done.lowered) == (0, 0, 0)


def test_days_of_use_make_it_fade(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened()
    drawn(memory, store, clock)
    clock.now += timedelta(days=365)
    use_daily(memory, clock, 31)
    assert memory.curate().faded == 1
    assert only(memory, "hebbian").weight == pytest.approx(0.8 * 2.718281828 ** (-0.31), abs=1e-6)


def test_structural_edges_lose_confidence_and_keep_their_weight(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar")
    drawn(memory, store, clock, "similar", 0.6)
    clock.now += timedelta(days=200)
    assert memory.curate().lowered == 1
    kept = only(memory, "similar")
    assert (kept.weight, kept.confidence) == (0.6, 0.8)
    clock.now += timedelta(days=5_000)
    memory.curate()
    assert only(memory, "similar").confidence == 0.1


@pytest.mark.parametrize("kind", ["hebbian", "similar"])
def test_what_a_user_made_never_fades(opened: Any, store: Store, clock: Clock, kind: str) -> None:
    memory = opened(decay__clock="calendar")
    drawn(memory, store, clock, kind, 0.06, origin="user")
    clock.now += timedelta(days=1_000)
    done = memory.curate()
    assert (done.faded, done.ended, done.lowered, done.pruned) == (0, 0, 0, 0)


def test_edges_of_a_pinned_fact_never_fade(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar")
    edge = drawn(memory, store, clock)
    store.write(Change(now=clock(), pins={edge.source: True}), {})
    clock.now += timedelta(days=1_000)
    assert memory.curate().ended == 0


def test_weak_similarity_edges_are_pruned(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened()
    drawn(memory, store, clock, "similar", 0.09)
    drawn(memory, store, clock, "semantic", 0.11)
    drawn(memory, store, clock, "hebbian", 0.06)
    assert memory.curate().pruned == 1
    assert {edge.kind for edge in memory.edges()} == {"semantic", "hebbian"}


def test_a_dry_run_tells_and_changes_nothing(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened(decay__clock="calendar", retention__days=10)
    drawn(memory, store, clock)
    drawn(memory, store, clock, "similar", 0.09)
    clock.now += timedelta(days=100)
    before = memory.edges(), memory.facts()
    told = memory.curate(dry_run=True)
    assert (memory.edges(), memory.facts()) == before
    assert (told.faded, told.lowered, told.pruned, len(told.archived), told.dry_run) == (1, 1, 1, 4, True)
    assert {(one.kind, one.before, one.after) for one in told.examples} == {
        ("hebbian", 0.8, 0.294304),
        ("similar", 1.0, 0.9),
        ("similar", 0.09, None),
    }
    done = memory.curate()
    assert (done.faded, done.lowered, done.pruned) == (1, 1, 1)


def test_facts_that_nobody_uses_are_archived_and_it_is_said_why(opened: Any, clock: Clock) -> None:
    memory = opened(retention__days=30, retention__keep="decision,preference", decay__clock="calendar")
    old = memory.remember("The kettle is red.", category="knowledge")
    kept = memory.remember("We chose tea.", category="decision")
    clock.now += timedelta(days=31)
    fresh = memory.remember("The cup is blue.", category="knowledge")
    assert set(memory.curate().archived) == {old}
    assert memory.why_archived(old) == "unused for 31 days; retention.days is 30"
    assert memory.why_archived(kept) is None
    assert {hit.id for hit in memory.recall("kettle tea cup")} <= {kept, fresh}
    assert memory.facts(old)[0].archived


def test_what_was_recalled_or_told_again_is_in_use(opened: Any, clock: Clock) -> None:
    memory = opened(retention__days=30, decay__clock="calendar")
    told, lost = memory.remember("The kettle is red."), memory.remember("Zebras graze far away.")
    clock.now += timedelta(days=20)
    memory.remember("The kettle is red.")
    clock.now += timedelta(days=20)
    assert set(memory.curate().archived) == {lost}
    assert told not in memory.curate().archived


def test_why_archived_of_an_unknown_fact_is_an_error(opened: Any) -> None:
    with pytest.raises(NotFound):
        opened().why_archived("nobody")


def test_a_budget_archives_the_least_valuable_first(opened: Any, clock: Clock, store: Store) -> None:
    memory = opened(budget__facts=2, decay__clock="calendar")
    pinned, old = memory.remember("First of all."), memory.remember("Second thing.")
    store.write(Change(now=clock(), pins={pinned: True}), {})
    clock.now += timedelta(days=100)
    memory.remember("Third thing.")
    done = memory.curate()
    assert set(done.archived) == {old}
    assert "3 facts were more than budget.facts = 2" in memory.why_archived(old)
    assert "recency 0.33" in memory.why_archived(old)
    assert memory.curate().archived == {}


def test_a_budget_of_bytes_counts_texts_and_vectors(opened: Any) -> None:
    memory = opened(budget__bytes=200)
    memory.remember(["a" * 50, "b" * 50, "c" * 50])
    assert len(memory.curate().archived) == 2


def test_ranks_and_communities_are_always_refreshed(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened()
    edge = drawn(memory, store, clock)
    assert memory.curate().communities == 1
    assert store.fetch_importance([edge.source])


def test_orphans_are_facts_that_nothing_links(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened()
    drawn(memory, store, clock)
    memory.remember("alone in the world")
    assert memory.curate().orphans == 1


def test_facts_without_a_vector_are_told(open_memory: Opening, embedder: HashedWords) -> None:
    open_memory(embedder).remember("with a vector")
    memory = open_memory(None)
    memory.remember("without one")
    assert memory.curate().drift == "1 of 2 facts have no vector: run reembed."


def test_no_scope_is_crossed(opened: Any, store: Store, clock: Clock) -> None:
    memory = opened()
    memory.remember("The kettle is red.", scope="a")
    memory.remember("The kettle is blue.", scope="b")
    memory.dream()
    assert memory.curate().proposed == 0


def test_progress_is_told_a_stage_at_a_time(opened: Any) -> None:
    steps: list[Any] = []
    opened().curate(progress=steps.append)
    assert [step.done for step in steps] == list(range(steps[-1].total + 1))


def test_the_async_one_curates_too(store: Store, clock: Clock) -> None:
    async def curated() -> tuple[int, list[Any]]:
        memory = AsyncMemory(store, embedder=None, clock=clock)
        await memory.remember("The kettle is red.")
        return (await memory.curate()).communities, await memory.review()

    assert asyncio.run(curated()) == (1, [])


def test_an_open_memory_curates_when_the_time_has_come(clock: Clock) -> None:
    runs: list[object] = []
    curator = BackgroundCurator(curate=lambda: runs.append(1), clock=clock, every_hours=2)
    assert not curator.run_if_due()
    clock.now += timedelta(hours=2)
    assert curator.run_if_due()
    assert not curator.run_if_due()
    assert len(runs) == 1
    curator.close()


@given(some.lists(some.tuples(some.floats(0, 1), some.integers(1, 120)), min_size=1, max_size=6))
def test_whenever_it_is_curated_in_between_the_end_is_the_same(lives: list[tuple[float, int]]) -> None:
    """Weights stay within 0 and 1, never rise, and depend on the days alone, not on how often somebody curated."""
    ends = []
    for often in (True, False):
        store, clock = ReferenceStore(), Clock()
        memory = Memory(store, embedder=None, settings={"decay.clock": "calendar"}, clock=clock)
        edges = [
            drawn(memory, store, clock, f"{kind}", weight) for kind, (weight, _) in zip(KINDS, lives, strict=False)
        ]
        for _, days in lives:
            clock.now = START + timedelta(days=(clock.now - START).days + days)
            if often:
                memory.curate()
        memory.curate()
        left = {edge.kind: edge.weight for edge in memory.edges()}
        assert all(0 <= (left.get(edge.kind) or 0) <= (edge.weight or 0) + 1e-6 for edge in edges)
        ends.append(left)
    assert ends[0] == ends[1]


RETAINING = {"retention.days": 30, "decay.clock": "calendar", "abstention.rule": "off"}


def test_a_dry_run_knows_what_was_recalled_just_now(tmp_path: Path) -> None:
    clock = Clock()
    with Memory(tmp_path / "m.db", embedder=None, clock=clock, settings=RETAINING) as memory:
        _, mug = memory.remember(["The kettle is red.", "The mug is blue."])
        clock.now += timedelta(days=34)
        memory.recall("kettle")
        assert set(memory.curate(dry_run=True).archived) == {mug}


def test_curation_in_another_process_knows_what_was_recalled_lately(tmp_path: Path) -> None:
    clock = Clock()
    with (
        Memory(tmp_path / "m.db", embedder=None, clock=clock, settings=RETAINING) as asking,
        Memory(tmp_path / "m.db", embedder=None, clock=clock, settings=RETAINING) as curating,
    ):
        _, mug = asking.remember(["The kettle is red.", "The mug is blue."])
        clock.now += timedelta(days=33)
        asking.recall("kettle")
        clock.now += timedelta(days=1)
        asking.recall("kettle")
        assert set(curating.curate().archived) == {mug}
