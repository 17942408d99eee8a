"""Kin at the edges: facts that are gone, and tags shared with facts that cannot be compared."""

from __future__ import annotations

import pytest

from cofire.stores.base import NeighbourCandidates, Store
from tests.stores.making import Pen, vector


def pairs(found: NeighbourCandidates) -> list[tuple[str, str]]:
    return [(found.ids[a], found.ids[b]) for a, b in zip(found.left.tolist(), found.right.tolist(), strict=True)]


def test_facts_that_are_gone_have_no_kin(store: Store, pen: Pen) -> None:
    pen.settle()
    pen.tell("one", vector(1, 1, 0, 0))
    assert pairs(store.find_neighbours(["gone"], 3, 3)) == []


@pytest.mark.parametrize("lacking", [{"vector": None}, {"vector": vector(1, 0, 1, 0), "archived": True}])
def test_no_place_is_wasted_on_a_fact_that_cannot_be_compared(
    store: Store, pen: Pen, lacking: dict[str, object]
) -> None:
    pen.settle()
    mine = pen.tell("one", vector(1, 1, 0, 0), tags=("rare",))
    theirs = pen.tell("two", vector(1, 0, 0, 1), tags=("rare",))
    pen.tell("three", tags=("rare",), **lacking)
    assert pairs(store.find_neighbours([mine], 0, 1)) == [(mine, theirs)]
