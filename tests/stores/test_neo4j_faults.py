"""What happens when a server is down, cut off, slow or somebody else's: a clear error or an answer in time, and nothing by halves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from urllib.parse import urlsplit

import neo4j
import pytest

from cofire.errors import CofireError, Conflict, StoreBusy, StoreClosed, StoreNotOpened, StoreUnavailable
from cofire.model import FactWrite, StoreRecord
from cofire.stores.neo4j.connection import Neo4jOptions, parse_address
from cofire.stores.neo4j.store import AsyncNeo4jStore, Neo4jStore
from tests.neo4j_server import GIVEN, IN_TURN, OPTIONS, PASSWORD, Server, empty_store, free_port, missing, server
from tests.stores.making import Pen, everywhere
from tests.tcp_proxy import Proxy, proxy

pytestmark = IN_TURN

HASTY = Neo4jOptions(retry_seconds=1.0, answer_seconds=5.0)
MOST_MESSAGES = 12


@pytest.fixture
def between(neo4j_url: str) -> Iterator[Proxy]:
    empty_store().close()
    parts = urlsplit(neo4j_url)
    with proxy(parts.hostname or "", parts.port or 7687) as made:
        yield made


@pytest.fixture
def through(between: Proxy, neo4j_url: str) -> Iterator[Neo4jStore]:
    """A store that is reached through the proxy."""
    auth = parse_address(neo4j_url, None).auth
    with closing(Neo4jStore.open(f"bolt://{between.address}", OPTIONS, auth)) as opened:
        yield opened


@pytest.fixture
def served(neo4j_url: str) -> Iterator[Neo4jStore]:
    """A store that holds nothing yet."""
    with closing(empty_store()) as opened:
        yield opened


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that a test may stop."""
    if GIVEN or missing():
        pytest.skip(missing() or "a server that is given is not stopped")
    with server() as made:
        yield made


def test_a_server_that_is_down_is_unavailable() -> None:
    with pytest.raises(StoreUnavailable, match="Check that the server runs"):
        Neo4jStore.open(f"bolt://127.0.0.1:{free_port()}", HASTY)


def test_a_server_that_is_down_is_unavailable_to_who_awaits() -> None:
    with pytest.raises(StoreUnavailable, match="Check that the server runs"):
        asyncio.run(AsyncNeo4jStore.open(f"bolt://127.0.0.1:{free_port()}", HASTY))


def test_a_wrong_password_is_refused_and_never_told(neo4j_url: str) -> None:
    url = f"bolt://neo4j:not-this-one@{urlsplit(neo4j_url).hostname}:{urlsplit(neo4j_url).port}"
    with pytest.raises(StoreNotOpened, match="COFIRE_NEO4J_PASSWORD") as refused:
        Neo4jStore.open(url, HASTY)
    assert "not-this-one" not in f"{refused.value} {refused.value!r}"


def test_a_missing_database_is_named(neo4j_url: str) -> None:
    with pytest.raises(StoreNotOpened, match="has no such database"):
        Neo4jStore.open(f"{neo4j_url}/nowhere", HASTY)


def test_the_place_of_a_store_names_no_password(served: Neo4jStore) -> None:
    assert PASSWORD not in f"{served.read_size()} {served!r} {vars(served)}"


def test_a_cut_connection_is_made_again(through: Neo4jStore, between: Proxy) -> None:
    id = Pen(through).tell("Tea.")
    between.cut()
    [found] = through.read_facts([id])
    assert found is not None
    assert between.cuts == 1


def test_a_connection_cut_in_mid_question_is_asked_again(through: Neo4jStore, between: Proxy) -> None:
    id = Pen(through).tell("Tea.")
    between.cut_after(1)
    [found] = through.read_facts([id])
    assert found is not None
    assert between.cuts == 1


@pytest.mark.parametrize("messages", range(MOST_MESSAGES))
def test_a_write_cut_anywhere_is_whole_or_nothing(through: Neo4jStore, between: Proxy, messages: int) -> None:
    pen = Pen(through)
    new = pen.new("Tea at four.", tags=("habit",), session="monday")
    between.cut_after(messages)
    with suppress(StoreUnavailable):
        pen.write(new)
    between.cut_after(1_000_000)
    told = len(through.list_facts(everywhere(), 10, None))
    pen.write(replace(new, fact=replace(new.fact, id=f"{2:026}")))
    [found] = through.list_facts(everywhere(), 10, None)
    assert (found.reinforced, found.position) == (told, 0)
    assert through.check() == []


