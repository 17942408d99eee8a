"""Assuming: a verb begins with a record as it was last seen, and anew where that holds no more."""

from __future__ import annotations

import pytest

from cofire.errors import NotFound
from cofire.model import StoreRecord
from cofire.runtime.effects import Steps, StoreCall
from cofire.runtime.retries import run_optimistically
from cofire.runtime.store_proxy import store
from cofire.stores.base import StaleRecord
from tests.verbs.answering import Answers, Turns

OLD, NEW = StoreRecord("settings", b"old", 1), StoreRecord("settings", b"new", 2)


def looked(record: StoreRecord | None) -> Steps[tuple[bytes, object]]:
    """A verb that asks one thing, and tells what it began with."""
    size = yield from store.read_size()
    return (record.value if record else b""), size


def test_what_holds_is_confirmed_at_the_end() -> None:
    answers = Answers({"read_record": OLD, "read_size": 3, "confirm_records": None})
    assert answers.run(run_optimistically("settings", looked)) == (b"old", 3)
    assert answers.asked == [
        StoreCall("read_record", ("settings", True)),
        StoreCall("read_size"),
        StoreCall("confirm_records"),
    ]


@pytest.mark.parametrize("late", ["read_size", "confirm_records"])
def test_a_verb_that_was_overtaken_begins_anew(late: str) -> None:
    answers = Answers(
        {
            "read_record": Turns(OLD, NEW),
            "read_size": 3,
            "confirm_records": None,
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
        yield from store.read_size()
        return record.value.decode() if record else ""

    answers = Answers({"read_record": Turns(OLD, NEW), "read_size": 3, "confirm_records": Turns(StaleRecord(), None)})
    assert answers.run(run_optimistically("settings", refusing)) == "new"


def test_an_error_of_its_own_stays_one() -> None:
    answers = Answers({"read_record": OLD, "read_size": NotFound("No.", way_out="Look."), "confirm_records": None})
    with pytest.raises(NotFound):
        answers.run(run_optimistically("settings", looked))
