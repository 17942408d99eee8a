"""Times in a text, seen from Wednesday, 10 May 2023, two in the afternoon."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.text.dates import MAX_TIME_SPANS, extract_time_spans

NOW = datetime(2023, 5, 10, 14, tzinfo=UTC)


def periods(text: str, now: datetime | None = NOW) -> list[tuple[str, str]]:
    """First and last moment, without midnights."""
    return [(shown(span.start), shown(span.end)) for span in extract_time_spans(text, now)]


def shown(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d") if moment.hour == moment.minute == 0 else moment.strftime("%Y-%m-%dT%H:%M")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("shipped on 2023-04-02", "2023-04-02", "2023-04-03"),
        ("shipped on 2023/04/02", "2023-04-02", "2023-04-03"),
        ("at 2023-04-02T08:30 sharp", "2023-04-02T08:30", "2023-04-02T08:31"),
        ("Time: 20260408_08:38", "2026-04-08T08:38", "2026-04-08T08:39"),
        ("in 2024-05 or so", "2024-05-01", "2024-06-01"),
        ("born on 8 May 1990 in Oslo", "1990-05-08", "1990-05-09"),
        ("born on May 8, 1990", "1990-05-08", "1990-05-09"),
        ("on the 3rd of June 2021", "2021-06-03", "2021-06-04"),
        ("on Sept. 3rd, 2022", "2022-09-03", "2022-09-04"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("in January of 2020", "2020-01-01", "2020-02-01"),
        ("in 2021", "2021-01-01", "2022-01-01"),
        ("since 1987", "1987-01-01", "1988-01-01"),
        ("in the 1990s", "1990-01-01", "2000-01-01"),
        ("in the '80s", "1980-01-01", "1990-01-01"),
        ("in Q3 2024", "2024-07-01", "2024-10-01"),
        ("in 2024-Q1", "2024-01-01", "2024-04-01"),
        ("the third quarter of 2022", "2022-07-01", "2022-10-01"),
        ("the summer of 1999", "1999-06-01", "1999-09-01"),
        ("winter 2020", "2020-12-01", "2021-03-01"),
    ],
)
def test_date_is_the_same_whenever_it_is_said(text: str, start: str, end: str) -> None:
    assert periods(text) == periods(text, None) == [(start, end)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("I went yesterday", "2023-05-09", "2023-05-10"),
        ("today it rains", "2023-05-10", "2023-05-11"),
        ("see you tomorrow", "2023-05-11", "2023-05-12"),
        ("the day before yesterday", "2023-05-08", "2023-05-09"),
        ("the day after tomorrow", "2023-05-12", "2023-05-13"),
        ("yesterday evening", "2023-05-09T17:00", "2023-05-09T22:00"),
        ("this morning", "2023-05-10T05:00", "2023-05-10T12:00"),
        ("last night", "2023-05-09T20:00", "2023-05-10T05:00"),
        ("we met last Friday", "2023-05-05", "2023-05-06"),
        ("last Wednesday", "2023-05-03", "2023-05-04"),
        ("this Friday", "2023-05-12", "2023-05-13"),
        ("next Friday", "2023-05-19", "2023-05-20"),
        ("it broke on Monday", "2023-05-08", "2023-05-09"),
        ("we'll meet on Monday", "2023-05-15", "2023-05-16"),
        ("last week", "2023-05-01", "2023-05-08"),
        ("next week", "2023-05-15", "2023-05-22"),
        ("this weekend", "2023-05-13", "2023-05-15"),
        ("last month", "2023-04-01", "2023-05-01"),
        ("next year", "2024-01-01", "2025-01-01"),
        ("last summer", "2022-06-01", "2022-09-01"),
        ("next summer", "2023-06-01", "2023-09-01"),
        ("last winter", "2022-12-01", "2023-03-01"),
        ("two weeks ago", "2023-04-24", "2023-05-01"),
        ("3 days ago", "2023-05-07", "2023-05-08"),
        ("a couple of months ago", "2023-03-01", "2023-04-01"),
        ("a few years ago", "2020-01-01", "2021-01-01"),
        ("an hour ago", "2023-05-10T13:00", "2023-05-10T14:00"),
        ("half a year ago", "2022-11-01", "2022-12-01"),
        ("half an hour ago", "2023-05-10T13:30", "2023-05-10T13:31"),
        ("in the past week", "2023-05-03T14:00", "2023-05-10T14:00"),
        ("over the past year", "2022-05-10T14:00", "2023-05-10T14:00"),
        ("in three days", "2023-05-13", "2023-05-14"),
        ("over the last two weeks", "2023-04-26T14:00", "2023-05-10T14:00"),
        ("the next 3 months", "2023-05-10T14:00", "2023-08-10T14:00"),
        ("on 3 June", "2023-06-03", "2023-06-04"),
        ("on December 5", "2022-12-05", "2022-12-06"),
        ("29 February", "2024-02-29", "2024-03-01"),
        ("in May", "2023-05-01", "2023-06-01"),
        ("last March", "2023-03-01", "2023-04-01"),
        ("next May", "2024-05-01", "2024-06-01"),
        ("in Q2", "2023-04-01", "2023-07-01"),
    ],
)
def test_relative_time_is_seen_from_when_it_was_said(text: str, start: str, end: str) -> None:
    assert periods(text) == [(start, end)]
    assert periods(text, None) == []


@pytest.mark.parametrize(
    "text",
    [
        "You may want to wait.",
        "May I come in?",
        "March on, soldier.",
        "We sat in the sun for a second.",
        "Set max_connections to 200.",
        "PgBouncer 1.21 has 2000 users.",
        "from 1500 users to 2000 users",
        "the 2010-11 season",
        "every Friday and on Mondays",
        "31 February 2020",
        "the 31st of February 2020",
        "5000 years ago",
        "It was finished in two days.",
        "an august body, a fall from grace",
    ],
)
def test_this_says_nothing_about_when(text: str) -> None:
    assert periods(text) == []


def test_times_come_in_the_order_of_the_text_with_their_words() -> None:
    found = extract_time_spans("Next week, not in 2021 or last Friday.", NOW)
    assert [span.surface for span in found] == ["Next week", "2021", "last Friday"]


def test_times_are_in_the_zone_of_the_fact() -> None:
    tokyo = timezone(timedelta(hours=9))
    (span,) = extract_time_spans("yesterday", datetime(2023, 5, 10, 1, tzinfo=tokyo))
    assert span.start == datetime(2023, 5, 9, tzinfo=tokyo)


def test_edge_of_the_calendar_is_no_error() -> None:
    assert extract_time_spans("yesterday and last year", datetime.min.replace(tzinfo=UTC)) == ()
    assert extract_time_spans("tomorrow and next year", datetime.max.replace(tzinfo=UTC)) == ()


@given(some.text(), some.datetimes(timezones=some.just(UTC)))
def test_periods_have_a_length_and_are_few(text: str, now: datetime) -> None:
    found = extract_time_spans(text, now)
    assert len(found) <= MAX_TIME_SPANS
    assert all(span.start < span.end for span in found)
