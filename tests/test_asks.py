"""Asks and their runners: a verb is answered, told of errors where it asked, heard when it emits, and never waits itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import pytest

from cofire.errors import Conflict, NotFound, StoreError
from cofire.ids import IdGenerator
from cofire.runtime.effects import (
    Effect,
    Emit,
    MintIds,
    ReadClock,
    RunContext,
    Steps,
)
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.runner import run_steps, run_steps_async, stream_steps, stream_steps_async
from cofire.runtime.store_proxy import store
from cofire.stores.base import CallFailure
from cofire.text.base import create_reader
from tests.conftest import Clock
from tests.reference_store.store import ReferenceStore


@dataclass(frozen=True)
class Say(Effect):
    """An ask whose answer is known."""

    answer: Any

    def run(self, context: RunContext) -> Any:
        return self.answer


@dataclass(frozen=True)
class Refuse(Effect):
    """An ask that fails."""

    problem: str

    def run(self, context: RunContext) -> Any:
        raise NotFound(self.problem, way_out="Look elsewhere.")


@dataclass(frozen=True)
class Later(Effect):
    """An effect that is awaited."""

    answer: Any

    async def run_async(self, context: RunContext) -> Any:
        await asyncio.sleep(0)
        return self.answer


def run_by_awaiting(verb: Steps[Any], context: RunContext, listen: Callable[[Any], None] | None = None) -> Any:
    return asyncio.run(run_steps_async(verb, context, listen))


RUNNERS = {"called": run_steps, "awaited": run_by_awaiting}


@pytest.fixture(params=RUNNERS)
def runner(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return RUNNERS[request.param]


@pytest.fixture
def context() -> RunContext:
    return RunContext(ReferenceStore(), None, Clock(), IdGenerator().mint, create_reader("rules"))


def asking(*asks: Any) -> Steps[list[Any]]:
    answers = []
    for ask in asks:
        answers.append((yield ask))  # noqa: PERF401 a comprehension cannot yield
    return answers


def test_answers_come_back_where_they_were_asked_for(runner: Callable[..., Any], context: RunContext) -> None:
    assert runner(asking(Say(1), Say("two"), Say(None)), context) == [1, "two", None]


def test_a_verb_that_asks_nothing_just_returns(runner: Callable[..., Any], context: RunContext) -> None:
    assert runner(asking(), context) == []


def test_the_clock_and_the_mint_are_the_worlds(runner: Callable[..., Any], context: RunContext) -> None:
    clock = Clock()
    now, ids = runner(asking(ReadClock(), MintIds(clock(), 2)), context)
    assert now == clock.now
    assert ids == sorted(ids)
    assert len(ids) == 2


def test_an_error_is_thrown_into_the_verb_where_it_asked(runner: Callable[..., Any], context: RunContext) -> None:
    def verb() -> Steps[str]:
        try:
            yield Refuse("nothing here")
        except NotFound as error:
            return f"caught: {error.problem}"
        return "never"

    assert runner(verb(), context) == "caught: nothing here"


def test_a_verb_goes_on_asking_after_an_error(runner: Callable[..., Any], context: RunContext) -> None:
    def verb() -> Steps[int]:
        try:
            yield Refuse("first")
        except NotFound:
            answer: int = yield Say(7)
        return answer

    assert runner(verb(), context) == 7


def test_an_error_that_the_verb_does_not_catch_reaches_the_caller(
    runner: Callable[..., Any], context: RunContext
) -> None:
    with pytest.raises(NotFound, match="nothing here"):
        runner(asking(Refuse("nothing here")), context)


def test_an_error_of_the_verb_itself_reaches_the_caller(runner: Callable[..., Any], context: RunContext) -> None:
    def verb() -> Steps[None]:
        yield Say(1)
        raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own"):
        runner(verb(), context)


def test_what_is_emitted_is_heard_in_order(runner: Callable[..., Any], context: RunContext) -> None:
    heard: list[Any] = []
    assert runner(asking(Emit(1), Say("between"), Emit(2)), context, heard.append) == [None, "between", None]
    assert heard == [1, 2]


def test_emitting_to_nobody_is_harmless(runner: Callable[..., Any], context: RunContext) -> None:
    assert runner(asking(Emit(1), Say(2)), context) == [None, 2]


def test_together_answers_all_in_order(runner: Callable[..., Any], context: RunContext) -> None:
    def verb() -> Steps[Any]:
        answers = yield from store.together(store.read_record("a"), store.read_facts([]), store.list_changed_ids(None))
        return answers, (yield from store.together())

    assert runner(verb(), context) == ([None, [], []], [])


def test_a_failing_part_leaves_the_others_their_answers(runner: Callable[..., Any], context: RunContext) -> None:
    first, failed, last = runner(
        store.together_with_failures(store.read_record("a"), store.backup("b"), store.list_changed_ids(None)), context
    )
    assert (first, last) == (None, [])
    assert isinstance(failed, CallFailure)
    assert "no file to copy" in str(failed.error)


def test_the_first_failure_of_calls_made_together_is_raised(runner: Callable[..., Any], context: RunContext) -> None:
    with pytest.raises(StoreError, match="no file to copy"):
        runner(store.together(store.read_record("a"), store.backup("b")), context)


def test_only_calls_of_the_store_run_together(runner: Callable[..., Any], context: RunContext) -> None:
    with pytest.raises(TypeError, match="Only store calls"):
        runner(store.together(asking(Say(1)), asking(Say(2))), context)


def test_a_store_that_fails_as_a_whole_fails_together(runner: Callable[..., Any], context: RunContext) -> None:
    context.store.close()
    with pytest.raises(Exception, match="closed"):
        runner(store.together_with_failures(store.read_record("a")), context)


def test_an_answer_that_must_be_awaited_is_awaited(context: RunContext) -> None:
    assert run_by_awaiting(asking(Later("at last"), Say(1)), context) == ["at last", 1]


def test_awaiting_leaves_the_loop_free_for_others(context: RunContext) -> None:
    async def two_at_once() -> list[Any]:
        return await asyncio.gather(
            run_steps_async(asking(Say(1), Say(2)), context), run_steps_async(asking(Say(3)), context)
        )

    assert asyncio.run(two_at_once()) == [[1, 2], [3]]


def test_a_stream_gives_what_is_emitted_as_it_goes(context: RunContext) -> None:
    assert list(stream_steps(asking(Emit(1), Say("unheard"), Emit(2)), context)) == [1, 2]


def test_a_stream_runs_no_further_than_it_is_read(context: RunContext) -> None:
    seen: list[str] = []

    def verb() -> Generator[Any, Any, None]:
        yield Emit(1)
        seen.append("went on")
        yield Emit(2)

    flow = stream_steps(verb(), context)
    assert next(flow) == 1
    assert seen == []
    assert list(flow) == [2]


def test_an_awaited_stream_gives_the_same(context: RunContext) -> None:
    async def collected() -> list[Any]:
        return [value async for value in stream_steps_async(asking(Emit(1), Later("unheard"), Emit(2)), context)]

    assert asyncio.run(collected()) == [1, 2]


def attempts(outcomes: list[Any]) -> Callable[[], Steps[Any]]:
    """An attempt that meets these outcomes one after the other."""

    def attempt() -> Steps[Any]:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return (yield Say(outcome))

    return attempt


def conflict() -> Conflict:
    return Conflict("Somebody wrote.", way_out="Again.")


def test_a_conflict_is_tried_again(runner: Callable[..., Any], context: RunContext) -> None:
    assert runner(retry_on_conflict(attempts([conflict(), conflict(), "done"]), tries=3), context) == "done"


def test_what_works_at_once_is_not_tried_again(runner: Callable[..., Any], context: RunContext) -> None:
    outcomes: list[Any] = ["done", "unused"]
    assert runner(retry_on_conflict(attempts(outcomes), tries=3), context) == "done"
    assert outcomes == ["unused"]


def test_after_the_last_try_the_conflict_is_told(runner: Callable[..., Any], context: RunContext) -> None:
    outcomes: list[Any] = [conflict(), conflict(), "too late"]
    with pytest.raises(Conflict):
        runner(retry_on_conflict(attempts(outcomes), tries=2), context)
    assert outcomes == ["too late"]


def test_other_errors_are_not_tried_again(runner: Callable[..., Any], context: RunContext) -> None:
    outcomes: list[Any] = [ValueError("of another kind"), "unused"]
    with pytest.raises(ValueError, match="another kind"):
        runner(retry_on_conflict(attempts(outcomes), tries=3), context)
    assert outcomes == ["unused"]
