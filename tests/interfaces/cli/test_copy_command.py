"""`cofire copy`: a memory in another store, compared, and taken up again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cofire import Memory
from tests.interfaces.calling import Store, call, call_at_terminal
from tests.interfaces.cli.test_json_shapes import EXAMPLES, shape
from tests.neo4j_server import empty, in_turn


@pytest.fixture
def source(tmp_path: Path) -> Store:
    made = Store(tmp_path / "team.db")
    made.holds("Tea is at four.", "Coffee is at ten.", tags=["habit"], session="day")
    return made


@pytest.fixture
def new(tmp_path: Path) -> Store:
    return Store(tmp_path / "new.db")


def test_copy_says_what_it_did_and_what_both_hold(source: Store, new: Store) -> None:
    ran = call("copy", str(source.path), str(new.path))
    first, second = ran.out.splitlines()
    assert first == f"Copied 2 facts to {new.path}."
    assert second.startswith("Both stores are equal: 2 facts, 0 vectors, 1 edge, ")
    assert new.facts() == source.facts()


def test_copy_again_copies_nothing(source: Store, new: Store) -> None:
    first = call("copy", str(source.path), str(new.path), "--json").json
    again = call("copy", str(source.path), str(new.path), "--json").json
    assert (first["copied"], again["copied"], again["there"]) == (2, 0, 2)
    assert again["checksum"] == first["checksum"]
    assert "; 2 already existed." in call("copy", str(source.path), str(new.path)).out


def test_copy_is_as_described(store: Store, new: Store) -> None:
    store.holds("PgBouncer runs in transaction mode.", tags=["db"], subject="PgBouncer")
    told = call("copy", str(store.path), str(new.path), "--json").json
    assert shape(told) == shape(EXAMPLES["cofire copy"])


def test_verify_only_writes_nothing(source: Store, new: Store) -> None:
    new.holds()
    before = new.path.read_bytes()
    ran = call("copy", str(source.path), str(new.path), "--verify-only", "--json")
    assert (ran.code, ran.error["kind"]) == (4, "Conflict")
    assert "differ in facts (2, " in ran.error["problem"]
    assert new.path.read_bytes() == before


def test_verify_only_tells_that_a_copy_is_the_same(source: Store, new: Store) -> None:
    assert call("copy", str(source.path), str(new.path)).code == 0
    assert call("copy", str(source.path), str(new.path), "--verify-only").out.startswith(
        "Both stores are equal: 2 facts"
    )


def test_verify_only_makes_no_store(source: Store, new: Store) -> None:
    ran = call("copy", str(source.path), str(new.path), "--verify-only")
    assert ran.code == 4
    assert f"There is no store {new.path}." in ran.err
    assert not new.path.exists()


def test_a_source_that_is_not_there_is_not_made(source: Store, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    assert call("copy", str(missing), str(source.path)).code == 4
    assert not missing.exists()


def test_a_target_with_other_facts_is_code_4_and_stays_as_it_is(source: Store, new: Store) -> None:
    new.holds("Something else.")
    ran = call("copy", str(source.path), str(new.path), "--json")
    assert (ran.code, ran.error["kind"]) == (4, "Conflict")
    assert "cofire export" in ran.error["way_out"]
    assert new.texts == {"Something else."}


def test_a_store_is_not_copied_onto_itself(source: Store) -> None:
    ran = call("copy", str(source.path), str(source.path.parent / "." / source.path.name))
    assert ran.code == 2
    assert "the same store" in ran.err


def test_copy_takes_no_store_option(source: Store, new: Store) -> None:
    assert call("copy", str(source.path), str(new.path), "--store", "other.db").code == 2


def test_copy_draws_its_progress_at_a_terminal(source: Store, new: Store) -> None:
    assert "copying" in call_at_terminal("copy", str(source.path), str(new.path)).out


@in_turn
def test_copy_to_a_server_and_back_tells_no_password(source: Store, new: Store, neo4j_url: str) -> None:
    empty(neo4j_url)
    there = call("copy", str(source.path), neo4j_url, "--json").json
    back = call("copy", neo4j_url, str(new.path), "--json").json
    assert there["checksum"] == back["checksum"]
    assert there["target"] == back["source"] == f"bolt://{neo4j_url.rpartition('@')[2]}"
    with Memory(new.path, embedder=None) as memory:
        assert {fact.text for fact in memory.facts()} == source.texts
