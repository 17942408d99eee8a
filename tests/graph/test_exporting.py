"""A store as JSONL that comes back the same, and as GraphML that other programs open."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cofire import Memory
from cofire.errors import InvalidFact, InvalidInput, StoreFull, StoreNotOpened
from cofire.runtime.runner import run_steps
from cofire.verbs.transfer import load
from tests.conftest import Clock, Opening

AT = datetime(2025, 5, 8, 13, 56, tzinfo=UTC)


@pytest.fixture
def full(memory: Memory) -> Memory:
    a = memory.remember(
        "Ana moved to Łódź & <loves> it.", tags=["home", "city"], at=AT, speaker="Ana", session="s", metadata={"n": 1}
    )
    b = memory.remember("She found a flat.", session="s", source="chat.json", category="event", subject="Flat")
    memory.remember("Elsewhere.", scope="other", valid_until=datetime(2030, 1, 1, tzinfo=UTC))
    memory.connect(a, b, kind="causes", weight=0.7, confidence=0.6, tags=["move"])
    memory.dream()
    return memory


def told(memory: Memory) -> set[tuple]:
    return {
        (fact.text, fact.tags, fact.category, fact.subject, fact.at, fact.session, fact.speaker, fact.scope, fact.source,
         json.dumps(fact.metadata), fact.valid_until)
        for fact in memory.facts()
    }  # fmt: skip


def drawn(memory: Memory) -> set[tuple]:
    text = {fact.id: fact.text for fact in memory.facts()}
    return {
        (
            frozenset((text[edge.source], text[edge.target])),
            edge.kind,
            edge.weight,
            edge.confidence,
            edge.tags,
            edge.origin,
        )
        for edge in memory.edges()
    }


def test_an_export_comes_back_the_same(full: Memory, tmp_path: Path) -> None:
    done = full.export(tmp_path / "all.jsonl")
    other = Memory(":memory:", embedder=None)
    loaded = other.load(tmp_path / "all.jsonl")
    assert (done.facts, loaded.facts) == (3, 3)
    assert told(other) == told(full)
    assert drawn(other) == drawn(full)


def test_edges_are_as_old_where_they_are_loaded(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    first = Memory(":memory:", embedder=None, clock=clock)
    first.remember(["We met in Porto.", "Then we went home."], session="s")
    first.export(tmp_path / "all.jsonl")
    clock.now += timedelta(days=400)
    memory.load(tmp_path / "all.jsonl")
    assert [edge.strengthened for edge in memory.edges()] == [edge.strengthened for edge in first.edges()]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e", "\r", "\n"])
def test_a_text_of_several_lines_comes_back_the_same(open_memory: Opening, tmp_path: Path, separator: str) -> None:
    text = f"One line{separator}and another."
    memory = open_memory(None)
    memory.remember(text)
    memory.export(tmp_path / "all.jsonl")
    other = Memory(":memory:", embedder=None)
    other.load(tmp_path / "all.jsonl")
    assert [fact.text for fact in other.facts()] == [text]


def test_what_is_pinned_or_archived_is_so_where_it_is_loaded(open_memory: Opening, tmp_path: Path) -> None:
    memory = open_memory(None)
    ids = memory.remember(["Tea is green.", "Rain is wet.", "Snow is white."])
    memory.pin(ids[0])
    memory.archive(ids[1])
    memory.export(tmp_path / "all.jsonl")
    other = Memory(":memory:", embedder=None)
    for into in (other, memory):
        into.load(tmp_path / "all.jsonl")
        assert {fact.text: fact.pinned for fact in into.facts()} == {"Tea is green.": True, "Snow is white.": False}
        assert into.stats().size.archived == 1


def test_a_fact_without_an_id_is_loaded(open_memory: Opening, tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(
        '{"is": "export", "format": "cofire", "version": 1}\n{"is": "fact", "text": "Tea is green."}\n'
    )
    memory = open_memory(None)
    assert memory.load(tmp_path / "own.jsonl").facts == 1


def test_loading_twice_stores_nothing_twice(full: Memory, tmp_path: Path) -> None:
    full.export(tmp_path / "all.jsonl")
    edges = drawn(full)
    full.load(tmp_path / "all.jsonl")
    assert len(full.facts()) == 3
    assert drawn(full) == edges


def test_an_older_export_leaves_what_happened_since(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    old, new, dull = memory.remember(["Ana lives in Porto.", "Ana lives in Lisbon.", "Rain is wet."])
    memory.connect(old, new, kind="likes", weight=0.2)
    memory.export(tmp_path / "old.jsonl")
    clock.now += timedelta(days=1)
    memory.supersede(old, new)
    memory.archive(dull)
    memory.connect(old, new, kind="likes", weight=0.9, mode="update")
    before = memory.facts([old, new, dull]), memory.edges()
    assert memory.load(tmp_path / "old.jsonl").new == 0
    assert (memory.facts([old, new, dull]), memory.edges()) == before


def test_what_was_superseded_can_be_taken_back_where_it_is_loaded(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    begins = clock.now + timedelta(days=5)
    old, new = memory.remember([{"text": "Ana lives in Porto.", "valid_from": begins}, "Ana lives in Lisbon."])
    memory.supersede(old, new)
    until = memory.facts(old)[0].valid_until
    memory.export(tmp_path / "all.jsonl")
    other = Memory(":memory:", embedder=None, clock=clock)
    for _ in range(2):
        other.load(tmp_path / "all.jsonl")
        held = {
            fact.text: fact for fact in other.facts([id for edge in other.edges() for id in (edge.source, edge.target)])
        }
        assert held["Ana lives in Porto."].valid_until == until
    other.unsupersede(held["Ana lives in Porto."].id, held["Ana lives in Lisbon."].id)
    [back] = other.facts(held["Ana lives in Porto."].id)
    assert (back.valid_from, back.valid_until) == (begins, None)


def test_an_export_never_takes_the_place_of_a_store(tmp_path: Path) -> None:
    with Memory(tmp_path / "own.db", embedder=None) as memory:
        memory.remember("Tea is green.")
        for place in (tmp_path / "own.db", tmp_path / "link.db"):
            (tmp_path / "link.db").unlink(missing_ok=True)
            (tmp_path / "link.db").symlink_to(tmp_path / "own.db")
            with pytest.raises(InvalidInput, match="is a store"):
                memory.export(place)
    with Memory(tmp_path / "own.db", embedder=None) as memory:
        assert [fact.text for fact in memory.facts()] == ["Tea is green."]


@pytest.mark.parametrize("path", ["\x00", "a\ud800"])
def test_a_path_that_no_file_can_have_is_refused(memory: Memory, path: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be used"):
        memory.export(path)
    with pytest.raises(InvalidInput, match="cannot be used"):
        memory.load(path)


@pytest.mark.parametrize("path", [None, 5, "", b"bytes"])
def test_what_is_no_path_is_refused(memory: Memory, path: Any) -> None:
    for verb in (memory.export, memory.load, memory.backup):
        with pytest.raises(InvalidInput, match="A file cannot be at"):
            verb(path)


def test_a_filter_exports_a_part_with_the_edges_inside_it(full: Memory, tmp_path: Path) -> None:
    assert full.export(tmp_path / "part.jsonl", scope="other").facts == 1
    assert "Elsewhere" in (tmp_path / "part.jsonl").read_text(encoding="utf-8")
    assert '"is": "edge"' not in (tmp_path / "part.jsonl").read_text(encoding="utf-8")


def test_graphml_is_xml_with_every_fact_and_edge(full: Memory, tmp_path: Path) -> None:
    done = full.export(tmp_path / "graph.graphml")
    root = ElementTree.parse(tmp_path / "graph.graphml").getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(root.findall(f".//{space}node")) == done.facts == 3
    assert len(root.findall(f".//{space}edge")) == done.edges == len(full.edges())
    assert any(item.text == "Ana moved to Łódź & <loves> it." for item in root.iter(f"{space}data"))


def test_graphml_leaves_out_letters_that_xml_does_not_know(open_memory: Opening, tmp_path: Path) -> None:
    memory = open_memory(None)
    memory.remember("Bell\x07, nothing\ufffe and none\uffff.")
    memory.export(tmp_path / "graph.graphml")
    texts = [item.text for item in ElementTree.parse(tmp_path / "graph.graphml").getroot().iter()]
    assert "Bell, nothing and none." in texts


def test_networkx_opens_the_graphml(full: Memory, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    full.export(tmp_path / "graph.graphml")
    graph = networkx.read_graphml(tmp_path / "graph.graphml")
    assert set(graph.nodes) == {fact.id for fact in full.facts()}
    kinds = {values["kind"] for *_, values in graph.edges(data=True)}
    assert "causes" in kinds
    assert all(0 <= values["weight"] <= 1 for *_, values in graph.edges(data=True))


@pytest.mark.parametrize(
    "text", ["", "not json\n", '{"is": "fact"}\n', '{"is": "export", "format": "cofire", "version": 99}\n', "[]\n"]
)
def test_a_file_that_is_no_export_is_refused_and_nothing_is_stored(
    open_memory: Opening, tmp_path: Path, text: str
) -> None:
    memory = open_memory(None)
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(InvalidInput):
        memory.load(tmp_path / "bad.jsonl")
    assert memory.facts() == []


def test_a_broken_line_is_named(full: Memory, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    full.export(path)
    path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"Line {len(path.read_text(encoding='utf-8').splitlines())}"):
        full.load(path)


def test_a_missing_folder_is_said_and_no_half_file_stays(full: Memory, tmp_path: Path) -> None:
    with pytest.raises(StoreNotOpened, match="nowhere"):
        full.export(tmp_path / "nowhere" / "all.jsonl")
    with pytest.raises(StoreNotOpened):
        full.load(tmp_path / "missing.jsonl")
    assert list(tmp_path.glob("*.unfinished")) == []


def test_an_export_onto_a_folder_leaves_nothing_beside_it(full: Memory, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreNotOpened, match="folder"):
        full.export(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"weight": 7}, "weight cannot be 7"),
        ({"weight": float("inf")}, "weight cannot be inf"),
        ({"confidence": -3}, "confidence cannot be -3"),
        ({"confidence": "high"}, "confidence cannot be 'high'"),
        ({"kind": None}, "The edge has no kind"),
        ({"kind": 5}, "kind"),
        ({"tags": 5}, "tags"),
        ({"co_access_count": -1}, "co_access_count cannot be -1"),
        ({"strengthened": "never"}, "strengthened"),
    ],
)
def test_an_edge_that_makes_no_sense_is_refused_by_its_line_and_nothing_is_stored(
    full: Memory, tmp_path: Path, said: dict[str, Any], complaint: str
) -> None:
    full.export(tmp_path / "m.jsonl")
    lines = (tmp_path / "m.jsonl").read_text(encoding="utf-8").splitlines()
    place = next(place for place, line in enumerate(lines) if json.loads(line)["is"] == "edge")
    lines[place] = json.dumps(json.loads(lines[place]) | said)
    (tmp_path / "m.jsonl").write_text("\n".join(lines), encoding="utf-8")
    empty = Memory(":memory:", embedder=None)
    with pytest.raises(InvalidInput, match=rf"Line {place + 1} of .*{complaint}.*Nothing was loaded"):
        empty.load(tmp_path / "m.jsonl")
    assert empty.facts() == []


def test_a_fact_that_makes_no_sense_is_refused_by_its_line(tmp_path: Path) -> None:
    head = '{"is": "export", "format": "cofire", "version": 1}'
    (tmp_path / "m.jsonl").write_text(f'{head}\n{{"is": "fact", "text": "tea"}}\n{{"is": "fact", "text": ""}}')
    empty = Memory(":memory:", embedder=None)
    with pytest.raises(InvalidFact, match=r"Line 3 of .*Nothing was loaded"):
        empty.load(tmp_path / "m.jsonl")
    assert empty.facts() == []


def test_what_was_learned_long_ago_was_so_where_it_is_loaded(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    id = memory.remember("The boiler was fixed by Ana.")
    [told] = memory.facts(id)
    memory.export(tmp_path / "all.jsonl")
    memory.forget(id, purge=True)
    clock.now += timedelta(days=400)
    memory.load(tmp_path / "all.jsonl")
    [found] = memory.facts()
    assert found.stored_at == told.stored_at


def test_a_load_that_stops_before_its_edges_leaves_no_fact_unmarked(open_memory: Opening, tmp_path: Path) -> None:
    memory = open_memory(None)
    tea, rain = memory.remember(["Tea is green.", "Rain is wet."])
    memory.connect(tea, rain, kind="reminds me of")
    memory.pin(tea)
    memory.archive(rain)
    memory.export(tmp_path / "all.jsonl")
    other = Memory(":memory:", embedder=None)
    context = other._opened.context

    class Full:
        def __getattr__(self, name: str) -> Any:
            return getattr(context.store, name)

        def for_call(self) -> Any:
            return self

        def write(self, change: Any, expects: Any) -> Any:
            if change.edges and not change.facts:
                raise StoreFull("No space is left.", way_out="Make some.")
            return context.store.write(change, expects)

    with pytest.raises(StoreFull):
        run_steps(load(tmp_path / "all.jsonl", other.settings()), replace(context, store=Full()))
    assert [(fact.text, fact.pinned) for fact in other.facts()] == [("Tea is green.", True)]
    assert other.stats().size.archived == 1
