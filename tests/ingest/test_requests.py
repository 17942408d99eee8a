"""Logged requests to a model, and its responses."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cofire.errors import InvalidInput
from cofire.model import Fact
from tests.ingest.telling import facts, texts


def test_the_messages_of_a_request_are_read() -> None:
    request = {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi."}],
    }
    assert texts(request) == ["Hi."]
    assert texts(request, system=True) == ["Be kind.", "Hi."]


def test_the_system_text_beside_the_messages_is_the_systems() -> None:
    request = {"system": "Be kind.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}]}
    assert texts(request) == ["Hi."]
    assert texts(request, system=True) == ["Be kind.", "Hi."]


def test_a_response_is_a_message() -> None:
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("Hello.", "Or hi.")]
    (fact,) = facts({"id": "chatcmpl-1", "created": 1714564800, "choices": choices})
    assert (fact.text, fact.speaker, fact.at) == ("Hello.", "assistant", datetime(2024, 5, 1, 12, tzinfo=UTC))
    assert texts({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello."}]}) == [
        "Hello."
    ]


def test_conversations_of_pairs_are_read() -> None:
    pairs = [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]
    assert [fact.speaker for fact in facts({"conversations": pairs})] == ["user", "assistant"]


def test_conversations_without_a_name_are_told_apart_by_number() -> None:
    request = {"messages": [{"role": "user", "content": "Hi."}]}
    found = facts([request, {**request, "session_id": "own"}, request], Fact("", session="talks"))
    assert [fact.session for fact in found] == ["talks#1", "own", "talks#3"]


def test_a_message_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="The mapping: A message cannot be a mapping of ruleId"):
        facts({"messages": [{"ruleId": "no-tabs"}]})