def test_slow_answers_are_waited_for(through: Neo4jStore, between: Proxy) -> None:
    id = Pen(through).tell("Tea.")
    between.holding_back = 0.3
    [found] = through.read_facts([id])
    assert found is not None


def test_who_awaits_gives_up_on_a_server_that_says_nothing(between: Proxy, neo4j_url: str) -> None:
    impatient = Neo4jOptions(retry_seconds=0.5, answer_seconds=5.0)

    async def ask() -> None:
        auth = parse_address(neo4j_url, None).auth
        store = await AsyncNeo4jStore.open(f"bolt://{between.address}", impatient, auth)
        try:
            between.holding_back = 60.0
            with pytest.raises(StoreBusy, match=r"store\.answer_seconds"):
                await store.list_facts(everywhere(), 1, None)  # type: ignore[misc]
        finally:
            between.cut()
            await store.close()

    asyncio.run(ask())


def test_a_write_that_waits_too_long_for_others_is_busy_and_leaves_nothing(served: Neo4jStore, neo4j_url: str) -> None:
    Pen(served).write(records=(StoreRecord("plan", b"one"),))
    where, hasty = parse_address(neo4j_url, None), Neo4jOptions(retry_seconds=1.0, answer_seconds=5.0)
    with (
        closing(Neo4jStore.open(neo4j_url, hasty)) as store,
        neo4j.GraphDatabase.driver(where.url, auth=where.auth) as driver,
        driver.session() as other,
        other.begin_transaction() as holding,
    ):
        holding.run("MATCH (r:Record {name: 'plan'}) SET r.version = r.version").consume()
        pen = Pen(store)
        with pytest.raises(StoreBusy):
            pen.write(pen.new("Tea."), records=(StoreRecord("plan", b"two"),), expects={"plan": 1})
    assert Pen(served).all() == []


def test_of_those_who_expect_the_same_version_one_wins(served: Neo4jStore) -> None:
    pen = Pen(served)
    start = threading.Barrier(4)

    def claim(name: str) -> bool:
        start.wait()
        try:
            pen.write(records=(StoreRecord("plan", name.encode()),), expects={"plan": 0})
        except CofireError:
            return False
        return True

    with ThreadPoolExecutor(4) as crowd:
        assert sorted(crowd.map(claim, "abcd")) == [False, False, False, True]
    [written] = [served.read_record("plan")]
    assert written is not None
    assert written.version == 1


def test_a_fact_told_by_many_at_once_is_one_fact(served: Neo4jStore) -> None:
    pen = Pen(served)
    start = threading.Barrier(4)

    def tell(new: FactWrite) -> None:
        start.wait()
        again_if_somebody_was_faster(lambda: pen.write(new))

    with ThreadPoolExecutor(4) as crowd:
        list(crowd.map(tell, [pen.new("Tea.") for _ in range(4)]))
    [found] = pen.all()
    assert found.reinforced == 3
    assert served.check() == []


def again_if_somebody_was_faster(write: Callable[[], object]) -> None:
    """As verbs do."""
    for _ in range(4):
        try:
            write()
        except Conflict:
            continue
        return


def test_a_closed_store_stays_closed(served: Neo4jStore) -> None:
    served.close()
    served.close()
    with pytest.raises(StoreClosed):
        served.read_facts(["x"])


def test_a_server_started_again_answers_who_asked_meanwhile(own_server: Server) -> None:
    patient = Neo4jOptions(retry_seconds=300.0, answer_seconds=120.0)
    with closing(Neo4jStore.open(own_server.url, patient)) as store, ThreadPoolExecutor(2) as waiting:
        pen = Pen(store)
        id = pen.tell("Tea.")
        own_server.stop(kill=True)
        asked, told = waiting.submit(store.read_facts, [id]), waiting.submit(pen.tell, "Coffee.")
        own_server.start()
        [found] = asked.result()
        assert found is not None
        assert told.result() != id
        assert sorted(fact.text for fact in pen.all()) == ["Coffee.", "Tea."]
        assert store.check() == []
