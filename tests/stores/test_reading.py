"""Reading: by id, by hash, page by page; sizes; several questions at once; a store that is closed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cofire.errors import StoreClosed, StoreError
from cofire.model import Change
from cofire.stores.base import EdgeFilter, ExpansionOptions, Store
from tests.conftest import sqlite_store
from tests.reference_store.store import ReferenceStore
from tests.stores.making import MODEL, NOW, Pen, asked, cue, everywhere, vector


def test_read_keeps_the_order_asked_for(store: Store, pen: Pen) -> None:
    ids = [pen.tell(text) for text in ("one", "two", "three")]
    wanted = [ids[2], ids[0], ids[1]]
    assert [fact.id for fact in store.read(wanted) if fact] == wanted


def test_read_answers_none_for_the_unknown(store: Store, pen: Pen) -> None:
    id = pen.tell("one")
    assert [fact and fact.id for fact in store.read(["unknown", id, ""])] == [None, id, None]


def test_read_answers_an_id_asked_for_twice_twice(store: Store, pen: Pen) -> None:
    id = pen.tell("one")
    assert [fact.id for fact in store.read([id, id]) if fact] == [id, id]


def test_read_of_nothing_is_nothing(store: Store) -> None:
    assert store.read([]) == []


def test_recognise_knows_only_what_is_stored(store: Store, pen: Pen) -> None:
    stored, unknown = pen.new("one"), pen.new("two")
    pen.write(stored)
    assert store.recognise([stored.fact.hash, unknown.fact.hash]) == {stored.fact.hash: stored.fact.id}
    assert store.recognise([]) == {}


def test_scan_is_newest_first(store: Store, pen: Pen) -> None:
    ids = [pen.tell(text) for text in ("one", "two", "three")]
    assert [fact.id for fact in store.scan(everywhere(), 10, None)] == ids[::-1]


def test_scan_goes_by_id_even_when_written_out_of_order(store: Store, pen: Pen) -> None:
    early, late = pen.new("early"), pen.new("late")
    pen.write(late)
    pen.write(early)
    assert [fact.text for fact in pen.all()] == ["late", "early"]


def test_scan_gives_at_most_a_page(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"fact {number}") for number in range(5)]
    assert [fact.id for fact in store.scan(everywhere(), 2, None)] == [ids[4], ids[3]]


def test_scan_can_see_pinned_facts_alone(store: Store, pen: Pen) -> None:
    pinned = [pen.tell("one", pinned=True), pen.tell("two", pinned=True, archived=True)]
    pen.tell("three")
    assert [fact.id for fact in store.scan(everywhere(pinned=True), 10, None)] == pinned[:1]


def test_pages_follow_each_other_without_overlap_or_gap(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"fact {number}") for number in range(5)]
    seen: list[str] = []
    before = None
    while page := store.scan(everywhere(), 2, before):
        seen += [fact.id for fact in page]
        before = page[-1].id
    assert seen == ids[::-1]


def test_a_page_may_start_below_an_id_that_is_gone(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"fact {number}") for number in range(3)]
    pen.forget(ids[1])
    assert [fact.id for fact in store.scan(everywhere(), 5, ids[1])] == [ids[0]]


def test_an_empty_store_answers_nothing_to_everything(store: Store) -> None:
    assert store.scan(everywhere(), 10, None) == []
    assert store.read(["unknown"]) == [None]
    assert store.nearest(asked(1, 0, 0, 0), 5, everywhere(), 400) == []
    assert store.matching(cue("tea"), 5, everywhere()) == []
    assert store.unembedded(MODEL.encode(), 5) == []
    assert store.weigh(["unknown"], ["tea"], 0, 0).ids == ()
    assert store.check() == []


def test_size_of_an_empty_store(store: Store) -> None:
    size = store.size()
    assert (size.facts, size.archived, size.embedded, size.edges, dict(size.scopes)) == (0, 0, 0, 0, {})


def test_size_counts_facts_scopes_vectors_and_archived(store: Store, pen: Pen) -> None:
    pen.settle()
    pen.tell("one", vector(1, 1, 0, 0), scope="a")
    pen.tell("two", scope="a", archived=True)
    pen.tell("three", vector(1, 0, 1, 0), scope="b")
    size = store.size()
    assert (size.facts, size.archived, size.embedded, dict(size.scopes)) == (3, 1, 2, {"a": 2, "b": 1})


def test_size_forgets_a_scope_that_is_empty(store: Store, pen: Pen) -> None:
    pen.forget(pen.tell("one", scope="a"))
    assert dict(store.size().scopes) == {}


def test_size_says_where_the_store_is(store: Store) -> None:
    assert store.size().place
    assert store.size().bytes >= 0


def test_together_answers_in_order(store: Store, pen: Pen) -> None:
    id = pen.tell("tea")
    answers = store.together(
        [lambda: store.matching(cue("tea"), 5, everywhere()), lambda: [fact.id for fact in pen.all()], lambda: 3]
    )
    assert answers == [[id], [id], 3]
    assert store.together([]) == []


def test_a_sound_store_has_nothing_to_complain_of(store: Store, pen: Pen) -> None:
    pen.tell("one", session="s", tags=("a",))
    pen.forget(pen.tell("two"))
    assert store.check() == []


def test_scopes_never_see_each_other(store: Store, pen: Pen) -> None:
    pen.settle()
    ids = {scope: pen.tell("tea", vector(1, 1, 0, 0), scope=scope) for scope in ("a", "b", "default")}
    for scope, id in ids.items():
        inside = everywhere(scopes=(scope,))
        assert [fact.id for fact in store.scan(inside, 5, None)] == [id]
        assert store.matching(cue("tea"), 5, inside) == [id]
        assert store.nearest(asked(1, 1, 0, 0), 5, inside, 400) == [id]


CALLS: dict[str, Callable[[Store], object]] = {
    "taken": lambda store: store.taken(["a"]),
    "history": lambda store: store.history("a"),
    "write": lambda store: store.write(Change(now=NOW), {}),
    "recognise": lambda store: store.recognise([b"hash"]),
    "read": lambda store: store.read(["id"]),
    "scan": lambda store: store.scan(everywhere(), 1, None),
    "nearest": lambda store: store.nearest(asked(1, 0, 0, 0), 1, everywhere(), 1),
    "alike": lambda store: store.alike(asked(1, 0, 0, 0), 1, everywhere(), 1, 0.5),
    "matching": lambda store: store.matching(cue("tea"), 1, everywhere()),
    "timely": lambda store: store.timely([(NOW, NOW)], 1, everywhere()),
    "admitted": lambda store: store.admitted(["id"], everywhere()),
    "weigh": lambda store: store.weigh(["id"], ["tea"], 1, 1),
    "places": lambda store: store.places(["id"], ["tea"]),
    "voices": lambda store: store.voices(["default"], ["ana"]),
    "tags": lambda store: store.tags(["default"], ["db"]),
    "known": lambda store: store.known(["ana"], everywhere(), 1),
    "speaking": lambda store: store.speaking("default", {"ana": ["ana"]}, 1, False),
    "paths": lambda store: store.paths(["id"], everywhere(), 1, 1),
    "statistics": lambda store: store.statistics(["default"], ["tea"]),
    "record": lambda store: store.record("model"),
    "unembedded": lambda store: store.unembedded(MODEL.encode(), 1),
    "edges": lambda store: store.edges(EdgeFilter(), 1),
    "links": lambda store: store.links("id", 1),
    "waiting": lambda store: store.waiting(None, 1),
    "kin": lambda store: store.kin(["id"], 1, 1),
    "profiles": lambda store: store.profiles(["id"]),
    "expand": lambda store: store.expand(["id"], ExpansionOptions(everywhere(), None, 0.0, 1)),
    "network": lambda store: store.network("default"),
    "importance": lambda store: store.importance(["id"]),
    "descriptions": lambda store: store.descriptions("id"),
    "active_hours": lambda store: store.active_hours(),
    "size": lambda store: store.size(),
    "together": lambda store: store.together([]),
    "backup": lambda store: store.backup("nowhere.db"),
    "check": lambda store: store.check(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_store_says_so(store: Store, call: str) -> None:
    store.close()
    with pytest.raises(StoreClosed):
        CALLS[call](store)


def test_every_method_is_tried_on_a_closed_store() -> None:
    assert {name for name in vars(Store) if not name.startswith("_")} == {*CALLS, "close"}


def test_closing_twice_is_harmless(store: Store) -> None:
    store.close()
    store.close()


def test_a_backup_of_a_file_is_a_store(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    original = sqlite_store(tmp_path)
    id = Pen(original).tell("Tea at four.")
    original.backup(str(tmp_path / "copy" / "memory.db"))
    copied = sqlite_store(tmp_path / "copy")
    assert [fact.id for fact in copied.read([id]) if fact] == [id]
    copied.close()
    original.close()


def test_a_store_without_a_file_refuses_a_backup_and_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"Memory\("):
        ReferenceStore().backup(str(tmp_path / "copy.db"))
    assert list(tmp_path.iterdir()) == []
