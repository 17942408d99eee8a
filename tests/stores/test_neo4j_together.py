"""Questions that are asked together: one round trip, the failing part named, called and awaited alike."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from cofire.errors import StoreError
from cofire.runtime.effects import RunContext, Steps, StoreCall
from cofire.runtime.runner import run_steps, run_steps_async
from cofire.runtime.store_proxy import store as proxy
from cofire.stores.base import MODEL_RECORD, CallFailure
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, join_queries, run_in_step
from cofire.stores.neo4j.store import AsyncNeo4jStore, Neo4jStore
from cofire.text.rule_reader import RuleReader
from tests.neo4j_server import IN_TURN, OPTIONS, empty_store
from tests.stores.making import MODEL, Pen, asked, cue, everywhere, vector

pytestmark = IN_TURN


@pytest.fixture
def served(neo4j_url: str) -> Iterator[Neo4jStore]:
    """A store with two facts."""
    with closing(empty_store()) as opened:
        pen = Pen(opened)
        pen.settle()
        pen.tell("Tea at four.", vector(1, 1, 0, 0))
        pen.tell("Coffee at ten.", vector(1, 0, 1, 0))
        yield opened


TEA, COFFEE = f"{1:026}", f"{2:026}"
OTHER_SIZE = StoreCall("search_vectors", (np.ones(3, np.float32), 1, everywhere(), 10))
READ_TEA = StoreCall("read_facts", ([TEA],))


def questions() -> Steps[Any]:
    return proxy.together(
        proxy.read_facts([TEA]),
        proxy.search_words(cue("coffe"), 5, everywhere()),
        proxy.search_vectors(asked(1, 1, 0, 0), 1, everywhere(), 10),
        proxy.read_record(MODEL_RECORD),
    )


def context(store: Any) -> RunContext:
    return RunContext(store, None, lambda: datetime.now(UTC), lambda moment, count: [], RuleReader())


def awaited(url: str, work: Callable[[AsyncNeo4jStore], Coroutine[Any, Any, Any]]) -> Any:
    """What some work with a store that awaits comes to."""

    async def opened() -> Any:
        store = await AsyncNeo4jStore.open(url, OPTIONS)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(opened())


def found(answers: Sequence[Any]) -> list[Any]:
    [fact], matching, nearest, record = answers
    return [fact.text, matching, nearest, record.value]


ANSWERS = ["Tea at four.", [COFFEE], [TEA], MODEL.encode()]


def statements(caplog: pytest.LogCaptureFixture) -> int:
    """How many queries the driver says it has sent."""
    return sum("C: RUN" in record.getMessage() for record in caplog.records)


def test_questions_asked_together_are_one_query(served: Neo4jStore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "neo4j.io"):
        answers = run_steps(questions(), context(served))
    assert found(answers) == ANSWERS
    assert statements(caplog) == 1


def test_who_awaits_gets_the_same_in_one_query(
    served: Neo4jStore, neo4j_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask(store: AsyncNeo4jStore) -> Any:
        with caplog.at_level(logging.DEBUG, "neo4j.io"):
            return await run_steps_async(questions(), context(store))

    assert found(awaited(neo4j_url, ask)) == ANSWERS
    assert statements(caplog) == 1


def test_a_failing_part_is_named_and_the_others_answer(served: Neo4jStore) -> None:
    failed, [fact] = served.together([OTHER_SIZE, READ_TEA])
    assert isinstance(failed, CallFailure)
    assert isinstance(failed.error, StoreError)
    assert fact.text == "Tea at four."


def test_a_failing_part_is_named_to_who_awaits(served: Neo4jStore, neo4j_url: str) -> None:
    async def ask(store: AsyncNeo4jStore) -> Any:
        answers: Any = store.together([OTHER_SIZE, READ_TEA])
        return await answers

    failed, [fact] = awaited(neo4j_url, ask)
    assert isinstance(failed, CallFailure)
    assert isinstance(failed.error, StoreError)
    assert fact.text == "Tea at four."


@dataclass(frozen=True)
class Noticed(StoreCall):
    """A call that notices in which thread it runs."""

    threads: list[int] = field(default_factory=list)

    def run(self, context: RunContext) -> Any:
        self.threads.append(threading.get_ident())
        return super().run(context)


def test_who_awaits_asks_in_the_event_loop_and_not_in_a_thread(served: Neo4jStore, neo4j_url: str) -> None:
    call = Noticed("read_facts", ([TEA],))

    def verb() -> Steps[Any]:
        return (yield call)

    async def ask(store: AsyncNeo4jStore) -> Any:
        return await run_steps_async(verb(), context(store))

    [fact] = awaited(neo4j_url, ask)
    assert fact.text == "Tea at four."
    assert call.threads == [threading.get_ident()]


def test_many_explorers_share_a_store_that_awaits(served: Neo4jStore, neo4j_url: str) -> None:
    async def ask(store: AsyncNeo4jStore) -> Any:
        return await asyncio.gather(*(run_steps_async(questions(), context(store)) for _ in range(16)))

    assert [found(answers) for answers in awaited(neo4j_url, ask)] == [ANSWERS] * 16


def test_an_error_in_the_program_is_raised_and_hides_in_no_second_round_trip(
    served: Neo4jStore, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "neo4j.io"), pytest.raises(TypeError, match="where"):
        served.together([READ_TEA, StoreCall("search_words", (cue("tea"), 1))])
    assert statements(caplog) == 0


def test_no_questions_have_no_answers(served: Neo4jStore) -> None:
    assert served.together([]) == []


def counting_up(to: int) -> QuerySteps[int]:
    total = 0
    for number in range(to):
        [[found]] = yield CypherQuery("RETURN [$number] AS row", {"number": number})
        total += found
    return total


def test_readings_of_different_length_go_in_step() -> None:
    going = run_in_step([counting_up(1), counting_up(3), counting_up(0)])
    asked = [dict(next(going).parameters)]
    for _ in range(2):
        asked.append(dict(going.send([[[[number]] for number in asked[-1].values()]]).parameters))
    with pytest.raises(StopIteration) as ended:
        going.send([[[[2]]]])
    assert asked == [{"p0_number": 0, "p1_number": 0}, {"p0_number": 1}, {"p0_number": 2}]
    assert ended.value.value == [0, 3, 0]


def test_parameters_of_joined_queries_stay_apart() -> None:
    both = join_queries(
        [CypherQuery("RETURN [$x] AS row", {"x": 1}), CypherQuery("RETURN [$x, $xy] AS row", {"x": 2, "xy": 3})]
    )
    assert both.parameters == {"p0_x": 1, "p1_x": 2, "p1_xy": 3}
    assert "[$p1_x, $p1_xy]" in both.text
