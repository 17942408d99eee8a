"""One open memory, several sessions: recalls are told apart, everything else is shared."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cofire import AsyncMemory, Memory
from cofire.errors import InvalidInput
from cofire.mcp import served_memory as desks
from cofire.mcp.served_memory import ServedMemory
from tests.conftest import sqlite_store

TEA = "Tea is at four."


def sessions(folder: Path, *recalls: str) -> list[str | None]:
    opened = sqlite_store(folder)
    try:
        found = [opened.read_recall(recall) for recall in recalls]
    finally:
        opened.close()
    return [shown.session if shown else None for shown in found]


def test_a_memory_in_another_session_logs_its_recalls_there(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder=None, session="monday") as memory:
        tuesday = memory.in_session("tuesday")
        tuesday.remember(TEA)
        recalls = [one.recall("When is tea?").id for one in (memory, tuesday)]
    assert sessions(tmp_path, *recalls) == ["monday", "tuesday"]


def test_a_session_needs_a_name(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder=None) as memory, pytest.raises(InvalidInput, match="session is empty"):
        memory.in_session(" ")


def test_awaited_it_is_the_same(tmp_path: Path) -> None:
    async def story() -> list[str]:
        async with AsyncMemory(tmp_path / "memory.db", embedder=None, session="monday") as memory:
            tuesday = await memory.in_session("tuesday")
            await tuesday.remember(TEA)
            return [(await one.recall("When is tea?")).id for one in (memory, tuesday)]

    assert sessions(tmp_path, *asyncio.run(story())) == ["monday", "tuesday"]


def test_a_desk_lets_go_of_the_oldest_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "MAX_SESSIONS", 2)

    async def story() -> list[str]:
        async with AsyncMemory(tmp_path / "memory.db", embedder=None) as memory:
            desk = ServedMemory(memory)
            for name in ("monday", "tuesday", "wednesday"):
                await (await desk.for_session(name)).memory.recall("When is tea?")
            return list(desk._sessions)

    assert asyncio.run(story()) == ["tuesday", "wednesday"]


def test_what_one_session_was_shown_no_other_stores_again(tmp_path: Path) -> None:
    async def story() -> tuple[str, str | None]:
        async with AsyncMemory(tmp_path / "memory.db", embedder=None) as memory:
            id = await memory.remember(TEA)
            desk = ServedMemory(memory)
            (await desk.for_session("monday")).show(await memory.facts([id]))
            return id, await (await desk.for_session("tuesday")).shown(TEA)

    told, known = asyncio.run(story())
    assert told == known
