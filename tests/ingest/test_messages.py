"""Chat messages of all formats: speaker, text, time and session."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from cofire.errors import InvalidInput
from cofire.ingest.messages import EMPTY_REASON, SYSTEM_REASON, WORDLESS_REASON, SkippedTurn, is_message, read_turn
from cofire.ingest.sources import read_source
from cofire.model import Fact
from tests.ingest.telling import facts, skipped, texts

LABELS = """role author name user sender type content text parts ts timestamp session mapping current_node message messages chat_messages
    choices conversations system sessionId isMeta subtype user_profile metadata recipient content_type parent children""".split()
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["user", "text", "a", "2024-05-01", ""])
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(LABELS), inner, max_size=5),
    max_leaves=12,
)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def only(message: dict[str, Any], **about: Any) -> Fact:
    (fact,) = facts([message], Fact("", **about))
    return fact


def test_a_message_is_a_fact_of_what_was_said() -> None:
    fact = only({"role": "user", "content": "Tea at four."})
    assert (fact.text, fact.speaker, fact.metadata) == ("Tea at four.", "user", {})


@pytest.mark.parametrize("label", ["speaker", "author", "name", "user", "sender", "from", "username"])
def test_the_speaker_goes_by_many_labels(label: str) -> None:
    assert only({label: "Ana", "text": "Hello."}).speaker == "Ana"


def test_a_name_goes_before_the_role_which_is_kept() -> None:
    fact = only({"role": "user", "name": "Ana", "content": "Hello."})
    assert (fact.speaker, fact.metadata) == ("Ana", {"role": "user"})


def test_an_author_may_be_a_mapping() -> None:
    assert only({"author": {"id": 7, "name": "Ana"}, "content": "Hello."}).speaker == "Ana"
    assert only({"author": {"role": "assistant", "name": None}, "content": "Hello."}).speaker == "assistant"


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ({"sender": "human"}, "user"),
        ({"role": "model"}, "assistant"),
        ({"type": "ai"}, "assistant"),
        ({"from": "gpt"}, "assistant"),
    ],
)
def test_roles_have_one_name(said: dict[str, str], role: str) -> None:
    assert only({**said, "text": "Hello."}).speaker == role


@pytest.mark.parametrize(
    "given",
    [
        1714564800,
        1714564800.0,
        "1714564800",
        "1714564800.000",
        1714564800000,
        "2024-05-01T12:00:00Z",
        "2024-05-01 14:00+02:00",
        "2024-05-01T12:00",
        NOON,
    ],
)
def test_times_are_seconds_milliseconds_or_iso(given: object) -> None:
    assert only({"role": "user", "content": "Hello.", "timestamp": given}).at == NOON


@pytest.mark.parametrize("label", ["timestamp", "created_at", "ts", "date", "time", "create_time", "at"])
def test_the_time_goes_by_many_labels(label: str) -> None:
    assert only({"speaker": "Ana", "content": "Hello.", label: "2024-05-01T12:00Z"}).at == NOON


def test_a_date_is_a_time() -> None:
    assert only({"role": "user", "content": "Hello.", "date": date(2024, 5, 1)}).at == datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("given", [None, "", 0])
def test_no_time_is_none(given: object) -> None:
    assert only({"role": "user", "content": "Hello.", "timestamp": given}).at is None


@pytest.mark.parametrize("given", ["yesterday", 12, True, {"at": 1}, 1e30, float("nan")])
def test_what_is_no_time_is_refused_with_its_message(given: object) -> None:
    with pytest.raises(InvalidInput, match=r"Message 2: .* is not a time"):
        facts([{"role": "user", "content": "Hi."}, {"role": "user", "content": "Hello.", "timestamp": given}])


@pytest.mark.parametrize("label", ["session", "session_id", "conversation_id", "thread"])
def test_a_message_may_name_its_session(label: str) -> None:
    assert only({"role": "user", "content": "Hello.", label: "monday"}, session="another").session == "monday"


def test_keywords_hold_where_the_message_is_silent() -> None:
    fact = only({"role": "user", "content": "Hello."}, session="monday", at=NOON, tags=("chat",), speaker="Ana")
    assert (fact.session, fact.at, fact.tags, fact.speaker) == ("monday", NOON, ("chat",), "user")


def test_of_content_blocks_the_text_is_taken() -> None:
    content = [
        {"type": "thinking", "thinking": "Let me see."},
        {"type": "text", "text": "I look it up."},
        {"type": "tool_use", "name": "search", "input": {"query": "tea"}},
        {"type": "text", "text": "It is at four."},
    ]
    assert texts([{"role": "assistant", "content": content}]) == ["I look it up.\n\nIt is at four."]


def test_a_sentence_in_several_blocks_stays_one() -> None:
    words = ["According to it, ", "the grass is green", " and ", "the sky is blue", ".", "So it is."]
    content = [{"type": "text", "text": text} for text in words]
    assert texts([{"role": "assistant", "content": content}]) == [
        "According to it, the grass is green and the sky is blue.\n\nSo it is."
    ]


def test_runs_of_formatted_text_are_one_text() -> None:
    runs = [
        {"type": "bold", "text": "Tea"},
        {"type": "italic", "text": "room"},
        "s: see ",
        {"type": "link", "text": "a.org"},
    ]
    assert texts([{"type": "message", "from": "Ana", "text": runs}]) == ["Tearooms: see a.org"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "tool_use", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "a b c"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:…"}}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "a long dump"},
        {"role": "model", "parts": [{"functionCall": {"name": "ls"}}]},
        {"role": "model", "parts": [{"text": "Let me see.", "thought": True}]},
        {"type": "function_call", "name": "ls", "call_id": "1", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "a b c"},
        {"type": "web_search_call", "id": "1", "status": "completed"},
        {"type": "reasoning", "id": "1", "summary": [{"type": "summary_text", "text": "Hm."}]},
    ],
)
def test_tool_traffic_and_pictures_are_no_words(message: dict[str, Any]) -> None:
    assert facts([message]) == []
    assert skipped([message]) == [("messages", WORDLESS_REASON)]


def test_steps_between_messages_stop_no_message() -> None:
    items = [
        {"role": "user", "content": "When is tea?"},
        {"type": "function_call", "name": "clock", "call_id": "1", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At four."}]},
    ]
    assert texts(items) == texts({"messages": items}) == ["When is tea?", "At four."]


@pytest.mark.parametrize(
    "said", [{"content": [{"type": "refusal", "refusal": "I cannot."}]}, {"content": None, "refusal": "I cannot."}]
)
def test_a_refusal_is_words(said: dict[str, Any]) -> None:
    assert texts([{"role": "assistant", **said}]) == ["I cannot."]


@pytest.mark.parametrize("content", ["", "  \n", None, []])
def test_an_empty_message_is_skipped(content: object) -> None:
    assert skipped([{"role": "user", "content": content}]) == [("messages", EMPTY_REASON)]


def test_the_systems_words_are_left_out_unless_wanted() -> None:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "developer", "content": "Be brief."}]
    assert skipped(messages) == [("messages", SYSTEM_REASON)] * 2
    assert texts(messages, system=True) == ["Be kind.", "Be brief."]


def test_a_long_message_is_split_by_paragraph_in_order() -> None:
    paragraphs = [f"{number} " + "word " * 100 for number in range(5)]
    found = facts([{"role": "user", "content": "\n\n".join(paragraphs), "ts": 1714564800, "session": "s"}])
    assert "\n\n".join(fact.text for fact in found).split() == " ".join(paragraphs).split()
    assert all(len(fact.text) <= 1_200 for fact in found)
    assert [fact.metadata for fact in found] == [{"part": number, "parts": 3} for number in (1, 2, 3)]
    assert {(fact.at, fact.session, fact.speaker) for fact in found} == {(NOON, "s", "user")}


def test_code_in_a_long_message_stays_whole() -> None:
    code = "```python\n" + "x = 1\n\n" * 150 + "```"
    found = texts([{"role": "assistant", "content": f"{'Words. ' * 150}\n\nRun:\n{code}\n\nDone."}])
    assert sum(code in text for text in found) == 1


def test_what_nothing_can_write_is_shown_as_missing() -> None:
    assert texts([{"role": "user", "content": "a\x00b\ud83d"}]) == ["a\ufffdb\ufffd"]


def test_line_ends_are_plain() -> None:
    assert texts([{"role": "user", "content": "a\r\nb\rc\r\n"}]) == ["a\nb\nc"]


@pytest.mark.parametrize("message", [{}, {"content": "Nobody said it."}, {"role": "admin"}, "a text", None, 7, ["a"]])
def test_what_is_no_message_is_refused_with_its_place(message: object) -> None:
    with pytest.raises(InvalidInput, match="Message 1: No conversation is recognised") as error:
        facts([message])
    assert "role" in error.value.way_out


@pytest.mark.parametrize("given", [7, None, b"bytes", object()])
def test_what_holds_no_messages_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match="Nothing can be ingested"):
        facts(given)


def test_wrong_content_is_refused() -> None:
    with pytest.raises(InvalidInput, match="content of a message cannot be int"):
        facts([{"role": "user", "content": 7}])


def test_messages_are_read_as_they_come() -> None:
    def endless() -> Any:
        while True:
            yield {"role": "user", "content": "Again."}

    found = read_source(endless(), Fact(""), system=False, largest=1, accept=lambda fact: fact)
    assert len(list(islice(found, 3))) == 3


@for_all(st.lists(ANYTHING, max_size=3) | st.dictionaries(st.sampled_from(LABELS), ANYTHING, max_size=6))
def test_whatever_is_given_is_read_or_refused_in_words(anything: Any) -> None:
    found: list[Fact] = []
    with suppress(InvalidInput):
        found = facts(anything)
    assert all(fact.text.strip() for fact in found)


def test_what_telegram_notes_of_a_chat_is_no_message() -> None:
    noted = {
        "id": 1,
        "type": "service",
        "date": "2024-05-01T10:00:00",
        "actor": "Ana",
        "action": "create_group",
        "text": "",
    }
    assert is_message(noted)
    assert read_turn(noted) == SkippedTurn(WORDLESS_REASON)
