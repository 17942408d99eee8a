"""Roster: compiled code gives the rows that Python does, however many facts are met and whenever they come again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cofire.index import native_activation as compiled
from cofire.recall.subgraph import VisitedByPosition
from cofire.stores.lazy_ids import IdTable
from tests.native.twins import NEEDS_LIBRARY, both

pytestmark = NEEDS_LIBRARY

readings = st.lists(st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 50)), min_size=1)


class Home:
    def ids(self, places: object) -> list[str]:
        raise AssertionError("Nobody asked for an id.")


def rows(read: list[list[int]]) -> list[list[int]]:
    met = VisitedByPosition(IdTable(Home(), np.zeros(0, "S26")), np.zeros(0, np.int64)).known
    return [met.meet(np.array(places, np.int64)).tolist() for places in read] + [met.places.tolist(), [len(met)]]


@given(readings)
def test_facts_have_the_same_rows(read: list[list[int]]) -> None:
    found, expected = both("meet", lambda: rows(read))
    assert found == expected


def test_more_facts_than_there_was_room_for_keep_their_rows() -> None:
    many = np.random.default_rng(7).permutation(1 << (compiled.INITIAL_ROW_BITS + 3))
    half = len(many) // 2
    found, expected = both("meet", lambda: rows([many[:100].tolist(), many[:half].tolist(), many.tolist()]))
    assert found == expected
    assert found[2] == list(range(len(many)))
