"""Exports of Claude: conversations with their messages in order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cofire.ingest.messages import EMPTY_REASON
from tests.ingest.telling import facts, skipped, texts

CONVERSATION: dict[str, Any] = {
    "uuid": "c-1",
    "name": "Tea",
    "chat_messages": [
        {
            "uuid": "1",
            "sender": "human",
            "text": "When is tea?",
            "content": [],
            "created_at": "2024-05-01T12:00:00.123456Z",
        },
        {
            "uuid": "2",
            "sender": "assistant",
            "text": "Thinking… This block is not supported. Four.",
            "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "At four."}],
            "created_at": "2024-05-01T12:00:10Z",
        },
        {"uuid": "3", "sender": "human", "text": "", "content": [], "created_at": "2024-05-01T12:00:20Z"},
    ],
}


def test_messages_are_read_with_their_conversation() -> None:
    found = facts([CONVERSATION])
    assert [(fact.speaker, fact.text, fact.session) for fact in found] == [
        ("user", "When is tea?", "c-1"),
        ("assistant", "At four.", "c-1"),
    ]
    assert found[0].at == datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert found[0].metadata == {"title": "Tea"}


def test_empty_messages_are_counted() -> None:
    assert skipped([CONVERSATION]) == [("messages", EMPTY_REASON)]


def test_pasted_text_is_part_of_the_message() -> None:
    pasted = {"file_name": "paste.txt", "extracted_content": "Tea is hot."}
    messages = [
        {"sender": "human", "text": "", "content": [], "attachments": [pasted]},
        {"sender": "human", "text": "Is it so?", "content": [], "attachments": [pasted, {"file_name": "a.png"}]},
        {"sender": "human", "text": "", "content": [], "attachments": []},
    ]
    conversation = {"uuid": "c-2", "chat_messages": messages}
    assert texts([conversation]) == ["Tea is hot.", "Is it so?\n\nTea is hot."]
    assert skipped([conversation]) == [("messages", EMPTY_REASON)]
