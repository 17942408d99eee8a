"""Assuming: a verb begins with a record as it was last seen, and anew where that holds no more."""

from __future__ import annotations

import pytest

from cofire.asks import Asking, Size
from cofire.assuming import Assumed, Confirmed, assuming
from cofire.errors import NotFound
from cofire.model import Record
from cofire.stores.base import Overtaken
from tests.verbs.answering import Answers, Turns

OLD, NEW = Record("settings", b"old", 1), Record("settings", b"new", 2)


def looked(record: Record | None) -> Asking[tuple[bytes, object]]:
    """A verb that asks one thing, and tells what it began with."""
    size = yield Size()
    return (record.value if record else b""), size


def test_what_holds_is_confirmed_at_the_end() -> None:
    answers = Answers({Assumed: OLD, Size: 3, Confirmed: None})
    assert answers.run(assuming("settings", looked)) == (b"old", 3)
    assert answers.asked == [Assumed("settings"), Size(), Confirmed()]


@pytest.mark.parametrize("late", [Size, Confirmed])
def test_a_verb_that_was_overtaken_begins_anew(late: type) -> None:
    answers = Answers({Assumed: Turns(OLD, NEW), Size: 3, Confirmed: None, late: Turns(Overtaken(), 3, 3)})
    assert answers.run(assuming("settings", looked)) == (b"new", 3)


def test_an_error_is_told_only_when_what_it_came_of_is_sure() -> None:
    def refusing(record: Record | None) -> Asking[str]:
        if record == OLD:
            raise NotFound("No fact has the id 7.", way_out="Look again.")
        return (yield from said(record))

    def said(record: Record | None) -> Asking[str]:
        yield Size()
        return record.value.decode() if record else ""

    answers = Answers({Assumed: Turns(OLD, NEW), Size: 3, Confirmed: Turns(Overtaken(), None)})
    assert answers.run(assuming("settings", refusing)) == "new"


def test_an_error_of_its_own_stays_one() -> None:
    answers = Answers({Assumed: OLD, Size: NotFound("No.", way_out="Look."), Confirmed: None})
    with pytest.raises(NotFound):
        answers.run(assuming("settings", looked))
