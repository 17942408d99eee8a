"""What every store learns by use: lessons about edges, how facts fared, the log of what was shown, and communities."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cofire.learned import Group, Keeping, Lesson, Shown, Use, Way
from cofire.model import Change, Edge, Importance, NewEdge
from cofire.stores.base import EdgeFilter, Store
from tests.conftest import sqlite_store
from tests.stores.making import NOW, Pen, cue, everywhere

EARNED = Keeping(most=100, rule="earned", idle_minutes=30.0)
HOUR = timedelta(hours=1)


@pytest.fixture
def ids(store: Store, pen: Pen) -> list[str]:
    news = [pen.new(f"tea {number}", scope="a", tags=("db",)) for number in range(6)]
    news.append(pen.new("tea elsewhere", scope="b"))
    store.write(Change(now=NOW, facts=tuple(news)), {})
    return [new.fact.id for new in news]


def edges(store: Store) -> list[Edge]:
    return store.edges(EdgeFilter(), 100)


def taught(store: Store, *lessons: Lesson) -> tuple[int, int]:
    counts = store.write(Change(now=NOW, lessons=lessons), {}).edges
    return counts.new, counts.changed


def test_a_hebbian_edge_is_made_once_and_then_grows(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    assert taught(store, Lesson(b, a, "hebbian", 0.05)) == (1, 0)
    assert taught(store, Lesson(a, b, "hebbian", 0.05)) == (0, 1)
    assert edges(store) == [Edge(a, b, "hebbian", 0.1, None, ("db",), "use")]


def test_an_edge_of_another_kind_is_changed_and_never_made(store: Store, ids: list[str]) -> None:
    a, b, c = ids[:3]
    store.write(Change(now=NOW, edges=(NewEdge(Edge(b, a, "auto_link", 0.5, 0.5)),)), {})
    assert taught(store, Lesson(a, b, "auto_link", 0.05), Lesson(a, c, "auto_link", 0.05)) == (0, 1)
    [edge] = edges(store)
    assert (edge.weight, edge.confidence) == pytest.approx((0.55, 0.55))


def test_harm_weakens_what_is_there_and_makes_nothing(store: Store, ids: list[str]) -> None:
    a, b, c = ids[:3]
    taught(store, Lesson(a, b, "hebbian", 0.05))
    assert taught(store, Lesson(a, b, "hebbian", -0.05), Lesson(a, c, "hebbian", -0.05)) == (0, 1)
    assert [edge.weight for edge in edges(store)] == [0.0]


def test_what_a_user_made_is_never_weakened(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    made = Edge(a, b, "supports", 0.5, 0.5, (), "user")
    store.write(Change(now=NOW, edges=(NewEdge(made),)), {})
    assert taught(store, Lesson(a, b, "supports", -0.05)) == (0, 0)
    assert edges(store) == [made]
    assert taught(store, Lesson(a, b, "supports", 0.05)) == (0, 1)


def test_of_two_directed_edges_the_one_that_leads_there_learns(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    both = tuple(NewEdge(Edge(one, other, "causes", 0.5)) for one, other in ((a, b), (b, a)))
    store.write(Change(now=NOW, edges=both), {})
    taught(store, Lesson(b, a, "causes", 0.05))
    assert {(edge.source, edge.target): round(edge.weight or 0, 2) for edge in edges(store)} == {
        (a, b): 0.5,
        (b, a): 0.55,
    }


def test_no_lesson_crosses_scopes_or_outlives_a_fact(store: Store, ids: list[str]) -> None:
    assert taught(store, Lesson(ids[0], ids[6], "hebbian", 0.05), Lesson(ids[0], "unknown", "hebbian", 0.05)) == (0, 0)


def test_an_ended_hebbian_edge_begins_anew(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    for _ in range(3):
        taught(store, Lesson(a, b, "hebbian", 0.05))
    store.write(Change(now=NOW, ended=tuple(edges(store))), {})
    assert taught(store, Lesson(a, b, "hebbian", 0.05)) == (1, 0)
    assert [edge.weight for edge in edges(store)] == [0.05]


def test_uses_add_up_and_go_with_their_fact(store: Store, ids: list[str]) -> None:
    for use in (Use(helped=1), Use(helped=1), Use(hurt=1)):
        store.write(Change(now=NOW, uses={ids[0]: use, "unknown": use}), {})
    assert store.uses([*ids, "unknown"]) == {ids[0]: Use(2, 1)}
    store.write(Change(now=NOW, removals=(ids[0],)), {})
    assert store.uses(ids) == {}


def shown(id: str, *ids: str, hours: float = 0.0, session: str | None = None) -> Shown:
    return Shown(id, NOW + hours * HOUR, session, ids)


def flushed(store: Store) -> None:
    """A writing takes the log along."""
    store.write(Change(now=NOW), {})


def test_what_was_shown_is_found_by_the_id_of_the_recall(store: Store, ids: list[str]) -> None:
    told = replace(shown("r1", *ids[:3], session="s"), ways={ids[1]: (Way(ids[0], ids[1], "hebbian"),)})
    store.log(told, EARNED)
    assert store.shown("r1") == told
    flushed(store)
    assert store.shown("r1") == told
    assert store.shown("r2") is None


def test_what_is_forgotten_is_gone_from_the_log(store: Store, ids: list[str]) -> None:
    ways = {ids[1]: (Way(ids[0], ids[1], "hebbian"),), ids[2]: (Way(ids[1], ids[2], "supports"),)}
    store.log(replace(shown("r", *ids[:3]), ways=ways), EARNED)
    flushed(store)
    store.write(Change(now=NOW, removals=(ids[0],)), {})
    assert store.shown("r") == replace(shown("r", *ids[1:3]), ways={ids[2]: ways[ids[2]]})


def test_the_log_keeps_the_newest(store: Store, ids: list[str]) -> None:
    for number in range(5):
        store.log(shown(f"r{number}", ids[0]), replace(EARNED, most=3))
    flushed(store)
    assert [store.shown(f"r{number}") is not None for number in range(5)] == [False, False, True, True, True]


def test_a_pair_shown_in_three_sessions_earns_an_edge(store: Store, ids: list[str]) -> None:
    a, b = ids[:2]
    for number, session in enumerate(["one", "one", "two"]):
        store.log(shown(f"r{number}", a, b, session=session), EARNED)
        flushed(store)
        assert edges(store) == []
    store.log(shown("r", b, a, session="three"), EARNED)
    flushed(store)
    assert edges(store) == [Edge(a, b, "hebbian", 0.05, None, ("db",), "use")]


def test_without_names_a_pause_ends_a_session(store: Store, ids: list[str]) -> None:
    for number, hours in enumerate([0.0, 0.4, 2.0, 2.1, 4.0]):
        assert edges(store) == []
        store.log(shown(f"r{number}", *ids[:2], hours=hours), EARNED)
        flushed(store)
    assert len(edges(store)) == 1


def test_only_the_first_places_count_as_exposure(store: Store, ids: list[str]) -> None:
    for session in ("one", "two", "three"):
        store.log(shown(session, *ids[:6], session=session), EARNED)
    flushed(store)
    assert len(edges(store)) == 10
    assert all(ids[5] not in (edge.source, edge.target) for edge in edges(store))


def test_by_the_documented_rule_every_recall_strengthens(store: Store, ids: list[str]) -> None:
    for number in range(2):
        store.log(shown(f"r{number}", *ids[:3]), replace(EARNED, rule="documented"))
    assert [edge.weight for edge in edges(store)] == pytest.approx([0.1] * 3)


def test_the_rule_off_teaches_nothing(store: Store, ids: list[str]) -> None:
    for session in ("one", "two", "three"):
        store.log(shown(session, *ids[:2], session=session), replace(EARNED, rule="off"))
    flushed(store)
    assert edges(store) == []


def test_logging_is_no_change_that_others_would_have_to_follow(tmp_path: Path) -> None:
    store = sqlite_store(tmp_path)
    pen = Pen(store)
    new = pen.new("tea")
    store.write(Change(now=NOW, facts=(new,)), {})
    before = version(store)
    store.log(shown("r", new.fact.id), EARNED)
    store.close()
    again = sqlite_store(tmp_path)
    assert again.shown("r") == shown("r", new.fact.id)
    assert version(again) == before
    again.close()


def test_many_recalls_are_logged_before_the_store_is_closed(tmp_path: Path) -> None:
    store, onlooker = sqlite_store(tmp_path), sqlite_store(tmp_path)
    new = Pen(store).new("tea")
    store.write(Change(now=NOW, facts=(new,)), {})
    for number in range(100):
        store.log(shown(f"r{number}", new.fact.id), EARNED)
    assert onlooker.shown("r0") is not None
    assert onlooker.shown("r99") is None
    store.close()
    assert onlooker.shown("r99") is not None
    onlooker.close()


def test_a_recall_does_not_wait_for_somebody_who_writes(tmp_path: Path) -> None:
    store, other = sqlite_store(tmp_path), sqlite_store(tmp_path)
    new = Pen(store).new("tea")
    store.write(Change(now=NOW, facts=(new,)), {})
    with other._writing():
        for number in range(100):
            store.log(shown(f"r{number}", new.fact.id), EARNED)
        assert store.shown("r0") is not None
    store.close()
    assert other.shown("r0") is not None
    other.close()


def version(store: Store) -> int:
    with store._reading() as connection:  # type: ignore[attr-defined]
        found: int = connection.execute("SELECT version FROM state").get
        return found


def rated(store: Store, ids: list[str]) -> None:
    told = [Importance(id, 0.1 * place, place // 4) for place, id in enumerate(ids[:6])]
    store.write(Change(now=NOW, importance=(*told, Importance(ids[6], 0.5, 0))), {})


def test_groups_are_the_communities_with_their_most_central_facts(store: Store, ids: list[str]) -> None:
    rated(store, ids)
    assert store.groups(None, 10, 2) == [
        Group("a", 0, 4, (ids[3], ids[2])),
        Group("a", 1, 2, (ids[5], ids[4])),
        Group("b", 0, 1, (ids[6],)),
    ]
    assert store.groups(["b", "nowhere"], 10, 2) == [Group("b", 0, 1, (ids[6],))]
    assert [group.number for group in store.groups(["a"], 1, 0)] == [0]


def test_a_filter_by_community_holds_for_every_way_to_search(store: Store, ids: list[str]) -> None:
    rated(store, ids)
    where = everywhere(community=1)
    assert {fact.id for fact in store.scan(where, 10, None)} == set(ids[4:6])
    assert set(store.matching(cue("tea"), 10, where)) == set(ids[4:6])
    assert store.admitted(ids, where) == ids[4:6]
    assert store.scan(everywhere(community=7), 10, None) == []


def test_a_fact_follows_its_community_at_the_next_dream(store: Store, ids: list[str]) -> None:
    rated(store, ids)
    assert store.admitted(ids, everywhere(community=5)) == []
    store.write(Change(now=NOW, importance=(Importance(ids[0], 0.5, 5),)), {})
    assert store.admitted(ids, everywhere(community=5)) == [ids[0]]
