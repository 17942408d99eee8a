"""Refused items: all or nothing by default, whatever the size; skipped and reported where asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from cofire import AsyncMemory, Memory
from cofire.errors import InvalidFact, InvalidInput, NotFound, StoreFull
from cofire.verbs.remember import SkippedItem

BATCH = {"remember.batch": 4}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(":memory:", embedder=None, settings=BATCH) as opened:
        yield opened


@pytest.mark.parametrize("size", [0, 2, 3, 4, 5, 30])
def test_refused_item_means_that_nothing_is_stored(memory: Memory, size: int) -> None:
    items: list[Any] = [f"Note {number}." for number in range(size)]
    with pytest.raises(InvalidFact, match=rf"Fact {size + 1}: .*Nothing was stored") as refusal:
        memory.remember([*items, None, "Last."])
    assert refusal.value.index == size
    assert 'errors="skip"' in refusal.value.way_out
    assert memory.stats().size.facts == 0


@pytest.mark.parametrize("given", [b"x", [b"x"], bytearray(b"x")])
def test_bytes_alone_and_in_a_list_are_refused_with_the_way_to_decode_them(memory: Memory, given: Any) -> None:
    with pytest.raises(InvalidFact, match=r"not bytes.*data\.decode"):
        memory.remember(given)


PAST, FUTURE = "2020-01-01", "2999-01-01"


def test_fact_that_has_expired_already_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidFact, match=r"expires is 2020-01-01.*in the past"):
        memory.remember("Tea.", expires=PAST)
    with pytest.raises(InvalidFact, match="Fact 2: expires is 2020-01-01"):
        memory.remember(["Tea.", {"text": "Milk.", "expires": PAST}])
    with pytest.raises(InvalidFact, match="in the past"):
        memory.ingest([{"role": "user", "content": "Tea."}], expires=PAST)
    assert memory.stats().size.facts == 0


def test_only_the_expired_item_is_skipped(memory: Memory) -> None:
    result = memory.remember([{"text": "Tea.", "expires": PAST}, "Milk."], expires=FUTURE, errors="skip")
    assert [item.index for item in result.skipped] == [0]
    assert [fact.text for fact in memory.facts()] == ["Milk."]


def test_bytes_in_a_mapping_or_as_a_question_say_how_to_decode_them(memory: Memory) -> None:
    with pytest.raises(InvalidFact, match=r"not bytes.*data\.decode"):
        memory.remember({"text": b"x"})
    with pytest.raises(InvalidInput, match=r"not bytes.*data\.decode"):
        memory.recall(b"x")  # type: ignore[arg-type]


@pytest.mark.parametrize(("field", "meant"), [("user_id", "scope"), ("session_id", "session"), ("txt", "text")])
def test_field_of_another_tool_is_refused_with_ours(memory: Memory, field: str, meant: str) -> None:
    with pytest.raises(InvalidFact, match=rf"no {field}\. Did you mean {meant}\?"):
        memory.remember({"text": "Tea.", field: "x"})


def test_update_may_expire_a_fact_at_once(memory: Memory) -> None:
    id = memory.remember("Tea.", expires=FUTURE)
    memory.update(id, expires=PAST)
    assert not memory.recall("tea").known


def test_generator_that_breaks_stores_nothing(memory: Memory) -> None:
    def notes() -> Iterator[str]:
        yield from (f"Note {number}." for number in range(10))
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError):
        memory.remember(notes())
    assert memory.stats().size.facts == 0


def test_skipped_items_are_reported(memory: Memory) -> None:
    items: list[Any] = ["Tea.", None, "Coffee.", " ", {"text": "Milk.", "colour": 1}, *(f"Note {n}." for n in range(9))]
    result = memory.remember(items, errors="skip")
    assert [index for index, id in enumerate(result) if id is None] == [1, 3, 4]
    assert [item.index for item in result.skipped] == [1, 3, 4]
    assert "empty" in result.skipped[1].problem
    assert isinstance(result.skipped[0], SkippedItem)
    ids = [id for id in result if id is not None]
    assert [fact.text for fact in memory.facts(ids)][:2] == ["Tea.", "Coffee."]


def test_only_refused_items_store_nothing_and_are_all_reported(memory: Memory) -> None:
    items: list[Any] = [None, ""]
    result = memory.remember(items, errors="skip")
    assert list(result) == [None, None]
    assert len(result.skipped) == 2


def test_async_memory_skips_alike() -> None:
    async def skip() -> list[str | None]:
        async with AsyncMemory(":memory:", embedder=None) as memory:
            items: list[Any] = ["Tea.", None]
            return await memory.remember(items, errors="skip")

    assert asyncio.run(skip())[1] is None


def test_store_that_fails_in_between_says_how_many_are_stored(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    store = memory._opened.context.store
    write, batches = store.write, []

    def fill_up(change: Any, *arguments: Any, **keywords: Any) -> Any:
        if change.facts:
            batches.append(change)
        if len(batches) > 2:
            raise StoreFull("The disk is full.", way_out="Free some space.")
        return write(change, *arguments, **keywords)

    monkeypatch.setattr(type(store), "write", lambda _, *arguments, **keywords: fill_up(*arguments, **keywords))
    with pytest.raises(StoreFull, match="The first 8 of 10 facts are stored"):
        memory.remember([f"Note {number}." for number in range(10)])


def test_unknown_superseded_fact_in_a_late_batch_means_that_nothing_is_stored(memory: Memory) -> None:
    items: list[Any] = [f"Note {number}." for number in range(10)]
    with pytest.raises(NotFound):
        memory.remember([*items, {"text": "Last.", "supersedes": "01M7GRXZ72ER9HC7SM0EVVJFVW"}])
    assert memory.stats().size.facts == 0


def test_other_ways_of_errors_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="raise, skip"):
        memory.remember(["Tea."], errors="ignore")  # type: ignore[call-overload]


def test_bytes_are_refused_with_the_way_to_decode_them(memory: Memory) -> None:
    with pytest.raises(InvalidFact, match=r"not bytes.*decode"):
        memory.remember(b"Tea is at four.")  # type: ignore[call-overload]


@pytest.mark.parametrize("alias", ["content", "memory"])
def test_text_may_have_the_name_that_other_tools_use(memory: Memory, alias: str) -> None:
    assert (
        memory.facts(memory.remember({alias: "Tea is at four.", "created_at": "2024-03-14"}))[0].text
        == "Tea is at four."
    )


def test_field_given_twice_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidFact, match="text twice, also as content"):
        memory.remember({"text": "Tea.", "content": "Coffee."})


def test_near_miss_of_a_field_is_named(memory: Memory) -> None:
    with pytest.raises(InvalidFact, match="Did you mean speaker"):
        memory.remember({"text": "Tea.", "speeker": "Ana"})


def unable_to_replace(memory: Memory) -> list[dict[str, str]]:
    """Facts that cannot replace what they name: no fact has the id, it is of another scope, it is the same fact."""
    other = memory.remember("Tea is at three.", scope="other")
    same = memory.remember("Tea is at two.")
    return [
        {"text": "Tea is at four.", "supersedes": "nope"},
        {"text": "Tea is at five.", "supersedes": other},
        {"text": "Tea is at two.", "supersedes": same},
    ]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 10])
def test_item_that_cannot_replace_what_it_names_means_that_nothing_is_stored(
    memory: Memory, size: int, place: int
) -> None:
    item = unable_to_replace(memory)[place]
    before = memory.stats().facts
    items: list[Any] = [*(f"Note {number}." for number in range(size)), item]
    with pytest.raises((NotFound, InvalidInput), match=rf"Fact {size + 1}: .*Nothing was stored") as refusal:
        memory.remember(items)
    assert refusal.value.index == size
    assert memory.stats().facts == before


def test_items_that_cannot_replace_what_they_name_are_skipped(memory: Memory) -> None:
    old = memory.remember("Tea is at one.")
    items: list[Any] = [None, *unable_to_replace(memory), {"text": "Tea is at six.", "supersedes": old}]
    result = memory.remember(items, errors="skip")
    assert [item.index for item in result.skipped] == [0, 1, 2, 3]
    assert [fact.id for fact in memory.facts(superseded=True)] == [old]
    assert result[:4] == [None] * 4
    assert [fact.text for fact in memory.facts(result[4])] == ["Tea is at six."]


@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_fact_that_was_replaced_can_replace_its_successor(memory: Memory, errors: Any) -> None:
    old = memory.remember("Tea is at one.")
    new = memory.remember("Tea is at two.", supersedes=old)
    assert memory.remember([{"text": "Tea is at one.", "supersedes": new}], errors=errors) == [old]
    assert [fact.id for fact in memory.facts(superseded=True)] == [new]
