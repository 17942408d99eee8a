"""Re-embedding: vectors of another model move in beside the old ones, which serve until the new ones are adopted."""

from __future__ import annotations

import pytest

from cofire.model import StoreRecord
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, Store, UnembeddedSelection
from tests.stores.making import MODEL, OTHER, TWIN, Pen, asked, everywhere, vector


def wanting(store: Store, model=MODEL, limit: int = 10) -> list[str]:
    return [fact.id for fact in store.list_facts(UnembeddedSelection(model.encode()), limit)]


def test_facts_without_a_vector_of_the_stores_model_want_one_oldest_first(store: Store, pen: Pen) -> None:
    pen.settle()
    first, _, third = pen.tell("one"), pen.tell("two", vector(1, 1, 0, 0)), pen.tell("three")
    assert wanting(store) == [first, third]
    assert wanting(store, limit=1) == [first]


def test_a_vector_on_its_way_in_is_no_longer_wanted(store: Store, pen: Pen) -> None:
    pen.settle()
    first, second = pen.tell("one"), pen.tell("two")
    pen.move_in(MODEL, {first: vector(1, 1, 0, 0)})
    assert wanting(store) == [second]


def test_without_a_model_every_fact_wants_a_vector(store: Store, pen: Pen) -> None:
    ids = [pen.tell("one"), pen.tell("two")]
    assert wanting(store) == ids


def test_another_model_wants_every_fact_anew(store: Store, pen: Pen) -> None:
    pen.settle()
    first, second = pen.tell("one", vector(1, 1, 0, 0)), pen.tell("two")
    assert wanting(store, OTHER) == [first, second]
    pen.move_in(OTHER, {first: vector(1, 0)})
    assert wanting(store, OTHER) == [second]


def test_the_old_vectors_serve_until_the_new_ones_are_adopted(store: Store, pen: Pen) -> None:
    pen.settle()
    id = pen.tell("one", vector(1, 1, 0, 0))
    pen.move_in(OTHER, {id: vector(1, 0)})
    assert store.search_vectors(asked(0, 1, 0, 0), 5, everywhere(), 400) == [id]
    assert store.fetch_features([id], [], 0, 0).vectors.shape == (1, 4)
    assert store.read_size().embedded == 1


def test_adopted_vectors_take_the_place_of_another_models(store: Store, pen: Pen) -> None:
    pen.settle()
    moved, left = pen.tell("one", vector(1, 1, 0, 0)), pen.tell("two", vector(1, 0, 1, 0))
    pen.move_in(OTHER, {moved: vector(0, 1)})
    pen.adopt(OTHER)
    evidence = store.fetch_features([moved, left], [], 0, 0)
    assert evidence.vectors.tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert evidence.embedded.tolist() == [True, False]
    assert store.search_vectors(asked(0, 1), 5, everywhere(), 400) == [moved]
    assert wanting(store, OTHER) == [left]


def test_adoption_ends_the_moving_in(store: Store, pen: Pen) -> None:
    pen.settle()
    id = pen.tell("one")
    pen.move_in(OTHER, {id: vector(0, 1)})
    pen.adopt(OTHER)
    assert store.read_record(INCOMING_RECORD) is None
    assert store.read_record(MODEL_RECORD) == StoreRecord(MODEL_RECORD, OTHER.encode(), 2)


def test_adopting_the_same_model_keeps_what_was_there(store: Store, pen: Pen) -> None:
    pen.settle()
    old, late = pen.tell("one", vector(1, 1, 0, 0)), pen.tell("two")
    pen.move_in(MODEL, {late: vector(1, 0, 1, 0)})
    pen.adopt(MODEL)
    assert store.fetch_features([old, late], [], 0, 0).embedded.tolist() == [True, True]
    assert wanting(store) == []


def test_adopting_with_nothing_on_the_way_in_changes_nothing(store: Store, pen: Pen) -> None:
    pen.settle()
    id = pen.tell("one", vector(1, 1, 0, 0))
    pen.adopt(MODEL)
    assert store.search_vectors(asked(0, 1, 0, 0), 5, everywhere(), 400) == [id]


def test_a_recount_in_the_same_change_samples_the_adopted_vectors(store: Store, pen: Pen) -> None:
    pen.settle()
    id = pen.tell("one", vector(1, 1, 0, 0))
    pen.recount("default", sample=5)
    pen.move_in(OTHER, {id: vector(0, 1)})
    pen.adopt(OTHER, recount=("default",), sample=5)
    assert store.read_word_statistics(["default"], []).sample.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("model", [OTHER, TWIN], ids=["of another dimension", "of the same dimension"])
def test_no_sample_of_the_old_model_outlives_it(store: Store, pen: Pen, model) -> None:
    pen.settle()
    for number in range(4):
        pen.tell(f"fact {number}", vector(1, number, 0, 0))
    pen.recount("default", sample=4)
    pen.adopt(model)
    assert len(store.read_word_statistics(["default"], []).sample) == 0


def test_a_vector_for_a_fact_that_is_gone_is_ignored(store: Store, pen: Pen) -> None:
    pen.settle()
    gone = pen.tell("one")
    pen.forget(gone)
    pen.move_in(MODEL, {gone: vector(1, 1, 0, 0), "unknown": vector(1, 1, 0, 0)})
    pen.adopt(MODEL)
    assert store.read_size().embedded == 0


def test_a_fact_forgotten_while_moving_in_stays_forgotten(store: Store, pen: Pen) -> None:
    pen.settle()
    gone, kept = pen.tell("one"), pen.tell("two")
    pen.move_in(OTHER, {gone: vector(0, 1), kept: vector(1, 0)})
    pen.forget(gone)
    pen.adopt(OTHER)
    assert store.search_vectors(asked(0, 1), 5, everywhere(), 400) == [kept]


def test_a_second_model_moving_in_starts_from_nothing(store: Store, pen: Pen) -> None:
    pen.settle()
    first, second = pen.tell("one"), pen.tell("two")
    pen.move_in(OTHER, {first: vector(0, 1)})
    pen.move_in(TWIN, {second: vector(1, 1, 0, 0)})
    assert wanting(store, TWIN) == [first]


def test_vectors_of_a_model_that_gave_up_are_never_adopted(store: Store, pen: Pen) -> None:
    """A move to another model was begun and left; then the first model is embedded again."""
    pen.settle()
    id, bare = pen.tell("one", vector(0, 1, 0, 0)), pen.tell("two")
    pen.move_in(TWIN, {id: vector(1, 0, 0, 0), bare: vector(1, 0, 0, 0)})
    assert wanting(store, MODEL) == [bare]
    pen.adopt(MODEL)
    assert store.fetch_features([id, bare], [], 0, 0).vectors.tolist() == [[0.0, 1.0, 0.0, 0.0], [0.0] * 4]


def test_vectors_of_the_adopting_change_itself_are_adopted(store: Store, pen: Pen) -> None:
    pen.settle()
    id = pen.tell("one")
    records = (StoreRecord(INCOMING_RECORD, OTHER.encode()), StoreRecord(MODEL_RECORD, OTHER.encode()))
    pen.write(vectors={id: vector(0, 1)}, records=records, adopt_vectors=True)
    assert store.fetch_features([id], [], 0, 0).vectors.tolist() == [[0.0, 1.0]]
