"""Plans: the server finds by index whatever a recall asks for, and never looks through all facts, names or links for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import neo4j
import pytest

from cofire.algorithms.session_context import SessionContext
from cofire.memory import Memory
from cofire.model import Edge, EdgeWrite
from cofire.stores.base import EdgeFilter, ExpansionOptions, KeywordQuery
from cofire.stores.metadata_filter import parse_conditions
from cofire.stores.neo4j import search
from cofire.stores.neo4j.connection import Neo4jOptions
from cofire.stores.neo4j.cypher import CypherQuery, Rows
from cofire.stores.neo4j.store import Neo4jStore
from tests.conftest import Clock, HashedWords
from tests.neo4j_server import OPTIONS, empty, missing, server
from tests.stores.making import DAY, MODEL, NOW, Pen, asked, everywhere, holding, vector

pytestmark = pytest.mark.xdist_group("plans")

LENDING = SessionContext(before=0.5, after=0.2, decay=0.5, reach=2, short=25)
CUE = KeywordQuery(("tea", "pot"), (1.0, 1.0), 4.0, 0.8, 0.6, 0.5, LENDING, (True, True))
WHERE = everywhere(scopes=("default",), tags=frozenset({"hot"}), speakers=frozenset({"Ana"}))
BY_METADATA = everywhere(metadata=parse_conditions({"project": "p1", "number": {"gte": 3}}))
FACTS = 60


# One worker runs them all: each other one would start this server, too.
pytestmark = pytest.mark.xdist_group("neo4j plans")


@pytest.fixture(scope="module")
def neo4j_url() -> Iterator[str]:
    """A server of its own: it plans by what it was told, and others tell it other things."""
    if lacking := missing():
        pytest.skip(lacking)
    with server() as made:
        yield made.url


class Noting(Neo4jStore):
    """Notes every question that the server is asked."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.noted: list[CypherQuery] = []

    @classmethod
    def at(cls, url: str, options: Neo4jOptions = OPTIONS) -> Noting:
        opened = cls.open(url, options)
        assert isinstance(opened, cls)
        return opened

    def _rows(self, query: CypherQuery) -> Rows:
        self.noted.append(query)
        return super()._rows(query)

    def steps(self) -> list[Step]:
        """The steps of the plans for all that was asked."""
        return [step for query in self.noted for step in _steps(self._plan(query))]

    def _plan(self, query: CypherQuery) -> Any:
        text = neo4j.Query(f"EXPLAIN {query.text}")
        found = self._driver.execute_query(text, dict(query.parameters), database_=self._address.database)
        return found.summary.plan

    def hits(self) -> int:
        """How often the server looked at something stored, for all that was asked."""
        return sum(_hits(self._profile(query)) for query in self.noted)

    def _profile(self, query: CypherQuery) -> Any:
        text = neo4j.Query(f"PROFILE {query.text}")
        return self._driver.execute_query(
            text, dict(query.parameters), database_=self._address.database
        ).summary.profile


class Step(NamedTuple):
    """One step of a plan."""

    does: str
    details: str


def _steps(plan: Any) -> Iterator[Step]:
    yield Step(plan["operatorType"].partition("@")[0], str(plan["args"].get("Details", "")))
    for part in plan.get("children", ()):
        yield from _steps(part)


def _hits(profile: Any) -> int:
    return int(profile.get("dbHits", 0)) + sum(_hits(part) for part in profile.get("children", ()))


def scans(steps: list[Step]) -> list[Step]:
    """Steps that look through all nodes, all of a label, or all relationships.

    Of an index by scope the planner may read all entries where it thinks that there are few; its guess changes from run to run.
    """
    return [step for step in steps if step.does.endswith("Scan") and step.does != "NodeIndexScan"]


@pytest.fixture(scope="module")
def opened(neo4j_url: str) -> Iterator[Noting]:
    empty(neo4j_url)
    store = Noting.at(neo4j_url)
    yield store
    store.close()


