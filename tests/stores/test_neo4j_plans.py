"""How the server goes about the queries of a recall: every one begins at an index, none looks through all nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from cofire.dynamics.context import Context
from cofire.model import Where
from cofire.stores.base import Conducting
from cofire.stores.neo4j import counting, expanding, facts, names, recalling, searching, weighing
from cofire.stores.neo4j.connecting import address
from cofire.stores.neo4j.querying import Querying
from tests.neo4j_server import empty_store
from tests.stores.making import DAY, NOW, asked, cue

pytestmark = pytest.mark.xdist_group("neo4j")

SOME = Where(now=NOW, scopes=("a", "b"), tags=frozenset({"x"}), since=NOW - DAY)
LENDING = replace(cue("tea", "pot"), context=Context(0.5, 0.3, 0.5, 2, 3), lent=(True, True))
READINGS: dict[str, Callable[[], Querying[Any]]] = {
    "read": lambda: facts.read(["x"]),
    "recognise": lambda: facts.recognise([b"x"]),
    "record": lambda: facts.record("model"),
    "scan": lambda: facts.scan(SOME, 10, None),
    "nearest": lambda: searching.nearest(asked(1, 1, 1, 1), 5, SOME, 10),
    "matching": lambda: searching.matching(LENDING, 5, SOME),
    "statistics": lambda: counting.statistics(counting.Counts(), ["a"], ["tea"]),
    "timely": lambda: recalling.timely([(NOW, NOW)], 5, SOME),
    "admitted": lambda: recalling.admitted(["x"], SOME),
    "voices": lambda: recalling.voices(["a"], ["ana"]),
    "known": lambda: names.known(["ana"], SOME, 5),
    "paths": lambda: names.paths(["x"], SOME, 5, 5),
    "weigh": lambda: weighing.weigh(["x"], ["tea"], 2, 1),
    "places": lambda: weighing.places(["x"], ["tea"]),
    "expand": lambda: expanding.expand(["x"], Conducting(SOME, None, 0.0, 10)),
}
LOOKS_THROUGH_ALL = {
    "AllNodesScan",
    "NodeByLabelScan",
    "UndirectedAllRelationshipsScan",
    "DirectedAllRelationshipsScan",
}


@pytest.fixture(scope="module")
def driver(neo4j_url: str) -> Iterator[neo4j.Driver]:
    empty_store().close()
    where = address(neo4j_url, None)
    with neo4j.GraphDatabase.driver(where.url, auth=where.auth, notifications_min_severity="OFF") as opened:
        yield opened


def operators(plan: Any) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", []):
        yield from operators(child)


@pytest.mark.parametrize("name", READINGS)
def test_a_recall_looks_through_nothing(driver: neo4j.Driver, name: str) -> None:
    query = next(READINGS[name]())
    explained: Any = f"EXPLAIN {query.text}"
    summary = driver.execute_query(explained, dict(query.parameters)).summary
    assert LOOKS_THROUGH_ALL.isdisjoint(operators(summary.plan))


def test_a_query_that_looks_through_all_is_noticed(driver: neo4j.Driver) -> None:
    summary = driver.execute_query("EXPLAIN MATCH (n) RETURN n").summary
    assert not LOOKS_THROUGH_ALL.isdisjoint(operators(summary.plan))
