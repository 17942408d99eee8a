"""Filters by metadata in every verb that takes filters, on every store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cofire import AsyncMemory
from cofire.errors import InvalidInput
from cofire.memory import Memory
from tests.conftest import Opening

NOTES = [
    {"text": "The Aurora pilot starts in June.", "metadata": {"project": "aurora", "priority": 4}},
    {"text": "The Aurora pilot has twelve testers.", "metadata": {"project": "aurora", "priority": 1}},
    {"text": "The Borealis pilot starts in July.", "metadata": {"project": ["borealis", "aurora"], "priority": 3}},
    {"text": "The Zephyr pilot has no date yet."},
]


@pytest.fixture
def told(memory: Memory) -> Memory:
    memory.remember(NOTES)
    return memory


def texts(found: object) -> set[str]:
    return {one.text for one in found}  # type: ignore[attr-defined]


def test_recall_returns_only_facts_whose_metadata_match(told: Memory) -> None:
    question = "When does the pilot start?"
    assert texts(told.recall(question, where={"project": "borealis"})) == {NOTES[2]["text"]}
    assert texts(told.recall(question, where={"priority": {"gte": 3}})) == {NOTES[0]["text"], NOTES[2]["text"]}
    assert texts(told.recall(question, where={"project": {"exists": False}})) == {NOTES[3]["text"]}
    assert texts(
        told.recall("How many testers does the pilot have?", where={"project": "aurora", "priority": [1, 2]})
    ) == {NOTES[1]["text"]}


def test_facts_and_forget_take_the_same_filter(told: Memory) -> None:
    assert texts(told.facts(where={"project": {"ne": "aurora"}})) == {NOTES[3]["text"]}
    gone = told.forget(where={"priority": {"lt": 2}})
    assert len(gone.ids) == 1
    assert told.facts(where={"priority": 1}) == []
    told.undo(gone.receipt)
    assert texts(told.facts(where={"priority": 1})) == {NOTES[1]["text"]}


def test_an_update_changes_what_the_filter_finds(told: Memory) -> None:
    [fact] = told.facts(where={"project": "borealis"})
    told.update(fact.id, metadata={"project": "zephyr"})
    assert told.facts(where={"project": "borealis"}) == []
    assert texts(told.recall("When does the pilot start?", where={"project": "zephyr"})) == {fact.text}


def test_filtered_facts_do_not_come_back_through_the_graph(open_memory: Opening) -> None:
    memory = open_memory(settings={"bridges.enabled": True, "abstention.rule": "off"})
    seed, hidden, beyond = memory.remember(
        [
            {"text": "Ana leads the Porto office.", "metadata": {"project": "x"}},
            {"text": "Porto stores the kettle of Ana.", "metadata": {"project": "y"}},
            {"text": "The kettle of Ana is copper.", "metadata": {"project": "x"}},
        ]
    )
    memory.connect(seed, hidden, kind="supports", weight=1.0, confidence=1.0)
    memory.connect(hidden, beyond, kind="supports", weight=1.0, confidence=1.0)
    memory.dream()
    for mode in ("full", "graph"):
        every = {hit.id for hit in memory.recall("Who leads the Porto office?", mode=mode)}
        assert hidden in every
        some = memory.recall("Who leads the Porto office?", mode=mode, where={"project": "x"})
        assert hidden not in {hit.id for hit in some}
        assert hidden not in {step for hit in some for hop in hit.hops for step in (hop.source, hop.target)}


def test_explore_starts_from_and_reaches_only_facts_that_match(memory: Memory) -> None:
    tea, cup, cake = memory.remember(
        [
            {"text": "Tea is at four.", "metadata": {"project": "x"}},
            {"text": "Cups are in the kitchen.", "metadata": {"project": "y"}},
            {"text": "Cake is at five.", "metadata": {"project": "x"}},
        ]
    )
    memory.connect(tea, cup, kind="supports", weight=1.0, confidence=1.0)
    memory.connect(tea, cake, kind="supports", weight=1.0, confidence=1.0)
    assert set(memory.explore(tea).ids) == {tea, cup, cake}
    assert set(memory.explore(tea, where={"project": "x"}).ids) == {tea, cake}
    assert cup not in memory.explore(query="When is tea?", where={"project": "x"}).ids
    [seed] = memory.explore(cup, where={"project": "x"}).seeds
    assert seed.reason == f"No fact has the id {cup} and passes the filter where."
    with pytest.raises(InvalidInput, match="Did you mean gte"):
        memory.explore(tea, where={"project": {">=": 1}})


def test_the_graph_shows_only_facts_that_match(told: Memory) -> None:
    picture = told.graph(where={"project": "aurora"})
    assert {node.fact.text for node in picture.nodes} == {note["text"] for note in NOTES[:3]}
    few = told.graph(where={"project": "borealis"}, limit=2)
    assert ([node.fact.text for node in few.nodes], few.clusters) == ([NOTES[2]["text"]], ())
    first, second, _, other = (fact.id for fact in reversed(told.facts()))
    told.connect(first, second, kind="supports")
    told.connect(first, other, kind="supports")
    around = told.graph(first, where={"project": "aurora"})
    shown = {node.fact.id for node in around.nodes}
    assert second in shown
    assert other not in shown
    with pytest.raises(InvalidInput, match="where is empty"):
        told.graph(where={})


def test_k_facts_come_back_where_many_others_are_more_similar(memory: Memory) -> None:
    memory.remember([f"The Aurora pilot starts in June, says note {n}." for n in range(60)])
    memory.remember([{"text": f"Pilot {n}.", "metadata": {"project": "x"}} for n in range(3)])
    found = memory.recall("When does the Aurora pilot start?", k=3, where={"project": "x"})
    assert texts(found.hits or found.guesses) == {f"Pilot {n}." for n in range(3)}


def test_forget_refuses_an_empty_filter(told: Memory) -> None:
    with pytest.raises(InvalidInput, match="where is empty"):
        told.forget(where={})
    assert len(told.facts()) == len(NOTES)


def test_why_names_the_filter_and_how_to_loosen_it(told: Memory) -> None:
    [fact] = told.facts(where={"priority": 1})
    where = {"project": "aurora", "priority": {"gte": 3}}
    found = told.why("How many testers does the Aurora pilot have?", fact.id, where=where)
    assert not found.returned
    [refusal] = found.refusals
    assert (refusal.filter, refusal.has) == ("where", '{"project": "aurora", "priority": 1}')
    assert any(remedy.asked == {"where": {"project": {"eq": "aurora"}}} for remedy in found.remedies)


def test_export_takes_the_filter(told: Memory, tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    told.export(path, where={"project": "borealis"})
    assert "Borealis" in path.read_text()
    assert "Aurora" not in path.read_text()


def test_a_bad_filter_is_refused_by_recall_and_facts(told: Memory) -> None:
    with pytest.raises(InvalidInput, match="Did you mean gt"):
        told.recall("Who?", where={"a": {"after": 1}})
    with pytest.raises(InvalidInput, match="eq, ne, gt, gte, lt, lte, exists"):
        told.facts(where={"a": {"near": 1}})


def test_async_memory_takes_the_filter(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(tmp_path / "team.db", embedder=None) as memory:
            await memory.remember(NOTES)
            found = await memory.recall("When does the pilot start?", where={"project": "borealis"})
            assert texts(found) == {NOTES[2]["text"]}
            assert texts(await memory.facts(where={"priority": {"gt": 3}})) == {NOTES[0]["text"]}
            [fact] = await memory.facts(where={"project": "borealis"})
            assert set((await memory.explore(fact.id, where={"project": "borealis"})).ids) == {fact.id}
            assert [node.fact for node in (await memory.graph(where={"project": "borealis"})).nodes] == [fact]
            assert (await memory.forget(where={"project": "borealis"})).ids == (fact.id,)

    asyncio.run(story())
