"""Links: compiled code follows, merges and spreads along the links that numpy does, to the same facts and in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from cofire.algorithms import diffusion, energy, synapse
from cofire.algorithms.conductance import (
    ConductanceEdges,
    build_diffusion_edges,
    build_energy_edges,
    build_synapse_edges,
)
from cofire.index.native_activation import encode_ties
from cofire.model import Change, Edge, EdgeWrite
from cofire.recall.spreading import NEVER_ACTIVE, NO_LINK, update_best_links
from cofire.stores.base import ExpansionOptions, LinkExpansion
from cofire.stores.lazy_ids import IdTable, LazyIds
from cofire.stores.sqlite.connections import IN_MEMORY, SqliteOptions
from cofire.stores.sqlite.store import SqliteStore
from tests.native.twins import NEEDS_LIBRARY, both
from tests.stores.making import NOW, Pen, everywhere, holding

pytestmark = NEEDS_LIBRARY

NAMES = ("ana lopez", "porto", "kettle", "tram")
KINDS = ("similar", "causes", "supports", "contradicts", "my own", "about")
DOCUMENTED = synapse.SynapseRule(retention=0.5, spread=0.8, threshold=0.5, slope=1.0, top_m=3, inhibition=None)
PAPER = replace(DOCUMENTED, slope=5.0, inhibition=0.15)
FLOW = diffusion.DiffusionRule(decay=0.7, hops=2, expanded=4, damping=0.85, iterations=8)

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 40)
# Few values for many equals, whose ids decide; else any.
tied = st.booleans()


def values(chance: Generator, many: int, *, few: bool) -> NDArray[np.float64]:
    """Shares, some of them nothing."""
    drawn = chance.choice([0.25, 0.5, 1.0], many) if few else chance.random(many)
    return np.where(chance.random(many) < 0.2, 0.0, drawn)


def names(chance: Generator, rows: int) -> Sequence[str]:
    """Ids of several lengths, in no order; some are told late."""
    ids = [f"{number:x}" for number in chance.permutation(16 * rows)[:rows].tolist()]
    if chance.random() < 0.5:
        return ids
    places = chance.permutation(2 * rows)[:rows]
    table = np.zeros(2 * rows, "S26")
    table[places] = ids
    return LazyIds(IdTable(Nobody(), table), places)


class Nobody:
    """A home that is gone."""

    def ids(self, places: object) -> list[str]:
        raise AssertionError("It is gone.")


def loose(chance: Generator, rows: int, *, few: bool) -> tuple[NDArray[np.int64], ...]:
    """Links between rows, some of them parallel; what was never said is no number."""
    many = int(chance.integers(0, 6 * rows))
    source, target = chance.integers(0, rows, (2, many))
    weight, confidence = values(chance, many, few=few), values(chance, many, few=few)
    for said in (weight, confidence):
        said[chance.random(many) < 0.2] = np.nan
    return source, target, weight, confidence, chance.integers(0, 9, rows)


def wired(chance: Generator, rows: int, *, few: bool) -> ConductanceEdges:
    source, target, weight, confidence, _ = loose(chance, rows, few=few)
    return build_diffusion_edges(source, target, weight=weight, confidence=confidence)


def plainly(wires: ConductanceEdges) -> list[list[float]]:
    return [column.tolist() for column in wires.columns]


@given(seed=seeds, rows=sizes, few=tied)
def test_parallel_links_are_the_same_wires(seed: int, rows: int, few: bool) -> None:
    source, target, weight, confidence, degree = loose(np.random.default_rng(seed), rows, few=few)
    for make in (
        lambda: build_synapse_edges(source, target, weight=weight, degree=degree),
        lambda: build_diffusion_edges(source, target, weight=weight, confidence=confidence),
    ):
        compiled, numpy = both("merge_wires", make)
        assert plainly(compiled) == plainly(numpy)


@given(seed=seeds, rows=sizes, few=tied, rule=st.sampled_from([DOCUMENTED, PAPER]), most=st.integers(0, 50))
def test_a_round_of_synapse_is_the_same(seed: int, rows: int, few: bool, rule: synapse.SynapseRule, most: int) -> None:
    chance = np.random.default_rng(seed)
    wires, active, ids = wired(chance, rows, few=few), values(chance, rows, few=few), names(chance, rows)
    compiled, numpy = both(
        "synapse_round", lambda: synapse.run_synapse_round(active, wires, replace(rule, top_m=most), ids)
    )
    assert compiled.inhibited.tolist() == numpy.inhibited.tolist()
    assert compiled.passed.tolist() == numpy.passed.tolist()
    for told in ("activation", "arriving"):
        np.testing.assert_allclose(getattr(compiled, told), getattr(numpy, told), atol=1e-12)


@given(seed=seeds, rows=sizes, few=tied, known=st.floats(0, 1))
def test_the_best_links_are_the_same(seed: int, rows: int, few: bool, known: float) -> None:
    chance = np.random.default_rng(seed)
    wires, ids, before = wired(chance, rows, few=few), names(chance, rows), int(known * rows)
    passed, reached = values(chance, len(wires.source), few=few), values(chance, rows, few=few)
    led = (
        chance.choice([0, 1, NEVER_ACTIVE], before),
        chance.choice([NO_LINK, 3], before),
        values(chance, before, few=few),
    )
    compiled, numpy = both(
        "lead_on", lambda: update_best_links(led, wires, ids, passed=passed, reached=reached, number=2)
    )
    assert [one.tolist() for one in compiled] == [one.tolist() for one in numpy]


@given(seed=seeds, rows=sizes, few=tied, known=st.floats(0, 1), started=st.integers(1, 4))
def test_a_hop_of_diffusion_is_the_same(seed: int, rows: int, few: bool, known: float, started: int) -> None:
    chance = np.random.default_rng(seed)
    wires, ids, before = wired(chance, rows, few=few), names(chance, rows), int(known * rows)
    frontier, more = values(chance, 2 * started * before, few=few).reshape(2, started, before)
    compiled, numpy = both("diffuse_hop", lambda: diffusion.diffuse_hop(frontier, frontier + more, wires, FLOW, ids))
    assert compiled.kept_out.tolist() == numpy.kept_out.tolist()
    for told in ("frontier", "trails", "passed", "reached"):
        np.testing.assert_allclose(getattr(compiled, told), getattr(numpy, told), atol=1e-12)


@given(seed=seeds, rows=sizes, few=tied, most=st.integers(0, 50))
def test_the_strongest_are_the_same(seed: int, rows: int, few: bool, most: int) -> None:
    chance = np.random.default_rng(seed)
    activation, ids = values(chance, rows, few=few), names(chance, rows)
    compiled, numpy = both("keep_best", lambda: diffusion.keep_strongest(activation, ids, most=most))
    assert compiled.tolist() == numpy.tolist()


@given(seed=seeds, rows=sizes, iterations=st.integers(0, 8))
def test_what_is_kept_settles_at_the_same(seed: int, rows: int, iterations: int) -> None:
    chance = np.random.default_rng(seed)
    wires, total, kept = wired(chance, rows, few=False), values(chance, rows, few=False), chance.random(rows) < 0.5
    rule = replace(FLOW, iterations=iterations)
    compiled, numpy = both("refine", lambda: diffusion.refine_kept_nodes(total, kept, wires, rule))
    np.testing.assert_allclose(compiled, numpy, atol=1e-12)


@given(seed=seeds, rows=sizes, few=tied, known=st.floats(0, 1), started=st.integers(1, 3), branches=st.integers(1, 4))
def test_a_depth_of_energy_paths_is_the_same(
    *, seed: int, rows: int, few: bool, known: float, started: int, branches: int
) -> None:
    chance = np.random.default_rng(seed)
    source, target, weight, _, degree = loose(chance, rows, few=few)
    alike = np.ones(len(source))
    wires = build_energy_edges(source, target, weight=weight, similarity=alike, degree=degree if few else degree * 0)
    visited = chance.random((started, int(known * rows))) < 0.3
    whose, where = np.nonzero(visited)
    frontier = energy.EnergyFrontier(whose, where, values(chance, len(whose), few=few))
    rule, ids, before = energy.EnergyRule(5, 0.05, branches), names(chance, rows), visited.copy()
    compiled, numpy = both("branch", lambda: energy.expand_frontier(frontier, visited, wires, rule, ids))
    for told in ("parent", "wire", "link", "visited"):
        assert getattr(compiled, told).tolist() == getattr(numpy, told).tolist()
    for told in ("seed", "fact", "energy"):
        assert getattr(compiled.frontier, told).tolist() == getattr(numpy.frontier, told).tolist()
    assert compiled.ended == numpy.ended
    assert (visited == before).all()


def written(chance: Generator, facts: int, *, few: bool) -> tuple[SqliteStore, list[str]]:
    """A store whose facts are linked by chance, the first of them with nearly all; some are archived."""
    store = SqliteStore.open(IN_MEMORY, SqliteOptions(5.0, "normal", "signs"))
    pen = Pen(store)
    facts_told = (holding(pen.new(f"fact {at}"), {NAMES[at % 3]: [0]}, {NAMES[at % 4]: 0.5}) for at in range(facts))
    ids = [fact.id for fact in pen.write(*facts_told).facts]
    store.write(Change(now=NOW, edges=edges(chance, ids, 8 * facts, few=few)), {})
    store.write(Change(now=NOW, archive=dict.fromkeys(ids[::7], True)), {})
    return store, ids


def edges(chance: Generator, ids: list[str], many: int, *, few: bool) -> tuple[EdgeWrite, ...]:
    said = [values(chance, many, few=few).tolist() for _ in range(2)]
    ends = (
        np.where(chance.random(many) < 0.3, 0, chance.integers(0, len(ids), many)),
        chance.integers(0, len(ids), many),
    )
    tags = [("one",), ("one", "two"), (), ()]
    return tuple(
        EdgeWrite(Edge(ids[a], ids[b], str(chance.choice(KINDS)), w or None, c or None, tags[n % 4]), "skip")
        for a, b, w, c, n in zip(*(end.tolist() for end in ends), *said, count(), strict=False)
        if a != b
    )


def told(found: LinkExpansion) -> tuple[object, ...]:
    numbers = (found.source, found.target, found.weight, found.confidence, found.degree)
    return found.ids, found.kind, found.tags, found.via, *(np.nan_to_num(one, nan=-1.0).tolist() for one in numbers)


conductings = st.builds(
    ExpansionOptions,
    where=st.builds(everywhere, archived=st.booleans()),
    kinds=st.none() | st.frozensets(st.sampled_from(KINDS)).map(lambda kinds: kinds | {"supports"}),
    floor=st.sampled_from([0.0, 0.3]),
    most=st.sampled_from([1, 3, 64]),
    names=st.booleans(),
)


@settings(max_examples=40)
@given(seed=seeds, few=tied, conducting=conductings, all_of_use=st.booleans())
def test_facts_lead_to_the_same(seed: int, few: bool, conducting: ExpansionOptions, all_of_use: bool) -> None:
    chance = np.random.default_rng(seed)
    store, ids = written(chance, 30, few=few)
    kernel = "number_links" if conducting.names and conducting.wants("about") else "expand_links"
    some = dict.fromkeys([*chance.choice(ids, 5, replace=False).tolist(), "unheard of", ids[0]])
    # What a link needs to be of use, by fact.
    needs = dict(zip(some, values(chance, len(some), few=few) / 4, strict=True))

    def expanded(asked: list[str]) -> LinkExpansion:
        least = None if all_of_use else np.array([needs[id] for id in asked])
        return store.expand(asked, conducting, least)

    compiled, numpy = both(kernel, lambda: expanded(list(some)))
    assert told(compiled) == told(numpy)
    # Newer links are not in order yet; those of removed facts are gone.
    store.write(Change(now=NOW, edges=edges(chance, ids, 20, few=few)), {})
    compiled, numpy = both(kernel, lambda: expanded(list(some)))
    assert told(compiled) == told(numpy)
    store.write(Change(now=NOW, removals=tuple(ids[1:4])), {})
    left = [id for id in some if id not in ids[1:4]]
    compiled, numpy = both(kernel, lambda: expanded(left))
    assert told(compiled) == told(numpy)
    store.close()


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=2))
def test_words_are_spelled_in_their_order(words: list[str]) -> None:
    assert sorted(words) == [word.decode() for word in sorted(encode_ties(words).split(b"\0")[:-1])]


def test_numbers_are_spelled_in_their_order() -> None:
    assert sorted(written := encode_ties(range(0, 2_000, 37)).split(b"\0")[:-1]) == written


def test_what_is_of_use_must_be_told_for_every_fact() -> None:
    store, ids = written(np.random.default_rng(7), 10, few=True)
    with pytest.raises(ValueError, match="do not fit"):
        store.expand(ids[:3], ExpansionOptions(everywhere(), None, 0.0, 5, names=False), np.zeros(2))
    store.close()
