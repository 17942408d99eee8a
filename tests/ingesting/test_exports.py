"""Exports of chat programs, recognised by their shape."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cofire.errors import InvalidInput
from cofire.ingesting.turns import EMPTY, NOTICE, SYSTEM, WORDLESS
from cofire.model import Fact
from tests.ingesting.telling import facts, skipped, texts


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


class TestChatGPT:
    def test_the_branch_that_is_shown_is_read_from_its_root(self) -> None:
        found = facts([chatgpt()])
        assert [(fact.speaker, fact.text) for fact in found] == [
            ("user", "When is tea?"),
            ("assistant", "Four o'clock."),
        ]

    def test_session_time_and_title_are_kept(self) -> None:
        fact = facts([chatgpt()])[0]
        assert (fact.session, fact.at) == ("abc-1", datetime(2024, 5, 1, 12, tzinfo=UTC))
        assert fact.metadata == {"title": "Tea"}

    def test_without_a_current_node_the_last_leaf_is_taken(self) -> None:
        assert texts([chatgpt(current_node=None)]) == ["When tea?", "Never."]

    def test_a_circle_ends(self) -> None:
        mapping = {"a": node("a", "b", ["b"], said("user", "One.")), "b": node("b", "a", ["a"], said("user", "Two."))}
        assert texts([{"mapping": mapping, "current_node": "b"}]) == ["One.", "Two."]

    @pytest.mark.parametrize(
        ("message", "reason"),
        [
            ({**said("assistant", "search('tea')"), "recipient": "browser"}, WORDLESS),
            ({**said("assistant", ""), "content": {"content_type": "code", "text": "ls"}}, WORDLESS),
            (
                {**said("assistant", ""), "content": {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}},
                WORDLESS,
            ),
            (said("tool", "a dump"), WORDLESS),
            (said("user", "About me", metadata={"is_visually_hidden_from_conversation": True}), SYSTEM),
            (said("user", ""), EMPTY),
        ],
    )
    def test_what_was_not_said_is_skipped(self, message: dict[str, Any], reason: str) -> None:
        conversation = {"mapping": {"a": node("a", None, [], message)}, "current_node": "a"}
        assert facts([conversation]) == []
        assert skipped([conversation]) == [("messages", reason)]

    def test_of_a_picture_with_words_the_words_are_taken(self) -> None:
        parts = [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "What is this?"]
        message = {**said("user", ""), "content": {"content_type": "multimodal_text", "parts": parts}}
        assert texts([{"mapping": {"a": node("a", None, [], message)}, "current_node": "a"}]) == ["What is this?"]

    def test_a_single_conversation_needs_no_list(self) -> None:
        assert len(facts(chatgpt())) == 2


class TestClaude:
    conversation = {
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

    def test_messages_are_read_with_their_conversation(self) -> None:
        found = facts([self.conversation])
        assert [(fact.speaker, fact.text, fact.session) for fact in found] == [
            ("user", "When is tea?", "c-1"),
            ("assistant", "At four.", "c-1"),
        ]
        assert found[0].at == datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
        assert found[0].metadata == {"title": "Tea"}

    def test_empty_messages_are_counted(self) -> None:
        assert skipped([self.conversation]) == [("messages", EMPTY)]


class TestRequestsAndResponses:
    def test_the_messages_of_a_request_are_read(self) -> None:
        request = {
            "model": "m",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi."}],
        }
        assert texts(request) == ["Hi."]
        assert texts(request, system=True) == ["Be kind.", "Hi."]

    def test_the_system_text_beside_the_messages_is_the_systems(self) -> None:
        request = {"system": "Be kind.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}]}
        assert texts(request) == ["Hi."]
        assert texts(request, system=True) == ["Be kind.", "Hi."]

    def test_a_response_is_a_message(self) -> None:
        choices = [{"message": {"role": "assistant", "content": text}} for text in ("Hello.", "Or hi.")]
        (fact,) = facts({"id": "chatcmpl-1", "created": 1714564800, "choices": choices})
        assert (fact.text, fact.speaker, fact.at) == ("Hello.", "assistant", datetime(2024, 5, 1, 12, tzinfo=UTC))
        assert texts({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello."}]}) == [
            "Hello."
        ]

    def test_conversations_of_pairs_are_read(self) -> None:
        pairs = [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]
        assert [fact.speaker for fact in facts({"conversations": pairs})] == ["user", "assistant"]

    def test_conversations_without_a_name_are_told_apart_by_number(self) -> None:
        request = {"messages": [{"role": "user", "content": "Hi."}]}
        found = facts([request, {**request, "session_id": "own"}, request], Fact("", session="talks"))
        assert [fact.session for fact in found] == ["talks#1", "own", "talks#3"]

    def test_a_message_that_is_none_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="The mapping: A message cannot be a mapping of ruleId"):
            facts({"messages": [{"ruleId": "no-tabs"}]})


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


class TestClaudeCode:
    def test_what_was_said_is_read(self) -> None:
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
    def test_what_the_program_put_in_is_no_turn(self, noise: dict[str, Any]) -> None:
        assert facts([noise]) == []
        assert skipped([noise]) == [("messages", NOTICE)]

    def test_tool_traffic_is_skipped(self) -> None:
        traffic = [
            line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]),
            line(
                "user", [{"type": "tool_result", "tool_use_id": "1", "content": "a\nb"}], toolUseResult={"stdout": "a"}
            ),
        ]
        assert skipped(traffic) == [("messages", WORDLESS)] * 2

    def test_a_reminder_inside_a_turn_is_cut_out(self) -> None:
        assert texts([line("user", "Go on.\n<system-reminder>\nMind it.\n</system-reminder>")]) == ["Go on."]


class TestSlack:
    def test_names_times_and_links_are_plain(self) -> None:
        message = {
            "type": "message",
            "user": "U1",
            "user_profile": {"real_name": "Ana Lima", "display_name": "ana"},
            "text": "Tea &amp; cake: <https://a.org|the plan> <@U2>",
            "ts": "1714564800.000200",
        }
        (fact,) = facts([message])
        assert (fact.speaker, fact.text) == ("Ana Lima", "Tea & cake: the plan (https://a.org) @U2")
        assert fact.at == datetime(2024, 5, 1, 12, 0, 0, 200, tzinfo=UTC)

    def test_without_a_profile_the_id_speaks(self) -> None:
        assert facts([{"type": "message", "user": "U1", "text": "Hi.", "ts": "1714564800.0"}])[0].speaker == "U1"

    def test_bots_speak_and_joining_is_a_notice(self) -> None:
        bot = {
            "type": "message",
            "subtype": "bot_message",
            "username": "deploys",
            "text": "Deployed.",
            "ts": "1714564800.0",
        }
        joined = {
            "type": "message",
            "subtype": "channel_join",
            "user": "U1",
            "text": "<@U1> joined",
            "ts": "1714564800.0",
        }
        assert facts([bot])[0].speaker == "deploys"
        assert skipped([joined]) == [("messages", NOTICE)]
