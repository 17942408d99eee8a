"""`cofire curate`, `cofire review` and `cofire supersede`."""

from __future__ import annotations

import pytest

from tests.interfaces.calling import Store, call, call_at_terminal
from tests.interfaces.cli.test_json_shapes import EXAMPLES, shape

LIVES = ("Ana Lopez lives in Porto by the river.", "Ana Lopez lives in Lisbon by the river.")


@pytest.fixture
def proposed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    ids = [call("remember", text, "--subject", "Ana Lopez", "--json").json["ids"][0] for text in LIVES]
    call("dream")
    call("curate")
    return ids


def test_curate_tells_what_it_did(store: Store) -> None:
    store.holds("Tea is at four.")
    assert call("curate").out.splitlines() == [
        "Edges: 0 decayed, 0 ended, 0 lowered in confidence, 0 pruned.",
        "Facts: 0 archived, 0 pairs proposed for review.",
        "Graph: 1 community.",
        "Checks: 1 fact without links, 0 dangling rows.",
    ]


def test_a_dry_run_says_what_would_be_archived_and_why(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_BUDGET_FACTS", "1")
    ids = store.holds("Tea is at four.", "Coffee is at ten.")
    told = call("curate", "--dry-run").out
    assert "Facts: 1 would be archived" in told
    assert "2 facts were more than budget.facts = 1" in told
    assert not any(fact.archived for fact in store.facts(ids=ids))
    assert len(call("curate", "--json").json["archived"]) == 1
    (gone,) = (fact.id for fact in store.facts(ids=ids) if fact.archived)
    assert "budget.facts = 1" in call("show", gone, "--json").json["facts"][0]["archived_because"]
    assert "archived because" in call("show", gone).out


def test_curate_is_as_described(store: Store) -> None:
    store.holds("Tea is at four.")
    told, described = call("curate", "--json").json, EXAMPLES["cofire curate"]
    assert set(told) == set(described)
    assert {type(told[name]) for name in told} == {type(described[name]) for name in told}


def test_curate_draws_its_progress_at_a_terminal(store: Store) -> None:
    store.holds("Tea is at four.")
    ran = call_at_terminal("curate")
    assert ran.code == 0
    assert "curating" in ran.out


def test_reviews_are_listed_and_accepted(proposed: list[str]) -> None:
    assert "Porto or Lisbon (open)" in call("review", "list").out
    (told,), (described,) = call("review", "list", "--json").json["reviews"], EXAMPLES["cofire review list"]["reviews"]
    assert set(told) == set(described)
    assert set(described["old"]) <= set(told["old"]) == set(told["new"])
    assert call("review", "accept", *proposed).out == "Accepted. The newer fact supersedes the older.\n"
    assert call("review", "list").out == "No pairs are waiting for review.\n"
    assert call("review", "list", "--all", "--json").json["reviews"][0]["state"] == "accepted"


def test_reviews_are_dismissed(proposed: list[str]) -> None:
    told = call("review", "dismiss", *proposed, "--json").json
    assert shape(told) == shape(EXAMPLES["cofire review dismiss"])
    assert call("review", "accept", *proposed).code == 3


def test_supersede_and_back(store: Store) -> None:
    old, new = store.holds("Tea is at four.", "Tea is at five.")
    assert shape(call("supersede", old, new, "--json").json) == shape(EXAMPLES["cofire supersede"])
    assert store.facts(ids=old)[0].valid_until is not None
    assert call("supersede", old, new, "--undo").out == f"{new} no longer supersedes {old}.\n"
    assert store.facts(ids=old)[0].valid_until is None
