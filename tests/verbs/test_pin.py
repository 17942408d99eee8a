"""Pin and archive: marks that stay, and facts that are out of recall but not lost."""

from __future__ import annotations

from typing import Any

import pytest

from cofire import Memory
from cofire.errors import InvalidInput, NotFound

OPEN = {"abstention.rule": "off"}


def test_pinned_fact_bears_the_mark_until_it_is_unpinned(memory: Memory) -> None:
    one, other = memory.remember(["Tea.", "Coffee."])
    assert [fact.pinned for fact in memory.pin(one)] == [True]
    assert [fact.pinned for fact in memory.facts([one, other])] == [True, False]
    assert memory.pin([one]) == []
    assert [fact.id for fact in memory.unpin([one, other])] == [one]
    assert not memory.facts(one)[0].pinned


def test_pinned_facts_can_be_listed_alone(memory: Memory) -> None:
    one, _ = memory.remember(["Tea.", "Coffee."])
    memory.pin(one)
    assert [fact.id for fact in memory.facts(pinned=True)] == [one]
    assert memory.facts(pinned=True, scope="another") == []


def test_archived_fact_is_out_of_recall_and_comes_back(wordy: Memory) -> None:
    id = wordy.remember("The kettle whistles.")
    assert [fact.archived for fact in wordy.archive(id)] == [True]
    assert wordy.recall("kettle", settings=OPEN).ids == ()
    assert wordy.stats().size.archived == 1
    assert wordy.archive(id) == []
    assert [fact.id for fact in wordy.restore([id])] == [id]
    assert wordy.recall("kettle", settings=OPEN).ids == (id,)


def test_an_archived_fact_that_is_told_again_is_found_again(wordy: Memory) -> None:
    id = wordy.remember("The kettle whistles.")
    wordy.archive(id)
    assert wordy.remember("The kettle whistles.") == id
    assert wordy.recall("kettle", settings=OPEN).ids == (id,)
    assert wordy.stats().size.archived == 0


@pytest.mark.parametrize("verb", ["pin", "unpin", "archive", "restore"])
@pytest.mark.parametrize(
    ("ids", "error"), [("unknown", NotFound), (7, InvalidInput), ([7], InvalidInput), ("", InvalidInput)]
)
def test_unknown_fact_is_an_error(memory: Memory, verb: str, ids: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        getattr(memory, verb)(ids)


def test_marks_come_back_with_a_fact_that_was_forgotten(memory: Memory) -> None:
    id = memory.remember("Tea.")
    memory.pin(id)
    memory.archive(id)
    memory.undo(memory.forget(id))
    (fact,) = memory.facts(id)
    assert (fact.pinned, fact.archived) == (True, True)


def test_expired_fact_is_not_recalled(wordy: Memory) -> None:
    soon, gone = wordy.remember(["The kettle hums.", "The kettle sings."], expires="2027-01-01")
    wordy.update(gone, expires="2026-02-01")
    assert wordy.recall("kettle", settings=OPEN).ids == (soon,)
    assert wordy.recall("kettle", as_of="2026-12-31", settings=OPEN).ids in ((soon,), ())
    assert gone in {fact.id for fact in wordy.facts([gone])}
