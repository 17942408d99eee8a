"""`cofire dream`: what waits in the inbox is connected."""

from __future__ import annotations

import pytest

from tests.interfaces.calling import Store, call, call_at_terminal

LIKE = (
    "PostgreSQL connection pooling is configured via PgBouncer.",
    "PgBouncer sessions should be set to transaction mode for serverless.",
)


def test_dream_tells_what_it_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    call("remember", *LIKE, "--tag", "db")
    told = call("dream").out
    assert told.startswith("Linked 2 facts: ")
    assert told.endswith("1 community.\n")
    kinds = {edge["kind"] for edge in call("edges", "--json").json["edges"]}
    assert {"similar", "semantic"} <= kinds


def test_dream_needs_no_embedder_to_use_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    call("remember", *LIKE, "--tag", "db")
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "ollama:nobody@http://127.0.0.1:9")
    assert call("dream", "--json").json["new"] > 0


def test_dream_says_when_nothing_waited(store: Store) -> None:
    store.holds("Tea is at four.")
    assert call("dream").out.startswith("Linked 1 fact: 0 new edges, 0 changed, 0 ended")
    ran = call("dream")
    assert (ran.code, ran.out) == (0, "No facts were waiting to be linked.\n")


def test_dream_of_an_empty_store_is_no_error() -> None:
    assert call("dream", "--json").json == {
        "facts": 0,
        "new": 0,
        "changed": 0,
        "ended": 0,
        "communities": 0,
        "waiting": 0,
    }


def test_dream_of_a_scope_leaves_the_others_waiting(store: Store) -> None:
    store.holds("Tea is at four.", scope="a")
    store.holds("Coffee is at ten.", "Milk is at noon.", scope="b")
    ran = call("dream", "--scope", "a")
    assert ran.out.startswith("Linked 1 fact")
    assert ran.out.endswith("2 facts still waiting. Link all scopes with: cofire dream\n")
    assert call("dream", "--scope", "b", "--json").json["waiting"] == 0


def test_dream_draws_its_progress_at_a_terminal(store: Store) -> None:
    store.holds("Tea is at four.")
    ran = call_at_terminal("dream")
    assert ran.code == 0
    assert "dreaming" in ran.out


def test_stats_say_how_many_facts_wait(store: Store) -> None:
    store.holds("Tea is at four.", "Coffee is at ten.")
    shown = call("stats").out
    assert "2 facts; link them with: cofire dream" in shown
    assert "dream when you have a moment" in shown
    call("dream")
    held = call("stats", "--json").json
    assert (held["waiting"], held["advice"]) == (0, "")
    assert "cofire dream" not in call("stats").out
