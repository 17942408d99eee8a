"""Weighing: what scoring needs of facts, and how common words are as last counted."""

from __future__ import annotations

import numpy as np
import pytest

from cofire.index import postings
from cofire.stores.base import Store
from tests.stores.making import Pen, vector


def test_evidence_keeps_the_order_and_leaves_out_the_unknown(store: Store, pen: Pen) -> None:
    first, second = pen.tell("tea tea"), pen.tell("green tea")
    found = store.fetch_features([second, "unknown", first], ["tea", "green", "never"], 0, 0)
    assert found.ids == (second, first)
    assert found.counts.tolist() == [[1.0, 1.0, 0.0], [2.0, 0.0, 0.0]]
    assert found.lengths.tolist() == [2.0, 2.0]


def test_evidence_holds_the_stored_vectors(store: Store, pen: Pen) -> None:
    pen.settle()
    bare, full = pen.tell("bare"), pen.tell("full", vector(0.6, 0.8, 0, 0))
    found = store.fetch_features([bare, full], [], 0, 0)
    assert found.embedded.tolist() == [False, True]
    assert found.vectors.dtype == np.float32
    assert found.vectors[0].tolist() == [0.0] * 4
    assert found.vectors[1].tobytes() == np.array([0.6, 0.8, 0, 0], np.float16).astype(np.float32).tobytes()


def test_evidence_of_a_store_without_a_model_has_no_columns_of_vectors(store: Store, pen: Pen) -> None:
    found = store.fetch_features([pen.tell("tea")], ["tea"], 0, 0)
    assert found.vectors.shape == (1, 0)
    assert found.embedded.tolist() == [False]


def test_evidence_of_nothing_is_empty_but_shaped(store: Store, pen: Pen) -> None:
    pen.settle()
    found = store.fetch_features([], ["tea", "pot"], 0, 0)
    assert (found.ids, found.vectors.shape, found.counts.shape, found.lengths.shape) == ((), (0, 4), (0, 2), (0,))


def test_a_word_asked_for_twice_has_two_columns(store: Store, pen: Pen) -> None:
    assert store.fetch_features([pen.tell("tea")], ["tea", "tea"], 0, 0).counts.tolist() == [[1.0, 1.0]]


def test_evidence_is_of_what_holds_now_even_if_asked_for_before(store: Store, pen: Pen) -> None:
    id = pen.tell("tea")
    assert store.fetch_features([id], ["tea", "habit"], 0, 0).counts.tolist() == [[1.0, 0.0]]
    pen.tell("tea", tags=("habit",))
    assert store.fetch_features([id], ["tea", "habit"], 0, 0).counts.tolist() == [[1.0, 1.0]]
    pen.forget(id)
    assert store.fetch_features([id], ["tea"], 0, 0).ids == ()


def test_the_length_of_a_fact_is_the_sum_of_its_counts(store: Store, pen: Pen) -> None:
    id = pen.tell("tea tea pot", tags=("kitchen",))
    assert store.fetch_features([id], [], 0, 0).lengths.tolist() == [4.0]


def test_words_are_counted_right_whether_facts_came_one_by_one_or_many_at_once(
    store: Store, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "TAIL_SIZE", 4)
    ids = []
    for batch in (["tea"], ["tea pot cup", "green tea tea"], ["tea leaf"], ["a b c d e f tea tea tea"]):
        ids += [one.id for one in pen.write(*map(pen.new, batch)).facts]
        counts = store.fetch_features(ids, ["tea"], 0, 0).counts[:, 0].tolist()
        assert counts == [1.0, 1.0, 2.0, 1.0, 3.0][: len(ids)]


def test_statistics_are_nothing_until_counted(store: Store, pen: Pen) -> None:
    pen.tell("tea")
    found = store.read_word_statistics(["default"], ["tea"])
    assert (found.facts, found.mean_length, found.holding, len(found.sample)) == (0, 0.0, (0,), 0)


