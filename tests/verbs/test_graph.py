"""The graph as a picture, on every store: what is drawn, around what, and when clusters stand for facts."""

from __future__ import annotations

import pytest

from cofire import Memory
from cofire.errors import InvalidQuestion, NotFound

POOL, REACH, TEA = (
    "PgBouncer runs in transaction mode.",
    "Serverless functions reach PostgreSQL through PgBouncer.",
    "Tea is at four.",
)


def test_every_fact_is_a_node_and_a_shared_name_an_edge(wordy: Memory) -> None:
    pool, reach, tea = wordy.remember([POOL, REACH, TEA])
    drawn = wordy.graph()
    assert {node.fact.id: node.degree for node in drawn.nodes} == {pool: 1, reach: 1, tea: 0}
    [line] = drawn.lines
    assert ({line.source, line.target}, line.kind) == ({pool, reach}, "about")
    assert (drawn.clusters, drawn.total) == ((), 3)


def test_a_pair_that_has_an_edge_is_not_drawn_again_for_its_name(wordy: Memory) -> None:
    pool, reach = wordy.remember([POOL, REACH])
    wordy.connect(pool, reach, kind="supports", weight=0.5)
    assert [line.kind for line in wordy.graph().lines] == ["supports"]
    assert [line.kind for line in wordy.graph(kind="supports").lines] == ["supports"]
    assert wordy.graph(kind="about").lines == ()


def test_archived_facts_are_drawn_too(wordy: Memory) -> None:
    [tea] = wordy.remember([TEA])
    wordy.archive(tea)
    assert [node.fact.archived for node in wordy.graph().nodes] == [True]


def test_a_scope_can_be_drawn_alone(wordy: Memory) -> None:
    wordy.remember([POOL, REACH])
    [tea] = wordy.remember([TEA], scope="home")
    assert [node.fact.id for node in wordy.graph(scope="home").nodes] == [tea]
    assert wordy.graph(scope="elsewhere").total == 0


def test_importance_comes_with_a_dream(wordy: Memory) -> None:
    wordy.remember([POOL, REACH, TEA])
    assert {node.importance for node in wordy.graph().nodes} == {None}
    wordy.dream()
    assert len({node.importance.community for node in wordy.graph().nodes if node.importance}) == 2


def test_above_the_limit_communities_stand_for_facts_and_their_links_are_summed(wordy: Memory) -> None:
    pool, reach, tea = wordy.remember([POOL, REACH, TEA])
    wordy.dream()
    wordy.connect(pool, tea, kind="supports", weight=0.25, confidence=1.0)
    wordy.connect(reach, tea, kind="supports", weight=0.5, confidence=1.0)
    drawn = wordy.graph(limit=2)
    assert (drawn.nodes, drawn.total, sorted(cluster.size for cluster in drawn.clusters)) == ((), 3, [1, 2])
    [line] = drawn.lines
    assert (line.kind, line.weight) == ("between", 1.5)
    assert {line.source, line.target} == {cluster.id for cluster in drawn.clusters}


@pytest.mark.parametrize("dreamt", [True, False])
@pytest.mark.parametrize("archived", [1, 8])
def test_clusters_stand_for_archived_facts_too(wordy: Memory, dreamt: bool, archived: int) -> None:
    ids = wordy.remember([f"PgBouncer pool {number} runs in transaction mode." for number in range(8)])
    if dreamt:
        wordy.dream()
    wordy.archive(ids[:archived])
    drawn = wordy.graph(limit=3)
    assert len(wordy.graph().nodes) == drawn.total == sum(cluster.size for cluster in drawn.clusters) == 8


def test_a_community_is_drawn_alone_whatever_the_limit(wordy: Memory) -> None:
    pool, reach, tea = wordy.remember([POOL, REACH, TEA])
    wordy.dream()
    wordy.connect(pool, tea, kind="supports", weight=0.25)
    [largest, *_] = wordy.graph(limit=2).clusters
    drawn = wordy.graph(community=largest.community, limit=2)
    assert {node.fact.id for node in drawn.nodes} == {pool, reach}
    assert [line.kind for line in drawn.lines] == ["about"]
    assert (drawn.clusters, drawn.total) == ((), 2)


def test_an_edge_to_an_archived_fact_hides_no_shared_name(wordy: Memory) -> None:
    pool, reach, tea = wordy.remember([POOL, REACH, TEA])
    wordy.connect(pool, tea, kind="supports", weight=0.5)
    wordy.connect(reach, tea, kind="supports", weight=0.5)
    wordy.archive(tea)
    assert sorted(line.kind for line in wordy.graph().lines) == ["about", "supports", "supports"]


def test_facts_around_one_are_reached_step_by_step(wordy: Memory) -> None:
    pool, reach, tea = wordy.remember([POOL, REACH, TEA])
    wordy.connect(reach, tea, kind="supports", weight=0.5)
    assert {node.fact.id for node in wordy.graph(pool).nodes} == {pool, reach}
    far = wordy.graph([pool], depth=2)
    assert {node.fact.id for node in far.nodes} == {pool, reach, tea}
    assert {line.kind for line in far.lines} == {"about", "supports"}
    assert {node.fact.id for node in wordy.graph(pool, depth=2, limit=2).nodes} == {pool, reach}


def test_facts_that_contradict_each_other_are_drawn_where_both_are_near(wordy: Memory) -> None:
    pool, reach = wordy.remember([POOL, REACH])
    wordy.connect(pool, reach, kind="contradicts")
    assert "contradicts" in {line.kind for line in wordy.graph(pool).lines}


def test_an_unknown_fact_has_no_surroundings(wordy: Memory) -> None:
    with pytest.raises(NotFound, match="No fact has the id"):
        wordy.graph("01M7GRXZ72ER9HC7SM0EVVJFVW")


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"depth": 0}, {"depth": 11}])
def test_limits_have_bounds(wordy: Memory, wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidQuestion, match="cannot be"):
        wordy.graph(**wrong)
