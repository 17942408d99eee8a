"""What may be followed: on every store, contradictions and successions carry nothing, causes only forward."""

from __future__ import annotations

import pytest

from cofire import Memory
from cofire.model import Where
from cofire.stores.base import Conducting, Store
from tests.conftest import START

EVERYWHERE = Conducting(Where(now=START), kinds=None, floor=0.0, most=100)


def leads(store: Store, id: str, conducting: Conducting = EVERYWHERE) -> set[str]:
    found = store.expand([id], conducting)
    return {found.ids[row] for row in found.target.tolist()}


@pytest.mark.parametrize("kind", ["contradicts", "supersedes"])
def test_a_contradiction_is_never_followed(wordy: Memory, store: Store, kind: str) -> None:
    """Rulings 5."""
    a, b = wordy.remember(["one", "two"])
    wordy.connect(a, b, kind=kind, weight=1.0)
    assert leads(store, a) == leads(store, b) == set()
    assert store.expand([a], EVERYWHERE).degree.tolist() == [0]
    assert wordy.explore([a]).ids == (a,)


def test_a_cause_is_followed_forward_only(wordy: Memory, store: Store) -> None:
    """Rulings 16."""
    a, b = wordy.remember(["one", "two"])
    wordy.connect(a, b, kind="causes", weight=1.0)
    assert leads(store, a) == {b}
    assert leads(store, b) == set()


def test_a_link_below_the_floor_is_not_followed(wordy: Memory, store: Store) -> None:
    """001, graphTraversalConfidenceFloor."""
    a, b, c = wordy.remember(["one", "two", "three"])
    wordy.connect(a, b, kind="supports", confidence=0.19)
    wordy.connect(a, c, kind="supports")
    floor = Conducting(EVERYWHERE.where, kinds=None, floor=0.2, most=100)
    assert leads(store, a, floor) == {c}
