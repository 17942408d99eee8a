"""Writing: facts that are new, told again or removed; records; all of a change or nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from cofire.errors import Conflict
from cofire.model import Fact, ScopeSize, StoredFact, StoreRecord
from cofire.stores.base import Store
from tests.stores.making import DAY, NOW, Pen, asked, cue, everywhere, vector

EVERY_PART = Fact(
    text="The kettle — ケトル — boils.\n\tTwice, \"often\", 'daily'; 100 %.",
    tags=("kitchen", "water"),
    category="knowledge",
    subject="Kettle",
    at=NOW - DAY,
    session="monday",
    speaker="Ana",
    scope="team-a",
    source="notes.md",
    metadata={"page": 3, "deep": {"list": [1, 2.5, None, True, "ü"]}},
    valid_from=NOW - 2 * DAY,
    valid_until=NOW + DAY,
    expires=NOW + 2 * DAY + timedelta(microseconds=1),
    id="01KDVDNJ000000000000000000",
    stored_at=NOW,
)


def parts(fact: Fact) -> dict[str, object]:
    return {name: getattr(fact, name) for name in Fact.__dataclass_fields__ if name != "text"}


def test_a_fact_comes_back_with_every_part(store: Store, pen: Pen) -> None:
    pen.tell(EVERY_PART.text, **parts(EVERY_PART))
    [found] = store.read_facts([EVERY_PART.id])
    assert found is not None
    assert found.position == 0
    assert parts(found) == {**parts(EVERY_PART), "position": 0}
    assert found.text == EVERY_PART.text


def test_a_bare_fact_comes_back_bare(store: Store, pen: Pen) -> None:
    id = pen.tell("Tea.")
    assert store.read_facts([id]) == [Fact("Tea.", id=id, stored_at=NOW)]


def test_pinned_and_archived_are_kept(store: Store, pen: Pen) -> None:
    id = pen.tell("Tea.", pinned=True, archived=True)
    assert store.read_facts([id]) == [Fact("Tea.", id=id, stored_at=NOW, pinned=True, archived=True)]


def test_a_new_fact_is_fresh(pen: Pen) -> None:
    new = pen.new("Tea at four.")
    assert pen.write(new).facts == (StoredFact(new.fact.id, fresh=True),)


def test_ids_come_in_the_order_of_the_facts(pen: Pen) -> None:
    news = [pen.new(text) for text in ("one", "two", "three")]
    assert [one.id for one in pen.write(*news).facts] == [new.fact.id for new in news]


def test_the_same_fact_again_keeps_its_id(store: Store, pen: Pen) -> None:
    first = pen.tell("Tea at four.")
    assert pen.write(pen.new("Tea at four.")).facts == (StoredFact(first, fresh=False),)
    assert len(pen.all()) == 1


def test_the_same_fact_again_is_reinforced(store: Store, pen: Pen) -> None:
    id = pen.tell("Tea at four.")
    pen.write(pen.new("Tea at four."), now=NOW + DAY)
    pen.write(pen.new("Tea at four."), now=NOW + 2 * DAY)
    [found] = store.read_facts([id])
    assert found is not None
    assert (found.reinforced, found.reinforced_at, found.stored_at) == (2, NOW + 2 * DAY, NOW)


def test_a_new_telling_adds_and_takes_nothing_away(store: Store, pen: Pen) -> None:
    id = pen.tell("Tea.", tags=("a", "c"), category="habit", metadata={"cup": 1, "pot": 1})
    again = pen.new("Tea.", tags=("b",), category="other", source="diary", metadata={"pot": 2})
    pen.write(again)
    [found] = store.read_facts([id])
    assert found is not None
    assert found.tags == ("a", "b", "c")
    assert (found.category, found.source) == ("habit", "diary")
    assert found.metadata == {"cup": 1, "pot": 2}


def test_words_of_added_tags_are_found(store: Store, pen: Pen) -> None:
    id = pen.tell("Four o'clock.", tags=("habit",))
    pen.write(pen.new("Four o'clock.", tags=("beverage",)))
    assert store.search_words(cue("beverag"), 5, everywhere()) == [id]
    assert store.search_words(cue("habit"), 5, everywhere()) == [id]
    assert store.fetch_features([id], ["beverag", "habit"], 0, 0).counts.tolist() == [[1.0, 1.0]]


def test_added_tags_pass_the_tag_filter(store: Store, pen: Pen) -> None:
    id = pen.tell("Four o'clock.", tags=("habit",))
    pen.write(pen.new("Four o'clock.", tags=("beverage",)))
    both = everywhere(tags=frozenset({"habit", "beverage"}))
    assert store.search_words(cue("four"), 5, both) == [id]
    assert [fact.id for fact in store.list_facts(both, 5, None)] == [id]


def test_the_same_fact_twice_in_one_change_is_one_fact(store: Store, pen: Pen) -> None:
    first, again = pen.new("Tea.", tags=("a",)), pen.new("Tea.", tags=("b",))
    assert pen.write(first, again).facts == (StoredFact(first.fact.id, True), StoredFact(first.fact.id, False))
    [found] = pen.all()
    assert (found.reinforced, found.tags) == (1, ("a", "b"))


@pytest.mark.parametrize(
    "difference", [{"scope": "b"}, {"subject": "Ana"}, {"speaker": "Ana"}, {"session": "s"}, {"at": NOW}]
)
def test_what_differs_in_identity_is_another_fact(pen: Pen, difference: dict[str, object]) -> None:
    pen.tell("Tea.")
    assert pen.write(pen.new("Tea.", **difference)).facts[0].fresh


def test_a_removed_fact_told_again_is_new(store: Store, pen: Pen) -> None:
    old = pen.tell("Tea.")
    pen.forget(old)
    new = pen.tell("Tea.")
    assert new != old
    assert store.read_facts([old]) == [None]
    [found] = store.read_facts([new])
    assert found is not None
    assert found.reinforced == 0


def test_turns_of_a_session_are_numbered_from_zero(pen: Pen) -> None:
    for text in ("one", "two", "three"):
        pen.tell(text, session="monday")
    assert [fact.position for fact in reversed(pen.all())] == [0, 1, 2]


def test_turns_written_together_are_numbered_in_their_order(pen: Pen) -> None:
    pen.write(*(pen.new(text, session="monday") for text in ("one", "two", "three")))
    assert [(fact.text, fact.position) for fact in reversed(pen.all())] == [("one", 0), ("two", 1), ("three", 2)]


def test_sessions_of_one_name_in_two_scopes_are_numbered_apart(store: Store, pen: Pen) -> None:
    ids = [pen.tell("one", session="s", scope=scope) for scope in ("a", "b")]
    assert [fact.position for fact in store.read_facts(ids) if fact] == [0, 0]


def test_a_fact_without_session_has_no_position(store: Store, pen: Pen) -> None:
    [found] = store.read_facts([pen.tell("alone")])
    assert found is not None
    assert found.position is None


def test_a_turn_told_again_keeps_its_position(store: Store, pen: Pen) -> None:
    first = pen.tell("one", session="s")
    pen.tell("two", session="s")
    pen.tell("one", session="s")
    assert [fact.position for fact in store.read_facts([first]) if fact] == [0]
    assert [fact.position for fact in store.read_facts([pen.tell("three", session="s")]) if fact] == [2]


def test_removal_takes_a_fact_out_of_every_answer(store: Store, pen: Pen) -> None:
    pen.settle()
    kept, gone = pen.tell("tea kept", vector(1, 1, 0, 0)), pen.tell("tea gone", vector(1, 0, 1, 0))
    hash = next(fact.hash for fact in pen.all() if fact.id == gone)
    assert pen.forget(gone).removed == 1
    assert store.read_facts([gone, kept])[0] is None
    assert [fact.id for fact in pen.all()] == [kept]
    assert store.find_ids_by_hash([hash]) == {}
    assert store.search_words(cue("tea"), 5, everywhere()) == [kept]
    assert store.search_vectors(asked(1, 0, 1, 0), 5, everywhere(), 400) == [kept]
    assert store.fetch_features([gone, kept], ["tea"], 0, 0).ids == (kept,)
    assert (store.read_size().facts, store.read_size().embedded) == (1, 1)


def test_removing_the_unknown_is_ignored_and_not_counted(pen: Pen) -> None:
    id = pen.tell("Tea.")
    assert pen.forget("no such id", id, "nor this").removed == 1


def test_an_id_named_twice_is_removed_once(pen: Pen) -> None:
    id = pen.tell("Tea.")
    assert pen.forget(id, id).removed == 1


def test_sizes_tell_of_every_scope_that_was_written_to(pen: Pen) -> None:
    written = pen.write(pen.new("one", scope="a"), pen.new("two", scope="a"), pen.new("one", scope="b"))
    assert written.sizes == {"a": ScopeSize(2, 0), "b": ScopeSize(1, 0)}


def test_sizes_tell_of_scopes_that_shrink(pen: Pen) -> None:
    id = pen.tell("one", scope="a")
    pen.tell("two", scope="a")
    pen.recount("a")
    assert pen.forget(id).sizes == {"a": ScopeSize(1, 1)}


def test_an_emptied_scope_has_size_zero(pen: Pen) -> None:
    assert pen.forget(pen.tell("one", scope="a")).sizes == {"a": ScopeSize(0, 0)}


def test_sizes_tell_what_a_recount_counted(pen: Pen) -> None:
    pen.tell("one", scope="a")
    assert pen.recount("a", "never seen").sizes == {"a": ScopeSize(1, 1), "never seen": ScopeSize(0, 0)}


def test_sizes_tell_of_scopes_where_a_fact_was_reinforced(pen: Pen) -> None:
    pen.tell("one", scope="a")
    assert pen.write(pen.new("one", scope="a")).sizes == {"a": ScopeSize(1, 0)}


def test_an_empty_change_changes_nothing(pen: Pen) -> None:
    written = pen.write()
    assert (written.facts, written.removed, written.sizes) == ((), 0, {})
    assert pen.all() == []


def test_an_unknown_record_is_none(store: Store) -> None:
    assert store.read_record("nothing") is None


def test_each_writing_raises_the_version_of_a_record(store: Store, pen: Pen) -> None:
    for value in (b"one", b"two", b"two"):
        pen.write(records=(StoreRecord("note", value),))
    assert store.read_record("note") == StoreRecord("note", b"two", 3)


def test_the_version_in_the_change_is_not_what_counts(store: Store, pen: Pen) -> None:
    pen.write(records=(StoreRecord("note", b"one", 41),))
    assert store.read_record("note") == StoreRecord("note", b"one", 1)


def test_records_may_hold_any_bytes(store: Store, pen: Pen) -> None:
    value = bytes(range(256))
    pen.write(records=(StoreRecord("note", value), StoreRecord("empty", b"")))
    assert [store.read_record(name) for name in ("note", "empty")] == [
        StoreRecord("note", value, 1),
        StoreRecord("empty", b"", 1),
    ]


def test_an_expectation_that_holds_lets_the_change_pass(store: Store, pen: Pen) -> None:
    pen.write(records=(StoreRecord("note", b"one"),), expects={"note": 0})
    pen.write(records=(StoreRecord("note", b"two"),), expects={"note": 1})
    assert store.read_record("note") == StoreRecord("note", b"two", 2)


@pytest.mark.parametrize("expected", [0, 2])
def test_another_version_than_expected_is_a_conflict(pen: Pen, expected: int) -> None:
    pen.write(records=(StoreRecord("note", b"one"),))
    with pytest.raises(Conflict):
        pen.write(records=(StoreRecord("note", b"two"),), expects={"note": expected})


def test_a_missing_record_is_no_version_one(pen: Pen) -> None:
    with pytest.raises(Conflict):
        pen.write(expects={"note": 1})


def test_every_expectation_must_hold(pen: Pen) -> None:
    pen.write(records=(StoreRecord("note", b"one"),))
    with pytest.raises(Conflict):
        pen.write(expects={"note": 1, "other": 1})


def test_a_refused_change_changes_nothing(store: Store, pen: Pen) -> None:
    pen.settle()
    kept = pen.tell("Tea.", vector(1, 1, 0, 0), session="s")
    pen.recount("default", sample=5)
    before = snapshot(store, pen)
    with pytest.raises(Conflict):
        pen.write(
            pen.new("Tea.", session="s", tags=("more",)),
            pen.new("Coffee.", session="s"),
            removals=(kept,),
            records=(StoreRecord("note", b"one"),),
            recount=("default",),
            expects={"note": 7},
        )
    assert snapshot(store, pen) == before
    assert store.search_words(cue("coffe", "tea"), 5, everywhere()) == [kept]


def snapshot(store: Store, pen: Pen) -> object:
    statistics = store.read_word_statistics(["default"], ["tea", "coffe"])
    return (
        pen.all(),
        store.read_record("note"),
        store.read_size().scopes,
        (statistics.facts, statistics.holding, statistics.sample.tolist()),
    )


def test_what_was_thought_of_with_another_fact_in_mind_is_not_written(store: Store, pen: Pen) -> None:
    id = pen.tell("Tea.")
    [before] = store.read_facts([id])
    assert before is not None
    pen.write(pins={id: True})
    with pytest.raises(Conflict, match="changed in between"):
        pen.write(pen.new("Milk."), as_read={id: before})
    [after] = store.read_facts([id])
    assert after is not None
    pen.write(pen.new("Milk."), as_read={id: after})
    pen.write(removals=(id,))
    with pytest.raises(Conflict, match="changed in between"):
        pen.write(pen.new("Sugar."), as_read={id: after})
    assert {fact.text for fact in store.list_facts(everywhere(), 10, None)} == {"Milk."}


def test_what_was_forgotten_while_it_was_told_again_is_not_kept_by_half(store: Store, pen: Pen) -> None:
    again = replace(pen.new("Tea."), again=True)
    with pytest.raises(Conflict, match="forgotten"):
        pen.write(again)
    pen.tell("Tea.")
    assert [one.fresh for one in pen.write(again).facts] == [False]
