"""Turns: which facts stand around another in its session, what scoring is told of them, and the words they lend each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cofire.algorithms.session_context import SessionContext
from cofire.model import FactDescription
from cofire.stores.base import KeywordQuery, Store
from tests.stores.making import DAY, NOW, Pen, cue, everywhere, vector

LENDING = SessionContext(before=0.5, after=0.2, decay=0.5, reach=2, short=25)


def around(store: Store, ids: Sequence[str], reach: int = 1) -> list[list[str | None]]:
    """Who stands around each of these, all of whom must be among them."""
    found = store.fetch_features(ids, [], reach, 0)
    return [[found.ids[row] if row >= 0 else None for row in rows] for rows in found.around.tolist()]


def lending(*words: str, lent: Sequence[bool] = (), context: SessionContext = LENDING) -> KeywordQuery:
    return replace(cue(*words, b=0.0), context=context, lent=tuple(lent or (True for _ in words)))


def matching(store: Store, asked: KeywordQuery, **conditions: object) -> list[str]:
    return store.search_words(asked, 20, everywhere(**conditions))


def session(pen: Pen, *texts: str, **parts: object) -> list[str]:
    return [pen.tell(text, session="s", **parts) for text in texts]


def test_turns_of_one_moment_stand_in_the_order_of_telling(store: Store, pen: Pen) -> None:
    a, b, c = session(pen, "one", "two", "three", at=NOW)
    assert around(store, [a, b, c]) == [[None, b], [a, c], [b, None]]


def test_turns_go_by_time_before_the_order_of_telling(store: Store, pen: Pen) -> None:
    late, early, middle = (pen.tell(f"day {days}", session="s", at=NOW + days * DAY) for days in (3, 1, 2))
    assert around(store, [early, middle, late]) == [[None, middle], [early, late], [middle, None]]


def test_a_turn_without_a_time_stands_where_it_was_stored(store: Store, pen: Pen) -> None:
    after, before = pen.tell("after", session="s", at=NOW + DAY), pen.tell("before", session="s", at=NOW - DAY)
    stored = pen.tell("stored now", session="s")
    assert around(store, [before, stored, after]) == [[None, stored], [before, after], [stored, None]]


def test_a_microsecond_decides_the_order(store: Store, pen: Pen) -> None:
    late = pen.tell("late", session="s", at=NOW.replace(microsecond=2))
    early = pen.tell("early", session="s", at=NOW.replace(microsecond=1))
    assert around(store, [early, late]) == [[None, late], [early, None]]


def test_the_nearest_come_first_on_either_side_and_gaps_are_told(store: Store, pen: Pen) -> None:
    a, b, c, d, e = session(pen, "one", "two", "three", "four", "five")
    found = around(store, [a, b, c, d, e], reach=3)
    assert found[2] == [b, a, None, d, e, None]
    assert found[0] == [None, None, None, b, c, d]
    assert found[4] == [d, c, b, None, None, None]


def test_without_reach_there_is_nothing_around(store: Store, pen: Pen) -> None:
    ids = session(pen, "one", "two")
    assert store.fetch_features(ids, [], 0, 0).around.shape == (2, 0)


def test_nobody_stands_around_a_fact_of_no_session(store: Store, pen: Pen) -> None:
    ids = [pen.tell("one"), pen.tell("two")]
    assert around(store, ids) == [[None, None], [None, None]]


def test_another_session_is_never_around(store: Store, pen: Pen) -> None:
    a, other, b = (pen.tell("turn", session=name, at=NOW + n * DAY) for n, name in enumerate(("s", "t", "s")))
    assert around(store, [a, other, b]) == [[None, b], [None, None], [a, None]]


def test_the_session_of_another_scope_is_never_around(store: Store, pen: Pen) -> None:
    a, other, b = (pen.tell(f"turn {n}", session="s", scope=scope) for n, scope in enumerate(("x", "y", "x")))
    assert around(store, [a, other, b]) == [[None, b], [None, None], [a, None]]


def test_a_removed_turn_closes_the_gap(store: Store, pen: Pen) -> None:
    a, b, c, d = session(pen, "one", "two", "three", "four")
    assert around(store, [a, b, c, d])[1] == [a, c]
    pen.forget(b, c)
    assert around(store, [a, d]) == [[None, d], [a, None]]


def test_the_last_turn_removed_and_another_told_follow_what_is_left(store: Store, pen: Pen) -> None:
    a, b = session(pen, "one", "two")
    pen.forget(b)
    (c,) = session(pen, "three")
    assert around(store, [a, c]) == [[None, c], [a, None]]


def test_a_fact_told_again_keeps_its_place(store: Store, pen: Pen) -> None:
    a, b, c = session(pen, "one", "two", "three")
    pen.write(pen.new("one", session="s", tags=("again",)), now=NOW + DAY)
    pen.write(pen.new("two", session="s"), now=NOW + DAY)
    assert around(store, [a, b, c]) == [[None, b], [a, c], [b, None]]


def test_a_late_turn_finds_its_place_between_those_known(store: Store, pen: Pen) -> None:
    a, c = (pen.tell(f"day {days}", session="s", at=NOW + days * DAY) for days in (1, 3))
    assert around(store, [a, c]) == [[None, c], [a, None]]
    b = pen.tell("day 2", session="s", at=NOW + 2 * DAY)
    assert around(store, [a, b, c]) == [[None, b], [a, c], [b, None]]


def test_an_archived_turn_is_a_turn(store: Store, pen: Pen) -> None:
    a, b = pen.tell("one", session="s"), pen.tell("two", session="s", archived=True)
    assert around(store, [a, b]) == [[None, b], [a, None]]


def test_more_sessions_than_are_followed_one_by_one(store: Store, pen: Pen) -> None:
    news = [pen.new(f"turn {n}", session=f"s{n % 100}") for n in range(200)]
    ids = [one.id for one in pen.write(*news).facts]
    assert [rows[1] for rows in around(store, ids)[:100]] == ids[100:]
    pen.forget(*ids[:100])
    assert around(store, ids[100:]) == [[None, None]] * 100


def test_neighbours_that_were_not_asked_for_have_rows_after_those_that_were(store: Store, pen: Pen) -> None:
    _, b, _ = session(pen, "tea", "pot pot", "tea tea tea")
    found = store.fetch_features([b], ["tea", "pot"], 1, 0)
    before, after = found.around[0]
    assert (found.ids, sorted([before, after])) == ((b,), [1, 2])
    assert found.counts[[0, before, after]].tolist() == [[0.0, 2.0], [1.0, 0.0], [3.0, 0.0]]
    assert found.lengths[[0, before, after]].tolist() == [2.0, 1.0, 3.0]


def test_a_neighbour_asked_for_has_the_row_it_was_asked_in(store: Store, pen: Pen) -> None:
    a, b, c = session(pen, "one", "two", "three")
    found = store.fetch_features([c, b, a], [], 1, 0)
    assert found.around.tolist() == [[1, -1], [2, 0], [-1, 1]]
    assert found.lengths.shape == (3,)


def test_only_near_neighbours_bring_vectors(store: Store, pen: Pen) -> None:
    pen.settle()
    ids = [pen.tell(f"turn {n}", vector(1, n, 0, 0) if n != 3 else None, session="s") for n in range(5)]
    found = store.fetch_features([ids[2]], [], 2, 1)
    near = found.around[0, [0, 2]]
    assert sorted(near) == [1, 2]
    assert (found.vectors.shape, found.embedded.shape, found.lengths.shape) == ((3, 4), (3,), (5,))
    assert found.embedded[[0, *near]].tolist() == [True, True, False]
    assert found.vectors[near[0]] == pytest.approx(np.array([1, 1, 0, 0]) / np.sqrt(2), abs=1e-3)
    assert found.vectors[near[1]].tolist() == [0.0] * 4


def test_near_may_be_more_than_the_reach(store: Store, pen: Pen) -> None:
    pen.settle()
    ids = [pen.tell(f"turn {n}", vector(1, n, 0, 0), session="s") for n in range(5)]
    assert store.fetch_features([ids[2]], [], 1, 3).vectors.shape == (3, 4)


def test_times_questions_and_speakers_are_told_of_what_was_asked_for(store: Store, pen: Pen) -> None:
    a = pen.tell("What time is it? ", session="s", speaker="Ana", at=NOW)
    b = pen.tell("Why? Noon.", session="s", at=NOW + DAY)
    found = store.fetch_features([b, a], [], 1, 1)
    assert found.times.tolist() == [NOW.timestamp() + 86_400, NOW.timestamp()]
    assert found.asks.tolist() == [False, True]
    assert found.speakers == (None, "Ana")
    assert store.fetch_features([b], [], 1, 1).speakers == (None,)


def test_a_fact_told_again_still_asks(store: Store, pen: Pen) -> None:
    id = pen.tell("Tea?")
    pen.write(pen.new("Tea?", tags=("again",)))
    pen.write(descriptions=(FactDescription(id, "a cup", {"cup": 1}),))
    assert store.fetch_features([id], [], 0, 0).asks.tolist() == [True]


def test_an_id_asked_for_twice_has_two_rows(store: Store, pen: Pen) -> None:
    pen.settle()
    a, b = pen.tell("tea", vector(1, 0, 0, 0), session="s"), pen.tell("pot", session="s")
    found = store.fetch_features([a, a], ["tea"], 1, 1)
    assert (found.ids, found.counts[:2].tolist(), found.lengths.tolist()) == ((a, a), [[1.0], [1.0]], [1.0] * 3)
    assert found.embedded.tolist() == [True, True, False]
    assert found.around.tolist() == [[-1, 2], [-1, 2]]
    assert around(store, [b, a, a])[0][1] is None


def test_a_turn_lends_its_words_to_those_around_it(store: Store, pen: Pen) -> None:
    """The one after counts 0.5 of it, the next 0.25; the one before 0.2, the one before that 0.1; further ones nothing."""
    *_, before2, before1, holder, after1, after2, _ = session(pen, *"abc", "tea", *"xyz")
    assert matching(store, lending("tea")) == [holder, after1, after2, before1, before2]


def test_what_is_lent_adds_up(store: Store, pen: Pen) -> None:
    """Between two that hold it a turn has 0.5 + 0.2; beside one that holds it twice, 2 · 0.5."""
    _, between, _ = session(pen, "tea one", "x", "tea two")
    pen.tell("tea tea", session="t")
    beside = pen.tell("y", session="t")
    found = matching(store, lending("tea", context=replace(LENDING, reach=1)))
    assert [id for id in found if id in (between, beside)] == [beside, between]


def test_what_is_lent_is_added_to_what_a_turn_holds(store: Store, pen: Pen) -> None:
    alone = pen.tell("tea alone")
    first, second = session(pen, "tea one", "tea two")
    assert matching(store, lending("tea")) == [second, first, alone]


def test_only_the_words_named_are_lent(store: Store, pen: Pen) -> None:
    a, b, c = session(pen, "tea", "pot", "x")
    assert matching(store, lending("tea", "pot", lent=(False, False))) == [b, a]
    assert set(matching(store, lending("tea", lent=(False,)))) == {a}
    assert set(matching(store, lending("pot", "tea", lent=(True, False)))) == {a, b, c}
    assert set(matching(store, replace(lending("tea"), context=None))) == {a}
    assert set(matching(store, replace(lending("tea"), lent=()))) == {a}


def test_without_reach_nothing_is_lent(store: Store, pen: Pen) -> None:
    a, _ = session(pen, "tea", "pot")
    assert matching(store, lending("tea", context=replace(LENDING, reach=0))) == [a]


def test_a_long_turn_borrows_less(store: Store, pen: Pen) -> None:
    """Of more than two words a turn is open by 2 / length: four words borrow half."""
    pen.tell("tea", session="t")
    short = pen.tell("kettle", session="t")
    _, long = session(pen, "tea", "kettle spoon sugar milk")
    assert store.fetch_features([long], [], 0, 0).lengths.tolist() == [4.0]
    assert matching(store, lending("tea", context=replace(LENDING, short=2)))[2:] == [short, long]
    assert matching(store, lending("tea", context=replace(LENDING, short=4)))[2:] == [long, short]


def test_a_turn_outside_the_filter_lends_but_is_not_found(store: Store, pen: Pen) -> None:
    ana, ben = session(pen, "tea", speaker="Ana")[0], session(pen, "pot", speaker="Ben")[0]
    assert matching(store, lending("tea"), speakers=frozenset({"Ben"})) == [ben]
    assert matching(store, lending("tea"), speakers=frozenset({"Ana"})) == [ana]


def test_a_removed_turn_lends_nothing(store: Store, pen: Pen) -> None:
    a, b = session(pen, "tea", "pot")
    assert matching(store, lending("tea")) == [a, b]
    pen.forget(a)
    assert matching(store, lending("tea")) == []


def test_words_of_a_description_are_lent_at_their_weight(store: Store, pen: Pen) -> None:
    """A described word counts 0.5, so the turn after has 0.25 of it: less than 0.5 of one that stands in a text."""
    described, after = session(pen, "x", "y")
    pen.write(descriptions=(FactDescription(described, "tea", {"tea": 1}),))
    said, beside = (pen.tell(text, session="t") for text in ("tea", "z"))
    assert matching(store, replace(lending("tea"), hint_weight=0.5)) == [said, beside, described, after]
