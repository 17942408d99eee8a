"""Own news: what a process wrote itself it need not read again, yet it never takes it for what others wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cofire.errors import Conflict
from cofire.index import columns
from cofire.model import FactDescription
from cofire.stores.base import MODEL_RECORD, KeywordQuery
from cofire.stores.sqlite.store import SqliteStore
from tests.conftest import sqlite_store
from tests.stores.making import MODEL, Pen, asked, cue, everywhere, vector

TEA: KeywordQuery = cue("tea")


@pytest.fixture
def pens(tmp_path: Path) -> Iterator[tuple[Pen, Pen]]:
    """Two who have the same file open, each with an index of their own that knows the first fact."""
    stores = sqlite_store(tmp_path), sqlite_store(tmp_path)
    one, other = Pen(stores[0]), Pen(stores[1])
    one.settle()
    one.tell("tea", vector(0, 1, 0, 0))
    other.new("the first id is taken")
    for store in stores:
        assert len(found(store)) == 1
    yield one, other
    for store in stores:
        store.close()


def found(store: SqliteStore) -> list[str]:
    return store.search_words(TEA, 10, everywhere())


def test_what_was_just_written_is_found_by_its_writer_and_by_others(pens: tuple[Pen, Pen]) -> None:
    one, other = pens
    id = one.tell("more tea", vector(0, 0, 1, 0))
    for pen in (one, other):
        assert id in found(pen.store)
        assert pen.store.search_vectors(asked(0, 0, 1, 0), 1, everywhere(), 10) == [id]


def test_a_writer_finds_what_others_wrote_before_and_after(pens: tuple[Pen, Pen]) -> None:
    one, other = pens
    for text in ("green tea", "black tea"):
        other.tell(text)
        one.tell(f"{text} leaves", id=f"{text:_<26}")
        other.tell(f"{text} pot")
        assert len(found(one.store)) == len(found(other.store)) == len(one.all())


def test_what_was_not_kept_is_not_taken_for_what_another_wrote_in_its_place(pens: tuple[Pen, Pen]) -> None:
    one, other = pens
    with pytest.raises(Conflict):
        one.write(one.new("tea that was refused"), expects={MODEL_RECORD: 7})
    id = other.tell("tea of another")
    assert found(one.store) == found(other.store)
    assert id in found(one.store)


def test_an_old_fact_described_anew_is_found_by_the_new_words(pens: tuple[Pen, Pen]) -> None:
    one, other = pens
    (old,) = one.all()
    new = one.new("a pot")
    one.write(new, descriptions=(FactDescription(old.id, "Goes with: pot", {"pot": 1}, {new.fact.id: "pot"}),))
    for pen in (one, other):
        assert pen.store.fetch_features([old.id], ["pot"], 0, 0).hints.tolist() == [[1.0]]


def test_many_facts_at_once_are_found_as_well(pens: tuple[Pen, Pen]) -> None:
    one, other = pens
    ids = {written.id for written in one.write(*(one.new(f"tea number {number}") for number in range(30))).facts}
    assert ids < set(one.store.search_words(TEA, 100, everywhere()))
    assert ids < set(other.store.search_words(TEA, 100, everywhere()))


def test_a_model_that_moves_in_leaves_no_old_news(pens: tuple[Pen, Pen]) -> None:
    one, other = pens
    id = one.tell("last tea", vector(0, 0, 0, 1))
    other.settle(type(MODEL)(MODEL.model, MODEL.mean * 0, MODEL.resting))
    assert one.store.search_vectors(asked(0, 0, 0, 1), 1, everywhere(), 10) == [id]


def test_facts_that_were_proposed_are_read_as_others_left_them(pens: tuple[Pen, Pen]) -> None:
    one, other = pens
    changed, gone = one.tell("tea to change"), one.tell("tea to forget")
    assert {changed, gone} <= set(found(one.store))
    other.write(other.new("tea to change", id=changed, category="event"))
    other.forget(gone)
    read = one.store.read_facts([gone, changed])
    assert [fact and fact.category for fact in read] == [None, "event"]
    back = other.tell("tea again", id=gone)
    assert [fact and fact.text for fact in one.store.read_facts([back])] == ["tea again"]
    assert set(found(one.store)) == set(found(other.store))


def test_facts_are_read_by_their_ids_where_others_have_their_keys(
    pens: tuple[Pen, Pen], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = pens
    ids = [one.tell("green tea"), one.tell("black tea")]
    monkeypatch.setattr(one.store._live, "keys_of", lambda ids: np.array([1, 77], np.int64))
    assert [fact and fact.text for fact in one.store.read_facts(ids)] == ["green tea", "black tea"]


def test_an_id_is_known_by_its_place_as_long_as_the_fact_is_there(
    pens: tuple[Pen, Pen], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when more ids were told than are kept."""
    one, _ = pens
    monkeypatch.setattr(columns, "MAX_CACHED_IDS", 3)
    ids = [one.tell(f"tea {number}") for number in range(8)]
    for _ in range(3):
        assert set(one.store.filter_visible(ids, everywhere())) == set(ids)
        assert set(found(one.store)) >= set(ids)
    known = one.store.search_words(cue("0"), 1, everywhere())
    assert one.store.fetch_features([*known, *ids[1:]], ["tea"], 0, 0).ids == (ids[0], *ids[1:])
    one.forget(ids[3])
    assert set(one.store.filter_visible(ids, everywhere())) == {*ids[:3], *ids[4:]}
    one.tell("tea 3", id=ids[3])
    assert one.store.filter_visible([ids[3]], everywhere()) == [ids[3]]


def test_words_that_came_with_a_copy_are_counted_by_all_who_have_it_open(tmp_path: Path) -> None:
    for folder in ("from", "to"):
        (tmp_path / folder).mkdir()
    source, target, onlooker = (sqlite_store(tmp_path / folder) for folder in ("from", "to", "to"))
    for pen in (Pen(source), Pen(target)):
        pen.settle()
        pen.tell("tea", vector(0, 1, 0, 0))
    Pen(source).recount("default", sample=4)
    assert [store.read_word_statistics(["default"], ["tea"]).facts for store in (source, target, onlooker)] == [1, 0, 0]
    target.write_metadata(source.read_metadata())
    assert [store.read_word_statistics(["default"], ["tea"]).facts for store in (target, onlooker)] == [1, 1]
    for store in (source, target, onlooker):
        store.close()
