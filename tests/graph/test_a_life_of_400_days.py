"""Four hundred days of a store, in seconds: what is strong, what has faded, what was archived, and what came back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cofire import Memory
from cofire.model import Change, Edge, EdgeWrite
from cofire.stores.base import Store
from tests.conftest import Clock, HashedWords, Opening

DAYS, USED = 400, 7


@pytest.fixture
def memory(open_memory: Opening, embedder: HashedWords) -> Memory:
    return open_memory(embedder, settings={"retention.days": 40, "retention.keep": "decision"})


def lived(memory: Memory, store: Store, clock: Clock, *, days: int) -> dict[str, str]:
    """A memory that is used every seventh day and curated every twentieth: one pair is strengthened, one is not."""
    texts = ("kettle", "teapot", "anchor", "zebra", "chosen", "pinned")
    ids = {text: memory.remember(f"The {text} story.", category="knowledge") for text in texts[:4]}
    ids["chosen"] = memory.remember("We chose the blue door.", category="decision")
    ids["pinned"] = memory.remember("The key is under the mat.", category="knowledge")
    used, unused = (Edge(ids[a], ids[b], "hebbian", 0.8, 1.0, (), "use") for a, b in (texts[:2], texts[2:4]))
    store.write(Change(now=clock(), edges=(EdgeWrite(used), EdgeWrite(unused)), pins={ids["pinned"]: True}), {})
    start = clock.now
    for day in range(1, days + 1):
        clock.now = start + timedelta(days=day)
        if day % USED == 0:
            memory.remember(["The kettle story.", "The teapot story."])
            store.write(Change(now=clock(), edges=(EdgeWrite(used, "reinforce"),)), {})
        if day % 20 == 0:
            memory.curate()
    return ids


def test_four_hundred_days(memory: Memory, store: Store, clock: Clock) -> None:
    ids = lived(memory, store, clock, days=DAYS)
    left = {(edge.source, edge.target): edge.weight for edge in memory.edges(kind="hebbian")}
    in_use = DAYS // USED
    assert left[ids["kettle"], ids["teapot"]] == 0.8
    assert left[ids["anchor"], ids["zebra"]] == pytest.approx(0.8 * 2.718281828 ** (-0.01 * in_use), abs=1e-6)
    archived = {fact.id for fact in memory.facts(list(ids.values())) if fact.archived}
    assert archived == {ids["anchor"], ids["zebra"]}
    assert memory.why_archived(ids["zebra"]) == "unused for 40 days; retention.days is 40"
    assert ids["zebra"] not in [hit.id for hit in memory.recall("zebra story")]
    memory.restore(ids["zebra"])
    assert memory.recall("zebra story")[0].id == ids["zebra"]
    assert memory.why_archived(ids["zebra"]) is None
    assert ids["zebra"] not in memory.curate().archived


def test_a_year_asleep_changes_nothing(memory: Memory, store: Store, clock: Clock) -> None:
    ids = lived(memory, store, clock, days=80)
    before = memory.edges(), memory.facts(list(ids.values()))
    clock.now += timedelta(days=365)
    memory.curate()
    assert (memory.edges(), memory.facts(list(ids.values()))) == before
