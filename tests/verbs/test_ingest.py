"""Ingest: into a memory, on every store, once and again."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cofire.async_memory import AsyncMemory
from cofire.errors import InvalidFact, InvalidInput
from cofire.memory import Memory
from cofire.verbs.ingest import IngestResult, ingest
from cofire.verbs.remember import Progress
from tests.conftest import Faltering

CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "When is tea served?", "timestamp": "2024-05-01T12:00:00Z"},
    {"role": "assistant", "content": "Tea is served at four.", "timestamp": "2024-05-01T12:00:05Z"},
    {"role": "user", "content": "", "timestamp": "2024-05-01T12:00:09Z"},
    {"role": "user", "content": " "},
]
GUIDE = "---\ntags: [house]\n---\n# Tea\n\nServed at four.\n\n## Cake\n\nOn Sundays:\n\n- apple\n- plum\n"


def take_in(memory: Memory, given: Any, progress: Any = None, **keywords: Any) -> IngestResult:
    return memory._run(lambda settings: ingest(given, keywords, settings), progress)


def guide(folder: Path) -> Path:
    path = folder / "docs" / "guide.md"
    path.parent.mkdir()
    path.write_text(GUIDE, encoding="utf-8")
    return path


def test_a_conversation_is_recalled(memory: Memory) -> None:
    taken = take_in(memory, CHAT, session="deploy-42")
    assert (taken.fresh, taken.known, taken.files) == (2, 0, ())
    best = memory.recall("When is tea served?", k=2)
    assert {hit.text for hit in best} == {"When is tea served?", "Tea is served at four."}


def test_turns_are_neighbours_in_their_session(wordy: Memory) -> None:
    found = wordy.facts(list(take_in(wordy, CHAT, session="deploy-42").ids))
    assert [(fact.session, fact.position, fact.speaker) for fact in found] == [
        ("deploy-42", 0, "user"),
        ("deploy-42", 1, "assistant"),
    ]
    assert found[0].at == datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_what_was_left_out_is_counted(wordy: Memory) -> None:
    skipped = take_in(wordy, CHAT).skipped
    assert [(one.where, one.reason, one.count) for one in skipped] == [
        ("messages", "A system message.", 1),
        ("messages", "An empty message.", 2),
    ]


def test_the_systems_words_are_taken_in_when_wanted(wordy: Memory) -> None:
    assert take_in(wordy, CHAT, system=True).fresh == 3


def test_a_document_is_recalled_by_its_headings(wordy: Memory, tmp_path: Path) -> None:
    path = guide(tmp_path)
    taken = take_in(wordy, path, tags=["Docs"], scope="team", category="knowledge", metadata={"by": "Ana"})
    assert taken.files == (path.as_posix(),)
    best = wordy.recall("cake", scope="team", k=1)[0]
    fact = wordy.facts(best.id)[0]
    assert fact.text == "On Sundays:\n- apple\n- plum"
    assert (fact.tags, fact.category, fact.scope) == (("docs", "house"), "knowledge", "team")
    assert fact.metadata == {"by": "Ana", "trail": ["Tea", "Cake"], "line": 12}
    assert (fact.source, fact.session, fact.position) == (path.as_posix(), path.as_posix(), 1)


def test_the_second_time_nothing_is_new_and_nothing_is_reinforced(wordy: Memory, tmp_path: Path) -> None:
    guide(tmp_path)
    first = [take_in(wordy, CHAT, session="s"), take_in(wordy, tmp_path / "docs")]
    before = wordy.facts()
    again = [take_in(wordy, CHAT, session="s"), take_in(wordy, tmp_path / "docs")]
    assert [one.ids for one in again] == [one.ids for one in first]
    assert [(one.fresh, one.known) for one in again] == [(0, 2), (0, 2)]
    assert wordy.facts() == before


def test_a_conversation_that_went_on_adds_only_its_new_turns(wordy: Memory) -> None:
    take_in(wordy, CHAT[:2], session="s")
    taken = take_in(wordy, CHAT, session="s")
    assert (taken.fresh, taken.known) == (1, 1)
    assert [fact.position for fact in wordy.facts(list(taken.ids))] == [0, 1]


def test_the_same_words_again_keep_their_id(wordy: Memory) -> None:
    taken = take_in(wordy, [{"role": "user", "content": "Yes."}] * 3, session="s")
    assert (taken.fresh, taken.known) == (1, 2)
    assert len(taken.ids) == 3
    assert len(set(taken.ids)) == 1


def test_progress_counts_pieces(store: Any) -> None:
    with Memory(store, embedder=None, settings={"remember.batch": 2}) as memory:
        told: list[Progress] = []
        take_in(memory, ({"role": "user", "content": f"Word {number}."} for number in range(5)), told.append)
    assert told == [Progress("ingest", done, None) for done in (2, 4, 5)]


def test_keywords_are_checked_before_anything_is_read(wordy: Memory) -> None:
    with pytest.raises(InvalidFact, match="at cannot be 'soon'"):
        take_in(wordy, "no/such/place", at="soon")


def test_tags_may_come_from_a_generator(wordy: Memory) -> None:
    taken = take_in(wordy, CHAT, tags=(tag for tag in ("a", "b")))
    assert {fact.tags for fact in wordy.facts(list(taken.ids))} == {("a", "b")}


def test_a_file_is_taken_in_whole_or_not_at_all(wordy: Memory, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "Hi."}\n{"role": "user"', encoding="utf-8")
    with pytest.raises(InvalidInput, match="Line 2 is not JSON"):
        take_in(wordy, path)
    assert wordy.facts() == []


def test_a_fact_that_memory_refuses_skips_its_file(wordy: Memory, tmp_path: Path) -> None:
    guide(tmp_path)
    (tmp_path / "docs" / "chat.json").write_text(f'[{{"speaker": "{"A" * 2_000}", "text": "Hi."}}]', encoding="utf-8")
    taken = take_in(wordy, tmp_path / "docs")
    assert taken.fresh == 2
    assert [one.reason for one in taken.skipped] == ["speaker has 2,000 characters."]


def test_what_was_remembered_stays_when_the_embedder_fails_later(store: Any) -> None:
    with Memory(store, embedder=Faltering(batches=1), settings={"remember.batch": 1}) as memory:
        with pytest.raises(Exception, match="out of breath"):
            take_in(memory, CHAT, session="s")
        assert len(memory.facts()) == 1


def test_nothing_given_is_nothing_ingested(wordy: Memory) -> None:
    assert take_in(wordy, []) == IngestResult()


def test_where_nothing_was_said_nothing_is_remembered(wordy: Memory) -> None:
    taken = take_in(wordy, CHAT[3:])
    assert (taken.ids, taken.fresh, len(taken.skipped)) == ((), 0, 1)


def test_whoever_awaits_is_not_held_up_by_reading(tmp_path: Path) -> None:
    guide(tmp_path)
    readers: list[str] = []

    def messages() -> Any:
        readers.append(threading.current_thread().name)
        yield from CHAT

    async def main() -> list[IngestResult]:
        async with AsyncMemory(":memory:", embedder=None) as memory:
            return [await memory._run(partial(ingest, given, {})) for given in (messages(), tmp_path / "docs")]

    assert [taken.fresh for taken in asyncio.run(main())] == [2, 2]
    assert readers != [threading.main_thread().name]
