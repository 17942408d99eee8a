"""Tags: which of the names in a question are tags of facts."""

from __future__ import annotations

from cofire.stores.base import Store
from tests.stores.making import Pen


def test_names_that_are_tags_are_told(store: Store, pen: Pen) -> None:
    pen.tell("one", tags=("db", "hot tea"))
    assert store.match_tags(["default"], ["hot tea", "db", "tea", "db"]) == {"db", "hot tea"}
    assert store.match_tags(["default"], []) == store.match_tags(["default"], ["DB"]) == frozenset()


def test_tags_of_other_scopes_are_not_told(store: Store, pen: Pen) -> None:
    pen.tell("one", tags=("db",), scope="a")
    pen.tell("two", tags=("pool",), scope="b")
    assert store.match_tags(["a", "nowhere"], ["db", "pool"]) == {"db"}
    assert store.match_tags(["a", "b"], ["db", "pool"]) == {"db", "pool"}
    assert store.match_tags([], ["db"]) == store.match_tags(["nowhere"], ["db"]) == frozenset()


def test_a_tag_comes_with_another_telling_and_goes_with_the_last_fact(store: Store, pen: Pen) -> None:
    id = pen.tell("one", tags=("db",), archived=True)
    pen.tell("one", tags=("pool",))
    assert store.match_tags(["default"], ["db", "pool"]) == {"db", "pool"}
    pen.forget(id)
    assert store.match_tags(["default"], ["db", "pool"]) == frozenset()
