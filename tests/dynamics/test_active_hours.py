"""Active hours: the clock runs while the memory is used, by however many processes, and at no other time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofire.dynamics.active_hours import Span, active_hours, active_hours_at, extended, merged

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
IDLE = timedelta(minutes=30)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def span(begun: float, ended: float) -> Span:
    return Span(at(begun), at(ended))


def hours(spans: list[Span], minutes: float) -> float:
    """By both ways of counting, which agree."""
    one = active_hours(spans, at(minutes), idle=IDLE)
    assert active_hours_at(spans, [at(minutes)], idle=IDLE).tolist() == pytest.approx([one], abs=1e-12)
    return one


def used(moments: list[float]) -> list[Span]:
    """The spans that a process leaves behind which uses the memory at these minutes."""
    spans: list[Span] = []
    for moment in moments:
        last = spans[-1] if spans else None
        grown = extended(last, at(moment), idle=IDLE)
        spans = [*(spans if last is None or grown.begun > last.ended else spans[:-1]), grown]
    return spans


minutes = st.integers(0, 600)
spans = st.lists(st.builds(lambda begun, length: span(begun, begun + length), minutes, st.integers(0, 90)), max_size=8)


def test_a_first_use_has_no_length() -> None:
    assert extended(None, at(0), idle=IDLE) == span(0, 0)


@pytest.mark.parametrize(("moment", "grown"), [(0, 10), (5, 10), (20, 20), (40, 40)])
def test_a_use_soon_after_belongs_to_the_span(moment: float, grown: float) -> None:
    assert extended(span(0, 10), at(moment), idle=IDLE) == span(0, grown)


def test_a_use_after_longer_silence_begins_a_new_span() -> None:
    assert extended(span(0, 10), at(40.001), idle=IDLE) == span(40.001, 40.001)


def test_a_clock_set_back_a_little_widens_the_span() -> None:
    assert extended(span(0, 10), at(-20), idle=IDLE) == span(-20, 10)
    assert extended(span(0, 10), at(-31), idle=IDLE) == span(-31, -31)


def test_two_processes_at_once_are_not_counted_twice() -> None:
    assert hours([span(0, 60), span(30, 90)], 600) == 1.5
    assert hours([span(0, 60), span(0, 60)], 600) == 1.0


def test_a_short_silence_belongs_to_the_session() -> None:
    assert hours([span(0, 60), span(90, 120)], 600) == 2.0
    assert hours([span(0, 60), span(91, 121)], 600) == 1.5


def test_single_uses_apart_add_nothing() -> None:
    assert hours([span(0, 0), span(100, 100)], 600) == 0.0


def test_single_uses_close_by_make_a_session() -> None:
    assert hours([span(0, 0), span(30, 30), span(60, 60)], 600) == 1.0


def test_what_comes_later_does_not_count_yet() -> None:
    assert hours([span(0, 60), span(120, 180)], -1) == 0.0
    assert hours([span(0, 60), span(120, 180)], 90) == 1.0
    assert hours([span(0, 60), span(120, 180)], 150) == 1.5


def test_a_year_of_silence_adds_nothing() -> None:
    worked = [span(0, 120)]
    assert hours(worked, 120) == hours(worked, 120 + 365 * 24 * 60) == 2.0


def test_a_memory_never_used_is_at_nought() -> None:
    assert hours([], 0) == 0.0


def test_zones_do_not_matter() -> None:
    elsewhere = timezone(timedelta(hours=9))
    moved = Span(at(0).astimezone(elsewhere), at(60).astimezone(elsewhere))
    assert hours([moved, span(30, 90)], 90) == 1.5


@given(spans, minutes, minutes)
def test_the_clock_never_runs_back(used: list[Span], one: int, other: int) -> None:
    assert hours(used, min(one, other)) <= hours(used, max(one, other))


@given(spans, minutes, minutes)
def test_the_clock_never_runs_faster_than_time(used: list[Span], one: int, other: int) -> None:
    assert abs(hours(used, one) - hours(used, other)) <= abs(one - other) / 60 + 1e-9


@given(spans, spans, minutes)
def test_more_use_never_counts_less(used: list[Span], more: list[Span], moment: int) -> None:
    assert hours([*used, *more], moment) >= hours(used, moment)


@given(spans, minutes)
def test_the_same_use_twice_counts_once(used: list[Span], moment: int) -> None:
    assert hours([*used, *reversed(used)], moment) == hours(used, moment)


@given(spans)
def test_sessions_are_apart_and_stay_as_they_are(used: list[Span]) -> None:
    sessions = merged(used, idle=IDLE)
    assert all(later.begun - earlier.ended > IDLE for earlier, later in pairwise(sessions))
    assert merged(sessions, idle=IDLE) == sessions


@given(st.lists(minutes, max_size=20))
def test_use_by_use_gives_the_same_sessions_as_all_at_once(moments: list[int]) -> None:
    grown = used(sorted(moments))
    assert tuple(grown) == merged([span(moment, moment) for moment in moments], idle=IDLE)


@given(st.lists(minutes, max_size=12), st.lists(minutes, max_size=12), minutes)
def test_two_processes_count_as_one_that_did_all(one: list[int], other: list[int], moment: int) -> None:
    apart = [*used(sorted(one)), *used(sorted(other))]
    assert hours(apart, moment) == hours(used(sorted([*one, *other])), moment)


@given(spans, st.lists(minutes, max_size=10))
def test_many_moments_are_the_same_as_one_by_one(used: list[Span], moments: list[int]) -> None:
    together = active_hours_at(used, [at(moment) for moment in moments], idle=IDLE)
    assert together.tolist() == pytest.approx([hours(used, moment) for moment in moments], abs=1e-12)
