"""Sessions of Claude Code, without the entries of the program itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cofire.ingest.messages import NOTICE_REASON, WORDLESS_REASON
from tests.ingest.telling import facts, skipped, texts


def line(type: str, content: object, **more: Any) -> dict[str, Any]:
    message = {"role": type, "content": content}
    stamp = {
        "timestamp": "2024-05-01T12:00:00.000Z",
        "sessionId": "s-1",
        "uuid": "u",
        "parentUuid": None,
        "isSidechain": False,
    }
    return {"type": type, "message": message, **stamp, **more}


def test_what_was_said_is_read() -> None:
    found = facts([line("user", "Fix the tests."), line("assistant", [{"type": "text", "text": "Done."}])])
    assert [(fact.speaker, fact.text, fact.session) for fact in found] == [
        ("user", "Fix the tests.", "s-1"),
        ("assistant", "Done.", "s-1"),
    ]
    assert found[0].at == datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "noise",
    [
        {"type": "summary", "summary": "Tests fixed", "leafUuid": "u"},
        {"type": "system", "content": "Compacted", "sessionId": "s-1"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "queue-operation", "operation": "dequeue", "sessionId": "s-1"},
        line("user", "Caveat: what follows was made by commands", isMeta=True),
        line("assistant", "A helper speaks.", isSidechain=True),
        line("user", "This session goes on from another.", isCompactSummary=True),
        line("user", "<command-name>/clear</command-name>"),
        line("user", "<local-command-stdout></local-command-stdout>"),
        line("user", "<system-reminder>Mind the time.</system-reminder>"),
        line("user", [{"type": "text", "text": "[Request interrupted by user]"}]),
    ],
)
def test_what_the_program_put_in_is_no_turn(noise: dict[str, Any]) -> None:
    assert facts([noise]) == []
    assert skipped([noise]) == [("messages", NOTICE_REASON)]


def test_tool_traffic_is_skipped() -> None:
    traffic = [
        line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]),
        line("user", [{"type": "tool_result", "tool_use_id": "1", "content": "a\nb"}], toolUseResult={"stdout": "a"}),
    ]
    assert skipped(traffic) == [("messages", WORDLESS_REASON)] * 2


def test_a_reminder_inside_a_turn_is_cut_out() -> None:
    assert texts([line("user", "Go on.\n<system-reminder>\nMind it.\n</system-reminder>")]) == ["Go on."]
