"""What every store learns by use: lessons about edges, how facts fared, the log of what was shown, and communities."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from cofire.model import Change, Edge, EdgeWrite, FactImportance
from cofire.stores.base import EdgeFilter, ExpansionOptions, Store
from cofire.stores.learning_rows import (
    CommunityMembers,
    EdgeAdjustment,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    PathEdge,
    RecallLogOptions,
)
from tests.conftest import STORES, sqlite_store
from tests.stores.making import NOW, Pen, cue, everywhere

EARNED = RecallLogOptions(most=100, rule="earned", idle_minutes=30.0)
HOUR = timedelta(hours=1)


@pytest.fixture
def ids(store: Store, pen: Pen) -> list[str]:
    news = [pen.new(f"tea {number}", scope="a", tags=("db",)) for number in range(6)]
    news.append(pen.new("tea elsewhere", scope="b"))
    store.write(Change(now=NOW, facts=tuple(news)), {})
    return [new.fact.id for new in news]


def edges(store: Store) -> list[Edge]:
    return store.list_edges(EdgeFilter(), 100)


def taught(store: Store, *lessons: EdgeAdjustment) -> tuple[int, int]:
    counts = store.write(Change(now=NOW, lessons=lessons), {}).edges
    return counts.new, counts.changed


def test_a_hebbian_edge_is_made_once_and_then_grows(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    assert taught(store, EdgeAdjustment(b, a, "hebbian", 0.05)) == (1, 0)
    assert taught(store, EdgeAdjustment(a, b, "hebbian", 0.05)) == (0, 1)
    assert edges(store) == [Edge(a, b, "hebbian", 0.1, None, ("db",), "use")]


def test_an_edge_of_another_kind_is_changed_and_never_made(store: Store, ids: list[str]) -> None:
    a, b, c = ids[:3]
    store.write(Change(now=NOW, edges=(EdgeWrite(Edge(b, a, "auto_link", 0.5, 0.5)),)), {})
    assert taught(store, EdgeAdjustment(a, b, "auto_link", 0.05), EdgeAdjustment(a, c, "auto_link", 0.05)) == (0, 1)
    [edge] = edges(store)
    assert (edge.weight, edge.confidence) == pytest.approx((0.55, 0.55))


def test_harm_weakens_what_is_there_and_makes_nothing(store: Store, ids: list[str]) -> None:
    a, b, c = ids[:3]
    taught(store, EdgeAdjustment(a, b, "hebbian", 0.05))
    assert taught(store, EdgeAdjustment(a, b, "hebbian", -0.05), EdgeAdjustment(a, c, "hebbian", -0.05)) == (0, 1)
    assert [edge.weight for edge in edges(store)] == [0.0]


def test_what_a_user_made_is_never_weakened(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    made = Edge(a, b, "supports", 0.5, 0.5, (), "user")
    store.write(Change(now=NOW, edges=(EdgeWrite(made),)), {})
    assert taught(store, EdgeAdjustment(a, b, "supports", -0.05)) == (0, 0)
    assert edges(store) == [made]
    assert taught(store, EdgeAdjustment(a, b, "supports", 0.05)) == (0, 1)


def test_of_two_directed_edges_the_one_that_leads_there_learns(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    both = tuple(EdgeWrite(Edge(one, other, "causes", 0.5)) for one, other in ((a, b), (b, a)))
    store.write(Change(now=NOW, edges=both), {})
    taught(store, EdgeAdjustment(b, a, "causes", 0.05))
    assert {(edge.source, edge.target): round(edge.weight or 0, 2) for edge in edges(store)} == {
        (a, b): 0.5,
        (b, a): 0.55,
    }


def test_no_lesson_crosses_scopes_or_outlives_a_fact(store: Store, ids: list[str]) -> None:
    assert taught(
        store, EdgeAdjustment(ids[0], ids[6], "hebbian", 0.05), EdgeAdjustment(ids[0], "unknown", "hebbian", 0.05)
    ) == (0, 0)


def test_an_ended_hebbian_edge_begins_anew(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    for _ in range(3):
        taught(store, EdgeAdjustment(a, b, "hebbian", 0.05))
    store.write(Change(now=NOW, ended=tuple(edges(store))), {})
    assert taught(store, EdgeAdjustment(a, b, "hebbian", 0.05)) == (1, 0)
    assert [edge.weight for edge in edges(store)] == [0.05]


def test_uses_add_up_and_go_with_their_fact(store: Store, ids: list[str]) -> None:
    for use in (FeedbackCounts(helped=1), FeedbackCounts(helped=1), FeedbackCounts(hurt=1)):
        store.write(Change(now=NOW, uses={ids[0]: use, "unknown": use}), {})
    assert store.fetch_feedback_counts([*ids, "unknown"]) == {ids[0]: FeedbackCounts(2, 1)}
    store.write(Change(now=NOW, removals=(ids[0],)), {})
    assert store.fetch_feedback_counts(ids) == {}


def shown(id: str, *ids: str, hours: float = 0.0, session: str | None = None) -> LoggedRecall:
    return LoggedRecall(id, NOW + hours * HOUR, session, ids)


def flushed(store: Store) -> None:
    """A writing takes the log along."""
    store.write(Change(now=NOW), {})


def test_what_was_shown_is_found_by_the_id_of_the_recall(store: Store, ids: list[str]) -> None:
    told = replace(shown("r1", *ids[:3], session="s"), ways={ids[1]: (PathEdge(ids[0], ids[1], "hebbian"),)})
    store.log_recall(told, EARNED)
    assert store.read_recall("r1") == told
    flushed(store)
    assert store.read_recall("r1") == told
    assert store.read_recall("r2") is None


def test_what_is_forgotten_is_gone_from_the_log(store: Store, ids: list[str]) -> None:
    ways = {ids[1]: (PathEdge(ids[0], ids[1], "hebbian"),), ids[2]: (PathEdge(ids[1], ids[2], "supports"),)}
    store.log_recall(replace(shown("r", *ids[:3]), ways=ways), EARNED)
    flushed(store)
    store.write(Change(now=NOW, removals=(ids[0],)), {})
    assert store.read_recall("r") == replace(shown("r", *ids[1:3]), ways={ids[2]: ways[ids[2]]})


def test_the_log_keeps_the_newest(store: Store, ids: list[str]) -> None:
    for number in range(5):
        store.log_recall(shown(f"r{number}", ids[0]), replace(EARNED, most=3))
    flushed(store)
    assert [store.read_recall(f"r{number}") is not None for number in range(5)] == [False, False, True, True, True]


def test_a_pair_shown_in_three_sessions_earns_an_edge(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    for number, session in enumerate(["one", "one", "two"]):
        store.log_recall(shown(f"r{number}", a, b, session=session), EARNED)
        flushed(store)
        assert edges(store) == []
    store.log_recall(shown("r", b, a, session="three"), EARNED)
    flushed(store)
    assert edges(store) == [Edge(a, b, "hebbian", 0.05, None, ("db",), "use")]


def test_without_names_a_pause_ends_a_session(store: Store, ids: list[str]) -> None:
    for number, hours in enumerate([0.0, 0.4, 2.0, 2.1, 4.0]):
        assert edges(store) == []
        store.log_recall(shown(f"r{number}", *ids[:2], hours=hours), EARNED)
        flushed(store)
    assert len(edges(store)) == 1


def test_only_the_first_places_count_as_exposure(store: Store, ids: list[str]) -> None:
    for session in ("one", "two", "three"):
        store.log_recall(shown(session, *ids[:6], session=session), EARNED)
    flushed(store)
    assert len(edges(store)) == 10
    assert all(ids[5] not in (edge.source, edge.target) for edge in edges(store))


def test_by_the_documented_rule_every_recall_strengthens(store: Store, ids: list[str]) -> None:
    for number in range(2):
        store.log_recall(shown(f"r{number}", *ids[:3]), replace(EARNED, rule="documented"))
    assert [edge.weight for edge in edges(store)] == pytest.approx([0.1] * 3)


def test_the_rule_off_teaches_nothing(store: Store, ids: list[str]) -> None:
    for session in ("one", "two", "three"):
        store.log_recall(shown(session, *ids[:2], session=session), replace(EARNED, rule="off"))
    flushed(store)
    assert edges(store) == []


def test_logging_is_no_change_that_others_would_have_to_follow(tmp_path: Path) -> None:
    store = sqlite_store(tmp_path)
    pen = Pen(store)
    new = pen.new("tea")
    store.write(Change(now=NOW, facts=(new,)), {})
    before = version(store)
    store.log_recall(shown("r", new.fact.id), EARNED)
    store.close()
    again = sqlite_store(tmp_path)
    assert again.read_recall("r") == shown("r", new.fact.id)
    assert version(again) == before
    again.close()


def test_many_recalls_are_logged_before_the_store_is_closed(tmp_path: Path) -> None:
    store, onlooker = sqlite_store(tmp_path), sqlite_store(tmp_path)
    new = Pen(store).new("tea")
    store.write(Change(now=NOW, facts=(new,)), {})
    for number in range(300):
        store.log_recall(shown(f"r{number}", new.fact.id), replace(EARNED, most=1_000))
    assert onlooker.read_recall("r0") is not None
    assert onlooker.read_recall("r299") is None
    store.close()
    assert onlooker.read_recall("r299") is not None
    onlooker.close()


def test_a_recall_does_not_wait_for_somebody_who_writes(tmp_path: Path) -> None:
    store, other = sqlite_store(tmp_path), sqlite_store(tmp_path)
    new = Pen(store).new("tea")
    store.write(Change(now=NOW, facts=(new,)), {})
    with other._writing():
        for number in range(300):
            store.log_recall(shown(f"r{number}", new.fact.id), replace(EARNED, most=1_000))
        assert store.read_recall("r0") is not None
    store.close()
    assert other.read_recall("r0") is not None
    other.close()


def version(store: Store) -> int:
    with store._reading() as connection:  # type: ignore[attr-defined]
        found: int = connection.execute("SELECT version FROM state").get
        return found


def rated(store: Store, ids: list[str]) -> None:
    told = [FactImportance(id, 0.1 * place, place // 4) for place, id in enumerate(ids[:6])]
    store.write(Change(now=NOW, importance=(*told, FactImportance(ids[6], 0.5, 0))), {})


def test_groups_are_the_communities_with_their_most_central_facts(store: Store, ids: list[str]) -> None:
    rated(store, ids)
    assert store.list_communities(None, 10, 2) == [
        CommunityMembers("a", 0, 4, (ids[3], ids[2])),
        CommunityMembers("a", 1, 2, (ids[5], ids[4])),
        CommunityMembers("b", 0, 1, (ids[6],)),
    ]
    assert store.list_communities(["b", "nowhere"], 10, 2) == [CommunityMembers("b", 0, 1, (ids[6],))]
    assert [group.number for group in store.list_communities(["a"], 1, 0)] == [0]


def test_a_filter_by_community_holds_for_every_way_to_search(store: Store, ids: list[str]) -> None:
    rated(store, ids)
    where = everywhere(community=1)
    assert {fact.id for fact in store.list_facts(where, 10, None)} == set(ids[4:6])
    assert set(store.search_words(cue("tea"), 10, where)) == set(ids[4:6])
    assert store.filter_visible(ids, where) == ids[4:6]
    assert store.list_facts(everywhere(community=7), 10, None) == []


def test_a_fact_follows_its_community_at_the_next_dream(store: Store, ids: list[str]) -> None:
    rated(store, ids)
    assert store.filter_visible(ids, everywhere(community=5)) == []
    store.write(Change(now=NOW, importance=(FactImportance(ids[0], 0.5, 5),)), {})
    assert store.filter_visible(ids, everywhere(community=5)) == [ids[0]]


def judged(store: Store, ids: list[str], id: str, *, first: str, helped: str = "", hurt: str = "") -> None:
    """A judged recall; its facts are named by their places among the ids."""
    sets = [frozenset(ids[int(place)] for place in places) for places in (first, helped, hurt)]
    store.write(Change(now=NOW, occasions=(JudgedRecall(id, *sets),)), {})


def test_occasions_are_found_by_two_of_their_first_facts_the_likest_and_newest_first(
    store: Store, ids: list[str]
) -> None:
    judged(store, ids, "one", first="012", helped="3")
    judged(store, ids, "two", first="01", hurt="1")
    judged(store, ids, "three", first="045", helped="4")
    found = store.find_judged_recalls([ids[0], ids[1], ids[2]], 10)
    assert [one.id for one in found] == ["one", "two"]
    assert found[0] == JudgedRecall("one", frozenset(ids[:3]), frozenset([ids[3]]))
    assert found[1].hurt == {ids[1]}
    assert [one.id for one in store.find_judged_recalls([ids[0], ids[1]], 1)] == ["two"]
    assert store.find_judged_recalls([], 10) == []


def test_what_is_said_again_of_an_occasion_adds_to_what_was_said(store: Store, ids: list[str]) -> None:
    judged(store, ids, "one", first="01", helped="0", hurt="1")
    judged(store, ids, "one", first="01", helped="1")
    assert store.find_judged_recalls(ids, 10) == [JudgedRecall("one", frozenset(ids[:2]), frozenset(ids[:2]))]


def test_what_is_forgotten_is_gone_from_occasions(store: Store, ids: list[str]) -> None:
    judged(store, ids, "one", first="012", helped="2")
    store.write(Change(now=NOW, removals=(ids[2],)), {})
    assert store.find_judged_recalls(ids, 10) == [JudgedRecall("one", frozenset(ids[:2]))]


def test_a_recall_is_use_and_lets_the_clock_of_active_hours_run(store: Store, ids: list[str]) -> None:
    store.write(Change(now=NOW, idle_minutes=30.0), {})
    for hours in (0.25, 0.5, 5.0, 5.4):
        store.log_recall(shown(f"r{hours}", ids[0], hours=hours), EARNED)
    store.write(Change(now=NOW), {})
    assert store.fetch_profiles([]).active_hours == pytest.approx(0.5 + 0.4)


def test_an_edge_tells_how_often_and_when_use_strengthened_it(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    later = NOW + HOUR
    taught(store, EdgeAdjustment(a, b, "hebbian", 0.05))
    store.write(Change(now=later, lessons=(EdgeAdjustment(a, b, "hebbian", 0.05),)), {})
    store.write(Change(now=later + HOUR, lessons=(EdgeAdjustment(a, b, "hebbian", -0.05),)), {})
    [edge] = edges(store)
    assert (edge.co_access_count, edge.strengthened) == (2, later)
    [link] = [link for link in store.list_links(a, 100) if link.kind == "hebbian"]
    assert (link.co_access_count, link.strengthened) == (2, later)


def test_an_edge_written_with_its_counts_keeps_them(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    counted = Edge(a, b, "auto_link", 0.5, co_access_count=4, strengthened=NOW - HOUR)
    for plain_first in (True, False):
        if plain_first:
            store.write(Change(now=NOW, edges=(EdgeWrite(Edge(a, b, "auto_link", 0.5)),)), {})
        store.write(Change(now=NOW, edges=(EdgeWrite(counted, "update"),)), {})
        [edge] = edges(store)
        assert (edge.co_access_count, edge.strengthened) == (4, NOW - HOUR)


def test_as_of_a_moment_only_the_edges_of_then_conduct(store: Store, ids: list[str]) -> None:
    a, b, c, d = ids[:4]
    made = {at: Edge(a, other, "supports", 0.5) for at, other in ((1, b), (2, c), (4, d))}
    for at, edge in made.items():
        store.write(Change(now=NOW + at * HOUR, edges=(EdgeWrite(edge),)), {})
    store.write(Change(now=NOW + 3 * HOUR, ended=(made[1],)), {})

    def reached(hours: float) -> set[str]:
        where = everywhere(now=NOW + 9 * HOUR, as_of=NOW + hours * HOUR)
        found = store.expand_links([a], ExpansionOptions(where, None, 0.0, 10, names=False))
        return {found.ids[row] for row in found.target}

    assert [reached(hours) for hours in (0.5, 1, 2.5, 3, 5)] == [set(), {b}, {b, c}, {c}, {c, d}]


def lived(store: Store, pen: Pen, days: list[tuple[set[int], set[int]]]) -> list[str]:
    """Six facts, recalled in a session a day and judged."""
    news = tuple(pen.new(f"tea {number}") for number in range(6))
    store.write(Change(now=NOW, facts=news), {})
    ids = [new.fact.id for new in news]
    for day, (places, helped) in enumerate(days):
        seen, good = tuple(ids[one] for one in sorted(places)), [ids[one] for one in sorted(places & helped)]
        at = NOW + day * timedelta(days=1)
        ways = {id: (PathEdge(min(id, ids[0]), max(id, ids[0]), "hebbian"),) for id in seen if id != ids[0]}
        store.log_recall(LoggedRecall(f"r{day}", at, f"day {day}", seen, ways), EARNED)
        lessons = tuple(
            EdgeAdjustment(min(id, ids[0]), max(id, ids[0]), "hebbian", 0.05) for id in good if id != ids[0]
        )
        occasion = JudgedRecall(f"r{day}", frozenset(seen), frozenset(good))
        uses = {id: FeedbackCounts(helped=1) for id in good}
        store.write(Change(now=at, lessons=lessons, uses=uses, occasions=(occasion,)), {})
    return ids


def taught_so_far(store: Store, ids: list[str], days: int) -> object:
    """All that use has left, once every pair was shown in one more session: those that lacked one earn an edge by it."""
    store.log_recall(LoggedRecall("last", NOW + timedelta(days=99), "last", tuple(ids[:5]), {}), EARNED)
    flushed(store)
    lives = [(edge, edge.co_access_count, edge.strengthened) for edge in edges(store)]
    logged = [store.read_recall(f"r{day}") for day in range(days)]
    return lives, store.fetch_feedback_counts(ids), store.find_judged_recalls(ids, 100), logged


subsets = some.sets(some.integers(0, 5), max_size=5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["reference", "sqlite"])
@given(days=some.lists(some.tuples(subsets, subsets), max_size=4), doomed=some.sets(some.integers(0, 5), min_size=1))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_undone_forgetting_leaves_what_use_taught_as_it_was(
    kind: str, days: list[tuple[set[int], set[int]]], doomed: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    one, other = (STORES[kind](tmp_path_factory.mktemp("taught")) for _ in range(2))
    with closing(one), closing(other):
        ids, same = lived(one, Pen(one), days), lived(other, Pen(other), days)
        assert ids == same
        taken = one.write(Change(now=NOW, removals=tuple(ids[number] for number in sorted(doomed))), {}).taken
        one.write(Change(now=NOW, put_back=taken), {})
        assert taught_so_far(one, ids, len(days)) == taught_so_far(other, ids, len(days))
