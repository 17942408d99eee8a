"""Forgetting: nothing is left of a fact, neither in a table nor among the bytes of the file and its log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
import pytest

from cofire import Memory
from cofire.stores.sqlite import live_index
from tests.conftest import Clock, HashedWords

SECRET = "Quetzalcoatl"
TOLD = f"{SECRET} drinks cocoa with Xochiquetzal at noon."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with (
        patch.object(live_index, "MIN_SNAPSHOT_FACTS", 4),
        Memory(place, embedder=HashedWords(), clock=Clock(), settings={"auto_link.threshold": 0.2}) as opened,
    ):
        yield opened


def told(memory: Memory) -> str:
    """A fact among others, linked with them in every way, described, shown and dreamed of; its id."""
    memory.remember(["Cocoa is drunk at noon.", "Someone drinks cocoa with milk at noon."], session="s")
    id = memory.remember(
        TOLD,
        subject=SECRET,
        tags=["nahuatl"],
        session="s",
        speaker=f"{SECRET} II",
        metadata={"word": SECRET},
        source=SECRET,
    )
    others = memory.remember([f"Cocoa number {number} is drunk with milk." for number in range(40)])
    memory.connect(id, others[0], kind="supports", tags=["nahuatl"])
    memory.connect(id, others[1], kind=f"adored by {SECRET}")
    memory.dream()
    memory.recall("Who drinks cocoa?")
    assert any(SECRET in text for fact in memory.facts() for text in memory.portrait(fact.id).descriptions)
    return id


def every_value(place: Path) -> Iterator[tuple[str, Any]]:
    connection = apsw.Connection(str(place))
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for row in connection.execute(f'SELECT * FROM "{table}"'):
            yield from ((str(table), value) for value in row)
    connection.close()


def traces(place: Path, *words: str) -> list[str]:
    """Where any of these words still stands, whole or in small letters."""
    wanted = [form.encode() for word in words for form in (word, word.lower())]
    files = [path for path in (place, Path(f"{place}-wal"), Path(f"{place}-shm")) if path.exists()]
    found = [f"{path.name}: {word!r}" for path in files for word in wanted if word in path.read_bytes()]
    return found + [
        f"{table}: {value!r}"
        for table, value in every_value(place)
        if any(word in (value if isinstance(value, bytes) else str(value).encode()) for word in wanted)
    ]


def test_no_table_and_no_byte_holds_anything_of_it(memory: Memory, place: Path) -> None:
    id = told(memory)
    key = apsw.Connection(str(place)).execute("SELECT key FROM facts WHERE id = ?", (id,)).get
    assert traces(place, SECRET)
    memory.forget(id)
    assert traces(place, SECRET, "Xochiquetzal", "nahuatl", id) == []
    assert referring(place, key) == []
    memory.recall("Who drinks cocoa?")
    memory.dream()
    assert traces(place, SECRET, "Xochiquetzal", "nahuatl", id) == []


def referring(place: Path, key: int) -> list[str]:
    """Tables with rows that refer to a fact."""
    connection = apsw.Connection(str(place))
    tables = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    columns = [
        (table, row[3])
        for table in tables
        for row in connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
        if row[2] == "facts"
    ]
    return [
        table
        for table, column in columns
        if connection.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (key,)).get
    ]


def test_words_of_it_lead_nowhere_any_more(memory: Memory, place: Path) -> None:
    id = told(memory)
    with Memory(place, embedder=None, settings={"abstention.rule": "off"}) as reader:
        assert id in reader.recall(SECRET).ids
        memory.forget(id)
        assert reader.recall(SECRET).ids == ()


def test_dry_run_tells_all_that_would_go(memory: Memory) -> None:
    id = told(memory)
    radius = memory.forget(id, dry_run=True).radius
    assert (radius.facts, radius.vectors) == (1, 1)
    assert radius.edges == len(memory.edges(ids=[id]))
    assert min(radius.edges, radius.mentions, radius.subjects, radius.words, len(radius.cited)) > 0
    described = [
        fact.id
        for fact in memory.facts()
        if fact.id != id and any(SECRET in text for text in memory.portrait(fact.id).descriptions)
    ]
    assert sorted(radius.cited) == sorted(described)


def test_others_lose_the_gist_and_keep_the_rest(memory: Memory) -> None:
    id = told(memory)
    cited = memory.forget(id, dry_run=True).radius.cited
    before = {one: memory.portrait(one).descriptions for one in cited}
    memory.forget(id)
    for one, texts in before.items():
        kept = [part for text in texts for part in text.removeprefix("Goes with: ").split("; ") if part != SECRET]
        now = "; ".join(memory.portrait(one).descriptions)
        assert SECRET not in now
        assert all(part in now for part in kept)


def test_gist_that_another_fact_gave_too_stays(memory: Memory) -> None:
    base = memory.remember("Cocoa is drunk with milk at noon.")
    one = memory.remember("Cocoa is drunk with milk at noon in Quito.", subject="Quito")
    other = memory.remember("Cocoa is drunk with milk at noon all over Quito.", subject="Quito")
    assert "Quito" in memory.portrait(base).descriptions[-1]
    memory.forget(one)
    assert "Quito" in memory.portrait(base).descriptions[-1]
    memory.forget(other)
    assert memory.portrait(base).descriptions == ()


@pytest.mark.slow
def test_no_byte_is_left_when_pages_were_split_and_merged(place: Path) -> None:
    with Memory(place, embedder=None, clock=Clock()) as memory:
        ids = [memory.remember(f"Word{number}x " * (1 + number % 60), session="s") for number in range(400)]
        memory.dream()
        for number in range(0, 400, 7):
            memory.remember(f"Word{number}x " * (1 + number % 60), session="s", tags=[f"tag{number}"])
        doomed = ids[3::5]
        memory.forget(doomed)
        content = place.read_bytes()
        assert [number for number in range(3, 400, 5) if f"Word{number}x".encode() in content] == []
