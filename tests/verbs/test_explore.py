"""Explore: seeds by id or question, paths with their ends, and failing seeds that are told."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest

from cofire import AsyncMemory, Memory
from cofire.activation_paths import ExploreResult
from cofire.errors import InvalidQuestion, InvalidSetting, StoreBusy
from cofire.model import Fact
from cofire.recall.explore import explore, normalise_scores
from cofire.runtime.effects import Emit
from cofire.settings.table import Settings
from cofire.stores.base import Store
from tests.conftest import START, HashedWords, Lent
from tests.verbs.answering import answers_from
from tests.verbs.wandering import expansion

BUSY = StoreBusy("The store is busy.", way_out="Wait.")


def chained(memory: Memory, *texts: str, weight: float = 0.8, tags: Any = None) -> list[str]:
    ids = memory.remember(list(texts))
    for one, other in pairwise(ids):
        memory.connect(one, other, kind="supports", weight=weight, tags=tags)
    return ids


def test_energy_follows_links_outward(wordy: Memory) -> None:
    """T = R·w/√d: b has two neighbours, so that c gets .8·.8/√2."""
    a, b, c = chained(wordy, "apples", "bread", "cheese")
    (seed,) = wordy.explore(a).seeds
    assert seed.status == "complete"
    (path,) = seed.paths
    assert path.ids == (a, b, c)
    assert path.energies == pytest.approx((1.0, 0.8, 0.8 * 0.8 / 2**0.5))
    assert path.end == "dead_end"
    assert [hop.kind for hop in seed.hops_of(path)] == ["supports", "supports"]


def test_energies_over_all_seeds_are_summed(wordy: Memory) -> None:
    """Rulings 27."""
    a, b, c = chained(wordy, "apples", "bread", "cheese")
    found = wordy.explore([a, c], energies={c: 0.5})
    assert found.energy[b] == pytest.approx(0.8 + 0.4)
    assert found.ids[0] == max(found.energy, key=lambda id: found.energy[id])
    assert [(seed.seed, seed.energy) for seed in found.seeds] == [(a, 1.0), (c, 0.5)]


def test_energies_may_be_listed(wordy: Memory) -> None:
    a, b = wordy.remember(["apples", "bread"])
    assert [seed.energy for seed in wordy.explore([a, b], energies=[0.25, 1]).seeds] == [0.25, 1.0]


def test_a_loner_says_that_it_is_alone(wordy: Memory) -> None:
    (seed,) = wordy.explore(wordy.remember("apples")).seeds
    assert [path.end for path in seed.paths] == ["seed_alone"]


def test_a_question_finds_and_weighs_its_seeds(wordy: Memory) -> None:
    """Rulings 34."""
    chained(wordy, "Apples grow in the garden.", "Bread is baked on Monday.")
    found = wordy.explore(query="Where do apples grow?")
    assert found.seeds[0].energy == 1.0
    assert all(0 < seed.energy <= 1 for seed in found.seeds)
    assert len(found.energy) == 2


def test_a_question_that_finds_nothing_says_why(wordy: Memory) -> None:
    found = wordy.explore(query="apples")
    assert found.seeds == ()
    assert found.reason


def test_an_unknown_seed_is_told_and_the_others_go_on(wordy: Memory) -> None:
    """Rulings 26."""
    a = wordy.remember("apples")
    found = wordy.explore(["nobody", a])
    assert [seed.status for seed in found.seeds] == ["seed_not_found", "complete"]
    assert "nobody" in found.seeds[0].reason


def test_tags_prefer_their_links(wordy: Memory) -> None:
    """003 §3: an edge with the tag conducts in full, one without at the floor."""
    a, b, c = wordy.remember(["apples", "bread", "cheese"])
    wordy.connect(a, b, kind="supports", weight=0.8, tags=["food"])
    wordy.connect(a, c, kind="supports", weight=0.8)
    energy = wordy.explore(a, tags="Food").energy
    assert energy[b] == pytest.approx(0.8 / 2**0.5)
    assert energy[c] == pytest.approx(0.15 * 0.8 / 2**0.5)


def test_depth_branches_and_least_energy_may_be_given(wordy: Memory) -> None:
    a, b, _ = chained(wordy, "apples", "bread", "cheese")
    assert [path.end for path in wordy.explore(a, max_depth=1).seeds[0].paths] == ["max_depth"]
    assert [path.end for path in wordy.explore(a, min_activation=0.7).seeds[0].paths] == ["below_threshold"]
    assert wordy.explore(b, branches=1).ids == (b, a)


def test_it_stays_in_the_scope_named(wordy: Memory) -> None:
    a = wordy.remember("apples", scope="kitchen")
    assert wordy.explore(a).seeds[0].status == "complete"
    assert wordy.explore(a, scope="garden").seeds[0].status == "seed_not_found"


def test_what_has_run_out_is_not_passed_through(wordy: Memory) -> None:
    """Rulings 17."""
    a, b, c = wordy.remember(["apples", "bread", "cheese"])
    wordy.connect(a, b, kind="supports", weight=1.0)
    wordy.connect(b, c, kind="supports", weight=1.0)
    wordy.update(b, expires="2020-01-01")
    assert wordy.explore(a).ids == (a,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ids": None},
        {"ids": ["a"], "query": "b"},
        {"ids": []},
        {"ids": [7]},
        {"ids": "a", "energies": [0.0]},
        {"ids": "a", "energies": [1.5]},
        {"ids": "a", "energies": [float("nan")]},
        {"ids": "a", "energies": [True]},
        {"ids": "a", "energies": [0.5, 0.5]},
        {"ids": "a", "energies": {"b": 0.5}},
        {"query": "a", "energies": [0.5]},
        {"query": " "},
        {"ids": "a", "scope": []},
        {"ids": "a", "tags": 7},
    ],
)
def test_what_cannot_be_explored_is_refused(wordy: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidQuestion):
        wordy.explore(**wrong)


def test_limits_out_of_range_are_refused(wordy: Memory) -> None:
    with pytest.raises(InvalidSetting, match=r"energy\.max_depth"):
        wordy.explore("a", max_depth=0)


def test_a_seed_that_fails_is_told_and_the_others_go_on() -> None:
    """Rulings 26."""

    def answer(ask: Any) -> Any:
        if "bad" in ask.ids:
            raise BUSY
        return expansion({"good": {"x": 1.0}}, ask)

    known = answers_from(
        {
            "read_facts": lambda ask: [Fact("some text", id=id, stored_at=START) for id in ask.ids],
            "expand_links": answer,
        }
    )
    found: ExploreResult = known.run(explore(["bad", "good"], {}, Settings()))
    assert [(seed.status, seed.reason) for seed in found.seeds] == [("failed", str(BUSY)), ("complete", "")]
    assert found.energy == {"good": 1.0, "x": 1.0}


def test_a_seed_is_told_before_the_next_is_asked_for() -> None:
    facts = {"read_facts": lambda ask: [Fact("some text", id=id, stored_at=START) for id in ask.ids]}
    known = answers_from({**facts, "expand_links": lambda ask: expansion({}, ask)})
    known.run(explore(["a", "b"], {}, Settings()))
    asked = [ask.value.seed if isinstance(ask, Emit) else list(ask.arguments[0]) for ask in known.asked[1:]]
    assert asked == [["a"], ["a"], "a", ["b"], ["b"], "b"]


def test_an_exploration_is_plain_values_in_json(wordy: Memory) -> None:
    a, b = chained(wordy, "apples", "bread")
    told = json.loads(json.dumps(wordy.explore([a, "nobody"]).to_dict()))
    assert told["facts"] == [{"id": a, "energy": 1.0}, {"id": b, "energy": 0.8}]
    assert told["seeds"][0]["paths"][0]["links"][0]["kind"] == "supports"
    assert told["seeds"][1]["status"] == "seed_not_found"


@pytest.mark.parametrize(
    ("scores", "energies"),
    [([], []), ([0.03, 0.015], [1.0, 0.5]), ([0.0, 0.0], [1.0, 1.0]), ([7.0, -900.0], [1.0, 1e-9])],
)
def test_scores_become_energies_above_nothing_up_to_one(scores: list[float], energies: list[float]) -> None:
    assert normalise_scores(scores) == pytest.approx(energies)


class Watched(Lent):
    """A store that tells what was read."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.asked: list[str] = []

    def expand_links(self, ids: Any, conducting: Any) -> Any:
        self.asked += ids
        return self.store.expand_links(ids, conducting)


