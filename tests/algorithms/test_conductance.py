"""Conductance: which factor counts in which dynamic, and parallel links as one wire."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.conductance import (
    MISSING_WEIGHT,
    build_diffusion_edges,
    build_energy_edges,
    build_synapse_edges,
    merge_parallel_edges,
    tag_similarities,
    tag_similarity,
)
from tests.algorithms.references import merge_parallel_edges_reference

NAN = float("nan")
EDGE = {"inventory_policy", "recommendation", "analysis_dependency"}
QUERY = {"demand_forecasting", "stockout", "safety_stock", "inventory_policy"}

TAGS = st.sets(st.sampled_from(["a", "b", "c", "d", "E"]))


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float64)


@pytest.mark.parametrize(
    ("source", "edge", "query", "similarity"),
    [
        ("003 §3, worked example", EDGE, QUERY, 0.2917),
        ("003 §3, no overlap", {"x"}, QUERY, 0.15),
        ("003 §3, untagged edge", set(), QUERY, 0.15),
        ("003 §3, no query tags", EDGE, set(), 1.0),
        ("003 §3, neither has tags", set(), set(), 1.0),
        ("rulings 25, case", {"STOCKOUT", "stockout"}, {"Stockout"}, 1.0),
    ],
)
def test_tag_similarity_is_as_documented(source: str, edge: set[str], query: set[str], similarity: float) -> None:
    assert tag_similarity(edge, query, floor=0.15) == pytest.approx(similarity, abs=5e-5), source


@given(TAGS, TAGS, st.floats(0, 1))
def test_tag_similarity_is_between_its_floor_and_one_and_symmetric(
    one: set[str], other: set[str], floor: float
) -> None:
    similarity = tag_similarity(one, other, floor=floor)
    assert floor - 1e-12 <= similarity <= 1 + 1e-12
    if one and other:
        assert similarity == pytest.approx(tag_similarity(other, one, floor=floor))


@given(st.lists(TAGS), TAGS)
def test_many_tag_similarities_are_each_its_own(tags: list[set[str]], query: set[str]) -> None:
    together = tag_similarities([frozenset(one) for one in tags], query, floor=0.15)
    assert together.tolist() == [tag_similarity(one, query, floor=0.15) for one in tags]


@pytest.mark.parametrize(
    ("weight", "confidence", "similarity", "degree", "expected"),
    [
        (0.8, 0.5, 0.2917, 4, (0.2, 0.4, 0.8 / 2 * 0.2917)),
        (0.8, NAN, 1.0, 1, (0.8, 0.8, 0.8)),
        (NAN, 0.5, 1.0, 1, (0.01, 0.005, 0.01)),
        (1.0, 0.2, 0.15, 9, (1 / 9, 0.2, 0.05)),
    ],
)
def test_each_dynamic_has_its_own_factors(
    weight: float, confidence: float, similarity: float, degree: int, expected: tuple[float, float, float]
) -> None:
    """Rulings 31: synapse, diffusion, energy. A missing weight is .01 (003 §6.2), a missing confidence 1 (001)."""
    ends, heavy, fan = (ints(0), ints(1)), floats(weight), ints(degree)
    wires = (
        build_synapse_edges(*ends, weight=heavy, degree=fan),
        build_diffusion_edges(*ends, weight=heavy, confidence=floats(confidence)),
        build_energy_edges(*ends, weight=heavy, similarity=floats(similarity), degree=fan),
    )
    assert [one.conductance[0] for one in wires] == pytest.approx(expected)


@given(st.integers(1, 1_000), st.integers(1, 1_000))
def test_hub_conducts_less_per_edge(one: int, other: int) -> None:
    few, many = sorted((one, other))
    ends, weight, tags = (ints(0), ints(1)), floats(0.9), floats(1.0)
    for fan in (
        lambda d: build_synapse_edges(*ends, weight=weight, degree=ints(d)),
        lambda d: build_energy_edges(*ends, weight=weight, similarity=tags, degree=ints(d)),
    ):
        less, more = fan(many).conductance[0], fan(few).conductance[0]
        assert less < more if few < many else less == more


def test_parallel_links_are_shared_as_one() -> None:
    """Two links of .5 and .6 to one of two neighbours: (1 − .5·.4)/2."""
    wires = build_synapse_edges(ints(0, 0, 0), ints(1, 1, 2), weight=floats(0.5, 0.6, 1.0), degree=ints(2, 2, 2))
    assert wires.conductance == pytest.approx([0.4, 0.5])
    assert wires.strongest.tolist() == [1, 2]


def test_energy_takes_parallel_links_one_by_one() -> None:
    wires = build_energy_edges(
        ints(0, 0), ints(1, 1), weight=floats(0.5, 0.6), similarity=floats(1, 1), degree=ints(1, 1)
    )
    assert wires.conductance.tolist() == [0.5, 0.6]


def test_without_links_there_are_no_wires() -> None:
    nothing = np.zeros(0, np.int64)
    assert merge_parallel_edges(nothing, nothing, np.zeros(0)).conductance.tolist() == []


def test_a_single_link_keeps_its_number_exactly() -> None:
    numbers = [0.1, 0.3, MISSING_WEIGHT, 0.7]
    assert merge_parallel_edges(ints(0, 1, 2, 3), ints(1, 2, 3, 0), floats(*numbers)).conductance.tolist() == numbers


LINKS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(-0.5, 1.5)), max_size=20)


@given(LINKS)
def test_both_ways_of_merging_agree(links: list[tuple[int, int, float]]) -> None:
    source, target = (ints(*(link[end] for link in links)) for end in (0, 1))
    wires = merge_parallel_edges(source, target, floats(*(link[2] for link in links)))
    found = dict(zip(zip(wires.source.tolist(), wires.target.tolist(), strict=True), wires.conductance, strict=True))
    assert found == pytest.approx(merge_parallel_edges_reference(links))
    assert list(found) == sorted(found)
    for wire, link in enumerate(wires.strongest.tolist()):
        pair = links[link][:2]
        assert pair == (wires.source[wire], wires.target[wire])
        assert np.clip(links[link][2], 0, 1) == max(np.clip(c, 0, 1) for *ends, c in links if tuple(ends) == pair)


@given(LINKS, st.floats(0, 1))
def test_a_further_parallel_link_never_conducts_less(links: list[tuple[int, int, float]], more: float) -> None:
    before, after = merge_parallel_edges_reference(links), merge_parallel_edges_reference([*links, (0, 1, more)])
    for pair in product(range(4), repeat=2):
        assert 0 <= before.get(pair, 0.0) <= after.get(pair, 0.0) + 1e-12 <= 1 + 2e-12
