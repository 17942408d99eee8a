"""Names: compiled code is led over names where numpy is led."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cofire.index import native_names as compiled_names
from cofire.index.fact_index import FactIndex
from cofire.index.lookup import find_name_owners, find_name_paths
from cofire.index.names import NO_NAME_ENTRIES, NameEntries
from cofire.index.native_names import BUFFERS_TOO_SMALL, NamePathBuffers, NamePathColumns
from cofire.stores import link_rules
from tests.native.random_facts import NAMES, Story, admitted, row, stories, telling, told
from tests.native.twins import NEEDS_LIBRARY, both, calls_of, in_numpy

pytestmark = NEEDS_LIBRARY

LAST_SENTENCE = 1 << 31


@contextmanager
def leading_at_most(facts: int) -> Iterator[None]:
    """Where a name leads nowhere if more hold it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link_rules, "MAX_WALK_HOLDERS", facts)
        yield


def spelled(found: NamePathColumns) -> list[list[float]]:
    return [column.tolist() for column in vars(found).values()]


def kinds(found: NamePathColumns) -> list[Any]:
    return [column.dtype for column in vars(found).values()]


@st.composite
def seeds_in(draw: st.DrawFn, index: FactIndex) -> NDArray[np.int64]:
    """Some facts in any order, none twice, the dead among them."""
    size = index.columns.size
    return np.array(draw(st.lists(st.integers(0, size - 1), max_size=10, unique=True)) if size else [], np.int64)


@dataclass(frozen=True)
class Limits:
    """How far names lead: see `limits` in names.c; `room` is what there is at first for names and links."""

    common: int
    most: int
    leading: int
    room: int


limits = st.builds(
    Limits,
    common=st.integers(0, 40),
    most=st.integers(0, 30),
    leading=st.sampled_from([0, 3, 10, 1_000]),
    room=st.sampled_from([1, 3, 50, 8_192]),
)


@given(
    story=stories(facts=20),
    scope=st.sampled_from([None, 1]),
    names=st.lists(st.integers(0, NAMES + 2), max_size=8),
    most=st.integers(0, 12),
)
def test_the_same_facts_are_about_a_name(story: Story, scope: int | None, names: list[int], most: int) -> None:
    """Some names are asked for twice, and some nobody has."""
    index = told(story)
    if not names:
        assert find_name_owners(index, names, admitted(index, scope), most) == []
        return
    compiled, numpy = both("owners_of_names", lambda: find_name_owners(index, names, admitted(index, scope), most))
    assert [list(found.items()) for found in compiled] == [list(found.items()) for found in numpy]


@given(data=st.data(), story=stories(facts=20), scope=st.sampled_from([None, 1]), far=limits)
def test_names_lead_to_the_same_facts(data: st.DataObject, story: Story, scope: int | None, far: Limits) -> None:
    index = told(story)
    index.paths_room = NamePathBuffers(far.room, far.room)
    seeds, among = data.draw(seeds_in(index)), admitted(index, scope)
    with leading_at_most(far.leading):
        compiled, numpy = both("paths_over_names", lambda: find_name_paths(index, seeds, among, far.common, far.most))
    assert spelled(compiled) == spelled(numpy)
    assert kinds(compiled) == kinds(numpy)


@hypothesis_settings(max_examples=40)
@given(story=stories())
def test_names_that_came_since_the_last_question_lead_there(story: Story) -> None:
    for index in telling(story):
        seeds = np.arange(index.columns.size)[-5:]
        compiled, numpy = both(
            "paths_over_names", partial(find_name_paths, index, seeds, admitted(index, None), 60, 30)
        )
        assert spelled(compiled) == spelled(numpy)


@pytest.fixture
def village() -> FactIndex:
    """Facts of which most hold most names."""
    return told(Story(6, 6, 20, 1, 64, sessions=False, described=False, embedded=False))


def test_nobody_is_led_to_the_dead_whoever_is_admitted(village: FactIndex) -> None:
    everybody = np.ones(village.columns.size, np.bool_)
    compiled, numpy = both("paths_over_names", lambda: find_name_paths(village, np.arange(20), everybody, 1_000, 200))
    assert spelled(compiled) == spelled(numpy)
    assert village.columns.dead
    assert village.columns["alive"][compiled.positions[compiled.target]].all()


def test_whoever_finds_no_room_comes_back_with_more(village: FactIndex) -> None:
    seeds, among = np.arange(20), admitted(village, None)
    village.paths_room = NamePathBuffers(20, 3)
    with calls_of("paths_over_names") as calls:
        found = find_name_paths(village, seeds, among, 1_000, 30)
    assert calls[:2] == [BUFFERS_TOO_SMALL] * 2
    assert calls[-1] == 0
    with in_numpy():
        assert spelled(found) == spelled(find_name_paths(village, seeds, among, 1_000, 30))


def test_room_that_was_made_stays(village: FactIndex) -> None:
    village.paths_room = NamePathBuffers(1, 1)
    find_name_paths(village, np.arange(20), admitted(village, None), 1_000, 30)
    with calls_of("paths_over_names") as calls:
        find_name_paths(village, np.arange(20), admitted(village, None), 1_000, 30)
    assert calls == [0]


