"""Plain transcripts, and documents that look similar."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cofire.ingest.chat_exports import is_transcript
from tests.ingest.telling import read


def test_names_take_turns() -> None:
    found = read("Ana Lima: When is tea?\nBen: At four.\nEvery day.\nAna Lima: Good.\n", ".txt")
    assert [(fact.speaker, fact.text) for fact in found] == [
        ("Ana Lima", "When is tea?"),
        ("Ben", "At four.\nEvery day."),
        ("Ana Lima", "Good."),
    ]


@pytest.mark.parametrize(
    "stamp", ["[2024-05-01 10:00] ", "2024-05-01 10:00 - ", "[2024-05-01T10:00:00Z] ", "(2024-05-01T12:00+02:00) "]
)
def test_a_time_may_stand_before_the_name(stamp: str) -> None:
    (fact,) = read(f"{stamp}Ana: Tea at four.", ".txt")
    assert (fact.speaker, fact.at) == ("Ana", datetime(2024, 5, 1, 10, tzinfo=UTC))


def test_a_time_without_a_date_is_left_out() -> None:
    found = read("[10:00] Ana: Hi.\n[10:01] Ben: Hello.", ".txt")
    assert [(fact.speaker, fact.at) for fact in found] == [("Ana", None), ("Ben", None)]


def test_roles_take_turns_however_long_the_answers() -> None:
    chat = "User: How is tea made?\n\nAssistant:\nBoil water.\n\nNote: not too hot.\n\nWait.\nPour.\n\nHuman: Thanks."
    found = read(chat, ".txt")
    assert [fact.speaker for fact in found] == ["user", "assistant", "user"]
    assert found[1].text == "Boil water.\n\nNote: not too hot.\n\nWait.\nPour."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Title: Tea\nAuthor: Ana\n",
        "Tea is made of leaves.\nNote: and water.\nNote: hot.",
        "Note: this is a long text.\nIt goes on.\nAnd on.\nAnd on.\nNote: it ends.",
        "https://example.org\nhttps://example.org",
        "2024-05-01 10:00:00 INFO: started\n2024-05-01 10:00:01 ERROR: stopped",
    ],
)
def test_a_document_is_no_transcript(text: str) -> None:
    assert not is_transcript(text)
