"""The benchmark of many processes finds nothing wrong with cofire, and would find what can go wrong."""

import json
from pathlib import Path

import pytest

from benchmarks import crowd, processes
from benchmarks.ledger import Entry, Ledger, Reader
from benchmarks.verdict import account, unaccounted, violations
from cofire import Memory

TOLD = Entry("remember", True, ("tea",), ("1",))


@pytest.mark.slow
@pytest.mark.parametrize("manner", [[], ["--kill"]], ids=["in peace", "with kills"])
def test_processes_share_a_file(tmp_path: Path, manner: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures.json"
    few = ["--seconds", "4" if manner else "2", "--writers", "2", "--readers", "2"]
    code = processes.main([*few, "--out", str(out), *manner])
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["violations"] == []
    assert code == 0
    assert figures["stored"] > 0
    assert figures["recalls_a_second"] > 0
    assert (figures["killed"] > 0) == bool(manner)


def test_a_faithful_store_is_in_order() -> None:
    assert violations([("1", "tea")], account([TOLD])) == []


@pytest.mark.parametrize(
    ("wrong", "stored", "said"),
    [
        ("lost", [], [TOLD]),
        ("undead", [("1", "tea")], [TOLD, Entry("forget", False, (), ("1",)), Entry("forget", True, (), ("1",))]),
        ("doubled", [("1", "tea"), ("2", "tea")], [TOLD, Entry("remember", False, ("tea",))]),
        ("foreign", [("1", "tea"), ("2", "tide")], [TOLD]),
        ("changed", [("1", "tide")], [TOLD, Entry("remember", False, ("tide",))]),
    ],
)
def test_what_goes_wrong_is_named(wrong: str, stored: list[tuple[str, str]], said: list[Entry]) -> None:
    found = violations(stored, account([Entry("remember", False, ("tea",)), *said]))
    assert [one.partition(":")[0] for one in found] == [wrong]


def test_what_a_killed_writer_began_may_be_there_or_not() -> None:
    begun = account([TOLD, Entry("remember", False, ("tea", "tide")), Entry("forget", False, (), ("1",))])
    assert violations([], begun) == []
    assert violations([("1", "tea"), ("2", "tide")], begun) == []
    assert unaccounted([("1", "tea"), ("2", "tide")], begun) == 1


def test_a_ledger_outlives_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "writer.jsonl"
    first = Ledger(path)
    first.did("remember", texts=["tea"], ids=["1"])
    first.close()
    with path.open("ab") as torn:
        torn.write(b'{"act": "rem')
    reader = Reader(path)
    assert reader.more() == [TOLD]
    second = Ledger(path)
    second.will("forget", ids=["1"])
    second.close()
    assert reader.more() == [Entry("forget", False, (), ("1",))]


@pytest.mark.parametrize(("forgotten", "complaints"), [(False, 0), (True, 1)])
def test_a_reader_notices_what_is_missing(tmp_path: Path, forgotten: bool, complaints: int) -> None:
    tally = crowd.Tally()
    with Memory(tmp_path / "memory.db", embedder=None) as memory:
        told = crowd.fact(0, 1)
        ledger = Ledger(tmp_path / "ledger.jsonl")
        ledger.did("remember", texts=[told.text], ids=[memory.remember(told)])
        ledger.close()
        gossip = crowd.Gossip([tmp_path / "ledger.jsonl"])
        gossip.listen()
        if forgotten:
            memory.forget(gossip.recent[0])
        crowd.ask(memory, gossip, gossip.recent[0], tally)
    assert len(tally.wrong) == complaints
