"""Upgrading: a database that an older cofire wrote is brought up to date when it is opened, once, and answers as it should."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import neo4j
import pytest

from cofire.memory import Memory
from cofire.stores.metadata_filter import parse_conditions
from cofire.stores.neo4j import schema
from cofire.stores.neo4j.connection import parse_address
from cofire.stores.neo4j.store import Neo4jStore
from tests.neo4j_server import IN_TURN, OPTIONS, empty_store, queries_sent
from tests.stores.making import Pen, cue, everywhere, holding

pytestmark = IN_TURN

# What the first schema did not have.
OLDEN = """
MATCH (s:Store) SET s.schema = 1 WITH count(*) AS stores
MATCH (n:Name) REMOVE n.held WITH count(*) AS names
MATCH (c:WordCount) REMOVE c.stale
"""


@pytest.fixture
def olden(neo4j_url: str) -> str:
    """The URL of a server whose schema is the first one, with two facts that hold a name, one of them twice over."""
    with closing(empty_store()) as store:
        pen = Pen(store)
        pen.write(holding(pen.new("one"), {"ana": (0,)}, {"ana": 0.9}), holding(pen.new("two"), {"ana": (0,)}, {}))
        pen.recount("default")
    where = parse_address(neo4j_url, None)
    with neo4j.GraphDatabase.driver(where.url, auth=where.auth) as driver:
        driver.execute_query(OLDEN)
    return neo4j_url


def test_names_know_who_holds_them(olden: str) -> None:
    with closing(Neo4jStore.open(olden, OPTIONS)) as store:
        assert store.fetch_name_links([f"{1:026}"], everywhere(), 10, 10).count.tolist() == [2]
        assert store.check() == []


def test_words_behind_elisions_are_found(neo4j_url: str) -> None:
    with closing(empty_store()) as store:
        pen = Pen(store)
        pen.write(replace(pen.new("L'école ferme à midi."), counts={"lecol": 1, "ferm": 1, "midi": 1}))
        pen.recount("default")
    where = parse_address(neo4j_url, None)
    with neo4j.GraphDatabase.driver(where.url, auth=where.auth) as driver:
        driver.execute_query("MATCH (s:Store) SET s.schema = 2")
    with Memory(neo4j_url, embedder=None) as memory:
        assert [hit.text for hit in memory.recall("ÉCOLE")] == ["L'école ferme à midi."]
        assert memory.check() == []


def test_metadata_can_be_filtered(neo4j_url: str) -> None:
    with closing(empty_store()) as store:
        pen = Pen(store)
        pen.tell("tea one", metadata={"project": "x", "priority": 4})
        pen.tell("tea two", metadata={"project": "y"})
        pen.tell("tea three")
    where = parse_address(neo4j_url, None)
    with neo4j.GraphDatabase.driver(where.url, auth=where.auth) as driver:
        driver.execute_query(
            "MATCH (s:Store) SET s.schema = 3 WITH s MATCH (f:Fact) SET f.marks = '' REMOVE f.metadata_values"
        )
    with closing(Neo4jStore.open(neo4j_url, OPTIONS)) as store:
        for wanted in ({"project": "x"}, {"priority": {"gt": 3}}, {"project": {"exists": True, "ne": "y"}}):
            allowed = everywhere(metadata=parse_conditions(wanted))
            assert [fact.text for fact in store.list_facts(allowed, 10, None)] == ["tea one"]
            assert store.search_words(cue("tea"), 10, allowed) == [f"{1:026}"]


def test_it_is_done_once(olden: str) -> None:
    Neo4jStore.open(olden, OPTIONS).close()
    with queries_sent() as sent, closing(Neo4jStore.open(olden, OPTIONS)):
        assert len(sent) == 1


def test_a_new_database_needs_none() -> None:
    assert schema.list_upgrade_statements(0) == schema.list_upgrade_statements(schema.SCHEMA_VERSION) == []
