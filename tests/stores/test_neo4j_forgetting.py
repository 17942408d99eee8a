"""Forgetting on a server: nothing is left of a fact in any node or relationship, and undo brings back exactly what was there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cofire import Memory
from cofire.errors import InvalidInput
from cofire.stores.neo4j.store import Neo4jStore
from tests.conftest import Clock, HashedWords
from tests.neo4j_server import IN_TURN, empty_store
from tests.stores.neo4j_content import content
from tests.stores.test_nothing_is_left import SECRET, told

pytestmark = IN_TURN

TRACES = (SECRET, SECRET.lower(), "Xochiquetzal", "xochiquetzal", "nahuatl", "Nahuatl")


@pytest.fixture
def store(neo4j_url: str) -> Iterator[Neo4jStore]:
    with closing(empty_store()) as opened:
        yield opened


@pytest.fixture
def memory(store: Neo4jStore) -> Memory:
    return Memory(store, embedder=HashedWords(), clock=Clock(), settings={"auto_link.threshold": 0.2})


def traces(url: str, *words: str) -> list[str]:
    return [one for one in content(url) if any(word in one for word in words)]


def test_no_node_and_no_relationship_holds_anything_of_it(memory: Memory, store: Neo4jStore, neo4j_url: str) -> None:
    id = told(memory)
    memory.feedback(memory.recall("Who drinks cocoa?").id, helped=[id])
    assert traces(neo4j_url, *TRACES)
    memory.forget(id)
    assert traces(neo4j_url, *TRACES, id) == []
    memory.recall("Who drinks cocoa?")
    memory.dream()
    assert traces(neo4j_url, *TRACES, id) == []


def test_undo_leaves_the_server_as_it_was(memory: Memory, store: Neo4jStore, neo4j_url: str) -> None:
    id = told(memory)
    memory.feedback(memory.recall("Who drinks cocoa?").id, helped=[id])
    memory.update(id, tags=["nahuatl", "noon"])
    before = lasting(neo4j_url)
    receipt = memory.forget(id).receipt
    assert lasting(neo4j_url) != before
    assert receipt is not None
    memory.undo(receipt.id)
    assert lasting(neo4j_url) == before


def test_a_receipt_of_a_file_is_refused(memory: Memory, store: Neo4jStore, tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=None, clock=Clock()) as file:
        receipt = file.forget(file.remember("Tea at four.")).receipt
    assert receipt is not None
    with pytest.raises(InvalidInput, match="a store of another kind"):
        memory.undo(receipt.path)


def lasting(url: str) -> list[str]:
    """All but what a look at the memory, a count or a change as such changes."""
    passing = ("['Span']", "['WordCount']", "['Record']", "['Scope']")
    return [one for one in content(url) if not one.startswith(passing)]