@pytest.mark.parametrize(("steps", "links"), [(20, 10_000), (1_000, 5), (1_000, 10_000)])
def test_no_mark_is_left_whether_there_was_room_or_not(village: FactIndex, steps: int, links: int) -> None:
    """Too little room for names, too little for links, and enough."""
    village.paths_room = NamePathBuffers(steps, links)
    marks: list[bool] = []

    def seen(*given: Any) -> Any:
        ended = compiled(*given)
        marks.append(bool((village.marks() == -1).all()))
        return ended

    compiled = compiled_names._paths_over_names
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_names, "_paths_over_names", seen)
        find_name_paths(village, np.arange(20), admitted(village, None), 1_000, 30)
    assert all(marks)
    assert (len(marks) > 1) is (steps < 1_000 or links < 10_000)


def test_the_same_seeds_lead_to_the_same_again(village: FactIndex) -> None:
    seeds, among = np.arange(20), admitted(village, None)
    first = spelled(find_name_paths(village, seeds, among, 60, 30))
    assert spelled(find_name_paths(village, seeds, among, 60, 30)) == first


def test_a_mask_and_seeds_may_lie_anywhere_in_memory(village: FactIndex) -> None:
    seeds, among = np.arange(0, 40, 4), admitted(village, None)
    plain = spelled(find_name_paths(village, seeds, among, 60, 30))
    apart = np.repeat(among, 2)[::2]
    frozen = among.copy()
    frozen.flags.writeable = False
    assert spelled(find_name_paths(village, np.arange(40)[::4], apart, 60, 30)) == plain
    assert spelled(find_name_paths(village, seeds.astype(np.int32), frozen, 60, 30)) == plain


@pytest.mark.parametrize("seeds", [[], [0], [119]], ids=["nobody", "the first", "the last"])
def test_few_seeds_lead_alike(village: FactIndex, seeds: Sequence[int]) -> None:
    asked, among = np.array(seeds, np.int64), admitted(village, None)
    compiled, numpy = both("paths_over_names", lambda: find_name_paths(village, asked, among, 60, 30))
    assert spelled(compiled) == spelled(numpy)


def test_nobody_leads_anywhere_in_an_index_of_nothing() -> None:
    index, nobody = FactIndex(None), np.zeros(0, np.int64)
    compiled, numpy = both("paths_over_names", lambda: find_name_paths(index, nobody, admitted(index, None), 60, 30))
    assert spelled(compiled) == spelled(numpy) == [[]] * len(vars(numpy))


def held(*rows: tuple[int, int, float, int]) -> NameEntries:
    """Names that facts hold: the fact, the name, how strongly, in which sentences."""
    owner, name, strength, sentences = zip(*rows, strict=True)
    return NameEntries(np.array(owner), np.array(name), np.array(strength, np.float64), np.array(sentences))


def facts(count: int) -> list[Any]:
    story = Story(9, 1, count, 1, 64, sessions=False, described=False, embedded=False)
    made = [row(np.random.default_rng(key), story, key) for key in range(1, count + 1)]
    return [replace(one, archived=False) for one in made]


def test_the_last_of_all_sentences_and_the_highest_name_are_told() -> None:
    index, name = FactIndex(None), 2**32 - 1
    index.change(
        facts(2), [], held((0, name, 1.0, LAST_SENTENCE), (1, name, 1.0, LAST_SENTENCE | 1)), NO_NAME_ENTRIES, {}
    )
    compiled, numpy = both(
        "paths_over_names", lambda: find_name_paths(index, np.array([0]), admitted(index, None), 60, 30)
    )
    assert spelled(compiled) == spelled(numpy)
    assert (compiled.name.tolist(), compiled.sentences.tolist()) == ([name], [LAST_SENTENCE])
    assert compiled.there.tolist() == [LAST_SENTENCE | 1]


NAME_OF_TWO = held((0, NAMES, 0.5, 1), (1, NAMES, 0.7, 2))


@pytest.mark.parametrize(
    ("mentions", "subjects"),
    [(NAME_OF_TWO, NO_NAME_ENTRIES), (NO_NAME_ENTRIES, NAME_OF_TWO)],
    ids=["only mentioned", "only subjects"],
)
def test_a_name_that_is_held_one_way_alone_leads_there(mentions: NameEntries, subjects: NameEntries) -> None:
    """Of the other way there is no segment at all."""
    index = FactIndex(None)
    index.change(facts(2), [], mentions, subjects, {})
    compiled, numpy = both(
        "paths_over_names", lambda: find_name_paths(index, np.array([0]), admitted(index, None), 60, 30)
    )
    assert spelled(compiled) == spelled(numpy)
    assert compiled.target.tolist() == [1]


def test_who_is_about_a_common_name_by_nothing_is_not_led_to() -> None:
    index = FactIndex(None)
    mentions = held(*((fact, 5, 1.0, 1) for fact in range(3)))
    index.change(facts(4), [], mentions, held((3, 5, 0.0004, 0)), {})
    compiled, numpy = both(
        "paths_over_names", lambda: find_name_paths(index, np.array([0]), admitted(index, None), 2, 30)
    )
    assert spelled(compiled) == spelled(numpy)
