"""Reading: by id, by hash, page by page; sizes; several questions at once; a store that is closed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cofire.errors import StoreClosed, StoreError
from cofire.model import Change
from cofire.runtime.effects import StoreCall
from cofire.stores.base import (
    EdgeFilter,
    ExpansionOptions,
    FactStore,
    GraphStore,
    LearningStore,
    MaintenanceStore,
    SearchStore,
    Store,
    UnembeddedSelection,
)
from cofire.stores.curation_rows import CurationChange
from cofire.stores.learning_rows import LoggedRecall, RecallLogOptions
from tests.conftest import sqlite_store
from tests.reference_store.store import ReferenceStore
from tests.stores.making import MODEL, NOW, Pen, asked, cue, everywhere, vector


def test_read_keeps_the_order_asked_for(store: Store, pen: Pen) -> None:
    ids = [pen.tell(text) for text in ("one", "two", "three")]
    wanted = [ids[2], ids[0], ids[1]]
    assert [fact.id for fact in store.read_facts(wanted) if fact] == wanted


def test_read_answers_none_for_the_unknown(store: Store, pen: Pen) -> None:
    id = pen.tell("one")
    assert [fact and fact.id for fact in store.read_facts(["unknown", id, ""])] == [None, id, None]


def test_read_answers_an_id_asked_for_twice_twice(store: Store, pen: Pen) -> None:
    id = pen.tell("one")
    assert [fact.id for fact in store.read_facts([id, id]) if fact] == [id, id]


def test_read_of_nothing_is_nothing(store: Store) -> None:
    assert store.read_facts([]) == []


def test_recognise_knows_only_what_is_stored(store: Store, pen: Pen) -> None:
    stored, unknown = pen.new("one"), pen.new("two")
    pen.write(stored)
    assert store.find_ids_by_hash([stored.fact.hash, unknown.fact.hash]) == {stored.fact.hash: stored.fact.id}
    assert store.find_ids_by_hash([]) == {}


def test_scan_is_newest_first(store: Store, pen: Pen) -> None:
    ids = [pen.tell(text) for text in ("one", "two", "three")]
    assert [fact.id for fact in store.list_facts(everywhere(), 10, None)] == ids[::-1]


def test_scan_goes_by_id_even_when_written_out_of_order(store: Store, pen: Pen) -> None:
    early, late = pen.new("early"), pen.new("late")
    pen.write(late)
    pen.write(early)
    assert [fact.text for fact in pen.all()] == ["late", "early"]


def test_scan_gives_at_most_a_page(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"fact {number}") for number in range(5)]
    assert [fact.id for fact in store.list_facts(everywhere(), 2, None)] == [ids[4], ids[3]]


def test_scan_can_see_pinned_facts_alone(store: Store, pen: Pen) -> None:
    pinned = [pen.tell("one", pinned=True), pen.tell("two", pinned=True, archived=True)]
    pen.tell("three")
    assert [fact.id for fact in store.list_facts(everywhere(pinned=True), 10, None)] == pinned[:1]


def test_pages_follow_each_other_without_overlap_or_gap(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"fact {number}") for number in range(5)]
    seen: list[str] = []
    before = None
    while page := store.list_facts(everywhere(), 2, before):
        seen += [fact.id for fact in page]
        before = page[-1].id
    assert seen == ids[::-1]


def test_a_page_may_start_below_an_id_that_is_gone(store: Store, pen: Pen) -> None:
    ids = [pen.tell(f"fact {number}") for number in range(3)]
    pen.forget(ids[1])
    assert [fact.id for fact in store.list_facts(everywhere(), 5, ids[1])] == [ids[0]]


def test_an_empty_store_answers_nothing_to_everything(store: Store) -> None:
    assert store.list_facts(everywhere(), 10, None) == []
    assert store.read_facts(["unknown"]) == [None]
    assert store.search_vectors(asked(1, 0, 0, 0), 5, everywhere(), 400) == []
    assert store.search_words(cue("tea"), 5, everywhere()) == []
    assert store.list_facts(UnembeddedSelection(MODEL.encode()), 5) == []
    assert store.fetch_features(["unknown"], ["tea"], 0, 0).ids == ()
    assert store.check() == []


def test_size_of_an_empty_store(store: Store) -> None:
    size = store.read_size()
    assert (size.facts, size.archived, size.embedded, size.edges, dict(size.scopes)) == (0, 0, 0, 0, {})


def test_size_counts_facts_scopes_vectors_and_archived(store: Store, pen: Pen) -> None:
    pen.settle()
    pen.tell("one", vector(1, 1, 0, 0), scope="a")
    pen.tell("two", scope="a", archived=True)
    pen.tell("three", vector(1, 0, 1, 0), scope="b")
    size = store.read_size()
    assert (size.facts, size.archived, size.embedded, dict(size.scopes)) == (3, 1, 2, {"a": 2, "b": 1})


def test_size_forgets_a_scope_that_is_empty(store: Store, pen: Pen) -> None:
    pen.forget(pen.tell("one", scope="a"))
    assert dict(store.read_size().scopes) == {}


def test_size_says_where_the_store_is(store: Store) -> None:
    assert store.read_size().place
    assert store.read_size().bytes >= 0


def test_together_answers_in_order(store: Store, pen: Pen) -> None:
    id = pen.tell("tea")
    answers = store.together(
        [StoreCall("search_words", (cue("tea"), 5, everywhere())), StoreCall("list_changed_ids", (None,))]
    )
    assert answers == [[id], [id]]
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
        assert [fact.id for fact in store.list_facts(inside, 5, None)] == [id]
        assert store.search_words(cue("tea"), 5, inside) == [id]
        assert store.search_vectors(asked(1, 1, 0, 0), 5, inside, 400) == [id]


SHOWN = LoggedRecall("id", NOW, None, ("a",))
CALLS: dict[str, Callable[[Store], object]] = {
    "collect_cascade": lambda store: store.collect_cascade(["a"]),
    "read_history": lambda store: store.read_history("a"),
    "write": lambda store: store.write(Change(now=NOW), {}),
    "find_ids_by_hash": lambda store: store.find_ids_by_hash([b"hash"]),
    "read_facts": lambda store: store.read_facts(["id"]),
    "list_facts": lambda store: store.list_facts(everywhere(), 1, None),
    "search_vectors": lambda store: store.search_vectors(asked(1, 0, 0, 0), 1, everywhere(), 1),
    "search_similar": lambda store: store.search_similar(asked(1, 0, 0, 0), 1, everywhere(), 1, 0.5),
    "search_words": lambda store: store.search_words(cue("tea"), 1, everywhere()),
    "search_times": lambda store: store.search_times([(NOW, NOW)], 1, everywhere()),
    "filter_visible": lambda store: store.filter_visible(["id"], everywhere()),
    "fetch_features": lambda store: store.fetch_features(["id"], ["tea"], 1, 1),
    "locate_words": lambda store: store.locate_words(["id"], ["tea"]),
    "match_speakers": lambda store: store.match_speakers(["default"], ["ana"]),
    "match_tags": lambda store: store.match_tags(["default"], ["db"]),
    "look_up_names": lambda store: store.look_up_names(["ana"], everywhere(), 1),
    "find_unlinked_mentions": lambda store: store.find_unlinked_mentions("default", {"ana": ["ana"]}, 1, False),
    "fetch_name_links": lambda store: store.fetch_name_links(["id"], everywhere(), 1, 1),
    "read_word_statistics": lambda store: store.read_word_statistics(["default"], ["tea"]),
    "read_record": lambda store: store.read_record("model"),
    "list_edges": lambda store: store.list_edges(EdgeFilter(), 1),
    "list_links": lambda store: store.list_links("id", 1),
    "find_neighbours": lambda store: store.find_neighbours(["id"], 1, 1),
    "fetch_profiles": lambda store: store.fetch_profiles(["id"]),
    "expand_links": lambda store: store.expand_links(["id"], ExpansionOptions(everywhere(), None, 0.0, 1)),
    "fetch_scope_graph": lambda store: store.fetch_scope_graph("default"),
    "fetch_importance": lambda store: store.fetch_importance(["id"]),
    "list_communities": lambda store: store.list_communities(None, 1, 1),
    "log_recall": lambda store: store.log_recall(SHOWN, RecallLogOptions(1, "documented", 30.0)),
    "read_recall": lambda store: store.read_recall("id"),
    "fetch_feedback_counts": lambda store: store.fetch_feedback_counts(["id"]),
    "find_judged_recalls": lambda store: store.find_judged_recalls(["id", "other"], 1),
    "preview_decay": lambda store: store.preview_decay(CurationChange(prune=0.5), NOW, 1),
    "read_usage": lambda store: store.read_usage(),
    "check_graph": lambda store: store.check_graph(),
    "list_reviews": lambda store: store.list_reviews(True),
    "list_changed_ids": lambda store: store.list_changed_ids(None),
    "read_size": lambda store: store.read_size(),
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
    protocols = (FactStore, SearchStore, GraphStore, LearningStore, MaintenanceStore, Store)
    methods = {name for protocol in protocols for name in vars(protocol) if not name.startswith("_")}
    without_answer = {"close", "compact", "confirm_records", "for_call", "is_async", "path", "server"}
    assert methods - without_answer == CALLS.keys()


def test_closing_twice_is_harmless(store: Store) -> None:
    store.close()
    store.close()


def test_a_backup_of_a_file_is_a_store(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    original = sqlite_store(tmp_path)
    id = Pen(original).tell("Tea at four.")
    original.backup(str(tmp_path / "copy" / "memory.db"))
    copied = sqlite_store(tmp_path / "copy")
    assert [fact.id for fact in copied.read_facts([id]) if fact] == [id]
    copied.close()
    original.close()


def test_a_store_without_a_file_refuses_a_backup_and_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"Memory\("):
        ReferenceStore().backup(str(tmp_path / "copy.db"))
    assert list(tmp_path.iterdir()) == []
