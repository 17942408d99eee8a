"""Roster: facts keep their rows, be they known by their ids or by where they stand, and also when that changes on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cofire.recall.subgraph import UNUSED_ROW_ID, VisitedById, VisitedByPosition, VisitedFacts
from cofire.stores.lazy_ids import IdTable, LazyIds

NAMES = [f"{number:x}" for number in np.random.default_rng(7).permutation(64).tolist()]

facts = st.integers(0, len(NAMES) - 1)
asked = st.lists(facts, min_size=1, max_size=5, unique=True)
# What is led to, and whether the store tells of it by place on the same ground, on another one, or by id.
readings = st.lists(st.tuples(st.lists(facts, max_size=20, unique=True), st.sampled_from(["here", "moved", "by id"])))


class Shelf:
    """Ids by place, where they stand."""

    def __init__(self) -> None:
        self.table = np.array(NAMES, "S26")

    def ids(self, places: np.ndarray) -> list[str]:
        return [NAMES[place] for place in places.tolist()]


def told(ground: IdTable, places: Sequence[int]) -> LazyIds:
    return LazyIds(ground, np.array(places, np.int64))


def met(roster: VisitedFacts, ids: Sequence[str], many: int) -> tuple[VisitedFacts, list[int]]:
    """With facts of which so many have the first rows."""
    fitting = roster.with_places(ids, np.arange(many))
    return fitting, fitting.met(ids, np.arange(many)).tolist()


@given(asked, readings)
def test_a_row_is_one_fact_and_a_fact_has_one_row(first: list[int], read: list[tuple[list[int], str]]) -> None:
    shelf = Shelf()
    grounds = {"here": IdTable(shelf, shelf.table), "moved": IdTable(shelf, shelf.table)}
    roster: VisitedFacts = VisitedById(NAMES[fact] for fact in first)
    for others, how in read:
        everyone = [*first, *(fact for fact in others if fact not in first)]
        names = [NAMES[fact] for fact in everyone]
        roster, rows = met(roster, told(grounds[how], everyone) if how in grounds else names, len(first))
        assert rows[: len(first)] == list(range(len(first)))
        assert [roster.ids[row] for row in rows] == names
        assert roster.spelled(np.array(rows)) == list(roster.at(np.array(rows))) == names
        assert roster.spelled(np.array(rows)[roster.in_order(np.array(rows))]) == sorted(names)
        somebody = [id for id in roster.ids if id != UNUSED_ROW_ID]
        assert len(somebody) == len(set(somebody))


def test_ids_are_forgotten_once_a_store_tells_where_facts_stand() -> None:
    shelf = Shelf()
    roster, rows = met(VisitedById([NAMES[5], NAMES[3]]), told(IdTable(shelf, shelf.table), [5, 3, 8]), 2)
    assert isinstance(roster, VisitedByPosition)
    assert rows == [0, 1, 2]


def test_a_fact_that_the_store_does_not_know_is_known_by_its_id() -> None:
    roster, rows = met(VisitedById(["unheard of", NAMES[3]]), ("unheard of", NAMES[3], NAMES[8]), 2)
    assert isinstance(roster, VisitedById)
    assert rows == [0, 1, 2]


def test_ids_are_told_after_their_home_is_gone() -> None:
    shelf = Shelf()
    ids = told(IdTable(shelf, shelf.table), [5, 3])
    del shelf
    assert list(ids) == [NAMES[5], NAMES[3]] == [ids[0], ids[1]]
