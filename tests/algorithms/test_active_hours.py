"""Active hours: the clock runs while the memory is used, by however many processes, and at no other time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.decay import UsagePeriod, extend_usage_period

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
IDLE = timedelta(minutes=30)

moments = st.lists(st.integers(0, 600), max_size=20)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def span(begun: float, ended: float) -> UsagePeriod:
    return UsagePeriod(at(begun), at(ended))


def used(moments: list[int]) -> list[UsagePeriod]:
    """The spans that uses at these minutes leave behind."""
    spans: list[UsagePeriod] = []
    for moment in moments:
        grown = extend_usage_period(spans[-1] if spans else None, at(moment), idle=IDLE)
        spans = [*(spans[:-1] if spans and grown.begun == spans[-1].begun else spans), grown]
    return spans


def hours(moments: list[int]) -> float:
    return sum(span.hours for span in used(moments))


def test_the_first_use_begins_a_span() -> None:
    assert extend_usage_period(None, at(0), idle=IDLE) == span(0, 0)


def test_a_use_soon_after_grows_the_span() -> None:
    assert extend_usage_period(span(0, 10), at(40), idle=IDLE) == span(0, 40)


def test_a_use_after_a_long_silence_begins_a_new_span() -> None:
    assert extend_usage_period(span(0, 10), at(41), idle=IDLE) == span(41, 41)


@pytest.mark.parametrize("minutes", [5, -5, -10_000])
def test_a_use_before_the_last_end_adds_nothing(minutes: int) -> None:
    assert extend_usage_period(span(0, 10), at(minutes), idle=IDLE) == span(0, 10)


def test_single_uses_apart_add_nothing() -> None:
    assert hours([0, 100, 200]) == 0.0


def test_a_short_silence_belongs_to_the_time_of_use() -> None:
    assert hours([0, 30, 60, 91]) == 1.0


def test_zones_do_not_matter() -> None:
    elsewhere = timezone(timedelta(hours=9))
    assert extend_usage_period(span(0, 10), at(20).astimezone(elsewhere), idle=IDLE).hours == pytest.approx(20 / 60)


@given(moments)
def test_the_clock_never_runs_faster_than_time(moments: list[int]) -> None:
    told = sorted(moments)
    assert hours(told) <= (told[-1] - told[0] if told else 0) / 60 + 1e-9


@given(moments)
def test_the_same_use_twice_counts_once(moments: list[int]) -> None:
    told = sorted(moments)
    assert hours(sorted([*told, *told])) == hours(told)


@given(moments, moments)
def test_more_use_never_counts_less(moments: list[int], more: list[int]) -> None:
    assert hours(sorted([*moments, *more])) >= hours(sorted(moments)) - 1e-9
