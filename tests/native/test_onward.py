"""Onward: a spread that compiled code follows to its end comes to the same as one that asks for links once a depth, and as numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cofire.activation_paths import SpreadResult
from cofire.algorithms import diffusion, energy, synapse
from cofire.algorithms.traversal import TraversalRequest
from cofire.index import native_links
from cofire.model import Change
from cofire.recall import energy_paths, spreading
from cofire.recall.counterfactuals import run_with_link
from cofire.runtime.effects import Steps
from cofire.stores.base import ExpansionOptions
from cofire.stores.sqlite.store import SqliteStore
from tests.native.test_links import conductings, edges, seeds, tied, values, written
from tests.native.twins import NEEDS_LIBRARY, both
from tests.stores.making import NOW, everywhere
from tests.verbs.wandering import spread_json

pytestmark = NEEDS_LIBRARY

Way = Callable[[Mapping[str, float], ExpansionOptions], Steps[SpreadResult]]

PAGE = synapse.SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=3, inhibition=None)
PAPER = replace(PAGE, slope=5.0, inhibition=0.15)
WIDE = replace(PAGE, top_m=40)
PLAIN = ExpansionOptions(everywhere(), None, 0.0, 64, names=False)


def rounds(rule: synapse.SynapseRule, many: int) -> Way:
    return lambda begun, how: spreading.spread_synapse(begun, how, rule, many, tau=0.12)


def hops(rule: diffusion.DiffusionRule) -> Way:
    return lambda begun, how: spreading.spread_diffusion(begun, how, rule)


def depths(rule: energy.EnergyRule) -> Way:
    return lambda begun, how: energy_paths.spread_energy(begun, how, rule, tags=frozenset(), tag_floor=0.15)


FLOW = diffusion.DiffusionRule(0.7, 2, 4, 0.85, 8)
ENERGY = energy.EnergyRule(5, 0.05, 2)
WAYS = {"synapse": rounds(WIDE, 3), "diffusion": hops(FLOW), "energy": depths(ENERGY)}
ways: st.SearchStrategy[Way] = st.one_of(
    st.builds(rounds, st.sampled_from([PAGE, PAPER, WIDE]), st.integers(1, 3)),
    st.builds(
        lambda many, most, turns: hops(replace(FLOW, hops=many, expanded=most, iterations=turns)),
        *(st.integers(1, 3), st.sampled_from([1, 4, 40]), st.sampled_from([0, 8])),
    ),
    st.builds(
        lambda depth, least, many: depths(energy.EnergyRule(depth, least, many)),
        *(st.integers(1, 5), st.sampled_from([0.005, 0.1]), st.integers(1, 3)),
    ),
)
over_edges = conductings.map(lambda one: replace(one, names=False))


def driven(verb: Steps[SpreadResult], store: SqliteStore, *, onward: bool = True) -> tuple[SpreadResult, int]:
    """A spread, and how often it asked; whether the store is told how to go on."""
    step: Any = verb.send
    answer: Any = None
    asked = 0
    try:
        while True:
            ask = step(answer)
            asked += 1
            how = ask.conducting if onward else ask.conducting.going(None)
            answer = store.expand(ask.ids, how, ask.least)
    except StopIteration as done:
        return done.value, asked


def told(spread: SpreadResult) -> list[Any]:
    """All of it, in its order."""
    plain = spread_json(spread)
    return [list(plain["activation"].items()), plain["rounds"], list(plain["hops"].items())]


@settings(max_examples=60)
@given(seed=seeds, few=tied, way=ways, conducting=over_edges, started=st.integers(1, 6))
def test_a_spread_comes_to_the_same(seed: int, few: bool, way: Way, conducting: ExpansionOptions, started: int) -> None:
    chance = np.random.default_rng(seed)
    store, ids = written(chance, 40, few=few)

    def compare(among: list[str]) -> None:
        some = chance.choice(among, started, replace=False).tolist()
        begun = dict(zip(some, (0.2 + 0.8 * values(chance, started, few=few)).tolist(), strict=True))
        compiled, numpy = both("continue_journey", lambda: driven(way(begun, conducting), store)[0])
        stepwise, _ = driven(way(begun, conducting), store, onward=False)
        assert told(compiled) == told(stepwise)
        assert compiled.activation == pytest.approx(dict(numpy.activation), abs=1e-9)

    compare(ids)
    # Newer links are not in order yet; those of removed facts are gone.
    store.write(Change(now=NOW, edges=edges(chance, ids, 20, few=few)), {})
    compare(ids)
    store.write(Change(now=NOW, removals=tuple(ids[1:4])), {})
    compare([ids[0], *ids[4:]])
    store.close()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_store_that_goes_on_by_itself_is_asked_once(way: Way) -> None:
    store, ids = written(np.random.default_rng(7), 60, few=False)
    begun = dict.fromkeys(ids[:3], 1.0)
    assert driven(way(begun, PLAIN), store)[1] == 1
    assert driven(way(begun, PLAIN), store, onward=False)[1] > 1
    store.close()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_from_an_unknown_fact_and_through_names_it_is_asked_step_by_step(way: Way) -> None:
    store, ids = written(np.random.default_rng(7), 60, few=False)
    for begun, how in (({ids[0]: 1.0, "unheard of": 1.0}, PLAIN), ({ids[0]: 1.0}, replace(PLAIN, names=True))):
        found, asked = driven(way(begun, how), store)
        assert asked > 1
        assert told(found) == told(driven(way(begun, how), store, onward=False)[0])
    store.close()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_link_that_is_only_supposed_is_followed(way: Way) -> None:
    store, ids = written(np.random.default_rng(7), 8, few=False)
    store.write(Change(now=NOW, removals=tuple(ids[2:])), {})
    verb = run_with_link(way({ids[0]: 1.0}, replace(PLAIN, kinds=frozenset({"supports"}))), *ids[:2])
    found, _ = driven(verb, store)
    assert ids[1] in found.activation
    assert found.hops[ids[1]].kind == "supports"
    store.close()


def gone(
    store: SqliteStore, positions: list[int], active: list[float], newest: Any = None
) -> native_links.NativeTraversal:
    """Straight to compiled code, with nothing in between that would check it."""
    reached: list[native_links.NativeTraversal] = []
    real = native_links.traverse_links

    def noted(stored: Any, wanted: Any, facts: Any, manner: Any, _: Any, **__: Any) -> native_links.NativeTraversal:
        begun = np.array(positions, np.int64), np.array(active, np.float64)
        reached.append(real(stored, wanted, facts, manner, begun, newest=newest))
        return reached[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cofire.index.expansion.traverse_links", noted)
        ids = [fact.id for fact in store.scan(everywhere(), 1, None)]
        store.expand(ids, PLAIN.going(TraversalRequest(FLOW, 2, np.ones(1))))
    return reached[0]


def test_what_is_not_there_is_refused() -> None:
    store, _ = written(np.random.default_rng(7), 10, few=True)
    for positions in ([10_000], [-1], [3, 3]):
        with pytest.raises(IndexError):
            gone(store, positions, [1.0] * len(positions))
    with pytest.raises(ValueError, match="do not fit"):
        gone(store, [1, 2], [1.0])
    store.close()


def test_a_journey_that_is_broken_off_leaves_no_trace() -> None:
    store, _ = written(np.random.default_rng(7), 10, few=True)
    before = gone(store, [1, 2], [1.0, 0.5])

    def fail(_: list[int]) -> None:
        raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        gone(store, [1, 2], [1.0, 0.5], fail)
    assert gone(store, [1, 2], [1.0, 0.5]).block.tolist() == before.block.tolist()
    store.close()


def test_an_interrupt_right_after_the_beginning_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    store, ids = written(np.random.default_rng(7), 300, few=True)
    way, others = WAYS["synapse"], dict.fromkeys(ids[10:12], 1.0)
    before = told(driven(way(others, PLAIN), store)[0])
    begin = native_links._begin_journey

    def interrupted(*given: Any) -> int:
        begin(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(native_links, "_begin_journey", interrupted)
        with pytest.raises(KeyboardInterrupt):
            driven(way(dict.fromkeys(ids[100:300], 1.0), PLAIN), store)
    for all_at_once in (False, True):
        assert told(driven(way(others, PLAIN), store, onward=all_at_once)[0]) == before
