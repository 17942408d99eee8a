"""Ids: they grow, whatever the clock does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as some

from cofire.ids import IdGenerator

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
moments = some.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2100, 1, 1), timezones=some.just(UTC))  # noqa: DTZ001


@given(some.lists(moments, min_size=1, max_size=20))
def test_ids_grow_even_when_the_clock_goes_back(clock: list[datetime]) -> None:
    minter = IdGenerator()
    ids = [id for moment in clock for id in minter.mint(moment, 2)]
    assert ids == sorted(set(ids))


def test_an_id_is_26_letters_that_sort_as_they_count() -> None:
    [id] = IdGenerator().mint(MOMENT, 1)
    assert len(id) == 26
    assert set(id) <= set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


def test_ids_of_a_later_moment_are_larger_across_processes() -> None:
    [early] = IdGenerator().mint(MOMENT, 1)
    [late] = IdGenerator().mint(MOMENT + timedelta(milliseconds=1), 1)
    assert early < late


def test_two_processes_do_not_meet() -> None:
    assert IdGenerator().mint(MOMENT, 1) != IdGenerator().mint(MOMENT, 1)


def test_the_largest_randomness_still_leaves_room_to_count_on() -> None:
    ids = IdGenerator(lambda bits: (1 << bits) - 1).mint(MOMENT, 3)
    assert [id[:10] for id in ids] == [ids[0][:10]] * 3
    assert ids == sorted(set(ids))


def test_no_ids_are_made_when_none_are_wanted() -> None:
    assert IdGenerator().mint(MOMENT, 0) == []


def test_threads_never_share_an_id() -> None:
    minter = IdGenerator()
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(lambda _: minter.mint(MOMENT, 50), range(20)))
    ids = [id for batch in batches for id in batch]
    assert len(set(ids)) == 1_000
