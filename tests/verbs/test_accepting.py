"""Accepting: what is wrong with what was given, said so that it can be mended."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from cofire import Memory
from cofire.errors import InvalidFact, InvalidInput, InvalidQuestion
from cofire.model import Fact
from cofire.recall.request import build_filter, make_request
from cofire.settings.table import Settings
from cofire.verbs import validation
from tests.conftest import START

PLAIN = Settings.layered()


def accepted(text: object = "Tea.", **parts: object) -> Fact:
    return validation.parse_fact({"text": text, **parts}, PLAIN)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u3000"])
def test_a_blank_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidFact, match="empty"):
        accepted(text)


@pytest.mark.parametrize("text", [None, 7, b"tea", ["tea"]])
def test_a_text_must_be_text(text: object) -> None:
    with pytest.raises(InvalidFact, match=type(text).__name__):
        accepted(text)


def test_a_text_as_long_as_allowed_is_taken_and_a_longer_one_refused_with_both_lengths() -> None:
    assert len(accepted("x" * 100_000).text) == 100_000
    with pytest.raises(InvalidFact, match=r"100,001 characters.*100,000.*remember\.max_characters"):
        accepted("x" * 100_001)


def test_a_text_is_kept_to_the_letter() -> None:
    assert accepted("  Tea\r\n at four. \u200b").text == "  Tea\r\n at four. \u200b"


@pytest.mark.parametrize("part", ["text", "subject", "speaker", "session", "scope", "category", "source"])
def test_a_nul_is_refused(part: str) -> None:
    with pytest.raises(InvalidFact, match="NUL"):
        accepted(**{"text": "Tea.", part: "a\x00b"})


@pytest.mark.parametrize("part", ["text", "subject", "speaker", "session", "scope", "category", "source"])
def test_half_a_character_is_refused_with_its_place(part: str) -> None:
    with pytest.raises(InvalidFact, match=r"lone surrogate.*place 1"):
        accepted(**{"text": "Tea.", part: "a\ud800b"})


@pytest.mark.parametrize("part", ["subject", "speaker", "session", "scope", "category", "source"])
@pytest.mark.parametrize("value", ["", "  ", 7, b"x", ["x"], "x" * 1_001])
def test_a_name_must_be_some_short_text(part: str, value: object) -> None:
    with pytest.raises(InvalidFact, match=part):
        accepted(**{part: value})


@pytest.mark.parametrize("part", ["subject", "speaker", "session", "category", "source", "at", "tags", "metadata"])
def test_none_is_as_good_as_nothing(part: str) -> None:
    assert accepted(**{part: None}) == Fact("Tea.")


def test_without_a_scope_it_is_the_default_one() -> None:
    assert accepted(scope=None).scope == "default"


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        ("db", ("db",)),
        (["b", "A", "b "], ("a", "b")),
        (("x",), ("x",)),
        ({"y", "x"}, ("x", "y")),
        ((tag for tag in "ba"), ("a", "b")),
        ([], ()),
    ],
)
def test_tags_are_sorted_lower_case_and_each_once(given: object, tags: tuple[str, ...]) -> None:
    assert accepted(tags=given).tags == tags


@pytest.mark.parametrize("tags", [7, {"a": 1}, [7], [""], [None], ["a\x00"], [["a"]], b"ab"])
def test_tags_must_be_words(tags: object) -> None:
    with pytest.raises(InvalidFact, match=r"(?i)tag"):
        accepted(tags=tags)


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("2023-05-08", datetime(2023, 5, 8, tzinfo=UTC)),
        (" 2023-05-08T13:56:00 ", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08T13:56:00Z", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08T13:56:00+02:00", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        (date(2023, 5, 8), datetime(2023, 5, 8, tzinfo=UTC)),
        (datetime(2023, 5, 8, 13), datetime(2023, 5, 8, 13, tzinfo=UTC)),  # noqa: DTZ001 without a zone it is UTC
        (datetime(2023, 5, 8, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2023, 5, 7, 23, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_from_what_means_one(given: object, moment: datetime) -> None:
    assert accepted(at=given).at == moment


@pytest.mark.parametrize("part", ["at", "valid_from", "valid_until", "expires"])
@pytest.mark.parametrize("given", ["yesterday", "2023-13-01", "", 1_700_000_000, 1.5, True, [2023], b"2023-05-08"])
def test_what_is_no_moment_is_refused_with_an_example(part: str, given: object) -> None:
    with pytest.raises(InvalidFact, match=f"{part} cannot be .* ISO text as in 2026"):
        accepted(**{part: given})


def test_a_moment_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidFact, match="at cannot be"):
        accepted(at=datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))))


@pytest.mark.parametrize("until", ["2023-05-07", "2023-05-08"])
def test_a_validity_that_is_never_is_refused(until: str) -> None:
    with pytest.raises(InvalidFact, match="never"):
        accepted(valid_from="2023-05-08", valid_until=until)


def test_metadata_is_kept_as_json_keeps_it() -> None:
    given = {"text": "ü", "list": (1, 2), "deep": {"none": None, "yes": True, "half": 0.5}}
    assert accepted(metadata=given).metadata == {**given, "list": [1, 2]}


def test_metadata_is_a_copy() -> None:
    given = {"list": [1]}
    kept = accepted(metadata=given).metadata
    given["list"].append(2)
    assert kept == {"list": [1]}


@pytest.mark.parametrize(
    "metadata",
    [7, "text", ["list"], {1: "number as key"}, {"a": object()}, {"a": {1, 2}}, {"a": b"bytes"}, {"a": START}],
)
def test_metadata_that_is_no_json_is_refused(metadata: object) -> None:
    with pytest.raises(InvalidFact, match="metadata"):
        accepted(metadata=metadata)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_metadata_holds_no_number_that_json_has_not(number: float) -> None:
    with pytest.raises(InvalidFact, match="metadata cannot be written as JSON"):
        accepted(metadata={"a": [number]})


def test_metadata_holds_no_half_characters() -> None:
    with pytest.raises(InvalidFact, match="metadata holds half of a character"):
        accepted(metadata={"a": "\ud800"})


def test_metadata_that_contains_itself_is_refused() -> None:
    circle: dict[str, object] = {}
    circle["self"] = circle
    with pytest.raises(InvalidFact, match="metadata"):
        accepted(metadata=circle)


def test_metadata_of_endless_depth_is_refused() -> None:
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(InvalidFact, match="metadata"):
        accepted(metadata=deep)


def test_an_unknown_part_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidFact, match=r"A fact has no colour\. It has text, tags, category"):
        accepted(colour="green")


@pytest.mark.parametrize("part", ["id", "stored_at", "reinforced", "pinned", "archived", "position"])
def test_what_the_store_fills_in_cannot_be_given(part: str) -> None:
    with pytest.raises(InvalidFact, match=part):
        accepted(**{part: "x"})


def test_what_the_store_filled_in_is_left_behind_when_a_fact_is_given_again() -> None:
    stored = Fact("Tea.", id="x", stored_at=START, reinforced=3, pinned=True, archived=True, position=4)
    assert validation.parse_fact(stored, PLAIN) == Fact("Tea.")


def test_a_mapping_without_a_text_is_refused() -> None:
    with pytest.raises(InvalidFact, match="text"):
        validation.parse_fact({"tags": ["a"]}, PLAIN)


@pytest.mark.parametrize("text", ["", "  ", None, 7, b"tea", "a\x00", "\ud800"])
def test_a_question_must_be_some_text(text: object) -> None:
    with pytest.raises(InvalidQuestion):
        make_request(text, {}, START, PLAIN)


@pytest.mark.parametrize("k", [0, -1, 1_001, 2.0, "3", True])
def test_k_must_be_a_whole_number_in_range(k: object) -> None:
    with pytest.raises(InvalidQuestion, match=r"k cannot be .*1 to 1,000"):
        make_request("Tea?", {"k": k}, START, PLAIN)


@pytest.mark.parametrize("budget", [0, -1, 2.0, "3", True])
def test_a_budget_must_be_a_whole_number_in_range(budget: object) -> None:
    with pytest.raises(InvalidQuestion, match="budget cannot be"):
        make_request("Tea?", {"budget": budget}, START, PLAIN)


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"scope": ""}, "scope"),
        ({"scope": []}, "scope"),
        ({"scope": 7}, "scope"),
        ({"session": [7]}, "session"),
        ({"category": " "}, "category"),
        ({"speaker": b"x"}, "speaker"),
        ({"tags": 7}, "(?i)tags"),
        ({"since": "long ago"}, "since"),
        ({"until": 7}, "until"),
        ({"as_of": ""}, "as_of"),
        ({"community": -1}, "community"),
        ({"community": "x"}, "community"),
        ({"mode": "loud"}, "mode"),
        ({"strategy": "guess"}, "strategy"),
        ({"cue_tags": 7}, "(?i)tags"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_by_name(filters: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidQuestion, match=named):
        make_request("Tea?", filters, START, PLAIN)


def test_a_time_span_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(InvalidQuestion, match="Swap"):
        build_filter({"since": "2024-01-01", "until": "2023-01-01"}, START)


def test_one_name_or_several_make_a_filter() -> None:
    made = build_filter({"speaker": "Ana", "session": ["one", "two"], "scope": ("b", "a")}, START)
    assert (made.speakers, made.sessions) == (frozenset({"Ana"}), frozenset({"one", "two"}))
    assert made.scopes == ("a", "b")


def test_without_a_scope_a_question_sees_the_default_and_a_listing_sees_all() -> None:
    assert build_filter({}, START).scopes == ("default",)
    assert build_filter({}, START, everywhere=True).scopes is None
    assert build_filter({"scope": "a"}, START, everywhere=True).scopes == ("a",)


def test_what_was_asked_comes_before_what_is_set() -> None:
    settings = Settings.layered(file={"recall.k": 3, "recall.budget": 50})
    assert (make_request("Tea?", {}, START, settings).k, make_request("Tea?", {"k": 5}, START, settings).k) == (3, 5)
    assert (
        make_request("Tea?", {}, START, settings).budget,
        make_request("Tea?", {"budget": 9}, START, settings).budget,
    ) == (
        50,
        9,
    )
    assert make_request("Tea?", {}, START, PLAIN).budget is None


def test_every_refusal_is_a_value_error_with_a_way_out() -> None:
    with pytest.raises(ValueError, match="empty") as refused:
        accepted("")
    assert isinstance(refused.value, InvalidInput)
    assert refused.value.way_out


@pytest.mark.parametrize(
    ("verb", "given"),
    [
        ("recall", {"query": "tea"}),
        ("why", {"query": "tea", "id": "0" * 26}),
        ("explore", {"query": "tea"}),
        ("calibrate", {"questions": ["tea"] * 300}),
        ("forget", {}),
        ("facts", {}),
        ("edges", {}),
        ("graph", {}),
        ("communities", {}),
        ("dream", {}),
    ],
)
def test_an_empty_list_of_scopes_is_refused(memory: Memory, verb: str, given: dict[str, Any]) -> None:
    """All or nothing: nobody can tell which of them was meant."""
    with pytest.raises(InvalidQuestion, match="No scope is named"):
        getattr(memory, verb)(**given, scope=[])
