"""Files and folders: which are read, which are skipped, and the errors for unreadable ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cofire.errors import InvalidInput
from cofire.ingest.messages import EMPTY_REASON
from cofire.model import Fact
from tests.ingest.telling import facts, gathered, opened, skipped, texts, write

CHAT = '[{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]'


def test_a_file_gives_source_and_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "docs/tea.md", "Hot.")
    for given in ("docs/tea.md", "./docs/tea.md", Path("docs/tea.md")):
        (fact,) = facts(given)
        assert (fact.source, fact.session, fact.subject) == ("docs/tea.md", "docs/tea.md", "tea")


def test_keywords_go_before_what_the_path_says(tmp_path: Path) -> None:
    path = write(tmp_path, "chat.json", CHAT)
    fact = facts(path, Fact("", source="the archive", session="monday", subject="Tea"))[0]
    assert (fact.source, fact.session, fact.subject) == ("the archive", "monday", "Tea")


def test_a_mixed_folder_is_read_by_name(tmp_path: Path) -> None:
    write(tmp_path, "b/chat.jsonl", '{"role": "user", "content": "Hi."}\n\n{"role": "user", "content": "There."}\n')
    write(tmp_path, "a.md", "# Tea\nHot.")
    write(tmp_path, "c.txt", "Ana: Tea?\nBen: Yes.\nAna: Good.")
    assert opened(tmp_path) == [f"{tmp_path.as_posix()}/{name}" for name in ("a.md", "b/chat.jsonl", "c.txt")]
    assert texts(tmp_path) == ["Hot.", "Hi.", "There.", "Tea?", "Yes.", "Good."]


def test_hidden_binary_and_foreign_files_are_passed_over_and_told(tmp_path: Path) -> None:
    for name in (".git/config.md", ".hidden.md", "node_modules/x/README.md", "picture.png", "code.py"):
        write(tmp_path, name, "text")
    write(tmp_path, "binary.txt", b"a\0b")
    write(tmp_path, "good.md", "Tea.")
    assert texts(tmp_path) == ["Tea."]
    assert [(Path(where).name, reason.split(",")[0]) for where, reason in skipped(tmp_path)] == [
        (".git", "It is hidden."),
        (".hidden.md", "It is hidden."),
        ("binary.txt", "This is a binary file."),
        ("code.py", "Only .md"),
        ("node_modules", "It is a folder of installed packages."),
        ("picture.png", "Only .md"),
    ]


def test_one_bad_file_stops_no_other(tmp_path: Path) -> None:
    write(tmp_path, "a.json", '{"name": "app", "version": "1"}')
    write(tmp_path, "b.jsonl", '{"role": "user", "content": "Hi."}\n{"role": "user",\n')
    write(tmp_path, "c.md", b"caf\xe9")
    write(tmp_path, "d.md", "Tea.")
    assert texts(tmp_path) == ["Tea."]
    reasons = dict(skipped(tmp_path))
    assert "No conversation is recognised in a mapping of name, version" in reasons[f"{tmp_path.as_posix()}/a.json"]
    assert "Line 2 is not JSON" in reasons[f"{tmp_path.as_posix()}/b.jsonl"]
    assert reasons[f"{tmp_path.as_posix()}/c.md"] == "This is not UTF-8 text: byte 4 is 0xe9."


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", '[{"role": "user"},\n {"role": }]', "Line 2 is not JSON"),
        ("a.json", "not at all", "Line 1 is not JSON"),
        ("a.jsonl", '{"role": "user", "content": "Hi."}\noops', "Line 2 is not JSON"),
        ("a.json", '[{"role": "user", "content": "Hi."}, 7]', "Element 2: No conversation is recognised in int"),
        ("a.json", '"text"', "The file: No conversation"),
        ("a.json", "[" * 100_000, "not JSON"),
        ("a.md", b"\xff\xfeT\0e\0a\0", "UTF-16"),
        ("a.md", b"caf\xe9", "not UTF-8 text: byte 4 is 0xe9"),
        ("a.md", b"Tea.\n" * 3_000 + b"\0", "binary"),
    ],
)
def test_a_file_that_was_named_must_be_readable(tmp_path: Path, name: str, content: str | bytes, problem: str) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(InvalidInput, match=problem) as error:
        gathered(path)
    assert path.as_posix() in error.value.problem


def test_a_file_that_was_named_may_have_any_name(tmp_path: Path) -> None:
    assert texts(write(tmp_path, "README", "Tea is hot.")) == ["Tea is hot."]
    assert texts(write(tmp_path, ".notes", "Tea is hot.")) == ["Tea is hot."]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", "<p>Tea is hot.</p>"),
        ("page.HTM", "<p>Tea is hot.</p>"),
        ("tea.xml", "<tea>hot</tea>"),
        ("tea.pdf", b"%PDF-1.7\n\0"),
        ("page", "\n<!DOCTYPE html>\n<p>Tea is hot.</p>"),
        ("page", b"\xef\xbb\xbf<html><p>Tea is hot.</p></html>"),
        ("page.txt", "<html><p>Tea is hot.</p></html>"),
        ("letter", r"{\rtf1\ansi Tea is hot.}"),
    ],
)
def test_markup_is_refused_with_what_to_do(tmp_path: Path, name: str, content: str | bytes) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(InvalidInput, match="markup would be stored as text") as error:
        gathered(path)
    assert "Convert it to Markdown or plain text first" in error.value.way_out


def test_markdown_may_begin_with_a_tag(tmp_path: Path) -> None:
    assert texts(write(tmp_path, "a.md", "<details>\n\nTea is hot.\n"))[-1] == "Tea is hot."


def test_the_mark_of_utf_8_and_line_ends_of_windows_leave_no_trace(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", b"\xef\xbb\xbf# Tea\r\n\r\nHot\r\nand sweet.")
    (fact,) = facts(path)
    assert (fact.subject, fact.text) == ("Tea", "Hot and sweet.")


@pytest.mark.parametrize(
    ("name", "content"), [("a.md", ""), ("a.txt", "\n \n"), ("a.json", ""), ("a.json", "[]"), ("a.md", "---\n")]
)
def test_a_file_without_text_is_skipped(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path, name, content)
    assert skipped(path) == [(path.as_posix(), "It has no text.")]
    assert opened(path) == []


def test_what_is_skipped_within_a_file_is_told_with_its_name(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '[{"role": "user", "content": ""}]')
    assert skipped(path) == [(path.as_posix(), EMPTY_REASON)]


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, "small.md", "Tea.")
    large = write(tmp_path, "large.md", "Tea. " * 1_000)
    assert skipped(tmp_path, largest=1_000) == [(large.as_posix(), "It is larger than 0.001 MB.")]
    with pytest.raises(InvalidInput, match=r"larger than 0\.001 MB") as error:
        gathered(large, largest=1_000)
    assert "Split" in error.value.way_out


@pytest.mark.parametrize("path", ["no/such/place", "", "  ", "Tea is served at four. " * 100, "nul\0"])
def test_a_path_that_leads_nowhere_is_refused_with_a_way_out(path: str) -> None:
    with pytest.raises(InvalidInput, match="no file or folder") as error:
        gathered(path)
    assert "remember" in error.value.way_out
    assert len(error.value.problem) < 150


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "in/a.md", "Tea.")
    (tmp_path / "in" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "in" / "gone.md").symlink_to(tmp_path / "nowhere")
    assert texts(tmp_path) == ["Tea."]
    assert [reason.split(":")[0] for _, reason in skipped(tmp_path)] == [
        "It cannot be read",
        "It is a link to a folder.",
    ]


def test_a_link_that_cannot_be_followed_stops_no_other(tmp_path: Path) -> None:
    write(tmp_path, "tea.md", "Tea.")
    loop = tmp_path / "loop.md"
    loop.symlink_to("loop.md")
    assert texts(tmp_path) == ["Tea."]
    ((where, reason),) = skipped(tmp_path)
    assert (where, reason.split(":")[0]) == (loop.as_posix(), "It cannot be read")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert [reason for _, reason in skipped(tmp_path)] == ["This is not a regular file."]


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert gathered(tmp_path) == []


def test_lines_of_json_keep_their_number_as_the_file_grows(tmp_path: Path) -> None:
    talk = '{"messages": [{"role": "user", "content": "Hi."}]}\n'
    path = write(tmp_path, "talks.jsonl", talk)
    before = [fact.session for fact in facts(path)]
    write(tmp_path, "talks.jsonl", talk * 2)
    assert [fact.session for fact in facts(path)] == [*before, f"{path.as_posix()}#2"]
