"""Exports of ChatGPT: a tree of messages, of which one branch is visible."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cofire.ingest.messages import EMPTY_REASON, SYSTEM_REASON, WORDLESS_REASON
from tests.ingest.telling import facts, skipped, texts


def node(id: str, parent: str | None, children: list[str], message: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"id": id, "parent": parent, "children": children, "message": message}


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": role, "name": None, "metadata": {}}, "content": content, "recipient": "all", **more}


def chatgpt(**more: Any) -> dict[str, Any]:
    """A question asked, then asked again in other words: two branches, the second shown."""
    mapping = {
        "d": node(
            "d", "c", [], said("assistant", "Four o'clock.\ue200cite\ue202turn0search1\ue201", create_time=1714564860.5)
        ),
        "root": node("root", None, ["s"]),
        "s": node("s", "root", ["a", "c"], said("system", "")),
        "a": node("a", "s", ["b"], said("user", "When tea?")),
        "b": node("b", "a", [], said("assistant", "Never.")),
        "c": node("c", "s", ["d"], said("user", "When is tea?", create_time=1714564800)),
    }
    return {
        "title": "Tea",
        "conversation_id": "abc-1",
        "create_time": 1714564800.0,
        "mapping": mapping,
        "current_node": "d",
        **more,
    }


def test_the_branch_that_is_shown_is_read_from_its_root() -> None:
    found = facts([chatgpt()])
    assert [(fact.speaker, fact.text) for fact in found] == [
        ("user", "When is tea?"),
        ("assistant", "Four o'clock."),
    ]


def test_session_time_and_title_are_kept() -> None:
    fact = facts([chatgpt()])[0]
    assert (fact.session, fact.at) == ("abc-1", datetime(2024, 5, 1, 12, tzinfo=UTC))
    assert fact.metadata == {"title": "Tea"}


def test_without_a_current_node_the_last_leaf_is_taken() -> None:
    assert texts([chatgpt(current_node=None)]) == ["When tea?", "Never."]


def test_a_circle_ends() -> None:
    mapping = {"a": node("a", "b", ["b"], said("user", "One.")), "b": node("b", "a", ["a"], said("user", "Two."))}
    assert texts([{"mapping": mapping, "current_node": "b"}]) == ["One.", "Two."]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({**said("assistant", "search('tea')"), "recipient": "browser"}, WORDLESS_REASON),
        ({**said("assistant", ""), "content": {"content_type": "code", "text": "ls"}}, WORDLESS_REASON),
        (
            {**said("assistant", ""), "content": {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}},
            WORDLESS_REASON,
        ),
        (said("tool", "a dump"), WORDLESS_REASON),
        (said("user", "About me", metadata={"is_visually_hidden_from_conversation": True}), SYSTEM_REASON),
        (said("user", ""), EMPTY_REASON),
        (said("assistant", "\ue200image_group\ue202{}\ue201"), WORDLESS_REASON),
        (said("assistant", "【4†source】\n"), WORDLESS_REASON),
    ],
)
def test_what_was_not_said_is_skipped(message: dict[str, Any], reason: str) -> None:
    conversation = {"mapping": {"a": node("a", None, [], message)}, "current_node": "a"}
    assert facts([conversation]) == []
    assert skipped([conversation]) == [("messages", reason)]


def test_of_a_picture_with_words_the_words_are_taken() -> None:
    parts = [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "What is this?"]
    message = {**said("user", ""), "content": {"content_type": "multimodal_text", "parts": parts}}
    assert texts([{"mapping": {"a": node("a", None, [], message)}, "current_node": "a"}]) == ["What is this?"]


def test_of_a_voice_chat_the_transcription_is_taken() -> None:
    parts = [
        {"content_type": "audio_transcription", "text": "What is the capital of Peru?", "direction": "in"},
        {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {"format": "wav"}},
    ]
    message = {**said("user", ""), "content": {"content_type": "multimodal_text", "parts": parts}}
    conversation = {"mapping": {"a": node("a", None, [], message)}, "current_node": "a"}
    assert texts([conversation]) == ["What is the capital of Peru?"]


def test_a_single_conversation_needs_no_list() -> None:
    assert len(facts(chatgpt())) == 2
