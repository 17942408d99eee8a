"""`cofire list`, `show` and `stats`: what memory holds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cofire import Memory
from tests.interfaces.calling import Store, call


def test_list_shows_newest_first_with_ids_to_copy(store: Store) -> None:
    old, new = store.holds("Tea is at four.", "Coffee is at ten.")
    shown = call("list").out.splitlines()
    assert [shown[0], shown[2]] == ["Coffee is at ten.", "Tea is at four."]
    assert [shown[1].split()[0], shown[3].split()[0]] == [new, old]


def test_list_of_an_empty_store_says_how_to_begin(store: Store) -> None:
    ran = call("list")
    assert ran.code == 0
    assert f"The store {store.path} is empty. Add a fact with: cofire remember" in ran.out
    assert call("list", "--json").json == {"facts": []}


def test_list_says_when_filters_let_nothing_through(store: Store) -> None:
    store.holds("Tea is at four.")
    assert call("list", "--tag", "none").out == "No fact matches these filters.\n"


def test_list_shows_what_is_archived_when_told(store: Store) -> None:
    tea, coffee = store.holds("Tea is at four.", "Coffee is at ten.")
    call("archive", tea)
    assert [fact["id"] for fact in call("list", "--json").json["facts"]] == [coffee]
    assert [fact["id"] for fact in call("list", "--archived", "--json").json["facts"]] == [tea]


def test_list_of_a_store_that_is_archived_does_not_call_it_empty(store: Store) -> None:
    call("archive", *store.holds("Tea is at four."))
    assert (
        call("list").out
        == "The store has 1 fact, but none is currently valid. List archived facts with: cofire list --archived\n"
    )


def test_list_says_how_to_see_what_has_expired(store: Store) -> None:
    with Memory(store.path, embedder=None, clock=lambda: datetime(2020, 1, 1, tzinfo=UTC)) as memory:
        memory.remember("Tea is at four.", expires="2020-02-01")
    said = "The store has 1 fact, but none is currently valid. List facts valid at another time with: cofire list --as-of TIME\n"
    assert call("list").out == said
    assert "Tea is at four." in call("list", "--as-of", "2020-01-15").out


def test_list_tells_both_ways_where_both_lead_to_facts(store: Store) -> None:
    call("archive", *store.holds("Tea is at four."))
    call("update", *store.holds("Coffee is at ten."), "--expires", "2020-01-01")
    shown = call("list").out
    assert "cofire list --archived" in shown
    assert "cofire list --as-of TIME" in shown


@pytest.mark.parametrize("unknown", ["nope", "01M7GRXZ72ER9HC7SM0EVVJFVW"])
def test_list_before_an_unknown_fact_is_code_3(store: Store, unknown: str) -> None:
    store.holds("Tea is at four.")
    ran = call("list", "--before", unknown)
    assert (ran.code, ran.out) == (3, "")
    assert f"No fact has the id {unknown}." in ran.err


def test_list_goes_on_before_a_fact_that_is_archived(store: Store) -> None:
    tea, coffee = store.holds("Tea is at four.", "Coffee is at ten.")
    call("archive", coffee)
    assert [fact["id"] for fact in call("list", "--before", coffee, "--json").json["facts"]] == [tea]


def test_list_goes_page_by_page(store: Store) -> None:
    ids = store.holds(*(f"Note {number}." for number in range(5)))
    first = call("list", "--limit", "2", "--json").json["facts"]
    second = call("list", "--limit", "2", "--before", first[-1]["id"], "--json").json["facts"]
    assert [fact["id"] for fact in first + second] == ids[:0:-1]


def test_list_shortens_long_texts_to_a_line(store: Store) -> None:
    store.holds("tea\n" * 200)
    text, _ = call("list").out.splitlines()
    assert text.endswith("…")
    assert len(text) == 280


def test_list_shows_every_scope_unless_told(store: Store) -> None:
    store.holds("Tea is at four.", scope="a")
    store.holds("Coffee is at ten.", scope="b")
    assert len(call("list", "--json").json["facts"]) == 2
    assert [fact["scope"] for fact in call("list", "--scope", "a", "--json").json["facts"]] == ["a"]


def test_list_of_what_is_pinned(store: Store) -> None:
    one, _ = store.holds("Tea is at four.", "Coffee is at ten.")
    assert call("list", "--pinned").out == "No fact matches these filters.\n"
    call("pin", one)
    assert [fact["id"] for fact in call("list", "--pinned", "--json").json["facts"]] == [one]


def test_show_tells_everything_about_a_fact(store: Store) -> None:
    [id] = store.holds(
        "Tea is at four.\nEvery day.", tags=["habit"], speaker="Mei", metadata={"page": 3}, at="2026-05-08"
    )
    shown = call("show", id).out
    for part in ("Tea is at four.\nEvery day.\n", id, "habit", "Mei", "page=3", "2026-05-08T00:00:00+00:00"):
        assert part in shown


def test_show_takes_several_ids_in_their_order(store: Store) -> None:
    ids = store.holds("Tea is at four.", "Coffee is at ten.")
    assert [fact["id"] for fact in call("show", *ids, "--json").json["facts"]] == ids


def test_show_of_an_unknown_id_is_code_3(store: Store) -> None:
    [id] = store.holds("Tea is at four.")
    ran = call("show", id, "7")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "error: No fact has the id 7.\nList the ids with: cofire list\n"


def test_stats_count_facts_and_name_the_store(store: Store) -> None:
    store.holds("Tea is at four.", "Coffee is at ten.", scope="a")
    shown = call("stats").out
    assert str(store.path) in shown
    assert "a (2)" in shown
    held = call("stats", "--json").json
    assert (held["facts"], held["scopes"], held["mode"]) == (2, {"a": 2}, "words only (no embedder)")


def test_control_characters_cannot_steer_the_terminal(store: Store) -> None:
    store.holds("tea\x1b[2J\x07four\u009b1m")
    for command in (["list"], ["recall", "tea"], ["recall", "tea", "--text"], ["recall", "tea", "--xray"]):
        shown = call(*command).out
        assert "tea␛[2J" in shown
        assert not set(shown) & {"\x1b", "\x07", "\u009b"}