def test_statistics_tell_how_many_facts_hold_a_word(store: Store, pen: Pen) -> None:
    for text in ("tea tea tea", "green tea", "coffee"):
        pen.tell(text)
    pen.recount("default")
    found = store.read_word_statistics(["default"], ["tea", "green", "never", "tea"])
    assert (found.facts, found.mean_length, found.holding) == (3, 2.0, (2, 1, 0, 2))


def test_statistics_stay_as_counted_until_counted_anew(store: Store, pen: Pen) -> None:
    pen.tell("tea")
    pen.recount("default")
    later = pen.tell("tea tea tea")
    assert store.read_word_statistics(["default"], ["tea"]).holding == (1,)
    pen.recount("default")
    assert store.read_word_statistics(["default"], ["tea"]).holding == (2,)
    pen.forget(later)
    assert store.read_word_statistics(["default"], ["tea"]).facts == 1, "what is forgotten is not counted any more"


def test_a_scope_counted_empty_says_so(store: Store, pen: Pen) -> None:
    id = pen.tell("tea")
    pen.recount("default")
    pen.forget(id)
    pen.recount("default")
    found = store.read_word_statistics(["default"], ["tea"])
    assert (found.facts, found.mean_length, found.holding) == (0, 0.0, (0,))


def test_archived_facts_are_counted(store: Store, pen: Pen) -> None:
    pen.tell("tea", archived=True)
    pen.recount("default")
    assert store.read_word_statistics(["default"], ["tea"]).holding == (1,)


def test_scopes_are_counted_apart_and_summed_when_asked_for_together(store: Store, pen: Pen) -> None:
    pen.tell("tea", scope="a")
    pen.tell("tea pot cup", scope="b")
    pen.tell("green tea", scope="b")
    pen.recount("a", "b")
    assert store.read_word_statistics(["a"], ["tea", "pot"]).holding == (1, 0)
    both = store.read_word_statistics(["a", "b"], ["tea", "pot"])
    assert (both.facts, both.mean_length, both.holding) == (3, 2.0, (3, 1))


def test_a_scope_nobody_uses_adds_nothing(store: Store, pen: Pen) -> None:
    pen.tell("tea")
    pen.recount("default")
    assert store.read_word_statistics(["default", "nowhere"], ["tea"]).holding == (1,)
    assert store.read_word_statistics([], ["tea"]).facts == 0


def test_a_recount_counts_what_the_same_change_writes(store: Store, pen: Pen) -> None:
    gone = pen.tell("tea")
    pen.write(pen.new("tea"), pen.new("green tea"), removals=(gone,), recount=("default",))
    assert store.read_word_statistics(["default"], ["green"]).holding == (1,)


def test_the_sample_is_of_the_smallest_hashes_that_have_a_vector(store: Store, pen: Pen) -> None:
    pen.settle()
    for number in range(6):
        pen.tell(f"fact {number}", vector(1, number, 1, 0) if number % 3 else None)
    by_hash = sorted((fact for fact in pen.all() if int(fact.text[-1]) % 3), key=lambda fact: fact.hash)
    pen.recount("default", sample=3)
    expected = store.fetch_features([fact.id for fact in by_hash[:3]], [], 0, 0).vectors
    assert store.read_word_statistics(["default"], []).sample.tolist() == expected.tolist()


def test_the_samples_of_scopes_stand_one_after_the_other_by_name(store: Store, pen: Pen) -> None:
    pen.settle()
    b, a = pen.tell("one", vector(1, 0, 0, 1), scope="b"), pen.tell("one", vector(1, 1, 0, 0), scope="a")
    pen.recount("b", "a", sample=1)
    assert (
        store.read_word_statistics(["a", "b"], []).sample.tolist()
        == store.fetch_features([a, b], [], 0, 0).vectors.tolist()
    )


def test_a_sample_of_none_is_empty(store: Store, pen: Pen) -> None:
    pen.settle()
    pen.tell("one", vector(1, 0, 0, 1))
    pen.recount("default", sample=0)
    assert store.read_word_statistics(["default"], []).sample.shape == (0, 4)
