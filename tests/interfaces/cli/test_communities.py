"""`cofire communities`: what it says where there are none."""

from __future__ import annotations

import json

from tests.interfaces.calling import Store, call


def test_communities_of_a_scope_that_holds_nothing_are_no_matter_of_a_dream(store: Store) -> None:
    store.holds("PgBouncer runs in transaction mode.", "Serverless functions reach PostgreSQL through PgBouncer.")
    call("dream")
    store.holds("Tea is at four.", scope="home")
    assert call("communities", "--scope", "nope").out == (
        "No fact has the scope nope. List the communities of all scopes with: cofire communities\n"
    )
    assert (
        call("communities", "--scope", "home").out
        == "There are no communities in home yet. Find them with: cofire dream\n"
    )


def test_names_of_communities_hold_no_markup(store: Store) -> None:
    text = "See the [guides](../guides/i.md) on `pots` {{#tea}} and :ref:`kettles <k>`, .. _facets: number {}."
    store.holds(*(text.replace("{}", str(number)).replace("{{#tea}}", "{#tea}") for number in range(6)))
    call("dream")
    names = [community["name"] for community in json.loads(call("communities", "--json").out)["communities"]]
    assert names
    assert not any(mark in name for name in names for mark in "[](){}`<>|:_*")
