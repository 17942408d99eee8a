"""Forget, end to end: by id, by filter, and for show."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cofire.errors import InvalidInput, NotFound
from cofire.memory import Memory
from cofire.stores.base import Store
from tests.conftest import Clock


def left(memory: Memory) -> set[str]:
    return {fact.text for fact in memory.facts()}


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.remember("one", session="s", tags=["a"], scope="x", speaker="Ana", category="note")
    memory.remember("two", session="s", tags=["a", "b"], scope="y")
    memory.remember("three", session="t", scope="x", at="2020-01-01")
    return memory


def test_a_fact_is_forgotten_by_id(memory: Memory) -> None:
    gone, _ = memory.remember(["one", "two"])
    assert memory.forget(gone).ids == (gone,)
    assert left(memory) == {"two"}
    assert not memory.recall("one").known or memory.recall("one").ids != (gone,)


def test_several_are_forgotten_at_once(memory: Memory) -> None:
    ids = memory.remember(["one", "two", "three"])
    forgotten = memory.forget(ids[:2])
    assert [fact.text for fact in forgotten.facts] == ["one", "two"]
    assert left(memory) == {"three"}


def test_an_id_given_twice_is_forgotten_once(memory: Memory) -> None:
    id = memory.remember("one")
    assert memory.forget([id, id]).ids == (id,)


def test_an_unknown_id_is_an_error_and_nothing_is_removed(memory: Memory) -> None:
    id = memory.remember("one")
    with pytest.raises(NotFound, match="No fact has the id unknown"):
        memory.forget([id, "unknown"])
    assert left(memory) == {"one"}


def test_no_ids_forget_nothing(filled: Memory) -> None:
    assert filled.forget([]).ids == ()
    assert len(left(filled)) == 3


def test_without_ids_or_filter_nothing_is_forgotten(filled: Memory) -> None:
    with pytest.raises(InvalidInput, match="Nothing says what to forget"):
        filled.forget()
    with pytest.raises(InvalidInput, match="Nothing says what to forget"):
        filled.forget(session=None, tags=None)
    assert len(left(filled)) == 3


@pytest.mark.parametrize("filter", ["tags", "session", "category", "speaker"])
def test_an_empty_filter_forgets_nothing(filled: Memory, filter: str) -> None:
    with pytest.raises(InvalidInput):
        filled.forget(**{filter: []})
    assert len(left(filled)) == 3


def test_an_empty_filter_of_any_kind_forgets_nothing(filled: Memory) -> None:
    with pytest.raises(InvalidInput):
        filled.forget(tags=(tag for tag in ()))
    assert len(left(filled)) == 3


@pytest.mark.parametrize(
    ("filters", "gone"),
    [
        ({"session": "s"}, {"one", "two"}),
        ({"tags": ["a", "b"]}, {"two"}),
        ({"scope": "x"}, {"one", "three"}),
        ({"speaker": "Ana"}, {"one"}),
        ({"category": "note"}, {"one"}),
        ({"until": "2021-01-01"}, {"three"}),
        ({"since": "2021-01-01"}, {"one", "two"}),
        ({"scope": "x", "session": "s"}, {"one"}),
        ({"session": "nobody's"}, set()),
    ],
)
def test_a_filter_forgets_what_passes_it(filled: Memory, filters: dict[str, object], gone: set[str]) -> None:
    assert {fact.text for fact in filled.forget(**filters).facts} == gone
    assert left(filled) == {"one", "two", "three"} - gone


def test_a_dry_run_only_tells(filled: Memory) -> None:
    shown = filled.forget(session="s", dry_run=True)
    assert (shown.dry_run, {fact.text for fact in shown.facts}) == (True, {"one", "two"})
    assert len(left(filled)) == 3
    assert filled.forget(session="s").ids == shown.ids


def test_more_than_a_page_is_forgotten(wordy: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cofire.verbs.forget.PAGE_SIZE", 2)
    wordy.remember([f"fact {number}" for number in range(5)], session="s")
    assert len(wordy.forget(session="s").ids) == 5
    assert left(wordy) == set()


def test_words_are_counted_anew_when_a_scope_has_shrunk(memory: Memory, store: Store) -> None:
    ids = memory.remember([f"tea {number}" for number in range(10)])
    memory.forget(ids[:5])
    assert store.read_word_statistics(["default"], ["tea"]).holding == (5,)


def test_forgetting_a_scope_forgets_what_ran_out_in_it(memory: Memory, store: Store) -> None:
    memory.update(memory.remember("gone by", scope="x"), expires="2020-01-01")
    memory.forget(scope="x")
    assert store.read_size().facts == 0


def test_an_id_outside_the_scope_named_is_not_forgotten(memory: Memory) -> None:
    id = memory.remember("theirs", scope="team-b")
    with pytest.raises((InvalidInput, NotFound)):
        memory.forget(id, scope="team-a")
    assert left(memory) == {"theirs"}


def test_an_id_that_is_no_text_is_refused(memory: Memory, clock: Clock) -> None:
    with pytest.raises(InvalidInput):
        memory.forget(7)


def test_forgetting_goes_on_where_the_calendar_ends(memory: Memory, clock: Clock) -> None:
    id = memory.remember("Tea at four.")
    clock.now = datetime(9999, 12, 20, tzinfo=UTC)
    gone = memory.forget(id)
    assert gone.receipt is not None
    assert gone.receipt.expires == datetime.max.replace(tzinfo=UTC)
    assert memory.undo(gone).ids == (id,)
