"""Assuming: a verb begins with a record as it was last seen, and anew where that holds no more."""

from __future__ import annotations

import pytest

from cofire.errors import NotFound
from cofire.model import StoreRecord
from cofire.runtime.effects import ConfirmRecords, FetchRecordOptimistically, FetchStoreSize, Steps, run_optimistically
from cofire.stores.base import StaleRecord
from tests.verbs.answering import Answers, Turns

OLD, NEW = StoreRecord("settings", b"old", 1), StoreRecord("settings", b"new", 2)


def looked(record: StoreRecord | None) -> Steps[tuple[bytes, object]]:
    """A verb that asks one thing, and tells what it began with."""
    size = yield FetchStoreSize()
    return (record.value if record else b""), size


def test_what_holds_is_confirmed_at_the_end() -> None:
    answers = Answers({FetchRecordOptimistically: OLD, FetchStoreSize: 3, ConfirmRecords: None})
    assert answers.run(run_optimistically("settings", looked)) == (b"old", 3)
    assert answers.asked == [FetchRecordOptimistically("settings"), FetchStoreSize(), ConfirmRecords()]


@pytest.mark.parametrize("late", [FetchStoreSize, ConfirmRecords])
def test_a_verb_that_was_overtaken_begins_anew(late: type) -> None:
    answers = Answers(
        {
            FetchRecordOptimistically: Turns(OLD, NEW),
            FetchStoreSize: 3,
            ConfirmRecords: None,
            late: Turns(StaleRecord(), 3, 3),
        }
    )
    assert answers.run(run_optimistically("settings", looked)) == (b"new", 3)


def test_an_error_is_told_only_when_what_it_came_of_is_sure() -> None:
    def refusing(record: StoreRecord | None) -> Steps[str]:
        if record == OLD:
            raise NotFound("No fact has the id 7.", way_out="Look again.")
        return (yield from said(record))

    def said(record: StoreRecord | None) -> Steps[str]:
        yield FetchStoreSize()
        return record.value.decode() if record else ""

    answers = Answers(
        {FetchRecordOptimistically: Turns(OLD, NEW), FetchStoreSize: 3, ConfirmRecords: Turns(StaleRecord(), None)}
    )
    assert answers.run(run_optimistically("settings", refusing)) == "new"


def test_an_error_of_its_own_stays_one() -> None:
    answers = Answers(
        {FetchRecordOptimistically: OLD, FetchStoreSize: NotFound("No.", way_out="Look."), ConfirmRecords: None}
    )
    with pytest.raises(NotFound):
        answers.run(run_optimistically("settings", looked))
