"""`cofire communities`: what it says where there are none."""

from __future__ import annotations

from tests.doors.calling import Store, call


def test_communities_of_a_scope_that_holds_nothing_are_no_matter_of_a_dream(store: Store) -> None:
    store.holds("PgBouncer runs in transaction mode.", "Serverless functions reach PostgreSQL through PgBouncer.")
    call("dream")
    store.holds("Tea is at four.", scope="home")
    assert call("communities", "--scope", "nope").out == (
        "No fact has the scope nope. See the communities of every scope with: cofire communities\n"
    )
    assert (
        call("communities", "--scope", "home").out
        == "There are no communities of home yet. Find them with: cofire dream\n"
    )