@pytest.fixture(scope="module")
def ids(opened: Noting) -> list[str]:
    """Turns of several sessions with vectors, tags, names and edges."""
    pen = Pen(opened)
    pen.settle(MODEL)
    news = [
        holding(
            pen.new(
                f"tea {n}",
                vector(1, n, 0, 1),
                session=f"s{n % 5}",
                speaker="Ana",
                tags=("hot",),
                at=NOW + n * DAY,
                metadata={"project": f"p{n % 3}", "number": n},
            ),
            {f"name {n % 7}": (0,)},
            {f"name {n % 11}": 0.5},
        )
        for n in range(FACTS)
    ]
    told = [one.id for one in pen.write(*news, reach=2).facts]
    pen.write(edges=tuple(EdgeWrite(Edge(a, b, "supports", 0.5, 0.9)) for a, b in zip(told, told[7:], strict=False)))
    pen.recount("default", sample=5)
    return told


@pytest.fixture
def store(opened: Noting, ids: list[str]) -> Noting:
    """The store with all that in it, and nothing noted yet."""
    opened.noted.clear()
    return opened


QUESTIONS: dict[str, Callable[[Noting, list[str]], object]] = {
    "read_facts": lambda store, ids: store.read_facts(ids),
    "search_vectors": lambda store, ids: store.search_vectors(asked(1, 1, 0, 0), 5, WHERE, 50),
    "search_words": lambda store, ids: store.search_words(CUE, 5, WHERE),
    "nearest by metadata": lambda store, ids: store.search_vectors(asked(1, 1, 0, 0), 5, BY_METADATA, 50),
    "scan by metadata": lambda store, ids: store.list_facts(BY_METADATA, 5, None),
    "matching by metadata": lambda store, ids: store.search_words(CUE, 5, BY_METADATA),
    "search_times": lambda store, ids: store.search_times([(NOW, NOW + DAY), (NOW + 9 * DAY, NOW + 9 * DAY)], 5, WHERE),
    "filter_visible": lambda store, ids: store.filter_visible(ids, WHERE),
    "fetch_features": lambda store, ids: store.fetch_features(ids, ["tea"], 2, 1),
    "locate_words": lambda store, ids: store.locate_words(ids, ["tea"]),
    "match_speakers": lambda store, ids: store.match_speakers(["default"], ["ana"]),
    "match_tags": lambda store, ids: store.match_tags(["default"], ["hot", "cold"]),
    "look_up_names": lambda store, ids: store.look_up_names(["name 1", "name 2"], WHERE, 3),
    "find_unlinked_mentions": lambda store, ids: store.find_unlinked_mentions(
        "default", {"name 1": ["tea"], "no name": ["tea"]}, 100, True
    ),
    "fetch_name_links": lambda store, ids: store.fetch_name_links(ids[:3], WHERE, 100, 30),
    "expand_links": lambda store, ids: store.expand_links(ids[:3], ExpansionOptions(WHERE, None, 0.1, 10)),
    "read_word_statistics": lambda store, ids: store.read_word_statistics(["default"], ["tea"]),
    "fetch_importance": lambda store, ids: store.fetch_importance(ids),
    "fetch_feedback_counts": lambda store, ids: store.fetch_feedback_counts(ids),
    "read_record": lambda store, ids: store.read_record("model"),
    "list_links": lambda store, ids: store.list_links(ids[0], 10),
    "list_edges": lambda store, ids: store.list_edges(EdgeFilter(ids=frozenset(ids[:3])), 10),
    "fetch_profiles": lambda store, ids: store.fetch_profiles(ids),
    "read_history": lambda store, ids: store.read_history(ids[0]).descriptions,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_asked_for_is_found_by_an_index_in_one_round_trip(store: Noting, ids: list[str], question: str) -> None:
    QUESTIONS[question](store, ids)
    assert len(store.noted) == 1
    assert scans(store.steps()) == []


def test_metadata_are_looked_up_in_the_full_text_index(store: Noting, ids: list[str]) -> None:
    assert len(store.list_facts(BY_METADATA, 100, None)) == sum(n % 3 == 1 and n >= 3 for n in range(FACTS))
    [query] = store.noted
    assert any("db.index.fulltext.queryNodes" in step.details for step in store.steps())
    found = store._rows(
        CypherQuery(
            "CALL db.index.fulltext.queryNodes($index, $marked) YIELD node RETURN [node.id] AS row", query.parameters
        )
    )
    assert len(found) == FACTS // 3


def test_nearest_facts_with_some_metadata_are_compared_one_by_one(
    store: Noting, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "EXACT_SEARCH_LIMIT", FACTS // 3)
    monkeypatch.setattr(search, "MAX_VECTOR_CANDIDATES", 1)
    by_project = everywhere(metadata=parse_conditions({"project": "p1"}))
    assert set(store.search_vectors(asked(1, 1, 0, 0), FACTS, by_project, 1)) == {
        ids[n] for n in range(FACTS) if n % 3 == 1
    }
    assert len(store.noted) == 1
    assert scans(store.steps()) == []


def test_facts_to_link_are_found_by_an_index_in_two_round_trips(store: Noting, ids: list[str]) -> None:
    assert store.search_similar(asked(1, 1, 0, 0), 5, WHERE, 50, 0.0)
    assert len(store.noted) == 2
    assert scans(store.steps()) == []


def test_a_scan_would_be_noticed(store: Noting, ids: list[str]) -> None:
    store._rows(CypherQuery("MATCH (f:Fact) WHERE f.text = 'tea' RETURN [f.id] AS row"))
    assert scans(store.steps()) == [Step("NodeByLabelScan", "f:Fact")]


def test_turns_are_read_off_their_index_in_order_and_no_further_than_asked_for(store: Noting, ids: list[str]) -> None:
    store.fetch_features(ids, ["tea"], 2, 1)
    steps = store.steps()
    assert sum("Fact(scope, session, told, position)" in step.details for step in steps) == 2
    assert {step.does for step in steps}.isdisjoint({"Sort", "Top", "PartialSort", "PartialTop"})


def test_times_are_walked_from_the_ends_of_a_span(store: Noting, ids: list[str]) -> None:
    """Only those inside it are put in order, by content; before and after it the index gives the order."""
    store.search_times([(NOW, NOW + DAY)], 5, WHERE)
    does = [step.does for step in store.steps()]
    assert (does.count("Top"), does.count("PartialTop")) == (1, 2)


@pytest.mark.parametrize("many", [200, 800])
def test_a_name_that_many_hold_costs_as_much_as_one_that_very_many_hold(neo4j_url: str, many: int) -> None:
    empty(neo4j_url)
    with closing(Noting.at(neo4j_url)) as store:
        pen = Pen(store)
        first, *_ = pen.write(*(holding(pen.new(f"tea {n}"), {"hub": (0,)}, {}) for n in range(many))).facts
        store.noted.clear()
        [held] = store.fetch_name_links([first.id], WHERE, 60, 30).count.tolist()
        assert held == many
        assert store.hits() < 100


def test_no_query_of_a_recall_scans(neo4j_url: str) -> None:
    """With turns of several scopes and sessions: where all facts are of one, the server may as well go over all there are."""
    empty(neo4j_url)
    store = Noting.at(neo4j_url)
    with Memory(store, embedder=HashedWords(), clock=Clock()) as memory:
        for scope in ("default", *"abcd"):
            turns = [{"text": f"Ana put kettle {n} on the stove in Porto.", "session": f"s{n % 4}"} for n in range(20)]
            memory.remember(turns, scope=scope)
        store.noted.clear()
        for where in ({}, {"mode": "minimal"}, {"since": NOW - DAY}):
            memory.recall("What did Ana do with the kettle in Porto last week?", **where)
        assert store.noted
        assert scans(store.steps()) == []