def test_an_exploration_can_be_awaited_or_heard_seed_by_seed(store: Store) -> None:
    watched = Watched(store)

    async def story() -> None:
        async with AsyncMemory(watched, embedder=HashedWords()) as memory:
            ids = await memory.remember(["Apples grow.", "Trains run."])
            whole = await memory.explore(ids)
            assert [seed.seed for seed in whole.seeds] == ids
            watched.asked.clear()
            heard = []
            async for seed in memory.explore(ids):
                heard.append(seed)
                assert watched.asked == ids[: len(heard)]
            assert heard == list(whole.seeds)

    asyncio.run(story())


def test_many_explorations_may_be_awaited_at_once(store: Store) -> None:
    async def story() -> None:
        async with AsyncMemory(Lent(store), embedder=None) as memory:
            ids = await memory.remember(["Apples grow.", "Trains run."])
            found = await asyncio.gather(*(memory.explore(id) for id in ids))
            assert [one.ids for one in found] == [(id,) for id in ids]

    asyncio.run(story())


def test_an_exploration_may_be_left_early(store: Store) -> None:
    async def story() -> None:
        async with AsyncMemory(Lent(store), embedder=None) as memory:
            ids = await memory.remember(["Apples grow.", "Trains run."])
            async for seed in memory.explore(ids):
                assert seed.seed == ids[0]
                break
            with pytest.raises(InvalidQuestion):
                await memory.explore()

    asyncio.run(story())


def test_a_text_that_is_no_id_is_taken_as_a_question(wordy: Memory) -> None:
    wordy.remember("The docker cache lies on the second disk.")
    assert wordy.explore("docker cache").ids == wordy.explore(query="docker cache").ids != ()


def test_an_id_that_is_unknown_is_not_taken_as_a_question(wordy: Memory) -> None:
    assert wordy.explore("01KDVDNA000000000000000001").seeds[0].status == "seed_not_found"
