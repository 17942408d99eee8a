"""Writers at once on a server: none of what several say of the same facts is lost."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from cofire.model import Change, Edge, EdgeWrite, NameMention
from cofire.stores.base import EdgeFilter
from cofire.stores.learning_rows import EdgeAdjustment, FeedbackCounts
from cofire.stores.neo4j.store import Neo4jStore
from tests.neo4j_server import IN_TURN, empty_store
from tests.stores.making import NOW, Pen

pytestmark = IN_TURN

WRITERS = 6


@pytest.fixture
def store(neo4j_url: str) -> Iterator[Neo4jStore]:
    with closing(empty_store()) as opened:
        yield opened


def write_at_once(store: Neo4jStore, *changes: Change) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda change: store.write(change, {}), changes))


def test_every_lesson_and_use_counts(store: Neo4jStore) -> None:
    pen = Pen(store)
    a, b = pen.tell("Tea at four."), pen.tell("A pot of tea.")
    pen.write(edges=(EdgeWrite(Edge(a, b, "similar", 0.1, 0.1)),))
    taught = Change(now=NOW, lessons=(EdgeAdjustment(b, a, "similar", 0.05),), uses={a: FeedbackCounts(helped=1)})
    write_at_once(store, *[taught] * WRITERS)
    [edge] = store.list_edges(EdgeFilter(ids=frozenset([a])), 10)
    assert (edge.weight, edge.co_access_count) == (pytest.approx(0.1 + WRITERS * 0.05), WRITERS)
    assert store.fetch_feedback_counts([a]) == {a: FeedbackCounts(helped=WRITERS)}


def test_an_edge_that_all_make_is_one(store: Neo4jStore) -> None:
    pen = Pen(store)
    a, b = pen.tell("Tea at four."), pen.tell("A pot of tea.")
    write_at_once(store, *[Change(now=NOW, edges=(EdgeWrite(Edge(a, b, "supports", 0.5, 0.1)),))] * WRITERS)
    [edge] = store.list_edges(EdgeFilter(ids=frozenset([a])), 10)
    assert edge.confidence == pytest.approx(0.1 + (WRITERS - 1) * 0.05)


def test_holders_of_a_name_are_counted(store: Neo4jStore) -> None:
    pen = Pen(store)
    ids = [pen.tell(f"Ana number {number}.") for number in range(WRITERS)]
    write_at_once(store, *(Change(now=NOW, mentions={id: (NameMention("ana", (0,), 1.0),)}) for id in ids))
    assert store.read_size().mentions == WRITERS
    assert store.check() == []
