"""`cofire undo`, `update`, `pin` and `archive`: what was forgotten comes back, and facts change."""

from __future__ import annotations

import pytest

from tests.interfaces.calling import Store, call
from tests.interfaces.cli.test_json_shapes import EXAMPLES, FACT, shape


@pytest.fixture
def id(store: Store) -> str:
    [id] = store.holds("Tea is at four.", tags=["a"])
    return id


def test_forgotten_fact_comes_back_by_its_receipt(store: Store, id: str) -> None:
    told = call("forget", id, "--json").json
    assert store.texts == set()
    ran = call("undo", told["receipt"]["id"])
    assert (ran.code, ran.out) == (0, "Restored 1 fact and 0 edges.\n")
    assert store.texts == {"Tea is at four."}
    again = call("undo", told["receipt"]["path"])
    assert again.out.splitlines() == ["Restored 0 facts and 0 edges.", f"  skipped fact {id}: it is there already"]


def test_receipt_is_told(store: Store, id: str) -> None:
    forgot, undo = call("forget", id).out.splitlines()
    assert forgot == "Removed 1 fact."
    assert call("undo", undo.split()[-1]).code == 0
    assert store.texts == {"Tea is at four."}


def test_purge_leaves_no_receipt(store: Store, id: str) -> None:
    assert call("forget", id, "--purge", "--json").json["receipt"] is None


def test_unknown_receipt_is_code_3(store: Store, id: str) -> None:
    ran = call("undo", "nothing")
    assert ran.code == 3
    assert "There is no receipt nothing" in ran.err


def test_undo_in_json_is_as_described(store: Store, id: str) -> None:
    receipt = call("forget", id, "--json").json["receipt"]["id"]
    call("undo", receipt)
    assert shape(call("undo", receipt, "--json").json) == shape(EXAMPLES["cofire undo"])


def test_dry_run_tells_what_hangs_on_a_fact(store: Store, id: str) -> None:
    shown = call("forget", id, "--dry-run").out
    assert all(label in shown for label in ("edges", "mentions", "index entries", "facts described by them"))


def test_fact_is_changed_and_shows_its_history(store: Store, id: str) -> None:
    ran = call("update", id, "Tea is at five.", "--tag", "b", "--json")
    assert ran.json == {"fact": {**ran.json["fact"], "id": id, "text": "Tea is at five.", "tags": ["b"]}}
    assert shape(ran.json["fact"]).keys() == shape(FACT).keys()
    assert "Tea is at four." in call("show", id).out
    (past,) = call("show", id, "--json").json["facts"][0]["history"]
    assert (past["text"], past["tags"]) == ("Tea is at four.", ["a"])


def test_history_says_what_was_changed(store: Store, id: str) -> None:
    call("update", id, "--expires", "2099-01-01")
    call("update", id, "--expires", "2099-02-01", "--tag", "b")
    call("update", id, "Tea is at five.")
    told = [line.partition(": ")[2] for line in call("show", id).out.splitlines() if "until 2" in line]
    assert told == ["no expires", "tags a · expires 2099-01-01T00:00:00+00:00", "Tea is at four."]


def test_values_are_cleared_by_name(store: Store, id: str) -> None:
    assert call("update", id, "--clear", "tags", "--json").json["fact"]["tags"] == []
    assert call("update", id, "--clear", "scope").code == 2
    assert call("update", id, "--tag", "x", "--clear", "tags").code == 2


def test_update_without_a_change_is_refused(store: Store, id: str) -> None:
    ran = call("update", id)
    assert ran.code == 2
    assert "No change was given" in ran.err


@pytest.mark.parametrize(("verb", "said"), [("pin", "Pinned 1 fact."), ("archive", "Archived 1 fact.")])
def test_marks_are_set_and_taken_away(store: Store, id: str, verb: str, said: str) -> None:
    assert call(verb, id).out == f"{said}\n"
    assert call(verb, id).out == "No change was needed.\n"
    assert [fact["id"] for fact in call(f"un{verb}", id, "--json").json["facts"]] == [id]
    assert call(verb, "7").code == 3
