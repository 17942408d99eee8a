"""Memory and AsyncMemory: opening and closing, and one set of verbs, called or awaited."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cofire import AsyncMemory, Memory
from cofire.errors import (
    InvalidFact,
    InvalidInput,
    InvalidSetting,
    NotFound,
    OtherModel,
    StoreClosed,
    StoreError,
    StoreNotOpened,
)
from cofire.settings.sources import STORE_VARIABLE
from cofire.settings.table import RECALL_K
from cofire.stores.base import Store
from cofire.verbs.remember import Progress
from tests.conftest import Clock, HashedWords, Lent, Opening
from tests.reference_store.store import ReferenceStore

VERBS = sorted(name for name, member in vars(Memory).items() if not name.startswith("_") and callable(member))


def test_a_memory_in_a_file_is_there_again_when_it_is_opened_again(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        id = memory.remember("Tea at four.")
    with Memory(str(tmp_path / "team.db"), embedder=None) as memory:
        assert memory.recall("tea").ids == (id,)


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    with Memory(tmp_path / "deep" / "down" / "team.db", embedder=None) as memory:
        memory.remember("Tea.")
    assert (tmp_path / "deep" / "down" / "team.db").exists()


def test_without_a_place_it_is_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / "mine.db"))
    with Memory(embedder=None) as memory:
        assert memory.stats().size.place == str(tmp_path / "mine.db")


def test_a_memory_may_live_in_this_process_alone() -> None:
    with Memory(":memory:", embedder=None) as memory:
        memory.remember("Tea.")
        assert memory.recall("tea").known
    with Memory(":memory:", embedder=None) as memory:
        assert memory.stats().size.facts == 0


def test_a_store_that_is_open_already_is_taken_as_it_is() -> None:
    store = ReferenceStore()
    with Memory(store, embedder=None) as memory:
        memory.remember("Tea.")
        assert store.read_size().facts == 1


@pytest.mark.parametrize("place", ["redis://localhost", "https://example.org/team.db"])
def test_a_place_that_nobody_knows_is_refused(place: str) -> None:
    with pytest.raises(StoreNotOpened, match=place):
        Memory(place, embedder=None)


def test_a_folder_is_no_memory(tmp_path: Path) -> None:
    with pytest.raises(StoreNotOpened, match="is a folder"):
        Memory(tmp_path, embedder=None)


def test_any_other_file_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Dear diary, " * 100, encoding="utf-8")
    with pytest.raises(StoreError, match=r"notes\.txt"):
        Memory(tmp_path / "notes.txt", embedder=None)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8").startswith("Dear diary")


def test_an_unknown_embedder_is_refused_by_name() -> None:
    with pytest.raises(InvalidSetting, match="telepathy"):
        Memory(":memory:", embedder="telepathy")


def test_no_embedder_may_be_asked_for_by_name() -> None:
    with Memory(":memory:", embedder="none") as memory:
        assert memory.stats().mode == "words only (no embedder)"


def test_the_preset_for_words_alone_opens_without_an_embedder() -> None:
    with Memory(":memory:", settings={"preset": "words-only"}) as memory:
        assert memory.stats().mode == "words only (no embedder)"


def test_a_closed_memory_says_so(open_memory: Opening, store: Store) -> None:
    memory = open_memory()
    store.close()
    with pytest.raises(StoreClosed):
        memory.remember("Tea.")


def test_closing_lets_go_of_store_and_embedder(tmp_path: Path) -> None:
    embedder = HashedWords()
    memory = Memory(tmp_path / "team.db", embedder=embedder)
    memory.close()
    memory.close()
    assert embedder.closed
    with pytest.raises(StoreClosed):
        memory.facts()


def test_leaving_the_block_closes_it_even_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidFact), Memory(tmp_path / "team.db", embedder=None) as memory:
        memory.remember("")
    with pytest.raises(StoreClosed):
        memory.facts()


def test_a_store_of_the_callers_stays_open_when_a_memory_on_it_is_refused() -> None:
    store = ReferenceStore()
    Memory(Lent(store), embedder=HashedWords("first")).remember("Tea.")
    with pytest.raises(OtherModel):
        Memory(store, embedder=HashedWords("second"))
    assert store.read_size().facts == 1


def test_two_memories_on_one_file_see_each_other(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as mine, Memory(tmp_path / "team.db", embedder=None) as yours:
        id = mine.remember("Tea at four.")
        assert yours.recall("tea").ids == (id,)
        yours.forget(id)
        assert not mine.recall("tea").known


def test_a_backup_is_a_memory_of_its_own(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        memory.remember("Tea.")
        memory.backup(tmp_path / "copy.db")
        memory.remember("Pot.")
    with Memory(tmp_path / "copy.db", embedder=None) as copy:
        assert [fact.text for fact in copy.facts()] == ["Tea."]


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("precious", encoding="utf-8")
    with Memory(tmp_path / "team.db", embedder=None) as memory, pytest.raises(StoreError, match=r"copy\.db"):
        memory.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize("name", ["a\x00b", "a\ud800", "x" * 300])
def test_a_backup_to_what_cannot_be_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        with pytest.raises((InvalidInput, StoreNotOpened), match="Give the path of a new file"):
            memory.backup(tmp_path / name)
        assert memory.check() == []


def test_a_backup_in_memory_would_keep_nothing_and_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory, pytest.raises(StoreNotOpened, match="new file"):
        memory.backup(":memory:")  # type: ignore[arg-type]


def test_a_sound_memory_has_nothing_to_complain_of(memory: Memory) -> None:
    memory.remember(["one", "two"], session="s")
    assert memory.check() == []


def test_both_memories_have_the_same_verbs() -> None:
    awaited = sorted(
        name for name, member in vars(AsyncMemory).items() if not name.startswith("_") and callable(member)
    )
    assert awaited == VERBS


@pytest.mark.parametrize("verb", [*VERBS, "__init__"])
def test_a_verb_takes_the_same_called_or_awaited(verb: str) -> None:
    called, awaited = (inspect.signature(getattr(kind, verb)) for kind in (Memory, AsyncMemory))
    assert list(called.parameters.values()) == list(awaited.parameters.values())
    assert called.return_annotation == awaited.return_annotation


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_says_the_same_called_or_awaited(verb: str) -> None:
    assert getattr(Memory, verb).__doc__ == getattr(AsyncMemory, verb).__doc__
    assert getattr(Memory, verb).__doc__


@pytest.mark.parametrize("verb", VERBS)
def test_an_awaited_verb_is_known_as_a_coroutine(verb: str) -> None:
    assert inspect.iscoroutinefunction(getattr(AsyncMemory, verb))


def test_the_keywords_of_recall_are_shown_one_by_one() -> None:
    shown = list(inspect.signature(Memory.recall).parameters)
    contract = (
        "k budget scope session tags cue_tags category speaker since until as_of community mode strategy preset where"
    )
    assert set(shown) == {"self", "query", "settings", *contract.split()}


def test_the_keywords_of_remember_are_shown_one_by_one() -> None:
    shown = set(inspect.signature(Memory.remember).parameters)
    assert {"tags", "category", "subject", "at", "session", "speaker", "scope", "source", "metadata"} < shown


@pytest.mark.parametrize("given", ["", "  ", "team\x00.db", 5, b"team.db"])
def test_what_names_no_store_is_refused(given: Any) -> None:
    async def awaited() -> None:
        async with AsyncMemory(given, embedder=None):
            pass

    with pytest.raises(StoreNotOpened, match=r"is no (path|store)"):
        Memory(given, embedder=None)
    with pytest.raises(StoreNotOpened, match=r"is no (path|store)"):
        asyncio.run(awaited())


@pytest.mark.parametrize("given", [5, ["recall.k"], {5: 1}])
def test_settings_that_are_not_by_name_are_refused(given: Any) -> None:
    with pytest.raises(InvalidSetting, match="Settings cannot be"):
        Memory(":memory:", embedder=None, settings=given)
    with Memory(":memory:", embedder=None) as memory, pytest.raises(InvalidSetting, match="Settings cannot be"):
        memory.recall("tea", settings=given)


@pytest.mark.parametrize("says", [datetime.fromisoformat("2026-01-01T12:00"), "now", 0.0])
def test_a_clock_without_a_time_zone_is_refused(says: Any) -> None:
    with Memory(":memory:", embedder=None, clock=lambda: says) as memory:
        with pytest.raises(InvalidInput, match="no time with a time zone"):
            memory.remember("Tea at four.")
        assert memory.stats().size.facts == 0


Awaited = Callable[[AsyncMemory], Any]


def awaiting(store: Store, story: Awaited, **parts: Any) -> Any:
    """Run a story on an AsyncMemory from opening to closing."""

    async def told() -> Any:
        chosen = {"embedder": HashedWords(), "clock": Clock(), **parts}
        async with AsyncMemory(Lent(store), **chosen) as memory:
            return await story(memory)

    return asyncio.run(told())


def test_verbs_can_be_awaited_from_end_to_end(store: Store) -> None:
    async def story(memory: AsyncMemory) -> None:
        heard: list[Progress] = []
        ids = await memory.remember(["Tea at four.", "Pot on the stove."], session="s", progress=heard.append)
        assert heard == [Progress("remember", 2, 2)]
        assert (await memory.recall("tea"))[0].id == ids[0]
        assert [fact.text for fact in await memory.facts(session="s")] == ["Pot on the stove.", "Tea at four."]
        assert (await memory.stats()).size.facts == 2
        assert await memory.configure("recall.k", 1) == 1
        assert len(await memory.recall("tea")) == 1
        assert await memory.reset("recall.k") is True
        assert (await memory.settings()).layer_of(RECALL_K) == "default"
        assert await memory.reembed() == 0
        assert await memory.check() == []
        assert (await memory.forget(ids[0])).ids == (ids[0],)

    awaiting(store, story)


def test_an_error_is_raised_where_it_is_awaited(store: Store) -> None:
    async def story(memory: AsyncMemory) -> None:
        with pytest.raises(NotFound):
            await memory.facts("nowhere")
        with pytest.raises(InvalidFact):
            await memory.remember("")
        with pytest.raises(TypeError, match="colour"):
            await memory.recall("tea", colour="green")

    awaiting(store, story)


def test_many_verbs_may_be_awaited_at_once(store: Store) -> None:
    async def story(memory: AsyncMemory) -> int:
        await asyncio.gather(*(memory.remember(f"tea number {number}") for number in range(20)))
        found = await asyncio.gather(*(memory.recall(f"tea number {number}", k=3) for number in range(20)))
        assert all(one.known for one in found)
        return (await memory.stats()).size.facts

    assert awaiting(store, story) == 20


def test_it_opens_at_its_first_verb_and_only_once(tmp_path: Path) -> None:
    async def story() -> None:
        memory = AsyncMemory(tmp_path / "team.db", embedder=None)
        assert not (tmp_path / "team.db").exists()
        await asyncio.gather(*(memory.stats() for _ in range(5)))
        assert (tmp_path / "team.db").exists()
        await memory.close()

    asyncio.run(story())


def test_closing_what_was_never_opened_is_harmless(tmp_path: Path) -> None:
    asyncio.run(AsyncMemory(tmp_path / "team.db", embedder=None).close())
    assert not (tmp_path / "team.db").exists()


def test_after_closing_an_awaited_verb_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(tmp_path / "team.db", embedder=None) as memory:
            await memory.remember("Tea.")
        with pytest.raises(StoreClosed):
            await memory.facts()

    asyncio.run(story())


def test_a_refused_opening_is_told_to_whoever_awaits(store: Store) -> None:
    awaiting(store, lambda memory: memory.remember("Tea."), embedder=HashedWords("first"))

    async def story(memory: AsyncMemory) -> None:
        raise AssertionError("never opened")

    with pytest.raises(OtherModel, match=r"first.*second"):
        awaiting(store, story, embedder=HashedWords("second"))


def test_called_and_awaited_memories_find_the_same(store: Store, open_memory: Opening) -> None:
    called = open_memory()
    called.remember(["Tea at four.", "Pot on the stove.", "An automobile."])
    found = awaiting(store, lambda memory: memory.recall("car and tea"))
    assert {**found.to_dict(), "id": None} == {**called.recall("car and tea").to_dict(), "id": None}


def test_a_memory_may_be_used_from_many_threads(memory: Memory) -> None:
    async def at_once() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(memory.remember, f"tea number {n}") for n in range(20)))

    ids = asyncio.run(at_once())
    assert len({*ids}) == 20
    assert memory.stats().size.facts == 20


def test_what_can_be_gone_through_only_once_serves_every_fact_and_every_look(memory: Memory) -> None:
    ids = memory.remember(["Tea at four.", "A pot at five."], tags=(tag for tag in ("a", "b")))
    assert [fact.tags for fact in memory.facts()] == [("a", "b")] * 2
    assert memory.recall("tea", scope=(one for one in ["default"])).ids[:1] == (ids[0],)
    assert memory.why("tea", ids[0], tags=iter(["nobody"])).stage == memory.why("tea", ids[0], tags=["nobody"]).stage


def test_metadata_that_nests_too_deep_is_refused(memory: Memory) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InvalidFact, match="nested more than 100 deep"):
        memory.remember("Tea.", metadata={"deep": deep})
    assert memory.facts() == []


def test_a_home_that_is_nobodys_is_told() -> None:
    with pytest.raises(StoreNotOpened, match=r"~nosuchuser/x.db cannot be found.*Give the whole path"):
        Memory("~nosuchuser/x.db")
