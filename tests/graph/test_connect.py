"""Edges made by hand, and the lists of edges and links."""

from __future__ import annotations

from typing import Any

import pytest

from cofire import Edge, Memory
from cofire.errors import InvalidInput, NotFound


def test_two_facts_are_connected_with_the_tags_they_share(memory: Memory) -> None:
    a, b = memory.remember("one", tags=["x", "y"]), memory.remember("two", tags=["y", "z"])
    edge = memory.connect(a, b, kind="supports", weight=0.8, confidence=0.9, tags=["given"])
    assert edge == Edge(a, b, "supports", 0.8, 0.9, ("given", "y"), "user")
    assert memory.edges(kind="supports") == [edge]


def test_a_kind_of_ones_own_is_kept(memory: Memory) -> None:
    a, b = memory.remember(["one", "two"])
    assert memory.connect(a, b, kind="reminds me of").kind == "reminds me of"
    assert memory.neighbours(b)[0].kind == "reminds me of"


def test_connecting_again_reinforces_the_confidence(memory: Memory) -> None:
    a, b = memory.remember(["one", "two"])
    memory.connect(a, b, kind="supports", confidence=0.5)
    assert memory.connect(a, b, kind="supports", confidence=0.1).confidence == pytest.approx(0.55)


@pytest.mark.parametrize(
    "wrong", [{"weight": 1.5}, {"weight": -0.1}, {"confidence": 2}, {"weight": "heavy"}, {"weight": float("nan")}]
)
def test_weights_outside_zero_and_one_are_refused(memory: Memory, wrong: dict) -> None:
    a, b = memory.remember(["one", "two"])
    with pytest.raises(InvalidInput, match="0 to 1"):
        memory.connect(a, b, kind="supports", **wrong)
    assert memory.edges() == []


def test_a_fact_is_not_connected_with_itself(memory: Memory) -> None:
    a = memory.remember("one")
    with pytest.raises(InvalidInput, match="itself"):
        memory.connect(a, a, kind="supports")


def test_unknown_ids_kinds_and_modes_are_refused(memory: Memory) -> None:
    a, b = memory.remember(["one", "two"])
    with pytest.raises(NotFound):
        memory.connect(a, "nobody", kind="supports")
    with pytest.raises(InvalidInput):
        memory.connect(a, b, kind=" ")
    with pytest.raises(InvalidInput, match="reinforce, update, skip"):
        memory.connect(a, b, kind="supports", mode="always")
    with pytest.raises(NotFound):
        memory.neighbours("nobody")


@pytest.mark.parametrize("ids", [[None], 5, ["\x00"], "\ud800"])
def test_edges_of_what_cannot_be_an_id_are_refused(memory: Memory, ids: Any) -> None:
    with pytest.raises(InvalidInput, match="id"):
        memory.edges(ids=ids)


def test_facts_of_different_scopes_are_not_connected(memory: Memory) -> None:
    a, b = memory.remember("one", scope="a"), memory.remember("two", scope="b")
    with pytest.raises(InvalidInput, match="scope"):
        memory.connect(a, b, kind="supports")


def test_forgetting_a_fact_forgets_its_edges(memory: Memory) -> None:
    a, b = memory.remember(["one", "two"])
    memory.connect(a, b, kind="supports")
    memory.forget(b)
    assert memory.edges() == []
    assert memory.neighbours(a) == []
