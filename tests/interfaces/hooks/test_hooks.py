"""Hooks as a coding agent calls them: a process, JSON in, JSON out, and never in the way."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cofire.hooks import transcripts
from cofire.memory import Memory

Hook = Callable[..., dict[str, Any]]


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """An environment with a memory of its own, without a model, and with a home of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "COFIRE_STORE": str(tmp_path / "memory.db"),
        "COFIRE_EMBEDDER_NAME": "none",
    }


def called(place: dict[str, str], event: str, told: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cofire", "hook", event, *options]
    return subprocess.run(command, input=told, capture_output=True, text=True, env=place, check=False)


@pytest.fixture
def hook(place: dict[str, str]) -> Hook:
    def answered(event: str, *options: str, **told: Any) -> dict[str, Any]:
        ended = called(place, event, json.dumps(told), *options)
        assert ended.returncode == 0, ended.stderr
        answer: dict[str, Any] = json.loads(ended.stdout)
        return answer

    return answered


def memory_at(place: dict[str, str]) -> Memory:
    return Memory(place["COFIRE_STORE"], embedder=None)


def line(role: str, text: str, session: str = "s1") -> str:
    at = "2026-05-08T13:56:00Z"
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return (
        json.dumps({"type": role, "sessionId": session, "uuid": text[:8], "timestamp": at, "message": message}) + "\n"
    )


def context(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_a_prompt_gets_what_memory_knows_about_it_fenced_as_data(place: dict[str, str], hook: Hook) -> None:
    with memory_at(place) as memory:
        memory.remember(["Deployments go through the Harbour pipeline.", "Ana keeps bees on the roof."])
    answer = hook("prompt-submit", prompt="How do our deployments go through the pipeline?", session_id="s9")
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert context(answer).startswith("<memory note=")
    assert "Harbour" in context(answer)
    assert "Recalled 1 of 1 fact" in answer["systemMessage"]


def test_what_the_session_said_itself_is_not_told_again(place: dict[str, str], hook: Hook) -> None:
    with memory_at(place) as memory:
        memory.remember("Deployments go through the Harbour pipeline.", session="s1")
    assert context(hook("prompt-submit", prompt="How do deployments go through the pipeline?", session_id="s1")) == ""
    assert context(hook("prompt-submit", prompt="How do deployments go through the pipeline?", session_id="s2"))


def test_what_is_unknown_adds_nothing_to_a_prompt_and_is_said(hook: Hook) -> None:
    answer = hook("prompt-submit", prompt="xyzzy quantum banana telescope")
    assert "hookSpecificOutput" not in answer
    assert answer["systemMessage"].startswith("cofire: ")


def test_a_block_stays_within_the_budget_of_tokens(place: dict[str, str], hook: Hook) -> None:
    with memory_at(place) as memory:
        memory.remember([f"The harbour pipeline of team {number} deploys at night." for number in range(20)])
    wide, narrow = (
        context(hook("prompt-submit", "--k", "20", "--budget", budget, prompt="When does the harbour pipeline deploy?"))
        for budget in ("800", "120")
    )
    assert 0 < narrow.count("\n") < wide.count("\n")


def test_a_budget_that_holds_nothing_is_said_to_be_too_small(place: dict[str, str], hook: Hook) -> None:
    with memory_at(place) as memory:
        memory.remember("The harbour pipeline deploys at night.")
    answer = hook("prompt-submit", "--budget", "10", prompt="When does the harbour pipeline deploy?")
    assert answer["systemMessage"] == "cofire: The budget is too small for the best fact."


def test_a_session_begins_with_what_is_pinned_and_what_was_told_last(place: dict[str, str], hook: Hook) -> None:
    with memory_at(place) as memory:
        pinned, _ = memory.remember(["Never push on Fridays.", "The build server was moved."])
        memory.pin(pinned)
    lines = context(hook("session-start", cwd="/somewhere/harbour", source="startup")).splitlines()
    assert "Never push on Fridays." in lines[1]
    assert any("build server" in line for line in lines)


def test_a_session_begins_with_what_is_pinned_however_long_ago_it_was_told(place: dict[str, str], hook: Hook) -> None:
    with memory_at(place) as memory:
        memory.pin(memory.remember("Never push on Fridays."))
        memory.remember([f"The pipeline of team {number} deploys at night." for number in range(30)])
    assert "Never push on Fridays." in context(hook("session-start", cwd="/somewhere/harbour")).splitlines()[1]


def test_a_turn_is_remembered_once_and_is_not_told_again_after_it_was_forgotten(
    place: dict[str, str], hook: Hook, tmp_path: Path
) -> None:
    transcript = tmp_path / "session.jsonl"
    transcript.write_text(line("user", "We moved the build server to Lyon.") + line("assistant", "Noted: Lyon it is."))
    told = {"session_id": "s1", "transcript_path": str(transcript), "cwd": "/somewhere/harbour"}
    assert "2 new turns" in hook("stop", **told)["systemMessage"]
    with memory_at(place) as memory:
        [fact] = [one for one in memory.facts() if one.speaker == "user"]
        assert (fact.session, fact.source) == ("s1", "/somewhere/harbour")
        memory.forget(fact.id)
    with transcript.open("a") as more:
        more.write(line("user", "The old one is switched off in June."))
    assert "1 new turn." in hook("pre-compact", **told)["systemMessage"]
    with memory_at(place) as memory:
        texts = {one.text for one in memory.facts()}
    assert texts == {"Noted: Lyon it is.", "The old one is switched off in June."}


def test_recalled_text_in_a_transcript_is_never_remembered(place: dict[str, str], hook: Hook, tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    fenced = '<memory note="Recalled facts.">[1] Tea is at four.</memory>'
    transcript.write_text(line("user", f"{fenced} Coffee is at five.") + line("assistant", fenced))
    hook("stop", session_id="s1", transcript_path=str(transcript))
    with memory_at(place) as memory:
        assert [one.text for one in memory.facts()] == ["Coffee is at five."]


def test_a_line_that_is_still_being_written_waits_for_the_next_time(
    place: dict[str, str], hook: Hook, tmp_path: Path
) -> None:
    transcript, whole = tmp_path / "session.jsonl", line("user", "The lighthouse lost its lamp.")
    transcript.write_text(whole[:40])
    told = {"session_id": "s1", "transcript_path": str(transcript)}
    assert "0 new turns" in hook("stop", **told)["systemMessage"]
    transcript.write_text(whole)
    assert "1 new turn." in hook("stop", **told)["systemMessage"]


@pytest.mark.parametrize(
    ("event", "told", "options", "said"),
    [
        ("bogus", "{}", (), "There is no hook 'bogus'"),
        ("prompt-submit", "no json", (), "is not JSON"),
        ("prompt-submit", "[]", (), "is not a JSON object"),
        ("stop", json.dumps({"transcript_path": "/no/such/file"}), (), "no transcript"),
        ("prompt-submit", json.dumps({"prompt": "Why?"}), ("--deadline", "0.001"), "time limit of"),
        ("prompt-submit", json.dumps({"prompt": "Why?"}), ("--deadline", "nan"), "time limit of"),
        ("prompt-submit", "{}", ("--deadline", "inf"), "Nothing to search for"),
        ("prompt-submit", json.dumps({"prompt": "Why?"}), ("--k", "0"), "k cannot be 0"),
        ("prompt-submit", json.dumps({"prompt": "Why?"}), ("--budget", "-1"), "budget cannot be -1"),
    ],
)
def test_whatever_goes_wrong_the_agent_goes_on_and_is_told(
    place: dict[str, str], event: str, told: str, options: tuple[str, ...], said: str
) -> None:
    ended = called(place, event, told, *options)
    assert ended.returncode == 0
    assert said in json.loads(ended.stdout)["systemMessage"]


def test_a_broken_store_is_told_and_does_not_stop_the_agent(place: dict[str, str]) -> None:
    Path(place["COFIRE_STORE"]).write_bytes(b"this is no database, though it is long enough to look at" * 50)
    ended = called(place, "prompt-submit", json.dumps({"prompt": "How do we deploy?"}))
    assert ended.returncode == 0
    assert "cofire: " in json.loads(ended.stdout)["systemMessage"]
    assert "hookSpecificOutput" not in json.loads(ended.stdout)


def test_a_wrong_option_does_not_stop_the_agent(place: dict[str, str]) -> None:
    ended = called(place, "stop", "{}", "--wrong")
    assert ended.returncode == 0
    assert "--wrong" in ended.stderr


def test_a_wrong_option_before_the_command_does_not_stop_it_either(place: dict[str, str]) -> None:
    command = [sys.executable, "-m", "cofire", "--wrong", "hook", "stop"]
    ended = subprocess.run(command, input="{}", capture_output=True, text=True, env=place, check=False)
    assert ended.returncode == 0
    assert "--wrong" in ended.stderr


@pytest.mark.parametrize("options", [("--store", ""), ("--scope", "\udcff"), ("--store", "/no/such/\udcff.db")])
def test_what_cannot_be_used_does_not_stop_the_agent(place: dict[str, str], options: tuple[str, ...]) -> None:
    ended = called(place, "prompt-submit", json.dumps({"prompt": "How do we deploy?"}), *options)
    assert ended.returncode == 0
    assert ended.stdout or "error: " in ended.stderr


def test_text_that_merely_speaks_of_memory_is_remembered_whole(
    place: dict[str, str], hook: Hook, tmp_path: Path
) -> None:
    transcript, said = tmp_path / "session.jsonl", "Begin with #include <memory>, then set <memory-limit> to 2 GB."
    transcript.write_text(line("user", said))
    hook("stop", session_id="s1", transcript_path=str(transcript))
    with memory_at(place) as memory:
        assert [one.text for one in memory.facts()] == [said]


def test_each_store_and_scope_is_told_for_itself(place: dict[str, str], hook: Hook, tmp_path: Path) -> None:
    transcript, other = tmp_path / "session.jsonl", tmp_path / "other.db"
    transcript.write_text(line("user", "The lighthouse lost its lamp."))
    told = {"session_id": "s1", "transcript_path": str(transcript)}
    for options in ((), ("--scope", "mine"), ("--store", str(other))):
        assert "1 new turn." in hook("stop", *options, **told)["systemMessage"]
        assert "0 new turns" in hook("stop", *options, **told)["systemMessage"]
    other.unlink()
    assert "1 new turn." in hook("stop", "--store", str(other), **told)["systemMessage"], "a new store knows nothing"


def test_a_message_that_cannot_be_read_keeps_no_other_away(place: dict[str, str], hook: Hook, tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    odd = json.dumps({"type": "user", "sessionId": "s1", "message": {"role": "user", "content": 5}})
    deep = "[" * 100_000
    transcript.write_text(line("user", "Tea is at four.") + f"{odd}\n{deep}\n" + line("user", "Coffee is at five."))
    assert "2 new turns" in hook("stop", session_id="s1", transcript_path=str(transcript))["systemMessage"]


def test_where_time_runs_out_the_next_reading_goes_on(tmp_path: Path) -> None:
    transcript, notes = tmp_path / "session.jsonl", tmp_path / "notes"
    transcript.write_text("".join(line("user", f"Lamp {number} is lit.") for number in range(40)))
    first = next(transcripts.read_new_lines(transcript, notes))
    transcripts.save_offset(transcript, notes, first.end)
    left = [item for some in transcripts.read_new_lines(transcript, notes) for item in some.items]
    assert (len(first.items), len(left)) == (transcripts.LINES_PER_BATCH, 40 - transcripts.LINES_PER_BATCH)
    assert left[0]["message"]["content"][0]["text"] == f"Lamp {transcripts.LINES_PER_BATCH} is lit."


def test_what_the_agent_tells_is_utf_8_whatever_the_terminal_speaks(
    place: dict[str, str], hook: Hook, tmp_path: Path
) -> None:
    place["PYTHONIOENCODING"] = "ascii"
    transcript = tmp_path / "dür" / "session.jsonl"
    transcript.parent.mkdir()
    transcript.write_text(line("user", "The lighthouse lost its lamp."))
    told = json.dumps({"session_id": "s1", "transcript_path": str(transcript)}, ensure_ascii=False)
    assert "1 new turn." in json.loads(called(place, "stop", told).stdout)["systemMessage"]
