"""The journal: lines that survive crashes and other processes, never more than were wanted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cofire.errors import StoreError
from cofire.stores.journal_file import Journal

WRITER = """
import sys
from pathlib import Path
from cofire.stores.journal_file import Journal
journal = Journal(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    journal.append("shadow", {"from": sys.argv[2], "number": number, "filling": "x" * 500}, folder="", most=int(sys.argv[4]))
"""


@pytest.fixture(params=["a folder", "this process"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Journal:
    return Journal(tmp_path / "kept" if request.param == "a folder" else None)


def noted(journal: Journal, *numbers: int, most: int = 10) -> list[int]:
    for number in numbers:
        journal.append("shadow", {"number": number}, folder="", most=most)
    return [line["number"] for line in journal.lines("shadow", folder="", most=most)]


def test_lines_come_back_in_their_order(journal: Journal) -> None:
    assert noted(journal) == []
    assert noted(journal, 1, 2, 3) == [1, 2, 3]


def test_only_the_newest_are_kept(journal: Journal) -> None:
    assert noted(journal, *range(25), most=10) == list(range(15, 25))


def test_a_file_never_holds_more_than_twice_as_many(tmp_path: Path) -> None:
    for number in range(25):
        noted(Journal(tmp_path), number, most=3)
        assert (tmp_path / "shadow.jsonl").read_bytes().count(b"\n") < 6


def test_files_are_kept_apart_and_cleared_together(journal: Journal) -> None:
    noted(journal, 1, 2)
    journal.append("recalls", {"number": 3}, folder="", most=10)
    assert len(journal.lines("recalls", folder="", most=10)) == 1
    assert journal.clear(folder="") == 3
    assert journal.lines("shadow", folder="", most=10) == journal.lines("recalls", folder="", most=10) == []
    assert journal.clear(folder="") == 0
    assert noted(journal, 4) == [4]


def test_nothing_is_left_after_clearing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "kept")
    noted(journal, 1)
    journal.clear(folder="")
    assert list(tmp_path.iterdir()) == []


def test_clearing_leaves_what_others_put_there(tmp_path: Path) -> None:
    noted(Journal(tmp_path), 1)
    (tmp_path / "mine.txt").write_text("precious", encoding="utf-8")
    Journal(tmp_path).clear(folder="")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_reading_and_dropping_make_no_folder(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "kept")
    assert (noted(journal), journal.drop(["a"], folder=""), journal.clear(folder="")) == ([], 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_lines_that_mention_an_id_are_dropped(journal: Journal) -> None:
    for id in ("a1", "b2", "a1", "c3"):
        journal.append("shadow", {"promoted": [{"id": id}]}, folder="", most=10)
    assert journal.drop(["a1", "c3"], folder="") == 3
    assert journal.lines("shadow", folder="", most=10) == [{"promoted": [{"id": "b2"}]}]


def test_a_line_that_a_crash_cut_short_is_passed_over(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    noted(journal, 1)
    with (tmp_path / "shadow.jsonl").open("ab") as file:
        file.write(b'{"number": ')
    assert noted(journal) == [1]
    assert noted(journal, 2) == [1, 2]


def test_another_folder_can_be_named(journal: Journal, tmp_path: Path) -> None:
    journal.append("shadow", {"number": 7}, folder=str(tmp_path / "there"), most=10)
    assert (tmp_path / "there" / "shadow.jsonl").exists()
    assert noted(journal) == []


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreError, match=r"snapshots\.folder"):
        noted(Journal(tmp_path / "taken"), 1)


def test_several_processes_lose_and_tear_nothing(tmp_path: Path) -> None:
    writers = [_writer(tmp_path, name, lines=60, most=1000) for name in "abcd"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0, 0]
    lines = Journal(tmp_path).lines("shadow", folder="", most=1000)
    assert len(lines) == 240
    for name in "abcd":
        assert [line["number"] for line in lines if line["from"] == name] == list(range(60))


def test_several_processes_cut_the_file_together(tmp_path: Path) -> None:
    writers = [_writer(tmp_path, name, lines=60, most=5) for name in "abcd"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0, 0]
    assert len(Journal(tmp_path).lines("shadow", folder="", most=5)) == 5
    assert (tmp_path / "shadow.jsonl").read_bytes().count(b"\n") < 10


def test_clearing_while_others_write_harms_nobody(tmp_path: Path) -> None:
    writers = [_writer(tmp_path / "kept", name, lines=60, most=1000) for name in "ab"]
    gone = 0
    while any(writer.poll() is None for writer in writers):
        gone += Journal(tmp_path / "kept").clear(folder="")
    assert [writer.returncode for writer in writers] == [0, 0]
    assert gone + Journal(tmp_path / "kept").clear(folder="") == 120


def _writer(folder: Path, name: str, *, lines: int, most: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), name, str(lines), str(most)])
