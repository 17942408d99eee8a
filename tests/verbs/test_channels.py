"""Channels: how each fares and how it says so, and the ones that users add."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

import pytest

import cofire
from cofire import AsyncMemory, Memory, OwnChannel
from cofire.errors import InvalidInput, StoreBusy
from cofire.results import Recollection
from cofire.stores.base import Store
from tests.conftest import Clock, Faltering, HashedWords, Opening
from tests.verbs.watching import Watched

BUSY = StoreBusy("The index is busy.", way_out="Wait.")
TEA, POT, TRAIN = "Tea is served at four.", "The pot is made of iron.", "Trains leave at noon."
BUILT_IN = ("semantic", "keyword", "entity", "temporal", "activation")


@pytest.fixture
def watched(store: Store) -> Watched:
    return Watched(store)


@pytest.fixture
def listening(watched: Watched, clock: Clock) -> Memory:
    """A memory of three facts, one of them of a day and about a name, on a store that can be made to fail."""
    memory = Memory(watched, embedder=HashedWords(), clock=clock)
    memory.remember([TEA, POT])
    memory.remember(TRAIN, subject="Northern Line", at="2026-02-03T09:00:00Z")
    return memory


QUESTION = "When is tea served on the Northern Line, on 3 February 2026?"


def statuses(found: Recollection) -> dict[str, str]:
    return {report.name: report.status for report in found.channels}


def note(found: Recollection, name: str) -> str:
    return next(report.note for report in found.channels if report.name == name)


def texts(found: Recollection) -> list[str]:
    return [hit.text for hit in found]


def saying(answer: Mapping[str, float]) -> Callable[..., Mapping[str, float]]:
    return lambda question, k, where: answer


def raising(error: Exception) -> Callable[..., Mapping[str, float]]:
    def listen(question: str, k: int, where: Any) -> Mapping[str, float]:
        raise error

    return listen


def test_channels_that_find_something_are_ok(listening: Memory) -> None:
    found = statuses(listening.recall(QUESTION))
    assert {name: found[name] for name in ("semantic", "keyword", "entity", "temporal")} == {
        "semantic": "ok",
        "keyword": "ok",
        "entity": "ok",
        "temporal": "ok",
    }
    assert list(found) == list(BUILT_IN)


def test_channels_that_find_nothing_are_empty(memory: Memory) -> None:
    assert set(statuses(memory.recall("tea")).values()) == {"empty"}


def test_a_question_without_names_and_times_leaves_those_channels_empty(listening: Memory) -> None:
    found = statuses(listening.recall("tea"))
    assert (found["entity"], found["temporal"]) == ("empty", "empty")


@pytest.mark.parametrize("channel", BUILT_IN[:4])
def test_a_channel_that_is_switched_off_is_disabled_and_gives_nothing(listening: Memory, channel: str) -> None:
    found = listening.recall(QUESTION, settings={f"{channel}.enabled": False})
    assert statuses(found)[channel] == "disabled"
    assert all(channel not in hit.channels for hit in found)


def test_activation_is_disabled_where_no_pass_is_planned(listening: Memory) -> None:
    off = {"spreading_activation.enabled": False, "graph_assist.enabled": False}
    assert statuses(listening.recall(QUESTION, settings=off))["activation"] == "disabled"


def test_a_minimal_recall_takes_words_alone_and_says_so(listening: Memory, watched: Watched) -> None:
    listening.register(OwnChannel("mine", raising(AssertionError("was asked"))))
    watched.calls.clear()
    found = listening.recall(QUESTION, mode="minimal")
    assert statuses(found) == dict.fromkeys((*BUILT_IN, "mine"), "disabled") | {"keyword": "ok"}
    assert "words alone" in note(found, "entity")
    assert "words alone" in note(found, "mine")
    assert watched.calls["search_vectors"] == watched.calls["look_up_names"] == watched.calls["search_times"] == 0


def test_without_an_embedder_meaning_says_so(wordy: Memory) -> None:
    wordy.remember(TEA)
    assert statuses(wordy.recall("tea"))["semantic"] == "no_embedder"


@pytest.mark.parametrize(
    ("method", "channel"),
    [
        ("search_vectors", "semantic"),
        ("search_words", "keyword"),
        ("look_up_names", "entity"),
        ("search_times", "temporal"),
        ("fetch_name_links", "activation"),
    ],
)
def test_a_failing_channel_is_named_and_takes_no_other_down(
    listening: Memory, watched: Watched, method: str, channel: str
) -> None:
    watched.failing[method] = BUSY
    found = listening.recall(QUESTION)
    assert found.known
    assert [name for name, status in statuses(found).items() if status == "failed"] == [channel]
    assert "The index is busy." in note(found, channel)


def test_when_all_fail_so_does_the_recall(listening: Memory, watched: Watched) -> None:
    watched.failing |= {"search_vectors": BUSY, "search_words": BUSY}
    with pytest.raises(StoreBusy):
        listening.recall("tea")


def test_what_failed_does_not_look_like_an_empty_memory(listening: Memory, watched: Watched) -> None:
    watched.failing |= {"search_vectors": BUSY, "search_words": BUSY}
    listening.register(OwnChannel("mine", saying({})))
    found = listening.recall("tea")
    assert not found.known
    assert "Not everything was searched: semantic, keyword failed." in found.reason


def test_a_failing_embedder_is_named_when_words_know_nothing(open_memory: Opening) -> None:
    memory = open_memory(Faltering(batches=1))
    memory.remember([TEA, POT])
    found = memory.recall("Zeppelin")
    assert not found.known
    assert "semantic failed" in found.reason


def test_a_channel_of_ones_own_finds_what_no_other_does(wordy: Memory) -> None:
    tea, pot = wordy.remember([TEA, POT])
    wordy.register(OwnChannel("mine", saying({pot: 0.5})))
    found = wordy.recall("tea")
    assert set(found.ids) == {tea, pot}
    assert statuses(found)["mine"] == "ok"
    mine = next(hit for hit in found if hit.id == pot).channels["mine"]
    assert (mine.rank, mine.score, mine.gives) == (1, 0.5, 0.5)


@pytest.mark.parametrize("method", ["calibrated", "rrf", "hybrid"])
def test_its_scores_fuse_under_every_method(memory: Memory, method: str) -> None:
    tea, pot = memory.remember([TEA, POT])
    before = {hit.id: hit.score for hit in memory.recall("tea pot", settings={"fusion.method": method})}
    memory.register(OwnChannel("mine", saying({pot: 1.0}), weight=9.0))
    found = memory.recall("tea pot", settings={"fusion.method": method})
    after = {hit.id: hit.score for hit in found}
    assert after[tea] == pytest.approx(before[tea])
    assert after[pot] - before[pot] == pytest.approx(9.0 / 61 if method == "rrf" else 9.0)
    assert found.ids[0] == pot


def test_a_channel_that_counts_nothing_still_proposes(wordy: Memory) -> None:
    wordy.remember(TEA)
    pot = wordy.remember(POT)
    wordy.register(OwnChannel("mine", saying({pot: 1.0}), weight=0))
    assert pot in wordy.recall("tea").ids


def test_filters_hold_for_what_it_brings(wordy: Memory) -> None:
    tea = wordy.remember(TEA)
    hidden = wordy.remember(POT, scope="secret"), wordy.remember(TRAIN)
    wordy.update(hidden[1], expires="2026-01-01")
    wordy.register(OwnChannel("mine", saying(dict.fromkeys((*hidden, "no such id"), 1.0))))
    found = wordy.recall("tea")
    assert found.ids == (tea,)
    assert statuses(found)["mine"] == "empty"


def test_it_is_asked_with_the_question_and_the_filters(wordy: Memory) -> None:
    heard: list[Any] = []
    wordy.remember(TEA)
    wordy.register(OwnChannel("mine", lambda question, k, where: heard.append((question, k, where)) or {}))
    wordy.recall("tea", k=3, tags=["hot"], settings={"recall.headroom": 4})
    [(question, k, where)] = heard
    assert (question, k, where.tags) == ("tea", 7, frozenset({"hot"}))


def test_it_may_use_the_memory_itself(wordy: Memory) -> None:
    """It is asked while nothing of the store is held."""
    wordy.remember([TEA, POT])
    wordy.register(OwnChannel("all", lambda question, k, where: {fact.id: 0.1 for fact in wordy.facts()}))
    assert statuses(wordy.recall("tea"))["all"] == "ok"


def test_one_that_is_late_is_reported_and_not_waited_for(wordy: Memory) -> None:
    wordy.remember(TEA)
    released = Event()
    wordy.register(OwnChannel("slow", lambda *_: {"late": float(released.wait(30))}, seconds=0.05))
    began = time.monotonic()
    found = wordy.recall("tea")
    released.set()
    assert time.monotonic() - began < 5
    assert (texts(found), statuses(found)["slow"]) == ([TEA], "timed_out")
    assert "0.05 seconds" in note(found, "slow")


def test_several_are_asked_at_once(wordy: Memory) -> None:
    wordy.remember(TEA)
    both = [Event(), Event()]

    def meeting(mine: int) -> Callable[..., Mapping[str, float]]:
        def listen(*_: Any) -> Mapping[str, float]:
            both[mine].set()
            assert both[1 - mine].wait(5)
            return {}

        return listen

    for number in (0, 1):
        wordy.register(OwnChannel(f"channel {number}", meeting(number)))
    found = statuses(wordy.recall("tea"))
    assert (found["channel 0"], found["channel 1"]) == ("empty", "empty")


def test_one_that_hangs_does_not_hold_up_the_end_of_the_program() -> None:
    program = (
        "import time; from cofire import Memory, OwnChannel; memory = Memory(':memory:', embedder=None);"
        "memory.remember('Tea.'); memory.register(OwnChannel('slow', lambda *_: time.sleep(60), seconds=0.01));"
        "print(memory.recall('tea').known)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert ran.stdout == "True\n"


@pytest.mark.parametrize(
    "answer", [{"a": 1.5}, {"\x00": 1.0}, {"\ud800": 1.0}, {"a": -0.1}, {"a": "much"}, {"a": float("nan")}, ["a"], None]
)
def test_an_answer_that_cannot_be_used_is_a_failure(wordy: Memory, answer: Any) -> None:
    wordy.remember(TEA)
    wordy.register(OwnChannel("mine", saying(answer)))
    found = wordy.recall("tea")
    assert (texts(found), statuses(found)["mine"]) == ([TEA], "failed")
    assert "scores from 0 to 1" in note(found, "mine")


def test_one_that_raises_is_a_failure_with_its_message(wordy: Memory) -> None:
    wordy.remember(TEA)
    wordy.register(OwnChannel("mine", raising(KeyError("no such shelf"))))
    found = wordy.recall("tea")
    assert (texts(found), statuses(found)["mine"]) == ([TEA], "failed")
    assert "no such shelf" in note(found, "mine")


@pytest.mark.parametrize("name", ["", "  ", " padded ", "semantic", "activation", "prior", "coverage"])
def test_a_name_that_is_taken_or_blank_is_refused(wordy: Memory, name: str) -> None:
    with pytest.raises(InvalidInput):
        wordy.register(OwnChannel(name, saying({})))


@pytest.mark.parametrize("given", [None, "mine", saying({})])
def test_only_a_channel_is_registered(wordy: Memory, given: Any) -> None:
    with pytest.raises(InvalidInput, match="Give an OwnChannel"):
        wordy.register(given)


def test_a_name_is_given_once(wordy: Memory) -> None:
    wordy.register(OwnChannel("mine", saying({})))
    with pytest.raises(InvalidInput, match="already"):
        wordy.register(OwnChannel("mine", saying({})))


@pytest.mark.parametrize("numbers", [{"weight": -1}, {"weight": float("nan")}, {"seconds": 0}, {"weight": "much"}])
def test_numbers_that_make_no_sense_are_refused(wordy: Memory, numbers: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="0 or more"):
        wordy.register(OwnChannel("mine", saying({}), **numbers))


def test_what_was_taken_out_is_no_longer_asked(wordy: Memory) -> None:
    wordy.remember(TEA)
    wordy.register(OwnChannel("mine", saying({})))
    assert (wordy.unregister("mine"), wordy.unregister("mine")) == (True, False)
    assert "mine" not in statuses(wordy.recall("tea"))


def test_what_cannot_be_a_name_was_never_registered(wordy: Memory) -> None:
    with pytest.raises(InvalidInput, match="registered"):
        wordy.unregister([])  # type: ignore[arg-type]


def test_an_async_memory_takes_channels_too(clock: Clock) -> None:
    async def story() -> tuple[dict[str, str], bool]:
        async with AsyncMemory(":memory:", embedder=None, clock=clock) as memory:
            pot = await memory.remember(POT)
            await memory.register(OwnChannel("mine", saying({pot: 1.0})))
            found = await memory.recall("iron")
            return statuses(found), await memory.unregister("mine")

    found, there = asyncio.run(story())
    assert (found["mine"], there) == ("ok", True)


def test_many_awaited_recalls_may_ask_one_that_uses_the_memory(clock: Clock) -> None:
    """More of them at once than the event loop has threads."""

    async def story() -> list[Recollection]:
        loop = asyncio.get_running_loop()
        async with AsyncMemory(":memory:", embedder=None, clock=clock) as memory:
            await memory.remember([TEA, POT])

            def all_facts(question: str, k: int, where: Any) -> Mapping[str, float]:
                listed = asyncio.run_coroutine_threadsafe(memory.facts(limit=k), loop).result()
                return {fact.id: 1.0 for fact in listed}

            await memory.register(OwnChannel("all", all_facts, seconds=20))
            return await asyncio.gather(*(memory.recall("tea") for _ in range(40)))

    assert {statuses(found)["all"] for found in asyncio.run(story())} == {"ok"}


def test_slow_ones_leave_other_awaited_verbs_their_threads(clock: Clock) -> None:
    released = Event()

    async def story() -> dict[str, str]:
        async with AsyncMemory(":memory:", embedder=None, clock=clock) as memory:
            tea = await memory.remember(TEA)
            await memory.register(OwnChannel("slow", lambda *_: {tea: float(released.wait(30))}, seconds=30))
            recalls = [asyncio.ensure_future(memory.recall("tea")) for _ in range(40)]
            await asyncio.wait_for(_all_asked(40), 20)
            assert len(await asyncio.wait_for(memory.facts(), 20)) == 1
            released.set()
            return statuses((await asyncio.gather(*recalls))[-1])

    try:
        assert asyncio.run(story())["slow"] == "ok"
    finally:
        released.set()


async def _all_asked(count: int) -> None:
    while sum(thread.name == "cofire channel slow" for thread in threading.enumerate()) < count:
        await asyncio.sleep(0.01)


def test_an_awaited_one_that_is_late_is_reported_and_not_waited_for(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    released = Event()

    async def story() -> Recollection:
        async with AsyncMemory(":memory:", embedder=None, clock=clock) as memory:
            await memory.remember(TEA)
            await memory.register(OwnChannel("slow", lambda *_: {"late": float(released.wait(30))}, seconds=0.05))
            found = await memory.recall("tea")
            released.set()
            return found

    found = asyncio.run(story())
    assert (texts(found), statuses(found)["slow"]) == ([TEA], "timed_out")
    assert not caplog.records


def test_the_name_is_public() -> None:
    assert cofire.OwnChannel is OwnChannel
