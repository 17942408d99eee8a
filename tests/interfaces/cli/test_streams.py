"""Pipes, terminals and interruptions, with real processes: what a shell sees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.calling import (
    PROGRAM,
    Store,
    call_at_terminal,
    call_process,
    interrupt_at_terminal,
    start_process,
)

HEAVY = {"apsw", "numpy", "onnxruntime"}


def test_fact_goes_in_and_comes_back_through_pipes(store: Store) -> None:
    id = call_process("remember", "-", given="Tomás trinkt Tee um vier.\n".encode()).out.strip()
    found = json.loads(call_process("recall", "Tee", "--json").out)
    assert [hit["id"] for hit in found["hits"]] == [id]
    assert found["hits"][0]["text"] == "Tomás trinkt Tee um vier."


def test_codes_reach_the_shell() -> None:
    assert [call_process(*words.split()).code for words in ("recall", "show 7")] == [2, 3]


@pytest.mark.parametrize("given", [b"\xed\xa0\x80", b"tea\x00four"], ids=["lone surrogate", "NUL"])
def test_bad_bytes_on_standard_input_end_in_words(given: bytes) -> None:
    ran = call_process("remember", "-", given=given)
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err


def test_bytes_that_are_no_text_on_the_command_line_end_in_words() -> None:
    ran = subprocess.run([*PROGRAM, "show", b"caf\xe9"], capture_output=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"error: The argument 'caf\\udce9' is not UTF-8 text.")


def test_huge_input_is_refused_in_words() -> None:
    ran = call_process("remember", "-", given=b"tea " * 3_000_000)
    assert ran.code == 2
    assert "characters" in ran.err


def test_reader_that_stops_reading_ends_it_quietly(store: Store) -> None:
    store.holds(*(f"Note {number} " + "about tea " * 25 for number in range(2_000)))
    with start_process("list", "--limit", "2000", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=60)) == (b"", 141)


def test_output_without_space_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        process = start_process("config", "list", stdout=full, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"No space left" in said
    assert b"Traceback" not in said


@pytest.mark.parametrize("closed", [">&-", "2>&- <&-"])
def test_closed_streams_do_no_harm(closed: str) -> None:
    command = f"{sys.executable} -m cofire remember - 'Tea is at four.' {closed}"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert ran.returncode == 2
    assert b"Traceback" not in ran.stderr


def test_ctrl_c_ends_it_in_a_word() -> None:
    ran = interrupt_at_terminal("remember", "-", when="Type the text")
    assert ran.code == 130
    assert "Interrupted.\n" in ran.out
    assert "Traceback" not in ran.out


def test_pipe_carries_no_colours_and_no_bars(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("\n".join(f"Note {number}." for number in range(600)), encoding="utf-8")
    for words in (["remember", "--file", str(tmp_path / "notes.txt")], ["recall", "note"]):
        ran = call_process(*words)
        assert ran.err == ""
        assert "\x1b" not in ran.out
    assert "\x1b" not in call_process("show", "7").err
    assert "\x1b" not in call_process("--help").out


def test_terminal_has_colours_unless_told(store: Store) -> None:
    store.holds("Tea is at four.")
    assert "\x1b[1;36m" in call_at_terminal("recall", "tea").out
    plain = call_at_terminal("recall", "tea", NO_COLOR="1").out
    assert "36m" not in plain
    assert "Tea is at four." in plain
    assert "\x1b[1;31merror: " in call_at_terminal("show", "7").out


def test_terminal_wraps_long_texts_beside_their_score(store: Store) -> None:
    store.holds("tea " * 60)
    lines = call_at_terminal("recall", "tea", NO_COLOR="1", TERM="dumb").out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert lines[0].startswith("1  ")
    assert all(line.startswith("         tea") for line in lines[1:4])


def test_terminal_is_told_what_was_done() -> None:
    assert "Stored 1 fact." in call_at_terminal("remember", "Tea is at four.").out


def test_long_work_shows_a_bar_at_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("\n".join(f"Note {number}." for number in range(2_000)), encoding="utf-8")
    shown = call_at_terminal("remember", "--file", str(tmp_path / "notes.txt")).out
    assert "storing" in shown
    assert "Stored 2,000 facts." in shown


def test_output_that_knows_few_letters_spells_the_others_out(store: Store) -> None:
    store.holds("Tomás trinkt Tee.")
    assert r"Tom\xe1s" in call_process("list", PYTHONIOENCODING="ascii").out
    assert (
        json.loads(call_process("list", "--json", PYTHONIOENCODING="ascii").out)["facts"][0]["text"]
        == "Tomás trinkt Tee."
    )


@pytest.mark.parametrize("words", ["--help", "recall --help", "config file"])
def test_help_is_light(words: str) -> None:
    program = (
        "import sys; from cofire.cli.main import main; code = main(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run([sys.executable, "-c", program, *words.split()], capture_output=True, text=True, check=True)
    assert ran.stdout
    assert set(ran.stderr.split()) & HEAVY == set()


def test_shell_is_told_how_to_complete() -> None:
    asked = {"_COFIRE_COMPLETE": "complete_bash", "COMP_WORDS": "cofire config set keyword.k", "COMP_CWORD": "3"}
    assert call_process(**asked).out.split() == ["keyword.k1"]
