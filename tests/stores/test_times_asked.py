"""Times asked for: facts closest to a span, facts that pass a filter by id, and how far back the facts of a scope go."""

from __future__ import annotations

from datetime import timedelta

from cofire.stores.base import Store
from tests.stores.making import DAY, NOW, Pen, everywhere

SPAN = (NOW, NOW + DAY)
HOUR = timedelta(hours=1)


def test_facts_inside_a_span_come_first_then_the_closest(store: Store, pen: Pen) -> None:
    far, after, inside, before = (
        pen.tell(name, at=NOW + hours * HOUR)
        for name, hours in (("far", 90), ("after", 27), ("inside", 5), ("before", -2))
    )
    assert store.search_times([SPAN], 10, everywhere()) == [inside, before, after, far]
    assert store.search_times([SPAN], 2, everywhere()) == [inside, before]


def test_both_ends_of_a_span_are_inside(store: Store, pen: Pen) -> None:
    early, start, end, late = (
        pen.tell(f"at {hours}", at=NOW + timedelta(hours=hours)) for hours in (-0.001, 0, 24, 24.001)
    )
    assert set(store.search_times([SPAN], 2, everywhere())) == {start, end}
    assert set(store.search_times([SPAN], 4, everywhere())[2:]) == {early, late}


def test_the_nearest_of_several_spans_counts(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"day {days}", at=NOW + days * DAY) for days in (0, 4, 10)]
    spans = [(NOW + 9 * DAY, NOW + 10 * DAY), (NOW + 3 * DAY, NOW + 3 * DAY)]
    assert store.search_times(spans, 10, everywhere()) == [ids[2], ids[1], ids[0]]


def test_of_equally_close_ones_content_decides_and_not_age(store: Store, pen: Pen) -> None:
    news = [pen.new(f"fact {number}", at=NOW + HOUR) for number in range(20)]
    pen.write(*news)
    by_content = sorted(news, key=lambda new: int.from_bytes(new.fact.hash[:8], "little", signed=True))
    assert store.search_times([SPAN], 5, everywhere()) == [new.fact.id for new in by_content[:5]]


def test_a_fact_without_a_time_counts_by_when_it_was_stored(store: Store, pen: Pen) -> None:
    stored, told = pen.tell("stored", stored_at=NOW + HOUR), pen.tell("told", at=NOW + 3 * DAY, stored_at=NOW + HOUR)
    assert store.search_times([SPAN], 10, everywhere()) == [stored, told]


def test_only_what_passes_the_filter_is_timely(store: Store, pen: Pen) -> None:
    kept = pen.tell("kept", at=NOW, scope="a")
    pen.tell("elsewhere", at=NOW, scope="b")
    pen.tell("archived", at=NOW, scope="a", archived=True)
    pen.forget(pen.tell("gone", at=NOW, scope="a"))
    assert store.search_times([SPAN], 10, everywhere(scopes=("a",))) == [kept]


def test_without_a_span_nothing_is_timely(store: Store, pen: Pen) -> None:
    pen.tell("tea", at=NOW)
    assert store.search_times([], 10, everywhere()) == []


def test_what_is_timely_in_an_empty_store_is_nothing(store: Store) -> None:
    assert store.search_times([SPAN], 10, everywhere()) == []


def test_admitted_keeps_the_order_and_what_is_asked_for_twice(store: Store, pen: Pen) -> None:
    a, b = pen.tell("one"), pen.tell("two")
    assert store.filter_visible([b, "unknown", a, b], everywhere()) == [b, a, b]
    assert store.filter_visible([], everywhere()) == []


def test_admitted_leaves_out_what_the_filter_does(store: Store, pen: Pen) -> None:
    a, b = pen.tell("one", speaker="Ana", scope="a"), pen.tell("two", speaker="Ben", scope="b")
    archived = pen.tell("three", archived=True, scope="a")
    ids = [a, b, archived]
    assert store.filter_visible(ids, everywhere(scopes=("a",))) == [a]
    assert store.filter_visible(ids, everywhere(speakers=frozenset({"Ben"}))) == [b]
    assert store.filter_visible(ids, everywhere(archived=True)) == ids
    assert store.filter_visible(ids, everywhere(community=1)) == []
    pen.forget(a)
    assert store.filter_visible(ids, everywhere()) == [b]


def test_statistics_tell_the_earliest_and_the_latest_time(store: Store, pen: Pen) -> None:
    pen.tell("one", at=NOW - 9 * DAY)
    pen.tell("two")
    last = pen.tell("three", at=NOW + DAY, archived=True)
    found = store.read_word_statistics(["default"], [])
    assert (found.earliest, found.latest) == (NOW - 9 * DAY, NOW + DAY)
    pen.forget(last)
    assert store.read_word_statistics(["default"], []).latest == NOW


def test_times_are_known_before_anything_was_counted(store: Store, pen: Pen) -> None:
    pen.tell("one", at=NOW)
    found = store.read_word_statistics(["default"], ["one"])
    assert (found.facts, found.earliest) == (0, NOW)


def test_the_times_of_scopes_are_told_apart_and_together(store: Store, pen: Pen) -> None:
    pen.tell("one", at=NOW, scope="a")
    pen.tell("two", at=NOW + DAY, scope="b")
    a, both = store.read_word_statistics(["a", "nowhere"], []), store.read_word_statistics(["a", "b"], [])
    assert (a.earliest, a.latest) == (NOW, NOW)
    assert (both.earliest, both.latest) == (NOW, NOW + DAY)


def test_a_scope_without_facts_has_no_times(store: Store, pen: Pen) -> None:
    pen.forget(pen.tell("one", at=NOW))
    for scopes in (["default"], ["nowhere"], []):
        found = store.read_word_statistics(scopes, [])
        assert (found.earliest, found.latest) == (None, None)
