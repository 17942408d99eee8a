"""Nearest: by centred cosine, best first, of equals the newer."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from cofire.embedders.base import Model, StoredModel
from cofire.index.postings import Postings
from cofire.stores.base import COSINE_LOWER_BOUND, Store
from tests.conftest import sqlite_store
from tests.stores.making import MODEL, Pen, asked, cue, everywhere, vector


def test_the_closest_comes_first(store: Store, pen: Pen) -> None:
    pen.settle()
    far = pen.tell("far", vector(0, 0, 0, 1))
    close = pen.tell("close", vector(0.1, 1, 0, 0))
    middle = pen.tell("middle", vector(0, 1, 1, 0))
    assert store.search_vectors(asked(0, 1, 0, 0), 3, everywhere(), 400) == [close, middle, far]


def test_closeness_is_seen_from_the_models_mean(store: Store, pen: Pen) -> None:
    """By plain cosines the first would win with .95 to .82; seen from (0.9, 0, 0, 0) it has .16 to .87."""
    pen.settle()
    plain, centred = pen.tell("plain", vector(1, 0, 0, 0)), pen.tell("centred", vector(0.6, 0.8, 0, 0))
    assert store.search_vectors(asked(0.95, 0.312, 0, 0), 2, everywhere(), 400) == [centred, plain]


def test_of_equals_the_newer_comes_first(store: Store, pen: Pen) -> None:
    pen.settle()
    ids = [pen.tell(f"fact {number}", vector(1, 1, 0, 0)) for number in range(5)]
    assert store.search_vectors(asked(0, 1, 0, 0), 3, everywhere(), 400) == ids[:1:-1]


def test_k_is_the_most_that_come(store: Store, pen: Pen) -> None:
    pen.settle()
    for number in range(5):
        pen.tell(f"fact {number}", vector(1, number, 1, 0))
    assert len(store.search_vectors(asked(0, 1, 0, 0), 2, everywhere(), 400)) == 2


def test_k_may_be_larger_than_the_store(store: Store, pen: Pen) -> None:
    pen.settle()
    id = pen.tell("alone", vector(1, 1, 0, 0))
    assert store.search_vectors(asked(0, 1, 0, 0), 1_000, everywhere(), 400) == [id]


def test_facts_without_a_vector_are_not_seen(store: Store, pen: Pen) -> None:
    pen.settle()
    pen.tell("without")
    with_vector = pen.tell("with", vector(1, 1, 0, 0))
    assert store.search_vectors(asked(0, 1, 0, 0), 5, everywhere(), 400) == [with_vector]


def test_without_a_model_nothing_is_near(store: Store, pen: Pen) -> None:
    pen.tell("without")
    assert store.search_vectors(asked(0, 1, 0, 0), 5, everywhere(), 400) == []


def test_vectors_count_from_the_moment_their_model_is_known(store: Store, pen: Pen) -> None:
    pen.tell("without")
    assert store.search_vectors(asked(0, 1, 0, 0), 5, everywhere(), 400) == []
    pen.settle()
    id = pen.tell("with", vector(1, 1, 0, 0))
    assert store.search_vectors(asked(0, 1, 0, 0), 5, everywhere(), 400) == [id]


def test_what_is_too_far_is_not_alike(store: Store, pen: Pen) -> None:
    """Seen from (0.9, 0, 0, 0) the first has a cosine of .87 and the second of .11 with what is asked."""
    pen.settle()
    close, far = pen.tell("close", vector(0.6, 0.8, 0, 0)), pen.tell("far", vector(0, 0, 0, 1))
    for least, found in ((0.9, []), (0.8, [close]), (-1.0, [close, far])):
        alike = store.search_similar(asked(0.95, 0.312, 0, 0), 2, everywhere(), 400, least)
        assert [near.id for near in alike] == found


def test_those_alike_come_with_their_tags_and_vectors(store: Store, pen: Pen) -> None:
    pen.settle()
    told, bare = pen.tell("told", vector(0, 1, 0, 0), tags=("b", "a")), pen.tell("bare", vector(0, 1, 1, 0))
    first, second = store.search_similar(asked(0, 1, 0, 0), 5, everywhere(), 400, -1.0)
    assert [(near.id, set(near.tags)) for near in (first, second)] == [(told, {"a", "b"}), (bare, set())]
    assert [near.vector.tobytes() for near in (first, second)] == [
        np.frombuffer(stored, np.float16).astype(np.float32).tobytes()
        for stored in (vector(0, 1, 0, 0), vector(0, 1, 1, 0))
    ]


def test_a_look_by_tags_that_is_interrupted_loses_no_words(
    store: Store, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of new facts wait until somebody looks for words, and tags are looked up among them."""
    tagged = everywhere(tags=frozenset({"drink"}))
    pen.settle()
    pen.tell("tea", vector(0, 1, 0, 0), tags=("drink",))
    store.search_words(cue("tea"), 5, everywhere())
    pen.tell("more tea", vector(0, 1, 1, 0), tags=("drink",))

    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Postings, "add", interrupted)
        with suppress(KeyboardInterrupt):
            store.search_similar(asked(0, 1, 0, 0), 5, tagged, 10, COSINE_LOWER_BOUND)
    assert len(store.search_similar(asked(0, 1, 0, 0), 5, tagged, 10, COSINE_LOWER_BOUND)) == 2
    assert len(store.search_words(cue("tea"), 5, everywhere())) == 2


def test_without_a_model_nothing_is_alike(store: Store, pen: Pen) -> None:
    pen.tell("without")
    assert store.search_similar(asked(0, 1, 0, 0), 5, everywhere(), 400, -1.0) == []


def test_a_few_candidates_are_enough_when_k_asks_for_more(store: Store, pen: Pen) -> None:
    pen.settle()
    ids = {pen.tell(f"fact {number}", vector(1, number, 1, 0)) for number in range(6)}
    assert set(store.search_vectors(asked(0, 1, 0, 0), 6, everywhere(), 1)) == ids


def test_a_fact_told_again_keeps_its_vector(store: Store, pen: Pen) -> None:
    pen.settle()
    id = pen.tell("tea", vector(1, 1, 0, 0))
    pen.tell("tea")
    assert store.search_vectors(asked(0, 1, 0, 0), 5, everywhere(), 400) == [id]


@pytest.mark.parametrize("index", ["signs", "exact"])
def test_both_vector_indexes_find_what_the_reference_finds(tmp_path, index: str) -> None:
    dimension, facts = 48, 300
    random = np.random.default_rng(7)
    model = StoredModel(Model("random", dimension), random.normal(0, 0.05, dimension).astype(np.float32), (0.0, 0.1))
    rows = random.standard_normal((facts, dimension)).astype(np.float32)
    pen = Pen(sqlite_store(tmp_path, index))
    pen.settle(model)
    pen.write(*(pen.new(f"fact {number}", vector(*row)) for number, row in enumerate(rows)))
    stored = np.array([np.frombuffer(vector(*row), np.float16) for row in rows], np.float32) - model.mean
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    for question in random.standard_normal((5, dimension)).astype(np.float32):
        seen = asked(*question) - model.mean
        best = np.argsort(-(stored @ seen))[:10]
        found = pen.store.search_vectors(asked(*question), 10, everywhere(), facts)
        assert [int(id) - 1 for id in found] == best.tolist()
    pen.store.close()


def test_the_stored_model_travels_unchanged() -> None:
    again = StoredModel.decode(MODEL.encode())
    assert (again.model, again.resting) == (MODEL.model, MODEL.resting)
    assert again.mean.tolist() == MODEL.mean.tolist()
