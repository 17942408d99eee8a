"""The times a question asks for, in a memory since November 2021, and scores of moments near them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.text.questions import (
    MAX_YEARS,
    QuestionTimeSpan,
    TimeRelation,
    extract_question_times,
    score_time_closeness,
)

# A Wednesday.
NOW = datetime(2023, 5, 10, 14, tzinfo=UTC)
FIRST = datetime(2021, 11, 1, tzinfo=UTC)
DAY = 86_400.0


def asked(text: str) -> list[tuple[str, str, str]]:
    return [
        (shown(span.start), shown(span.end), span.relation)
        for span in extract_question_times(text, now=NOW, earliest=FIRST, latest=NOW)
    ]


def shown(moment: datetime) -> str:
    return moment.isoformat()[:16].removesuffix("T00:00")


def fit(days: float, relation: TimeRelation) -> float:
    """Closeness of a moment so many days after the epoch to its day 10."""
    start = datetime(1970, 1, 11, tzinfo=UTC)
    span = QuestionTimeSpan(start, start + timedelta(days=1), "day 10", relation)
    return float(near([span], np.array([days * DAY]))[0])


def near(spans: list[QuestionTimeSpan], moments: np.ndarray) -> np.ndarray:
    return score_time_closeness(spans, moments, later_days=6.0, earlier_days=3.0, earlier_share=0.7, beyond_days=30.0)


@pytest.mark.parametrize(
    ("question", "start", "end", "relation"),
    [
        ("What did Melanie buy on 3 July 2022?", "2022-07-03", "2022-07-04", "in"),
        ("What did we discuss on May 5, 2022?", "2022-05-05", "2022-05-06", "in"),
        ("What was decided in May 2022?", "2022-05-01", "2022-06-01", "in"),
        ("What happened on 2022-03-04?", "2022-03-04", "2022-03-05", "in"),
        ("What was I working on in 2021?", "2021-01-01", "2022-01-01", "in"),
        ("What did the team ship in Q3 2022?", "2022-07-01", "2022-10-01", "in"),
        ("Where were we in the summer of 2019?", "2019-06-01", "2019-09-01", "in"),
        ("What did I do yesterday?", "2023-05-09", "2023-05-10", "in"),
        ("What happened the day before yesterday?", "2023-05-08", "2023-05-09", "in"),
        ("What did we agree on last week?", "2023-05-01", "2023-05-08", "in"),
        ("What did Ana say three days ago?", "2023-05-07", "2023-05-08", "in"),
        ("Who called last Friday?", "2023-05-05", "2023-05-06", "in"),
        ("Where did we go last May?", "2022-05-01", "2022-06-01", "in"),
        ("Which meetings do I have tomorrow?", "2023-05-11", "2023-05-12", "in"),
        ("Who came before March 2022?", "2022-03-01", "2022-04-01", "before"),
        ("What did I write before yesterday?", "2023-05-09", "2023-05-10", "before"),
        ("What was open until 2022-03-04?", "2022-03-04", "2022-03-05", "before"),
        ("What was planned prior to last week?", "2023-05-01", "2023-05-08", "before"),
        ("What broke before the end of May 2022?", "2022-05-01", "2022-06-01", "before"),
        ("Which bugs were fixed after Q2 2022?", "2022-04-01", "2022-07-01", "after"),
        ("What changed after May 5, 2022?", "2022-05-05", "2022-05-06", "after"),
        ("What happened following last Friday?", "2023-05-05", "2023-05-06", "after"),
    ],
)
def test_a_time_that_is_told_in_full_is_one_span(question: str, start: str, end: str, relation: str) -> None:
    assert asked(question) == [(start, end, relation)]


@pytest.mark.parametrize(
    ("question", "starts", "days", "relation"),
    [
        ("Where did we eat on 3 July?", ["2021-07-03", "2022-07-03", "2023-07-03"], 1, "in"),
        ("Where did we eat on July 3rd?", ["2021-07-03", "2022-07-03", "2023-07-03"], 1, "in"),
        ("Who came on the 3rd of July?", ["2021-07-03", "2022-07-03", "2023-07-03"], 1, "in"),
        ("What did she say on Sept. 3rd?", ["2021-09-03", "2022-09-03", "2023-09-03"], 1, "in"),
        ("What did Ana buy in May?", ["2021-05-01", "2022-05-01", "2023-05-01"], 31, "in"),
        ("what did ana buy in may?", ["2021-05-01", "2022-05-01", "2023-05-01"], 31, "in"),
        ("What was the March release about?", ["2021-03-01", "2022-03-01", "2023-03-01"], 31, "in"),
        ("Who visited at the end of July?", ["2021-07-01", "2022-07-01", "2023-07-01"], 31, "in"),
        ("Did June call in April?", ["2021-04-01", "2022-04-01", "2023-04-01"], 30, "in"),
        ("What did we do in the summer?", ["2021-06-01", "2022-06-01", "2023-06-01"], 92, "in"),
        ("Who was ill before May 5?", ["2021-05-05", "2022-05-05", "2023-05-05"], 1, "before"),
        ("What was sold until July?", ["2021-07-01", "2022-07-01", "2023-07-01"], 31, "before"),
        ("What was fixed after the March release?", ["2021-03-01", "2022-03-01", "2023-03-01"], 31, "after"),
    ],
)
def test_a_date_without_its_year_is_that_of_every_year_of_memory(
    question: str, starts: list[str], days: int, relation: str
) -> None:
    spans = extract_question_times(question, now=NOW, earliest=FIRST, latest=NOW)
    assert [shown(span.start) for span in spans] == starts
    assert {(span.end - span.start).days for span in spans} == {days}
    assert {span.relation for span in spans} == {relation}


@pytest.mark.parametrize(
    "question",
    [
        "May I ask a question?",
        "What may we do about it?",
        "Did only 3 may enter?",
        "Can May come with us?",
        "What did April say to June?",
        "March on, or stay here?",
        "What was the march on Rome?",
        "Who led the March on Washington?",
        "Is he an august person?",
        "Who came second in the race?",
        "What is the second step?",
        "Does it run on Python 3.11 or 3.12?",
        "Is version 20.04 in use?",
        "Are there 2023 items in the list?",
        "Which port is 2021?",
        "Why did Rome come to a fall?",
        "What led to the fall of Rome?",
        "How do I configure beans in Spring Boot?",
        "What was before?",
        "Who is after me?",
    ],
)
def test_this_asks_about_no_time(question: str) -> None:
    assert asked(question) == []


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What did Ana buy last weekend, before April 10, 2022?", "2022-04-02"),
        ("What was shown on the Sunday before October 25, 2022?", "2022-10-23"),
        ("What did Ben finish last Friday, as he told on 23 January 2022?", "2022-01-21"),
        ("Which songs were proposed for yesterday in the talk of 2022-05-21?", "2022-05-20"),
    ],
)
def test_what_is_said_from_a_day_that_is_told_in_full_is_seen_from_there(question: str, start: str) -> None:
    assert start in [begins for begins, _, _ in asked(question)]


@pytest.mark.parametrize(
    "question",
    [
        'Who sings "Home Alone Tonight"?',
        "Who sings “Home Alone Tonight” with her?",
    ],
)
def test_titles_are_not_seen_from_now(question: str) -> None:
    assert asked(question) == []


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What did Ana write yesterday that was shown on the screen?", "2023-05-09"),
        ("What did she say last week?", "2023-05-01"),
        ("Who said that she comes this week?", "2023-05-08"),
        ('Who sang "Home" last week?', "2023-05-01"),
        ("Did she say that she came on 2022-03-04?", "2022-03-04"),
    ],
)
def test_other_times_are_seen_from_now(question: str, start: str) -> None:
    assert [begins for begins, _, _ in asked(question)] == [start]


@pytest.mark.parametrize(
    ("question", "from_now"),
    [
        ("What did we agree on last week?", [True]),
        ("Who called on Friday?", [True]),
        ("What did Ana say three days ago?", [True]),
        ("What happened on 2022-03-04?", [False]),
        ("What was decided on 3 July?", [False, False, False]),
        ("What was shown on the Sunday before October 25, 2022?", [False, True, False]),
    ],
)
def test_what_is_seen_from_now_says_so(question: str, from_now: list[bool]) -> None:
    spans = extract_question_times(question, now=NOW, earliest=FIRST, latest=NOW)
    assert [span.from_now for span in spans] == from_now


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What happened from 2022-05-01 until yesterday?", "2022-05-01", "2023-05-10"),
        ("What did we do between 2023-05-01 and last Friday?", "2023-05-01", "2023-05-06"),
        ("Who came from 2022-05-01 to today?", "2022-05-01", "2023-05-11"),
    ],
)
def test_a_stretch_from_a_day_in_full_may_end_at_one_that_is_seen_from_now(question: str, start: str, end: str) -> None:
    assert (start, end, "in") in asked(question)


def test_beside_a_day_in_full_a_time_is_seen_from_now_too() -> None:
    spans = extract_question_times(
        "What did I say yesterday about the 2022-10-25 meeting?", now=NOW, earliest=FIRST, latest=NOW
    )
    assert {(shown(span.start), span.from_now) for span in spans} == {
        ("2022-10-24", False),
        ("2023-05-09", True),
        ("2022-10-25", False),
    }


def test_a_day_that_is_still_to_come_tells_nothing_about_yesterday() -> None:
    assert [start for start, _, _ in asked("What did we do yesterday for the launch on 2023-06-20?")] == [
        "2023-05-09",
        "2023-06-20",
    ]


def test_the_day_of_an_hour_is_that_day() -> None:
    assert "2022-05-20" in [start for start, _, _ in asked("What did Ana say yesterday, as told at 2022-05-21 18:30?")]


@pytest.mark.parametrize(
    "question",
    [
        'I have a 27" monitor; what did I order last week?',
        "What is 5'10\" tall, and what did we do last week?",
        '"What did we do last week?"',
        '"what we did last week"',
        'She asked: "What did we do last week?"',
    ],
)
def test_not_every_quotation_mark_begins_a_title(question: str) -> None:
    assert asked(question) == [("2023-05-01", "2023-05-08", "in")]


def test_since_a_day_is_that_day_and_what_came_after() -> None:
    assert asked("What changed since last Friday?") == [
        ("2023-05-05", "2023-05-06", "in"),
        ("2023-05-05", "2023-05-06", "after"),
    ]


def test_by_a_day_is_that_day_and_what_was_before() -> None:
    assert [relation for _, _, relation in asked("What was due by 2022-03-04?")] == ["in", "before"]


def test_months_joined_by_a_small_word_are_both_asked_about() -> None:
    spans = extract_question_times("What happened in May or June?", now=NOW, earliest=NOW, latest=NOW)
    assert [span.surface for span in spans] == ["May", "June"]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("Where was John between August 11 and August 15 2022?", "2022-08-11", "2022-08-16"),
        ("What did we do from 2022-03-04 to 2022-04-01?", "2022-03-04", "2022-04-02"),
        ("Where did I work from 2020 to 2022?", "2020-01-01", "2023-01-01"),
        ("What happened between 2019 and 2021?", "2019-01-01", "2022-01-01"),
        ("What happened between last Friday and yesterday?", "2023-05-05", "2023-05-10"),
        ("Who was away from 20 December to 6 January 2023?", "2022-12-20", "2023-01-07"),
    ],
)
def test_from_one_day_to_another_is_one_stretch(question: str, start: str, end: str) -> None:
    assert asked(question) == [(start, end, "in")]


def test_a_stretch_without_years_is_that_of_every_year() -> None:
    spans = extract_question_times("What happened between May and July?", now=NOW, earliest=FIRST, latest=NOW)
    assert [(shown(span.start), shown(span.end)) for span in spans] == [
        (f"{year}-05-01", f"{year}-08-01") for year in (2021, 2022, 2023)
    ]
    assert {span.surface for span in spans} == {"May and July"}


def test_spans_come_in_the_order_of_the_question() -> None:
    spans = extract_question_times("Was it last week, on 3 July or in 2020?", now=NOW, earliest=NOW, latest=NOW)
    assert [span.surface for span in spans] == ["last week", "3 July", "2020"]


def test_only_the_latest_years_are_tried() -> None:
    spans = extract_question_times("in May", now=NOW, earliest=datetime(1970, 1, 1, tzinfo=UTC), latest=NOW)
    assert [span.start.year for span in spans] == list(range(2023 - MAX_YEARS + 1, 2024))


def test_memory_without_dates_tries_the_present_year() -> None:
    (span,) = extract_question_times("in May", now=NOW, earliest=None, latest=None)
    assert span.start.year == NOW.year


def test_a_leap_day_is_that_of_the_years_that_have_it() -> None:
    spans = extract_question_times("on 29 February", now=NOW, earliest=datetime(2016, 1, 1, tzinfo=UTC), latest=NOW)
    assert [span.start.year for span in spans] == [2016, 2020]


def test_spans_are_in_the_zone_of_now() -> None:
    tokyo = timezone(timedelta(hours=9))
    (span,) = extract_question_times("on 3 July", now=NOW.astimezone(tokyo), earliest=None, latest=None)
    assert span.start == datetime(2023, 7, 3, tzinfo=tokyo)


@pytest.mark.parametrize(
    ("days", "relation", "closeness"),
    [
        (10.5, "in", 1.0),
        (10.0, "in", 1.0),
        (17.0, "in", 0.3679),  # e^(−6/6)
        (7.0, "in", 0.2575),  # .7 · e^(−3/3)
        (-20.0, "before", 0.3679),  # e^(−30/30)
        (10.5, "before", 0.0),
        (12.0, "before", 0.0),
        (41.0, "after", 0.3679),
        (10.5, "after", 0.0),
        (9.0, "after", 0.0),
    ],
)
def test_closeness_falls_with_days(days: float, relation: TimeRelation, closeness: float) -> None:
    assert fit(days, relation) == pytest.approx(closeness, abs=5e-5)


def test_the_closest_span_counts() -> None:
    early, late = (
        QuestionTimeSpan(datetime(y, 1, 1, tzinfo=UTC), datetime(y, 1, 2, tzinfo=UTC), "", "in") for y in (2000, 2020)
    )
    moments = np.array([early.start.timestamp(), late.start.timestamp()])
    assert near([early, late], moments).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("relation", ["in", "before", "after"])
def test_a_fact_without_a_moment_is_close_to_nothing(relation: TimeRelation) -> None:
    assert fit(float("nan"), relation) == 0.0


def test_nothing_is_close_to_no_time() -> None:
    assert near([], np.array([0.0, 1.0])).tolist() == [0.0, 0.0]


@given(some.floats(-1e12, 1e12), some.sampled_from(["in", "before", "after"]))
def test_closeness_is_a_share(days: float, relation: TimeRelation) -> None:
    assert 0.0 <= fit(days, relation) <= 1.0


@given(some.floats(0, 1e4), some.floats(0, 1e4), some.sampled_from(["in", "after"]))
def test_later_is_never_closer(days: float, more: float, relation: TimeRelation) -> None:
    assert fit(11 + days + more, relation) <= fit(11 + days, relation)


@given(some.text(), some.datetimes(), some.none() | some.datetimes(), some.none() | some.datetimes())
def test_any_text_at_any_time_gives_spans_with_a_length(
    text: str, now: datetime, earliest: datetime | None, latest: datetime | None
) -> None:
    assert all(
        span.start < span.end for span in extract_question_times(text, now=now, earliest=earliest, latest=latest)
    )


@given(some.datetimes(), some.sampled_from(["in May", "since 29 February", "before the summer", "after 31 December"]))
def test_the_edge_of_the_calendar_is_no_error(now: datetime, text: str) -> None:
    assert all(span.start < span.end for span in extract_question_times(text, now=now, earliest=now, latest=now))
