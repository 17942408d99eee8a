"""The model: what makes a fact the same, how it is read, what a new telling adds, and which facts a filter admits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import pytest

from cofire.model import Fact, FactFilter

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FACT = Fact("Tea at four.", stored_at=NOW)


@pytest.mark.parametrize(
    "part", [{"scope": "b"}, {"text": "Tea."}, {"subject": "T"}, {"speaker": "A"}, {"session": "s"}, {"at": NOW}]
)
def test_what_identity_is_made_of(part: dict[str, object]) -> None:
    assert replace(FACT, **part).hash != FACT.hash


@pytest.mark.parametrize(
    "part",
    [{"tags": ("a",)}, {"category": "c"}, {"source": "s"}, {"metadata": {"a": 1}}, {"id": "x"}, {"expires": NOW}],
)
def test_what_identity_is_not_made_of(part: dict[str, object]) -> None:
    assert replace(FACT, **part).hash == FACT.hash


def test_parts_of_identity_do_not_run_into_each_other() -> None:
    assert Fact("a", subject="b", speaker=None).hash != Fact("a", subject=None, speaker="b").hash
    assert Fact("a', 'b").hash != Fact("a", subject="b").hash


def test_identity_does_not_rest_on_which_letters_a_python_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[bytes] = []
    monkeypatch.setattr("cofire.model.blake2b", lambda data, digest_size: hashed.append(data) or blake2b(data))
    known, unassigned = "\u00e9", "\u0378"
    assert [Fact(letter).hash for letter in (known, unassigned)]
    assert (known.encode() in hashed[0]) == (unassigned.encode() in hashed[1])


def test_time_is_when_it_happened_or_else_when_it_was_stored() -> None:
    assert replace(FACT, at=NOW - DAY).time == NOW - DAY
    assert FACT.time == NOW


def test_reading_is_led_by_the_subject_unless_the_text_says_it() -> None:
    assert Fact("It boils.", subject="Kettle").reading == "Kettle. It boils."
    assert Fact("The KETTLE boils.", subject="kettle").reading == "kettle. The KETTLE boils."
    assert Fact("KETTLE boils.", subject="Kettle").reading == "KETTLE boils."
    assert Fact("It boils.").reading == "It boils."


def test_a_new_telling_adds_tags_and_fills_gaps() -> None:
    known = replace(FACT, tags=("b",), category="habit", metadata={"cup": 1})
    again = Fact("Tea at four.", tags=("a",), category="other", source="diary", metadata={"cup": 2, "pot": 3})
    after = known.observed_again(again, NOW + DAY)
    assert (after.tags, after.category, after.source) == (("a", "b"), "habit", "diary")
    assert after.metadata == {"cup": 2, "pot": 3}
    assert (after.reinforced, after.reinforced_at, after.stored_at) == (1, NOW + DAY, NOW)


def test_a_new_telling_may_give_a_new_term() -> None:
    known = replace(FACT, valid_from=NOW - DAY, valid_until=NOW, expires=NOW)
    after = known.observed_again(Fact("Tea at four.", valid_until=NOW + DAY, expires=NOW + 2 * DAY), NOW)
    assert (after.valid_from, after.valid_until, after.expires) == (NOW - DAY, NOW + DAY, NOW + 2 * DAY)


def test_a_plain_filter_sees_the_default_scope_only() -> None:
    where = FactFilter(NOW)
    assert where.admits(FACT)
    assert not where.admits(replace(FACT, scope="other"))
    assert FactFilter(NOW, scopes=None).admits(replace(FACT, scope="other"))


def test_all_tags_are_needed_but_any_of_the_others() -> None:
    fact = replace(FACT, tags=("a", "b"), category="c", speaker="s", session="t")
    assert FactFilter(NOW, tags=frozenset("ab")).admits(fact)
    assert not FactFilter(NOW, tags=frozenset("abc")).admits(fact)
    for field in ("categories", "speakers", "sessions"):
        assert FactFilter(NOW, **{field: frozenset("cst")}).admits(fact)
        assert not FactFilter(NOW, **{field: frozenset("x")}).admits(fact)
        assert not FactFilter(NOW, **{field: frozenset("x")}).admits(FACT)


@pytest.mark.parametrize(
    ("validity", "admitted"),
    [
        ({"valid_from": NOW}, True),
        ({"valid_from": NOW + DAY}, False),
        ({"valid_until": NOW}, False),
        ({"valid_until": NOW + DAY}, True),
        ({"expires": NOW}, False),
        ({"expires": NOW + DAY}, True),
        ({"archived": True}, False),
    ],
)
def test_what_is_not_valid_now_is_not_seen(validity: dict[str, object], admitted: bool) -> None:
    assert FactFilter(NOW).admits(replace(FACT, **validity)) is admitted


def test_since_and_until_are_inclusive_and_go_by_when_it_happened() -> None:
    happened = replace(FACT, at=NOW - 3 * DAY)
    assert FactFilter(NOW, since=NOW - 3 * DAY, until=NOW - 3 * DAY).admits(happened)
    assert not FactFilter(NOW, since=NOW - 2 * DAY).admits(happened)
    assert not FactFilter(NOW, until=NOW - 4 * DAY).admits(happened)


def test_as_of_sees_what_was_known_and_valid_then() -> None:
    later = replace(FACT, stored_at=NOW + DAY)
    over = replace(FACT, stored_at=NOW - 5 * DAY, valid_until=NOW)
    assert not FactFilter(NOW + 2 * DAY, as_of=NOW).admits(later)
    assert FactFilter(NOW + 2 * DAY, as_of=NOW - DAY).admits(over)
    assert not FactFilter(NOW + 2 * DAY).admits(over)
